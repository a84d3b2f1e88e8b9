"""What a fit says about itself: what it takes for public, and whether to publish it."""

from skdp._validation import warn
from skdp.exceptions import NotForReleaseWarning
from skdp.random import RandomSource
from skdp.rows import Targets
from skdp.rows._encoder import Encoder

__all__ = ["assumptions_about", "warn_if_seeded"]


def assumptions_about(encoder: Encoder, *, declared: bool = True) -> tuple[str, ...]:
    """Return what every linear model assumes of rows and targets.

    ``declared`` is False where the label set was read from y.
    """
    if isinstance(encoder, Targets):
        public = f"range of targets [{encoder.low:g}, {encoder.high:g}] is public"
    else:
        how = "declared" if declared else "read from y, not paid for"
        public = f"label set {encoder.classes.tolist()} is public ({how})"
    return public, "all entries are finite", "there is at least one row"


def warn_if_seeded(source: RandomSource) -> None:
    """Say aloud that noise which can be drawn again protects nobody."""
    if source.seeded:
        warn(
            "the noise came from random_state, so whoever knows it can subtract "
            "the noise: this fit is for tests, not for release. Leave "
            "random_state=None to publish.",
            NotForReleaseWarning,
        )
