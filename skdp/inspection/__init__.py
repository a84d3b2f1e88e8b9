"""Pictures of what releases cost and keep, in the manner of scikit-learn's displays."""

from skdp.inspection._accuracy import AccuracyDisplay
from skdp.inspection._marginals import MarginalsDisplay
from skdp.inspection._obscure import ObscureProbabilityDisplay
from skdp.inspection._pdp_loss import PdpLossDisplay
from skdp.inspection._tradeoff import TradeoffDisplay

__all__ = [
    "AccuracyDisplay",
    "MarginalsDisplay",
    "ObscureProbabilityDisplay",
    "PdpLossDisplay",
    "TradeoffDisplay",
]
