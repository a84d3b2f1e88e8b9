"""Bugs of noisy derivatives and symmetric noise; importing registers them."""

import numpy as np
from planting import bug, scaled
from scipy.special import ndtr

import skdp.random._goe as goe
from skdp.mechanisms import NoisyGradient, NoisyHessian
from skdp.random import GOE
from skdp.solvers import Objective

# --- symmetric noise ------------------------------------------------------------------


def off_diagonal(factor):
    """Wrap a draw so that what is off its diagonal is multiplied."""

    def wrap(draw):
        def broken(self, source):
            G = draw(self, source)
            return np.where(np.eye(self.n) == 1, G, factor * G)

        return broken

    return wrap


@bug("goe.equal_variances_on_the_triangle", "goe_law")
def _():
    """Private, but the spectral norm is up to sqrt(2) larger than the law says."""
    return [(GOE, "draw", off_diagonal(np.sqrt(2.0)))]


@bug("goe.off_diagonal_halved_twice", "statistic_release")
def _():
    return [(GOE, "draw", off_diagonal(np.sqrt(0.5)))]


@bug("goe.diagonal_alone", "statistic_release")
def _():
    return [(GOE, "draw", off_diagonal(0.0))]


@bug("goe.draws_of_the_other_scaling", "goe_law")
def _():
    """Variances 2 and 1, as in most texts: too much noise for the law."""
    return [(GOE, "draw", scaled(np.sqrt(2.0)))]


@bug("goe.law_of_the_other_scaling", "goe_law")
def _():
    return [(goe, "tail_quantile", lambda f: lambda n, z: np.sqrt(2.0) * f(n, z))]


@bug("goe.normal_tail_at_every_order", "goe_law")
def _():
    return [
        (goe, "tail", lambda _: lambda n, t: float(ndtr(-t))),
        (goe, "tail_quantile", lambda _: lambda n, z: float(z)),
    ]


@bug("goe.upper_quantile_of_the_wrong_end", "goe_law")
def _():
    return [(goe, "tail_quantile", lambda f: lambda n, z: f(n, -z))]


# --- derivatives at a public point ----------------------------------------------------


@bug("gradient.with_the_noise_term", "statistic_release")
def _():
    """Of J, not J0: at the minimiser nothing but zero."""

    def wrap(gradient):
        def broken(self, data):
            b = -gradient(self, data)
            return Objective(data, self.loss, self.alpha, b).gradient(
                np.array(self.theta)
            )

        return broken

    return [(NoisyGradient, "statistic", wrap)]


@bug("gradient.without_the_ridge", "statistic_release")
def _():
    def wrap(gradient):
        return lambda self, data: (
            gradient(self, data) - self.alpha * np.array(self.theta)
        )

    return [(NoisyGradient, "statistic", wrap)]


@bug("gradient.slope_at_the_origin", "statistic_certificate")
def _():
    def wrap(_):
        def broken(loss, radius, theta, adjacency):
            half = radius / 2
            return 2 * half if adjacency.value == "replace-one" else half

        return staticmethod(broken)

    return [(NoisyGradient, "_l2_sensitivity", wrap)]


def as_add_remove(sensitivity):
    def broken(loss, radius, theta, adjacency):
        return sensitivity(loss, radius, theta, type(adjacency).ADD_REMOVE)

    return staticmethod(broken)


@bug("gradient.replace_one_sold_as_add_remove", "statistic_certificate")
def _():
    return [(NoisyGradient, "_l2_sensitivity", as_add_remove)]


@bug("hessian.replace_one_sold_as_add_remove", "statistic_certificate")
def _():
    return [(NoisyHessian, "_l2_sensitivity", as_add_remove)]


@bug("hessian.norm_of_the_triangle_alone", "statistic_certificate")
def _():
    """Off-diagonal entries counted once: right for no row but those along an axis."""

    def wrap(_):
        return staticmethod(lambda loss, radius, *_: radius**2 / 4 / np.sqrt(2.0))

    return [(NoisyHessian, "_l2_sensitivity", wrap)]


@bug("hessian.variance_for_deviation", "statistic_certificate")
def _():
    def wrap(sensitivity):
        return staticmethod(lambda *args: sensitivity(*args) ** 2)

    return [(NoisyHessian, "_l2_sensitivity", wrap)]


@bug("hessian.noise_of_the_ideal_release", "statistic_certificate")
def _():
    """Nothing is left for the smoothing step: one part in 10,000 too small."""

    def wrap(_):
        return staticmethod(lambda loss, radius, *_: radius**2 / 4 * (1 - 1e-4))

    return [(NoisyHessian, "_l2_sensitivity", wrap)]
