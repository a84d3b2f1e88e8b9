"""Which mechanism a sampler uses: decided from public numbers, before any count.

The rule for ``release="auto"`` compares, by closed forms, how far one draw may be from
the data in the worst case. Nothing here ever sees a histogram.
"""

import math
import warnings
from dataclasses import dataclass
from typing import Any

from skdp.accounting import Adjacency, ApproximateDP, PureDP
from skdp.exceptions import WeakGuaranteeWarning
from skdp.mechanisms import (
    CountWeights,
    DataSpecificROO,
    NoisyHistogram,
    RevealOrObscure,
    SubsampledResponse,
)

__all__ = ["Plan", "Request", "check_combination", "check_delta_of", "plan"]

Sampler = RevealOrObscure | CountWeights | DataSpecificROO | SubsampledResponse

#: Warn where delta exceeds this share of one over the number of records.
_WEAK = 0.1


@dataclass(frozen=True, slots=True)
class Request:
    """The checked parameters of a sampler; all public."""

    target: PureDP | ApproximateDP
    delta: float
    profile: str
    n_samples: int
    release: str
    group_size: int

    @property
    def adjacency(self) -> Adjacency:
        """Neighbouring relation."""
        return self.target.adjacency


@dataclass(frozen=True, slots=True)
class Plan:
    """A calibrated mechanism, and the names under which it was chosen.

    Attributes
    ----------
    mechanism : Mechanism
        On histograms.
    release : {"draws", "batch", "histogram"}
        What it gives out.
    profile : str
        Which weights draws have, "none" for a histogram.
    """

    mechanism: Sampler | NoisyHistogram
    release: str
    profile: str


def check_combination(request: Request) -> None:
    """Refuse parameters that no mechanism serves together; no data needed."""
    private = request.adjacency is Adjacency.ADD_REMOVE
    profile, release = request.profile, request.release
    for wrong, what, remedy in (
        (
            private and profile == "ds-roo",
            "profile='ds-roo' has no proof for add-remove",
            "Use adjacency='replace-one', or profile='envelope'.",
        ),
        (
            private and release == "batch",
            "release='batch' draws a public share of the records, but their number is "
            "private under add-remove",
            "Use adjacency='replace-one', or release='draws'.",
        ),
        (
            request.delta > 0.0 and profile not in {"auto", "roo"},
            f"profile={profile!r} has no use for delta > 0",
            "Use delta=0, or profile='roo'.",
        ),
        (
            request.delta > 0.0
            and private
            and (release == "draws" or profile == "roo"),
            "draws with delta > 0 are accounted with the number of records, which is "
            "private under add-remove",
            "Use adjacency='replace-one', delta=0, or release='histogram'.",
        ),
        (
            request.delta > 0.0 and release == "batch",
            "release='batch' has no use for delta > 0",
            "Use delta=0.",
        ),
        (
            release == "batch" and profile not in {"auto", "roo"},
            f"release='batch' does not use profile={profile!r}",
            "Use profile='auto'.",
        ),
        (
            release == "histogram" and profile != "auto",
            f"release='histogram' does not use profile={profile!r}",
            "Use profile='auto'.",
        ),
    ):
        if wrong:
            raise ValueError(
                f"the parameters do not go together: {what}. Allowed: see the "
                f"parameters of ROOSampler. {remedy}"
            )


def plan(request: Request, n_categories: int, n_rows: int | None) -> Plan:
    """Return the mechanism for a request; ``n_rows`` is None where it is private."""
    if n_categories == 1:
        # every draw is the one category, at no cost, whatever it is called
        release = "draws" if request.release == "auto" else request.release
        profile = "none" if release == "histogram" else "roo"
        return Plan(_line(_pure(request), 1, n_rows, request), release, profile)
    release = request.release
    if release == "auto":
        return _choose(request, n_categories, n_rows)
    if release == "batch":
        return _batch(request, n_categories, n_rows)
    if release == "histogram":
        return _histogram(request, n_categories, n_rows)
    return _draws(request, n_categories, n_rows)


