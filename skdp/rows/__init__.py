"""skdp.rows."""
