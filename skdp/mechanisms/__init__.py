"""Randomised functions of private data, each with a computed guarantee and a proof."""

from skdp.mechanisms._approximate_sample import ApproximateSample
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release
from skdp.mechanisms._bounded_posterior import BoundedPosterior
from skdp.mechanisms._gaussian import GaussianMechanism
from skdp.mechanisms._gibbs_utility import (
    gaussian_gibbs_excess,
    gibbs_excess,
    gibbs_excess_bound,
    output_perturbation_excess,
    pure_gibbs_excess,
)
from skdp.mechanisms._k_norm import KNormMechanism
from skdp.mechanisms._localized_posterior import LocalizedPosterior
from skdp.mechanisms._noise import GaussianNoise, KNormNoise, NoiseLaw
from skdp.mechanisms._objective_perturbation import ObjectivePerturbation
from skdp.mechanisms._output_perturbation import OutputPerturbation
from skdp.mechanisms._posterior_sampling import GibbsPosterior
from skdp.mechanisms._smoothing import LatticeLaw, LatticeSmoothing

__all__ = [
    "AdjacentPair",
    "ApproximateSample",
    "BoundedPosterior",
    "GaussianMechanism",
    "GaussianNoise",
    "GibbsPosterior",
    "KNormMechanism",
    "KNormNoise",
    "LatticeLaw",
    "LatticeSmoothing",
    "LocalizedPosterior",
    "Mechanism",
    "NoiseLaw",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "Release",
    "gaussian_gibbs_excess",
    "gibbs_excess",
    "gibbs_excess_bound",
    "output_perturbation_excess",
    "pure_gibbs_excess",
]
