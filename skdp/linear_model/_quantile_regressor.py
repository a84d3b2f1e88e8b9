"""Private quantile regression by objective perturbation."""

from typing import Any

from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from skdp._typing import FloatArray, MatrixLike
from skdp._validation import check_positive, is_auto
from skdp.linear_model._objective_fit import ObjectiveEstimator
from skdp.linear_model._objective_release import Problem
from skdp.linear_model._posterior_loss import read_bounds
from skdp.linear_model._settings import LinearSettings, read_quantile
from skdp.losses import SmoothedQuantileLoss
from skdp.rows import Targets

__all__ = ["ObjPertQuantileRegressor"]

#: Width of the corner where it is "auto", and its range, in units of half the range of
#: y. The default loses little where residuals spread over a tenth of it or more.
_AUTO, _LEAST, _MOST = 0.02, 1e-4, 1e2


class ObjPertQuantileRegressor(RegressorMixin, ObjectiveEstimator):
    r"""Linear quantile regression with a differential-privacy guarantee.

    Minimises :math:`\sum_i h(x_i\cdot\theta - t_i) + \alpha|\theta|^2/2 +
    b\cdot\theta` for one random vector ``b`` (objective perturbation), with t the
    target mapped to [-1, 1], then adds exact lattice noise that covers solver tolerance
    and rounding. The loss h is the pinball loss with a rounded corner.

    Parameters
    ----------
    quantile : float, default=0.5
        Which quantile, from 1e-6 to 1 - 1e-6; 0.5 is the median.
    bounds_y : tuple (low, high), default=None
        Public range of the targets, in the units of y; required. Targets beyond it are
        clipped to it in ``fit``. Never choose it by looking at the data.
    width : float or "auto", default="auto"
        Width of the rounded corner of the loss, in the units of y, from 1e-4 to 100
        times half the range; ``"auto"`` is a hundredth of the range. What is fitted is
        the quantile of y plus logistic noise of that scale: a wider corner moves outer
        quantiles further out, a narrower one needs a larger ridge.
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
        Ridge on the *sum* of the losses, of targets mapped to [-1, 1]. The value used,
        ``alpha_``, is never below the floor that the guarantee needs; ``"auto"`` is
        1.05 times that floor (4 times under replace-one with ``delta > 0``).
    fit_intercept : bool, default=True
        Whether to add a constant column. It is penalised and counted in the norm.
    intercept_scaling : float or "auto", default="auto"
        Value of the constant column; ``"auto"`` is half of ``data_norm``.
    adjacency : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation of the guarantee.
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
        Ridge used; public.
    noise_scale_ : float
        Standard deviation of the Gaussian noise, or scale (inverse rate) of the K-norm
        noise; public.
    data_norm_ : float
        Bound on the norm of a row used in the fit; public.
    intercept_scaling_ : float
        Value of the constant column, 0 without intercept; public.
    smoothing_scale_ : float
        Scale of the final lattice noise per coordinate; public.
    mechanism_ : ObjectivePerturbation
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
    KNGQuantileRegressor : The pinball loss itself, for one or two columns.
    ObjPertRegressor : Means and medians.
    sklearn.linear_model.QuantileRegressor : Its non-private counterpart.

    Notes
    -----
    The ridge draws coefficients to zero, the intercept included: predictions of an
    outer quantile lie too near the middle of ``bounds_y`` where there are few rows.

    .. rubric:: Privacy

    Adjacency as given. Assumes finite entries, at least one row, a public range of
    targets, and that the rounding error of the computed gradient stays below the
    solver's tolerance; row norms are enforced. Running time is not covered. The slope
    of the loss takes both signs for one target, -quantile and 1 - quantile: when a row
    is added, the smaller of them adds to delta. Theorems and proofs:
    docs/proofs/objective_perturbation.md and docs/proofs/smoothing.md.

    References
    ----------
    Chaudhuri, Monteleoni & Sarwate, Differentially private empirical risk
    minimization, JMLR 2011. Redberg, Koskela & Wang, Improving the privacy and
    practicality of objective perturbation for differentially private linear learners,
    NeurIPS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.linear_model import ObjPertQuantileRegressor
    >>> X = np.tile([[-0.8], [0.8]], (5000, 1))
    >>> y = 50 + 20 * X[:, 0] + 10 * np.repeat([-1.0, 0.0, 0.0, 1.0], 2500)
    >>> upper = ObjPertQuantileRegressor(
    ...     quantile=0.8, bounds_y=(0, 100), epsilon=2.0, delta=1e-6)
    >>> above = y <= upper.fit(X, y).predict(X)
    >>> bool(0.7 < above.mean() < 0.9)
    True
    >>> epsilon, delta = upper.privacy_spent_
    >>> epsilon <= 2.0, delta
    (True, 1e-06)
    """

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        bounds_y: Any = None,
        width: Any = "auto",
        epsilon: float = 1.0,
        delta: float = 0.0,
        data_norm: float = 1.0,
        alpha: Any = "auto",
        fit_intercept: bool = True,
        intercept_scaling: Any = "auto",
        adjacency: str = "add-remove",
        conservative: bool = False,
        random_state: Any = None,
    ) -> None:
        self.quantile = quantile
        self.bounds_y = bounds_y
        self.width = width
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.adjacency = adjacency
        self.conservative = conservative
        self.random_state = random_state

    def _problem(self, settings: LinearSettings) -> Problem:
        del settings
        quantile = read_quantile(self.quantile)
        targets = read_bounds(self.bounds_y)
        width = _width(self.width, targets)
        return Problem(SmoothedQuantileLoss(quantile=quantile, width=width), targets)

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
        return self._line(X)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


def _width(width: object, targets: Targets) -> float:
    """Return the width of the corner on encoded targets."""
    if is_auto(width):
        return _AUTO
    number = check_positive(
        "width",
        width,
        minimum=_LEAST * targets.unit,
        maximum=_MOST * targets.unit,
        remedy="It is in the units of y; use 'auto' for a hundredth of bounds_y.",
        or_auto=True,
    )
    return number / targets.unit
