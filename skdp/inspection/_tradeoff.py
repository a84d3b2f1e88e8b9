"""What an attacker who tests for one person cannot avoid: two kinds of error."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdp._typing import FloatArray
from skdp._validation import check_choice, check_flag
from skdp.accounting import Guarantee, PrivacySpent
from skdp.inspection._axes import new_axes
from skdp.inspection._style import SOFT, tidy

__all__ = ["TradeoffDisplay"]

KINDS = ("errors", "roc")
#: The smallest false-alarm rate above 0 that is drawn, and how many are.
_LEAST_ALARM, _N_ALARMS = 1e-6, 40


class TradeoffDisplay:
    """Trade-off curve of a guarantee: errors of any test for one person's presence.

    An attacker looks at a release and decides whether a person's row was used. No test
    has fewer missed people at its rate of false alarms than the curve says, whatever
    the attacker knows. Guessing lies on the straight line: the closer to it the curve,
    the better the protection.

    Build one with :meth:`from_guarantee` or :meth:`from_estimator`.

    Parameters
    ----------
    type_1 : ndarray of shape (n_points,)
        False-alarm rates, increasing: how often the attacker suspects a person whose
        row was not used.
    type_2 : ndarray of shape (n_points,)
        Lower bounds on the rate of misses: how often she overlooks one whose row was.
    name : str, default=None
        What the legend calls the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curve is.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    line_ : matplotlib Line2D
        The curve.
    chance_level_ : matplotlib Line2D or None
        The line of an attacker who guesses.

    Examples
    --------
    >>> from skdp.accounting import GaussianDP, PureDP
    >>> from skdp.inspection import TradeoffDisplay
    >>> display = TradeoffDisplay.from_guarantee(PureDP(1.0))
    >>> display.line_.get_label()
    'PureDP, add-remove'
    >>> other = TradeoffDisplay.from_guarantee(
    ...     GaussianDP(0.5), ax=display.ax_, plot_chance_level=False)
    >>> len(display.ax_.lines)
    3
    """

    def __init__(
        self, *, type_1: FloatArray, type_2: FloatArray, name: str | None = None
    ) -> None:
        self.type_1 = type_1
        self.type_2 = type_2
        self.name = name

    @classmethod
    def from_guarantee(
        cls,
        guarantee: Guarantee,
        *,
        kind: str = "errors",
        name: str | None = None,
        ax: Any = None,
        plot_chance_level: bool = True,
        **line_kw: Any,
    ) -> "TradeoffDisplay":
        """Compute the curve of any guarantee and draw it.

        Parameters
        ----------
        guarantee : Guarantee
            From :mod:`skdp.accounting`, for example ``privacy_spent_.guarantee``.
        kind : {"errors", "roc"}, default="errors"
            As in :meth:`plot`.
        name : str, default=None
            What the legend calls the curve; None names the notion and its neighbours.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        plot_chance_level : bool, default=True
            Whether to draw the line of an attacker who guesses.
        **line_kw : object
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        display : TradeoffDisplay

        Raises
        ------
        TypeError
            If ``guarantee`` is none.
        """
        if not isinstance(guarantee, Guarantee):
            raise TypeError(
                "guarantee is none, got an object of type "
                f"{type(guarantee).__name__}. Allowed: a guarantee of "
                "skdp.accounting. Pass privacy_spent_.guarantee, or the estimator to "
                "from_estimator."
            )
        type_1, type_2 = _curve(guarantee)
        if name is None:
            name = f"{type(guarantee).__name__}, {guarantee.adjacency}"
        display = cls(type_1=type_1, type_2=type_2, name=name)
        return display.plot(
            ax, kind=kind, plot_chance_level=plot_chance_level, **line_kw
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        kind: str = "errors",
        name: str | None = None,
        ax: Any = None,
        plot_chance_level: bool = True,
        **line_kw: Any,
    ) -> "TradeoffDisplay":
        """Draw the curve of what a fitted estimator spent.

        Parameters
        ----------
        estimator : estimator
            Fitted, with a guarantee in ``privacy_spent_``. For a pipeline pass
            ``skdp.privacy_spent(pipeline).guarantee`` to :meth:`from_guarantee`.
        kind : {"errors", "roc"}, default="errors"
            As in :meth:`plot`.
        name : str, default=None
            What the legend calls the curve; None takes the class of the estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        plot_chance_level : bool, default=True
            Whether to draw the line of an attacker who guesses.
        **line_kw : object
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        display : TradeoffDisplay

        Raises
        ------
        TypeError
            If the estimator is not private itself, or has no guarantee.
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        """
        check_is_fitted(estimator)
        spent = getattr(estimator, "privacy_spent_", None)
        if not isinstance(spent, PrivacySpent) or spent.guarantee is None:
            raise TypeError(
                f"the estimator has no guarantee, got {type(estimator).__name__}. "
                "Allowed: a fitted private estimator of this package whose claim is "
                "proved or certified. For a pipeline pass "
                "skdp.privacy_spent(pipeline).guarantee to from_guarantee."
            )
        return cls.from_guarantee(
            spent.guarantee,
            kind=kind,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            plot_chance_level=plot_chance_level,
            **line_kw,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "errors",
        plot_chance_level: bool = True,
        **line_kw: Any,
    ) -> "TradeoffDisplay":
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        kind : {"errors", "roc"}, default="errors"
            "errors": misses against false alarms. "roc": people found at most against
            false alarms, on logarithmic axes, where an attack that is sure of a few
            people would show.
        plot_chance_level : bool, default=True
            Whether to draw the line of an attacker who guesses.
        **line_kw : object
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        display : TradeoffDisplay

        Raises
        ------
        ValueError
            If ``kind`` is not one of the choices.
        """
        remedy = "Use 'errors' for misses against false alarms."
        check_choice("kind", kind, KINDS, remedy=remedy)
        check_flag("plot_chance_level", plot_chance_level, remedy="Use True or False.")
        ax = tidy(new_axes(ax))
        draw = self._draw_errors if kind == "errors" else self._draw_roc
        draw(ax, plot_chance_level, {"label": self.name, "linewidth": 2.0} | line_kw)
        if ax.get_legend_handles_labels()[1]:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_errors(self, ax: Any, with_chance: bool, line_kw: dict[str, Any]) -> None:
        (self.line_,) = ax.plot(self.type_1, self.type_2, **line_kw)
        color = self.line_.get_color()
        # no test reaches the pairs of errors below the curve
        ax.fill_between(self.type_1, self.type_2, color=color, alpha=0.06, linewidth=0)
        self.chance_level_ = (
            _chance(ax, [0.0, 1.0], [1.0, 0.0]) if with_chance else None
        )
        ax.set(
            xlabel="false alarms (type I error)",
            ylabel="misses (type II error)",
            xlim=(0.0, 1.0),
            ylim=(0.0, 1.0),
            aspect="equal",
        )

    def _draw_roc(self, ax: Any, with_chance: bool, line_kw: dict[str, Any]) -> None:
        found = 1.0 - self.type_2
        shown = (self.type_1 > 0.0) & (found > 0.0)
        (self.line_,) = ax.plot(self.type_1[shown], found[shown], **line_kw)
        least = float(self.type_1[shown].min(initial=1.0))
        ends = [least, 1.0]
        self.chance_level_ = _chance(ax, ends, ends) if with_chance else None
        ax.set(
            xlabel="false alarms (type I error)",
            ylabel="people found, at most",
            xscale="log",
            yscale="log",
            xlim=(least, 1.0),
        )
        ax.set_ylim(top=1.0)


def _chance(ax: Any, x: list[float], y: list[float]) -> Any:
    style = {"color": SOFT, "linestyle": (0, (4, 3)), "linewidth": 1.0}
    return ax.plot(x, y, label="guessing", zorder=1, **style)[0]


def _curve(guarantee: Guarantee) -> tuple[FloatArray, FloatArray]:
    """Return the curve at points that lie densely at both of its ends."""
    # it holds in both orders of a pair, so it is its own mirror image; the line of
    # slope -1, which starts at 1 - delta(0), touches it where both errors are the same
    equal = max(0.5 * (1.0 - float(guarantee.delta(0.0))), 2 * _LEAST_ALARM)
    alarms = np.append(0.0, np.geomspace(_LEAST_ALARM, equal, _N_ALARMS))
    misses = np.asarray(guarantee.tradeoff(alarms))
    turned = misses > 0.0
    type_1 = np.concatenate([alarms, misses[turned], [1.0]])
    type_2 = np.concatenate([misses, alarms[turned], [0.0]])
    order = np.lexsort((-type_2, type_1))
    return type_1[order], type_2[order]
