"""Private quantile regression for few columns."""

import warnings
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skdp._typing import FloatArray, MatrixLike
from skdp.accounting import PrivacyPart, PrivacySpent
from skdp.exceptions import NotForReleaseWarning
from skdp.linear_model._base import PrivateEstimatorMixin
from skdp.linear_model._door import features
from skdp.linear_model._kng_settings import KNGSettings, read_kng_settings
from skdp.linear_model._margins import margins
from skdp.linear_model._numeric_door import enter_numeric_training
from skdp.mechanisms import KNGRegression

__all__ = ["KNGQuantileRegressor"]


class KNGQuantileRegressor(RegressorMixin, PrivateEstimatorMixin, BaseEstimator):
    r"""Linear quantile regression with a differential-privacy guarantee.

    Coefficients at which the gradient of the pinball loss is small are likely to be
    drawn (K-norm gradient mechanism). They lie in a public box, which is cut into cells
    for up to three coefficients, intercept included. With more of them the draw is from
    ``n_candidates`` fixed points of the box, which is coarse: this estimator is meant
    for one or two columns.

    Parameters
    ----------
    quantile : float, default=0.5
        Which quantile, from 1e-6 to 1 - 1e-6; 0.5 is the median.
    bounds_y : tuple (low, high), default=None
        Public range of the targets, in the units of y; required. Targets beyond
        it are clipped to it in ``fit``. Never choose it by looking at the data.
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3, for the whole ``fit``, intercept
        included.
    data_norm : float, default=1.0
        Bound on the L2 norm of a row of X, per row, in the units of X. Longer rows are
        clipped to it in ``fit`` (not in ``predict``). It is public: never choose it by
        looking at the data.
    radius : float, default=2.0
        Bound on each coefficient in size, in half the range of y per ``data_norm``;
        public. The intercept lies within ``bounds_y``. There is no law without it.
    n_candidates : int, default=4096
        Most cells, or points, that are scored; up to 65536.
    fit_intercept : bool, default=True
        Whether to add a constant column. It is counted in the norm.
    intercept_scaling : float or "auto", default="auto"
        Value of the constant column; ``"auto"`` is half of ``data_norm``.
    adjacency : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation of the guarantee.
    random_state : int, Generator, RandomState or None, default=None
        None draws from the operating system. Anything else makes the fit reproducible,
        for tests: ``privacy_spent_.releasable`` is then False.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients in the units of y; released.
    intercept_ : float
        Constant in the units of y; released. The middle of ``bounds_y`` where
        ``fit_intercept=False``.
    data_norm_ : float
        Bound on the norm of a row used in the fit; public.
    intercept_scaling_ : float
        Value of the constant column, 0 without intercept; public.
    mechanism_ : KNGRegression
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
        From ``fit``, for a parameter out of range or missing ``bounds_y`` (before the
        data is read), wrong shapes, or non-finite entries.
    TypeError
        From ``fit``, for a parameter of the wrong type.

    See Also
    --------
    sklearn.linear_model.QuantileRegressor : Its non-private counterpart.
    skdp.mechanisms.QuantileMechanism : Quantiles of numbers without columns.

    Notes
    -----
    .. rubric:: Privacy

    Pure epsilon, adjacency as given. Assumes finite entries, at least one row and fewer
    than 2^31, and a public range of targets; row norms are enforced. The release is
    exact integer arithmetic and needs no smoothing. The output alone is covered:
    running time depends on the number of rows. Proof in
    docs/proofs/kng_regression.md and docs/proofs/box_exponential.md.

    References
    ----------
    Reimherr and Awan, "KNG: the K-norm gradient mechanism", NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.linear_model import KNGQuantileRegressor
    >>> x = np.linspace(-1, 1, 4000)
    >>> spread = np.tile([-1.0, -0.5, 0.5, 1.0], 1000)
    >>> y = 50 + 20 * x + 10 * spread
    >>> model = KNGQuantileRegressor(bounds_y=(0, 100), epsilon=1.0)
    >>> model.fit(x[:, None], y).predict([[0.5]]).shape
    (1,)
    >>> bool(abs(model.coef_[0] - 20) < 10)
    True
    >>> model.privacy_spent_.epsilon
    1.0
    """

    _released: ClassVar[frozenset[str]] = frozenset(
        {
            "coef_",
            "data_norm_",
            "feature_names_in_",
            "intercept_",
            "intercept_scaling_",
            "mechanism_",
            "n_features_in_",
            "privacy_spent_",
        }
    )

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        bounds_y: Any = None,
        epsilon: float = 1.0,
        data_norm: float = 1.0,
        radius: float = 2.0,
        n_candidates: int = 4096,
        fit_intercept: bool = True,
        intercept_scaling: Any = "auto",
        adjacency: str = "add-remove",
        random_state: Any = None,
    ) -> None:
        self.quantile = quantile
        self.bounds_y = bounds_y
        self.epsilon = epsilon
        self.data_norm = data_norm
        self.radius = radius
        self.n_candidates = n_candidates
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.adjacency = adjacency
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: MatrixLike = None) -> Self:
        """Draw the coefficients and spend the budget.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or RowBlocks, (n_samples, n_features)
            Rows of finite numbers. Never copied or changed; rows longer than
            ``data_norm`` count as clipped. Row blocks bring their own targets.
        y : array-like of shape (n_samples,)
            Targets; those beyond ``bounds_y`` count as clipped.

        Returns
        -------
        self : KNGQuantileRegressor
            The fitted model; it holds released values and public constants only.
        """
        settings = read_kng_settings(self)
        rows = enter_numeric_training(self, X, y, settings.ball, settings.targets)
        mechanism = KNGRegression.calibrate(
            settings.target,
            radius=settings.ball.radius,
            box=settings.box(self.n_features_in_),
            quantile=settings.quantile,
            n_candidates=settings.n_candidates,
        )
        release = mechanism.release(rows, settings.source)
        self._publish_fit(release.output, mechanism, settings)
        return self

    def _publish_fit(
        self, theta: FloatArray, mechanism: KNGRegression, settings: KNGSettings
    ) -> None:
        constant, targets = settings.ball.intercept_scaling, settings.targets
        half = 0.5 * (targets.high - targets.low)
        slopes, tail = theta[: self.n_features_in_], theta[self.n_features_in_ :]
        self._publish(
            coef_=half * slopes,
            intercept_=targets.low + half * (1.0 + constant * float(np.sum(tail))),
            data_norm_=settings.ball.data_norm,
            intercept_scaling_=constant,
            mechanism_=mechanism,
            privacy_spent_=_spent(mechanism, settings),
        )
        if settings.source.seeded:
            warnings.warn(
                "the coefficients came from random_state, so whoever knows it can "
                "repeat the draw: this fit is for tests, not for release. Leave "
                "random_state=None to publish.",
                NotForReleaseWarning,
                stacklevel=3,
            )

    def predict(self, X: MatrixLike) -> FloatArray:
        """Return the quantile of y that the model gives each row.

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
        X = features(self, X, reset=False)
        values = X.to_numpy(dtype=np.float64) if hasattr(X, "to_numpy") else X
        return margins(values, self.coef_, float(self.intercept_))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.input_tags.sparse = True
        tags.non_deterministic = self.random_state is None
        return tags


def _spent(mechanism: KNGRegression, settings: KNGSettings) -> PrivacySpent:
    low, high = settings.targets.low, settings.targets.high
    guarantee = mechanism.guarantee
    assumptions = (
        *guarantee.assumptions,
        f"the range of targets ({low:g}, {high:g}) is public (enforced by clipping)",
        "all entries are finite",
        "there is at least one row",
    )
    guarantee = replace(guarantee, assumptions=assumptions)
    return PrivacySpent(
        guarantee,
        0.0,
        parts=(PrivacyPart("KNGRegression", guarantee),),
        releasable=not settings.source.seeded,
        level="research" if settings.source.seeded else "exact",
    )
