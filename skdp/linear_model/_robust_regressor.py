"""Private robust linear regression by objective perturbation."""

from typing import Any, ClassVar

from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from skdp._typing import FloatArray, MatrixLike
from skdp._validation import check_choice, is_auto
from skdp.linear_model._metric import METRIC_ATTRIBUTES, check_metric
from skdp.linear_model._objective_fit import ObjectiveEstimator
from skdp.linear_model._objective_release import Problem
from skdp.linear_model._posterior_loss import read_bounds, read_scale
from skdp.linear_model._settings import LinearSettings
from skdp.losses import HuberLoss, LogCoshLoss, PseudoHuberLoss

__all__ = ["ObjPertRegressor"]

_LOSSES: dict[str, type[HuberLoss | LogCoshLoss | PseudoHuberLoss]] = {
    "log-cosh": LogCoshLoss,
    "pseudo-huber": PseudoHuberLoss,
    "huber": HuberLoss,
}


class ObjPertRegressor(RegressorMixin, ObjectiveEstimator):
    r"""Robust linear regression with a differential-privacy guarantee.

    Minimises :math:`\sum_i h(x_i\cdot\theta - t_i) + \alpha|\theta|^2/2 +
    b\cdot\theta` for one random vector ``b`` (objective perturbation), with t the
    target mapped to [-1, 1], then adds exact lattice noise that covers solver tolerance
    and rounding. The loss h is a parabola near zero and straight far out: the slope is
    bounded, as the noise needs it, and an outlier pulls no harder than any other row.

    Parameters
    ----------
    loss : {"log-cosh", "pseudo-huber", "huber"}, default="log-cosh"
        The loss h of a residual. The first two are smooth, and with ``delta > 0`` cost
        little more than a Gaussian release of one gradient. The Huber loss pays for its
        curvature out of epsilon, and needs a larger ridge.
    bounds_y : tuple (low, high), default=None
        Public range of the targets, in the units of y; required. Targets beyond it are
        clipped to it in ``fit``. Never choose it by looking at the data.
    scale : float or "auto", default="auto"
        Residual around which the loss turns from square to straight, in the units of y,
        from 1e-4 to 1e3 times half the range; ``"auto"`` is a quarter of the range. The
        noise grows in proportion; a scale far below the spread of the residuals fits a
        median instead of a mean. With a private metric ``"auto"`` is a multiple of the
        size of the residuals, from noisy sums of squares within ``epsilon``.
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3, for the whole ``fit``, intercept
        included.
    delta : float, default=0.0
        0 selects the pure mechanism; a value in (0, 1) its Gaussian version, which wins
        once there are more than about 15 coefficients.
    data_norm : float, default=1.0
        Bound on the L2 norm of a row of X, per row, in the units of X. Longer rows are
        clipped to it in ``fit`` (not in ``predict``). It is public: never choose it by
        looking at the data.
    alpha : float or "auto", default="auto"
        Ridge on the *sum* of the losses, the alpha of scikit-learn's ``Ridge``, of
        targets mapped to [-1, 1]. The value used, ``alpha_``, is never below the floor
        that the guarantee needs; ``"auto"`` is 1.05 times that floor (4 times under
        replace-one with ``delta > 0``), or 5 times for the Huber loss.
    fit_intercept : bool, default=True
        Whether to add a constant column. It is penalised and counted in the norm.
    intercept_scaling : float or "auto", default="auto"
        Value of the constant column; ``"auto"`` is half of ``data_norm``.
    adjacency : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation of the guarantee.
    metric : {"auto", "private", "identity"}, default="auto"
        "private" spends a seventh of the budget on noisy second moments of the rows and
        a centre, then fits in the metric they give: smaller errors where columns are
        correlated or of unequal size. It needs ``delta > 0``, add-remove,
        ``loss="log-cosh"``, ``alpha="auto"`` and
        ``conservative=False``. Rows far out in the metric weigh less than one. "auto"
        is "private" where these hold and there are 10 to 2,048 coefficients, intercept
        included, else "identity".
    conservative : bool, default=False
        Whether to calibrate by the published bound instead of the sharper one proved
        here: more noise and a larger ridge. Needs ``delta > 0`` and add-remove.
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
    theta_ : ndarray of shape (n_coefficients,)
        The same in the mechanism's coordinates: those of mapped targets, the
        intercept's coordinate last, divided by ``intercept_scaling_``; released.
    targets_ : Targets
        The map from ``bounds_y`` to [-1, 1]; public.
    alpha_ : float
        Ridge used; public. Of a private metric, the one in the metric; released.
    noise_scale_ : float
        Standard deviation of the Gaussian noise, or scale (inverse rate) of the K-norm
        noise; public. Of a private metric, that of the last objective, where one row
        has a gradient of at most one.
    data_norm_ : float
        Bound on the norm of a row used in the fit; public.
    intercept_scaling_ : float
        Value of the constant column, 0 without intercept; public.
    smoothing_scale_ : float
        Scale of the final lattice noise per coordinate; public. Of a private metric,
        in the metric.
    metric_ : ndarray of shape (n_coefficients, n_coefficients), or None
        Noisy second moments of clipped rows over the bound of their norm, intercept
        column last; released. None with the identity metric, as the next three.
    center_ : ndarray of shape (n_coefficients,)
        Coefficients from the noisy gradient at zero, around which the objective is
        penalised, in the coordinates of ``theta_``; released. Zero where by the noisy
        sums they explain nothing.
    budget_ : tuple of BudgetPart
        A row for each release: ``name``, ``mu``, and ``share`` of the squared size.
    release_ : PreconditionedRelease
        Everything the fit published together.
    mechanism_ : ObjectivePerturbation or PreconditionedObjectivePerturbation
        The public constants of the release.
    privacy_spent_ : PrivacySpent
        What the fit cost, computed from the noise used.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X has string names.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter out of range, missing ``bounds_y`` or
        ``conservative=True`` without a published bound (before the data is read), wrong
        shapes, or non-finite entries.
    TypeError
        From ``fit``, for a parameter of the wrong type.

    See Also
    --------
    AdaSSPRegressor : Least squares from noisy moments, which may be used again.
    ASAPRegressor : Draws from a posterior; also for the squared loss.
    ObjPertQuantileRegressor : Other quantiles than the median.
    sklearn.linear_model.HuberRegressor : A non-private counterpart.

    Notes
    -----
    .. rubric:: Privacy

    Adjacency as given. Assumes finite entries, at least one row, a public range of
    targets, and that the rounding error of the computed gradient stays below the
    solver's tolerance; row norms are enforced. Running time is not covered. The slope
    of these losses takes both signs for one target, which doubles delta when a row is
    added. Theorems and proofs: docs/proofs/objective_perturbation.md and
    docs/proofs/smoothing.md; of the private metric: docs/proofs/preconditioned.md.

    References
    ----------
    Chaudhuri, Monteleoni & Sarwate, Differentially private empirical risk
    minimization, JMLR 2011. Kifer, Smith & Thakurta, Private convex empirical risk
    minimization and high-dimensional regression, COLT 2012. Redberg, Koskela & Wang,
    Improving the privacy and practicality of objective perturbation for differentially
    private linear learners, NeurIPS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.linear_model import ObjPertRegressor
    >>> X = np.linspace(-1, 1, 5000).reshape(-1, 1)
    >>> y = 50 + 20 * X[:, 0]
    >>> model = ObjPertRegressor(bounds_y=(0, 100), epsilon=2.0, delta=1e-6).fit(X, y)
    >>> bool(abs(model.predict([[0.5]])[0] - 60) < 2)
    True
    >>> epsilon, delta = model.privacy_spent_
    >>> epsilon <= 2.0, delta
    (True, 1e-06)
    >>> model.pdp_loss(X, y).shape
    (5000,)
    """

    _released: ClassVar[frozenset[str]] = (
        ObjectiveEstimator._released | METRIC_ATTRIBUTES
    )

    def __init__(
        self,
        *,
        loss: str = "log-cosh",
        bounds_y: Any = None,
        scale: Any = "auto",
        epsilon: float = 1.0,
        delta: float = 0.0,
        data_norm: float = 1.0,
        alpha: Any = "auto",
        fit_intercept: bool = True,
        intercept_scaling: Any = "auto",
        adjacency: str = "add-remove",
        metric: str = "auto",
        conservative: bool = False,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.bounds_y = bounds_y
        self.scale = scale
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.adjacency = adjacency
        self.metric = metric
        self.conservative = conservative
        self.random_state = random_state

    def _problem(self, settings: LinearSettings) -> Problem:
        remedy = "Use 'log-cosh', which needs the least noise."
        check_choice("loss", self.loss, list(_LOSSES), remedy=remedy)
        targets = read_bounds(self.bounds_y)
        loss = _LOSSES[self.loss](scale=read_scale(self.scale, targets))
        return Problem(
            loss,
            targets,
            metric=check_metric(self.metric, settings, loss),
            scale="auto" if is_auto(self.scale) else "loss",
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
        return self._line(X)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags
