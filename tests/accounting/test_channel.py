"""What a guarantee covers: said, kept, and never more than all parts cover."""

import json
import pickle

import pytest

from skdp.accounting import (
    ApproximateDP,
    Channel,
    Composed,
    GaussianDP,
    Guarantee,
    PrivacySpent,
    PureDP,
    Simultaneous,
    compose,
)
from skdp.accounting._spent import LEVELS

BOTH = frozenset({Channel.OUTPUT, Channel.RUNTIME})
OUTPUT = frozenset({Channel.OUTPUT})
RUNTIME = frozenset({Channel.RUNTIME})


def test_a_guarantee_covers_the_output_unless_it_says_more():
    assert PureDP(1.0).observes == OUTPUT
    assert PureDP(1.0, observes={"output", "runtime"}).observes == BOTH
    assert PureDP(1.0, observes=["runtime"]).observes == RUNTIME


def test_it_says_so():
    assert "observes" not in repr(PureDP(1.0))
    wide = PureDP(1.0, observes=BOTH)
    assert repr(wide) == (
        "PureDP(1.0, adjacency='add-remove', observes='output and running time')"
    )
    assert "observes='running time only'" in repr(PureDP(1.0, observes=RUNTIME))
    assert "output only" in repr(PrivacySpent(PureDP(1.0), 0.0))
    assert "output and running time" in repr(PrivacySpent(wide, 0.0))
    assert "output only" in PrivacySpent(PureDP(1.0), 0.0)._repr_html_()
    assert "output and running time" in PrivacySpent(wide, 0.0)._repr_html_()


def test_the_claim_stops_disowning_the_clock_when_the_clock_is_covered():
    narrow = PrivacySpent(PureDP(1.0), 0.0)
    assert narrow.claim == LEVELS["default"]
    for level in ("default", "exact"):
        spent = PrivacySpent(PureDP(1.0, observes=BOTH), 0.0, level=level)
        assert "iming is not covered" in LEVELS[level]
        assert "iming is not covered" not in spent.claim
        assert "umber of steps is covered, memory and power are not." in spent.claim


def test_without_a_guarantee_nothing_is_covered():
    spent = PrivacySpent(None, 0.0, leaks=("scaler",))
    assert spent.observes == frozenset()
    assert "output" not in repr(spent)
    assert "nothing" in spent._repr_html_()


@pytest.mark.parametrize(
    "others",
    [
        (PureDP(0.5),),
        (PureDP(0.5), GaussianDP(0.1)),
        (GaussianDP(0.3, observes=BOTH), GaussianDP(0.2)),
        (ApproximateDP(0.1, 1e-6),),
        (Simultaneous((PureDP(0.7), GaussianDP(0.4))),),
    ],
)
def test_one_output_only_release_makes_the_total_output_only(others):
    total = compose(PureDP(0.2, observes=BOTH), *others)
    assert total.observes == OUTPUT
    assert total.epsilon(1e-6) == pytest.approx(
        compose(PureDP(0.2), *others).epsilon(1e-6)
    )


@pytest.mark.parametrize("make", [PureDP, GaussianDP])
def test_what_all_cover_the_total_covers(make):
    a, b = make(0.2, observes=BOTH), make(0.3, observes=BOTH)
    assert compose(a, b).observes == BOTH
    assert compose(compose(a, b), a).observes == BOTH
    assert compose(compose(a, b), make(0.1)).observes == OUTPUT


def test_alternatives_cover_what_each_of_them_covers():
    wide = PureDP(0.2, observes=BOTH)
    either = Simultaneous((wide, GaussianDP(0.1, observes=BOTH)), observes=BOTH)
    assert compose(either, wide).observes == BOTH
    with pytest.raises(ValueError, match=r"observes exceeds .* Allowed: output only"):
        Simultaneous((wide, GaussianDP(0.1)), observes=BOTH)
    with pytest.raises(ValueError, match=r"observes exceeds .* Use compose"):
        Composed((wide, GaussianDP(0.1)), observes=BOTH)


def test_channels_apart_do_not_compose():
    with pytest.raises(ValueError, match=r"nothing in common.*with_runtime"):
        compose(PureDP(1.0), PureDP(1.0, observes=RUNTIME))


def test_less_is_implied_by_more_and_not_the_other_way_round():
    wide, narrow = PureDP(1.0, observes=BOTH), PureDP(1.0)
    assert wide.implies(narrow)
    assert wide.implies(GaussianDP(2.0))
    assert not narrow.implies(wide)
    assert not narrow.implies(PureDP(9.0, observes=RUNTIME))


def test_conversions_keep_what_is_covered():
    for g in (
        PureDP(0.2, observes=BOTH),
        GaussianDP(0.2, observes=BOTH),
        compose(PureDP(0.1, observes=BOTH), GaussianDP(0.2, observes=BOTH)),
    ):
        assert g.group(3).observes == BOTH
        assert g.to_replace_one().observes == BOTH
        assert g.to_replace_one().adjacency == "replace-one"


def test_text_and_pickle_keep_it_and_old_texts_speak_about_the_output():
    wide = compose(PureDP(0.1, observes=BOTH), GaussianDP(0.2, observes=BOTH))
    for twin in (Guarantee.from_json(wide.to_json()), pickle.loads(pickle.dumps(wide))):
        assert twin == wide
        assert twin.observes == BOTH
    record = json.loads(PureDP(1.0).to_json())
    del record["observes"]
    assert Guarantee.from_json(json.dumps(record)) == PureDP(1.0)
    spent = PrivacySpent(wide, 1e-6)
    assert PrivacySpent.from_json(spent.to_json()).observes == BOTH


@pytest.mark.parametrize("bad", ["output", (), {"clock"}, None, 3, {"output", 1}])
def test_other_channels_are_refused(bad):
    with pytest.raises(ValueError, match="observes is not a set of channels"):
        PureDP(1.0, observes=bad)
