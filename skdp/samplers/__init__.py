"""Exact samplers of convex posteriors; privacy lives in the mechanisms above them."""

from skdp.samplers._ball import Ball
from skdp.samplers._normaliser import log_normaliser
from skdp.samplers._rejection import GibbsSampler
from skdp.samplers._target import GibbsTarget

__all__ = ["Ball", "GibbsSampler", "GibbsTarget", "log_normaliser"]
