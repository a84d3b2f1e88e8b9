"""Composition: what several releases about the same people cost together.

Equal notions add up in closed form. Pure and approximate guarantees turn into a few
atoms of privacy loss (randomised response), which mix exactly with anything else:
``delta(eps) = E[delta_rest(eps - L)]``. Only two or more of the remaining notions need
a numerical convolution, which lives in ``_pld.py``.
"""

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import gammaln

from skdp._typing import FloatArray
from skdp.accounting._adjacency import Adjacency
from skdp.accounting._approximate import ApproximateDP
from skdp.accounting._channel import describe
from skdp.accounting._concentrated import ZeroConcentratedDP
from skdp.accounting._conservative_objective import ConservativeObjectiveDP
from skdp.accounting._gaussian import GaussianDP
from skdp.accounting._guarantee import (
    Guarantee,
    common_channels,
    require_same_adjacency,
)
from skdp.accounting._numbers import sequence_of
from skdp.accounting._objective_perturbation import ObjectivePerturbationDP
from skdp.accounting._pld import pair_profile
from skdp.accounting._preconditioned import PreconditionedPerturbationDP
from skdp.accounting._pure import PureDP
from skdp.accounting._simultaneous import Simultaneous
from skdp.accounting._smoothed_gaussian import SmoothedGaussianDP
from skdp.accounting._softmax_perturbation import SoftmaxPerturbationDP
from skdp.accounting._tilted_objective import TiltedObjectiveDP

__all__ = ["Composed", "compose", "union"]

#: Most atoms of privacy loss to enumerate; beyond, the numerical convolution serves.
_MOST_ATOMS = 20_000
#: Where the parts' needs are compared for a basic split.
_TYPICAL_DELTA = 1e-9
#: Stands for the need of a part that no epsilon satisfies at that delta.
_ENDLESS = 1e6
#: Notions that carry the price of a lattice step themselves.
_SMOOTHABLE = (
    ObjectivePerturbationDP,
    TiltedObjectiveDP,
    ConservativeObjectiveDP,
    SoftmaxPerturbationDP,
)
#: Number of (epsilon, atom) pairs handled at once, to bound the memory.
_CHUNK = 1_000_000


def compose(*guarantees: Guarantee) -> Guarantee:
    """Return the guarantee of several releases about the same people together.

    Valid when every release was decided on beforehand, or when each one, chosen in view
    of earlier outputs, keeps to the guarantee declared for it here.

    Parameters
    ----------
    *guarantees : Guarantee
        At least one, all with the same adjacency.

    Returns
    -------
    Guarantee
        Gaussian, zCDP and single guarantees stay of their kind; the rest is a
        :class:`Composed` that keeps its parts, or a :class:`Simultaneous` of these
        where one of the releases has several guarantees.

    Raises
    ------
    AdjacencyMismatchError
        When two guarantees speak about different neighbours.
    ValueError
        When there is nothing to compose.

    References
    ----------
    Kairouz, Oh and Viswanath (2015) for pure and approximate; Dong, Roth and Su (2022)
    for Gaussian; Bun and Steinke (2016) for zCDP; Zhu, Dong and Wang (2022) for
    directed profiles.

    Examples
    --------
    >>> from skdp.accounting import GaussianDP, PureDP, compose
    >>> compose(GaussianDP(3.0), GaussianDP(4.0))
    GaussianDP(5.0, adjacency='add-remove')
    >>> total = compose(*[PureDP(0.1)] * 100)
    >>> total.epsilon(0.0), total.epsilon(1e-6)
    (10.0, 4.77456...)
    """
    if not guarantees:
        raise ValueError(
            "nothing to compose, got no guarantee. Allowed: one or more. "
            "Pass the guarantees of the releases."
        )
    adjacency = require_same_adjacency(guarantees)
    if len(guarantees) == 1:
        return guarantees[0]
    channels = common_channels(guarantees)
    if any(isinstance(g, Simultaneous) for g in guarantees):
        return _compose_alternatives(guarantees, adjacency)
    parts = _flatten(guarantees)
    merged = _merge_alike(parts)
    total = merged or Composed(parts, adjacency=adjacency, observes=channels)
    total._set("assumptions", union(guarantees))
    total._set("observes", channels)
    return total


