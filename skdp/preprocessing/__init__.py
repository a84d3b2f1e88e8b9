"""skdp.preprocessing."""
