"""Pictures of what samplers cost and keep, in the manner of scikit-learn's displays."""

from skdp.inspection._accuracy import AccuracyDisplay
from skdp.inspection._marginals import MarginalsDisplay
from skdp.inspection._obscure import ObscureProbabilityDisplay

__all__ = ["AccuracyDisplay", "MarginalsDisplay", "ObscureProbabilityDisplay"]