def _flatten(guarantees: tuple[Guarantee, ...]) -> tuple[Guarantee, ...]:
    parts: list[Guarantee] = []
    for g in guarantees:
        inner = g.parts if isinstance(g, Composed) else (g,)
        # what was proved about the whole of a composition is passed on to its parts
        parts.extend(part._watching(g.observes) for part in inner)
    return tuple(parts)


def _compose_alternatives(
    guarantees: tuple[Guarantee, ...], adjacency: Adjacency
) -> Simultaneous:
    """Compose first alternatives with first ones, and so on.

    A guarantee with fewer alternatives takes part with its last one. Every choice is
    valid, so the best of some is.
    """
    choices = [_alternatives(g) for g in guarantees]
    totals = tuple(
        compose(*(parts[min(i, len(parts) - 1)] for parts in choices))
        for i in range(max(map(len, choices)))
    )
    return Simultaneous(
        totals,
        adjacency=adjacency,
        assumptions=union(guarantees),
        observes=common_channels(guarantees),
    )


def _alternatives(g: Guarantee) -> tuple[Guarantee, ...]:
    """Return what holds of one release, each about what the whole covers."""
    if not isinstance(g, Simultaneous):
        return (g,)
    return tuple(part._watching(g.observes) for part in g.parts)


def union(guarantees: tuple[Guarantee, ...]) -> tuple[str, ...]:
    """Collect assumptions once each, in order."""
    return tuple(dict.fromkeys(text for g in guarantees for text in g.assumptions))


def _merge_alike(parts: tuple[Guarantee, ...]) -> Guarantee | None:
    """Add up parts of one notion that has a closed form of its own."""
    adjacency = parts[0].adjacency
    if all(isinstance(g, GaussianDP) for g in parts):
        return _sum_gaussian(parts, adjacency)
    if all(isinstance(g, ZeroConcentratedDP) for g in parts):
        return _sum_concentrated(parts, adjacency)
    return None


def _sum_gaussian(parts: tuple[Guarantee, ...], adjacency: Adjacency) -> GaussianDP:
    mu = math.hypot(*(g.mu for g in parts if isinstance(g, GaussianDP)))
    return GaussianDP(mu, adjacency=adjacency)


def _sum_concentrated(
    parts: tuple[Guarantee, ...], adjacency: Adjacency
) -> ZeroConcentratedDP:
    rho = math.fsum(g.rho for g in parts if isinstance(g, ZeroConcentratedDP))
    return ZeroConcentratedDP(rho, adjacency=adjacency)


