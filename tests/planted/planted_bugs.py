"""Privacy bugs on purpose: each replaces one function of the package by a broken one.

``with planted("noise.gaussian_half"):`` plants one. ``PLANTED`` maps each name to the
check that must catch it. Importing this module registers them.
"""

import dataclasses
import hashlib
import warnings
from fractions import Fraction
from unittest import mock

import numpy as np
from planting import bug, scaled
from sklearn.preprocessing import StandardScaler

import skdp.linear_model._objective_fit as objective_fit
import skdp.linear_model._settings as settings
import skdp.mechanisms._exponential as exponential
import skdp.mechanisms._gaussian as gaussian
import skdp.mechanisms._noise as noise
import skdp.mechanisms._objective_perturbation as objpert
import skdp.mechanisms._ridge as ridge
import skdp.mechanisms._scores as scores
import skdp.mechanisms._smoothing as smoothing
import skdp.pdp as pdp
import skdp.pdp._published as published
import skdp.random._exponential_weights as weights
import skdp.rows._l2ball as l2ball
from skdp.accounting import ObjectivePerturbationDP
from skdp.linear_model import ObjPertLogisticRegression
from skdp.losses import LogisticLoss, LossConstants
from skdp.random import SeededSource, as_random_source
from skdp.rows import L2Ball, Labels, PrivateRows, as_row_blocks

# --- size and law of the noise --------------------------------------------------------


@bug("noise.gaussian_half", "recovery")
def _():
    return [(noise.GaussianNoise, "draw", scaled(0.5))]


@bug("noise.gaussian_times_0.8", "recovery")
def _():
    return [(noise.GaussianNoise, "draw", scaled(0.8))]


@bug("noise.variance_for_deviation", "recovery")
def _():
    return [(noise.GaussianNoise, "draw", scaled(np.sqrt(0.5)))]


@bug("noise.rate_doubled", "recovery")
def _():
    return [(noise.KNormNoise, "draw", scaled(0.5))]


@bug("noise.log2_for_ln", "recovery")
def _():
    return [(noise.KNormNoise, "draw", scaled(1 / np.log(2)))]


@bug("noise.gamma_shape_d_minus_1", "recovery")
def _():
    def wrap(draw):
        def broken(self, n_features, source):
            b = draw(self, n_features, source)
            radius = np.linalg.norm(draw(self, n_features - 1, source))
            return b / np.linalg.norm(b) * radius

        return broken

    return [(noise.KNormNoise, "draw", wrap)]


@bug("noise.rank_deficient", "recovery")
def _():
    def wrap(draw):
        def broken(*args):
            b = draw(*args)
            b[-1] = 1e-3 * b[0]
            return b

        return broken

    return [(noise.GaussianNoise, "draw", wrap)]


@bug("noise.one_sided", "recovery")
def _():
    return [(noise.KNormNoise, "draw", lambda draw: lambda *a: np.abs(draw(*a)))]


@bug("noise.broadcast", "replay")
def _():
    def wrap(draw):
        return lambda self, n, source: np.full(n, draw(self, 1, source)[0])

    return [(noise.GaussianNoise, "draw", wrap)]


@bug("noise.reused_across_fits", "replay")
def _():
    def wrap(draw):
        kept = {}

        def broken(self, n, source):
            return kept.setdefault((self, n), draw(self, n, source))

        return broken

    return [(noise.GaussianNoise, "draw", wrap)]


@bug("noise.clipped_at_three_sigma", "sampler")
def _():
    def wrap(draw):
        return lambda self, *a: np.clip(draw(self, *a), -3 * self.scale, 3 * self.scale)

    return [(noise.GaussianNoise, "draw", wrap)]


@bug("noise.float32", "sampler")
def _():
    def wrap(draw):
        def broken(self, *args):
            z = (draw(self, *args) / self.scale).astype(np.float32)
            return self.scale * z.astype(np.float64)

        return broken

    return [(noise.GaussianNoise, "draw", wrap)]


@bug("random.fixed_seed", "replay")
def _():
    return [(settings, "as_random_source", lambda _: lambda state: as_random_source(0))]


@bug("random.seed_from_data", "replay")
def _():
    def wrap(release):
        def broken(self, data, source):
            digest = hashlib.sha256()
            for X, _ in data.projected():
                digest.update(X.tobytes())
            seed = int.from_bytes(digest.digest()[:8], "big")
            return release(self, data, as_random_source(seed))

        return broken

    return [(objpert.ObjectivePerturbation, "release", wrap)]


