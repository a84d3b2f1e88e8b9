"""Private decompositions of tables, with scikit-learn's interface."""

from skdp.decomposition._pca import PrivatePCA

__all__ = ["PrivatePCA"]
