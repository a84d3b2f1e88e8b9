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
from skdp.accounting._replacement import group_of_two, shared_profile

__all__ = ["PreconditionedPerturbationDP", "smoothing_mu"]

#: Steps of the discrete laws within one standard deviation of the total loss.
_STEPS = 100
#: Standard deviations at which a tail is still a normal float.
_FAR = 35.0
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
        Which data sets count as neighbours. The numbers are about one row added or
        removed either way; a replacement is one of each.
    assumptions : tuple of str, default=()
        What the guarantee takes as given.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"output"}
        What the attacker may watch.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> from skdp.accounting import PreconditionedPerturbationDP
    >>> g = PreconditionedPerturbationDP(0.08, (0.22,), 0.9)
    >>> g.delta(1.0)
    7.98...e-07
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

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        return np.maximum(*self._delta_directed(epsilon))

    def _delta_directed(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self.adjacency is Adjacency.REPLACE_ONE:
            values = shared_profile(self._two_rows, epsilon, 0.0)
            return values, values
        return self._one_row(epsilon)

    @property
    def _total_mu(self) -> float:
        """Return the size that the whole would have without curvature."""
        mu = smoothing_mu(self.smoothing_rho)
        return math.hypot(self.gaussian_mu, mu, *self.phases)

    def _one_row(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bound both directions of one row more or less."""
        mu = math.hypot(self.gaussian_mu, smoothing_mu(self.smoothing_rho))
        step = self._total_mu / _STEPS
        removal, addition = _laws(self.phases, self.curvature, self.loss, step)
        return removal.profile(epsilon, mu), addition.profile(epsilon, mu)

    def _two_rows(self, epsilon: FloatArray) -> FloatArray:
        """Bound a replacement at epsilon >= 0, by the row less and the row more."""
        jacobian = len(self.phases) * math.log1p(self.curvature)
        far = self._total_mu * (self._total_mu / 2 + _FAR) + jacobian
        # farther out a delta underflows, and its factor would be all that is seen
        epsilon = np.minimum(epsilon, 2.0 * far)
        half = np.maximum(*self._one_row(epsilon / 2))
        out: FloatArray = np.minimum(group_of_two(half, epsilon), 1.0)
        return out

    def _to_replace_one(self) -> "PreconditionedPerturbationDP":
        """Keep the numbers: they describe the release, whatever the neighbours are."""
        numbers = (getattr(self, name) for name in self._own_fields())
        return self._with(*numbers, adjacency=Adjacency.REPLACE_ONE)

    def _absorbed(self, mu: float, rho: float) -> "Guarantee | None":
        """Return this with more Gaussian releases and lattice steps, if it can be."""
        rho += self.smoothing_rho
        if rho > _MOST_RHO or self.adjacency is Adjacency.REPLACE_ONE:
            return None
        gaussian_mu = math.hypot(self.gaussian_mu, mu)
        return self._with(gaussian_mu, self.phases, self.curvature, self.loss, rho)


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
