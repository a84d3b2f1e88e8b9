"""skdp.linear_model."""
