"""Privacy bugs of Gibbs posteriors; importing this module registers them."""

import dataclasses
from unittest import mock

import numpy as np
from planting import bug, scaled

import skdp.mechanisms._posterior_sampling as posterior
import skdp.samplers._core_tail as core_tail
import skdp.samplers._gauss as gauss
from skdp.accounting import ZeroConcentratedDP
from skdp.losses import LogisticLoss
from skdp.losses._regression import ResidualLoss
from skdp.mechanisms import GibbsPosterior, LatticeSmoothing
from skdp.rows import L2Ball, Targets
from skdp.samplers import Ball, GibbsSampler, GibbsTarget
from skdp.samplers._mode import near_mode

# --- calibration ----------------------------------------------------------------------


def every_oscillation(wrap):
    return [(LogisticLoss, "oscillation", wrap), (ResidualLoss, "oscillation", wrap)]


@bug("gibbs.slope_at_the_origin_for_oscillation", "gibbs_certificate")
def _():
    """2GB with the slope of the far target at zero: too small off the centre."""

    def wrap(_):
        def broken(self, R, *, center_norm, radius):
            slope = np.abs(self.gradient(np.array([-1.0]), np.zeros(1)))
            return float(2 * R * radius * slope[0])

        return broken

    return every_oscillation(wrap)


@bug("gibbs.slope_times_diameter_for_oscillation", "gibbs_certificate")
def _():
    """2GB with the right slope: private, and up to half of epsilon is lost."""

    def wrap(_):
        def broken(self, R, *, center_norm, radius):
            reach = center_norm + radius
            return 2 * radius * self.constants(R, radius=reach).lipschitz

        return broken

    return every_oscillation(wrap)


@bug("gibbs.oscillation_around_the_origin", "gibbs_certificate")
def _():
    def wrap(oscillation):
        return lambda self, R, *, center_norm, radius: oscillation(
            self, R, center_norm=0.0, radius=radius
        )

    return every_oscillation(wrap)


@bug("gibbs.oscillation_for_rows_of_norm_one", "gibbs_certificate")
def _():
    def wrap(oscillation):
        return lambda self, R, **ball: oscillation(self, 1.0, **ball)

    return every_oscillation(wrap)


@bug("gibbs.replace_one_calibrated_like_add_remove", "gibbs_certificate")
def _():
    return [(GibbsPosterior, "multiplicity", lambda _: property(lambda self: 1.0))]


@bug("gibbs.slope_half", "gibbs_certificate")
def _():
    def wrap(original):
        return property(lambda self: original.fget(self) / 2)

    return [(GibbsPosterior, "lipschitz", wrap)]


@bug("gibbs.range_bonus_twice", "gibbs_certificate")
def _():
    def halved(part):
        if isinstance(part, ZeroConcentratedDP):
            return dataclasses.replace(part, rho=part.rho / 2)
        return part

    def wrap(together):
        def broken(*args, **options):
            found = together(*args, **options)
            return dataclasses.replace(found, parts=tuple(map(halved, found.parts)))

        return broken

    return [(posterior, "gibbs_guarantee", wrap)]


@bug("gibbs.smoothing_not_charged", "gibbs_certificate")
def _():
    def wrap(_):
        return property(lambda self: self.ideal_guarantee)

    return [(GibbsPosterior, "guarantee", wrap)]


# --- the law that is drawn from -------------------------------------------------------


def other_target(**change):
    """Wrap the target so that some of its public numbers are others."""

    def wrap(target):
        def broken(self, data):
            changes = {name: f(self, data) for name, f in change.items()}
            return target(dataclasses.replace(self, **changes), data)

        return broken

    return [(GibbsPosterior, "target", wrap)]


def n_rows(data):
    return sum(len(y) for _, y in data.blocks)


@bug("gibbs.temperature_times_1.05", "gibbs_density")
def _():
    return other_target(inverse_temperature=lambda m, _: 1.05 * m.inverse_temperature)


@bug("gibbs.mean_calibrated_as_a_sum", "gibbs_density")
def _():
    """The loss is averaged, and the temperature made up for it."""
    return other_target(
        inverse_temperature=lambda m, data: (
            m.inverse_temperature * max(1, n_rows(data))
        ),
        alpha=lambda m, data: m.alpha / max(1, n_rows(data)),
    )


@bug("gibbs.ridge_by_row_count", "gibbs_density")
def _():
    return other_target(alpha=lambda m, data: m.alpha * (1 + n_rows(data)))


@bug("gibbs.centre_from_data", "gibbs_density")
def _():
    def centred(m, data):
        target = GibbsTarget(
            data, m.loss, inverse_temperature=m.inverse_temperature, alpha=m.alpha
        )
        return Ball(near_mode(target)[0], m.ball.radius)

    return other_target(ball=centred)


