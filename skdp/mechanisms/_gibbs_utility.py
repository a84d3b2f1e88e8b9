r"""What accuracy a Gibbs posterior has: bounds and asymptotic values as functions.

All are about the expected excess :math:`E f(\theta) - \min f` of the regularised sum of
losses :math:`f = F + \alpha |\theta|^2 / 2`, never divided by the number of rows.

Notation (derived in docs/proofs/posterior_sampling.md and in the docstrings)
-----------------------------------------------------------------------------
d        number of coefficients                              -> ``n_coefficients``
gamma    inverse temperature                             -> ``inverse_temperature``
o        oscillation of one row's loss; twice it under replace-one -> ``oscillation``
G        slope of one row's loss; twice it under replace-one         -> ``lipschitz``
alpha    ridge on the sum of the losses                                  -> ``alpha``
m, L     strong convexity and smoothness of f; m / L              -> ``conditioning``
"""

import math

from skdp._validation import check_count, check_positive, check_real

__all__ = [
    "gaussian_gibbs_excess",
    "gibbs_excess",
    "gibbs_excess_bound",
    "output_perturbation_excess",
    "pure_gibbs_excess",
]

_REMEDY = "Take it from the mechanism."


def gibbs_excess_bound(
    n_coefficients: int, inverse_temperature: float, *, conditioning: float = 0.0
) -> float:
    r"""Return a proved bound on the expected excess of a Gibbs posterior.

    :math:`d / \gamma` for convex f on any convex domain, and
    :math:`(d / \gamma) / (1 + \sqrt{m / L})` where f is m-strongly convex and L-smooth
    on the whole space with its minimiser a point of zero gradient.

    Parameters
    ----------
    n_coefficients : int
        d >= 1.
    inverse_temperature : float
        gamma > 0.
    conditioning : float, default=0.0
        m / L within [0, 1]; 1 for a quadratic with equal curvatures, where the bound is
        attained.

    Returns
    -------
    float
        In the units of f.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    Put the minimiser at 0 and :math:`g = \nabla f(\theta)`. The divergence theorem for
    :math:`\theta e^{-\gamma f}` gives :math:`E\,g \cdot \theta \le d / \gamma`, since
    the flux through the border of a convex domain points outwards; convexity gives
    :math:`f - \min f \le g \cdot \theta`. With curvature, apply the inequality of
    smooth convex functions to :math:`f - m|\theta|^2/2`, which is (L - m)-smooth:

    .. math:: f - \min f \le \frac{L\, g \cdot \theta - (|g|^2 + mL|\theta|^2)/2}{L - m}
        \le \frac{L - \sqrt{mL}}{L - m}\, g \cdot \theta
        = \frac{g \cdot \theta}{1 + \sqrt{m/L}}.

    Examples
    --------
    >>> from skdp.mechanisms import gibbs_excess_bound
    >>> gibbs_excess_bound(20, 0.5), gibbs_excess_bound(20, 0.5, conditioning=1.0)
    (40.0, 20.0)
    """
    d, gamma = _checked(n_coefficients, inverse_temperature)
    allowed, remedy = "a number from 0 to 1", "Pass m / L, or leave it at 0."
    c = check_real("conditioning", conditioning, allowed=allowed, remedy=remedy)
    if not 0.0 <= c <= 1.0:
        raise ValueError(
            f"conditioning is out of range, got {conditioning!r}. Allowed: {allowed}. "
            f"{remedy}"
        )
    return d / gamma / (1.0 + math.sqrt(c))


def gibbs_excess(n_coefficients: int, inverse_temperature: float) -> float:
    r"""Return the excess :math:`d / 2\gamma` of a nearly Gaussian posterior.

    Exact for a quadratic f on the whole space, the limit for a twice differentiable
    one as the temperature falls. Not a bound.

    Parameters
    ----------
    n_coefficients : int
        d >= 1.
    inverse_temperature : float
        gamma > 0.

    Returns
    -------
    float
        In the units of f.

    Examples
    --------
    >>> from skdp.mechanisms import gibbs_excess
    >>> gibbs_excess(20, 0.5)
    20.0
    """
    d, gamma = _checked(n_coefficients, inverse_temperature)
    return d / (2.0 * gamma)


