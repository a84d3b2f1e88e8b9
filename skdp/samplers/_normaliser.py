r"""The normaliser of a Gibbs density, by quadrature in one and two dimensions.

Notation
--------
theta^   near the mode, strictly inside the domain
h        rise of the potential along a ray from theta^: convex, >= 0 but for rounding
reach    distance along a ray at which the density is negligible, or the ball ends
"""

from collections.abc import Callable

import numpy as np

from skdp._typing import FloatArray
from skdp.samplers._mode import near_mode
from skdp.samplers._target import GibbsTarget

__all__ = ["log_normaliser"]

#: Densities are followed down to exp(-this) of their peak.
_DEPTH = 60.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
#: A panel is done when halving it changes this share of the whole.
_TOLERANCE = 1e-13
_MAX_ROUNDS = 40
#: Directions in the plane, and panels of each ray, graded towards the mode.
_ANGLES, _PANELS = 512, 12
#: A mode on the border is moved inside by this share of the radius.
_INWARDS = 1e-3


def log_normaliser(target: GibbsTarget) -> float:
    r"""Return :math:`\log\int e^{-J}` over the domain, for audits.

    Parameters
    ----------
    target : GibbsTarget
        With one coefficient (error about 1e-12) or two (1e-9 with the mode inside the
        domain, 1e-4 where it is on the border).

    Returns
    -------
    float
        A function of private data.

    Raises
    ------
    ValueError
        If there are more coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import SquaredLoss
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.samplers import GibbsTarget, log_normaliser
    >>> rows = PrivateRows(as_row_blocks(np.zeros((1, 1)), np.zeros(1)), L2Ball(1.0))
    >>> target = GibbsTarget(rows, SquaredLoss(), inverse_temperature=1.0, alpha=1.0)
    >>> round(float(np.exp(log_normaliser(target))), 6)  # sqrt(2 pi)
    2.506628
    """
    if target.n_coefficients > 2:
        raise ValueError(
            f"the density has {target.n_coefficients} coefficients. Allowed: one or "
            "two. Quadrature is no way to integrate more."
        )
    theta, _, H = near_mode(target)
    if target.ball is not None:
        theta = theta + _INWARDS * (target.ball.midpoint - theta)
    floor = float(target.potential(theta[None])[0])

    def density(points: FloatArray) -> FloatArray:
        out: FloatArray = np.exp(floor - target.potential(points))
        return out

    if target.n_coefficients == 1:
        ends = theta + _reaches(target, theta, np.array([[-1.0], [1.0]]), floor)
        edges = np.unique(np.concatenate([ends.ravel(), theta]))
        total = _adaptive(lambda x: density(x[:, None]), edges)
    else:
        total = _polar(target, theta, H, floor, density)
    return float(np.log(total) - floor)


def _reaches(
    target: GibbsTarget, theta: FloatArray, directions: FloatArray, floor: float
) -> FloatArray:
    """Return the steps along some directions to where the density ends."""
    far = np.ones(len(directions))
    if target.ball is None:
        while True:
            rise = target.potential(theta + far[:, None] * directions) - floor
            if (rise > _DEPTH).all():
                break
            far = np.where(rise > _DEPTH, far, 2.0 * far)
    else:
        away = theta - target.ball.midpoint
        a = np.einsum("ij,ij->i", directions, directions)
        b = directions @ away
        room = target.ball.radius**2 - float(away @ away)
        far = (np.sqrt(b * b + a * room) - b) / a
    low, high = np.zeros_like(far), far.copy()
    for _ in range(30):
        middle = (low + high) / 2
        rise = target.potential(theta + middle[:, None] * directions) - floor
        low, high = (
            np.where(rise > _DEPTH, low, middle),
            np.where(rise > _DEPTH, middle, high),
        )
    # the far end itself where the density is not negligible there
    rise = target.potential(theta + far[:, None] * directions) - floor
    reach = np.where(rise > _DEPTH, high, far)
    steps: FloatArray = reach[:, None] * directions
    return steps


def _adaptive(f: Callable[[FloatArray], FloatArray], edges: FloatArray) -> float:
    """Integrate by halving panels until halving changes nothing."""
    left, right = edges[:-1], edges[1:]
    whole = _panels(f, left, right)
    done = 0.0
    for _ in range(_MAX_ROUNDS):
        middle = (left + right) / 2
        first, second = _panels(f, left, middle), _panels(f, middle, right)
        total = done + float(np.sum(first + second))
        open_ = np.abs(first + second - whole) > _TOLERANCE * total
        done += float(np.sum((first + second)[~open_]))
        if not open_.any():
            return done
        left = np.concatenate([left[open_], middle[open_]])
        right = np.concatenate([middle[open_], right[open_]])
        whole = np.concatenate([first[open_], second[open_]])
    return done + float(whole.sum())


def _panels(
    f: Callable[[FloatArray], FloatArray], left: FloatArray, right: FloatArray
) -> FloatArray:
    """Return Gauss-Legendre integrals over panels."""
    half = (right - left) / 2
    x = ((right + left) / 2)[:, None] + half[:, None] * _NODES
    out: FloatArray = half * (f(x.ravel()).reshape(x.shape) @ _WEIGHTS)
    return out


def _polar(
    target: GibbsTarget,
    theta: FloatArray,
    H: FloatArray,
    floor: float,
    density: Callable[[FloatArray], FloatArray],
) -> float:
    """Integrate over rays, in coordinates in which the peak is round."""
    whiten = np.linalg.inv(np.linalg.cholesky(H)).T
    angle = 2 * np.pi * np.arange(_ANGLES) / _ANGLES
    directions = np.column_stack([np.cos(angle), np.sin(angle)]) @ whiten.T
    steps = _reaches(target, theta, directions, floor)
    size = np.linalg.norm(steps, axis=1) / np.linalg.norm(directions, axis=1)
    edges = (np.arange(_PANELS + 1) / _PANELS) ** 2
    half = np.diff(edges)[:, None] / 2
    share = ((edges[1:] + edges[:-1])[:, None] / 2 + half * _NODES).ravel()
    weight = (half * _WEIGHTS).ravel()
    total = np.zeros(_ANGLES)
    for t, w in zip(share, weight, strict=True):
        # area element r dr of the round coordinates, r = t size
        total += w * t * size**2 * density(theta + t * steps)
    volume = abs(float(np.linalg.det(whiten)))
    return float(total.mean() * 2 * np.pi * volume)
