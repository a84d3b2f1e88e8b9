r"""How a preconditioned fit spends its target: public constants, found before the data.

Shares are of mu^2, mu the size of the Gaussian release that alone meets the target.

Notation (docs/proofs/preconditioned.md, "Calibration")
-------------------------------------------------------
kappa    curvature of one row over the ridge, a multiple of epsilon  -> ``curvature``
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from skdp.accounting import Guarantee, PreconditionedPerturbationDP
from skdp.mechanisms._additive import RELATIVE_ERROR
from skdp.mechanisms._calibration import analytic_mu, largest_mu
from skdp.mechanisms._pco_parts import UP, NoisyPart

__all__ = [
    "METRIC_SHARE",
    "Plan",
    "gradient_tolerance",
    "plan_parts",
    "statistic_error",
]

#: Share of the second moments.
METRIC_SHARE = 0.10
#: Share of the gradient at zero, logistic and log-cosh, and of the two energies.
_CENTER_SHARES, _ENERGY_SHARE = {"logistic": 0.02, "log-cosh": 0.03}, 0.01
#: kappa over epsilon with one logistic objective, with two, and for log-cosh.
_ONE, _TWO, _LOG_COSH = 0.9, 0.6, 0.4
#: From this epsilon on a second objective pays, and the share of the first then.
_TWO_FROM, _FIRST_SHARE = 4.0, 0.2
#: mu of a lattice step over the mu of the target: of an objective, and of a statistic.
_OBJECTIVE_STEP, _STATISTIC_STEP = 1.0 / 200.0, 1.0 / 2000.0
#: Largest mu of a lattice step.
_MOST_STEP = 0.05
#: Accuracy of computed gradients, for rows of norm one in the metric ...
_TOLERANCE = 1e-8
#: ... unless the noise is so large that its own rounding would exceed it.
_NOISE_TOLERANCE = 2.0**-48
#: Share of delta left over, above all rounding, and curves to look at.
_UNSPENT, _MOST_SECANTS = 1e-7, 12
#: Of what two energies in [0, 1] a row can change together.
_ENERGY_SENSITIVITY = math.sqrt(2.0)


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of a fit, and the curvature of one row over the ridge."""

    curvature: float
    metric: NoisyPart
    center: NoisyPart
    energy: NoisyPart | None
    phases: tuple[NoisyPart, ...]


def gradient_tolerance(noise_scale: float, n_coefficients: int) -> float:
    """Return the public bound on the gradient of a computed minimiser."""
    noise = _NOISE_TOLERANCE * noise_scale * math.sqrt(n_coefficients)
    return max(_TOLERANCE, noise)


def statistic_error(noise_scale: float, *, exact: bool) -> float:
    """Return the public bound on what computing a statistic and its noise rounds.

    Second moments are exact; other sums round as gradients do.
    """
    noise = RELATIVE_ERROR * noise_scale
    return noise if exact else max(noise, _TOLERANCE)


@lru_cache(maxsize=256)
def plan_parts(epsilon: float, delta: float, loss: str, n_coefficients: int) -> Plan:
    """Return the parts of a fit that together meet (epsilon, delta)."""
    mu, d = analytic_mu(epsilon, delta), n_coefficients
    two = loss == "logistic" and epsilon >= _TWO_FROM
    kappa = epsilon * (_LOG_COSH if loss == "log-cosh" else _TWO if two else _ONE)
    statistics = _statistics(mu, loss, d)
    earlier = (mu * math.sqrt(_FIRST_SHARE),) if two else ()
    step_mu = min(_OBJECTIVE_STEP * mu, _MOST_STEP)

    def phase(name: str, size: float) -> NoisyPart:
        # the ridge is at least 1 / kappa; twice the tolerance covers its rounding
        error = 2.0 * gradient_tolerance(UP / size, d) * kappa
        return NoisyPart.of_size(
            name, size, sensitivity=1.0, size=d, error=error, step_mu=step_mu
        )

    gaussian_mu = math.hypot(*(part.mu for part in statistics))
    lattice = [part.step.rho for part in statistics]
    start = math.sqrt(mu**2 - math.hypot(gaussian_mu, *earlier) ** 2)
    # the step of an objective depends on its size by rounding alone
    lattice += [phase("objective", size).step.rho for size in (*earlier, start)]
    rho = math.fsum(lattice)

    def curve(last: float) -> PreconditionedPerturbationDP:
        sizes = (*earlier, last)
        return PreconditionedPerturbationDP(gaussian_mu, sizes, kappa, loss, rho)

    sizes = (*earlier, _largest_size(curve, start, epsilon, delta))
    names = ("objective",) if not two else ("first objective", "second objective")
    metric, center, *energy = statistics
    return Plan(
        curvature=kappa,
        metric=metric,
        center=center,
        energy=energy[0] if energy else None,
        phases=tuple(map(phase, names, sizes)),
    )


def _largest_size(
    curve: Callable[[float], Guarantee], start: float, epsilon: float, delta: float
) -> float:
    """Return a size that spends all but a trifle of delta, from few curves.

    Secants of log delta over log size, which is nearly a line; its slope at the start
    is that of the Gaussian release of all of the target. What is returned was checked,
    with room for the rounding of sizes and of curves.
    """
    mu = analytic_mu(epsilon, delta)
    # d delta / d mu of a Gaussian release is a normal density
    density = math.exp(-((epsilon / mu - mu / 2) ** 2) / 2) / math.sqrt(2 * math.pi)
    size, slope = start, density / delta * start**2 / mu
    last: tuple[float, float] | None = None
    for _ in range(_MOST_SECANTS):
        cost = float(curve(size).delta(epsilon))
        if not (0.0 < cost < 1.0 and slope > 0.0):
            break
        excess = math.log(cost) - math.log(delta) + _UNSPENT
        if abs(excess) <= _UNSPENT / 2:
            return size
        here = math.log(size)
        if last is not None and last[1] != excess:
            slope = (excess - last[1]) / (here - last[0])
        last = here, excess
        size *= math.exp(max(-1.0, min(-excess / slope, 1.0))) if slope > 0.0 else 1.0
    return largest_mu(curve, epsilon, delta)


def _statistics(mu: float, loss: str, d: int) -> list[NoisyPart]:
    """Return the Gaussian releases, in their order."""

    def part(name: str, share: float, sensitivity: float, size: int) -> NoisyPart:
        own = mu * math.sqrt(share)
        error = statistic_error(UP * sensitivity / own, exact=name == "second moments")
        return NoisyPart.of_size(
            name,
            own,
            sensitivity=sensitivity,
            size=size,
            error=error,
            step_mu=min(_STATISTIC_STEP * mu, _MOST_STEP),
        )

    pull = 0.5 if loss == "logistic" else 1.0
    parts = [
        part("second moments", METRIC_SHARE, 1.0, d * (d + 1) // 2),
        part("gradient at zero", _CENTER_SHARES[loss], pull, d),
    ]
    if loss == "log-cosh":
        parts.append(part("energies", _ENERGY_SHARE, _ENERGY_SENSITIVITY, 2))
    return parts
