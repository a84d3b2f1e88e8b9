"""What a release cost the people behind some rows, in four pictures."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from skdp._typing import ArrayLike, FloatArray, MatrixLike
from skdp._validation import check_choice
from skdp.inspection._axes import new_axes
from skdp.inspection._pdp_views import (
    draw_distribution,
    draw_groups,
    draw_margins,
    draw_worst_case,
)
from skdp.inspection._style import tidy
from skdp.pdp import PublishedReport
from skdp.pdp._levels import Of
from skdp.pdp._published import Kind
from skdp.pdp._report_of import report_of
from skdp.pdp._terms import margin_terms

__all__ = ["PdpLossDisplay"]

_VIEWS: dict[str, Callable[[Any, Any], None]] = {
    "distribution": draw_distribution,
    "margin": draw_margins,
    "worst-case": draw_worst_case,
    "group": draw_groups,
}
_REMEDY = "Use 'distribution' for how the bounds are spread over people."


class PdpLossDisplay:
    """Bounds on the privacy loss of each of some people, in one of four views.

    A picture shows the rows it is made from. Of private rows it is for whoever may see
    them: no budget pays for it, so do not publish it. Of invented or published rows it
    may be published like the report itself.

    The promise, epsilon, is drawn beside the bounds. With ``delta > 0`` a bound can lie
    above it: the promise holds but for delta, the bound but for rho, and of the two
    each person may use the one that says more.

    Build one with :meth:`from_report` or :meth:`from_estimator`.

    Parameters
    ----------
    loss : ndarray of shape (n_people,)
        Bound on the privacy loss of each person, in nats.
    margin : ndarray of shape (n_people,)
        Margin of each clipped row on the side of its own label: negative where the
        model is wrong about the person; nan for an undeclared label.
    length : ndarray of shape (n_people,)
        Norm of each clipped row, as a share of the largest allowed.
    groups : ndarray of shape (n_people,)
        The group of each person.
    epsilon : float
        The promise to everybody, in nats.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure of ``ax_``.

    See Also
    --------
    skdp.pdp.PublishedReport : The numbers behind the picture.
    TradeoffDisplay : What the promise to everybody means.

    Examples
    --------
    >>> import skdp
    >>> from skdp.datasets import make_classification_rows
    >>> from skdp.inspection import PdpLossDisplay
    >>> X, y = make_classification_rows(1000, 5, random_state=0)
    >>> model = skdp.ObjPertLogisticRegression(epsilon=1.0, classes=[0, 1]).fit(X, y)
    >>> people, labels = make_classification_rows(200, 5, random_state=1)
    >>> display = PdpLossDisplay.from_report(model.report_, people, labels)
    >>> bool((display.loss <= display.epsilon).all())
    True
    >>> display.plot(kind="margin").ax_.get_ylabel()
    'bound on the privacy loss (nats)'
    """

    def __init__(
        self,
        *,
        loss: FloatArray,
        margin: FloatArray,
        length: FloatArray,
        groups: Any,
        epsilon: float,
    ) -> None:
        self.loss = loss
        self.margin = margin
        self.length = length
        self.groups = groups
        self.epsilon = epsilon

    @classmethod
    def from_report(
        cls,
        report: PublishedReport,
        X: MatrixLike,
        y: ArrayLike,
        *,
        kind: str = "distribution",
        groups: ArrayLike | None = None,
        bound: Kind = "either",
        rho: float | None = None,
        simultaneous: bool = False,
        of: Of = "everything",
        ax: Any = None,
    ) -> "PdpLossDisplay":
        """Compute the bound of each row from a published report, and draw them.

        Parameters
        ----------
        report : PublishedReport
            From ``est.report_`` or ``skdp.published_report(pipeline)``.
        X : array-like, sparse matrix or DataFrame of shape (n_people, n_features)
            The rows asked about, as the report takes them.
        y : array-like of shape (n_people,)
            Their labels.
        kind : {"distribution", "margin", "worst-case", "group"}, \
                default="distribution"
            The view, as in :meth:`plot`.
        groups : array-like of shape (n_people,), default=None
            The group of each person for ``kind="group"``; None takes the labels.
        bound : {"either", "member", "non-member"}, default="either"
            The ``kind`` of :meth:`PublishedReport.loss
            <skdp.pdp.PublishedReport.loss>`.
        rho : float, default=None
            As there.
        simultaneous : bool, default=False
            As there.
        of : {"everything", "coefficients"}, default="everything"
            As there.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : PdpLossDisplay

        Raises
        ------
        TypeError
            If ``report`` is none.
        ValueError
            If there are no rows, or an option or a shape does not fit.
        """
        check_choice("kind", kind, tuple(_VIEWS), remedy=_REMEDY)
        if not isinstance(report, PublishedReport):
            raise TypeError(
                f"report is none, got an object of type {type(report).__name__}. "
                "Allowed: a PublishedReport. Pass est.report_, or what "
                "PublishedReport.from_json returned."
            )
        loss = report.loss(X, y, kind=bound, rho=rho, simultaneous=simultaneous, of=of)
        if loss.size == 0:
            raise ValueError(
                "X holds nobody, got 0 rows. Allowed: at least one row. Pass the rows "
                "of the people to draw."
            )
        margin, length = _margins(report, X, y)
        labels = column_or_1d(y if groups is None else groups)
        check_consistent_length(loss, labels)
        display = cls(
            loss=loss,
            margin=margin,
            length=length,
            groups=labels,
            epsilon=report.epsilon,
        )
        return display.plot(ax, kind=kind)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        kind: str = "distribution",
        groups: ArrayLike | None = None,
        bound: Kind = "either",
        rho: float | None = None,
        simultaneous: bool = False,
        of: Of = "everything",
        ax: Any = None,
    ) -> "PdpLossDisplay":
        """Compute the bound of each row from the report of a fit, and draw them.

        Parameters
        ----------
        estimator : estimator
            Fitted, with a ``report_``.
        X : array-like, sparse matrix or DataFrame of shape (n_people, n_features)
            The rows asked about, as the estimator takes them.
        y : array-like of shape (n_people,)
            Their labels.
        kind : {"distribution", "margin", "worst-case", "group"}, \
                default="distribution"
            As in :meth:`from_report`, and so are the others.
        groups : array-like of shape (n_people,), default=None
            The group of each person; None takes the labels.
        bound : {"either", "member", "non-member"}, default="either"
            Which loss is bounded.
        rho : float, default=None
            Probability that a bound fails.
        simultaneous : bool, default=False
            Whether it counts failures for any row at all.
        of : {"everything", "coefficients"}, default="everything"
            Whose loss it is.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : PdpLossDisplay

        Raises
        ------
        TypeError
            If the estimator publishes no report itself.
        ValueError
            As in :meth:`from_report`.
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        """
        check_is_fitted(estimator)
        return cls.from_report(
            report_of(estimator),
            X,
            y,
            kind=kind,
            groups=groups,
            bound=bound,
            rho=rho,
            simultaneous=simultaneous,
            of=of,
            ax=ax,
        )

    def plot(self, ax: Any = None, *, kind: str = "distribution") -> "PdpLossDisplay":
        """Draw one view.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        kind : {"distribution", "margin", "worst-case", "group"}, \
                default="distribution"
            "distribution": how the bounds are spread over the people. "margin": bound
            against margin, coloured by the length of the row; the two decide.
            "worst-case": what an attacker can become sure of about the median person,
            the one at 95 %, and the most exposed, beside the promise. "group": the
            spread within each group.

        Returns
        -------
        display : PdpLossDisplay

        Raises
        ------
        ValueError
            If ``kind`` is not one of the choices.
        """
        check_choice("kind", kind, tuple(_VIEWS), remedy=_REMEDY)
        ax = tidy(new_axes(ax))
        _VIEWS[kind](self, ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _margins(
    report: PublishedReport, X: MatrixLike, y: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return margins on the side of the labels, and relative lengths of the rows."""
    rows, theta = report._rows(X, y), np.array(report.theta)
    loss = report._mechanism().loss
    blocks = list(margin_terms(rows, loss, theta, directions=theta[:, None]))
    margin = np.concatenate([terms.labels * terms.products[:, 0] for terms in blocks])
    declared = np.concatenate([terms.declared for terms in blocks])
    squared = np.concatenate([terms.squared_norm for terms in blocks])
    return np.where(declared, margin, np.nan), np.sqrt(squared) / rows.ball.radius
