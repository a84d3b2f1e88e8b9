"""Errors and warnings of skdp, all derived from one root each.

::

    SkdpError
    ├── AdjacencyMismatchError (ValueError)   guarantees about different neighbours
    └── BudgetExceededError                   more was asked for than was paid for
    SkdpWarning (UserWarning)
    ├── LowAccuracyWarning                    by public numbers, noise swamps the data
    ├── PrivacyLeakWarning                    something was read off private data unpaid
    ├── NotForReleaseWarning                  seeded noise: for tests only
    ├── UncertifiedPrivacyWarning             a heuristic: nobody proved the guarantee
    └── WeakGuaranteeWarning                  legal parameters that promise little

Wrong parameters raise ``ValueError`` or ``TypeError`` as in scikit-learn. No message
ever contains a value read from private data.
"""

__all__ = [
    "AdjacencyMismatchError",
    "BudgetExceededError",
    "LowAccuracyWarning",
    "NotForReleaseWarning",
    "PrivacyLeakWarning",
    "SkdpError",
    "SkdpWarning",
    "UncertifiedPrivacyWarning",
    "WeakGuaranteeWarning",
]


class SkdpError(Exception):
    """Root of the errors raised by skdp itself."""


class AdjacencyMismatchError(SkdpError, ValueError):
    """Guarantees about different neighbouring relations were combined or compared."""


class BudgetExceededError(SkdpError):
    """More was asked for than the budget paid for, such as a draw beyond the last."""


class SkdpWarning(UserWarning):
    """Root of the warnings issued by skdp; their texts never depend on data."""


class LowAccuracyWarning(SkdpWarning):
    """Public numbers alone say that the noise hides most of the data."""


class PrivacyLeakWarning(SkdpWarning):
    """A step learned something from private data that no budget paid for."""


class NotForReleaseWarning(SkdpWarning):
    """The noise came from a seed, so whoever knows the seed can subtract it."""


class UncertifiedPrivacyWarning(SkdpWarning):
    """The release is private only if an approximation is good, which nobody proved."""


class WeakGuaranteeWarning(SkdpWarning):
    """The privacy parameters are legal but promise little."""
