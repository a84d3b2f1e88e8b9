"""skdp.datasets."""
