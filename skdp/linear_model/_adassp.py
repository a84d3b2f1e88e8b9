"""Private linear regression from noisy second moments."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skdp._typing import FloatArray, MatrixLike
from skdp._validation import check_rho
from skdp.accounting import ApproximateDP, PrivacyPart, PrivacySpent
from skdp.linear_model._base import PrivateEstimatorMixin
from skdp.linear_model._disclosure import assumptions_about, warn_if_seeded
from skdp.linear_model._door import features
from skdp.linear_model._margins import dense, margins
from skdp.linear_model._numeric_door import enter_numeric_query, enter_numeric_training
from skdp.linear_model._posterior_loss import read_bounds
from skdp.linear_model._settings import Limits, LinearSettings, read_settings
from skdp.mechanisms import AdaSSP, NoisyMoments
from skdp.pdp import moments_loss
from skdp.rows import L2Ball, PrivateRows, Targets
from skdp.rows._one_person import one_person

__all__ = ["AdaSSPRegressor"]

#: Rows of any scale; a given ridge from next to nothing to more than any data.
_LIMITS = Limits(
    data_norm=(1e-50, 1e50),
    intercept_scaling=(1e-3, 1e3),
    alpha=(1e-12, 1e12),
    alpha_power=2,
    alpha_remedy="Use 'auto' for a ridge that is found from the noisy moments.",
)


@dataclass(frozen=True, slots=True)
class _Settings:
    """Checked parameters: what all linear models share, and the targets."""

    linear: LinearSettings
    target: ApproximateDP
    targets: Targets


class AdaSSPRegressor(RegressorMixin, PrivateEstimatorMixin, BaseEstimator):
    r"""Linear regression from second moments with Gaussian noise (AdaSSP).

    One release of :math:`X^\top X` and :math:`X^\top y`, with noise, from which
    coefficients are found without reading the data again. It takes one pass over the
    rows, and the released moments may be used for more than one regression.

    Parameters
    ----------
    bounds_y : tuple (low, high), default=None
        Public range of the targets, in the units of y; required. Targets beyond it are
        clipped to it in ``fit``. Never choose it by looking at the data.
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3, for the whole ``fit``, intercept
        included.
    delta : float, default=0.0
        Probability with which the bound may fail, above 0: the noise is Gaussian, and
        ``fit`` refuses the default, which would ask for pure privacy.
    data_norm : float, default=1.0
        Bound on the L2 norm of a row of X, per row, in the units of X, from 1e-50 to
        1e50. Longer rows are clipped to it in ``fit`` (not in ``predict``). It is
        public: never choose it by looking at the data.
    alpha : float or "auto", default="auto"
        Ridge added to the noisy matrix, the alpha of scikit-learn's ``Ridge``; from
        1e-12 to 1e12 times the square of ``data_norm``. ``"auto"`` finds it from the
        released moments, and lifts small eigenvalues more than large ones.
    fit_intercept : bool, default=True
        Whether to add a constant column. It is penalised and counted in the norm.
    intercept_scaling : float or "auto", default="auto"
        Value of the constant column, from 1e-3 to 1e3 times ``data_norm``; ``"auto"``
        is half of it.
    adjacency : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation of the guarantee. Replace-one needs 1.5 times the noise.
    random_state : int, Generator, RandomState or None, default=None
        None draws from the operating system. Anything else makes the fit reproducible,
        for tests: ``privacy_spent_.releasable`` is then False.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients in the units of y; made of released numbers.
    intercept_ : float
        Constant in the units of y; made of released numbers. The middle of ``bounds_y``
        where ``fit_intercept=False``.
    gram_ : ndarray of shape (n_coefficients, n_coefficients)
        Second moments of the clipped rows, the constant column last, plus noise;
        released.
    moments_ : ndarray of shape (n_coefficients,)
        Products of the clipped rows with the targets, mapped to [-1, 1], plus noise;
        released.
    alpha_ : float
        Ridge used, a function of public and released numbers.
    targets_ : Targets
        The map from ``bounds_y`` to [-1, 1]; public.
    noise_scale_ : float
        Standard deviation of the noise, in units of the products of one row of the
        largest norm; public.
    data_norm_ : float
        Bound on the norm of a row used in the fit; public.
    intercept_scaling_ : float
        Value of the constant column, 0 without intercept; public.
    smoothing_scale_ : float
        Scale of the final lattice noise, in the units of ``noise_scale_``; public.
    mechanism_ : AdaSSP
        The public constants of the release.
    privacy_spent_ : PrivacySpent
        What the fit cost.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X has string names.

    Raises
    ------
    ValueError
        From ``fit``, for ``delta=0``, a parameter out of range or missing ``bounds_y``
        (before the data is read), wrong shapes, or non-finite entries.
    TypeError
        From ``fit``, for a parameter of the wrong type.

    See Also
    --------
    ASAPRegressor : Draws from a posterior; also for ``delta=0``.
    sklearn.linear_model.Ridge : The same from moments without noise.

    Notes
    -----
    With ``alpha="auto"`` an eigenvalue e of the noisy matrix becomes
    :math:`\sqrt{\max(e, 0)^2 + \kappa^2}` instead of :math:`e + \alpha`, with kappa the
    size of the noise relative to the coefficients; the latter is found by maximum
    likelihood from the moments. See docs/proofs/adassp.md.

    .. rubric:: Privacy

    Adjacency as given. Assumes finite entries, at least one row, a public range of
    targets, and that the rounding of the noise stays below a stated bound; row norms
    are enforced, and the sums are exact. The output alone is covered; running time
    depends on the number of rows. One Gaussian release: docs/proofs/adassp.md and
    docs/proofs/smoothing.md.

    References
    ----------
    Wang, "Revisiting differentially private linear regression: optimal and adaptive
    prediction and estimation in unbounded domain", UAI 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.linear_model import AdaSSPRegressor
    >>> X = np.linspace(-1, 1, 5000).reshape(-1, 1)
    >>> y = 50 + 20 * X[:, 0]
    >>> model = AdaSSPRegressor(bounds_y=(0, 100), epsilon=2.0, delta=1e-6).fit(X, y)
    >>> bool(abs(model.predict([[0.5]])[0] - 60) < 2)
    True
    >>> epsilon, delta = model.privacy_spent_
    >>> epsilon <= 2.0, delta
    (True, 1e-06)
    >>> bool((model.pdp_loss(X, y) <= 2.0).all())
    True
    """

    _released: ClassVar[frozenset[str]] = frozenset(
        {
            "alpha_",
            "coef_",
            "data_norm_",
            "feature_names_in_",
            "gram_",
            "intercept_",
            "intercept_scaling_",
            "mechanism_",
            "moments_",
            "n_features_in_",
            "noise_scale_",
            "privacy_spent_",
            "smoothing_scale_",
            "targets_",
        }
    )

    def __init__(
        self,
        *,
        bounds_y: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
        data_norm: float = 1.0,
        alpha: Any = "auto",
        fit_intercept: bool = True,
        intercept_scaling: Any = "auto",
        adjacency: str = "add-remove",
        random_state: Any = None,
    ) -> None:
        self.bounds_y = bounds_y
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.adjacency = adjacency
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: MatrixLike = None) -> Self:
        """Release the moments, spend the budget, and solve.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or RowBlocks, (n_samples, n_features)
            Rows of finite numbers. Never copied or changed; rows longer than
            ``data_norm`` count as clipped. Row blocks bring their own targets.
        y : array-like of shape (n_samples,)
            Targets; those beyond ``bounds_y`` count as clipped.

        Returns
        -------
        self : AdaSSPRegressor
            The fitted model; it holds released values and public constants only.
        """
        settings = _read_settings(self)
        with self._whole_fit():
            self._fit(X, y, settings)
        return self

    def _fit(self, X: MatrixLike, y: MatrixLike, settings: _Settings) -> None:
        """Enter the rows, calibrate, release, and publish."""
        ball = settings.linear.ball
        rows = enter_numeric_training(self, X, y, ball, settings.targets)
        mechanism = AdaSSP.calibrate(
            settings.target, radius=ball.radius, n_coefficients=rows.n_coefficients
        )
        release = mechanism.release(rows, settings.linear.source)
        self._publish_moments(mechanism, mechanism.moments(release.output), settings)
        self._publish(
            targets_=settings.targets,
            noise_scale_=mechanism.noise_law.scale,
            data_norm_=ball.data_norm,
            intercept_scaling_=ball.intercept_scaling,
            smoothing_scale_=mechanism.smoothing.scale,
            mechanism_=mechanism,
            privacy_spent_=_spent(mechanism, settings),
        )
        warn_if_seeded(settings.linear.source)

    def _publish_moments(
        self, mechanism: AdaSSP, found: NoisyMoments, settings: _Settings
    ) -> None:
        """Publish the moments and the coefficients in the units of X and y."""
        R, alpha, targets = mechanism.radius, settings.linear.alpha, settings.targets
        given = None if alpha == "auto" else alpha / R**2
        theta, ridge = found.coefficients(given)
        slopes = targets.unit * theta / R
        coef, tail = slopes[: self.n_features_in_], slopes[self.n_features_in_ :]
        constant = settings.linear.ball.intercept_scaling
        self._publish(
            coef_=coef.copy(),
            intercept_=targets.middle + constant * float(tail.sum()),
            gram_=found.gram * R**2,
            moments_=found.moments * R,
            alpha_=ridge * R**2 if alpha == "auto" else alpha,
        )

    def predict(self, X: MatrixLike) -> FloatArray:
        """Return ``X @ coef_ + intercept_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; not clipped.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            In the units of y; not clipped to ``bounds_y``.
        """
        check_is_fitted(self)
        values = dense(features(self, X, reset=False))
        return margins(values, self.coef_, float(self.intercept_))

    def pdp_loss(
        self, X: MatrixLike, y: MatrixLike = None, *, rho: float | None = None
    ) -> FloatArray:
        """Bound what this release cost each person, from her own row alone.

        Anyone may call it about anyone, at no privacy cost: it reads the row asked
        about and public constants.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows asked about, in the data or not. One person may also be given as
            ``pdp_loss((x, y))``.
        y : array-like of shape (n_samples,)
            Their targets.
        rho : float, default=None
            Probability, over the noise of the fit, that the bound fails for one row
            fixed beforehand; from 1e-300, below 1. None is 1e-6.

        Returns
        -------
        loss : ndarray of shape (n_samples,)
            Bound on the absolute privacy loss in nats: what the row changes in the
            moments, over their noise.

        Raises
        ------
        ValueError
            If ``rho`` is out of range or the shapes do not fit.
        """
        check_is_fitted(self)
        if y is None:
            X, y = one_person(X)
        rho = check_rho(1e-6 if rho is None else rho)
        return moments_loss(self.mechanism_, self._query_rows(X, y), rho=rho)

    def _query_rows(self, X: MatrixLike, y: MatrixLike) -> PrivateRows:
        """Return rows seen exactly as the fit saw its own."""
        ball = L2Ball(self.data_norm_, self.intercept_scaling_)
        return enter_numeric_query(self, X, y, ball, self.targets_)

    def _output(self) -> FloatArray:
        """Return the released numbers in the mechanism's coordinates."""
        R = self.mechanism_.radius
        gram, moments = np.asarray(self.gram_), np.asarray(self.moments_)
        triangle = gram[np.triu_indices(len(gram))]
        return np.append(triangle / R**2, moments / R)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.input_tags.sparse = True
        tags.non_deterministic = self.random_state is None
        return tags


def _read_settings(estimator: AdaSSPRegressor) -> _Settings:
    """Check the constructor parameters; read no data."""
    linear = read_settings(estimator, _LIMITS)
    if not isinstance(linear.target, ApproximateDP):
        raise ValueError(
            f"delta is out of range, got {estimator.delta!r}. Allowed: above 0 and "
            "below 1, for the noise of AdaSSPRegressor is Gaussian. Pass a delta well "
            "below one over the number of people, for example delta=1e-6, or use "
            "ASAPRegressor for pure differential privacy."
        )
    return _Settings(linear, linear.target, read_bounds(estimator.bounds_y))


def _spent(mechanism: AdaSSP, settings: _Settings) -> PrivacySpent:
    seeded = settings.linear.source.seeded
    assumptions = assumptions_about(settings.targets)
    guarantee = mechanism.guarantee
    guarantee = replace(guarantee, assumptions=guarantee.assumptions + assumptions)
    return PrivacySpent(
        guarantee,
        settings.linear.delta,
        parts=(PrivacyPart("AdaSSP", guarantee, "X'X and X'y"),),
        releasable=not seeded,
        level="research" if seeded else "default",
    )
