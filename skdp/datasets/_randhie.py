"""RAND Health Insurance Experiment (Cameron and Trivedi's extract)."""

import math
from types import MappingProxyType

from skdp.datasets._table import PublicTable, read_statsmodels_table

__all__ = ["load_randhie"]

#: The design of the experiment fixed coinsurance between 0 and 100 %, at least 25 %
#: where it was not free, and a maximum dollar expenditure (MDE) of at most $1,000.
#: Where no range is published a round cap is declared; the scaler clips beyond it.
BOUNDS = MappingProxyType(
    {
        "lncoins": (0.0, math.log(101.0)),  # ln(coinsurance + 1)
        "idp": (0.0, 1.0),
        "lpi": (0.0, math.log(2000.0)),  # ln(yearly incentive), cap: twice the MDE
        "fmde": (0.0, math.log(1000.0 / 0.25)),  # ln(MDE / share of coinsurance)
        "physlm": (0.0, 1.0),
        "disea": (0.0, 50.0),  # index of chronic diseases, round cap
        "hlthg": (0.0, 1.0),
        "hlthf": (0.0, 1.0),
        "hlthp": (0.0, 1.0),
    }
)

DESCRIPTION = """\
20,190 person-years of the RAND Health Insurance Experiment. One row is one person in
one year, and a person has up to five rows: a guarantee for one row is not yet one for
a person, but `guarantee.group(5)` is.
Target: 1 when the person saw a physician as an outpatient in that year. Features:
terms of the insurance plan and baseline health.
Source: A. C. Cameron and P. K. Trivedi, Microeconometrics: Methods and Applications,
Cambridge 2005; shipped inside statsmodels, public domain.
"""


def load_randhie() -> PublicTable:
    """Load the RAND Health Insurance Experiment, with public ranges of its columns.

    Returns
    -------
    table : PublicTable
        20,190 person-years, 9 features; the target tells whether the person saw a
        physician as an outpatient in that year.

    Raises
    ------
    ImportError
        If statsmodels, which ships the table, is not installed.

    Notes
    -----
    One row is one person in one year, and a person has up to five rows: a guarantee
    for one row becomes one for a person by ``guarantee.group(5)``.

    References
    ----------
    A. C. Cameron and P. K. Trivedi, Microeconometrics: Methods and Applications,
    Cambridge University Press, 2005.

    Examples
    --------
    >>> from skdp.datasets import load_randhie
    >>> table = load_randhie()
    >>> table.X.shape
    (20190, 9)
    >>> table.classes
    (0, 1)
    """
    table = read_statsmodels_table("randhie")
    return PublicTable.from_frame(
        table,
        bounds=BOUNDS,
        positive=table["mdvis"] > 0,
        rows_per_person=5,
        description=DESCRIPTION,
    )
