"""What a whole pipeline spent, and what it cost one person.

A pipeline keeps the guarantee of its private steps only when every other step learned
nothing from the rows. The steps are walked one by one; whatever is not understood is a
leak, named as such, and then there is no finite epsilon to report.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sklearn.pipeline import Pipeline

from skdp._typing import FloatArray, MatrixLike
from skdp._validation import warn
from skdp.accounting import (
    Adjacency,
    Guarantee,
    PrivacyPart,
    PrivacySpent,
    PureDP,
    compose,
)
from skdp.accounting._spent import GRADES, LEVELS
from skdp.exceptions import PrivacyLeakWarning
from skdp.pdp import PublishedReport
from skdp.pdp._report_of import report_of
from skdp.preprocessing._containers import CONTAINERS, judge_container, parts_of
from skdp.preprocessing._data_independent import (
    FREE,
    Verdict,
    check_fitted,
    judge,
)
from skdp.preprocessing._fold import fold
from skdp.rows._one_person import one_person

__all__ = ["pdp_loss", "privacy_spent", "published_report"]

#: Levels from the weakest claim to the strongest; GRADES stand the other way round.
_LEVELS = tuple(LEVELS)

#: Steps are judged when asked, and what they were before is not always recorded.
UNCHANGED = "the steps and their parameters are those of the fit"


def privacy_spent(estimator: Any) -> PrivacySpent:
    """Return what a fitted estimator or pipeline spent, all steps together.

    Private steps are composed. Steps that learn nothing from the rows are free: the
    transformers of :mod:`skdp.preprocessing`, and those of scikit-learn whose settings
    are all public, such as ``Normalizer``, ``PolynomialFeatures`` or an encoder with
    declared categories. Any other step is a leak. So is a ``ColumnTransformer`` that
    counts entries to choose between sparse and dense output: set
    ``sparse_threshold=0``.

    Parameters
    ----------
    estimator : estimator or Pipeline
        Fitted; pipelines may hold pipelines, column transformers and feature unions.

    Returns
    -------
    spent : PrivacySpent
        One part a step. With a leak, ``epsilon`` is inf and ``leaks`` names the steps,
        nested names joined by two underscores.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    AdjacencyMismatchError
        If private steps speak about different neighbours.

    Warns
    -----
    PrivacyLeakWarning
        If a step learned from the data without a guarantee.

    Notes
    -----
    Meta-estimators such as ``GridSearchCV`` choose by scores computed on the data, so
    they count as leaks even around a private estimator. A class of your own that learns
    nothing and treats each row alone may say so by a class attribute
    ``__skdp_data_independent__ = True``; subclasses do not inherit it.

    Settings are read when this function is called. That they are those of the fit is
    checked where fitted attributes show it, and is an assumption otherwise.

    Examples
    --------
    >>> import skdp
    >>> from sklearn.pipeline import make_pipeline
    >>> from skdp.datasets import make_classification_rows
    >>> X, y = make_classification_rows(500, 3, random_state=0)
    >>> pipeline = make_pipeline(
    ...     skdp.BoundedScaler(bounds=(-1, 1)),
    ...     skdp.ObjPertLogisticRegression(epsilon=1.0, classes=[0, 1]),
    ... )
    >>> epsilon, delta = skdp.privacy_spent(pipeline.fit(X, y))
    >>> round(epsilon, 2), delta
    (1.0, 0.0)
    """
    check_fitted(estimator)
    own = getattr(estimator, "privacy_spent_", None)
    if isinstance(own, PrivacySpent):
        return own
    steps = list(_walk("", estimator))
    _warn_of_leaks(steps)
    return _total(steps)


def pdp_loss(
    estimator: Any, X: MatrixLike, y: Any = None, **options: Any
) -> FloatArray:
    """Bound what the release of a fitted pipeline cost each person.

    Rows go through the transformers to the last step, whose ``pdp_loss`` answers. It
    costs nothing and may be asked by anyone about anyone.

    Parameters
    ----------
    estimator : estimator or Pipeline
        Fitted; its last step has a method ``pdp_loss``.
    X : array-like of shape (n_samples, n_features)
        Rows as the pipeline takes them. One person may be given as ``(x, label)``.
    y : array-like of shape (n_samples,)
        Their labels.
    **options : object
        Passed on to the last step, for example ``rho=1e-9``.

    Returns
    -------
    loss : ndarray of shape (n_samples,)
        Bound on the absolute privacy loss of each person, in nats.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    TypeError
        If the last step has no ``pdp_loss``, or an earlier step is private itself, so
        that the last step does not know the whole loss.

    Warns
    -----
    PrivacyLeakWarning
        If a step learned from the data without a guarantee: what that step gave away
        about a person is not in the bound.

    Examples
    --------
    >>> import skdp
    >>> from sklearn.pipeline import make_pipeline
    >>> from skdp.datasets import make_classification_rows
    >>> X, y = make_classification_rows(500, 3, random_state=0)
    >>> pipeline = make_pipeline(
    ...     skdp.BoundedScaler(bounds=(-1, 1)),
    ...     skdp.ObjPertLogisticRegression(epsilon=1.0, classes=[0, 1]),
    ... )
    >>> loss = skdp.pdp_loss(pipeline.fit(X, y), X, y)
    >>> loss.shape, bool((loss <= 1.0).all())
    ((500,), True)
    """
    check_fitted(estimator)
    if y is None:
        X, y = one_person(X)
    _warn_of_leaks(_walk("", estimator))
    return _loss(estimator, X, y, options)


def published_report(estimator: Any) -> PublishedReport:
    """Return the report of a fitted pipeline, in the units of the raw columns.

    Scaling and clipping steps are folded into public constants of the report, so that
    a person is asked for her values as the pipeline takes them.

    Parameters
    ----------
    estimator : estimator or Pipeline
        Fitted; its last step has a ``report_``. Steps before it are at most one
        ``BoundedScaler``, followed by any number of ``RowClipper``.

    Returns
    -------
    report : PublishedReport
        Its ``loss`` is that of :func:`pdp_loss`, or smaller where a clipper is
        stricter than the estimator.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    TypeError
        If the last step has no report, or another step cannot be folded.

    Examples
    --------
    >>> import skdp
    >>> from sklearn.pipeline import make_pipeline
    >>> from skdp.datasets import make_classification_rows
    >>> X, y = make_classification_rows(500, 3, random_state=0)
    >>> pipeline = make_pipeline(
    ...     skdp.BoundedScaler(bounds=(-1, 1)),
    ...     skdp.ObjPertLogisticRegression(epsilon=1.0, classes=[0, 1]),
    ... )
    >>> report = skdp.published_report(pipeline.fit(X, y))
    >>> report.column_scale
    (1.0, 1.0, 1.0)
    """
    check_fitted(estimator)
    steps = []
    while type(estimator) is Pipeline:
        steps += estimator.steps[:-1]
        estimator = estimator.steps[-1][1]
    report = report_of(estimator)
    folded = fold(steps)
    changes: dict[str, Any] = dict(folded.columns)
    if folded.names is not None:
        changes["feature_names"] = folded.names
    return replace(report, data_norm=min(report.data_norm, folded.data_norm), **changes)


@dataclass(frozen=True, slots=True)
class _Step:
    """One step that is not made of others: what it spent, or how it was judged."""

    name: str
    kind: str
    spent: PrivacySpent | None
    verdict: Verdict

    @property
    def leaks(self) -> bool:
        return bool(self.verdict.leak) or (
            self.spent is not None and bool(self.spent.leaks)
        )

    @property
    def complaint(self) -> str:
        reason = self.verdict.leak or "it reports a leak itself"
        return f"{self.name} ({self.kind}): {reason}"


def _walk(name: str, step: Any) -> Iterator[_Step]:
    """Yield the steps that a fitted estimator is made of."""
    if step is None or isinstance(step, str):  # "passthrough" or "drop"
        return
    spent = getattr(step, "privacy_spent_", None)
    kind = type(step).__name__
    if isinstance(spent, PrivacySpent):
        yield _Step(name or kind, kind, spent, Verdict())
    elif type(step) in CONTAINERS:
        verdict = judge_container(step)
        if verdict != FREE:
            yield _Step(name or kind, kind, None, verdict)
        for child, inner in parts_of(step):
            yield from _walk("__".join(filter(None, (name, child))), inner)
    else:
        yield _Step(name or kind, kind, None, judge(step))


def _warn_of_leaks(steps: Iterator[_Step] | list[_Step]) -> None:
    leaking = [step.complaint for step in steps if step.leaks]
    if leaking:
        warn(
            "no guarantee holds, got steps that learn from private rows: "
            f"{'. '.join(leaking)}. Allowed: steps whose settings are all public. "
            "Change the settings as told, or declare what the step would learn, for "
            "example with skdp.preprocessing.BoundedScaler.",
            PrivacyLeakWarning,
        )


def _total(steps: list[_Step]) -> PrivacySpent:
    spends = [step.spent for step in steps if step.spent is not None]
    curves = [spent.guarantee or spent.nominal for spent in spends]
    known = [curve for curve in curves if curve is not None]
    total = compose(*known) if known else PureDP(0.0)
    assumptions = dict.fromkeys((*total.assumptions, UNCHANGED))
    for step in steps:
        assumptions.update(
            (f"{step.name}: {a}", None) for a in step.verdict.assumptions
        )
    leaks = tuple(step.name for step in steps if step.leaks)
    return PrivacySpent(
        None if leaks else replace(total, assumptions=tuple(assumptions)),
        sum(spent.delta for spent in spends),
        parts=tuple(_part(step, total.adjacency) for step in steps),
        releasable=all(spent.releasable for spent in spends),
        level=min(
            (spent.level for spent in spends), key=_LEVELS.index, default="exact"
        ),
        grade=max(
            (spent.grade for spent in spends), key=GRADES.index, default="proved"
        ),
        leaks=leaks,
    )


def _part(step: _Step, adjacency: Adjacency) -> PrivacyPart:
    if step.spent is not None:
        return PrivacyPart(step.name, step.spent.guarantee, step.kind)
    guarantee: Guarantee | None = None
    note = step.verdict.leak
    if not note:
        guarantee, note = PureDP(0.0, adjacency=adjacency), "learns nothing"
    return PrivacyPart(step.name, guarantee, f"{step.kind}: {note}")


def _loss(estimator: Any, X: MatrixLike, y: Any, options: dict[str, Any]) -> FloatArray:
    if type(estimator) is Pipeline:
        for name, step in estimator.steps[:-1]:
            X = _pass_on(name, step, X)
        return _loss(estimator.steps[-1][1], X, y, options)
    if not hasattr(estimator, "pdp_loss"):
        raise TypeError(
            f"the last step has no per-person loss, got {type(estimator).__name__}. "
            "Allowed: an estimator with a method pdp_loss. Use a private one of "
            "skdp.linear_model; one that is wrapped in another answers for itself."
        )
    loss: FloatArray = estimator.pdp_loss(X, y, **options)
    return loss


def _pass_on(name: str, step: Any, X: MatrixLike) -> MatrixLike:
    if step is None or isinstance(step, str):
        return X
    if any(inner.spent is not None for inner in _walk(name, step)):
        raise TypeError(
            f"the step {name!r} is private itself, so the last step does not know the "
            "whole loss. Allowed: steps before the last that learn nothing. Ask each "
            "private step for its own pdp_loss."
        )
    return step.transform(X)
