"""Bugs of objective perturbation in a private metric; importing registers them."""

import copy
import dataclasses
import math

import numpy as np
from planting import bug

import skdp.accounting._preconditioned as accounting
import skdp.mechanisms._pco_fit as fit
import skdp.mechanisms._pco_geometry as geometry
import skdp.mechanisms._pco_plan as plan
import skdp.mechanisms._preconditioned as metric
from skdp.accounting import GaussianDP
from skdp.accounting._phase_loss import LOSSES
from skdp.accounting._tilted_loss import fading_loss
from skdp.losses import LogCoshLoss, SquaredLoss
from skdp.mechanisms import GaussianNoise, PreconditionedObjectivePerturbation
from skdp.mechanisms._pco_parts import NoisyPart
from skdp.solvers import Table, WhitenedObjective

#: What a planted mechanism kept of a table or of its own draws.
KEPT = {}


def metric_bug(name, caught_by):
    """Register a bug that begins with nothing kept from the one before."""

    def register(patches):
        def fresh():
            KEPT.clear()
            return patches()

        return bug(f"metric.{name}", caught_by)(fresh)

    return register


def quieter(factor, *names):
    """Wrap a draw so that the noise of some releases is multiplied."""

    def wrap(draw):
        def broken(part, source):
            noise = draw(part, source)
            return noise * factor if part.name in names else noise

        return broken

    return [(NoisyPart, "draw", wrap)]


# --- noise ----------------------------------------------------------------------------


@metric_bug("objective_noise_nine_tenths", "metric_law")
def _():
    return quieter(0.9, "objective")


@metric_bug("second_objective_quieter", "metric_law")
def _():
    return quieter(1 / 1.1, "second objective")


@metric_bug("moments_noise_nine_tenths", "metric_law")
def _():
    return quieter(0.9, "second moments")


@metric_bug("gradient_noise_half", "metric_law")
def _():
    return quieter(0.5, "gradient at zero")


@metric_bug("energies_noise_without_root_two", "metric_law")
def _():
    return quieter(1 / math.sqrt(2), "energies")


@metric_bug("scale_says_nine_tenths", "metric_numbers")
def _():
    def wrap(of_size):
        def broken(name, mu, **options):
            part = of_size(name, mu, **options)
            law = GaussianNoise(0.9 * part.noise_law.scale)
            return dataclasses.replace(part, noise_law=law)

        return broken

    return [(NoisyPart, "of_size", wrap), *uncached_plans()]


@metric_bug("second_objective_louder_than_charged", "metric_bounds")
def _():
    def wrap(largest):
        return lambda *args: 1.1 * largest(*args)

    return [(plan, "_largest_size", wrap), *uncached_plans()]


@metric_bug("size_says_ten_elevenths", "metric_numbers")
def _():
    def wrap(mu):
        return property(lambda part: mu.fget(part) / 1.1)

    return [(NoisyPart, "mu", wrap)]


@metric_bug("diagonal_noise_as_the_rest", "metric_law")
def _():
    def wrap(_):
        return lambda self: np.full(self.metric.size, math.sqrt(2))

    return [(PreconditionedObjectivePerturbation, "_stretch", wrap)]


@metric_bug("moments_not_symmetric", "metric_law")
def _():
    def wrap(square):
        return lambda self, triangle: np.triu(square(self, triangle))

    return [(PreconditionedObjectivePerturbation, "_square", wrap)]


# --- ridge ----------------------------------------------------------------------------


def ridge(factor):
    def wrap(original):
        return lambda self, found: factor(self, found) * original(self, found)

    return [(PreconditionedObjectivePerturbation, "ridge", wrap)]


@metric_bug("ridge_tenth", "metric_law")
def _():
    return ridge(lambda self, found: 0.1)


@metric_bug("ridge_third", "metric_law")
def _():
    return ridge(lambda self, found: 0.33)


@metric_bug("ridge_half", "metric_law")
def _():
    return ridge(lambda self, found: 0.5)


@metric_bug("ridge_without_rho", "metric_law")
def _():
    return ridge(lambda self, found: 1.0 / found.curvature_ratio)


# --- weights --------------------------------------------------------------------------


def weights(change):
    return [(geometry.Geometry, "weights", lambda original: change)]


@metric_bug("rows_not_weighted", "metric_law")
def _():
    return weights(lambda self, norms: np.ones_like(norms))


@metric_bug("weights_bound_the_gradient_alone", "metric_law")
def _():
    return weights(lambda self, norms: 1.0 / np.maximum(norms, 1.0))


@metric_bug("weights_of_half_the_norm", "metric_law")
def _():
    def wrap(original):
        return lambda self, norms: original(self, norms / 2.0)

    return [(geometry.Geometry, "weights", wrap)]