# --- calibration ----------------------------------------------------------------------


@bug("calibration.sensitivity_half", "certificate")
def _():
    return [(objpert, "calibrated_mu", scaled(2.0))]


@bug("calibration.lipschitz_half", "certificate")
def _():
    def wrap(constants):
        return lambda self, R: LossConstants(R / 2, R**2 / 4)

    return [(LogisticLoss, "constants", wrap)]


@bug("calibration.pure_rate_doubled", "certificate")
def _():
    def wrap(plan):
        def broken(*args):
            found = plan(*args)
            return dataclasses.replace(found, rate=2 * found.rate)

        return broken

    return [(objpert, "plan_pure", wrap)]


@bug("calibration.delta_ignored", "certificate")
def _():
    def wrap(calibrate):
        return lambda epsilon, delta, *rest: calibrate(epsilon, 1e-3, *rest)

    return [(objpert, "calibrated_mu", wrap)]


@bug("calibration.gaussian_log2_for_ln", "certificate")
def _():
    def wrap(calibrated):
        return lambda e, delta: (calibrated(e, delta)[0] / np.log(2), 1e-4)

    return [(gaussian, "calibrated_gaussian", wrap)]


@bug("calibration.add_remove_sold_as_replace_one", "certificate")
def _():
    def wrap(calibrate):
        return lambda *args: calibrate(*args[:-1], ridge.Adjacency.ADD_REMOVE)

    def ignorant(delta):
        return lambda self, epsilon: self._remove_delta(epsilon)

    return [
        (objpert, "calibrated_mu", wrap),
        (ObjectivePerturbationDP, "_delta", ignorant),
    ]


@bug("calibration.pure_replace_one_not_halved", "certificate")
def _():
    def wrap(plan):
        return lambda epsilon, _: plan(epsilon, ridge.Adjacency.ADD_REMOVE)

    return [(objpert, "plan_pure", wrap)]


@bug("calibration.ridge_a_tenth", "certificate")
def _():
    return [(objpert.ObjectivePerturbation, "calibrate", _with_alpha(0.1))]


@bug("calibration.ridge_a_tenth_in_the_density", "density")
def _():
    return [(objpert.ObjectivePerturbation, "calibrate", _with_alpha(0.095))]


@bug("calibration.ridge_r_for_r_squared", "certificate")
def _():
    return [(objpert.ObjectivePerturbation, "calibrate", _with_alpha(None))]


def _with_alpha(factor):
    """Shrink the ridge after the noise was chosen; None divides it by the radius."""

    def wrap(calibrate):
        def broken(target, *, radius, **options):
            found = calibrate(target, radius=radius, **options)
            alpha = found.alpha * (1 / radius if factor is None else factor)
            return dataclasses.replace(found, alpha=alpha)

        return broken

    return wrap


@bug("calibration.smoothing_not_charged", "certificate")
def _():
    def wrap(_):
        return property(lambda self: self.ideal_guarantee)

    return [(objpert.ObjectivePerturbation, "guarantee", wrap)]


@bug("smoothing.noise_half", "certificate")
def _():
    def wrap(build):
        def broken(**options):
            step = build(**options)
            return dataclasses.replace(step, multiple=step.multiple / 2)

        return broken

    return [(smoothing.LatticeSmoothing, "concentrated", wrap)]


@bug("smoothing.error_without_rounding", "certificate")
def _():
    def wrap(build):
        return lambda *, error, **options: build(error=error / 2, **options)

    return [(smoothing.LatticeSmoothing, "pure", wrap)]


@bug("smoothing.floating_point_noise", "sampler")
def _():
    def wrap(release):
        def broken(self, data, source):
            seed = int.from_bytes(source.bytes(8), "big")
            z = np.random.default_rng(seed).laplace(0.0, self.multiple, data.size)
            output = self.grid * (np.rint(data / self.grid) + z)
            return dataclasses.replace(release(self, data, source), output=output)

        return broken

    return [(smoothing.LatticeSmoothing, "release", wrap)]


