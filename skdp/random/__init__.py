"""skdp.random."""
