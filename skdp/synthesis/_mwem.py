"""Multiplicative weights with the exponential mechanism."""

from typing import Any, ClassVar, Self

import numpy as np

from skdp._validation import check_count
from skdp.synthesis._codebook import enter_table
from skdp.synthesis._multiplicative_weights import MultiplicativeWeights
from skdp.synthesis._plan import check_delta_of
from skdp.synthesis._queries import (
    check_pair_queries,
    pair_queries,
    query_matrix,
)
from skdp.synthesis._released_table import ReleasedTable
from skdp.synthesis._table_settings import (
    TableSettings,
    read_table_settings,
    warn_seeded,
)
from skdp.synthesis._whole_records import flat_index

__all__ = ["MWEM"]

#: Most different records.
MOST_CELLS = 1 << 20


class MWEM(ReleasedTable):
    r"""A distribution over all records that answers many queries, learned in rounds.

    It starts uniform. Each round chooses a query that it answers badly, by the
    exponential mechanism, measures that query with noise, and reweights the records
    towards all measurements so far (Hardt, Ligett and McSherry). It is for more
    different records than a noisy histogram can bear, up to a million or so:
    :class:`SyntheticHistogram` decides by public numbers.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3, for all rounds together;
        each round needs about 2e-9.
    delta : float, default=0.0
        0 for pure differential privacy. Above 0 rounds add up in zero-concentrated DP,
        which allows more of them.
    categories : mapping, list of lists, or "dtype"
        The public categories of every column, as in :class:`TableSampler`.
    queries : array-like of shape (n_queries, n_records), default=None
        Predicates as rows of 0 and 1, one entry for each record of
        :func:`itertools.product` of the categories. None takes the cells of all two-way
        marginals.
    n_rounds : int, default=10
        Rounds; fixed beforehand, as no error on the data may decide when to stop.
    handle_unknown : {"error", "other"}, default="error"
        Whether a value that is not declared raises, or counts as the last category of
        its column.
    random_state : int, Generator, RandomState or None, default=None
        None draws from the operating system. Anything else makes the fit reproducible,
        for tests: ``privacy_spent_.releasable`` is then False.

    Attributes
    ----------
    probabilities_ : ndarray of shape (categories of column 1, ..., of column d)
        The learned distribution, released.
    categories_ : list of ndarray
        The declared categories of the columns.
    mechanism_ : MultiplicativeWeights
        The public constants of the rounds.
    privacy_spent_ : PrivacySpent
        What the fit cost, by choices and measurements.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, when X is a frame whose names are strings.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter out of range, too many different records, or a
        value that is not declared.

    Notes
    -----
    .. rubric:: Privacy

    Replace-one: the number of records is public. Choices are exact, on integer scores;
    noise is discrete. Running time is not covered. Proof in docs/proofs/useful_data.md.

    References
    ----------
    Hardt, Ligett and McSherry, "A simple and practical algorithm for differentially
    private data release", NeurIPS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.synthesis import MWEM
    >>> X = np.repeat([[0, 0, 1], [1, 1, 0]], [700, 300], axis=0)
    >>> model = MWEM(epsilon=2.0, categories=[[0, 1]] * 3, n_rounds=6).fit(X)
    >>> model.probabilities_.shape, model.sample(4).shape
    ((2, 2, 2), (4, 3))
    >>> bool(abs(model.probabilities_[0, 0].sum() - 0.7) < 0.2)
    True
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        categories: Any = None,
        queries: Any = None,
        n_rounds: int = 10,
        handle_unknown: str = "error",
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.categories = categories
        self.queries = queries
        self.n_rounds = n_rounds
        self.handle_unknown = handle_unknown
        self.random_state = random_state

    #: The number of records enters every answer.
    adjacency: ClassVar[str] = "replace-one"

    def fit(self, X: Any, y: object = None) -> Self:
        """Run the rounds, spend the budget, and forget the table.

        Parameters
        ----------
        X : DataFrame or array of shape (n, d)
            One record a row.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self : MWEM
        """
        settings = read_table_settings(self)
        n_rounds = check_count(
            "n_rounds", self.n_rounds, minimum=1, remedy="Pass how many rounds."
        )
        with self._whole_fit():
            self._fit(X, settings, n_rounds)
        warn_seeded(settings.source)
        return self

    def _fit(self, X: Any, settings: TableSettings, n_rounds: int) -> None:
        """Enter the table, calibrate, run the rounds and publish."""
        X, book = enter_table(self, X, settings.declared)
        check_delta_of(settings.delta, X.shape[0])
        queries = self._table_of_queries(book.sizes, book.n_records)
        mechanism = MultiplicativeWeights.calibrate(
            settings.target, n_rows=X.shape[0], n_rounds=n_rounds
        )
        cells = flat_index(book.encode(X, unknown=settings.unknown), book.sizes)
        counts = np.bincount(cells, minlength=book.n_records)
        law = mechanism.release(counts, queries, settings.source)
        self._publish(
            categories_=[alphabet.values for alphabet in book.alphabets],
            probabilities_=law.reshape(book.sizes),
            mechanism_=mechanism,
            privacy_spent_=settings.spent(mechanism.guarantee, mechanism.parts),
            _codebook=book,
            _source=settings.source,
            _unknown=settings.unknown,
        )

    def _table_of_queries(self, sizes: tuple[int, ...], n_cells: int) -> Any:
        if n_cells > MOST_CELLS:
            raise ValueError(
                f"there are {n_cells} different records, and the distribution has an "
                f"entry for each. Allowed: up to {MOST_CELLS}. Use "
                "TableSampler(method='tree')."
            )
        if self.queries is not None:
            return query_matrix(self.queries, n_cells)
        check_pair_queries(sizes)
        return pair_queries(sizes)