def pure_gibbs_excess(
    n_coefficients: int, *, oscillation: float, epsilon: float
) -> float:
    r"""Return :math:`d\,o / 2\varepsilon`, the excess under pure differential privacy.

    :func:`gibbs_excess` at gamma = epsilon / o. Twice as much is a proved bound.

    Parameters
    ----------
    n_coefficients : int
        d >= 1.
    oscillation : float
        o > 0 of one row's loss over the ball; twice it under replace-one.
    epsilon : float
        Of the ideal draw, > 0, in nats.

    Returns
    -------
    float
        In the units of f.

    Examples
    --------
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.mechanisms import pure_gibbs_excess
    >>> o = LogisticLoss().oscillation(1.0, center_norm=0.0, radius=4.0)
    >>> pure_gibbs_excess(20, oscillation=o, epsilon=1.0)
    40.0
    """
    o = check_positive("oscillation", oscillation, remedy=_REMEDY)
    epsilon = check_positive("epsilon", epsilon, remedy=_REMEDY)
    return gibbs_excess(n_coefficients, epsilon / o)


def gaussian_gibbs_excess(
    n_coefficients: int, *, lipschitz: float, alpha: float, mu: float
) -> float:
    r"""Return :math:`d G^2 / 2\alpha\mu^2`, the excess under Gaussian DP.

    :func:`gibbs_excess` at gamma = alpha (mu / G)^2. Twice as much is a proved bound.

    Parameters
    ----------
    n_coefficients : int
        d >= 1.
    lipschitz : float
        G > 0 of one row's loss; twice it under replace-one.
    alpha : float
        Ridge > 0 on the sum of the losses.
    mu : float
        Of the ideal draw, > 0.

    Returns
    -------
    float
        In the units of f.

    Examples
    --------
    >>> from skdp.mechanisms import gaussian_gibbs_excess
    >>> gaussian_gibbs_excess(20, lipschitz=1.0, alpha=10.0, mu=0.5)
    4.0
    """
    G = check_positive("lipschitz", lipschitz, remedy=_REMEDY)
    alpha = check_positive("alpha", alpha, remedy=_REMEDY)
    mu = check_positive("mu", mu, remedy=_REMEDY)
    return gibbs_excess(n_coefficients, alpha * (mu / G) ** 2)


def output_perturbation_excess(
    hessian_trace: float, *, lipschitz: float, alpha: float, mu: float
) -> float:
    r"""Return the excess of Gaussian output perturbation with the same ridge.

    :math:`\mathrm{tr}(H)\, G^2 / 2\alpha^2\mu^2` for the minimiser plus normal noise of
    scale :math:`G / \alpha\mu`. This is :math:`\mathrm{tr}(H) / d\alpha \ge 1` times
    the excess of the Gibbs posterior.

    Parameters
    ----------
    hessian_trace : float
        tr(H) > 0 of f at its minimiser. A function of private data: to compare methods
        on data of one's own, not for release.
    lipschitz : float
        G > 0 of one row's loss; twice it under replace-one.
    alpha : float
        Ridge > 0 on the sum of the losses.
    mu : float
        Of the release, > 0.

    Returns
    -------
    float
        In the units of f; exact for a quadratic f, else the limit of small noise.

    Examples
    --------
    >>> from skdp.mechanisms import output_perturbation_excess
    >>> output_perturbation_excess(7400.0, lipschitz=1.0, alpha=10.0, mu=0.5)
    148.0
    """
    trace = check_positive("hessian_trace", hessian_trace, remedy="Pass tr(H).")
    G = check_positive("lipschitz", lipschitz, remedy=_REMEDY)
    alpha = check_positive("alpha", alpha, remedy=_REMEDY)
    mu = check_positive("mu", mu, remedy=_REMEDY)
    return trace / 2.0 * (G / (alpha * mu)) ** 2


def _checked(n_coefficients: int, gamma: float) -> tuple[int, float]:
    return (
        check_count("n_coefficients", n_coefficients, minimum=1),
        check_positive("inverse_temperature", gamma, remedy=_REMEDY),
    )
