"""skdp.solvers."""
