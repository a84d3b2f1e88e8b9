"""Survey on marital affairs (Fair, 1978)."""

from types import MappingProxyType

from skdp.datasets._table import PublicTable, read_statsmodels_table

__all__ = ["load_fair"]

#: Answer codes of the questionnaire, as Fair (1978) lists them.
BOUNDS = MappingProxyType(
    {
        "rate_marriage": (1.0, 5.0),  # 1 very poor ... 5 very good
        "age": (17.5, 42.0),  # 17.5 under 20 ... 42 forty or over
        "yrs_married": (0.5, 23.0),  # 0.5 under a year ... 23 eldest child is adult
        "children": (0.0, 5.5),  # 5.5 five or more
        "religious": (1.0, 4.0),  # 1 not ... 4 strongly
        "educ": (9.0, 20.0),  # 9 grade school ... 20 advanced degree
        "occupation": (1.0, 6.0),  # class of occupation
        "occupation_husb": (1.0, 6.0),
    }
)

DESCRIPTION = """\
Answers of 6,366 married women to a magazine survey of 1974; one row is one woman.
Target: 1 when she reported any extramarital affair. Features: coded answers on the
marriage, the family, religion, education and occupation.
Source: R. C. Fair, "A theory of extramarital affairs", Journal of Political Economy
86 (1978) 45-61; shipped inside statsmodels with the author's permission.
"""


def load_fair() -> PublicTable:
    """Load the survey on marital affairs, with the public ranges of its codebook.

    Returns
    -------
    table : PublicTable
        6,366 rows, 8 features; the target tells whether any affair was reported.

    Raises
    ------
    ImportError
        If statsmodels, which ships the table, is not installed.

    References
    ----------
    R. C. Fair, "A theory of extramarital affairs", Journal of Political Economy 86
    (1978) 45-61.

    Examples
    --------
    >>> from skdp.datasets import load_fair
    >>> table = load_fair()
    >>> table.X.shape
    (6366, 8)
    >>> table.bounds["rate_marriage"]
    (1.0, 5.0)
    """
    table = read_statsmodels_table("fair")
    return PublicTable.from_frame(
        table,
        bounds=BOUNDS,
        positive=table["affairs"] > 0,
        rows_per_person=1,
        description=DESCRIPTION,
    )
