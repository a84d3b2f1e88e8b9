"""The page on which anyone looks up her own bound."""

import math
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from skdp.pdp._page._columns import Schema
from skdp.pdp._page._html import page_html
from skdp.pdp._page._questions import label_question, value_questions
from skdp.pdp._published import Kind

if TYPE_CHECKING:
    from skdp.pdp._report import PublishedReport

__all__ = ["write_page"]

#: Bound on the probability of failure of pure mechanisms.
_NEVER = 1e-12


def write_page(
    report: "PublishedReport", path: str | PathLike[str], schema: Schema | None = None
) -> None:
    """Write one file on which a person finds the bound of her own loss.

    The page asks for her values and computes in the browser what
    :meth:`PublishedReport.loss` returns. It loads nothing, sends nothing, and works
    from disk.

    Parameters
    ----------
    report : PublishedReport
        The report; all of it is on the page.
    path : str or path-like
        The file to write, which is replaced if it exists.
    schema : mapping, optional
        Public descriptions of the columns, by name, or by position from 0 for a report
        without names. Under ``"y"``: the label, unless a column has that name. See
        :class:`ColumnDescription`.

    Raises
    ------
    TypeError, ValueError
        If the schema does not describe the columns of the report.
    """
    bounds, leverages = _bounds(report)
    page = {
        "n_features": report.n_features,
        "questions": value_questions(report.feature_names, report.n_features, schema),
        "label": label_question(report.classes, report.feature_names, schema),
        "bounds": bounds,
        "leverages": leverages,
        "failure": _NEVER if report.rho is None else report.rho,
    }
    text = page_html(report.to_json(), page)
    Path(path).write_text(text, encoding="utf-8", newline="\n")


def _bounds(report: "PublishedReport") -> tuple[dict[str, Any], list[Any]]:
    """Return the public numbers of each kind of bound, and the matrices they share.

    In place of its matrices a bound holds their position. JSON has no word for
    infinity: null stands for a scale or a ceiling that is none.
    """
    bounds: dict[str, Any] = {}
    leverages: list[Any] = []
    for kind in get_args(Kind):
        numbers = report.bound(kind=kind).numbers()
        matrices = numbers["leverage"]
        if matrices is not None:
            if matrices not in leverages:
                leverages.append(matrices)
            numbers["leverage"] = leverages.index(matrices)
        bounds[kind] = {
            name: None if value == math.inf else value
            for name, value in numbers.items()
        }
    return bounds, leverages
