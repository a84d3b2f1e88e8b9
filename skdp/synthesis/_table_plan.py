"""Which way a table is released: decided from public numbers, before any record."""

import math
from dataclasses import dataclass
from typing import Any

from skdp.accounting import Adjacency, ApproximateDP, PureDP
from skdp.mechanisms import CountWeights, RevealOrObscure
from skdp.synthesis._columns import IndependentColumns
from skdp.synthesis._marginal_tree import TreePlan
from skdp.synthesis._table_settings import concentrated_share

__all__ = ["METHODS", "TableRequest", "accuracy_of", "choose", "combine_error", "plan"]

METHODS = ("records", "columns", "tree")
#: Whole records are drawn where no data can be further from their law than this.
GOOD = 0.1

TablePlan = RevealOrObscure | CountWeights | IndependentColumns | TreePlan


@dataclass(frozen=True, slots=True)
class TableRequest:
    """Everything public a plan depends on."""

    target: PureDP | ApproximateDP
    sizes: tuple[int, ...]
    n_rows: int | None
    n_samples: int
    group_size: int

    @property
    def n_records(self) -> int:
        """Number of different records."""
        return math.prod(self.sizes)

    @property
    def shape(self) -> dict[str, Any]:
        """What calibration is told besides the target."""
        return {"n_rows": self.n_rows, "group_size": self.group_size}


def combine_error(request: TableRequest, method: str) -> str:
    """Return why a method cannot serve a request, or nothing."""
    approximate = isinstance(request.target, ApproximateDP)
    private = request.target.adjacency is Adjacency.ADD_REMOVE
    if method == "tree" and not approximate:
        return "method='tree' adds Gaussian noise, which needs delta > 0"
    if method != "tree" and approximate and private:
        return (
            f"method={method!r} with delta > 0 is accounted with the number of "
            "records, which is private under add-remove"
        )
    return ""


def choose(request: TableRequest) -> str:
    """Return the method for ``"auto"``: whole records if they are accurate enough.

    Otherwise the tree, or independent columns where there is no delta for it. Where the
    number of records is private, whole records only if there is one column.
    """
    if not combine_error(request, "records"):
        if sum(k > 1 for k in request.sizes) < 2:
            return "records"
        if request.n_rows is not None:
            bound = accuracy_of(request, "records", request.n_rows)
            if bound <= GOOD:
                return "records"
    return "columns" if combine_error(request, "tree") else "tree"


def plan(request: TableRequest, method: str) -> TablePlan:
    """Return the calibrated mechanism of a method."""
    error = combine_error(request, method)
    if error:
        raise ValueError(
            f"the parameters do not go together: {error}. Allowed: see the parameters "
            "of TableSampler. Use method='auto'."
        )
    if method == "tree" and isinstance(request.target, ApproximateDP):
        return TreePlan.calibrate(
            concentrated_share(request.target),
            sizes=request.sizes,
            adjacency=request.target.adjacency,
            **request.shape,
        )
    if method == "columns":
        return IndependentColumns.calibrate(
            request.target,
            sizes=request.sizes,
            n_draws=request.n_samples,
            **request.shape,
        )
    return _records(request)


def _records(request: TableRequest) -> RevealOrObscure | CountWeights:
    shape = {
        "n_categories": request.n_records,
        "n_draws": request.n_samples,
        **request.shape,
    }
    if isinstance(request.target, PureDP):
        steep = CountWeights.steepest(request.target, profile="envelope", **shape)
        if steep is not None:
            return steep
    return RevealOrObscure.calibrate(request.target, **shape)


def accuracy_of(request: TableRequest, method: str, n_rows: int) -> float:
    """Bound the error of a method on any data of ``n_rows`` records.

    Whole records: distance of the law of a row from the data. Columns: distance from
    the product of the columns' shares. Tree: mean distance of a measured two-way
    marginal.
    """
    made = plan(request, method)
    if isinstance(made, IndependentColumns):
        return min(1.0, sum(made.accuracy_bounds(n_rows)))
    if isinstance(made, TreePlan):
        return max(made.accuracy_bounds(n_rows))
    return made.accuracy_bound(n_rows)
