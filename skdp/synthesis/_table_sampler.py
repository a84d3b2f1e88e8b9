"""Private synthetic tables of categories."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skdp._published import PrivateEstimatorMixin
from skdp._typing import FloatArray, IntArray
from skdp._validation import check_choice, check_count
from skdp.accounting import PrivacyPart, PrivacySpent, ZeroConcentratedDP
from skdp.exceptions import BudgetExceededError, LowAccuracyWarning
from skdp.synthesis._codebook import Codebook, encode_asked, enter_table
from skdp.synthesis._columns import IndependentColumns
from skdp.synthesis._marginal_tree import TreePlan
from skdp.synthesis._plan import check_delta_of
from skdp.synthesis._published_loss import draws_loss, release_loss
from skdp.synthesis._table_plan import (
    GOOD,
    METHODS,
    TablePlan,
    TableRequest,
    accuracy_of,
    choose,
    combine_error,
    plan,
)
from skdp.synthesis._table_settings import (
    TableSettings,
    read_table_settings,
    warn_seeded,
)
from skdp.synthesis._whole_records import draw_records

__all__ = ["TableSampler"]

_KEEPS = {
    "records": "everything; bound on the distance of a row's law from the data",
    "columns": "each column alone; bound on the distance from independent columns",
    "tree": "d - 1 pairs of columns; mean distance of a measured pair, at most",
}


class TableSampler(PrivateEstimatorMixin, BaseEstimator):
    r"""Synthetic rows of a private table of categories.

    ``fit`` pays for the release and forgets the table; ``sample`` hands rows out. Whole
    records are drawn from the product of the alphabets without writing it down;
    independent columns keep each column and destroy what connects them; a tree of noisy
    two-way marginals keeps the strongest connections and gives any number of rows.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3, for the whole release.
    delta : float, default=0.0
        0 for pure differential privacy. Above 0: the tree, or draws under exact
        accounting (replace-one only). Must be below one over the number of records
        under replace-one.
    method : {"auto", "records", "columns", "tree"}, default="auto"
        ``"auto"`` decides from public numbers only: whole records if the worst-case
        distance is at most 0.1, otherwise the tree, or columns where ``delta=0``.
        :meth:`choices` lists what each would achieve.
    n_samples : int, default=1
        How many rows ``fit`` draws; they share epsilon. A tree gives any number.
    categories : mapping, list of lists, or "dtype"
        The public categories of every column, by name or by place. They must not be
        read off the data. ``"dtype"``, for a column or for all, asserts that the levels
        of pandas categorical columns are public.
    adjacency : {"replace-one", "add-remove"}, default="replace-one"
        Neighbouring relation of the guarantee. Under replace-one the number of records
        is public.
    group_size : int, default=1
        Largest number of records one person owns; the guarantee covers all of them.
    handle_unknown : {"error", "other"}, default="error"
        Whether a value that is not declared raises, or counts as the last category of
        its column. Missing values are such values, unless None is a category; then
        those of pandas columns, and None itself, are it.
    random_state : int, Generator, RandomState or None, default=None
        None draws from the operating system. Anything else makes the fit reproducible,
        for tests: ``privacy_spent_.releasable`` is then False.

    Attributes
    ----------
    categories_ : list of ndarray
        The declared categories of the columns.
    method_ : {"records", "columns", "tree"}
        What was done; public.
    samples_ : DataFrame or ndarray
        The rows drawn, released. Not there for a tree.
    n_handed_out_ : int
        How many rows :meth:`sample` has handed out.
    tree_ : MarginalTree
        The released probabilities. Only there for a tree.
    mechanism_ : object
        The public constants of the release.
    accuracy_bound_ : float
        See :meth:`choices`; it depends on the number of records, so it is nan under
        add-remove.
    privacy_spent_ : PrivacySpent
        What the fit cost, computed from the numbers used.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, when X is a frame whose names are strings.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter out of range, parameters that do not go together,
        columns that are not the declared ones, or a value that is not declared.
    TypeError
        From ``fit``, for a parameter of the wrong type.

    Warns
    -----
    LowAccuracyWarning
        If the bound on the distance exceeds 0.1, where it is public.

    Notes
    -----
    .. rubric:: Privacy

    Adjacency as given. Assumes that the categories are public, that there is at least
    one record, that nobody owns more than ``group_size`` records and, with
    ``handle_unknown="error"``, that every value is declared. Integer arithmetic with
    entropy of the operating system. Running time is not covered. Proofs:
    docs/proofs/whole_records.md, independent_columns.md and marginal_tree.md.

    References
    ----------
    McKenna, Miklau and Sheldon, "Winning the NIST contest", 2021, for trees of measured
    marginals. Zhang et al., "PrivBayes", SIGMOD 2014.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdp.synthesis import TableSampler
    >>> smokes = np.repeat(["no", "yes"], [700, 300])
    >>> table = pd.DataFrame({"smokes": smokes, "coughs": smokes == "yes"})
    >>> sampler = TableSampler(
    ...     epsilon=1.0, delta=1e-6, method="tree",
    ...     categories={"smokes": ["no", "yes"], "coughs": [False, True]})
    >>> rows = sampler.fit(table).sample(500)
    >>> rows.shape, rows.columns.tolist(), rows["coughs"].dtype
    ((500, 2), ['smokes', 'coughs'], dtype('bool'))
    >>> bool(((rows["smokes"] == "yes") == rows["coughs"]).mean() > 0.7)
    True
    """

    _released: ClassVar[frozenset[str]] = frozenset(
        {
            "accuracy_bound_",
            "categories_",
            "feature_names_in_",
            "mechanism_",
            "method_",
            "n_features_in_",
            "n_handed_out_",
            "privacy_spent_",
            "samples_",
            "tree_",
            "_codebook",
            "_drawn",
            "_source",
            "_unknown",
        }
    )

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        method: str = "auto",
        n_samples: int = 1,
        categories: Any = None,
        adjacency: str = "replace-one",
        group_size: int = 1,
        handle_unknown: str = "error",
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.n_samples = n_samples
        self.categories = categories
        self.adjacency = adjacency
        self.group_size = group_size
        self.handle_unknown = handle_unknown
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Self:
        """Release, spend the budget, and forget the table.

        Parameters
        ----------
        X : DataFrame or array of shape (n, d)
            One record a row.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self : TableSampler
            The fitted sampler; it holds released values and public constants only.
        """
        settings = self._settings()
        with self._whole_fit():
            self._fit(X, settings)
        self._warn_of_low_accuracy()
        warn_seeded(settings.source)
        return self

    def _fit(self, X: Any, settings: TableSettings) -> None:
        """Enter the table, choose by public numbers, release and publish."""
        X, codebook = enter_table(self, X, settings.declared)
        request = self._request(
            settings, codebook.sizes, settings.public_size(X.shape[0])
        )
        if request.n_rows is not None:
            check_delta_of(settings.delta, request.n_rows)
        method = choose(request) if self.method == "auto" else self.method
        made = plan(request, method)
        codes = codebook.encode(X, unknown=settings.unknown)
        released = _release(made, codes, codebook, settings)
        self._forget_former_fit()
        n_rows = request.n_rows
        bound = np.nan if n_rows is None else accuracy_of(request, method, n_rows)
        self._publish(
            **released,
            accuracy_bound_=bound,
            categories_=[alphabet.values for alphabet in codebook.alphabets],
            method_=method,
            mechanism_=made,
            privacy_spent_=_spent(made, settings),
            _codebook=codebook,
            _source=settings.source,
            _unknown=settings.unknown,
        )

    def choices(self, n_rows: int) -> Any:
        """Compare the methods at a number of records, from public numbers only.

        No data and no budget are touched; the categories must be declared as lists.

        Parameters
        ----------
        n_rows : int
            Number of records, public or hypothetical.

        Returns
        -------
        choices : DataFrame
            One line a method: ``method``, ``keeps``, ``rows`` (inf for any number),
            ``accuracy_bound``, and whether ``"auto"`` takes it. Methods that the
            parameters rule out have a bound of nan.
        """
        from pandas import DataFrame

        settings = self._settings()
        n_rows = check_count("n_rows", n_rows, minimum=1, remedy="Pass how many.")
        request = self._request(
            settings, self._declared_sizes(settings), settings.public_size(n_rows)
        )
        taken = choose(request)
        lines = []
        for method in METHODS:
            ruled_out = bool(combine_error(request, method))
            bound = np.nan if ruled_out else accuracy_of(request, method, n_rows)
            rows = np.inf if method == "tree" else float(request.n_samples)
            lines.append((method, _KEEPS[method], rows, bound, method == taken))
        columns = ["method", "keeps", "rows", "accuracy_bound", "auto"]
        return DataFrame(lines, columns=columns)

    def _settings(self) -> TableSettings:
        settings = read_table_settings(self)
        check_choice(
            "method",
            self.method,
            ("auto", *METHODS),
            remedy="Use 'auto' if in doubt.",
        )
        check_count(
            "n_samples", self.n_samples, minimum=1, remedy="Pass how many rows."
        )
        return settings

    def _request(
        self, settings: TableSettings, sizes: tuple[int, ...], n_rows: int | None
    ) -> TableRequest:
        return TableRequest(
            settings.target, sizes, n_rows, int(self.n_samples), settings.group_size
        )

    def _declared_sizes(self, settings: TableSettings) -> tuple[int, ...]:
        declared = settings.declared
        listed: Any = declared.values() if isinstance(declared, Mapping) else declared
        if listed is None or any(alphabet is None for alphabet in listed):
            raise ValueError(
                "choices needs to know the categories, got ones that are declared by "
                "a dtype. Allowed: categories as lists. Declare them."
            )
        return tuple(len(alphabet) for alphabet in listed)

    def _forget_former_fit(self) -> None:
        for name in ("samples_", "n_handed_out_", "tree_", "_drawn"):
            if hasattr(self, name):
                delattr(self, name)

    def _warn_of_low_accuracy(self) -> None:
        bound: float = self.accuracy_bound_
        if bound > GOOD:  # and not nan
            warnings.warn(
                f"accuracy_bound_ is {bound:.3g}: in the worst case that share of what "
                "a row shows is noise, by the public numbers of categories, records "
                "and rows. Use fewer or coarser categories, fewer rows or columns, or "
                "another method; choices() compares them.",
                LowAccuracyWarning,
                stacklevel=3,  # whoever called fit
            )

    def sample(self, k: int = 1) -> Any:
        """Hand out the next rows; they were paid for in ``fit``.

        Parameters
        ----------
        k : int, default=1
            How many, >= 0; any number from a tree.

        Returns
        -------
        rows : DataFrame or ndarray of shape (k, d)
            Of the kind of X, and of the dtypes of ``categories_``.

        Raises
        ------
        BudgetExceededError
            If fewer than ``k`` are left. Nothing is handed out then.
        """
        check_is_fitted(self, "privacy_spent_")
        k = check_count("k", k, minimum=0, remedy="Say how many rows to take.")
        if self.method_ == "tree":
            return self._codebook.decode(self.tree_.draw(k, self._source))
        start, paid = self.n_handed_out_, len(self._drawn)
        if k > paid - start:
            raise BudgetExceededError(
                f"{k} rows were asked for, got {paid - start} left of {paid} that were "
                f"paid for. Allowed: up to {paid - start}. Fit with a larger "
                "n_samples; its rows share epsilon."
            )
        self._publish(n_handed_out_=start + k)
        return self._codebook.decode(self._drawn[start : start + k])

    def pdp_loss(self, X: Any, y: object = None, *, rho: float = 1e-6) -> FloatArray:
        """Bound what this release cost each person, from her own record alone.

        Anyone may call it about anyone, at no privacy cost: it reads the records asked
        about, released values and public constants.

        Parameters
        ----------
        X : DataFrame or array of shape (n, d)
            The records asked about, in the data or not.
        y : None
            Ignored; present by convention.
        rho : float, default=1e-6
            Probability, over the noise of the fit, that the bound fails for one record
            fixed beforehand. Only releases with ``delta > 0`` use it.

        Returns
        -------
        loss : ndarray of shape (n,)
            Bound on the absolute privacy loss of each person in nats.

        Raises
        ------
        ValueError
            If ``rho`` is out of range, or a value is not of a declared category.
        """
        check_is_fitted(self, "privacy_spent_")
        codes = encode_asked(self, X, self._codebook, self._unknown)
        made = self.mechanism_
        bound = release_loss(self.privacy_spent_, rho)
        if isinstance(made, TreePlan):
            return np.full(len(codes), bound)
        if isinstance(made, IndependentColumns):
            own = sum((codes == row).astype(np.int64) for row in self._drawn)
            each = [
                draws_loss(sampler, own[:, j])
                for j, sampler in enumerate(made.samplers)
            ]
            total = np.sum(each, axis=0)
        else:
            alike = [np.all(codes == row, axis=1) for row in self._drawn]
            total = draws_loss(made, np.sum(alike, axis=0))
        losses: FloatArray = np.minimum(total, bound)
        return losses

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        # not before somebody has declared the categories of its columns
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.handle_unknown == "other"
        tags.non_deterministic = self.random_state is None
        return tags


def _release(
    made: TablePlan, codes: IntArray, book: Codebook, settings: TableSettings
) -> dict[str, Any]:
    """Return the released attributes; nothing is published before all are there."""
    if isinstance(made, TreePlan):
        return {"tree_": made.release(codes, settings.source)}
    if isinstance(made, IndependentColumns):
        drawn = made.release(codes, settings.source)
    else:
        drawn = draw_records(made, codes, book.sizes, settings.source)
    return {"samples_": book.decode(drawn), "_drawn": drawn, "n_handed_out_": 0}


def _spent(made: TablePlan, settings: TableSettings) -> PrivacySpent:
    if isinstance(made, TreePlan):
        total = ZeroConcentratedDP(
            made.rho,
            adjacency=settings.adjacency,
            source="tree of marginals, docs/proofs/marginal_tree.md",
        )
        return settings.spent(total, made.parts)
    name = "whole records"
    guarantee = made.guarantee
    if isinstance(made, IndependentColumns):
        guarantee = replace(
            guarantee, source="independent columns, docs/proofs/independent_columns.md"
        )
        name = "independent columns"
        parts = tuple(
            PrivacyPart(f"column {j}", sampler.guarantee)
            for j, sampler in enumerate(made.samplers)
        )
        return settings.spent(guarantee, parts)
    return settings.spent(guarantee, name=name)
