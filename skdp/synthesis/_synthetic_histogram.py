"""The whole histogram of a table, by whatever method its size calls for."""

import math
from typing import Any, ClassVar, Self

import numpy as np

from skdp._validation import (
    check_choice,
    check_count,
    check_epsilon,
    check_positive,
)
from skdp.accounting import Adjacency, ApproximateDP, ZeroConcentratedDP
from skdp.mechanisms import NoisyHistogram
from skdp.synthesis._codebook import Codebook, enter_table
from skdp.synthesis._marginal_tree import MarginalTree, TreePlan
from skdp.synthesis._multiplicative_weights import MultiplicativeWeights
from skdp.synthesis._mwem import MOST_CELLS
from skdp.synthesis._plan import check_delta_of
from skdp.synthesis._projection import nearest_distribution
from skdp.synthesis._queries import (
    check_pair_queries,
    pair_queries,
    pair_queries_fit,
)
from skdp.synthesis._released_table import ReleasedTable
from skdp.synthesis._table_settings import (
    TableSettings,
    concentrated_share,
    read_table_settings,
    warn_seeded,
)
from skdp.synthesis._whole_records import flat_index

__all__ = ["SyntheticHistogram"]

METHODS = ("auto", "histogram", "mwem", "tree")
#: Weights serve up to here, as far as their queries fit.
_MOST_WEIGHTS = 1 << 16


