"""Let the tests of this folder import their own helpers, and those of mechanisms."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "mechanisms")]