@bug("smoothing.not_rounded_to_the_lattice", "sampler")
def _():
    def wrap(release):
        def broken(self, data, source):
            found = release(self, data, source)
            centre = self.grid * np.rint(data / self.grid)
            return dataclasses.replace(found, output=found.output - centre + data)

        return broken

    return [(smoothing.LatticeSmoothing, "release", wrap)]


@bug("smoothing.laplace_half", "sampler")
def _():
    def wrap(draw):
        return lambda size, scale, source: draw(size, scale / 2, source)

    return [(smoothing, "discrete_laplace", wrap)]


@bug("smoothing.no_noise", "recovery")
def _():
    def wrap(release):
        def broken(self, data, source):
            found = release(self, data, source)
            return dataclasses.replace(found, output=np.array(data))

        return broken

    return [(smoothing.LatticeSmoothing, "release", wrap)]


# --- the density ----------------------------------------------------------------------


@bug("density.jacobian_dropped", "density")
def _():
    def wrap(_):
        return lambda self, output, data: self.noise_law.log_density(
            self.noise(output, data)
        )

    return [(objpert.ObjectivePerturbation, "log_density", wrap)]


@bug("density.ridge_missing_in_hessian", "density")
def _():
    def wrap(both):
        def broken(self, theta):
            gradient, hessian = both(self, theta)
            return gradient, hessian - 0.999 * self.alpha * np.eye(theta.size)

        return broken

    return [(objpert.Objective, "gradient_hessian", wrap)]


@bug("density.curvature_half", "density")
def _():
    def wrap(derivatives):
        def broken(*args):
            slope, curvature = derivatives(*args)
            return slope, curvature / 2

        return broken

    return [(LogisticLoss, "derivatives", wrap)]


# --- rows -----------------------------------------------------------------------------


def unclipped(clipping):
    """Wrap the clipping of a ball so that it leaves every row as it is."""

    def broken(self, X):
        found = clipping(self, X)
        return dataclasses.replace(found, factors=np.ones_like(found.factors))

    return broken


@bug("rows.not_clipped", "replay")
def _():
    return [(L2Ball, "clipping", unclipped)]


@bug("rows.largest_entry_for_l2", "replay")
def _():
    def wrap(_):
        return lambda X: np.max(np.abs(np.asarray(X, float)), axis=1) ** 2

    return [(l2ball, "squared_norms", wrap)]


@bug("rows.divided_by_the_longest", "replay")
def _():
    def wrap(clipping):
        def broken(self, X):
            found = clipping(self, X)
            longest = self.data_norm / np.max(found.norms)
            return dataclasses.replace(found, factors=np.full(len(X), longest))

        return broken

    return [(L2Ball, "clipping", wrap)]


@bug("rows.intercept_not_in_the_norm", "certificate")
def _():
    return [(L2Ball, "radius", lambda _: property(lambda self: self.data_norm))]


# --- the solver -----------------------------------------------------------------------


@bug("solver.ridge_over_n", "recovery")
def _():
    def wrap(objective):
        def broken(self, data, linear=None):
            n = sum(len(y) for _, y in data.projected())
            alpha = self.alpha if linear is None else self.alpha / n
            return objpert.Objective(data, self.loss, alpha, linear)

        return broken

    return [(objpert.ObjectivePerturbation, "objective", wrap)]


@bug("solver.stopped_early", "recovery")
def _():
    def wrap(minimise):
        return lambda objective, *, gradient_tol: minimise(
            objective, gradient_tol=1e6 * gradient_tol
        )

    return [(objpert, "minimise", wrap)]


@bug("solver.few_steps_from_the_bare_optimum", "recovery")
def _():
    def wrap(minimise):
        def broken(objective, *, gradient_tol):
            bare = objpert.Objective(objective.rows, objective.loss, objective.alpha)
            found = minimise(bare, gradient_tol=gradient_tol)
            step = np.linalg.solve(
                objective.hessian(found.x), objective.gradient(found.x)
            )
            return dataclasses.replace(found, x=found.x - step)

        return broken

    return [(objpert, "minimise", wrap)]


@bug("solver.best_of_two_noises", "replay")
def _():
    def wrap(release):
        def broken(self, data, source):
            tries = [release(self, data, source) for _ in range(2)]
            bare = self.objective(data)
            return min(tries, key=lambda r: bare.value(r.output))

        return broken

    return [(objpert.ObjectivePerturbation, "release", wrap)]