class Rescaled(Table):
    """Rows shorter by what should have been their weight."""

    def __iter__(self):
        for x, y, factors in super().__iter__():
            yield x, y, factors * self.shrink(x, factors)


@metric_bug("rows_rescaled_for_weighted", "metric_law")
def _():
    def wrap(_):
        def broken(self, weigh):
            out = copy.copy(self)
            out.__class__, out.shrink = Rescaled, weigh
            return out

        return broken

    return [(Table, "weighted_by", wrap)]


# --- sums -----------------------------------------------------------------------------


@metric_bug("undeclared_rows_counted", "metric_law")
def _():
    def wrap(gram):
        return lambda *args, labelled: gram(*args, labelled=False)

    return [(metric, "exact_gram", wrap)]


@metric_bug("moments_summed_in_floats", "metric_law")
def _():
    def wrap(_):
        def broken(table, radius, bits, *, labelled):
            total = 0.0
            for x, y, f in table:
                rows = np.asarray(x) * (f * table.unit / radius)[:, None]
                if labelled:
                    rows = rows[y != 0.0]
                total = total + rows.T @ rows
            return np.rint(total * 4.0**bits).astype(np.int64)

        return broken

    return [(metric, "exact_gram", wrap)]


@metric_bug("gradient_not_halved", "metric_law")
def _():
    def wrap(pull):
        return lambda self: pull(self) * (2.0 if self._logistic else 1.0)

    return [(fit.WeightedFit, "pull", wrap)]


@metric_bug("residuals_not_clipped", "metric_law")
def _():
    def wrap(_):
        def broken(self, center):
            total = np.zeros(2)
            for y, t in self.objective(SquaredLoss()).margins(center):
                total += y @ y, (y - t) @ (y - t)
            return total

        return broken

    return [(fit.WeightedFit, "energies", wrap)]


# --- what later releases rest on ------------------------------------------------------


def kept(owner, attribute, name):
    """Keep what a method returns, before anything is added to it."""

    def wrap(original):
        def broken(*args, **options):
            KEPT[name] = original(*args, **options)
            return KEPT[name]

        return broken

    return owner, attribute, wrap


@metric_bug("exact_center", "metric_law")
def _():
    def wrap(center):
        return lambda g, gradient, energies: center(g, KEPT["pull"], energies)

    return [kept(fit.WeightedFit, "pull", "pull"), (metric, "first_center", wrap)]


@metric_bug("exact_energies_set_the_scale", "metric_law")
def _():
    def wrap(scale):
        return lambda g, energies: scale(g, KEPT["energies"])

    return [
        kept(fit.WeightedFit, "energies", "energies"),
        (metric, "loss_scale", wrap),
    ]


def looking(change):
    """Let the geometry look at the rows of the table that is fitted."""

    def remember(release):
        def broken(self, data, source):
            blocks = [x / self.radius for x, _ in data.projected()]
            KEPT["rows"] = np.concatenate(blocks)
            return release(self, data, source)

        return broken

    def wrap(original):
        def broken(self, moment):
            rows = KEPT.get("rows", np.zeros((0, len(moment))))
            return change(original, self, moment, rows)

        return broken

    return [
        (PreconditionedObjectivePerturbation, "release", remember),
        (PreconditionedObjectivePerturbation, "geometry", wrap),
    ]


@metric_bug("exact_trace", "metric_law")
def _():
    def change(original, self, moment, rows):
        shift = (np.sum(rows**2) - np.trace(moment)) / len(moment)
        found = original(self, moment + shift * np.eye(len(moment)))
        return dataclasses.replace(found, moment=moment)

    return looking(change)


@metric_bug("exact_moments", "metric_law")
def _():
    def change(original, self, moment, rows):
        return dataclasses.replace(original(self, rows.T @ rows), moment=moment)

    return looking(change)


@metric_bug("center_before_its_step", "metric_steps")
def _():
    def remember(smooth):
        def broken(part, vector, source):
            KEPT[part.name] = vector
            return smooth(part, vector, source)

        return broken

    def wrap(state):
        def broken(self, found, history):
            scale, center = state(self, found, history)
            if len(history.minimisers) == 1 and "first objective" in KEPT:
                center = scale * KEPT["first objective"]
            return scale, center

        return broken

    return [
        (NoisyPart, "smooth", remember),
        (PreconditionedObjectivePerturbation, "_state", wrap),
    ]


@metric_bug("coefficients_before_their_step", "metric_steps")
def _():
    def remember(smooth):
        def broken(part, vector, source):
            KEPT["last"] = vector
            return smooth(part, vector, source)

        return broken

    def wrap(output):
        def broken(self, *args):
            found = output(self, *args)
            last = KEPT.pop("last", found.minimisers[-1])
            computed = found.geometry.transform @ last * found.scale
            return dataclasses.replace(found, coefficients=computed)

        return broken

    return [
        (NoisyPart, "smooth", remember),
        (PreconditionedObjectivePerturbation, "_output", wrap),
    ]


