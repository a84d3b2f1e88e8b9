"""Private logistic regression by objective perturbation."""

from typing import Any, ClassVar, cast

from sklearn.utils.validation import check_is_fitted

from skdp._typing import FloatArray, MatrixLike
from skdp.linear_model._label_predictions import ProbabilityPredictions
from skdp.linear_model._metric import METRIC_ATTRIBUTES, check_metric
from skdp.linear_model._objective_fit import ObjectiveEstimator
from skdp.linear_model._objective_release import Problem
from skdp.linear_model._reporting import (
    DATA_INDEPENDENT,
    Reporting,
    check_level,
    make_report,
)
from skdp.linear_model._settings import LinearSettings
from skdp.losses import LogisticLoss
from skdp.mechanisms import PreconditionedRelease
from skdp.pdp import PublishedReport
from skdp.pdp._published import Kind, check_question
from skdp.rows import Classes, L2Ball
from skdp.rows._one_person import one_person

__all__ = ["ObjPertLogisticRegression"]


class ObjPertLogisticRegression(ProbabilityPredictions):
    r"""Logistic regression with a differential-privacy guarantee.

    Minimises :math:`\sum_i \log(1 + e^{-y_i x_i\cdot\theta}) + \alpha|\theta|^2/2
    + b\cdot\theta` for one random vector ``b`` (objective perturbation), then adds
    exact lattice noise that covers solver tolerance and rounding. With ``delta > 0``
    the privacy cost is that of a single Gaussian release of one gradient. More than two
    classes are fitted together by the softmax loss, with coefficients for each class;
    a gradient is then longer and takes more noise.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3, for the whole ``fit``, intercept
        included.
    delta : float, default=0.0
        0 selects the pure mechanism; a value in (0, 1) its Gaussian version, which
        wins once there are more than about 15 coefficients.
    data_norm : float, default=1.0
        Bound on the L2 norm of a row of X, per row, in the units of X. Longer rows are
        clipped to it in ``fit`` (not in ``predict``). It is public: never choose it by
        looking at the data.
    classes : list of two or more labels, default=None
        The public label set, as it stands in ``y`` (``[0, 1]`` inside meta-estimators
        that encode labels). None reads it from ``y``, warns, and records the
        assumption. Rows whose label is not in it get weight zero, all of them where
        labels and classes are of different kinds in a list or an array of objects;
        NaN in y is an error.
    alpha : float or "auto", default="auto"
        Ridge on the *sum* of the losses (``1 / C`` in scikit-learn). The value used,
        ``alpha_``, is never below the floor that the guarantee needs; ``"auto"`` is
        1.05 times that floor (4 times under replace-one with ``delta > 0``), for more
        than two classes a ridge above the floor whose noise is at most 1.3 times the
        least. A private metric, in which
        one row has norm and gradient at most one, takes ``alpha`` over the squared
        bound of a row's norm where that is above its own floor.
    fit_intercept : bool, default=True
        Whether to add a constant column. It is penalised and counted in the norm.
    intercept_scaling : float or "auto", default="auto"
        Value of the constant column; ``"auto"`` is half of ``data_norm``.
    adjacency : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation of the guarantee.
    metric : {"auto", "private", "identity"}, default="auto"
        "private" spends an eighth of the budget on noisy second moments of the rows and
        a centre, then fits in the metric they give: smaller errors where columns are
        correlated or of unequal size. It needs two classes, ``delta > 0``, add-remove,
        ``pdp_report="data-independent"`` and ``conservative=False``. Rows far out in
        the metric weigh less than one. "auto" is "private" where these hold and there
        are 10 to 2,048 coefficients, intercept included, else "identity".
    conservative : bool, default=False
        Whether to calibrate by the published bound instead of the sharper one proved
        here: more noise and a larger ridge. Needs two classes, ``delta > 0`` and
        add-remove.
    pdp_report : {"data-independent", "hessian", "gradient"}, \
            default="data-independent"
        What ``report_`` bounds the loss of each person from, beside the coefficients:
        nothing, at no cost; a noisy Hessian of the objective; or a noisy gradient as
        well. The last two are paid for within ``epsilon``, take 0.05 of the squared
        size of the target each, and need two classes, ``delta > 0`` and add-remove.
        They sharpen the bound on the loss of the coefficients, and add their own cost
        to the total. That may fall or rise: with many rows and the smallest ridge a
        Hessian lowers it.
    random_state : int, Generator, RandomState or None, default=None
        None draws from the operating system. Anything else makes the fit reproducible,
        for tests: ``privacy_spent_.releasable`` is then False.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features)
        Released coefficients; of more than two classes a row for each.
    intercept_ : ndarray of shape (1,), or (n_classes,)
        Released constants.
    theta_ : ndarray of shape (n_coefficients,), or (n_classes, n_coefficients)
        What was released: the coefficients, and the constant over
        ``intercept_scaling_``.
    classes_ : ndarray of shape (n_classes,), (1,) where y held one label
        The labels, sorted; public or assumed so.
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
        penalised, in the units of X and ``intercept_scaling_``; released.
    budget_ : tuple of BudgetPart
        A row for each release: ``name``, ``mu``, and ``share`` of the squared size.
    release_ : PreconditionedRelease
        Everything the fit published together.
    mechanism_ : ObjectivePerturbation, ReportedObjectivePerturbation, \
            PreconditionedObjectivePerturbation or SoftmaxPerturbation
        The public constants of the release.
    privacy_spent_ : PrivacySpent
        What the fit cost, computed from the noise used.
    report_ : PublishedReport or None
        What anyone needs to bound what the fit cost a person; may be published whole.
        None for a private metric and for more than two classes, of which ``pdp_loss``
        tells.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X has string names.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter out of range (before the data is read), wrong
        shapes, non-finite entries, or options that do not go together.
    TypeError
        From ``fit``, for a parameter of the wrong type.

    See Also
    --------
    sklearn.linear_model.LogisticRegression : Its non-private counterpart.

    Notes
    -----
    .. rubric:: Privacy

    Adjacency as given. Assumes finite entries, at least one row, a public label set,
    and that the rounding error of the computed gradient stays below the solver's
    tolerance; row norms are enforced. Running time is not covered. The theorem (joint
    bound of the gradient and Jacobian terms) and its proof:
    docs/proofs/objective_perturbation.md and docs/proofs/smoothing.md; of the private
    metric: docs/proofs/preconditioned.md; of more than two classes:
    docs/proofs/softmax_perturbation.md.

    References
    ----------
    Chaudhuri, Monteleoni & Sarwate, Differentially private empirical risk
    minimization, JMLR 2011. Redberg & Wang, Privately publishable per-instance
    privacy, NeurIPS 2021. Redberg, Koskela & Wang, Improving the privacy and
    practicality of objective perturbation for differentially private linear learners,
    NeurIPS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.linear_model import ObjPertLogisticRegression
    >>> X = np.tile([[0.6, -0.4], [-0.5, 0.7]], (2000, 1))
    >>> y = np.tile(["sick", "well"], 2000)
    >>> model = ObjPertLogisticRegression(epsilon=1.0, classes=["sick", "well"])
    >>> model.fit(X, y).score(X, y)
    1.0
    >>> epsilon, delta = model.privacy_spent_
    >>> epsilon <= 1.0, delta
    (True, 0.0)
    >>> bool((model.pdp_loss(X, y) <= epsilon).all())
    True
    """

    report_: PublishedReport | None
    _several = True
    _released: ClassVar[frozenset[str]] = (
        ObjectiveEstimator._released | METRIC_ATTRIBUTES | {"report_"}
    )

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
        metric: str = "auto",
        conservative: bool = False,
        pdp_report: str = "data-independent",
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
        self.metric = metric
        self.conservative = conservative
        self.pdp_report = pdp_report
        self.random_state = random_state

    def _takes_several(self) -> bool:
        plain = self.metric != "private" and not self.conservative
        return plain and self.pdp_report == DATA_INDEPENDENT

    def _problem(self, settings: LinearSettings) -> Problem:
        level = check_level(self.pdp_report, settings)
        if isinstance(settings.labels, Classes) and settings.conservative:
            raise ValueError(
                "conservative=True does not go with more than two classes: the "
                "published bound is for one margin a row. Allowed: two classes. Change "
                "that, or use conservative=False."
            )
        loss = LogisticLoss()
        metric = check_metric(self.metric, settings, loss, level=level)
        return Problem(loss, settings.labels, metric=metric, level=level)

    def _publish_release(
        self, output: FloatArray | PreconditionedRelease, ball: L2Ball
    ) -> None:
        """Publish the coefficients, and the report where there is one."""
        super()._publish_release(output, ball)
        report = None
        if isinstance(self.mechanism_, Reporting):
            report = make_report(
                self.mechanism_,
                cast(FloatArray, output),
                spent=self.privacy_spent_,
                ball=ball,
                classes=self.classes_,
                feature_names=getattr(self, "feature_names_in_", None),
            )
        self._publish(report_=report)

    def pdp_loss(
        self,
        X: MatrixLike,
        y: MatrixLike = None,
        *,
        kind: Kind = "either",
        rho: float | None = None,
        simultaneous: bool = False,
    ) -> FloatArray:
        """Bound what this release cost each person, from her own row alone.

        Anyone may call it about anyone, at no privacy cost: it reads the row asked
        about, released values and public constants. The same as ``report_.loss`` where
        there is a report; with a private metric it bounds the loss of all releases of
        the fit together.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows asked about, in the data or not. One person may also be given as
            ``pdp_loss((x, y))``.
        y : array-like of shape (n_samples,)
            Their labels.
        kind : {"either", "member", "non-member"}, default="either"
            Whether the absolute loss is bounded, or the signed loss of people who are
            in the data, or are not. With a private metric all three get the bound on
            the absolute loss.
        rho : float, default=None
            Probability, over the noise of the fit, that the bound fails for one row
            fixed beforehand; from 1e-300, below 1. None is 1e-6. Pure fits (delta = 0)
            do not use it: their bound fails with probability below 1e-12.
        simultaneous : bool, default=False
            Whether ``rho`` counts failures for any row at all. Not with a private
            metric.

        Returns
        -------
        loss : ndarray of shape (n_samples,)
            Bound on the privacy loss in nats; 0 for an undeclared label.

        Raises
        ------
        ValueError
            If an option is out of range or the shapes do not fit.
        """
        check_is_fitted(self)
        if self.report_ is not None:
            return self.report_.loss(
                X, y, kind=kind, rho=rho, simultaneous=simultaneous
            )
        if y is None:
            X, y = one_person(X)
        rho = check_question(kind, 1e-6 if rho is None else rho, simultaneous)
        return self._row_loss(X, y, rho, kind=kind, simultaneous=simultaneous)
