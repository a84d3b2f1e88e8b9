"""skdp.mechanisms."""
