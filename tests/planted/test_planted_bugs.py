"""The privacy checks pass on the package and fail on every planted bug.

A check that cannot fail proves nothing, so each is paired with the bugs it must catch.
"""

import gibbs_bugs  # noqa: F401  (registers)
import gibbs_checks
import planted_bugs  # noqa: F401  (registers)
import preconditioned_bugs  # noqa: F401  (registers)
import preconditioned_checks
import privacy_checks
import pytest
import report_bugs  # noqa: F401  (registers)
import report_checks
import statistic_bugs  # noqa: F401  (registers)
import statistic_checks
from planting import PLANTED, planted

CHECKS = (
    privacy_checks.CHECKS
    | gibbs_checks.CHECKS
    | statistic_checks.CHECKS
    | report_checks.CHECKS
    | preconditioned_checks.CHECKS
)


@pytest.mark.statistical
@pytest.mark.parametrize("name", CHECKS)
def test_the_package_as_it_is_passes(name):
    """Fixed seeds; fewer than 100 tests at 1e-8: a false alarm is below 1e-6."""
    CHECKS[name]()


@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_bug_is_caught(name):
    """By the check, or before it by a mechanism that refuses to be built wrong."""
    caught_by, _ = PLANTED[name]
    with planted(name), pytest.raises((AssertionError, ValueError)) as caught:
        CHECKS[caught_by]()
    if caught.type is ValueError:
        assert "the fields of the mechanism do not fit" in str(caught.value)


def test_a_planted_bug_is_gone_after_its_block():
    for name in ("noise.gaussian_half", "calibration.sensitivity_half"):
        with planted(name):
            pass
    CHECKS["certificate"]()
    CHECKS["recovery"]()


def test_there_are_many_planted_bugs_and_every_check_catches_one():
    assert len(PLANTED) >= 40
    assert {caught_by for caught_by, _ in PLANTED.values()} == set(CHECKS)
