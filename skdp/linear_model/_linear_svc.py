"""Private linear support vector classification by objective perturbation."""

from typing import Any

from skdp.linear_model._label_predictions import LabelPredictions
from skdp.linear_model._objective_release import Problem
from skdp.linear_model._settings import LinearSettings
from skdp.losses import SmoothedHingeLoss

__all__ = ["ObjPertLinearSVC"]


class ObjPertLinearSVC(LabelPredictions):
    r"""Linear support vector classifier with a differential-privacy guarantee.

    Minimises :math:`\sum_i h(1 - y_i x_i\cdot\theta) + \alpha|\theta|^2/2 +
    b\cdot\theta` for one random vector ``b`` (objective perturbation), then adds exact
    lattice noise that covers solver tolerance and rounding. The loss h is the hinge
    loss, with a parabola over margins from 0.5 to 1.5 in place of its corner.

    Parameters
    ----------
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
    classes : list of two labels, default=None
        The public label set, as it stands in ``y`` (``[0, 1]`` inside meta-estimators
        that encode labels). None reads it from ``y``, warns, and records the
        assumption. Rows whose label is not in it get weight zero, all of them where
        labels and classes are of different kinds in a list or an array of objects;
        NaN in y is an error.
    alpha : float or "auto", default="auto"
        Ridge on the *sum* of the losses (``1 / C`` in scikit-learn). The value used,
        ``alpha_``, is never below the floor that the guarantee needs; ``"auto"`` is
        5 times that floor.
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
    coef_ : ndarray of shape (1, n_features)
        Released coefficients.
    intercept_ : ndarray of shape (1,)
        Released constant.
    classes_ : ndarray of shape (2,), or (1,) where y held one label
        The labels, sorted; public or assumed so.
    theta_ : ndarray of shape (n_coefficients,)
        The released vector: the coefficients, and the constant over
        ``intercept_scaling_``.
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
        From ``fit``, for a parameter out of range or ``conservative=True`` without a
        published bound (before the data is read), wrong shapes, non-finite entries, or
        more than two labels without ``classes``.
    TypeError
        From ``fit``, for a parameter of the wrong type.

    See Also
    --------
    ObjPertLogisticRegression : Probabilities as well, from a smaller ridge.
    sklearn.svm.LinearSVC : Its non-private counterpart.

    Notes
    -----
    The curvature of the loss does not fade where its slope is largest, as that of the
    logistic loss does: a tenth of epsilon pays for it by default, and the ridge is ten
    times larger. Prefer the logistic loss unless a hinge is what is asked for.

    .. rubric:: Privacy

    Adjacency as given. Assumes finite entries, at least one row, a public label set,
    and that the rounding error of the computed gradient stays below the solver's
    tolerance; row norms are enforced. Running time is not covered. Theorems and proofs:
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
    >>> from skdp.linear_model import ObjPertLinearSVC
    >>> X = np.tile([[0.6, -0.4], [-0.5, 0.7]], (2000, 1))
    >>> y = np.tile(["sick", "well"], 2000)
    >>> model = ObjPertLinearSVC(epsilon=1.0, classes=["sick", "well"])
    >>> model.fit(X, y).score(X, y)
    1.0
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
        fit_intercept: bool = True,
        intercept_scaling: Any = "auto",
        adjacency: str = "add-remove",
        conservative: bool = False,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.classes = classes
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.adjacency = adjacency
        self.conservative = conservative
        self.random_state = random_state

    def _problem(self, settings: LinearSettings) -> Problem:
        return Problem(SmoothedHingeLoss(), settings.labels)
