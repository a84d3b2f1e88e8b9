"""Private Poisson regression by objective perturbation."""

import math
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_tweedie_score
from sklearn.utils import Tags

from skdp._typing import FloatArray, MatrixLike
from skdp.linear_model._objective_fit import ObjectiveEstimator
from skdp.linear_model._objective_release import Problem
from skdp.linear_model._posterior_loss import read_bounds
from skdp.linear_model._settings import LinearSettings
from skdp.losses import ClippedPoissonLoss
from skdp.rows import Counts

__all__ = ["ObjPertPoissonRegressor"]

#: The ridge draws the rate to the largest count over this: a plausible one, where the
#: bound was chosen so that few counts are cut.
_TYPICAL = 4.0
#: Rates that are scored are at least this part of the largest count.
_LEAST = 1e-200


class ObjPertPoissonRegressor(RegressorMixin, ObjectiveEstimator):
    r"""Poisson regression with a differential-privacy guarantee.

    Counts have the rate :math:`\exp(x\cdot w + c)`. Minimises half the Poisson
    deviance, summed over rows, plus a ridge and one random linear term (objective
    perturbation), then adds exact lattice noise that covers solver tolerance and
    rounding. Rates beyond the upper bound of the counts count as if they grew no
    steeper: the slope of the deviance has no bound otherwise.

    Parameters
    ----------
    bounds_y : tuple (0, high), default=None
        Public range of the counts, in the units of y; required, from 0. Counts beyond
        it are clipped to it in ``fit``, and so are rates in ``predict``. The noise
        grows in proportion, so a bound that cuts a few large counts may well pay. Never
        choose it by looking at the data.
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
        Ridge on the *sum* of the losses, half deviances of counts in units of a quarter
        of the upper bound. The value used, ``alpha_``, is never below the floor that
        the guarantee needs; ``"auto"`` is 5 times that floor.
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
        Coefficients of the log rate; released.
    intercept_ : float
        Constant of the log rate; released. The log of a quarter of the upper bound
        where ``fit_intercept=False``.
    theta_ : ndarray of shape (n_coefficients,)
        The released vector: the coefficients, and what the constant differs from the
        log of a quarter of the upper bound, over ``intercept_scaling_``.
    targets_ : Counts
        The map from ``bounds_y`` to [0, 4]; public.
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
        From ``fit``, for a parameter out of range, missing ``bounds_y``, one that does
        not begin at 0, or ``conservative=True`` without a published bound (before the
        data is read), wrong shapes, or non-finite entries.
    TypeError
        From ``fit``, for a parameter of the wrong type.

    See Also
    --------
    ObjPertRegressor : Numbers of any sign, and less noise.
    sklearn.linear_model.PoissonRegressor : Its non-private counterpart.

    Notes
    -----
    The ridge draws all rates to a quarter of the upper bound, the constant included.

    .. rubric:: Privacy

    Adjacency as given. Assumes finite entries, at least one row, a public range of
    counts, and that the rounding error of the computed gradient stays below the
    solver's tolerance; row norms are enforced. Running time is not covered. The slope
    of the loss takes both signs for one count, which doubles delta when a row is added,
    and a tenth of epsilon pays for its curvature by default. Theorems and proofs:
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
    >>> from skdp.linear_model import ObjPertPoissonRegressor
    >>> X = np.tile([[-0.9], [0.9]], (10_000, 1))
    >>> y = np.tile([1.0, 4.0, 2.0, 3.0], 5000)
    >>> model = ObjPertPoissonRegressor(bounds_y=(0, 8), epsilon=2.0, delta=1e-6)
    >>> low, high = model.fit(X, y).predict([[-0.9], [0.9]])
    >>> bool(1.2 < low < 1.8), bool(3.0 < high < 4.0)
    (True, True)
    >>> epsilon, delta = model.privacy_spent_
    >>> epsilon <= 2.0, delta
    (True, 1e-06)
    """

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
        conservative: bool = False,
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
        self.conservative = conservative
        self.random_state = random_state

    def _problem(self, settings: LinearSettings) -> Problem:
        del settings
        counts = Counts(_highest(self.bounds_y), bound=_TYPICAL)
        loss = ClippedPoissonLoss(
            max_log_rate=math.log(_TYPICAL), target_bound=_TYPICAL
        )
        return Problem(loss, counts)

    def _units(self) -> tuple[float, float]:
        """Return 1 and the log of what one encoded unit is worth: rates are mapped."""
        return 1.0, math.log(self.targets_.unit)

    def predict(self, X: MatrixLike) -> FloatArray:
        """Return the rate ``exp(X @ coef_ + intercept_)``, at most the upper bound.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; not clipped.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            In the units of y, within ``bounds_y``.
        """
        line = self._line(X)
        high = self.targets_.high
        # what is cut before exp, so that nothing overflows, is cut again after it
        line = np.minimum(line, math.log(high) + 1.0)
        rate: FloatArray = np.minimum(np.exp(line), high)
        return rate

    def score(
        self, X: MatrixLike, y: MatrixLike, sample_weight: MatrixLike = None
    ) -> float:
        """Return the share of the Poisson deviance of y that the rates explain.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Counts, not negative.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        score : float
            D^2, 1 at best; that of the mean of y is 0.
        """
        # the deviance of a rate of 0 is infinite
        rate = np.maximum(self.predict(X), _LEAST * self.targets_.high)
        return float(d2_tweedie_score(y, rate, sample_weight=sample_weight, power=1))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


def _highest(bounds: Any) -> float:
    """Return the largest count of a public range, which begins at zero."""
    targets = read_bounds(bounds)
    if targets.low != 0.0:
        raise ValueError(
            f"bounds_y must begin at 0 for counts, got {bounds!r}. Allowed: (0, high) "
            "with high > 0. Declare the largest count that matters; more are clipped."
        )
    return targets.high