def _choose(request: Request, k: int, n: int | None) -> Plan:
    """Return the plan with the best worst case, the histogram only if it is better."""
    named = request.profile != "auto"
    if request.delta > 0.0 and n is None:
        return _histogram(request, k, n)
    draws = _draws(request, k, n)
    if named or (request.n_samples == 1 and request.delta == 0.0):
        return draws
    best = draws
    if request.delta == 0.0 and n is not None and request.n_samples <= n:
        batch = _batch(request, k, n)
        best = min(draws, batch, key=lambda p: _worst(p, n))
    histogram = _histogram(request, k, n)
    return histogram if _worst(best, n) > _worst(histogram, n) else best


def _worst(plan: Plan, n: int | None) -> float:
    """Return the error of a draw at the worst data, times n where n is private.

    For a histogram the mean error before projection, so that it is not flattered.
    """
    mechanism = plan.mechanism
    if isinstance(mechanism, NoisyHistogram):
        error = mechanism.n_categories * mechanism.mean_error / 2
        return error if n is None else error / n
    if n is not None:
        return mechanism.accuracy_bound(n)
    if isinstance(mechanism, RevealOrObscure | CountWeights):
        table = mechanism.table
        return (mechanism.n_categories - 1) * table.at(0) / table.slope
    return math.inf


def _shape(request: Request, k: int, n: int | None) -> dict[str, Any]:
    return {"n_categories": k, "n_rows": n, "group_size": request.group_size}


def _pure(request: Request) -> PureDP:
    return PureDP(request.target.epsilon_bound, adjacency=request.adjacency)


def _line(
    target: PureDP | ApproximateDP, k: int, n: int | None, request: Request
) -> RevealOrObscure:
    return RevealOrObscure.calibrate(
        target, n_draws=request.n_samples, **_shape(request, k, n)
    )


def _draws(request: Request, k: int, n: int | None) -> Plan:
    """Return independent draws, by the straight line where no profile beats it."""
    profile: Any = "envelope" if request.profile == "auto" else request.profile
    m, pure, shape = request.n_samples, _pure(request), _shape(request, k, n)
    if request.delta > 0.0 or profile == "roo":
        return Plan(_line(request.target, k, n, request), "draws", "roo")
    tabled: DataSpecificROO | CountWeights | None
    if profile == "ds-roo":
        tabled = DataSpecificROO.smallest(pure, n_draws=m, **shape)
    else:
        tabled = CountWeights.steepest(pure, profile=profile, n_draws=m, **shape)
    if tabled is None:
        return Plan(_line(pure, k, n, request), "draws", "roo")
    return Plan(tabled, "draws", profile)


def _batch(request: Request, k: int, n: int | None) -> Plan:
    if n is not None and request.n_samples > n:
        raise ValueError(
            f"release='batch' draws records without replacement, got n_samples="
            f"{request.n_samples}, more than there are records, whose number is public "
            f"under replace-one. Allowed: up to {n}. Use release='histogram'."
        )
    mechanism = SubsampledResponse.calibrate(
        _pure(request), n_draws=request.n_samples, **_shape(request, k, n)
    )
    return Plan(mechanism, "batch", "roo")


def _histogram(request: Request, k: int, n: int | None) -> Plan:
    mechanism = NoisyHistogram.calibrate(request.target, **_shape(request, k, n))
    return Plan(mechanism, "histogram", "none")


def check_delta_of(delta: float, n_rows: int) -> None:
    """Refuse deltas that allow publishing a random record; n is public here."""
    if delta * n_rows >= 1.0:
        raise ValueError(
            f"delta is not below one over the number of records, got {delta!r}: a "
            "mechanism that prints one raw record has such a delta. Allowed: delta < "
            f"1/{n_rows}. Use a smaller delta, or delta=0."
        )
    if delta * n_rows > _WEAK:
        warnings.warn(
            "delta is above a tenth of one over the number of records: it promises "
            "little more than a mechanism that prints one raw record. Choose a delta "
            "well below.",
            WeakGuaranteeWarning,
            stacklevel=4,  # whoever called fit
        )