@bug("solver.warns_with_its_passes", "surface")
def _():
    def wrap(minimise):
        def broken(objective, **options):
            found = minimise(objective, **options)
            warnings.warn(f"{found.n_passes} passes", stacklevel=2)
            return found

        return broken

    return [(objpert, "minimise", wrap)]


# --- the estimator --------------------------------------------------------------------


@bug("estimator.scaled_by_its_own_data", "replay")
def _():
    def wrap(enter):
        def broken(estimator, X, *rest, **options):
            return enter(estimator, StandardScaler().fit_transform(X), *rest, **options)

        return broken

    return [(objective_fit, "enter_training", wrap)]


@bug("estimator.mean_removed", "replay")
def _():
    def wrap(enter):
        def broken(estimator, X, *rest, **options):
            centred = np.asarray(X) - np.mean(X, axis=0)
            return enter(estimator, centred, *rest, **options)

        return broken

    return [(objective_fit, "enter_training", wrap)]


@bug("estimator.weights_by_class_counts", "replay")
def _():
    def wrap(enter):
        def broken(estimator, X, y, ball, labels, **options):
            _, labels = enter(estimator, X, y, ball, labels, **options)
            X, y = np.asarray(X, float), np.asarray(y)
            rare = y == (1 if np.mean(y == 1) < 0.5 else -1)
            X, y = np.vstack([X, X[rare]]), np.append(y, y[rare])
            blocks = as_row_blocks(X, y, labels=labels)
            return PrivateRows(blocks, ball), labels

        return broken

    return [(objective_fit, "enter_training", wrap)]


@bug("estimator.classes_read_from_y", "surface")
def _():
    def wrap(enter):
        def broken(estimator, X, y, ball, labels, **options):
            rows, _ = enter(estimator, X, y, ball, labels, **options)
            return rows, Labels(np.unique(y)[-2:])

        return broken

    return [(objective_fit, "enter_training", wrap)]


@bug("estimator.keeps_rows", "surface")
def _():
    def wrap(fit):
        def broken(self, X, y=None):
            self._X = X
            return fit(self, X, y)

        return broken

    return [(ObjPertLogisticRegression, "fit", wrap)]


@bug("estimator.keeps_row_count", "surface")
def _():
    def wrap(fit):
        def broken(self, X, y=None):
            self.n_samples_ = len(X)
            return fit(self, X, y)

        return broken

    return [(ObjPertLogisticRegression, "fit", wrap)]


@bug("estimator.keeps_noise", "surface")
def _():
    def wrap(fit):
        def broken(self, X, y=None):
            draw = noise.GaussianNoise.draw

            def remember(law, n, source):
                self.noise_ = draw(law, n, source)
                return self.noise_

            with mock.patch.object(noise.GaussianNoise, "draw", remember):
                return fit(self, X, y)

        return broken

    return [(ObjPertLogisticRegression, "fit", wrap)]


@bug("estimator.ridge_by_row_count", "surface")
def _():
    def wrap(calibrate):
        def broken(self, rows, source):
            n = sum(len(y) for _, y in rows.projected())
            heavier = dataclasses.replace(self, alpha=self.alpha * (1 + n))
            object.__setattr__(self, "alpha", heavier.alpha)
            return calibrate(self, rows, source)

        return broken

    return [(objpert.ObjectivePerturbation, "release", wrap)]


@bug("estimator.seeded_called_releasable", "certificate")
def _():
    return [(SeededSource, "seeded", lambda _: property(lambda self: False))]


# --- per-person losses ----------------------------------------------------------------


def changed_terms(**factors):
    """Wrap the terms of the published bound so that some are multiplied."""

    def wrap(margin_terms):
        def broken(*args, **options):
            for block in margin_terms(*args, **options):
                changes = {k: f * getattr(block, k) for k, f in factors.items()}
                yield dataclasses.replace(block, **changes)

        return broken

    return [(published, "margin_terms", wrap)]


@bug("pdp.jacobian_dropped", "losses")
def _():
    return changed_terms(curvature=0.0)


@bug("pdp.curvature_an_eighth", "losses")
def _():
    return changed_terms(curvature=0.5)


@bug("pdp.slope_half", "losses")
def _():
    return changed_terms(slope=0.5)


@bug("pdp.one_sided_quantile", "losses")
def _():
    return [(published, "NOISE_SHARE", lambda share: 2 * share)]


