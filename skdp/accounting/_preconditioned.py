r"""Gaussian releases and objective perturbations that build on each other.

Notation (derived in docs/proofs/preconditioned.md)
---------------------------------------------------
m_G      size of all Gaussian releases together                   -> ``gaussian_mu``
mu_j     size of the j-th objective perturbation                       -> ``phases``
kappa    bound on a row's curvature over the ridge                 -> ``curvature``
rho      zCDP cost of all lattice steps together               -> ``smoothing_rho``
l_j(w)   largest loss of the j-th objective perturbation, w ~ N(0, 1)
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._adjacency import Adjacency
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._loss_law import LossLaw, loss_law
from skdp.accounting._numbers import nonnegative, positive, sequence_of
from skdp.accounting._phase_loss import LOSSES, phase_addition, phase_removal

__all__ = ["PreconditionedPerturbationDP", "smoothing_mu"]

#: Steps of the discrete laws within one standard deviation of the total loss.
_STEPS = 200
#: A zCDP step up to here is dominated by a Gaussian release of twice its size.
_MOST_RHO = 1.0 / 128.0


def smoothing_mu(rho: float) -> float:
    """Return the size of a Gaussian release that dominates a small zCDP step."""
    return 2.0 * math.sqrt(2.0 * rho)


@dataclass(frozen=True, slots=True, repr=False)
class PreconditionedPerturbationDP(Guarantee):
    r"""Gaussian releases and objective perturbations in one adaptive composition.

    The exact curve of the worst case of each direction, never that of one Gaussian:

    .. math:: \delta(\varepsilon) = E\,[\mathrm{DG}(\varepsilon - \sum_j l_j(w_j))],

    with independent normal variables and DG the profile of the Gaussian releases. The
    steps may come in any order, and each may depend on what was released before.

    Parameters
    ----------
    gaussian_mu : float
        Root of the sum of squared sizes of the Gaussian releases, >= 0.
    phases : tuple of float
        For each objective perturbation the bound on a row's gradient over the standard
        deviation of the noise, > 0.
    curvature : float
        Bound on a row's second derivative, in units of the largest one of the loss for
        log-cosh and of f'' itself for logistic, over the ridge; the same for all
        phases, >= 0.
    loss : {"logistic", "log-cosh"}, default="logistic"
        Loss of the objective perturbations.
    smoothing_rho : float, default=0.0
        zCDP cost of all lattice steps together, from 0 to 1/128.
    adjacency : Adjacency or str, default="add-remove"
        There is no proof for replace-one.
    assumptions : tuple of str, default=()
        What the guarantee takes as given.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"output"}
        What the attacker may watch.

    Raises
    ------
    ValueError
        If a number is out of range, or the adjacency is not add-remove.

    Examples
    --------
    >>> from skdp.accounting import PreconditionedPerturbationDP
    >>> g = PreconditionedPerturbationDP(0.08, (0.22,), 0.9)
    >>> g.delta(1.0)
    7.9807...e-07
    """

    gaussian_mu: float
    phases: tuple[float, ...]
    curvature: float
    loss: str = "logistic"
    smoothing_rho: float = 0.0

    def _check(self) -> None:
        self._set("gaussian_mu", nonnegative("gaussian_mu", self.gaussian_mu))
        phases = sequence_of("phases", self.phases, float, "sizes")
        remedy = "Pass a row's gradient bound over the noise's standard deviation."
        self._set("phases", tuple(positive("phases", mu, remedy) for mu in phases))
        self._set("curvature", nonnegative("curvature", self.curvature))
        rho = nonnegative("smoothing_rho", self.smoothing_rho, maximum=_MOST_RHO)
        self._set("smoothing_rho", rho)
        if self.loss not in LOSSES:
            raise ValueError(
                f"loss has no proof here, got {self.loss!r}. Allowed: "
                f"{' or '.join(map(repr, LOSSES))}. Use plain objective perturbation."
            )
        if not self.phases:
            raise ValueError(
                "phases is empty. Allowed: one size or more. Use GaussianDP for "
                "Gaussian releases alone."
            )
        if self.adjacency is not Adjacency.ADD_REMOVE:
            raise ValueError(
                f"adjacency has no proof here, got {str(self.adjacency)!r}. Allowed: "
                "'add-remove'. Use plain objective perturbation under replace-one."
            )

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        return np.maximum(*self._delta_directed(epsilon))

    def _delta_directed(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        mu = math.hypot(self.gaussian_mu, smoothing_mu(self.smoothing_rho))
        step = math.hypot(mu, *self.phases) / _STEPS
        removal, addition = _laws(self.phases, self.curvature, self.loss, step)
        return removal.profile(epsilon, mu), addition.profile(epsilon, mu)

    def _absorbed(self, mu: float, rho: float) -> "Guarantee | None":
        """Return this with more Gaussian releases and lattice steps, if it can be."""
        rho += self.smoothing_rho
        if rho > _MOST_RHO:
            return None
        return self._with(
            math.hypot(self.gaussian_mu, mu),
            self.phases,
            self.curvature,
            self.loss,
            rho,
        )


@lru_cache(maxsize=16)
def _laws(
    phases: tuple[float, ...], curvature: float, loss: str, step: float
) -> tuple[LossLaw, LossLaw]:
    """Return the laws of the summed losses of removing and of adding a row."""
    removal = [loss_law(phase_removal(loss, mu, curvature), step) for mu in phases]
    folded = loss == "log-cosh"
    addition = [loss_law(phase_addition(mu), step, folded=folded) for mu in phases]
    return _total(removal), _total(addition)


def _total(laws: list[LossLaw]) -> LossLaw:
    total = laws[0]
    for law in laws[1:]:
        total = total.plus(law)
    return total
