"""skdp: differentially private estimators for people who live in scikit-learn."""

__version__ = "0.1.0"
