"""skdp.audit."""
