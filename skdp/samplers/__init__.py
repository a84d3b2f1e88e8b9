"""Exact samplers, of convex posteriors and of whatever an envelope covers.

Privacy lives in the mechanisms above them; loops state what their running time adds.
"""

from skdp.samplers._ball import Ball
from skdp.samplers._bingham import Bingham, acceptance_limit
from skdp.samplers._choose import SamplerChoice, choose_sampler
from skdp.samplers._concave_hull import ConcaveHull, concave_stage
from skdp.samplers._gaussian_envelope import (
    StronglyConcave,
    gaussian_acceptance,
    strongly_concave_target,
)
from skdp.samplers._holder_grid import holder_stage, holder_stages
from skdp.samplers._log_concave import log_concave_acceptance, log_concave_target
from skdp.samplers._log_linear import LogLinear
from skdp.samplers._loop_batched import BatchedLoop, TruncatedLoop
from skdp.samplers._loop_constant import PaddedLoop, ThinnedLoop
from skdp.samplers._loop_simple import SimpleLoop
from skdp.samplers._loop_target import LoopSampler, LoopTarget
from skdp.samplers._normaliser import log_normaliser
from skdp.samplers._rejection import GibbsSampler
from skdp.samplers._slack import SlackSqueeze, Stage
from skdp.samplers._target import GibbsTarget

__all__ = [
    "Ball",
    "BatchedLoop",
    "Bingham",
    "ConcaveHull",
    "GibbsSampler",
    "GibbsTarget",
    "LogLinear",
    "LoopSampler",
    "LoopTarget",
    "PaddedLoop",
    "SamplerChoice",
    "SimpleLoop",
    "SlackSqueeze",
    "Stage",
    "StronglyConcave",
    "ThinnedLoop",
    "TruncatedLoop",
    "acceptance_limit",
    "choose_sampler",
    "concave_stage",
    "gaussian_acceptance",
    "holder_stage",
    "holder_stages",
    "log_concave_acceptance",
    "log_concave_target",
    "log_normaliser",
    "strongly_concave_target",
]
