"""Errors and warnings of skdp, all derived from one root each.

::

    SkdpError
    └── AdjacencyMismatchError (ValueError)   guarantees about different neighbours
    SkdpWarning (UserWarning)
    ├── PrivacyLeakWarning                    something was read off private data unpaid
    ├── NotForReleaseWarning                  seeded noise: for tests only
    └── WeakGuaranteeWarning                  legal parameters that promise little

Wrong parameters raise ``ValueError`` or ``TypeError`` as in scikit-learn. No message
ever contains a value read from private data.
"""

__all__ = [
    "AdjacencyMismatchError",
    "NotForReleaseWarning",
    "PrivacyLeakWarning",
    "SkdpError",
    "SkdpWarning",
    "WeakGuaranteeWarning",
]


class SkdpError(Exception):
    """Root of the errors raised by skdp itself."""


class AdjacencyMismatchError(SkdpError, ValueError):
    """Guarantees about different neighbouring relations were combined or compared."""


class SkdpWarning(UserWarning):
    """Root of the warnings issued by skdp; their texts never depend on data."""


class PrivacyLeakWarning(SkdpWarning):
    """A step learned something from private data that no budget paid for."""


class NotForReleaseWarning(SkdpWarning):
    """The noise came from a seed, so whoever knows the seed can subtract it."""


class WeakGuaranteeWarning(SkdpWarning):
    """The privacy parameters are legal but promise little."""
