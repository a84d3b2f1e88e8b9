"""skdp.pdp."""