@bug("gibbs.intercept_outside_the_norm_bound", "gibbs_density")
def _():
    """The row is clipped to the radius that was paid for, and the constant added."""

    def wrap(calibrate):
        def broken(target, *, radius, **options):
            return calibrate(target, radius=min(radius, 1.0), **options)

        return broken

    def forgiving(_):
        return lambda mechanism, data: None

    return [
        (GibbsPosterior, "calibrate", wrap),
        (posterior, "check_rows", forgiving),
    ]


@bug("gibbs.rows_not_clipped", "gibbs_density")
def _():
    def wrap(clipping):
        def broken(self, X):
            found = clipping(self, X)
            return dataclasses.replace(found, factors=np.ones_like(found.factors))

        return broken

    return [(L2Ball, "clipping", wrap)]


@bug("gibbs.targets_not_clipped", "gibbs_draws")
def _():
    def unclipped(_):
        return lambda self, y: np.asarray(y, dtype=np.float64)

    def residual(_):
        return lambda self, y, t: t - y

    def total(_):
        return lambda self, y, t: self._height(t - y[:, None]).sum(axis=0)

    return [
        (Targets, "encode", unclipped),
        (ResidualLoss, "_residual", residual),
        (ResidualLoss, "total", total),
    ]


# --- the sampler ----------------------------------------------------------------------


@bug("gibbs.weights_of_a_smaller_ball", "gibbs_envelope")
def _():
    def wrap(precision):
        def broken(target, theta):
            smaller = dataclasses.replace(target.ball, radius=target.ball.radius / 5)
            with mock.patch.object(target, "ball", smaller):
                return precision(target, theta)

        return broken

    return [(gauss, "_ball_precision", wrap)]


@bug("gibbs.weights_of_a_smaller_core", "gibbs_envelope")
def _():
    def wrap(interval):
        return lambda target, x, z0, reach: interval(target, x, z0, 0.5 * reach)

    return [(core_tail, "_interval", wrap)]


@bug("gibbs.gradient_dropped", "gibbs_envelope")
def _():
    def wrap(near):
        def broken(target):
            theta, g, H = near(target)
            return theta, 0.0 * g, H

        return broken

    import skdp.samplers._rejection as rejection

    return [(rejection, "near_mode", wrap)]


@bug("gibbs.acceptance_clipped_before_it_is_looked_at", "gibbs_draws")
def _():
    """An envelope that is exceeded, hidden by min(1, exp(.))."""

    def clipped(log_acceptance):
        return lambda self, *args: np.minimum(log_acceptance(self, *args), 0.0)

    def bent(curvature):
        return lambda *args: np.ones_like(curvature(*args))

    return [
        (GibbsSampler, "_log_acceptance", clipped),
        (core_tail, "minorant_curvature", bent),
        (gauss, "minorant_curvature", bent),
    ]


@bug("gibbs.everything_accepted", "gibbs_draws")
def _():
    return [(GibbsSampler, "_log_acceptance", scaled(0.0))]


@bug("gibbs.pushed_into_the_ball", "gibbs_draws")
def _():
    """Proposals outside are moved to the wall, where mass piles up."""

    def wrap(accepted):
        def broken(self, size):
            ball = self._target.ball

            def everywhere(points):
                away = points - ball.midpoint
                length = np.linalg.norm(away, axis=1, keepdims=True)
                points[:] = ball.midpoint + away * np.minimum(1, ball.radius / length)
                return np.ones(len(points), dtype=bool)

            with mock.patch.object(self._target, "inside", everywhere):
                return accepted(self, size)

        return broken

    return [(GibbsSampler, "_accepted", wrap)]


@bug("gibbs.one_draw_for_all_releases", "gibbs_draws")
def _():
    def wrap(draw):
        return lambda self, size: np.repeat(draw(self, 1), size, axis=0)

    def still(release_each):
        return lambda self, points, source: np.repeat(
            release_each(self, points[:1], source), len(points), axis=0
        )

    return [(GibbsSampler, "draw", wrap), (LatticeSmoothing, "release_each", still)]


@bug("gibbs.draw_published_without_the_lattice", "gibbs_draws")
def _():
    return [(LatticeSmoothing, "release_each", lambda _: lambda self, x, source: x)]


@bug("gibbs.warns_of_slow_draws", "gibbs_draws")
def _():
    import warnings

    def wrap(draw):
        def broken(self, size):
            out = draw(self, size)
            if self.n_proposals > 2 * size:
                warnings.warn("few proposals are accepted", stacklevel=2)
            return out

        return broken

    return [(posterior.GibbsSampler, "draw", wrap)]
