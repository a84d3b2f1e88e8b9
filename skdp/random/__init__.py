"""Randomness: one door for bytes, and samplers that are functions of those bytes."""

from skdp.random._discrete import discrete_gaussian, discrete_laplace
from skdp.random._goe import GOE
from skdp.random._integer_weights import integer_weighted
from skdp.random._k_norm import k_norm_vector
from skdp.random._normal import standard_normal
from skdp.random._source import (
    RandomSource,
    SeededSource,
    SystemSource,
    as_random_source,
)
from skdp.random._uniform import uniform

__all__ = [
    "GOE",
    "RandomSource",
    "SeededSource",
    "SystemSource",
    "as_random_source",
    "discrete_gaussian",
    "discrete_laplace",
    "integer_weighted",
    "k_norm_vector",
    "standard_normal",
    "uniform",
]
