"""Private logistic regression by draws from its posterior."""

from typing import Any, Self

import numpy as np
from scipy.special import log_expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skdp._typing import FloatArray, MatrixLike
from skdp.linear_model._door import features
from skdp.linear_model._posterior_fit import PosteriorMixin
from skdp.linear_model._progress import with_callbacks

__all__ = ["ASAPClassifier"]


class ASAPClassifier(ClassifierMixin, PosteriorMixin, BaseEstimator):
    r"""Binary logistic regression by private draws from a posterior.

    A draw has the density proportional to :math:`\exp(-\gamma(\sum_i
    \log(1 + e^{-y_i x_i\cdot\theta}) + \alpha|\theta|^2/2))` on a public ball, on a
    ball around a private centre, or on the whole space. It is exact, and private by the
    temperature alone; no noise is added but that of the last lattice step.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3, for the whole ``fit``: all
        ``n_samples`` draws together, the centre and the intercept included.
    delta : float, default=0.0
        0 selects pure draws; a value in (0, 1) Gaussian ones, which need no ball.
    data_norm : float, default=1.0
        Bound on the L2 norm of a row of X, per row, in the units of X, from 1e-20 to
        1e20. Longer rows are clipped to it in ``fit`` (not in ``predict``). It is
        public: never choose it by looking at the data.
    classes : list of two labels, default=None
        The public label set, as it stands in ``y`` (``[0, 1]`` inside meta-estimators
        that encode labels). None reads it from ``y``, warns, and records the
        assumption. Rows whose label is not in it get weight zero, all of them where
        labels and classes are of different kinds in a list or an array of objects;
        NaN in y is an error.
    alpha : float or "auto", default="auto"
        Ridge on the *sum* of the losses, ``1 / C`` in scikit-learn; from 1e-12 to 1e9
        times the square of ``data_norm``. ``"auto"`` makes the posterior of no rows
        about as wide as the ball or, where there is none, as 3 over the norm of a row.
    radius : float or "auto", default="auto"
        Radius of a public ball of coefficient vectors, intercept over
        ``intercept_scaling_`` included; from 1e-6 to 1e4 over ``data_norm``. ``"auto"``
        is the whole space for ``delta > 0``, and 3 over ``data_norm`` otherwise.
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
        work would be too much, the fit is refused.
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
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the first draw; released.
    intercept_ : ndarray of shape (1,)
        Constant of the first draw; released.
    samples_ : ndarray of shape (n_samples, n_features)
        Coefficients of all draws; released.
    intercept_samples_ : ndarray of shape (n_samples,)
        Constants of all draws; released.
    draws_ : ndarray of shape (n_samples, n_coefficients)
        The same in the mechanism's coordinates: the intercept's last, divided by
        ``intercept_scaling_``; released.
    classes_ : ndarray of shape (2,), or (1,) where y held one label
        The labels, sorted; public or assumed so.
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
    ObjPertLogisticRegression : Closer to the optimum at the same epsilon; one vector,
        no posterior.

    Notes
    -----
    Predictions average over all paid draws: ``predict_proba`` is the mean of the
    draws' probabilities, ``decision_function`` its log odds, and ``predict`` the more
    likely label. With one draw this is the model of ``coef_`` and ``intercept_``.

    On scikit-learn 1.9 and later, callbacks set by ``set_callbacks`` are told of the
    draws, in at most 20 batches, and of the centre. A callback's wish to stop is not
    heard, since all draws are paid for.

    .. rubric:: Privacy

    Adjacency as given. Assumes finite entries, at least one row, a public label set,
    and that rounding stays below stated bounds; row norms are enforced. The output
    alone is covered: running time depends on the data unless ``constant_time`` is set.
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
    >>> from skdp.linear_model import ASAPClassifier
    >>> X = np.tile([[0.6, -0.4], [-0.5, 0.7]], (2000, 1))
    >>> y = np.tile(["sick", "well"], 2000)
    >>> model = ASAPClassifier(
    ...     epsilon=1.0, radius=4.0, n_samples=5, classes=["sick", "well"])
    >>> model.fit(X, y).score(X, y)
    1.0
    >>> model.samples_.shape
    (5, 2)
    >>> epsilon, delta = model.privacy_spent_
    >>> epsilon <= 1.0, delta
    (True, 0.0)
    >>> bool((model.pdp_loss(X, y) <= epsilon).all())
    True
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        data_norm: float = 1.0,
        classes: Any = None,
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
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.classes = classes
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
            ``data_norm`` count as clipped. Row blocks bring their own labels.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : ASAPClassifier
            The fitted model; it holds released values and public constants only.
        """
        self._fit(X, y)
        return self

    def _publish_first(self) -> None:
        self._publish(
            coef_=self.samples_[:1].copy(),
            intercept_=self.intercept_samples_[:1].copy(),
        )

    def predict_log_proba(self, X: MatrixLike) -> FloatArray:
        """Return the log probability of each label; finite where it is a float.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; not clipped.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
            Log of the mean over the paid draws; columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        X = features(self, X, reset=False)
        if self.classes_.size == 1:  # one label was read from y: nothing to choose
            return np.zeros((X.shape[0], 1))
        log_sums = np.full((X.shape[0], 2), -np.inf)
        for margin in self._margins(X):
            both = np.column_stack([log_expit(-margin), log_expit(margin)])
            np.logaddexp(log_sums, both, out=log_sums)
        log_mean: FloatArray = log_sums - np.log(len(self.samples_))
        return log_mean

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return the probability of each label, the mean over the paid draws.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; not clipped.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return np.exp(self.predict_log_proba(X))

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return the log odds of the mean probability over the paid draws.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; not clipped.

        Returns
        -------
        log_odds : ndarray of shape (n_samples,)
            Positive for ``classes_[1]``; ``X @ coef_ + intercept_`` with one draw.
            Where y held one label, the sign says nothing.
        """
        check_is_fitted(self)
        if len(self.samples_) == 1:  # the margin itself, to the last digit
            return next(self._margins(features(self, X, reset=False)))
        log_probability = self.predict_log_proba(X)
        out: FloatArray = log_probability[:, -1] - log_probability[:, 0]
        return out

    def predict(self, X: MatrixLike) -> Any:
        """Return the more likely label of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; not clipped.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        positive = self.decision_function(X) > 0
        if self.classes_.size == 1:
            positive = np.zeros_like(positive)
        return self.classes_[positive.astype(np.intp)]

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags
