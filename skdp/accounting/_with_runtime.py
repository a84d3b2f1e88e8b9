"""Join the guarantee of a draw with the cost of the time it took."""

import math
from dataclasses import replace

from skdp.accounting._channel import Channel, describe
from skdp.accounting._compose import compose, union
from skdp.accounting._guarantee import Guarantee, require_same_adjacency
from skdp.accounting._pure import PureDP
from skdp.accounting._runtime import RuntimeCost

__all__ = ["with_runtime"]

_BOTH = frozenset({Channel.OUTPUT, Channel.RUNTIME})


def with_runtime(output: Guarantee, cost: RuntimeCost) -> Guarantee:
    """Return the guarantee of a draw and of its running time, seen together.

    Parameters
    ----------
    output : Guarantee
        Of the draw, or of all draws when ``cost`` counts several.
    cost : RuntimeCost
        Of the loop that made it.

    Returns
    -------
    Guarantee
        Covers the output and the running time.

    Raises
    ------
    AdjacencyMismatchError
        When the two speak about different neighbours.
    TypeError
        When a slack squeeze is joined with a guarantee that is not pure.

    Notes
    -----
    In every kind but the slack squeeze the first accepted draw is independent of the
    time, so the two compose as two releases. The draw of a slack squeeze depends on its
    time, and its cost is a factor on the joint density. Proof in
    docs/proofs/runtime.md.

    Examples
    --------
    >>> from skdp.accounting import PureDP, RuntimeCost, with_runtime
    >>> fixed = with_runtime(PureDP(1.0), RuntimeCost("constant"))
    >>> fixed.observes == {"output", "runtime"}, fixed.epsilon(0.0)
    (True, 1.0)
    >>> loop = RuntimeCost("simple", p_hi=0.5, Dg=0.5)
    >>> with_runtime(PureDP(1.0), loop).epsilon(1e-6)
    12.0...
    """
    require_same_adjacency((output, cost))
    if not isinstance(cost, RuntimeCost):
        raise TypeError(
            f"cost is not the cost of a loop, got {type(cost).__name__}. Allowed: "
            "RuntimeCost. Pass what the running time of the sampler costs."
        )
    if Channel.OUTPUT not in output.observes:
        raise ValueError(
            f"output does not cover the output, got {describe(output.observes)}. "
            "Allowed: a guarantee of what is released. Pass that of the draw first."
        )
    if cost.kind == "constant":
        fixed = output._watching(_BOTH)
        if cost.assumptions:
            fixed = replace(fixed, assumptions=union((output, cost)))
        return fixed
    if cost.kind == "slack_squeeze":
        return _squeezed(output, cost)
    return compose(output._watching(_BOTH), cost._watching(_BOTH))


def _squeezed(output: Guarantee, cost: RuntimeCost) -> PureDP:
    pure = output.epsilon(0.0)
    if pure == math.inf:
        raise TypeError(
            f"a slack squeeze needs a pure guarantee of the draw, got "
            f"{type(output).__name__}. Allowed: guarantees with epsilon at delta=0. "
            "Use a batched loop instead."
        )
    return PureDP(
        pure + cost.epsilon(0.0),
        adjacency=output.adjacency,
        assumptions=union((output, cost)),
        source="slack squeeze, docs/proofs/runtime.md",
        observes=_BOTH,
    )
