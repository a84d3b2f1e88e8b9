"""Samplers of convex posteriors; privacy lives in the mechanisms above them."""

from skdp.samplers._acceptance import EnvelopeBounds, curvature_ratio
from skdp.samplers._ball import Ball
from skdp.samplers._bounded import BoundedSampler
from skdp.samplers._chain_length import random_walk_gap, random_walk_steps
from skdp.samplers._mala import mala, mala_steps
from skdp.samplers._normaliser import log_normaliser
from skdp.samplers._rejection import GibbsSampler
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
    "BoundedSampler",
    "EnvelopeBounds",
    "GibbsSampler",
    "GibbsTarget",
    "curvature_ratio",
    "density_floor",
    "log_normaliser",
    "mala",
    "mala_steps",
    "mix_with_uniform",
    "potential_oscillation",
    "random_walk_gap",
    "random_walk_steps",
    "total_variation_needed",
    "uniform_points",
    "wasserstein_bound",
]