@dataclass(frozen=True, slots=True, repr=False)
class Composed(Guarantee):
    """Several releases together, kept apart as a list one can inspect.

    Made by :func:`compose`. Never worse than basic composition.

    Parameters
    ----------
    parts : tuple of Guarantee
        The guarantees composed, in order.
    adjacency : Adjacency or str, default="add-remove"
        Which data sets count as neighbours.
    assumptions : tuple of str, default=()
        Union of what the parts assume.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"output"}
        What the attacker may watch.

    Examples
    --------
    >>> from skdp.accounting import GaussianDP, PureDP, compose
    >>> total = compose(PureDP(0.5), GaussianDP(0.7))
    >>> total.parts[0]
    PureDP(0.5, adjacency='add-remove')
    >>> total.epsilon(1e-5)
    3.33036...
    """

    parts: tuple[Guarantee, ...]

    def _check(self) -> None:
        kind: type[Guarantee] = Guarantee  # type: ignore[type-abstract]
        parts = sequence_of("parts", self.parts, kind, "guarantees")
        self._set("parts", parts)
        if not self.parts:
            raise ValueError(
                "parts is empty. Allowed: one guarantee or more. Use compose()."
            )
        if require_same_adjacency(self.parts) is not self.adjacency:
            raise ValueError(
                f"adjacency differs from the parts', got {str(self.adjacency)!r}. "
                f"Allowed: {str(self.parts[0].adjacency)!r}. Use compose()."
            )
        if not self.observes <= common_channels(self.parts):
            raise ValueError(
                f"observes exceeds what all parts cover, got {describe(self.observes)}."
                f" Allowed: {describe(common_channels(self.parts))}. Use compose()."
            )

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        return np.maximum(*self._delta_directed(epsilon))

    def _delta_directed(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        plan = _plan(self.parts)
        basic = plan.basic(epsilon)
        remove, add = plan.mix(epsilon)
        return np.minimum(remove, basic), np.minimum(add, basic)

    def _pure_epsilon(self) -> float:
        return math.fsum(g._pure_epsilon() for g in self.parts)

    def _components(self) -> tuple[Guarantee, ...]:
        return tuple(c for g in self.parts for c in g._components())

    def _group(self, k: int) -> "Composed":
        return self._with(tuple(g.group(k) for g in self.parts))

    def _to_replace_one(self) -> "Composed":
        parts = tuple(g.to_replace_one() for g in self.parts)
        return self._with(parts, adjacency=Adjacency.REPLACE_ONE)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Atoms of loss, a chance of telling everything, and what remains to mix in.

    Attributes
    ----------
    losses, weights : arrays
        Law of the summed randomised responses, both directions alike.
    certain : float
        Chance that at least one approximate part tells everything.
    rest : tuple of Guarantee
        Unlike notions, already merged as far as closed forms go.
    """

    losses: FloatArray
    weights: FloatArray
    certain: float
    rest: tuple[Guarantee, ...]

    @cached_property
    def _needs(self) -> tuple[float, list[tuple[Guarantee, float]]]:
        """Return the pure epsilon in total, and the share of each other part."""
        finite = {g: g._pure_epsilon() for g in self.rest}
        pure = math.fsum(finite[g] for g in self.rest if finite[g] < math.inf)
        others = [g for g in self.rest if finite[g] == math.inf]
        # any shares are valid; these are near the best for all but huge deltas
        needs = [min(g.epsilon(_TYPICAL_DELTA), _ENDLESS) for g in others]
        total = math.fsum(needs)
        shares = [need / total if total > 0.0 else 1.0 for need in needs]
        atoms = float(self.losses.max())
        return pure + atoms, list(zip(others, shares, strict=True))

    def mix(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Average both directions of the rest's profile over the atoms."""
        rows = max(1, _CHUNK // self.losses.size)
        out = np.empty((2, epsilon.size))
        for i in range(0, epsilon.size, rows):
            gaps = epsilon[i : i + rows, None] - self.losses
            both = self._rest_delta(gaps.ravel())
            for direction, values in enumerate(both):
                mean = values.reshape(gaps.shape) @ self.weights
                out[direction, i : i + rows] = mean
        remove, add = self.certain + (1.0 - self.certain) * out
        return remove, add

    def _rest_delta(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not self.rest:
            nothing = np.maximum(-np.expm1(np.minimum(epsilon, 0.0)), 0.0)
            return nothing, nothing
        if len(self.rest) == 1:
            return self.rest[0]._delta_directed(epsilon)
        return pair_profile(self.rest).directed(epsilon)

    def basic(self, epsilon: FloatArray) -> FloatArray:
        """Add deltas up, epsilon shared in proportion to what each part needs."""
        known, curves = self._needs
        left = epsilon - known
        spent = np.zeros_like(epsilon)
        for g, share in curves:
            spent = spent + g._bounded(np.maximum(left, 0.0) * share)
        return np.where(left >= 0.0, np.minimum(self.certain + spent, 1.0), 1.0)


@lru_cache(maxsize=256)
def _plan(parts: tuple[Guarantee, ...]) -> _Plan:
    """Sort the parts into atoms and a merged rest; the order of parts is immaterial."""
    pieces = [c for g in parts for c in g._components()]
    responses = [p for p in map(_as_response, pieces) if p is not None]
    others = tuple(g for g in pieces if _as_response(g) is None)
    counts = Counter(epsilon for epsilon, _ in responses if epsilon > 0.0)
    certain = -math.expm1(math.fsum(math.log1p(-d) for _, d in responses))
    rest = _merge_unlike(others)
    responses_as_pure = _as_pure(counts, parts[0].adjacency)
    if math.prod(n + 1 for n in counts.values()) > _MOST_ATOMS:
        rest = (*responses_as_pure, *rest)
        return _Plan(np.zeros(1), np.ones(1), certain, rest)
    if counts and len(rest) > 1:
        # one exact profile to convolve, instead of many readings of a convolution
        rest = (Composed(responses_as_pure, adjacency=parts[0].adjacency), *rest)
        return _Plan(np.zeros(1), np.ones(1), certain, rest)
    losses, weights = _response_law(counts)
    return _Plan(losses, weights, certain, rest)


def _as_pure(counts: Counter[float], adjacency: Adjacency) -> tuple[Guarantee, ...]:
    return tuple(PureDP(e, adjacency=adjacency) for e in sorted(counts.elements()))


def _as_response(g: Guarantee) -> tuple[float, float] | None:
    """Return (epsilon, delta) of a notion that equals randomised response."""
    if isinstance(g, PureDP):
        return g.epsilon_bound, 0.0
    if isinstance(g, ApproximateDP):
        return g.epsilon_bound, g.delta_bound
    return None


def _response_law(counts: Counter[float]) -> tuple[FloatArray, FloatArray]:
    """Return the law of a sum of independent losses +-eps, exact binomials multiplied.

    A response of n equal epsilons loses eps (2k - n) with probability Binomial(n, p),
    p = e^eps / (1 + e^eps).
    """
    losses, logs = np.zeros(1), np.zeros(1)
    for epsilon, n in sorted(counts.items()):
        k = np.arange(n + 1.0)
        log_choose = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
        # log p and log(1 - p) without cancellation
        log_law = log_choose - k * np.logaddexp(0.0, -epsilon)
        log_law = log_law - (n - k) * np.logaddexp(0.0, epsilon)
        losses = np.add.outer(losses, epsilon * (2.0 * k - n)).ravel()
        logs = np.add.outer(logs, log_law).ravel()
    return losses, np.exp(logs)


def _merge_unlike(others: tuple[Guarantee, ...]) -> tuple[Guarantee, ...]:
    """Reduce Gaussian, zCDP and one further notion to as few guarantees as possible."""
    if not others:
        return ()
    adjacency = others[0].adjacency
    gaussian = tuple(g for g in others if isinstance(g, GaussianDP) and g.mu > 0.0)
    blur = tuple(g for g in others if isinstance(g, ZeroConcentratedDP) and g.rho > 0.0)
    known = (GaussianDP, ZeroConcentratedDP)
    unlike = sorted((_bare(g) for g in others if not isinstance(g, known)), key=repr)
    mu = _sum_gaussian(gaussian, adjacency).mu if gaussian else 0.0
    rho = _sum_concentrated(blur, adjacency).rho if blur else 0.0
    rest: list[Guarantee] = list(unlike)
    only = rest[0] if len(rest) == 1 else None
    if isinstance(only, PreconditionedPerturbationDP):
        absorbed = only._absorbed(mu, rho)
        if absorbed is not None:
            return (absorbed,)
    single = only if mu == 0.0 else None
    if isinstance(single, _SMOOTHABLE):
        return (single._with_smoothing(rho),)
    if not rest and mu > 0.0 and rho > 0.0:
        return (SmoothedGaussianDP(mu, rho, adjacency=adjacency),)
    if mu > 0.0:
        rest.append(GaussianDP(mu, adjacency=adjacency))
    if rho > 0.0:
        rest.append(ZeroConcentratedDP(rho, adjacency=adjacency))
    return tuple(rest)


def _bare(g: Guarantee) -> Guarantee:
    """Drop words, so that equal numbers are recognised as equal."""
    numbers = (getattr(g, name) for name in g._own_fields())
    return type(g)(*numbers, adjacency=g.adjacency)
