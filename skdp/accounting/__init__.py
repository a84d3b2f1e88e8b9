"""What an adversary can learn: guarantees, their composition, and what was spent."""

from skdp.accounting._adjacency import Adjacency
from skdp.accounting._approximate import ApproximateDP
from skdp.accounting._channel import Channel
from skdp.accounting._compose import Composed, compose
from skdp.accounting._concentrated import (
    ZeroConcentratedDP,
    concentrated_delta,
    concentrated_epsilon,
)
from skdp.accounting._conservative_objective import ConservativeObjectiveDP
from skdp.accounting._gaussian import GaussianDP, gaussian_delta, gaussian_mu
from skdp.accounting._geometric import (
    geometric_delta,
    geometric_renyi,
    geometric_tradeoff,
)
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._objective_perturbation import ObjectivePerturbationDP
from skdp.accounting._preconditioned import PreconditionedPerturbationDP
from skdp.accounting._public import Public
from skdp.accounting._pure import PureDP
from skdp.accounting._rejection_loop import RejectionLoopDP, joint_loop_delta
from skdp.accounting._reported_perturbation import ReportedPerturbationDP
from skdp.accounting._risk import Risk
from skdp.accounting._runtime import RuntimeCost
from skdp.accounting._simultaneous import Simultaneous
from skdp.accounting._smoothed_gaussian import SmoothedGaussianDP
from skdp.accounting._softmax_perturbation import SoftmaxPerturbationDP
from skdp.accounting._spent import PrivacyPart, PrivacySpent
from skdp.accounting._three_point import ThreePointDP
from skdp.accounting._tilted_objective import TiltedObjectiveDP
from skdp.accounting._tradeoff import TradeoffDP
from skdp.accounting._truncation import (
    pool_failure,
    pool_size,
    truncation_delta,
    truncation_size,
)
from skdp.accounting._with_runtime import with_runtime

__all__ = [
    "Adjacency",
    "ApproximateDP",
    "Channel",
    "Composed",
    "ConservativeObjectiveDP",
    "GaussianDP",
    "Guarantee",
    "ObjectivePerturbationDP",
    "PreconditionedPerturbationDP",
    "PrivacyPart",
    "PrivacySpent",
    "Public",
    "PureDP",
    "RejectionLoopDP",
    "ReportedPerturbationDP",
    "Risk",
    "RuntimeCost",
    "Simultaneous",
    "SmoothedGaussianDP",
    "SoftmaxPerturbationDP",
    "ThreePointDP",
    "TiltedObjectiveDP",
    "TradeoffDP",
    "ZeroConcentratedDP",
    "compose",
    "concentrated_delta",
    "concentrated_epsilon",
    "gaussian_delta",
    "gaussian_mu",
    "geometric_delta",
    "geometric_renyi",
    "geometric_tradeoff",
    "joint_loop_delta",
    "pool_failure",
    "pool_size",
    "truncation_delta",
    "truncation_size",
    "with_runtime",
]