@bug("pdp.member_and_stranger_exchanged", "losses")
def _():
    def wrap(loss):
        return lambda *args: loss(*args[:-1], ~args[-1])

    return [(pdp, "exact_loss", wrap)]


@bug("pdp.exact_with_twice_the_noise", "losses")
def _():
    def wrap(loss):
        def broken(mechanism, *args):
            law = type(mechanism.noise_law)(2 * mechanism.noise_law.scale)
            return loss(dataclasses.replace(mechanism, noise_law=law), *args)

        return broken

    return [(pdp, "exact_loss", wrap)]


@bug("pdp.query_not_clipped", "losses")
def _():
    return [(L2Ball, "clipping", unclipped)]


# --- choices among candidates ---------------------------------------------------------


def coefficient(change):
    """Replace the rate of a selection by a function of its parameters."""
    return [(exponential, "cached_coefficient", lambda original: change)]


@bug("selection.both_directions_forgotten", "selection")
def _():
    return coefficient(lambda e, cost, s, monotone: Fraction(e) / Fraction(s))


@bug("selection.rounded_reciprocal", "selection")
def _():
    return coefficient(
        lambda e, cost, s, monotone: Fraction(e * (1 / (s * (2 - monotone))))
    )


@bug("selection.monotone_under_replace_one", "selection")
def _():
    def wrap(check):
        def broken(self):
            relation = self.adjacency
            object.__setattr__(self, "adjacency", "add-remove")
            check(self)
            object.__setattr__(self, "adjacency", relation)

        return broken

    return [(exponential.ExponentialMechanism, "__post_init__", wrap)]


@bug("selection.permute_and_flip_of_bounded_range", "selection")
def _():
    def wrap(law):
        return property(lambda self: "exponential")

    def guarantee(original):
        def broken(self, epsilon):
            with mock.patch.object(exponential.ExponentialMechanism, "law", wrap(None)):
                return original(self, epsilon)

        return broken

    return [(exponential.ExponentialMechanism, "_guarantee", guarantee)]


def floating_point_choice(draw):
    """Choose by cumulative sums of floats."""

    def broken(exponents, measure, source):
        weights = np.exp(-exponents.as_floats()) * (1 if measure is None else measure)
        sums = np.cumsum(weights / weights.sum())
        word = int.from_bytes(source.bytes(8), "little")
        return int(np.searchsorted(sums, (word >> 11) * 2.0**-53, side="right"))

    return broken


@bug("selection.decided_in_floats", "selection")
def _():
    return [(exponential, "draw_weighted", floating_point_choice)]


@bug("selection.scores_rounded_to_floats", "selection")
def _():
    def wrap(as_scores):
        return lambda scores, bounds: as_scores(np.asarray(scores, float), bounds)

    return [(exponential, "as_scores", wrap)]


@bug("selection.measure_ignored", "selection")
def _():
    def wrap(draw):
        return lambda exponents, measure, *rest: draw(exponents, None, *rest)

    return [(exponential, "draw_weighted", wrap)]


@bug("selection.best_of_the_excluded", "selection")
def _():
    def wrap(original):
        def broken(self, table):
            return dataclasses.replace(original(self, table), best=int(table.argmax()))

        return broken

    return [(exponential.ExponentialMechanism, "_exponents", wrap)]


@bug("selection.first_raised_flag", "selection")
def _():
    return [
        (weights, "integer_below", lambda original: lambda bound, source: 0),
    ]


@bug("selection.flags_of_half_the_exponent", "selection")
def _():
    def wrap(draw):
        def broken(exponents, source):
            return draw(dataclasses.replace(exponents, rate=exponents.rate / 2), source)

        return broken

    return [(exponential, "draw_flagged", wrap)]


@bug("selection.race_of_gumbel_for_exponential_noise", "selection")
def _():
    return [(exponential, "exponential_race", lambda _: exponential.gumbel_race)]


@bug("selection.nan_accepted", "selection")
def _():
    def wrap(as_scores):
        return lambda scores, bounds: as_scores(np.nan_to_num(scores), bounds)

    return [(exponential, "as_scores", wrap)]


@bug("selection.nan_taken_for_the_upper_end", "selection")
def _():
    def wrap(clamped):
        def broken(table, low, high):
            return clamped(np.where(np.isnan(table), high, table), low, high)

        return broken

    return [(scores, "_clamped", wrap)]