# --- objectives -----------------------------------------------------------------------


@metric_bug("loss_of_another_scale", "metric_law")
def _():
    def wrap(row_loss):
        def broken(self, scale):
            loss = row_loss(self, scale)
            return LogCoshLoss() if isinstance(loss, LogCoshLoss) else loss

        return broken

    return [(PreconditionedObjectivePerturbation, "row_loss", wrap)]


@metric_bug("solver_stopped_early", "metric_law")
def _():
    def wrap(minimise):
        return lambda *args, gradient_tol, **options: minimise(
            *args, gradient_tol=1e6 * gradient_tol, **options
        )

    return [(WhitenedObjective, "minimise", wrap)]


@metric_bug("tolerance_by_rows", "metric_steps")
def _():
    def wrap(tolerance):
        def broken(self):
            return tolerance.fget(self) * math.sqrt(len(KEPT.get("rows", [0])))

        return property(broken)

    return [
        *looking(lambda original, self, moment, rows: original(self, moment)),
        (PreconditionedObjectivePerturbation, "gradient_tol", wrap),
    ]


@metric_bug("step_without_noise", "metric_steps")
def _():
    def wrap(smooth):
        return lambda part, vector, source: (smooth(part, vector, source), vector)[1]

    return [(NoisyPart, "smooth", wrap)]


@metric_bug("steps_for_the_tolerance_once", "metric_numbers")
def _():
    def wrap(of_size):
        def broken(name, mu, *, error, **options):
            return of_size(name, mu, error=error / 2, **options)

        return broken

    return [(NoisyPart, "of_size", wrap), *uncached_plans()]


# --- what the whole costs -------------------------------------------------------------


def uncached_plans():
    """Forget plans and laws, so that a bug in them is seen and does not last."""
    return [
        (metric, "plan_parts", lambda cached: cached.__wrapped__),
        (accounting, "_laws", lambda cached: cached.__wrapped__),
    ]


@metric_bug("gradient_of_half_the_sensitivity", "metric_numbers")
def _():
    def wrap(of_size):
        def broken(name, mu, *, sensitivity, **options):
            half = 0.5 if name == "gradient at zero" else 1.0
            return of_size(name, mu, sensitivity=half * sensitivity, **options)

        return broken

    return [(NoisyPart, "of_size", wrap), *uncached_plans()]


@metric_bug("ten_times_delta", "metric_curve")
def _():
    def wrap(cached):
        return lambda epsilon, delta, *rest: cached.__wrapped__(
            epsilon, 10 * delta, *rest
        )

    return [(metric, "plan_parts", wrap)]


@metric_bug("jacobian_not_charged", "metric_curve")
def _():
    def wrap(removal):
        return lambda loss, mu, curvature: removal(loss, mu, 1e-9)

    return [(accounting, "phase_removal", wrap), *uncached_plans()]


@metric_bug("curvature_without_gradient_not_charged", "metric_curve")
def _():
    def wrap(_):
        def broken(loss, mu, curvature):
            most, steepness, lag = LOSSES[loss]
            return fading_loss(mu, most * curvature, steepness * curvature, lag)

        return broken

    return [(accounting, "phase_removal", wrap), *uncached_plans()]


@metric_bug("slope_of_one_sign", "metric_curve")
def _():
    def wrap(loss_law):
        return lambda *args, folded=False: loss_law(*args, folded=False)

    return [(accounting, "loss_law", wrap), *uncached_plans()]


@metric_bug("charged_as_gaussian", "metric_numbers")
def _():
    def wrap(_):
        def broken(self, rho):
            return GaussianDP(math.hypot(*(part.mu for part in self.parts)))

        return broken

    return [(PreconditionedObjectivePerturbation, "_composed", wrap)]


@metric_bug("steps_not_charged", "metric_numbers")
def _():
    return [
        (
            PreconditionedObjectivePerturbation,
            "_smoothing_rho",
            lambda _: property(lambda self: 0.0),
        )
    ]


@metric_bug("first_objective_not_charged", "metric_numbers")
def _():
    def wrap(composed):
        def broken(self, rho):
            found = composed(self, rho)
            return dataclasses.replace(found, phases=found.phases[-1:])

        return broken

    return [(PreconditionedObjectivePerturbation, "_composed", wrap)]


@metric_bug("energies_not_charged", "metric_numbers")
def _():
    def wrap(composed):
        def broken(self, rho):
            found = composed(self, rho)
            sizes = [part.mu for part in self.statistics if part.name != "energies"]
            return dataclasses.replace(found, gaussian_mu=math.hypot(*sizes))

        return broken

    return [(PreconditionedObjectivePerturbation, "_composed", wrap)]
