"""Private choice of the best of finitely many public candidates."""

import numbers
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_array, check_consistent_length
from sklearn.utils.validation import validate_data

from skdp._discreet import discreet
from skdp._typing import MatrixLike
from skdp.accounting import Adjacency, PrivacyPart, PrivacySpent
from skdp.exceptions import NotForReleaseWarning
from skdp.linear_model._base import PrivateEstimatorMixin
from skdp.mechanisms import ExponentialMechanism
from skdp.random import as_random_source

__all__ = ["PrivateSelector"]


class PrivateSelector(PrivateEstimatorMixin, BaseEstimator):
    """Choose the best of finitely many public candidates, privately.

    Each candidate is scored on the data, and one is chosen, a better one with a higher
    probability. The scores themselves are forgotten.

    Parameters
    ----------
    candidates : sequence
        What to choose from, at least one; public, and fixed without a look at the data.
    scoring : callable
        ``scoring(candidate, X, y)`` returns one finite number, larger for better; ``y``
        is None when ``fit`` gets none. An int, a float or a Fraction counts as the
        exact number it is.
    epsilon : float, default=1.0
        Privacy loss bound of the fit in nats, from 1e-9 to 1e3.
    sensitivity : float, int or Fraction
        Bound > 0 on how much one row can change the score of one candidate, rounding
        included. It has no default, as none could be right.
    monotone : bool, default=False
        Whether one more row moves the scores of all candidates the same way, as it does
        with counts. Halves the noise; refused under replace-one.
    base_measure : sequence of int, Fraction or float, default=None
        Public weights >= 0 of the candidates; 0 excludes one.
    selection : {"auto", "exponential", "permute-and-flip"}, default="auto"
        The law, see :class:`~skdp.mechanisms.ExponentialMechanism`.
    exact : bool, default=True
        Integer arithmetic; False makes the choice in floating point, which only pays
        with very many candidates.
    score_range : tuple of two floats, default=None
        Public bounds to which scores are clamped, nan to the lower one. None refuses
        scores that are not finite.
    adjacency : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation for which ``sensitivity`` holds.
    random_state : int, Generator, RandomState or None, default=None
        None draws from the operating system. Anything else makes the fit reproducible,
        for tests: ``privacy_spent_.releasable`` is then False.

    Attributes
    ----------
    best_candidate_ : object
        The chosen candidate.
    best_index_ : int
        Its place in ``candidates``.
    mechanism_ : ExponentialMechanism
        The public constants of the choice.
    privacy_spent_ : PrivacySpent
        What the fit cost.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X has string names.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter out of range (before the data is read), wrong
        shapes, entries or scores that are not finite.
    TypeError
        From ``fit``, for a parameter or a score of the wrong type.

    See Also
    --------
    skdp.mechanisms.ExponentialMechanism : The mechanism, for scores at hand.

    Notes
    -----
    .. rubric:: Privacy

    Pure epsilon and zCDP at once, for the chosen candidate. Assumes finite entries, at
    least one row, and that ``sensitivity`` (and ``monotone``) hold for ``scoring``,
    which nothing here can check. What that function prints, stores or raises is not
    covered, nor is running time. Proof in docs/proofs/exponential.md.

    Examples
    --------
    A private median on a public grid. A row moves the number of rows below a candidate,
    less half of all rows, by one half:

    >>> import numpy as np
    >>> from skdp.model_selection import PrivateSelector
    >>> def halves(candidate, X, y):
    ...     return -abs(int((X[:, 0] <= candidate).sum()) - len(X) / 2)
    >>> X = np.linspace(20, 60, 1001)[:, None]
    >>> selector = PrivateSelector(range(0, 121, 10), halves, sensitivity=0.5)
    >>> selector.fit(X).best_candidate_
    40
    >>> selector.privacy_spent_.epsilon
    1.0
    """

    _released: ClassVar[frozenset[str]] = frozenset(
        {
            "best_candidate_",
            "best_index_",
            "feature_names_in_",
            "mechanism_",
            "n_features_in_",
            "privacy_spent_",
        }
    )

    def __init__(
        self,
        candidates: Sequence[Any],
        scoring: Callable[[Any, Any, Any], Any],
        *,
        epsilon: float = 1.0,
        sensitivity: Any,
        monotone: bool = False,
        base_measure: Any = None,
        selection: str = "auto",
        exact: bool = True,
        score_range: Any = None,
        adjacency: str = "add-remove",
        random_state: Any = None,
    ) -> None:
        self.candidates = candidates
        self.scoring = scoring
        self.epsilon = epsilon
        self.sensitivity = sensitivity
        self.monotone = monotone
        self.base_measure = base_measure
        self.selection = selection
        self.exact = exact
        self.score_range = score_range
        self.adjacency = adjacency
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: MatrixLike = None) -> Self:
        """Score the candidates and choose one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of finite numbers.
        y : array-like of shape (n_samples,), default=None
            Targets, handed to ``scoring``.

        Returns
        -------
        self : PrivateSelector
            Fitted; it holds the choice and public constants only.
        """
        mechanism = self._mechanism()
        candidates = self._candidates(mechanism)
        source = as_random_source(self.random_state)
        X, y = _enter(self, X, y)
        scores = [_number(self.scoring(c, X, y)) for c in candidates]
        index = int(mechanism.release(scores, source).output[0])
        self._publish(
            best_candidate_=candidates[index],
            best_index_=index,
            mechanism_=mechanism,
            privacy_spent_=_spent(mechanism, seeded=source.seeded),
        )
        if source.seeded:
            warnings.warn(
                "the choice was made with random_state, so whoever knows it can repeat "
                "the choice: this fit is for tests, not for release. Leave "
                "random_state=None to publish.",
                NotForReleaseWarning,
                stacklevel=2,
            )
        return self

    def _mechanism(self) -> ExponentialMechanism:
        return ExponentialMechanism(
            self.epsilon,
            self.sensitivity,
            monotone=self.monotone,
            base_measure=self.base_measure,
            selection=self.selection,
            exact=self.exact,
            score_range=self.score_range,
            adjacency=cast(Adjacency, self.adjacency),  # checked there
        )

    def _candidates(self, mechanism: ExponentialMechanism) -> list[Any]:
        """Return the candidates as a list, checked with the other parameters."""
        if not callable(self.scoring):
            raise TypeError(
                f"scoring must be callable, got {self.scoring!r}. Allowed: a function "
                "of (candidate, X, y). Pass how good a candidate is on the data."
            )
        if isinstance(self.candidates, str) or not hasattr(self.candidates, "__len__"):
            raise TypeError(
                f"candidates must be a sequence, got {self.candidates!r}. Allowed: a "
                "list, tuple, range or array. Pass what to choose from."
            )
        candidates = list(self.candidates)
        if not candidates:
            raise ValueError(
                "candidates is empty. Allowed: at least one candidate. Pass what to "
                "choose from."
            )
        measure = mechanism.base_measure
        if measure is not None and len(measure) != len(candidates):
            raise ValueError(
                "base_measure and candidates differ in length, got "
                f"{len(measure)} and {len(candidates)}. Allowed: one measure a "
                "candidate. Weigh every candidate."
            )
        return candidates

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags


@discreet
def _enter(
    estimator: PrivateSelector, X: MatrixLike, y: MatrixLike
) -> tuple[MatrixLike, MatrixLike]:
    """Return X and y as arrays of finite entries; set the feature attributes."""
    X = validate_data(estimator, X)
    if y is not None:
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        check_consistent_length(X, y)
    return X, y


def _number(score: Any) -> Any:
    """Return what ``scoring`` returned when it is one number; quote none of it."""
    if isinstance(score, np.ndarray) and score.ndim == 0:
        score = score[()]
    if not isinstance(score, numbers.Real):
        raise TypeError(
            "scoring returned something else than a number. Allowed: an int, a float "
            "or a Fraction. Return one number for the candidate, for example a mean."
        )
    return score


def _spent(mechanism: ExponentialMechanism, *, seeded: bool) -> PrivacySpent:
    guarantee = mechanism.guarantee
    assumptions = (
        *guarantee.assumptions,
        "candidates are public",
        "all entries are finite",
        "there is at least one row",
    )
    guarantee = replace(guarantee, assumptions=assumptions)
    return PrivacySpent(
        guarantee,
        0.0,
        parts=(PrivacyPart("ExponentialMechanism", guarantee),),
        releasable=not seeded,
        level="research" if seeded else "exact" if mechanism.exact else "default",
        grade="proved" if mechanism.exact else "numerically certified",
    )
