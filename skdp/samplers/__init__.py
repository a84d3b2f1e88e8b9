"""Exact samplers, of convex posteriors and of whatever an envelope covers.

Privacy lives in the mechanisms above them; loops state what their running time adds.
"""

from skdp.samplers._acceptance import EnvelopeBounds, curvature_ratio
from skdp.samplers._ball import Ball
from skdp.samplers._bingham import Bingham, acceptance_limit
from skdp.samplers._bounded import BoundedSampler
from skdp.samplers._chain_length import random_walk_gap, random_walk_steps
from skdp.samplers._choose import SamplerChoice, choose_sampler
from skdp.samplers._concave_hull import ConcaveHull, concave_stage
from skdp.samplers._gaussian_envelope import (
    StronglyConcave,
    gaussian_acceptance,
    strongly_concave_target,
)
from skdp.samplers._holder_box import holder_box_stage
from skdp.samplers._holder_grid import holder_stage, holder_stages
from skdp.samplers._log_concave import log_concave_acceptance, log_concave_target
from skdp.samplers._log_linear import LogLinear
from skdp.samplers._loop_batched import BatchedLoop, TruncatedLoop
from skdp.samplers._loop_constant import PaddedLoop, ThinnedLoop
from skdp.samplers._loop_simple import SimpleLoop
from skdp.samplers._loop_target import LoopSampler, LoopTarget
from skdp.samplers._mala import mala, mala_steps
from skdp.samplers._normaliser import log_normaliser
from skdp.samplers._rejection import GibbsSampler
from skdp.samplers._slack import SlackSqueeze, Stage
from skdp.samplers._target import GibbsTarget
from skdp.samplers._uniform_ball import mix_with_uniform, uniform_points
from skdp.samplers._wasserstein import (
    density_floor,
    potential_oscillation,
    total_variation_needed,
    wasserstein_bound,
)

__all__ = [
    "Ball",
    "BatchedLoop",
    "Bingham",
    "BoundedSampler",
    "ConcaveHull",
    "EnvelopeBounds",
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
    "curvature_ratio",
    "density_floor",
    "gaussian_acceptance",
    "holder_box_stage",
    "holder_stage",
    "holder_stages",
    "log_concave_acceptance",
    "log_concave_target",
    "log_normaliser",
    "mala",
    "mala_steps",
    "mix_with_uniform",
    "potential_oscillation",
    "random_walk_gap",
    "random_walk_steps",
    "strongly_concave_target",
    "total_variation_needed",
    "uniform_points",
    "wasserstein_bound",
]
