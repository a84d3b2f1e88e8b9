r"""Objective perturbation in a private metric, around a private centre.

Notation (derived in docs/proofs/preconditioned.md)
---------------------------------------------------
x        row after clipping, intercept constant included, over its bound R -> ``radius``
S        sum of x x' plus noise; everything about the geometry follows from it
u, w     row in the metric, A x, and its weight: w |u| <= 1, w |u|^2 <= rho
v        minus the gradient of the weighted losses at zero, plus noise
phi      what is minimised: theta = A phi / R
phi0     centre: v after a damped Newton step, later the previous minimiser
lambda   ridge around the centre, rho / kappa or more       -> ``curvature`` is kappa
k        scale of the log-cosh loss, a function of released sums; 1 for logistic
tau      public bound on the gradient norm of a solution, over k     -> ``gradient_tol``
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np

from skdp._typing import FloatArray, IntegerArray
from skdp._validation import check_count, check_positive
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    Guarantee,
    PreconditionedPerturbationDP,
)
from skdp.losses import LogCoshLoss, LogisticLoss
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._calibration import DOWN
from skdp.mechanisms._exact_moments import (
    MOST_BITS,
    exact_gram,
    rounded_once,
)
from skdp.mechanisms._hard_rows import hard_row_pairs
from skdp.mechanisms._pco_fit import (
    WeightedFit,
    first_center,
    guessed_hessian,
    loss_scale,
)
from skdp.mechanisms._pco_geometry import Geometry, geometry_of
from skdp.mechanisms._pco_parts import UP, BudgetPart, NoisyPart, PreconditionedRelease
from skdp.mechanisms._pco_plan import (
    METRIC_SHARE,
    gradient_tolerance,
    plan_parts,
    statistic_error,
)
from skdp.mechanisms._rows_fit import check_rows
from skdp.mechanisms._smoothing import LatticeSmoothing
from skdp.random import RandomSource
from skdp.rows import PrivateRows
from skdp.solvers import Table, check_targets

__all__ = ["PreconditionedObjectivePerturbation"]

_SOURCE = (
    "adaptive composition of a metric, a centre and tilted objectives, "
    "docs/proofs/preconditioned.md"
)
#: A matrix of this order and its eigenvectors are still quickly found.
_MOST_COEFFICIENTS = 2048
#: Largest ridge to ask for: squares of what it pulls stay within the range of floats.
_MOST_RIDGE = 1e100
#: Below it a ridge times its centre rounds by more than the tolerance.
_LEAST_EPSILON = 1e-5
#: Scales of log-cosh below which a minimiser over the scale is no float near a lattice.
_LEAST_SCALE = 1e-5
#: Share of mu^2 that the noise of the objective is taken to have, for the weights.
_OBJECTIVE_SHARE = 0.88
#: Neighbours on which the audits look.
_HARD = {"empty, +", "hundred against, +", "hundred agreeing, -", "ten balanced, half"}

Scale = Literal["auto", "loss"]


class _History(NamedTuple):
    """What has been released so far, apart from the metric."""

    gradient: FloatArray
    energies: FloatArray | None
    minimisers: tuple[FloatArray, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PreconditionedObjectivePerturbation(
    Mechanism[PrivateRows, PreconditionedRelease]
):
    r"""Learn a metric and a centre first, then perturb the objective of weighted rows.

    With public A, w and centre, all functions of what was released before, the ideal
    answer is the minimiser of

    .. math:: J(\varphi) = \sum_i w_i f(u_i \cdot \varphi; y_i)
        + \tfrac\lambda2|\varphi - \varphi_0|^2 + b \cdot \varphi ,\quad u_i = A x_i.

    Coefficients are linear in the rows as they are. Rows far out in the metric weigh
    less than one. Build one with :meth:`calibrate`.

    Parameters
    ----------
    loss : LogisticLoss or LogCoshLoss
        The loss of one row; log-cosh with targets in [-1, 1]. Its scale is used only
        where ``scale`` says so.
    radius : float
        Bound R > 0 on the L2 norm of a row, intercept constant included.
    n_coefficients : int
        Number d of coefficients, intercept included, from 1 to 2,048.
    curvature : float
        kappa > 0, bound on the curvature of one weighted row over the ridge.
    metric : NoisyPart
        Noise of the second moments.
    center : NoisyPart
        Noise of the gradient at zero.
    energy : NoisyPart or None
        Noise of the sums of squared targets and residuals; None for logistic.
    phases : tuple of NoisyPart
        Noise of each objective; every one is centred at the answer of the one before.
    scale : {"auto", "loss"}, default="auto"
        Whether the scale of log-cosh comes from the released energies, or is that of
        the loss.
    alpha : float, default=0.0
        Least ridge around the centre in the metric, where a row's gradient and norm
        are at most one, up to 1e100; 0 for what the guarantee needs.

    Raises
    ------
    ValueError
        If the fields do not fit.

    Privacy
    -------
    An adaptive composition under add-remove, accounted as one: Gaussian releases, exact
    bounds on the loss of each objective perturbation, and lattice steps. It is not
    Gaussian DP. A larger ``alpha`` changes no number of the guarantee. The sums of
    second moments are exact; of the others the rounding is bounded publicly.
    Replace-one, pure DP, sample weights and other losses have no proof. Proof in
    docs/proofs/preconditioned.md.

    Examples
    --------
    >>> from skdp.accounting import ApproximateDP
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.mechanisms import PreconditionedObjectivePerturbation
    >>> mechanism = PreconditionedObjectivePerturbation.calibrate(
    ...     ApproximateDP(1.0, 1e-6), loss=LogisticLoss(), radius=1.0,
    ...     n_coefficients=20)
    >>> [(part.name, round(part.share, 3)) for part in mechanism.budget[:3]]
    [('second moments', 0.1), ('gradient at zero', 0.02), ('objective', 0.88)]
    >>> 0.9999 < mechanism.guarantee.epsilon(1e-6) <= 1.0
    True
    """

    loss: LogisticLoss | LogCoshLoss
    radius: float
    n_coefficients: int
    curvature: float
    metric: NoisyPart
    center: NoisyPart
    energy: NoisyPart | None
    phases: tuple[NoisyPart, ...]
    scale: Scale = "auto"
    alpha: float = 0.0

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        kind, d = _kind(self.loss), _checked_size(self.n_coefficients)
        for name in ("radius", "curvature"):
            remedy = "Build the mechanism with calibrate."
            check_positive(name, getattr(self, name), remedy=remedy)
        require(self.scale in ("auto", "loss"), "scale must be 'auto' or 'loss'")
        require(
            0.0 <= self.alpha <= _MOST_RIDGE,
            f"alpha must be from 0 to {_MOST_RIDGE:g}, in the metric",
        )
        require(
            isinstance(self.loss, LogisticLoss) or self.loss.scale >= _LEAST_SCALE,
            f"the scale of the loss must be {_LEAST_SCALE:g} or more",
        )
        require(len(self.phases) >= 1, "there must be an objective to perturb")
        require(
            (self.energy is None) == (kind == "logistic"),
            "energy goes with the log-cosh loss",
        )
        pull = 0.5 if kind == "logistic" else 1.0
        expected = [(d * (d + 1) // 2, 1.0), (d, pull)]
        expected += [] if self.energy is None else [(2, math.sqrt(2.0))]
        expected += [(d, 1.0)] * len(self.phases)
        for part, (size, sensitivity) in zip(self.parts, expected, strict=True):
            require(part.size == size, "a part must be as long as what it releases")
            require(
                part.sensitivity >= sensitivity, "a sensitivity is below one row's part"
            )
        error = 2.0 * self.gradient_tol * self.curvature * DOWN
        require(
            all(part.step.error >= error for part in self.phases),
            "the steps of the objectives must cover 2 gradient_tol over the ridge",
        )
        for part in self.statistics:
            error = statistic_error(part.noise_law.scale, exact=part is self.metric)
            require(
                part.step.error >= error * DOWN,
                "the steps of the statistics must cover what sums and noise round",
            )
        require(self.bits >= 1, "the lattice of the metric must be finer than a row")

    @classmethod
    def calibrate(
        cls,
        target: ApproximateDP,
        *,
        loss: LogisticLoss | LogCoshLoss,
        radius: float,
        n_coefficients: int,
        scale: Scale = "auto",
        alpha: float | Literal["auto"] = "auto",
    ) -> Self:
        """Return an instance whose computed guarantee meets the target.

        Parameters
        ----------
        target : ApproximateDP
            What to promise: delta > 0, add-remove.
        loss : LogisticLoss or LogCoshLoss
            The loss of one row.
        radius : float
            Bound R on the norm of a row, intercept constant included.
        n_coefficients : int
            Number of coefficients, from 1 to 2,048.
        scale : {"auto", "loss"}, default="auto"
            Where the scale of log-cosh comes from.
        alpha : float or "auto", default="auto"
            Least ridge around the centre, on the scale of the rows: over ``radius**2``
            it is that in the metric. ``"auto"`` asks for no more than the guarantee.

        Returns
        -------
        PreconditionedObjectivePerturbation
            Its ``guarantee`` implies ``target``, whatever ``alpha``.

        Raises
        ------
        ValueError
            If the target is pure or about replace-one, the loss has no proof, or a
            number is out of range.

        Examples
        --------
        >>> from skdp.accounting import ApproximateDP
        >>> from skdp.losses import LogCoshLoss
        >>> from skdp.mechanisms import PreconditionedObjectivePerturbation
        >>> mechanism = PreconditionedObjectivePerturbation.calibrate(
        ...     ApproximateDP(0.5, 1e-6), loss=LogCoshLoss(), radius=2.0,
        ...     n_coefficients=12)
        >>> mechanism.energy.name, len(mechanism.phases)
        ('energies', 1)
        """
        epsilon, delta = _checked_target(target)
        require(0.0 < radius < math.inf, "radius must be a finite number above 0")
        # one after the other: the square may leave the range of floats
        least = 0.0 if alpha == "auto" else float(alpha) / radius / radius
        plan = plan_parts(epsilon, delta, _kind(loss), _checked_size(n_coefficients))
        return cls(
            loss=loss,
            radius=radius,
            n_coefficients=n_coefficients,
            curvature=plan.curvature,
            metric=plan.metric,
            center=plan.center,
            energy=plan.energy,
            phases=plan.phases,
            scale=scale,
            alpha=least,
        )

    @property
    def adjacency(self) -> Adjacency:
        """Neighbouring relation of the guarantee: add-remove."""
        return Adjacency.ADD_REMOVE

    @property
    def statistics(self) -> tuple[NoisyPart, ...]:
        """The Gaussian releases, in their order."""
        energy = () if self.energy is None else (self.energy,)
        return (self.metric, self.center, *energy)

    @property
    def parts(self) -> tuple[NoisyPart, ...]:
        """All releases, in their order."""
        return (*self.statistics, *self.phases)

    @property
    def budget(self) -> tuple[BudgetPart, ...]:
        """What each release costs, and all lattice steps together."""
        sizes = {part.name: part.mu for part in self.parts}
        sizes["lattice steps"] = math.sqrt(2.0 * self._smoothing_rho)
        total = math.hypot(*sizes.values())
        return tuple(
            BudgetPart(name, mu, (mu / total) ** 2) for name, mu in sizes.items()
        )

    @property
    def _smoothing_rho(self) -> float:
        return math.fsum(part.step.rho for part in self.parts)

    @property
    def smoothing(self) -> LatticeSmoothing:
        """The finest lattice step: every number of a transcript lies on its lattice."""
        return min((part.step for part in self.parts), key=lambda step: step.grid)

    @property
    def gradient_tol(self) -> float:
        """Public bound tau on the gradient norm at a computed minimiser, at k = 1."""
        scale = max(part.noise_law.scale for part in self.phases)
        return gradient_tolerance(scale, self.n_coefficients)

    @property
    def bits(self) -> int:
        """Bits of a row's entries in the second moments, multiples of the lattice."""
        exponent = math.frexp(self.metric.step.grid)[1] - 1
        return min(MOST_BITS, -exponent // 2)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, lattice steps included."""
        return self._composed(self._smoothing_rho)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the real-valued releases."""
        return self._composed(0.0)

    def _composed(self, rho: float) -> Guarantee:
        room = min(self.gradient_tol, *(part.step.error for part in self.statistics))
        return PreconditionedPerturbationDP(
            math.hypot(*(part.mu for part in self.statistics)),
            tuple(part.mu for part in self.phases),
            self.curvature,
            _kind(self.loss),
            rho,
            assumptions=(
                f"row L2 norm <= {self.radius:.6g} (enforced by clipping)",
                "rounding of computed sums and of the noise draws, over one row's "
                f"part, <= {room:.3g}",
            ),
            source=_SOURCE,
        )

    def geometry(self, metric: FloatArray) -> Geometry:
        """Return what follows from the released second moments: public.

        Parameters
        ----------
        metric : ndarray of shape (n_coefficients, n_coefficients)
            Second moments of rows over ``radius``.

        Returns
        -------
        Geometry
        """
        noise = self.metric.noise_law.scale
        if _kind(self.loss) == "log-cosh":
            return geometry_of(metric, noise, None)
        phase = noise * math.sqrt(METRIC_SHARE / _OBJECTIVE_SHARE)
        return geometry_of(metric, noise, phase)

    def ridge(self, geometry: Geometry) -> float:
        """Return lambda in the metric, at least rho / kappa and what was asked for.

        The former is raised by the weights' rounding. What is larger than it lowers
        the Jacobian term of every row, and brings computed minimisers nearer.

        Parameters
        ----------
        geometry : Geometry

        Returns
        -------
        float
        """
        return max(UP * geometry.curvature_ratio / self.curvature, self.alpha)

    def row_loss(self, scale: float) -> LogisticLoss | LogCoshLoss:
        """Return the loss of one row; log-cosh at a released scale.

        Parameters
        ----------
        scale : float
            Of ``PreconditionedRelease``; no matter for logistic.

        Returns
        -------
        LogisticLoss or LogCoshLoss
        """
        if isinstance(self.loss, LogisticLoss):
            return self.loss
        return LogCoshLoss(scale=scale)

    def release(
        self, data: PrivateRows, source: RandomSource
    ) -> Release[PreconditionedRelease]:
        """Release the metric, the centre and each minimiser in turn.

        Parameters
        ----------
        data : PrivateRows
            Rows with labels in {-1, 0, +1}, or targets in [-1, 1] for log-cosh.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        Release
            ``diagnostics`` are NOT private.

        Raises
        ------
        ValueError
            If the public shape or norm bound of ``data`` is not the mechanism's.
        """
        check_rows(self, data)
        check_targets(data, self.loss)
        table = Table(data.blocks, data.ball)
        sums = self._metric_sums(table)
        metric = self._released_metric(sums, source)
        geometry = self.geometry(metric)
        fit = self._fit(table, geometry)
        pull = self.center.smooth(fit.pull() + self.center.draw(source), source)
        history = _History(pull, self._energies(fit, geometry, pull, source), ())
        loss = self.row_loss(self._loss_scale(geometry, history))
        moment = self._square(self._with_steps(sums, 0))
        guess = guessed_hessian(geometry, moment, loss, history.energies)
        objective, n_passes = fit.objective(loss), 0
        for part in self.phases:
            scale, center = self._state(geometry, history)
            linear = scale * part.draw(source) - objective.alpha * center
            tol = scale * self.gradient_tol
            solution = objective.minimise(
                linear, start=center, gradient_tol=tol, guess=guess
            )
            answer = part.smooth(solution.x / scale, source)
            history = history._replace(minimisers=(*history.minimisers, answer))
            n_passes += solution.n_passes
        return Release(
            output=self._output(metric, geometry, history),
            spent=self.guarantee,
            diagnostics={"n_passes": n_passes},
        )

    def _fit(self, table: Table, geometry: Geometry) -> WeightedFit:
        ridge = self.ridge(geometry)
        logistic = _kind(self.loss) == "logistic"
        return WeightedFit(table, logistic, self.radius, geometry, ridge)

    def _released_metric(self, sums: IntegerArray, source: RandomSource) -> FloatArray:
        """Add exact sums and lattice noise as integers: shape (d, d)."""
        noise = self.metric.draw(source) / self._stretch()
        # the sums are multiples of the step, so it may be applied to the noise alone,
        # and is not rounded before they are added
        steps = self.metric.step.release_steps(noise, source)
        return self._square(self._with_steps(sums, steps))

    def _metric_sums(self, table: Table) -> IntegerArray:
        """Return the upper triangle of the exact second moments: NOT private."""
        labelled = _kind(self.loss) == "logistic"
        gram = exact_gram(table, self.radius, self.bits, labelled=labelled)
        triangle: IntegerArray = gram[np.triu_indices(self.n_coefficients)]
        return triangle

    def _with_steps(self, sums: IntegerArray, steps: IntegerArray | int) -> FloatArray:
        """Return the second moments and so many lattice steps, rounded once."""
        grid = self.metric.step.grid
        unit = int(2.0 ** (-2 * self.bits) / grid)
        return rounded_once(sums, unit, np.asarray(steps), grid)

    def _stretch(self) -> FloatArray:
        """Return what makes the norm of an upper triangle the Frobenius norm."""
        rows, columns = np.triu_indices(self.n_coefficients)
        return np.where(rows == columns, 1.0, math.sqrt(2.0))

    def _square(self, triangle: FloatArray) -> FloatArray:
        d = self.n_coefficients
        out = np.zeros((d, d))
        rows, columns = np.triu_indices(d)
        out[rows, columns] = out[columns, rows] = triangle
        return out

    def _energies(
        self,
        fit: WeightedFit,
        geometry: Geometry,
        pull: FloatArray,
        source: RandomSource,
    ) -> FloatArray | None:
        if self.energy is None:
            return None
        noisy = fit.energies(geometry.newton @ pull) + self.energy.draw(source)
        return self.energy.smooth(noisy, source)

    def _loss_scale(self, geometry: Geometry, history: _History) -> float:
        """Return k: public, the same in every phase."""
        if isinstance(self.loss, LogisticLoss) or history.energies is None:
            return 1.0
        if self.scale == "loss":
            return self.loss.scale
        return loss_scale(geometry, history.energies)

    def _state(self, geometry: Geometry, history: _History) -> tuple[float, FloatArray]:
        """Return scale and centre of the next objective: public."""
        scale = self._loss_scale(geometry, history)
        if history.minimisers:
            return scale, scale * history.minimisers[-1]
        return scale, first_center(geometry, history.gradient, history.energies)

    def _output(
        self, metric: FloatArray, geometry: Geometry, history: _History
    ) -> PreconditionedRelease:
        first = history._replace(minimisers=())
        scale, last = self._state(geometry, history)
        transform = geometry.transform / self.radius
        return PreconditionedRelease(
            coefficients=transform @ last,
            metric=metric,
            center=transform @ self._state(geometry, first)[1],
            gradient=history.gradient,
            energies=history.energies,
            minimisers=history.minimisers,
            scale=scale,
            geometry=geometry,
            budget=self.budget,
        )

    def vector(self, output: PreconditionedRelease) -> FloatArray:
        """Return the transcript of a release."""
        return output.transcript

    def read(self, transcript: FloatArray) -> PreconditionedRelease:
        """Return the release that a transcript is of: public.

        Parameters
        ----------
        transcript : ndarray of shape (n_numbers,)

        Returns
        -------
        PreconditionedRelease

        Raises
        ------
        ValueError
            If the transcript has another length.
        """
        sizes = [part.size for part in self.parts]
        if np.shape(transcript) != (sum(sizes),):
            raise ValueError(
                f"transcript has shape {np.shape(transcript)}. Allowed: "
                f"({sum(sizes)},). Pass the transcript of a release of this mechanism."
            )
        triangle, pull, *rest = np.split(transcript, np.cumsum(sizes)[:-1])
        metric = self._square(triangle)
        energies = None if self.energy is None else rest.pop(0)
        history = _History(pull, energies, tuple(rest))
        return self._output(metric, self.geometry(metric), history)

    def noise(self, output: FloatArray, data: PrivateRows) -> FloatArray:
        """Recover all noise vectors of the ideal releases, one after the other."""
        return np.concatenate([noise for noise, _ in self._noises(output, data)])

    def log_density(self, output: FloatArray, data: PrivateRows) -> float:
        """Log density of a transcript of ideal releases."""
        stretch = float(np.sum(np.log(self._stretch())))
        terms = zip(self.parts, self._noises(output, data), strict=True)
        return stretch + math.fsum(
            part.noise_law.log_density(noise) + log_det
            for part, (noise, log_det) in terms
        )

    def _noises(
        self, transcript: FloatArray, data: PrivateRows
    ) -> Iterator[tuple[FloatArray, float]]:
        """Yield the noise of each part, and the log Jacobian of its release."""
        released = self.read(transcript)
        geometry = released.geometry
        table = Table(data.blocks, data.ball)
        sums = self._with_steps(self._metric_sums(table), 0)
        triangle = released.metric[np.triu_indices(self.n_coefficients)]
        yield (triangle - sums) * self._stretch(), 0.0
        fit = self._fit(table, geometry)
        yield released.gradient - fit.pull(), 0.0
        if released.energies is not None:
            energies = fit.energies(geometry.newton @ released.gradient)
            yield released.energies - energies, 0.0
        objective = fit.objective(self.row_loss(released.scale))
        history = _History(released.gradient, released.energies, ())
        for answer in released.minimisers:
            scale, center = self._state(geometry, history)
            gradient, hessian = objective.gradient_hessian(scale * answer)
            b = (objective.alpha * center - gradient) / scale
            yield b, float(np.linalg.slogdet(hessian)[1])
            history = history._replace(minimisers=(*history.minimisers, answer))

    def hard_pairs(self) -> Iterator[AdjacentPair[PrivateRows]]:
        """Yield nobody, saturated clusters for and against one row, and a balance."""
        pairs = hard_row_pairs(self.radius, self.n_coefficients, self.adjacency)
        return (pair for pair in pairs if pair.name in _HARD)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield one and two objectives, both losses, one to three coefficients."""
        for epsilon, loss, d in (
            (1.0, LogisticLoss(), 1),
            (8.0, LogisticLoss(), 2),
            (0.5, LogCoshLoss(), 3),
        ):
            target = ApproximateDP(epsilon, 1e-6)
            yield cls.calibrate(target, loss=loss, radius=2.0, n_coefficients=d)


def _kind(loss: object) -> str:
    """Return the name of a loss with a proof; refuse any other."""
    if type(loss) is LogisticLoss:
        return "logistic"
    if type(loss) is LogCoshLoss and loss.target_bound == 1.0:
        return "log-cosh"
    raise ValueError(
        f"the metric has no proof for this loss, got {loss!r}. Allowed: LogisticLoss() "
        "and LogCoshLoss with target_bound=1. Use the identity metric, which is plain "
        "ObjectivePerturbation."
    )


def _checked_target(target: object) -> tuple[float, float]:
    """Return epsilon and delta of a target with a proof; refuse any other."""
    plain = "Use the identity metric, which is plain ObjectivePerturbation."
    if not isinstance(target, ApproximateDP) or target.delta_bound == 0.0:
        raise ValueError(
            f"the metric needs Gaussian noise, got the target {target!r}. Allowed: "
            f"ApproximateDP with delta > 0. {plain}"
        )
    if target.adjacency is not Adjacency.ADD_REMOVE:
        raise ValueError(
            f"the metric has no proof for adjacency={str(target.adjacency)!r}. "
            f"Allowed: 'add-remove'. {plain}"
        )
    epsilon = target.epsilon_bound
    if epsilon < _LEAST_EPSILON:
        raise ValueError(
            f"epsilon is too small for a metric, got {epsilon:g}: the centre would be "
            f"too far out to compute with. Allowed: {_LEAST_EPSILON:g} or more. {plain}"
        )
    return epsilon, target.delta_bound


def _checked_size(n_coefficients: object) -> int:
    remedy = "Use the identity metric for wider tables."
    return check_count(
        "n_coefficients",
        n_coefficients,
        minimum=1,
        maximum=_MOST_COEFFICIENTS,
        remedy=remedy,
    )
