"""Bugs of coefficients released with derivatives; importing registers them."""

from dataclasses import replace

import numpy as np
from planting import bug, scaled

import skdp.accounting._reported_perturbation as accounting
import skdp.mechanisms._reported_perturbation as reported
from skdp.accounting import ReportedPerturbationDP
from skdp.mechanisms import (
    NoisyGradient,
    NoisyHessian,
    ObjectivePerturbation,
    ReportedObjectivePerturbation,
)
from skdp.random import GOE

# --- what the whole costs -------------------------------------------------------------


def resized(factor):
    """Wrap a property so that its value is multiplied."""

    def wrap(size):
        return property(lambda self: factor * size.fget(self))

    return wrap


def as_the_main_alone(_):
    def guarantee(self, *, smoothed):
        alone = self.main.guarantee if smoothed else self.main.ideal_guarantee
        numbers = (getattr(alone, name) for name in ("mu", "curvature"))
        return ReportedPerturbationDP(*numbers, smoothing_rho=alone.smoothing_rho)

    return guarantee


@bug("report.uncharged", "report_audit")
def _():
    return [(ReportedObjectivePerturbation, "_joint_guarantee", as_the_main_alone)]


@bug("report.uncharged_in_its_certificate", "report_certificate")
def _():
    return [(ReportedObjectivePerturbation, "_joint_guarantee", as_the_main_alone)]


@bug("report.uncharged_hessian", "report_audit")
def _():
    return [(ReportedObjectivePerturbation, "hessian_mu", resized(1e-6))]


@bug("report.uncharged_gradient", "report_audit")
def _():
    return [(ReportedObjectivePerturbation, "gradient_mu", resized(0.0))]


@bug("report.sqrt2_in_the_goe_scaling", "report_audit")
def _():
    """Off-diagonal entries counted once in the norm of what a row adds."""
    return [(ReportedObjectivePerturbation, "hessian_mu", resized(np.sqrt(0.5)))]


@bug("report.curvature_times_its_own_largest_value", "report_audit")
def _():
    """m3 without its factor 4: p(1-p) is then counted twice."""

    def wrap(law):
        return lambda joint_mu, kappa, m3: law(joint_mu, kappa, m3 / 4)

    return [(accounting, "joint_law", wrap)]


@bug("report.gradient_not_joined_to_the_coefficients", "report_audit")
def _():
    def wrap(_):
        return property(lambda self: max(self.mu, self.gradient_mu))

    return [(ReportedPerturbationDP, "joint_mu", wrap)]


@bug("report.jacobian_forgotten", "report_certificate")
def _():
    def wrap(law):
        return lambda joint_mu, kappa, m3: law(joint_mu, 0.0, m3)

    return [(accounting, "joint_law", wrap)]


@bug("report.steps_of_the_statistics_uncharged", "report_certificate")
def _():
    def wrap(_):
        return lambda self: (self.main.smoothing,)

    return [(ReportedObjectivePerturbation, "_steps", wrap)]


@bug("report.move_to_the_released_point_uncharged", "report_certificate")
def _():
    return [(ReportedObjectivePerturbation, "_moved_rho", lambda _: lambda self: 0.0)]


@bug("report.parts_calibrated_apart", "report_certificate")
def _():
    """The coefficients keep the whole target, whatever is reported beside them."""

    def wrap(_):
        return lambda draft, epsilon, delta: draft.mu

    return [(reported, "shared_mu", wrap)]


# --- what is released -----------------------------------------------------------------


@bug("report.gradient_with_the_noise_term", "report_release")
def _():
    """Of J, not J0: at the minimiser nothing but noise of its own."""

    def wrap(statistic):
        return lambda self, data: 0.0 * statistic(self, data)

    return [(NoisyGradient, "statistic", wrap)]


@bug("report.hessian_without_the_ridge", "report_release")
def _():
    def wrap(statistic):
        def broken(self, data):
            return statistic(self, data) - self.alpha * np.eye(self.n_coefficients)

        return broken

    return [(NoisyHessian, "statistic", wrap)]


@bug("report.derivatives_next_to_the_released_point", "report_release")
def _():
    def shift(statistics):
        return lambda self, theta: statistics(self, theta + self.main.smoothing.scale)

    return [(ReportedObjectivePerturbation, "statistics", shift)]


@bug("report.goe_of_the_other_scaling", "report_release")
def _():
    return [(GOE, "draw", scaled(np.sqrt(2.0)))]


@bug("report.goe_equal_variances_on_the_triangle", "report_release")
def _():
    def wrap(draw):
        def broken(self, source):
            G = draw(self, source)
            return np.where(np.eye(self.n) == 1, G, np.sqrt(2.0) * G)

        return broken

    return [(GOE, "draw", wrap)]


@bug("report.noise_of_the_coefficients_halved", "report_release")
def _():
    def wrap(release):
        def broken(self, data, source):
            law = type(self.noise_law)(self.noise_law.scale / 2)
            return release(replace(self, noise_law=law), data, source)

        return broken

    return [(ObjectivePerturbation, "release", wrap)]
