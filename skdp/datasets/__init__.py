"""Small public tables with declared ranges, and generated rows."""

from skdp.datasets._fair import load_fair
from skdp.datasets._generated import make_classification_rows
from skdp.datasets._randhie import load_randhie
from skdp.datasets._table import PublicTable

__all__ = ["PublicTable", "load_fair", "load_randhie", "make_classification_rows"]
