r"""Approximate sample perturbation: a nearly right draw, blurred until it is private.

A sampler may be close to a private law for every data set without being private itself.
Where its distance in W-infinity is at most a public number, noise of twice that number
makes up for it, whatever the sampler does.

Notation (derived in docs/proofs/approximate_sample.md)
-------------------------------------------------------
Delta    bound on the W-infinity distance of sampler and ideal law      -> ``distance``
d        number of coordinates                                        -> ``n_features``
p_D      ideal law, private                              -> ``ideal``, its guarantee
b        noise that covers a shift of 2 Delta, in any direction    -> ``perturbation``
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeVar

import numpy as np

from skdp._typing import FloatArray
from skdp._validation import check_choice, check_count, check_positive
from skdp.accounting import (
    Adjacency,
    GaussianDP,
    Guarantee,
    PureDP,
    Simultaneous,
    SmoothedGaussianDP,
    ZeroConcentratedDP,
    compose,
)
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._k_norm import KNormMechanism
from skdp.mechanisms._smoothing import LatticeSmoothing
from skdp.random import RandomSource

__all__ = ["ApproximateSample"]

Data = TypeVar("Data")

_SOURCE = "approximate sample perturbation, docs/proofs/approximate_sample.md"
_PURE_NOISE, _GAUSSIAN_NOISE = ("k-norm", "laplace"), ("gaussian",)
_REMEDY = "Pass a bound that holds for every data set; see wasserstein_bound."


@dataclass(frozen=True, kw_only=True, slots=True)
class ApproximateSample(Mechanism[FloatArray, FloatArray]):
    r"""Publish an approximate sample plus noise that hides how approximate it is.

    The data are one vector: what a sampler returned. Its law is claimed, **for every
    data set**, to be within ``distance`` in W-infinity of an ideal law that is private
    by itself: there is a coupling in which the two never differ by more, in L2 norm.
    Nothing else is asked of the sampler. Build one with :meth:`calibrate`.

    Parameters
    ----------
    distance : float
        Public bound Delta > 0 in the units of the vector, for every data set, rounding
        of the computed sample included.
    perturbation : LatticeSmoothing or KNormMechanism
        Noise for a shift of 2 Delta: two data sets may push their samples to opposite
        ends of the error ball.
    ideal : Guarantee, optional
        Of the ideal law. None stands for a law that costs nothing, as for an answer
        that is public: then the guarantee is the price of the perturbation alone.

    Privacy
    -------
    The guarantee of the ideal law composed with that of the perturbation. Given the
    ideal draw, two data sets move the sample by at most 2 Delta: epsilon'-DP with noise
    of density proportional to ``exp(-|b| / s)``, s = 2 Delta / epsilon' ("k-norm"), or
    Laplace noise of scale 2 sqrt(d) Delta / epsilon' per coordinate ("laplace");
    rho-zCDP with Gaussian noise of scale 2 Delta / sqrt(2 rho) ("gaussian"). The
    discrete laws pay for their lattice besides. That the distance holds is asserted by
    the caller. Proof in docs/proofs/approximate_sample.md.

    Examples
    --------
    A sampler of a 1-DP posterior that is off by at most 0.001:

    >>> import numpy as np
    >>> from skdp.accounting import PureDP
    >>> from skdp.mechanisms import ApproximateSample
    >>> from skdp.random import as_random_source
    >>> mechanism = ApproximateSample.calibrate(
    ...     PureDP(0.02), distance=1e-3, n_features=2, ideal=PureDP(1.0))
    >>> round(mechanism.guarantee.epsilon(0.0), 6)
    1.02
    >>> out = mechanism.release(np.array([0.5, -1.0]), as_random_source(0)).output
    >>> out.shape
    (2,)
    """

    distance: float
    perturbation: LatticeSmoothing | KNormMechanism
    ideal: Guarantee | None = None

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        check_positive("distance", self.distance, remedy=_REMEDY)
        step = self.perturbation
        if isinstance(step, KNormMechanism):
            covers = step.l2_sensitivity >= 2.0 * self.distance
        else:
            require(
                isinstance(step, LatticeSmoothing),
                "perturbation must be a LatticeSmoothing or a KNormMechanism",
            )
            covers = step.error >= self.distance
        require(covers, "perturbation must cover a shift of twice the distance")
        require(
            self.ideal is None or self.ideal.adjacency is step.adjacency,
            "ideal and perturbation must speak about the same neighbours",
        )

    @classmethod
    def calibrate(
        cls,
        price: PureDP | ZeroConcentratedDP,
        *,
        distance: float,
        n_features: int,
        noise: Literal["auto", "k-norm", "laplace", "gaussian"] = "auto",
        ideal: Guarantee | None = None,
    ) -> Self:
        """Return the instance whose perturbation costs at most a price.

        Parameters
        ----------
        price : PureDP or ZeroConcentratedDP
            What the perturbation may cost on top of the ideal law, with its adjacency.
        distance : float
            Delta > 0.
        n_features : int
            Length d >= 1 of the vector.
        noise : {"auto", "k-norm", "laplace", "gaussian"}, default="auto"
            ``"k-norm"`` and ``"laplace"`` go with a pure price, ``"gaussian"`` with a
            concentrated one. ``"auto"`` takes the K-norm for a pure price: its noise
            is shorter than Laplace noise by a factor of about sqrt(2).
        ideal : Guarantee, optional
            Of the ideal law; None where it costs nothing.

        Returns
        -------
        ApproximateSample
            Its guarantee is ``ideal`` composed with at most ``price``.

        Raises
        ------
        ValueError
            If a number is out of range, the noise does not go with the price, or
            ``ideal`` speaks about other neighbours.

        Examples
        --------
        >>> from skdp.accounting import GaussianDP, ZeroConcentratedDP
        >>> from skdp.mechanisms import ApproximateSample
        >>> mechanism = ApproximateSample.calibrate(
        ...     ZeroConcentratedDP(0.005), distance=1e-3, n_features=2,
        ...     ideal=GaussianDP(0.5))
        >>> mechanism.guarantee
        SmoothedGaussianDP(0.5, 0.00499..., adjacency='add-remove')
        """
        distance = check_positive("distance", distance, remedy=_REMEDY)
        n_features = check_count("n_features", n_features, minimum=1)
        choices = _PURE_NOISE if isinstance(price, PureDP) else _GAUSSIAN_NOISE
        remedy = "Pure prices go with pure noise, zCDP prices with Gaussian noise."
        check_choice("noise", noise, ("auto", *choices), remedy=remedy)
        kind = choices[0] if noise == "auto" else noise
        step = _perturbation(price, kind, distance, n_features)
        return cls(distance=distance, perturbation=step, ideal=ideal)

    @property
    def adjacency(self) -> Adjacency:
        """Neighbouring relation of the guarantee."""
        return self.perturbation.adjacency

    @property
    def n_features(self) -> int:
        """Length of the vector."""
        return self.perturbation.n_features

    @property
    def smoothing(self) -> LatticeSmoothing:
        """The lattice step that ends the release."""
        step = self.perturbation
        return step.smoothing if isinstance(step, KNormMechanism) else step

    @property
    def lattice(self) -> float:
        """Step of the lattice that carries the ideal release; 0 with K-norm noise."""
        return self.perturbation.lattice

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release: the ideal law and the perturbation."""
        return self._joint(self.perturbation.guarantee)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the real-valued release."""
        return self._joint(self.perturbation.ideal_guarantee)

    def _joint(self, step: Guarantee) -> Guarantee:
        free = ("the ideal law costs nothing (asserted)",)
        known = free if self.ideal is None else self.ideal.assumptions
        texts = dict.fromkeys((*known, *self._assumptions()))
        total = step if self.ideal is None else _then(self.ideal, step)
        return replace(total, assumptions=tuple(texts), source=_SOURCE)

    def _assumptions(self) -> tuple[str, ...]:
        asserted = (
            f"law of the sampler within W-infinity distance {self.distance:.6g} of the "
            "ideal one for every data set (asserted)"
        )
        if not isinstance(self.perturbation, KNormMechanism):
            return (asserted,)
        rounding = self.smoothing.error
        return asserted, f"rounding of the sample, noise added, <= {rounding:.3g}"

    def release(self, data: FloatArray, source: RandomSource) -> Release[FloatArray]:
        """Return the sample plus noise, on the lattice of the perturbation.

        Parameters
        ----------
        data : ndarray of shape (n_features,)
            What the sampler returned.
        source : RandomSource
            Where the noise comes from; independent of the sampler's.

        Returns
        -------
        Release
            ``output`` has shape (n_features,). It may lie outside the domain of the
            ideal law; to move it back costs nothing.

        Raises
        ------
        ValueError
            If the shape is not the one the mechanism was calibrated for.
        """
        sample = np.asarray(data, dtype=np.float64)
        if sample.shape != (self.n_features,):
            raise ValueError(
                f"data has shape {sample.shape}, the mechanism was calibrated for "
                f"({self.n_features},). Pass one sample, or calibrate again."
            )
        output = self.perturbation.release(sample, source).output
        return Release(output=output, spent=self.guarantee)

    def release_from(
        self,
        sampler: Callable[[Data, RandomSource], FloatArray],
        data: Data,
        source: RandomSource,
    ) -> Release[FloatArray]:
        """Draw with a sampler, perturb, and forget the sample.

        Parameters
        ----------
        sampler : callable
            Takes ``data`` and a source and returns one vector of shape (n_features,),
            with the law that the guarantee speaks about.
        data : object
            The private data.
        source : RandomSource
            Where the randomness of both comes from.

        Returns
        -------
        Release
        """
        return self.release(sampler(data, source), source)

    def noise(self, output: FloatArray, data: FloatArray) -> FloatArray:
        """Recover the noise from output and sample."""
        return self.perturbation.noise(output, data)

    def log_density(self, output: FloatArray, data: FloatArray) -> float:
        """Log density of the ideal release, given the sample."""
        return self.perturbation.log_density(output, data)

    def hard_pairs(self) -> Iterator[AdjacentPair[FloatArray]]:
        """Yield samples at opposite ends of the error ball around one ideal draw."""
        d = self.n_features
        axis = np.zeros(d)
        axis[0] = 1.0
        diagonal = np.full(d, 1.0 / math.sqrt(d))
        # off the lattice, so that the two samples round away from each other
        draw = np.full(d, 0.37 * self.smoothing.grid)
        for name, u in (("an axis", axis), ("the diagonal", diagonal)):
            shift = self.distance * u
            title = f"opposite ends along {name}"
            yield AdjacentPair(title, draw + shift, draw - shift)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield every noise, small and large, around a draw that costs nothing."""
        for epsilon in (0.25, 1.0):
            price = PureDP(epsilon)
            yield cls.calibrate(price, distance=0.3, n_features=1)
            yield cls.calibrate(price, distance=1e-3, n_features=1, noise="laplace")
        yield cls.calibrate(ZeroConcentratedDP(0.005), distance=0.3, n_features=1)
        yield cls.calibrate(PureDP(0.5), distance=0.3, n_features=2)


