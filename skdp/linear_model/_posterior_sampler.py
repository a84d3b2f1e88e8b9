"""Private draws from a posterior, to be used as the user sees fit."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_is_fitted

from skdp._typing import FloatArray, MatrixLike
from skdp._validation import check_count
from skdp.exceptions import BudgetExceededError
from skdp.linear_model._posterior_fit import PosteriorMixin
from skdp.linear_model._progress import with_callbacks
from skdp.losses import LogisticLoss

__all__ = ["PosteriorSampler"]


class PosteriorSampler(PosteriorMixin, BaseEstimator):
    r"""Draws from the posterior of a linear model, paid for once and handed out later.

    A draw has the density proportional to :math:`\exp(-\gamma(\sum_i
    f(x_i\cdot\theta; y_i) + \alpha|\theta|^2/2))` on a public ball, on a ball around a
    private centre, or on the whole space. All draws are made in ``fit``; ``sample``
    hands out stored ones, and there are no others.

    Parameters
    ----------
    loss : {"logistic", "squared", "huber", "log-cosh"} or loss, default="logistic"
        The loss f of a row. The squared loss needs a ball. An object of
        :mod:`skdp.losses` has its own scale, and sees targets mapped to plus or minus
        its ``target_bound``.
    classes : list of two labels, default=None
        For labels: the public label set, as it stands in ``y``. None reads it from
        ``y``, warns, and records the assumption. Rows whose label is not in it get
        weight zero; NaN in y is an error. Refused with numeric targets.
    bounds_y : tuple (low, high), default=None
        Public range of the targets, in the units of y; required for numeric targets,
        refused with labels. Those beyond it are clipped to it in ``fit``. Never choose
        it by looking at the data.
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
        1e20. Longer rows are clipped to it in ``fit``. It is
        public: never choose it by looking at the data.
    alpha : float or "auto", default="auto"
        Ridge on the *sum* of the losses, ``1 / C`` or the alpha of ``Ridge`` in
        scikit-learn; from 1e-12 to 1e9 times the square of ``data_norm``. It is one of
        targets mapped to [-1, 1]. ``"auto"`` makes the posterior of no rows about as
        wide as the ball or, where there is none, as 3 over the norm of a row.
    radius : float or "auto", default="auto"
        Radius of a public ball of coefficient vectors, intercept over
        ``intercept_scaling_`` included; from 1e-6 to 1e4 over ``data_norm``. With
        numeric targets it is one of targets mapped to [-1, 1]: where y = a + b x, that
        of b over half the range of ``bounds_y``. ``"auto"`` is the whole space for
        ``delta > 0``, and 3 over ``data_norm`` otherwise.
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
        Constant of the first draw in the units of y; released. Where
        ``fit_intercept=False``, the middle of ``bounds_y``, or 0 with labels.
    samples_ : ndarray of shape (n_samples, n_features)
        Coefficients of all draws in the units of y; released.
    intercept_samples_ : ndarray of shape (n_samples,)
        Constants of all draws in the units of y; released.
    draws_ : ndarray of shape (n_samples, n_coefficients)
        The same in the mechanism's coordinates: those of mapped targets, the
        intercept's coordinate last, divided by ``intercept_scaling_``; released.
    n_handed_out_ : int
        How many of them ``sample`` has handed out so far.
    classes_ : ndarray of shape (2,), or (1,) where y held one label
        With labels: sorted; public or assumed so.
    targets_ : Targets
        With numeric targets: the map from ``bounds_y`` to the scale of the loss;
        public.
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
        From ``fit``, for a parameter out of range or a combination that has no
        guarantee (before the data is read), wrong shapes, non-finite entries, or more
        than two labels without ``classes``.
    TypeError
        From ``fit``, for a parameter of the wrong type.

    See Also
    --------
    ASAPClassifier : Predicts from the same draws.
    ASAPRegressor : Predicts from the same draws.

    Notes
    -----
    A loss of one's own takes the protocol :class:`skdp.losses.Oscillating`; its
    constants are taken on trust. With an attribute ``target_bound`` it is one of
    numeric targets, otherwise one of labels -1 and +1 that vanishes for label 0.

    On scikit-learn 1.9 and later, callbacks set by ``set_callbacks`` are told of the
    draws, in at most 20 batches, and of the centre. A callback's wish to stop is not
    heard, since all draws are paid for.

    .. rubric:: Privacy

    Adjacency as given. Assumes finite entries, at least one row, a public label set
    or range of targets, and that rounding stays below stated bounds; row norms are
    enforced. The output alone is covered: running time depends on the data unless
    ``constant_time`` is set.
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
    >>> from skdp.linear_model import PosteriorSampler
    >>> X = np.tile([[0.6, -0.4], [-0.5, 0.7]], (2000, 1))
    >>> y = np.tile([0, 1], 2000)
    >>> sampler = PosteriorSampler(
    ...     epsilon=1.0, radius=4.0, n_samples=5, classes=[0, 1]).fit(X, y)
    >>> sampler.sample(2).shape, sampler.sample().shape
    ((2, 3), (1, 3))
    >>> sampler.sample(3)
    Traceback (most recent call last):
    ...
    skdp.exceptions.BudgetExceededError: 3 draws were asked for, got 2 left...
    """

    _released: ClassVar[frozenset[str]] = PosteriorMixin._released | {"n_handed_out_"}

    def __init__(
        self,
        *,
        loss: Any = "logistic",
        classes: Any = None,
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
        self.classes = classes
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
            ``data_norm`` count as clipped. Row blocks bring their own labels or
            targets.
        y : array-like of shape (n_samples,)
            Labels, or targets, of which those beyond ``bounds_y`` count as clipped.

        Returns
        -------
        self : PosteriorSampler
            The fitted sampler; it holds released values and public constants only.
        """
        self._fit(X, y)
        self._publish(n_handed_out_=0)
        return self

    def sample(self, k: int = 1) -> FloatArray:
        """Hand out the next draws; they were paid for in ``fit``.

        A draw predicts ``X @ draw[:d] + draw[d]``, d the number of columns of X. Labels
        with ``fit_intercept=False`` have no constant, and their draws no ``draw[d]``.

        Parameters
        ----------
        k : int, default=1
            How many, >= 0.

        Returns
        -------
        draws : ndarray of shape (k, n_features + 1), or (k, n_features)
            One draw a row, in the units of y: the coefficients, and the constant last.
            Numeric targets always have one: without an intercept it is the middle of
            ``bounds_y``.

        Raises
        ------
        BudgetExceededError
            If fewer than ``k`` are left. Nothing is handed out then.
        """
        check_is_fitted(self)
        remedy = "Say how many draws to take."
        k = check_count("k", k, minimum=0, remedy=remedy)
        start, paid = self.n_handed_out_, len(self.samples_)
        _check_left(k, paid - start, paid)
        self._publish(n_handed_out_=start + k)
        columns = [self.samples_]
        if hasattr(self, "targets_") or self.intercept_scaling_ != 0.0:
            columns.append(self.intercept_samples_[:, None])
        return np.hstack(columns)[start : start + k]

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.loss == "logistic" or isinstance(self.loss, LogisticLoss):
            # no classifier, but two labels are all it takes
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def _check_left(k: int, left: int, paid: int) -> None:
    """Refuse to hand out more draws than are left."""
    if k > left:
        asked = "1 draw was" if k == 1 else f"{k} draws were"
        allowed = "nothing more of this fit" if left == 0 else f"k from 0 to {left}"
        raise BudgetExceededError(
            f"{asked} asked for, got {left or 'none'} left of the {paid} that fit paid "
            f"for. Allowed: {allowed}. Fit with a larger n_samples; its draws share "
            "epsilon."
        )
