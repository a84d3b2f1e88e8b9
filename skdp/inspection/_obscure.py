"""How likely a symbol is obscured, against the rarest count."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdp._typing import ArrayLike
from skdp._validation import check_epsilon
from skdp.accounting import Adjacency, PureDP
from skdp.inspection._axes import new_axes
from skdp.mechanisms import DataSpecificROO

__all__ = ["ObscureProbabilityDisplay"]


class ObscureProbabilityDisplay:
    """Probability of a uniform symbol, against the count of the rarest one.

    The curve is public: it depends on the numbers of records and categories and on
    epsilon. Which point of it a fit used is private, and nobody keeps it.

    Parameters
    ----------
    probabilities : array-like of shape (n_counts,)
        q_0, q_1, ..., the probability to obscure when the rarest symbol occurs 0, 1,
        ... times.
    reference : float, default=None
        Probability of plain reveal-or-obscure, drawn as a level.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curve is.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    line_ : matplotlib Line2D
        The curve.

    Examples
    --------
    >>> from skdp.inspection import ObscureProbabilityDisplay
    >>> display = ObscureProbabilityDisplay.from_parameters(
    ...     n_rows=12, n_categories=3, epsilon=0.7)
    >>> display.probabilities.round(3)
    array([0.198, 0.063, 0.   , 0.   , 0.   ])
    """

    def __init__(
        self, *, probabilities: ArrayLike, reference: float | None = None
    ) -> None:
        self.probabilities = np.asarray(probabilities, dtype=np.float64)
        self.reference = reference

    @classmethod
    def from_parameters(
        cls, *, n_rows: int, n_categories: int, epsilon: float, ax: Any = None
    ) -> "ObscureProbabilityDisplay":
        """Compute the curve and draw it.

        Parameters
        ----------
        n_rows : int
            Number of records.
        n_categories : int
            Number of categories, at least 2.
        epsilon : float
            Privacy loss bound in nats.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : ObscureProbabilityDisplay
        """
        target = PureDP(check_epsilon(epsilon), adjacency=Adjacency.REPLACE_ONE)
        mechanism = DataSpecificROO.calibrate(
            target, n_categories=n_categories, n_rows=n_rows
        )
        return cls._of(mechanism.obscure_probabilities, n_rows // n_categories, ax)

    @classmethod
    def from_estimator(
        cls, sampler: Any, *, ax: Any = None
    ) -> "ObscureProbabilityDisplay":
        """Draw the curve of a fitted ``ROOSampler(profile="ds-roo")``.

        Parameters
        ----------
        sampler : ROOSampler
            Fitted, with replace-one and a profile that obscures.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : ObscureProbabilityDisplay

        Raises
        ------
        ValueError
            If the sampler has no probability to obscure.
        """
        check_is_fitted(sampler)
        found = getattr(sampler, "obscure_probability_", None)
        if found is None:
            raise ValueError(
                "the sampler does not obscure with a public probability, got profile "
                f"{getattr(sampler, 'profile_', None)!r}. Allowed: profiles 'roo' and "
                "'ds-roo' under replace-one. Fit such a sampler."
            )
        return cls._of(np.atleast_1d(found), 0, ax)

    @classmethod
    def _of(cls, probabilities: Any, last: int, ax: Any) -> "ObscureProbabilityDisplay":
        values = np.asarray(probabilities, dtype=np.float64)
        padded = np.pad(values, (0, max(0, last + 1 - values.size)))
        return cls(probabilities=padded, reference=float(values[0])).plot(ax=ax)

    def plot(self, ax: Any = None) -> "ObscureProbabilityDisplay":
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : ObscureProbabilityDisplay
        """
        ax = new_axes(ax)
        counts = np.arange(self.probabilities.size)
        (self.line_,) = ax.plot(
            counts, self.probabilities, drawstyle="steps-mid", label="ds-roo"
        )
        if self.reference is not None:
            ax.axhline(self.reference, color="0.6", linestyle="--", label="roo")
        ax.set(xlabel="count of the rarest category", ylabel="probability to obscure")
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
