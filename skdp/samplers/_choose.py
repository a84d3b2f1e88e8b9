"""Which sampler fits a target, as a table of rules with reasons."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from skdp._validation import check_choice, check_count
from skdp.samplers._bingham import Bingham
from skdp.samplers._concave_hull import concave_stage
from skdp.samplers._gaussian_envelope import strongly_concave_target
from skdp.samplers._holder_box import holder_box_stage
from skdp.samplers._holder_grid import holder_stage
from skdp.samplers._log_concave import log_concave_target
from skdp.samplers._loop_batched import BatchedLoop
from skdp.samplers._loop_constant import PaddedLoop, ThinnedLoop
from skdp.samplers._loop_simple import SimpleLoop
from skdp.samplers._slack import SlackSqueeze

__all__ = ["SamplerChoice", "choose_sampler"]

Domain: TypeAlias = Literal["candidates", "interval", "box", "line", "space", "sphere"]
Known: TypeAlias = Literal[
    "sensitivity",
    "log-concave",
    "strongly concave",
    "bingham",
    "acceptance bound",
    "public acceptance",
    "exact acceptance",
    "estimated acceptance",
    "squeeze",
    "curvature",
    "holder",
    "public proposal",
]
_DOMAINS = ("candidates", "interval", "box", "line", "space", "sphere")
_KNOWN = (
    "sensitivity", "log-concave", "strongly concave", "bingham", "acceptance bound",
    "public acceptance", "exact acceptance", "estimated acceptance", "squeeze",
    "curvature", "holder", "public proposal",
)  # fmt: skip
#: Most axes of a box that a grid of cells is meant for.
_MOST_AXES = 3


@dataclass(frozen=True)
class SamplerChoice:
    """What :func:`choose_sampler` recommends.

    Attributes
    ----------
    name : str
        The way to sample, in a few words.
    sampler : tuple of callable
        Classes and functions of this room that do it, outermost first; empty when a
        mechanism does it.
    mechanism : tuple of str
        Where the mechanisms are, as dotted names, that draw without a loop: any one of
        them. Empty when a sampler does it.
    law : str
        ``"exact"``, ``"exact for the interpolated utility"`` or ``"approximate"``.
    cost : str
        What the running time adds to the guarantee of the draw.
    fixed_work : bool
        Whether the number of steps is public, up to a chance that ``cost`` states.
    why : str
        The reason, in a sentence.
    """

    name: str
    sampler: tuple[Callable[..., object], ...]
    law: str
    cost: str
    fixed_work: bool
    why: str
    mechanism: tuple[str, ...] = field(default=(), kw_only=True)

    def __str__(self) -> str:
        parts = self.mechanism or tuple(part.__name__ for part in self.sampler)
        return (
            f"{self.name} ({', '.join(parts)}): {self.why} Law: {self.law}. "
            f"Running time: {self.cost}."
        )


@dataclass(frozen=True)
class _Problem:
    domain: str
    dimension: int
    known: frozenset[str]

    def knows(self, *facts: str) -> bool:
        return self.known >= frozenset(facts)


@dataclass(frozen=True)
class _Rule:
    fits: Callable[[_Problem], bool]
    choice: SamplerChoice


#: Names, not classes: mechanisms are built on this room.
_FINITE = ("skdp.mechanisms.ExponentialMechanism", "skdp.PrivateSelector")
_FREE, _FAILS = "adds nothing", "adds delta <= (1 - p_lo)**batch"

#: Best first: the first rule that fits decides.
_TABLE = (
    _Rule(
        lambda p: p.domain == "candidates",
        SamplerChoice(
            "finite selection", (), "exact", _FREE, True,
            "finitely many candidates are all scored, and one draw decides.",
            mechanism=_FINITE,
        ),
    ),
    _Rule(
        lambda p: p.domain == "interval" and p.knows("sensitivity"),
        SamplerChoice(
            "utility interpolated on a public grid", (),
            "exact for the interpolated utility", _FREE, True,
            "interpolation with public weights keeps the sensitivity, and the inverse "
            "distribution function takes a public number of steps.",
            mechanism=("skdp.mechanisms.IntervalExponential",),
        ),
    ),
    _Rule(
        lambda p: p.domain == "box" and p.dimension <= _MOST_AXES
        and p.knows("sensitivity"),
        SamplerChoice(
            "cells of a public grid", (), "exact for the interpolated utility", _FREE,
            True, "few axes leave few cells, which are all scored.",
            mechanism=("skdp.mechanisms.BoxExponential",),
        ),
    ),
    _Rule(
        lambda p: p.knows("public proposal"),
        SamplerChoice(
            "public candidates", (), "approximate", _FREE, True,
            "draws from a public proposal become finitely many candidates, scored by a "
            "utility of bounded sensitivity; the bias falls with their number.",
            mechanism=_FINITE,
        ),
    ),
    _Rule(
        lambda p: p.domain == "line" and p.knows("log-concave"),
        SamplerChoice(
            "universal log-concave envelope in batches",
            (BatchedLoop, log_concave_target), "exact", _FAILS, True,
            "public bounds on location and scale give an acceptance of 0.45 for every "
            "log-concave density.",
        ),
    ),
    _Rule(
        lambda p: p.domain == "sphere" and p.knows("bingham"),
        SamplerChoice(
            "angular central Gaussian envelope in batches", (BatchedLoop, Bingham),
            "exact", _FAILS, True,
            "the acceptance has a public lower bound by the dimension.",
        ),
    ),
    _Rule(
        lambda p: p.knows("strongly concave"),
        SamplerChoice(
            "Gaussian envelope in batches",
            (BatchedLoop, strongly_concave_target), "exact", _FAILS, True,
            "public bounds on the curvature give a public acceptance, useful in few "
            "dimensions.",
        ),
    ),
    _Rule(
        lambda p: p.domain == "interval" and p.knows("log-concave", "curvature"),
        SamplerChoice(
            "concave hull in batches", (BatchedLoop, concave_stage), "exact", _FAILS,
            True, "bounded curvature bounds the gap of a hull on public knots.",
        ),
    ),
    _Rule(
        lambda p: p.knows("public acceptance"),
        SamplerChoice(
            "simple loop", (SimpleLoop,), "exact", _FREE, False,
            "the normaliser is the same for all data sets, so the running time has one "
            "law; declare it by p_lo = p_hi.",
        ),
    ),
    _Rule(
        lambda p: p.knows("acceptance bound"),
        SamplerChoice(
            "batches until one succeeds", (BatchedLoop,), "exact", _FAILS, True,
            "a public lower bound on the acceptance makes one batch almost always "
            "enough.",
        ),
    ),
    _Rule(
        lambda p: p.knows("exact acceptance"),
        SamplerChoice(
            "thinned loop", (ThinnedLoop,), "exact", _FREE, False,
            "with the acceptance of the data known, accepting less often makes it the "
            "same for all.",
        ),
    ),
    _Rule(
        lambda p: p.knows("estimated acceptance"),
        SamplerChoice(
            "padded loop", (PaddedLoop,), "exact", "adds 2 tau, pure", False,
            "idle steps make the time geometric up to the certified error.",
        ),
    ),
    _Rule(
        lambda p: p.domain == "interval" and p.knows("holder"),
        SamplerChoice(
            "slack squeeze on public cells", (SlackSqueeze, holder_stage), "exact",
            "adds 4 eta, pure", False,
            "a bound on how fast the log density changes squeezes it between two "
            "envelopes.",
        ),
    ),
    _Rule(
        lambda p: p.domain == "box" and p.dimension <= _MOST_AXES
        and p.knows("holder"),
        SamplerChoice(
            "slack squeeze on public cells of a box", (SlackSqueeze, holder_box_stage),
            "exact", "adds 4 eta, pure", False,
            "a bound on how fast the log density changes squeezes it between two "
            "envelopes on few cells.",
        ),
    ),
    _Rule(
        lambda p: p.knows("squeeze"),
        SamplerChoice(
            "slack squeeze", (SlackSqueeze,), "exact", "adds 4 eta, pure", False,
            "a certified lower envelope lets a public coin end the loop.",
        ),
    ),
)  # fmt: skip

_LEAKY = SamplerChoice(
    "simple loop", (SimpleLoop,), "exact",
    "adds (epsilon, delta) of RuntimeCost, usually far more than the draw", False,
    "nothing that is known hides the running time, and leaking it was allowed.",
)  # fmt: skip


def choose_sampler(
    domain: Domain,
    *,
    dimension: int = 1,
    known: tuple[Known, ...] = (),
    allow_runtime_leak: bool = False,
) -> SamplerChoice:
    """Return the best way to draw from a target, and why.

    Best is fixed work at no cost; then an exact draw below an envelope whose acceptance
    is bounded for every data set; then loops that know more of the data at hand, or pay
    an epsilon. docs/selection.md has the whole order. All that is "known" is public and
    holds for every data set.

    Parameters
    ----------
    domain : str
        ``"candidates"``, ``"interval"``, ``"box"``, ``"line"``, ``"space"`` or
        ``"sphere"``.
    dimension : int, default=1
        Number of axes of a box.
    known : tuple of str
        - ``"sensitivity"``: of a utility that can be evaluated on a public grid;
        - ``"log-concave"``, and on an interval ``"curvature"``, a bound on -g'';
        - ``"strongly concave"``: both bounds on the curvature, and a bound on the
          distance from a public start to the maximum;
        - ``"bingham"``: a quadratic form on the sphere;
        - ``"acceptance bound"``: a lower bound on the acceptance under an envelope;
        - ``"public acceptance"``: the acceptance is the same for all data sets;
        - ``"exact acceptance"``, ``"estimated acceptance"``: of the data at hand, and
          a public lower bound on it;
        - ``"squeeze"``: an upper and a lower envelope of known ratio;
        - ``"holder"``: how fast the log density changes, on an interval or a box of
          up to three axes;
        - ``"public proposal"``: a law to draw candidates from, which a utility of
          bounded sensitivity then scores.
    allow_runtime_leak : bool, default=False
        Whether to accept a loop whose running time tells more than its draw.

    Returns
    -------
    SamplerChoice

    Raises
    ------
    ValueError
        When only a loop with data-dependent running time is left and that was not
        allowed.

    Notes
    -----
    A sampler that only evaluates the density at points cannot be exact and have a
    running time that tells nothing beyond the draw (docs/proofs/runtime.md). So each
    rule pays: by an approximate law, a delta, a small epsilon, or another utility.

    Examples
    --------
    >>> from skdp.samplers import choose_sampler
    >>> print(choose_sampler("line", known=("log-concave",)).name)
    universal log-concave envelope in batches
    >>> choose_sampler("space")
    Traceback (most recent call last):
        ...
    ValueError: the running time would depend on the data...
    """
    remedy = "Say where the target lives, and what is known of it."
    check_choice("domain", domain, _DOMAINS, remedy=remedy)
    for fact in known:
        check_choice("known", fact, _KNOWN, remedy=remedy)
    n_axes = check_count("dimension", dimension, minimum=1, remedy=remedy)
    problem = _Problem(domain, n_axes, frozenset(known))
    for rule in _TABLE:
        if rule.fits(problem):
            return rule.choice
    if allow_runtime_leak:
        return _LEAKY
    raise ValueError(
        f"the running time would depend on the data, got domain {domain!r} with known "
        f"{tuple(known)!r}. Allowed: {', '.join(map(repr, _KNOWN))}. Name what is "
        "public, or pass allow_runtime_leak=True and account for RuntimeCost."
    )
