"""Choosing among public candidates by private data."""

from skdp.model_selection._selector import PrivateSelector

__all__ = ["PrivateSelector"]