def _perturbation(
    price: PureDP | ZeroConcentratedDP, kind: str, distance: float, n_features: int
) -> LatticeSmoothing | KNormMechanism:
    """Return the noise for a shift of twice the distance."""
    if isinstance(price, ZeroConcentratedDP):
        return LatticeSmoothing.concentrated(
            error=distance,
            n_features=n_features,
            mu=math.sqrt(2.0 * price.rho),
            adjacency=price.adjacency,
        )
    if kind == "laplace":
        return LatticeSmoothing.pure(
            error=distance,
            n_features=n_features,
            epsilon=price.epsilon_bound,
            adjacency=price.adjacency,
        )
    return KNormMechanism.calibrate(
        price, l2_sensitivity=2.0 * distance, n_features=n_features
    )


def _then(ideal: Guarantee, step: Guarantee) -> Guarantee:
    """Compose ideal law and perturbation, in the sharpest form there is."""
    if isinstance(ideal, Simultaneous):
        parts = tuple(_then(part, step) for part in ideal.parts)
        return Simultaneous(parts, adjacency=ideal.adjacency)
    if isinstance(ideal, GaussianDP) and isinstance(step, ZeroConcentratedDP):
        return SmoothedGaussianDP(ideal.mu, step.rho, adjacency=ideal.adjacency)
    return compose(ideal, step)
