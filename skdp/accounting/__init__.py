"""skdp.accounting."""
