"""Randomised functions of private data, each with a computed guarantee and a proof."""

from skdp.mechanisms._adassp import AdaSSP
from skdp.mechanisms._approximate_sample import ApproximateSample
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release
from skdp.mechanisms._bounded_posterior import BoundedPosterior
from skdp.mechanisms._box_exponential import BoxExponential
from skdp.mechanisms._count_weights import CountWeights
from skdp.mechanisms._data_specific_roo import DataSpecificROO
from skdp.mechanisms._exponential import ExponentialMechanism
from skdp.mechanisms._gaussian import GaussianMechanism
from skdp.mechanisms._gibbs_utility import (
    gaussian_gibbs_excess,
    gibbs_excess,
    gibbs_excess_bound,
    output_perturbation_excess,
    pure_gibbs_excess,
)
from skdp.mechanisms._interval_exponential import IntervalExponential
from skdp.mechanisms._k_norm import KNormMechanism
from skdp.mechanisms._kng_regression import KNGRegression
from skdp.mechanisms._localized_posterior import LocalizedPosterior
from skdp.mechanisms._noise import GaussianNoise, KNormNoise, NoiseLaw
from skdp.mechanisms._noisy_gradient import NoisyGradient
from skdp.mechanisms._noisy_hessian import NoisyHessian
from skdp.mechanisms._noisy_histogram import NoisyHistogram
from skdp.mechanisms._noisy_moments import NoisyMoments
from skdp.mechanisms._objective_perturbation import ObjectivePerturbation
from skdp.mechanisms._output_perturbation import OutputPerturbation
from skdp.mechanisms._pco_parts import BudgetPart, NoisyPart, PreconditionedRelease
from skdp.mechanisms._posterior_sampling import GibbsPosterior
from skdp.mechanisms._preconditioned import PreconditionedObjectivePerturbation
from skdp.mechanisms._principal_direction import PrincipalDirection
from skdp.mechanisms._quantile import (
    QuantileMechanism,
    quantile_scores,
    quantile_sensitivity,
)
from skdp.mechanisms._reported_perturbation import (
    ReportedObjectivePerturbation,
    ReportedRelease,
)
from skdp.mechanisms._reveal_or_obscure import RevealOrObscure
from skdp.mechanisms._selection_utility import em_expected, em_tail
from skdp.mechanisms._smoothing import LatticeLaw, LatticeSmoothing
from skdp.mechanisms._softmax_perturbation import SoftmaxPerturbation
from skdp.mechanisms._subsampled_response import SubsampledResponse
from skdp.mechanisms._weight_table import WeightTable

__all__ = [
    "AdaSSP",
    "AdjacentPair",
    "ApproximateSample",
    "BoundedPosterior",
    "BoxExponential",
    "BudgetPart",
    "CountWeights",
    "DataSpecificROO",
    "ExponentialMechanism",
    "GaussianMechanism",
    "GaussianNoise",
    "GibbsPosterior",
    "IntervalExponential",
    "KNGRegression",
    "KNormMechanism",
    "KNormNoise",
    "LatticeLaw",
    "LatticeSmoothing",
    "LocalizedPosterior",
    "Mechanism",
    "NoiseLaw",
    "NoisyGradient",
    "NoisyHessian",
    "NoisyHistogram",
    "NoisyMoments",
    "NoisyPart",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "PreconditionedObjectivePerturbation",
    "PreconditionedRelease",
    "PrincipalDirection",
    "QuantileMechanism",
    "Release",
    "ReportedObjectivePerturbation",
    "ReportedRelease",
    "RevealOrObscure",
    "SoftmaxPerturbation",
    "SubsampledResponse",
    "WeightTable",
    "em_expected",
    "em_tail",
    "gaussian_gibbs_excess",
    "gibbs_excess",
    "gibbs_excess_bound",
    "output_perturbation_excess",
    "pure_gibbs_excess",
    "quantile_scores",
    "quantile_sensitivity",
]
