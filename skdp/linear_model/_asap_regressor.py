"""Private linear regression by draws from its posterior."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skdp._typing import FloatArray, MatrixLike
from skdp._validation import check_flag
from skdp.linear_model._door import features
from skdp.linear_model._margins import dense, margins
from skdp.linear_model._posterior_fit import PosteriorMixin
from skdp.linear_model._progress import with_callbacks

__all__ = ["ASAPRegressor"]


class ASAPRegressor(RegressorMixin, PosteriorMixin, BaseEstimator):
    r"""Linear regression by private draws from a posterior.

    A draw has the density proportional to :math:`\exp(-\gamma(\sum_i
    h(x_i\cdot\theta - t_i) + \alpha|\theta|^2/2))`, with t the target mapped to
    [-1, 1], on a public ball, on a ball around a private centre, or on the whole space.
    It is exact, and private by the temperature alone; no noise is added but that of the
    last lattice step.

    Parameters
    ----------
    loss : {"squared", "huber", "log-cosh"} or loss, default="squared"
        The loss h of a residual. The squared loss needs a ball. An object of
        :mod:`skdp.losses` has its own scale, and sees targets mapped to plus or minus
        its ``target_bound``.
    bounds_y : tuple (low, high), default=None
        Public range of the targets, in the units of y; required. Targets beyond it are
        clipped to it in ``fit``. Never choose it by looking at the data.
    scale : float or "auto", default="auto"
        Residual beyond which the Huber and log-cosh losses are nearly linear, in the
        units of y, from 1e-4 to 1e3 times half the range; ``"auto"`` is a quarter of
        the range. Refused with other losses, and where it is below 1e-5 times
        ``radius * data_norm`` times half the range.
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3, for the whole ``fit``: all
        ``n_samples`` draws together, the centre and the intercept included.
    delta : float, default=0.0
        0 selects pure draws; a value in (0, 1) Gaussian ones, which need no ball.
    data_norm : float, default=1.0
        Bound on the L2 norm of a row of X, per row, in the units of X, from 1e-20 to
        1e20. Longer rows are clipped to it in ``fit`` (not in ``predict``). It is
        public: never choose it by looking at the data.
    alpha : float or "auto", default="auto"
        Ridge on the *sum* of the losses, the alpha of scikit-learn's ``Ridge``; from
        1e-12 to 1e9 times the square of ``data_norm``. It is one of targets mapped to
        [-1, 1]. ``"auto"`` makes the posterior of no rows about as wide as the ball or,
        where there is none, as 3 over the norm of a row.
    radius : float or "auto", default="auto"
        Radius of a public ball of coefficient vectors, intercept over
        ``intercept_scaling_`` included; from 1e-6 to 1e4 over ``data_norm``. It is one
        of targets mapped to [-1, 1]: where y = a + b x, that of b over half the range
        of ``bounds_y``. ``"auto"`` is the whole space for ``delta > 0``, and 3 over
        ``data_norm`` otherwise.
    localize : bool or "auto", default="auto"
        Whether half of the budget buys a private centre, around which the draws have a
        smaller ball, within ``radius`` of zero (3 over ``data_norm`` when that is
        ``"auto"``). ``"auto"`` does so for pure draws without a radius where public
        numbers tell that the ball becomes at least four times smaller.
    sampler : {"auto", "exact", "mala"}, default="auto"
        ``"auto"`` draws exactly, and refuses more than 200 coefficients; ``"exact"``
        draws however long it takes. ``"mala"`` is a heuristic, and hundreds of times
        slower on small tables: the fit warns, ``privacy_spent_.epsilon`` is nan, and
        ``privacy_spent_.nominal_epsilon`` is what exact draws would have cost.
    n_samples : int, default=1
        How many draws, all made and paid for in ``fit``; from 1 to 100,000, and
        ``epsilon / n_samples`` at least 1e-9.
    constant_time : bool, default=False
        Whether the work of a fit is a public number. Needs a radius, dense X, exact
        draws, no ``localize``, and ``adjacency="replace-one"`` or ``n_max``. Where the
        work would be too much, the fit is refused, and so is the Huber loss unless
        all residuals of the ball are within its scale.
    n_max : int, default=None
        Public bound on the number of rows, for ``constant_time`` only; more rows are
        an error.
    fit_intercept : bool, default=True
        Whether to add a constant column. It is penalised and counted in the norm.
    intercept_scaling : float or "auto", default="auto"
        Value of the constant column, from 1e-3 to 1e3 times ``data_norm``; ``"auto"``
        is half of it.
    adjacency : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation of the guarantee.
    random_state : int, Generator, RandomState or None, default=None
        None draws from the operating system. Anything else makes the fit reproducible,
        for tests: ``privacy_spent_.releasable`` is then False.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of the first draw in the units of y; released.
    intercept_ : float
        Constant of the first draw in the units of y; released. The middle of
        ``bounds_y`` where ``fit_intercept=False``.
    samples_ : ndarray of shape (n_samples, n_features)
        Coefficients of all draws in the units of y; released.
    intercept_samples_ : ndarray of shape (n_samples,)
        Constants of all draws in the units of y; released.
    draws_ : ndarray of shape (n_samples, n_coefficients)
        The same in the mechanism's coordinates: those of mapped targets, the
        intercept's coordinate last, divided by ``intercept_scaling_``; released.
    targets_ : Targets
        The map from ``bounds_y`` to the scale of the loss; public.
    inverse_temperature_ : float
        Factor of the objective in the log density of a draw; public.
    alpha_ : float
        Ridge used; public.
    radius_ : float
        Radius of the ball, inf for the whole space; a function of public numbers and
        of ``center_``.
    center_ : ndarray of shape (n_coefficients,)
        The private centre in the mechanism's coordinates, which is released; zero where
        there is none. The ball is around it, moved to within ``radius`` of zero.
    data_norm_ : float
        Bound on the norm of a row used in the fit; public.
    intercept_scaling_ : float
        Value of the constant column, 0 without intercept; public.
    smoothing_scale_ : float
        Scale of the final lattice noise per coordinate; public.
    mechanism_ : GibbsPosterior, LocalizedPosterior or BoundedPosterior
        The public constants of the release.
    privacy_spent_ : PrivacySpent
        What the fit cost; one part for the centre, where private, and one for the
        draws.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X has string names.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter out of range, missing ``bounds_y`` or a
        combination that has no guarantee (before the data is read), wrong shapes, or
        non-finite entries.
    TypeError
        From ``fit``, for a parameter of the wrong type.

    See Also
    --------
    sklearn.linear_model.BayesianRidge : A non-private posterior.

    Notes
    -----
    ``predict`` is the mean over all paid draws; with one draw, ``X @ coef_ +
    intercept_``. Its standard deviation over the draws tells how far the posterior
    spreads: it holds the temperature, so the privacy, and no noise of new targets.

    On scikit-learn 1.9 and later, callbacks set by ``set_callbacks`` are told of the
    draws, in at most 20 batches, and of the centre. A callback's wish to stop is not
    heard, since all draws are paid for.

    .. rubric:: Privacy

    Adjacency as given. Assumes finite entries, at least one row, a public range of
    targets, and that rounding stays below stated bounds; row norms are enforced. The
    output alone is covered: running time depends on the data unless ``constant_time``
    is set.
    The theorems (oscillation of the loss on a ball; strong convexity on the whole
    space) and their proofs: docs/proofs/posterior_sampling.md,
    docs/proofs/localized_posterior.md and docs/proofs/smoothing.md.

    References
    ----------
    Lin, Ma, Wang and others, Tractable MCMC for private learning with pure and
    Gaussian differential privacy, ICLR 2024. Gopi, Lee & Liu, Private convex
    optimization via exponential mechanism, COLT 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.linear_model import ASAPRegressor
    >>> X = np.linspace(-1, 1, 5000).reshape(-1, 1)
    >>> y = 50 + 20 * X[:, 0]
    >>> model = ASAPRegressor(
    ...     bounds_y=(0, 100), epsilon=20.0, radius=2.0, n_samples=2).fit(X, y)
    >>> mean, std = model.predict([[0.5]], return_std=True)
    >>> bool(abs(mean[0] - 60) < 5), std.shape
    (True, (1,))
    >>> epsilon, delta = model.privacy_spent_
    >>> epsilon <= 20.0, delta
    (True, 0.0)
    >>> bool((model.pdp_loss(X, y) <= epsilon).all())
    True
    """

    def __init__(
        self,
        *,
        loss: Any = "squared",
        bounds_y: Any = None,
        scale: Any = "auto",
        epsilon: float = 1.0,
        delta: float = 0.0,
        data_norm: float = 1.0,
        alpha: Any = "auto",
        radius: Any = "auto",
        localize: Any = "auto",
        sampler: str = "auto",
        n_samples: int = 1,
        constant_time: bool = False,
        n_max: Any = None,
        fit_intercept: bool = True,
        intercept_scaling: Any = "auto",
        adjacency: str = "add-remove",
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.bounds_y = bounds_y
        self.scale = scale
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.alpha = alpha
        self.radius = radius
        self.localize = localize
        self.sampler = sampler
        self.n_samples = n_samples
        self.constant_time = constant_time
        self.n_max = n_max
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.adjacency = adjacency
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: MatrixLike, y: MatrixLike = None) -> Self:
        """Make all draws and spend the budget.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or RowBlocks, (n_samples, n_features)
            Rows of finite numbers. Never copied or changed; rows longer than
            ``data_norm`` count as clipped. Row blocks bring their own targets.
        y : array-like of shape (n_samples,)
            Targets; those beyond ``bounds_y`` count as clipped.

        Returns
        -------
        self : ASAPRegressor
            The fitted model; it holds released values and public constants only.
        """
        self._fit(X, y)
        return self

    def predict(
        self, X: MatrixLike, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return the mean of the paid draws' predictions, and their spread.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; not clipped.
        return_std : bool, default=False
            Whether to return the standard deviation over the draws too, which takes
            at least two of them.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            In the units of y; not clipped to ``bounds_y``.
        std : ndarray of shape (n_samples,)
            With ``return_std``: of the posterior of the regression function, in the
            units of y.

        Raises
        ------
        ValueError
            If ``return_std`` is set and there is one draw only.
        TypeError
            If ``return_std`` is no bool.
        """
        check_is_fitted(self)
        remedy = "Use True for the spread over the draws."
        return_std = check_flag("return_std", return_std, remedy=remedy)
        n_draws = len(self.samples_)
        if return_std and n_draws < 2:
            raise ValueError(
                "return_std=True needs several draws, got a fit with n_samples=1. "
                "Allowed: n_samples >= 2. Fit with more draws; they share epsilon."
            )
        values = dense(features(self, X, reset=False))
        middle = self.samples_.mean(axis=0), self.intercept_samples_.mean()
        mean = margins(values, middle[0], float(middle[1]))
        if not return_std:
            return mean
        squares = np.zeros(mean.size)
        for coef, intercept in zip(self.samples_, self.intercept_samples_, strict=True):
            off = margins(values, coef - middle[0], float(intercept - middle[1]))
            squares += off * off
        return mean, np.sqrt(squares / (n_draws - 1))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags
