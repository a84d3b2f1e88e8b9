"""A synthetic data set that is right for all halfspaces at once, chosen exactly."""

import math
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from skdp._published import PrivateEstimatorMixin
from skdp._typing import FloatArray, IntArray
from skdp._validation import check_choice, check_count, check_positive
from skdp.accounting import Adjacency, PureDP
from skdp.mechanisms import ExponentialMechanism
from skdp.random import integer_weighted
from skdp.synthesis._halfspaces import LARGEST, cube, halfspaces
from skdp.synthesis._multisets import (
    multisets,
    n_multisets,
    n_orders,
    worst_errors,
)
from skdp.synthesis._queries import query_matrix
from skdp.synthesis._table_settings import (
    TableSettings,
    read_table_settings,
    warn_seeded,
)
from skdp.synthesis._whole_records import flat_index

__all__ = ["HalfspaceSynthesizer"]

#: Multiplicities of a candidate are bytes.
_MOST_POINTS = 255
#: Numbers of more digits are told by their order.
_MOST_DIGITS = 15


class HalfspaceSynthesizer(PrivateEstimatorMixin, BaseEstimator):
    r"""The exponential mechanism over synthetic data sets of a few points.

    Every multiset of ``n_points`` records of k bits is a candidate. One is chosen with
    a probability that falls exponentially in its largest error over all halfspaces
    :math:`\pi_1 x_1 + \dots + \pi_{k-1} x_{k-1} \ge x_k` (Blum, Ligett and Roth). The
    choice is exact, so the class is small: wherever it can run, a noisy histogram
    (:class:`SyntheticHistogram`) is several times more accurate. It is here to be
    understood and compared with.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3.
    n_points : int, default=8
        Records of the synthetic data set.
    queries : array-like of shape (n_queries, 2**k), default=None
        Predicates of your own as rows of 0 and 1, one entry for each record of
        :func:`itertools.product` of k bits. None takes all halfspaces, for k up to 4.
    base : {"multisets", "tuples"}, default="multisets"
        Uniform measure over multisets, or over sequences as in the original, which
        favours mixed multisets and has the weaker guarantee.
    max_candidates : int, default=2_000_000
        Refuse to enumerate more.
    random_state : int, Generator, RandomState or None, default=None
        None draws from the operating system. Anything else makes the fit reproducible,
        for tests: ``privacy_spent_.releasable`` is then False.

    Attributes
    ----------
    points_ : ndarray of shape (n_points, k)
        The synthetic data set, released.
    mechanism_ : ExponentialMechanism
        The choice, with scores in units of ``1 / (n_points n)``.
    n_candidates_ : int
        How many multisets there are; public.
    accuracy_bound_ : float
        Bound on the largest error that holds with probability 0.95 for uniform
        multisets; nan for tuples.
    privacy_spent_ : PrivacySpent
        What the fit cost.
    n_features_in_ : int
        Number k of bits.
    feature_names_in_ : ndarray of str
        Names of the columns, when X is a frame whose names are strings.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter out of range, X that is not of bits, or more
        candidates than allowed.

    Notes
    -----
    .. rubric:: Privacy

    Replace-one: the number of records is public. The score, minus the largest error in
    counts, changes by at most 1 / n. Exact arithmetic; the achieved error is never
    shown, as it is private. Running time is not covered. Proof in
    docs/proofs/useful_data.md.

    References
    ----------
    Blum, Ligett and Roth, "A learning theory approach to noninteractive database
    privacy", JACM 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.synthesis import HalfspaceSynthesizer
    >>> X = np.repeat([[0, 1], [1, 1], [1, 0]], [500, 300, 200], axis=0)
    >>> synthesizer = HalfspaceSynthesizer(epsilon=2.0, n_points=10).fit(X)
    >>> synthesizer.points_.shape, synthesizer.n_candidates_
    ((10, 2), 286)
    >>> round(synthesizer.accuracy_bound_, 3)
    0.109
    """

    _released: ClassVar[frozenset[str]] = frozenset(
        {
            "accuracy_bound_",
            "feature_names_in_",
            "mechanism_",
            "n_candidates_",
            "n_features_in_",
            "points_",
            "privacy_spent_",
            "_source",
        }
    )

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        n_points: int = 8,
        queries: Any = None,
        base: str = "multisets",
        max_candidates: int = 2_000_000,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.n_points = n_points
        self.queries = queries
        self.base = base
        self.max_candidates = max_candidates
        self.random_state = random_state

    #: No delta: the mechanism is pure.
    delta: ClassVar[float] = 0.0

    def fit(self, X: Any, y: object = None) -> Self:
        """Score every candidate, choose one, and forget the data.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Records of k bits.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self : HalfspaceSynthesizer
        """
        settings = read_table_settings(self, adjacency="replace-one")
        n_points = check_count(
            "n_points", self.n_points, minimum=1, remedy="Pass how many points."
        )
        check_choice(
            "base", self.base, ("multisets", "tuples"), remedy="Use 'multisets'."
        )
        with self._whole_fit():
            self._fit(X, settings, n_points)
        warn_seeded(settings.source)
        return self

    def _fit(self, X: Any, settings: TableSettings, n_points: int) -> None:
        """Enter the bits, score every candidate, choose one, and publish it."""
        X = validate_data(self, X, dtype=None)
        n_rows, n_bits = X.shape
        self._check_width(n_bits)
        queries = self._queries(n_bits)
        n_candidates = self._affordable(n_points, 1 << n_bits)
        counts = np.bincount(flat_index(_bits(X), (2,) * n_bits), minlength=1 << n_bits)
        table, orders = _candidates(n_points, 1 << n_bits, self.base)
        mechanism = ExponentialMechanism(
            self.epsilon,
            n_points,
            base_measure=orders,
            selection="exponential",
            adjacency=Adjacency.REPLACE_ONE,
        )
        scores = -worst_errors(
            table, queries, queries.astype(np.int64) @ counts, n_rows
        )
        chosen = mechanism.release(scores, settings.source).output
        points = np.repeat(cube(n_bits), table[int(chosen[0])], axis=0)
        guarantee = PureDP(
            self.epsilon,
            adjacency=Adjacency.REPLACE_ONE,
            assumptions=("every entry is 0 or 1",),
            source="exact choice of a data set, docs/proofs/useful_data.md",
        )
        self._publish(
            points_=points,
            mechanism_=mechanism,
            n_candidates_=n_candidates,
            privacy_spent_=settings.spent(guarantee, name="ExponentialMechanism"),
            _source=settings.source,
        )
        self._publish(accuracy_bound_=self.error_bound(n_rows))

    def _check_width(self, n_bits: int) -> None:
        """Refuse columns of which one point alone has too many candidates."""
        if n_bits >= self._cap().bit_length():
            raise ValueError(
                f"X has {n_bits} columns, so one point alone has 2**{n_bits} "
                f"candidates. Allowed: up to max_candidates={self._cap()} in all. Use "
                "fewer columns, or a TableSampler, which has no such limit."
            )

    def _queries(self, n_bits: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        if self.queries is not None:
            return query_matrix(self.queries, 1 << n_bits)
        if not 2 <= n_bits <= LARGEST:
            raise ValueError(
                f"all halfspaces are enumerated for 2 to {LARGEST} bits, got X with "
                f"{n_bits} features. Allowed: fewer columns, or queries of your own. "
                "Pass queries, or use SyntheticHistogram."
            )
        return halfspaces(n_bits)

    def _cap(self) -> int:
        return check_count(
            "max_candidates",
            self.max_candidates,
            minimum=1,
            remedy="Pass how many candidates fit into memory.",
        )

    def _affordable(self, n_points: int, n_cells: int) -> int:
        cap = self._cap()
        n_candidates = n_multisets(min(n_points, _MOST_POINTS), n_cells)
        if n_candidates > cap or n_points > _MOST_POINTS:
            raise ValueError(
                f"there are {_told(n_candidates)} candidates with n_points={n_points} "
                f"over {n_cells} different records. Allowed: up to max_candidates="
                f"{cap}, and {_MOST_POINTS} points. Use fewer points or columns; "
                "SyntheticHistogram has no such limit, and is more accurate."
            )
        return n_candidates

    def error_bound(self, n_rows: int, *, failure: float = 0.05) -> float:
        r"""Bound the largest error on any data of ``n_rows`` records.

        :math:`\frac{N}{4m} + \frac{2}{n\epsilon}(\log M + \log\frac1\beta)` with N
        different records and M multisets.

        Parameters
        ----------
        n_rows : int
            Number of records, public or hypothetical.
        failure : float, default=0.05
            Probability within (0, 1) that the bound may fail.

        Returns
        -------
        float
        """
        check_is_fitted(self, "privacy_spent_")
        n_rows = check_count("n_rows", n_rows, minimum=1, remedy="Pass how many.")
        failure = check_positive(
            "failure", failure, maximum=1.0, remedy="Pass a probability, such as 0.05."
        )
        if self.mechanism_.base_measure is not None:
            return math.nan
        n_cells = 2**self.n_features_in_
        choice = math.log(self.n_candidates_) - math.log(failure)
        rounding = n_cells / (4.0 * len(self.points_))
        bound: float = rounding + 2.0 / (n_rows * self.mechanism_.epsilon) * choice
        return bound

    def sample(self, k: int = 1) -> IntArray:
        """Draw records from the synthetic data set; free, and any number.

        Parameters
        ----------
        k : int, default=1
            How many, >= 0.

        Returns
        -------
        rows : ndarray of shape (k, n_features_in_)
        """
        check_is_fitted(self, "privacy_spent_")
        k = check_count("k", k, minimum=0, remedy="Say how many rows to take.")
        weights = np.ones(len(self.points_), dtype=np.int64)
        drawn: IntArray = self.points_[integer_weighted(weights, k, self._source)]
        return drawn

    def pdp_loss(self, X: Any, y: object = None) -> FloatArray:
        """Bound what this release cost each person: epsilon for everybody.

        Parameters
        ----------
        X : array-like of shape (n, k)
            The records asked about.
        y : None
            Ignored; present by convention.

        Returns
        -------
        loss : ndarray of shape (n,)
        """
        check_is_fitted(self, "privacy_spent_")
        X = validate_data(self, X, dtype=None, reset=False)
        return np.full(len(X), self.privacy_spent_.epsilon)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        # records of bits, and few of them
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = True
        tags.non_deterministic = self.random_state is None
        return tags


def _told(number: int) -> str:
    digits = len(str(number))
    return str(number) if digits <= _MOST_DIGITS else f"over 10**{digits - 1}"


def _bits(X: Any) -> IntArray:
    """Return a table of bits as integers, refusing what is not, unquoted."""
    if X.dtype.kind not in "biuf" or not np.all((X == 0) | (X == 1)):
        raise ValueError(
            "X must hold bits, got something else. Allowed: 0 and 1. Encode every "
            "column as one or several public yes-or-no questions."
        )
    bits: IntArray = X.astype(np.int64)
    return bits


@lru_cache(maxsize=2)
def _candidates(
    n_points: int, n_cells: int, base: str
) -> tuple[np.ndarray[Any, np.dtype[np.uint8]], tuple[int, ...] | None]:
    """Return all multisets, and how many sequences each is if that is the measure."""
    table = multisets(n_points, n_cells)
    return table, tuple(n_orders(table)) if base == "tuples" else None
