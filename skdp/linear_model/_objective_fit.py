"""What linear models by objective perturbation share: fit, publish, and tell.

An estimator says which loss it minimises and what encodes its targets
(:meth:`ObjectiveEstimator._problem`), and how coefficients read in their units.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skdp._typing import FloatArray, MatrixLike
from skdp._validation import check_rho
from skdp.accounting import PrivacyPart, PrivacySpent
from skdp.linear_model._base import PrivateEstimatorMixin
from skdp.linear_model._disclosure import assumptions_about, warn_if_seeded
from skdp.linear_model._door import enter_query, enter_training, features
from skdp.linear_model._margins import dense, margins
from skdp.linear_model._metric import (
    Metric,
    in_private_metric,
    is_private,
    metric_attributes,
    metric_loss,
)
from skdp.linear_model._numeric_door import enter_numeric_query, enter_numeric_training
from skdp.linear_model._settings import LinearSettings, read_settings
from skdp.losses import Tilting
from skdp.mechanisms import (
    ObjectivePerturbation,
    PreconditionedObjectivePerturbation,
    PreconditionedRelease,
)
from skdp.pdp import published_loss
from skdp.rows import L2Ball, Labels, PrivateRows, Targets
from skdp.rows._one_person import one_person

__all__ = ["ObjectiveEstimator", "Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """The loss of a row, and what encodes its target.

    ``encoder`` is None when the label set has to be read from ``y``. ``scale`` says
    whether a private metric brings its own scale of the loss.
    """

    loss: Tilting
    encoder: Labels | Targets | None
    scale: Literal["auto", "loss"] = "loss"


class ObjectiveEstimator(PrivateEstimatorMixin, BaseEstimator):
    """Fit, ``pdp_loss`` and margins of an estimator made of one tilted objective."""

    _released: ClassVar[frozenset[str]] = frozenset(
        {
            "alpha_",
            "classes_",
            "coef_",
            "data_norm_",
            "feature_names_in_",
            "intercept_",
            "intercept_scaling_",
            "mechanism_",
            "n_features_in_",
            "noise_scale_",
            "privacy_spent_",
            "smoothing_scale_",
            "targets_",
            "theta_",
        }
    )

    @abstractmethod
    def _problem(self, labels: Labels | None) -> Problem:
        """Check what the loss needs, and return it; read no data."""

    def fit(self, X: MatrixLike, y: MatrixLike = None) -> Self:
        """Fit the model and spend the budget.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or RowBlocks, (n_samples, n_features)
            Rows of finite numbers. Never copied or changed; rows longer than
            ``data_norm`` count as clipped. Row blocks bring their own y.
        y : array-like of shape (n_samples,)
            Labels, or numbers; those beyond ``bounds_y`` count as clipped.

        Returns
        -------
        self : object
            The fitted model; it holds released values and public constants only.
        """
        settings = read_settings(self)
        problem = self._problem(settings.labels)
        metric = self._metric(settings, problem)
        with self._whole_fit():
            self._fit(X, y, settings, problem, metric)
        return self

    def _fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        settings: LinearSettings,
        problem: Problem,
        metric: Metric,
    ) -> None:
        """Enter the rows, calibrate, release, and publish."""
        rows, encoder = self._enter(X, y, settings.ball, problem.encoder)
        mechanism = _calibrated(settings, problem, rows.n_coefficients, metric)
        output = mechanism.release(rows, settings.source).output
        self._publish_encoder(encoder)
        self._publish_release(output, mechanism, settings.ball)
        self._publish(
            data_norm_=settings.ball.data_norm,
            intercept_scaling_=settings.ball.intercept_scaling,
            mechanism_=mechanism,
            privacy_spent_=_spent(mechanism, settings, problem, encoder),
        )
        warn_if_seeded(settings.source)

    def _metric(self, settings: LinearSettings, problem: Problem) -> Metric:
        """Return which metric is asked for: here there is but one."""
        del settings, problem
        return "identity"

    def _publish_release(
        self,
        output: FloatArray | PreconditionedRelease,
        mechanism: ObjectivePerturbation | PreconditionedObjectivePerturbation,
        ball: L2Ball,
    ) -> None:
        """Publish coefficients, and the metric they were found in."""
        release = output if isinstance(output, PreconditionedRelease) else None
        attributes = metric_attributes(mechanism, release)
        self._publish(**{k: v for k, v in attributes.items() if k in self._released})
        theta = output if isinstance(output, np.ndarray) else output.coefficients
        self._publish_coefficients(theta, ball)

    def _enter(
        self,
        X: MatrixLike,
        y: MatrixLike,
        ball: L2Ball,
        encoder: Labels | Targets | None,
    ) -> tuple[PrivateRows, Labels | Targets]:
        """Return the rows of the fit, and what encodes their targets."""
        if isinstance(encoder, Targets):
            return enter_numeric_training(self, X, y, ball, encoder), encoder
        return enter_training(self, X, y, ball, encoder)

    def _publish_encoder(self, encoder: Labels | Targets) -> None:
        """Publish what the targets look like."""
        if isinstance(encoder, Targets):
            self._publish(targets_=encoder)
        else:
            self._publish(classes_=encoder.classes)

    def _publish_coefficients(self, theta: FloatArray, ball: L2Ball) -> None:
        """Publish the released vector, and what it says in the units of y."""
        unit, middle = self._units()
        coef, tail = theta[: self.n_features_in_], theta[self.n_features_in_ :]
        constant = unit * ball.intercept_scaling * float(tail.sum())
        self._publish(theta_=theta.copy())
        self._publish_line(unit * coef, middle + constant)

    def _units(self) -> tuple[float, float]:
        """Return what a margin of one is worth, and what a margin of zero means."""
        if hasattr(self, "targets_"):
            return self.targets_.unit, self.targets_.middle
        return 1.0, 0.0

    def _publish_line(self, coef: FloatArray, intercept: float) -> None:
        """Publish the coefficients in the shapes that scikit-learn has."""
        self._publish(coef_=coef, intercept_=intercept)

    def _line(self, X: MatrixLike) -> FloatArray:
        """Return ``X @ coef_ + intercept_``, shape (n_samples,)."""
        check_is_fitted(self)
        values = dense(features(self, X, reset=False))
        return margins(values, np.ravel(self.coef_), float(np.sum(self.intercept_)))

    def pdp_loss(
        self, X: MatrixLike, y: MatrixLike = None, *, rho: float = 1e-6
    ) -> FloatArray:
        """Bound what this release cost each person, from her own row alone.

        Anyone may call it about anyone, at no privacy cost: it reads the row asked
        about, released values and public constants.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows asked about, in the data or not. One person may also be given as
            ``pdp_loss((x, y))``.
        y : array-like of shape (n_samples,)
            Their labels or targets.
        rho : float, default=1e-6
            Probability, over the noise of the fit, that the bound fails for one row
            fixed beforehand; from 1e-300, below 1. Pure fits (delta = 0) do not use it:
            their bound fails with probability below 1e-12.

        Returns
        -------
        loss : ndarray of shape (n_samples,)
            Bound on the absolute privacy loss in nats; 0 for an undeclared label.

        Raises
        ------
        ValueError
            If ``rho`` is out of range or the shapes do not fit.
        """
        check_is_fitted(self)
        if y is None:
            X, y = one_person(X)
        rho = check_rho(rho)
        # one cheap pass: larger blocks than a fit's cost fewer calls
        block_rows = max(1, min(8192, 2**19 // self.n_features_in_))
        rows = self._query_rows(X, y, block_rows)
        release = getattr(self, "release_", None)
        if release is not None:
            return metric_loss(self.mechanism_, release, rows, rho=rho)
        return published_loss(self.mechanism_, self.theta_, rows, rho=rho)

    def _query_rows(
        self, X: MatrixLike, y: MatrixLike, block_rows: int | None = None
    ) -> PrivateRows:
        """Return rows seen exactly as the fit saw its own."""
        ball = L2Ball(self.data_norm_, self.intercept_scaling_)
        if hasattr(self, "targets_"):
            return enter_numeric_query(self, X, y, ball, self.targets_, block_rows)
        return enter_query(self, X, y, ball, Labels(self.classes_), block_rows)

    def _theta(self) -> FloatArray:
        """Return the released vector in the mechanism's coordinates."""
        return np.asarray(self.theta_, dtype=np.float64)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.non_deterministic = self.random_state is None
        return tags


def _calibrated(
    settings: LinearSettings, problem: Problem, n_coefficients: int, metric: Metric
) -> ObjectivePerturbation | PreconditionedObjectivePerturbation:
    """Return the mechanism that the settings ask for."""
    if is_private(metric, n_coefficients):
        return in_private_metric(
            settings, n_coefficients, problem.loss, scale=problem.scale
        )
    return ObjectivePerturbation.calibrate(
        settings.target,
        radius=settings.ball.radius,
        n_coefficients=n_coefficients,
        alpha=settings.alpha,
        loss=problem.loss,
        conservative=settings.conservative,
    )


def _spent(
    mechanism: ObjectivePerturbation | PreconditionedObjectivePerturbation,
    settings: LinearSettings,
    problem: Problem,
    encoder: Labels | Targets,
) -> PrivacySpent:
    guarantee = mechanism.guarantee
    about = assumptions_about(encoder, declared=problem.encoder is not None)
    guarantee = replace(guarantee, assumptions=guarantee.assumptions + about)
    return PrivacySpent(
        guarantee,
        settings.delta,
        parts=(PrivacyPart(type(mechanism).__name__, guarantee),),
        releasable=not settings.source.seeded,
        level="research" if settings.source.seeded else "default",
    )
