r"""Objective perturbation of the softmax loss.

Notation (docs/proofs/softmax_perturbation.md)
----------------------------------------------
R, K     bound on a row's norm, number of classes            -> ``n_classes``
sigma    standard deviation of the linear noise, alpha the ridge
mu       sqrt(2) R / sigma                                    -> ``mu``
kappa    R^2 / alpha                                          -> ``curvature``
rho      zCDP cost of the final lattice noise                 -> ``smoothing_rho``
"""

from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp._validation import check_count
from skdp.accounting._adjacency import Adjacency
from skdp.accounting._concentrated import ZeroConcentratedDP
from skdp.accounting._directions import both_directions
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import mirrored, nonnegative, positive
from skdp.accounting._softmax_loss import (
    addition_loss,
    removal_losses,
    replacement_loss,
)

__all__ = ["SoftmaxPerturbationDP"]

#: Counts of pairs of more classes than this have no use and lose digits.
_MOST_CLASSES = 10_000


@dataclass(frozen=True, slots=True, repr=False)
class SoftmaxPerturbationDP(Guarantee):
    r"""Noisy minimiser of a ridge-penalised sum of softmax losses, on a lattice.

    The gradient of a row is worst where all probability lies on one wrong class. There
    are K - 1 of them, so that adding a row costs at most

    .. math:: \delta(\varepsilon) \le (K-1)\, \delta_{Gauss}(\varepsilon; \mu).

    Removing one pays for the Jacobian of the minimiser too: at most
    :math:`c = (K-1)\log(1 + \kappa/K)` out of epsilon, less where the gradient makes up
    for it, nothing for :math:`\kappa \le \mu^2/4`. Replacing one pays likewise, with
    :math:`(K-1)^2` corners of size 2 mu and 2(K-1) of size mu. The lattice noise
    composes with all of them.

    Parameters
    ----------
    mu : float
        sqrt(2) R / sigma: bound on a row's gradient over the noise's standard
        deviation, > 0.
    curvature : float
        R^2 / alpha, the squared row norm over the ridge, >= 0.
    n_classes : int
        Number of classes K, from 2 to 10,000.
    smoothing_rho : float, default=0.0
        zCDP cost of the final lattice noise, >= 0.
    adjacency : Adjacency or str, default="add-remove"
        Which data sets count as neighbours.
    assumptions : tuple of str, default=()
        What the guarantee takes as given.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"output"}
        What the attacker may watch.

    References
    ----------
    Redberg, Koskela and Wang (2023) bound losses of one margin; several are treated in
    docs/proofs/softmax_perturbation.md.

    Examples
    --------
    >>> from skdp.accounting import SoftmaxPerturbationDP, gaussian_delta
    >>> many = SoftmaxPerturbationDP(0.25, 0.01, 3)
    >>> many.delta(1.0) / gaussian_delta(1.0, 0.25)
    2.0000...
    """

    mu: float
    curvature: float
    n_classes: int
    smoothing_rho: float = 0.0

    def _check(self) -> None:
        remedy = "Pass the row gradient bound over the noise's standard deviation."
        self._set("mu", positive("mu", self.mu, remedy))
        self._set("curvature", nonnegative("curvature", self.curvature))
        count = check_count(
            "n_classes",
            self.n_classes,
            minimum=2,
            maximum=_MOST_CLASSES,
            remedy="Pass how many classes the loss has.",
        )
        self._set("n_classes", count)
        self._set("smoothing_rho", nonnegative("smoothing_rho", self.smoothing_rho))

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        if self.adjacency is Adjacency.REPLACE_ONE:
            return mirrored(self._replace_delta, epsilon)
        # the bound on an addition is nowhere above
        return self._remove_delta(epsilon)

    def _delta_directed(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self.adjacency is Adjacency.REPLACE_ONE:
            values = self._delta(epsilon)
            return values, values
        return both_directions(self._remove_delta, self._add_delta, epsilon)

    def _remove_delta(self, epsilon: FloatArray) -> FloatArray:
        losses = removal_losses(self.mu, self.curvature, self.n_classes)
        profiles = [loss.profile(epsilon, self.smoothing_rho) for loss in losses]
        out: FloatArray = np.minimum.reduce(profiles)
        return out

    def _add_delta(self, epsilon: FloatArray) -> FloatArray:
        loss = addition_loss(self.mu, self.n_classes)
        return loss.profile(epsilon, self.smoothing_rho)

    def _replace_delta(self, epsilon: FloatArray) -> FloatArray:
        loss = replacement_loss(self.mu, self.curvature, self.n_classes)
        return loss.profile(epsilon, self.smoothing_rho)

    def _components(self) -> tuple[Guarantee, ...]:
        if self.smoothing_rho == 0.0:
            return (self,)
        ideal = SoftmaxPerturbationDP(*self._row(), adjacency=self.adjacency)
        blur = ZeroConcentratedDP(self.smoothing_rho, adjacency=self.adjacency)
        return (ideal, blur)

    def _row(self) -> tuple[float, float, int]:
        """Return what is known of one row."""
        return self.mu, self.curvature, self.n_classes

    def _with_smoothing(self, rho: float) -> "SoftmaxPerturbationDP":
        return self._with(*self._row(), rho)

    def _to_replace_one(self) -> "SoftmaxPerturbationDP":
        """Keep the numbers: they describe the release, whatever the neighbours are."""
        numbers = (*self._row(), self.smoothing_rho)
        return self._with(*numbers, adjacency=Adjacency.REPLACE_ONE)
