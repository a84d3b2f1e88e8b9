"""What linear models by objective perturbation share: fit, publish, and tell.

An estimator says which loss it minimises and what encodes its targets
(:meth:`ObjectiveEstimator._problem`), and how coefficients read in their units.
"""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

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
from skdp.linear_model._numeric_door import enter_numeric_query, enter_numeric_training
from skdp.linear_model._objective_release import (
    ObjectiveMechanism,
    Problem,
    calibrated,
    released,
    row_loss,
)
from skdp.linear_model._settings import LinearSettings, read_settings
from skdp.mechanisms import PreconditionedRelease
from skdp.rows import Classes, L2Ball, Labels, PrivateRows, Targets
from skdp.rows._encoder import Encoder, LabelSet
from skdp.rows._one_person import one_person

__all__ = ["ObjectiveEstimator"]


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

    #: Whether there is a version for more than two classes, whatever the options.
    _several: ClassVar[bool] = False

    def _takes_several(self) -> bool:
        """Return whether more than two classes go with the options as they are."""
        return self._several

    @abstractmethod
    def _problem(self, settings: LinearSettings) -> Problem:
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
        settings = read_settings(self, several=self._several)
        problem = self._problem(settings)
        with self._whole_fit():
            self._fit(X, y, settings, problem)
        return self

    def _fit(
        self, X: MatrixLike, y: MatrixLike, settings: LinearSettings, problem: Problem
    ) -> None:
        """Enter the rows, calibrate, release, and publish."""
        rows, encoder = self._enter(X, y, settings.ball, problem.encoder)
        mechanism = calibrated(problem, settings, encoder, rows.n_coefficients)
        output = mechanism.release(rows, settings.source).output
        spent = _spent(mechanism, settings, encoder)
        self._publish(mechanism_=mechanism, privacy_spent_=spent)
        self._publish_encoder(encoder)
        self._publish_release(output, settings.ball)
        warn_if_seeded(settings.source)

    def _publish_release(
        self, output: FloatArray | PreconditionedRelease, ball: L2Ball
    ) -> None:
        """Publish coefficients, and the metric they were found in."""
        attributes = released(self.mechanism_, output)
        self._publish(**{k: v for k, v in attributes.items() if k in self._released})
        self._publish(
            data_norm_=ball.data_norm, intercept_scaling_=ball.intercept_scaling
        )
        self._publish_coefficients(ball)

    def _enter(
        self, X: MatrixLike, y: MatrixLike, ball: L2Ball, encoder: Encoder | None
    ) -> tuple[PrivateRows, Any]:
        """Return the rows of the fit, and what encodes their targets."""
        if isinstance(encoder, Targets):
            return enter_numeric_training(self, X, y, ball, encoder), encoder
        return enter_training(self, X, y, ball, encoder, several=self._takes_several())

    def _publish_encoder(self, encoder: Encoder) -> None:
        """Publish what the targets look like."""
        if isinstance(encoder, Targets):
            self._publish(targets_=encoder)
        else:
            self._publish(classes_=encoder.classes)

    def _publish_coefficients(self, ball: L2Ball) -> None:
        """Publish what the released vector says in the units of y."""
        unit, middle = self._units()
        d = self.n_features_in_
        coef, tail = self.theta_[..., :d], self.theta_[..., d:]
        constant = unit * ball.intercept_scaling * tail.sum(axis=-1)
        self._publish_line(unit * coef, middle + constant)

    def _units(self) -> tuple[float, float]:
        """Return what a margin of one is worth, and what a margin of zero means."""
        if hasattr(self, "targets_"):
            return self.targets_.unit, self.targets_.middle
        return 1.0, 0.0

    def _publish_line(self, coef: FloatArray, intercept: FloatArray) -> None:
        """Publish the coefficients in the shapes that scikit-learn has."""
        self._publish(coef_=coef, intercept_=float(intercept))

    def _line(self, X: MatrixLike) -> FloatArray:
        """Return ``X @ coef_.T + intercept_``; of one row of ``coef_`` a vector."""
        check_is_fitted(self)
        coef, intercept = self.coef_, self.intercept_
        if coef.ndim == 2 and len(coef) == 1:
            coef, intercept = coef[0], intercept[0]
        return margins(dense(features(self, X, reset=False)), coef, intercept)

    def pdp_loss(
        self, X: MatrixLike, y: MatrixLike = None, *, rho: float | None = None
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
        rho : float, default=None
            Probability, over the noise of the fit, that the bound fails for one row
            fixed beforehand; from 1e-300, below 1. None is 1e-6. Pure fits (delta = 0)
            do not use it: their bound fails with probability below 1e-12.

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
        return self._row_loss(X, y, check_rho(1e-6 if rho is None else rho))

    def _row_loss(
        self, X: MatrixLike, y: MatrixLike, rho: float, **question: Any
    ) -> FloatArray:
        """Bound the loss of each row by all that was released."""
        # one cheap pass: larger blocks than a fit's cost fewer calls
        block_rows = max(1, min(8192, 2**19 // self.n_features_in_))
        rows = self._query_rows(X, y, block_rows)
        release = getattr(self, "release_", None)
        return row_loss(
            self.mechanism_, self.theta_, release, rows, rho=rho, **question
        )

    def _query_rows(
        self, X: MatrixLike, y: MatrixLike, block_rows: int | None = None
    ) -> PrivateRows:
        """Return rows seen exactly as the fit saw its own."""
        ball = L2Ball(self.data_norm_, self.intercept_scaling_)
        if hasattr(self, "targets_"):
            return enter_numeric_query(self, X, y, ball, self.targets_, block_rows)
        return enter_query(self, X, y, ball, self._labels(), block_rows)

    def _labels(self) -> LabelSet:
        """Return the label set of the fit."""
        few = self.classes_.size <= 2
        return Labels(self.classes_) if few else Classes(self.classes_)

    def _theta(self) -> FloatArray:
        """Return the released vector in the mechanism's coordinates."""
        return np.ravel(self.theta_)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.non_deterministic = self.random_state is None
        return tags


def _spent(
    mechanism: ObjectiveMechanism, settings: LinearSettings, encoder: Encoder
) -> PrivacySpent:
    guarantee = mechanism.guarantee
    declared = settings.labels is not None or isinstance(encoder, Targets)
    about = assumptions_about(encoder, declared=declared)
    guarantee = replace(guarantee, assumptions=guarantee.assumptions + about)
    return PrivacySpent(
        guarantee,
        settings.delta,
        parts=(PrivacyPart(type(mechanism).__name__, guarantee),),
        releasable=not settings.source.seeded,
        level="research" if settings.source.seeded else "default",
    )
