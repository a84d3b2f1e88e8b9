"""Transformers that learn nothing from the rows: they cost no privacy."""

from skdp.preprocessing._bounded_scaler import BoundedScaler
from skdp.preprocessing._row_clipper import RowClipper

__all__ = ["BoundedScaler", "RowClipper"]
