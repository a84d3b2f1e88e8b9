"""Per-instance privacy loss: what one release cost one person, in nats."""

from skdp.pdp._bound import PublishedBound
from skdp.pdp._exact import exact_loss
from skdp.pdp._fit import center_loss, fit_loss
from skdp.pdp._moments import exact_moments_loss, moments_loss
from skdp.pdp._page import ColumnDescription
from skdp.pdp._posterior import posterior_loss
from skdp.pdp._posterior_draws import draws_loss
from skdp.pdp._preconditioned import preconditioned_loss
from skdp.pdp._published import published_loss
from skdp.pdp._report import PublishedReport
from skdp.pdp._softmax import exact_softmax_loss, softmax_loss
from skdp.pdp._statistic import ReleasedStatistic

__all__ = [
    "ColumnDescription",
    "PublishedBound",
    "PublishedReport",
    "ReleasedStatistic",
    "center_loss",
    "draws_loss",
    "exact_loss",
    "exact_moments_loss",
    "exact_softmax_loss",
    "fit_loss",
    "moments_loss",
    "posterior_loss",
    "preconditioned_loss",
    "published_loss",
    "softmax_loss",
]
