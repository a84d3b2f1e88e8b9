"""What the estimators that draw from a posterior share: fit, publish, and tell."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, cast

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skdp._typing import FloatArray, MatrixLike
from skdp._validation import check_rho, warn
from skdp.accounting import PrivacySpent
from skdp.exceptions import UncertifiedPrivacyWarning
from skdp.linear_model._base import PrivateEstimatorMixin
from skdp.linear_model._disclosure import assumptions_about, warn_if_seeded
from skdp.linear_model._door import enter_query, enter_training
from skdp.linear_model._margins import dense, margins
from skdp.linear_model._numeric_door import enter_numeric_query, enter_numeric_training
from skdp.linear_model._posterior_release import (
    Released,
    calibrated,
    count_tasks,
    released,
)
from skdp.linear_model._posterior_settings import (
    PosteriorSettings,
    Route,
    read_posterior_settings,
)
from skdp.linear_model._progress import CallbackSupportMixin, Tasks
from skdp.pdp import fit_loss
from skdp.rows import L2Ball, Labels, PrivateRows, RowBlocks, Targets
from skdp.rows._one_person import one_person
from skdp.rows._sparse import SparseBlocks

__all__ = ["PosteriorMixin"]

#: Beyond this many coefficients exact draws may take longer than anybody waits.
_MOST_COEFFICIENTS = 200


class PosteriorMixin(CallbackSupportMixin, PrivateEstimatorMixin):
    """Fit, ``pdp_loss`` and margins of an estimator made of posterior draws."""

    _released: ClassVar[frozenset[str]] = frozenset(
        {
            "alpha_",
            "center_",
            "classes_",
            "coef_",
            "data_norm_",
            "draws_",
            "feature_names_in_",
            "intercept_",
            "intercept_samples_",
            "intercept_scaling_",
            "inverse_temperature_",
            "mechanism_",
            "n_features_in_",
            "privacy_spent_",
            "radius_",
            "samples_",
            "smoothing_scale_",
            "targets_",
        }
    )

    def _fit(self, X: MatrixLike, y: MatrixLike) -> None:
        """Check, and fit as a whole or not at all."""
        settings = read_posterior_settings(self)
        with self._whole_fit():
            self._fit_checked(X, y, settings)

    def _fit_checked(
        self, X: MatrixLike, y: MatrixLike, settings: PosteriorSettings
    ) -> None:
        """Calibrate, draw, and publish."""
        rows, encoder = self._enter(X, y, settings)
        mechanism = calibrated(settings, rows)
        tasks = Tasks(self, count_tasks(settings, mechanism))
        release = released(mechanism, settings, rows, tasks)
        self._publish_draws(release, encoder, settings.linear.ball)
        self._publish(
            mechanism_=mechanism, privacy_spent_=_spent(release, settings, encoder)
        )
        tasks.end()
        _warn(settings)

    def _enter(
        self, X: MatrixLike, y: MatrixLike, settings: PosteriorSettings
    ) -> tuple[PrivateRows, Labels | Targets]:
        """Return the rows of the fit; refuse too many columns before reading any."""
        ball, encoder = settings.linear.ball, settings.losses.encoder
        _check_width(settings, _n_columns(X))
        _check_dense(settings, sp.issparse(X))
        if isinstance(encoder, Targets):
            rows = enter_numeric_training(self, X, y, ball, encoder)
        else:
            rows, labels = enter_training(self, X, y, ball, encoder)
            encoder = cast(Labels, labels)
        _check_width(settings, rows.blocks.n_features)
        _check_dense(settings, isinstance(rows.blocks, SparseBlocks))
        return rows, encoder

    def _publish_draws(
        self, release: Released, encoder: Labels | Targets, ball: L2Ball
    ) -> None:
        """Publish draws in the units of y, and the public numbers of their law."""
        d, posterior = self.n_features_in_, release.posterior
        unit, middle = self._publish_encoder(encoder)
        constant = ball.intercept_scaling
        self._publish(
            draws_=release.draws,
            samples_=unit * release.draws[:, :d],
            intercept_samples_=middle + unit * constant * release.draws[:, d:].sum(1),
            center_=release.center,
            radius_=np.inf if posterior.ball is None else posterior.ball.radius,
            inverse_temperature_=posterior.inverse_temperature,
            alpha_=posterior.alpha,
            smoothing_scale_=posterior.smoothing.scale,
            data_norm_=ball.data_norm,
            intercept_scaling_=constant,
        )
        self._publish_first()

    def _publish_encoder(self, encoder: Labels | Targets) -> tuple[float, float]:
        """Publish what targets look like; return unit and middle in their units."""
        for name in ("classes_", "targets_"):
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        if isinstance(encoder, Targets):
            self._publish(targets_=encoder)
            return encoder.unit, encoder.middle
        self._publish(classes_=encoder.classes)
        return 1.0, 0.0

    def _publish_first(self) -> None:
        """Publish the first draw as the coefficients."""
        self._publish(
            coef_=self.samples_[0].copy(), intercept_=float(self.intercept_samples_[0])
        )

    def _margins(self, X: MatrixLike) -> Iterator[FloatArray]:
        """Yield the margins of checked rows at each paid draw."""
        values = dense(X)
        for coef, intercept in zip(self.samples_, self.intercept_samples_, strict=True):
            yield margins(values, coef, float(intercept))

    def pdp_loss(
        self, X: MatrixLike, y: MatrixLike = None, *, rho: float = 1e-6
    ) -> FloatArray:
        """Bound what this release cost each person, from her own row alone.

        Anyone may call it about anyone, at no privacy cost: it reads the row asked
        about, released values and public constants. All draws count, and the private
        centre where there is one.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows asked about, in the data or not. One person may also be given as
            ``pdp_loss((x, y))``.
        y : array-like of shape (n_samples,)
            Their labels or targets.
        rho : float, default=1e-6
            Probability, over the randomness of the fit, that the bound fails for one
            row fixed beforehand; from 1e-300, below 1. Pure fits (delta = 0) do not use
            it: their bound fails with probability below 1e-12 a draw.

        Returns
        -------
        loss : ndarray of shape (n_samples,)
            Bound on the absolute privacy loss in nats; 0 for an undeclared label, and
            nan for ``sampler="mala"``, of which nothing is proved.

        Raises
        ------
        ValueError
            If ``rho`` is out of range or the shapes do not fit.
        """
        check_is_fitted(self)
        if y is None:
            X, y = one_person(X)
        rho = check_rho(rho)
        rows = self._query_rows(X, y)
        loss = fit_loss(
            self.mechanism_, self.draws_, rows, center=self.center_, rho=rho
        )
        heuristic = self.privacy_spent_.grade == "heuristic"
        return np.full_like(loss, np.nan) if heuristic else loss

    def _query_rows(self, X: MatrixLike, y: MatrixLike) -> PrivateRows:
        """Return rows seen exactly as the fit saw its own."""
        ball = L2Ball(self.data_norm_, self.intercept_scaling_)
        if hasattr(self, "classes_"):
            return enter_query(self, X, y, ball, Labels(self.classes_))
        return enter_numeric_query(self, X, y, ball, self.targets_)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.non_deterministic = self.random_state is None
        return tags


def _n_columns(X: MatrixLike) -> int:
    """Return the number of columns where it is known without reading; 0 otherwise."""
    if isinstance(X, RowBlocks):
        return X.n_features
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return int(shape[1]) if len(shape) == 2 else 0


def _check_width(settings: PosteriorSettings, n_features: int) -> None:
    n_coefficients = settings.linear.ball.n_coefficients(n_features)
    if n_coefficients > _MOST_COEFFICIENTS and not settings.any_width:
        raise ValueError(
            f"X has too many columns for sampler='auto', got {n_coefficients} "
            f"coefficients. Allowed: up to {_MOST_COEFFICIENTS}, intercept included. "
            "Choose sampler='exact', whose draws may take very long, sampler='mala', "
            "which carries no guarantee, or fewer columns."
        )


def _check_dense(settings: PosteriorSettings, is_sparse: bool) -> None:
    if settings.route is Route.BOUNDED and is_sparse:
        raise ValueError(
            "constant_time=True needs dense rows, got a sparse X: time spent on it "
            "tells how many entries it has. Allowed: an array, or a DataFrame of dense "
            "columns. Convert X with X.toarray(), or a frame with "
            "X.sparse.to_dense(); or use constant_time=False."
        )


def _spent(
    release: Released, settings: PosteriorSettings, encoder: Labels | Targets
) -> PrivacySpent:
    asserted = (f"constants of {settings.losses.name} hold (asserted)",)
    assumptions = (
        *(asserted if settings.losses.is_own else ()),
        *assumptions_about(encoder, declared=settings.losses.encoder is not None),
    )
    guarantee = release.guarantee
    guarantee = replace(guarantee, assumptions=guarantee.assumptions + assumptions)
    return PrivacySpent(
        guarantee,
        settings.linear.delta,
        parts=release.parts,
        releasable=not settings.source.seeded,
        level="research" if settings.source.seeded else "default",
        grade=release.grade,
    )


def _warn(settings: PosteriorSettings) -> None:
    """Say aloud what keeps a fit from being published as private."""
    if settings.heuristic:
        warn(
            "sampler='mala' draws approximately, and how far the law of its draws is "
            "from the private one is not known: epsilon is not certified. Use "
            "sampler='auto' for exact draws.",
            UncertifiedPrivacyWarning,
        )
    warn_if_seeded(settings.source)
