"""A page that runs in the browser alone: from a report to one file of HTML."""

from skdp.pdp._page._columns import ColumnDescription, Schema
from skdp.pdp._page._write import write_page

__all__ = ["ColumnDescription", "Schema", "write_page"]
