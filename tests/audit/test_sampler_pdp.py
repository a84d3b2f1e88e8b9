"""What draws really cost one person, and that the published bound is above it."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skdp.audit import exact_pdp_loss
from skdp.synthesis import ROOSampler, TableSampler

COUNTS = [4, 2, 0]
COLUMN = np.repeat([0, 1, 2], COUNTS)


def fitted(column, **settings):
    return ROOSampler(**{"categories": [0, 1, 2], **settings}).fit(column)


def loss(sampler, column, s, **options):
    return exact_pdp_loss(sampler, column, None, [s], None, **options)[0]


@pytest.mark.parametrize(
    ("s", "y", "replaced", "removed"),
    [(0, 0, 0.246216, 0.107988), (0, 2, 1.0, 0.138228)],
)
def test_the_loss_of_reveal_or_obscure_is_the_published_one(s, y, replaced, removed):
    for adjacency, value in (("replace-one", replaced), ("add-remove", removed)):
        sampler = fitted(COLUMN, profile="roo", adjacency=adjacency)
        sampler.samples_ = np.array([y])
        found = loss(sampler, COLUMN, s, signed=False)
        assert found == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("removed", "worst"), [(False, 1.0), (True, 0.8368)])
def test_the_worst_loss_of_the_envelope_is_the_published_one(removed, worst):
    """All columns of six records, all people, all draws; and the bound is above.

    With the weights of six records, whether one of them is replaced or removed.
    """
    largest = 0.0
    for counts in itertools.product(range(7), repeat=3):
        if sum(counts) != 6:
            continue
        column = np.repeat([0, 1, 2], counts)
        sampler = fitted(column)
        if removed:
            sampler.mechanism_ = replace(
                sampler.mechanism_, n_rows=None, adjacency="add-remove"
            )
        for y in range(3):
            sampler.samples_ = np.array([y])
            found = exact_pdp_loss(
                sampler, column, None, column, None, signed=False, kind="member"
            )
            assert np.all(found <= sampler.pdp_loss(column) + 1e-12)
            largest = max(largest, found.max())
    assert largest == pytest.approx(worst, abs=1e-4)


@pytest.mark.parametrize("profile", ["roo", "envelope", "minimax", "ds-roo"])
@pytest.mark.parametrize("settings", [{}, {"n_samples": 3, "release": "draws"}])
def test_no_loss_exceeds_what_was_spent(profile, settings):
    sampler = fitted(COLUMN, profile=profile, epsilon=2.0, **settings)
    for kind in ("member", "non-member"):
        people = [0, 1] if kind == "member" else [0, 1, 2]
        found = exact_pdp_loss(sampler, COLUMN, None, people, None, kind=kind)
        assert np.all(np.abs(found) <= sampler.privacy_spent_.epsilon + 1e-12)
        assert np.all(np.abs(found) <= sampler.pdp_loss(people) + 1e-12)


def test_draws_without_replacement_are_one_release():
    sampler = fitted(COLUMN, n_samples=3, release="batch")
    found = exact_pdp_loss(sampler, COLUMN, None, COLUMN, None)
    assert np.all(np.abs(found) <= sampler.privacy_spent_.epsilon + 1e-12)


def test_members_are_known_by_their_symbol_and_signs_are_kept():
    sampler = fitted(COLUMN, profile="roo", adjacency="add-remove")
    sampler.samples_ = np.array([2])
    assert loss(sampler, COLUMN, 0) == loss(sampler, COLUMN, 0, kind="member") < 0
    stranger = loss(sampler, COLUMN, 2)
    assert stranger == loss(sampler, COLUMN, 2, kind="non-member") < 0
    sampler.samples_ = np.array([0])
    assert loss(sampler, COLUMN, 0) > 0


def test_of_equal_records_nobody_can_take_another_place():
    sampler = ROOSampler(categories=["a"]).fit(["a", "a"])
    for kind in ("member", "non-member"):
        assert exact_pdp_loss(sampler, ["a", "a"], None, ["a"], None, kind=kind) == 0.0


def test_what_is_not_known_exactly_is_refused():
    with pytest.raises(ValueError, match="histogram was released"):
        loss(fitted(COLUMN, release="histogram"), COLUMN, 0)
    with pytest.raises(NotFittedError):
        loss(ROOSampler(categories=[0, 1, 2]), COLUMN, 0)
    table = TableSampler(categories=[[0, 1, 2]], epsilon=9.0)
    with pytest.raises(TypeError, match="not a private estimator"):
        exact_pdp_loss(table.fit(COLUMN[:, None]), COLUMN, None, COLUMN, None)
