"""Line search on a convex function by the sign of its derivative alone."""

import math

__all__ = ["Bracket"]

#: A derivative this much smaller than at the start is near enough to the minimum.
_FLATTER = 0.5
#: A guess keeps away from the ends by this share of the bracket, so it always shrinks.
_MARGIN = 0.1
#: A little short of the zero that a secant promises: short steps are accepted.
_SHORT = 0.9
#: A bracket narrower than this, relative to its end, is a point.
_NARROW = 1e-15


class Bracket:
    """Lengths between one that is too short and one that is too long.

    Parameters
    ----------
    slope : float
        Derivative along the line at its start, < 0.
    """

    def __init__(self, slope: float) -> None:
        self.length = 1.0
        self._steepest = slope
        self._low, self._low_slope = 0.0, slope
        self._high = math.inf

    def accepts(self, slope: float) -> bool:
        """Return whether ``length`` will do, given the derivative there.

        If not, ``length`` is the next one to look at.
        """
        if slope <= 0.0:
            if math.isinf(self._high) or slope >= _FLATTER * self._steepest:
                return True
            self._low, self._low_slope = self.length, slope
        else:
            # a derivative that is no number lies beyond the range of floats
            self._high, self._high_slope = self.length, slope
        width = self._high - self._low
        share = _SHORT * self._low_slope / (self._low_slope - self._high_slope)
        if not math.isfinite(share):
            share = _MARGIN
        share = min(1.0 - _MARGIN, max(_MARGIN, share))
        self.length = self._low + share * width
        return width <= _NARROW * self._high
