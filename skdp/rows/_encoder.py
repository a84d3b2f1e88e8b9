"""What turns raw labels or targets into the numbers a loss reads."""

from typing import TypeAlias

from skdp.rows._classes import Classes
from skdp.rows._labels import Labels
from skdp.rows._targets import Targets

__all__ = ["Encoder", "LabelSet"]

LabelSet: TypeAlias = Labels | Classes
Encoder: TypeAlias = Labels | Targets | Classes