class SyntheticHistogram(ReleasedTable):
    r"""A distribution over the records of a table, from which any number is drawn.

    With few different records a histogram with noise in every cell is most accurate;
    with more, multiplicative weights learn what matters for two-way marginals; with
    still more, a tree of marginals. ``method="auto"`` looks at the numbers of different
    records and of rows, and at epsilon, never at the table.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3.
    delta : float, default=0.0
        0 for pure differential privacy; above 0 for Gaussian noise.
    categories : mapping, list of lists, or "dtype"
        The public categories of every column, as in :class:`TableSampler`.
    method : {"auto", "histogram", "mwem", "tree"}, default="auto"
        ``"auto"`` takes the histogram where :meth:`histogram_error` is at most
        ``target_error``, otherwise multiplicative weights for up to 65,536 different
        records if the table of queries fits into memory, otherwise the tree, or the
        histogram where ``delta=0`` rules a tree out.
    target_error : float, default=0.05
        Error of a query's share within (0, 1) that is good enough.
    n_rounds : int, default=10
        Rounds of multiplicative weights.
    adjacency : {"replace-one", "add-remove"}, default="replace-one"
        Neighbouring relation. Multiplicative weights need replace-one, under which the
        number of records is public; so ``"auto"`` takes the histogram or the tree under
        add-remove, by the number of different records alone.
    handle_unknown : {"error", "other"}, default="error"
        Whether a value that is not declared raises, or counts as the last category of
        its column.
    random_state : int, Generator, RandomState or None, default=None
        None draws from the operating system. Anything else makes the fit reproducible,
        for tests: ``privacy_spent_.releasable`` is then False.

    Attributes
    ----------
    method_ : {"histogram", "mwem", "tree"}
        What was done; public.
    probabilities_ : ndarray of shape (categories of column 1, ..., of column d)
        The distribution, released. Not there for a tree.
    tree_ : MarginalTree
        The released marginals. Only there for a tree.
    categories_ : list of ndarray
        The declared categories of the columns.
    mechanism_ : object
        The public constants of the release.
    privacy_spent_ : PrivacySpent
        What the fit cost.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, when X is a frame whose names are strings.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter out of range, parameters that do not go together,
        too many different records, or a value that is not declared.

    Notes
    -----
    .. rubric:: Privacy

    Adjacency as given; integer noise on exact counts. Running time is not covered.
    Proofs: docs/proofs/noisy_histogram.md, useful_data.md and marginal_tree.md.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.synthesis import SyntheticHistogram
    >>> X = np.repeat([[0, 0], [0, 1], [1, 1]], [500, 300, 200], axis=0)
    >>> model = SyntheticHistogram(epsilon=1.0, categories=[[0, 1], [0, 1]]).fit(X)
    >>> model.method_, model.probabilities_.shape
    ('histogram', (2, 2))
    >>> round(model.histogram_error(n_records=4, n_rows=1000), 4)
    0.0057
    """

    _released: ClassVar[frozenset[str]] = ReleasedTable._released | {"method_", "tree_"}
    tree_: MarginalTree
    method_: str

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        categories: Any = None,
        method: str = "auto",
        target_error: float = 0.05,
        n_rounds: int = 10,
        adjacency: str = "replace-one",
        handle_unknown: str = "error",
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.categories = categories
        self.method = method
        self.target_error = target_error
        self.n_rounds = n_rounds
        self.adjacency = adjacency
        self.handle_unknown = handle_unknown
        self.random_state = random_state

    def histogram_error(self, *, n_records: int, n_rows: int) -> float:
        r"""Return how far a noisy histogram is off on a query of half the cells.

        :math:`\sqrt{8 N} / (n \epsilon)`, a public number: the standard deviation of
        the sum of N / 2 noises of scale :math:`2/\epsilon`, doubled.

        Parameters
        ----------
        n_records : int
            Number N of different records.
        n_rows : int
            Number n of rows.

        Returns
        -------
        float
        """
        remedy = "Pass how many."
        n_records = check_count("n_records", n_records, minimum=1, remedy=remedy)
        n_rows = check_count("n_rows", n_rows, minimum=1, remedy=remedy)
        epsilon = check_epsilon(self.epsilon)
        return math.sqrt(8.0 * n_records) / (n_rows * epsilon)

    def fit(self, X: Any, y: object = None) -> Self:
        """Release the distribution, spend the budget, and forget the table.

        Parameters
        ----------
        X : DataFrame or array of shape (n, d)
            One record a row.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self : SyntheticHistogram
        """
        settings = self._settings()
        with self._whole_fit():
            self._fit(X, settings)
        warn_seeded(settings.source)
        return self

    def _fit(self, X: Any, settings: TableSettings) -> None:
        """Enter the table, choose by public numbers, release and publish."""
        X, book = enter_table(self, X, settings.declared)
        n_rows = settings.public_size(X.shape[0])
        if n_rows is not None:
            check_delta_of(settings.delta, n_rows)
        method = self._method(settings, book.sizes, n_rows)
        made = self._mechanism(settings, method, book, n_rows)
        codes = book.encode(X, unknown=settings.unknown)
        for name in ("probabilities_", "tree_"):
            if hasattr(self, name):
                delattr(self, name)
        if isinstance(made, TreePlan):
            guarantee = ZeroConcentratedDP(made.rho, adjacency=settings.adjacency)
            spent = settings.spent(guarantee, made.parts)
            self._publish(tree_=made.release(codes, settings.source))
        else:
            spent = settings.spent(made.guarantee, name=type(made).__name__)
            self._publish(probabilities_=_released(made, codes, book, settings))
        self._publish(
            categories_=[alphabet.values for alphabet in book.alphabets],
            method_=method,
            mechanism_=made,
            privacy_spent_=spent,
            _codebook=book,
            _source=settings.source,
            _unknown=settings.unknown,
        )

    def _settings(self) -> TableSettings:
        settings = read_table_settings(self)
        check_choice("method", self.method, METHODS, remedy="Use 'auto' if in doubt.")
        check_count(
            "n_rounds", self.n_rounds, minimum=1, remedy="Pass how many rounds."
        )
        check_positive(
            "target_error",
            self.target_error,
            maximum=1.0,
            remedy="Pass an error that is good enough, such as 0.05.",
        )
        private = settings.adjacency is Adjacency.ADD_REMOVE
        pure = not isinstance(settings.target, ApproximateDP)
        for wrong, what in (
            (
                self.method == "mwem" and private,
                "method='mwem' uses the number of rows",
            ),
            (self.method == "tree" and pure, "method='tree' needs delta > 0"),
        ):
            if wrong:
                raise ValueError(
                    f"the parameters do not go together: {what}, got adjacency="
                    f"{str(settings.adjacency)!r} and delta={settings.delta!r}. "
                    "Allowed: see the parameters. Use method='auto'."
                )
        return settings

    def _method(
        self, settings: TableSettings, sizes: tuple[int, ...], n_rows: int | None
    ) -> str:
        """Return the method from public numbers alone."""
        n_records = math.prod(sizes)
        if self.method != "auto":
            return self.method
        pure = not isinstance(settings.target, ApproximateDP)
        if n_rows is None:
            few = n_records <= _MOST_WEIGHTS or (pure and n_records <= MOST_CELLS)
            return "histogram" if few else "tree"
        error = self.histogram_error(n_records=n_records, n_rows=n_rows)
        if n_records <= MOST_CELLS and error <= self.target_error:
            return "histogram"
        if n_records <= _MOST_WEIGHTS and self._weights_serve(settings, sizes, n_rows):
            return "mwem"
        return "histogram" if pure else "tree"

    def _weights_serve(
        self, settings: TableSettings, sizes: tuple[int, ...], n_rows: int
    ) -> bool:
        """Tell whether the queries fit, and every round has a share of epsilon."""
        if not pair_queries_fit(sizes):
            return False
        try:
            MultiplicativeWeights.calibrate(
                settings.target, n_rows=n_rows, n_rounds=self.n_rounds
            )
        except ValueError:
            return False
        return True

    def _mechanism(
        self, settings: TableSettings, method: str, book: Codebook, n_rows: int | None
    ) -> NoisyHistogram | MultiplicativeWeights | TreePlan:
        target = settings.target
        if method == "tree" and isinstance(target, ApproximateDP):
            return TreePlan.calibrate(
                concentrated_share(target),
                sizes=book.sizes,
                adjacency=settings.adjacency,
                n_rows=n_rows,
                group_size=1,
            )
        if method == "tree" or book.n_records > MOST_CELLS:
            raise ValueError(
                f"there are {book.n_records} different records, and the distribution "
                f"has an entry for each. Allowed: up to {MOST_CELLS}, or delta > 0, "
                "which allows a tree. Set delta, or coarsen the columns."
            )
        if method == "mwem" and n_rows is not None:
            check_pair_queries(book.sizes)
            return MultiplicativeWeights.calibrate(
                target, n_rows=n_rows, n_rounds=self.n_rounds
            )
        return NoisyHistogram.calibrate(
            target, n_categories=book.n_records, n_rows=n_rows
        )

    def _codes(self, k: int) -> Any:
        if self.method_ == "tree":
            return self.tree_.draw(k, self._source)
        return super()._codes(k)


def _released(
    made: NoisyHistogram | MultiplicativeWeights,
    codes: Any,
    book: Codebook,
    settings: TableSettings,
) -> Any:
    """Return the released probabilities of all records."""
    counts = np.bincount(flat_index(codes, book.sizes), minlength=book.n_records)
    if isinstance(made, MultiplicativeWeights):
        law = made.release(counts, pair_queries(book.sizes), settings.source)
    else:
        noisy = made.release(counts, settings.source).output
        law = nearest_distribution(noisy, made.n_rows)
    return law.reshape(book.sizes)
