"""What was spent, as a value that is read, printed and stored."""

import math
import pickle
from html.parser import HTMLParser

import numpy as np
import pytest

from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    GaussianDP,
    ObjectivePerturbationDP,
    PrivacyPart,
    PrivacySpent,
    PureDP,
    compose,
    gaussian_mu,
)
from skdp.accounting._numbers import round_up
from skdp.accounting._spent import LEVELS

GUARANTEE = ObjectivePerturbationDP(
    gaussian_mu(1.0, 1e-6), 0.9, assumptions=("row norms <= 1 (enforced)", "b")
)
SPENT = PrivacySpent(
    GUARANTEE, 1e-6, parts=(PrivacyPart("objective perturbation", GUARANTEE, "note"),)
)


def test_it_reads_and_unpacks():
    epsilon, delta = SPENT
    assert epsilon == SPENT.epsilon == GUARANTEE.epsilon(1e-6)
    assert 0.999999 < epsilon <= 1.0
    assert delta == SPENT.delta == 1e-6
    assert SPENT.adjacency is Adjacency.ADD_REMOVE
    assert SPENT.assumptions == ("row norms <= 1 (enforced)", "b")
    assert SPENT.releasable
    assert SPENT.level == "default"
    assert SPENT.claim == LEVELS["default"]
    assert SPENT.leaks == ()


def test_one_line_says_it_all():
    assert repr(SPENT) == (
        "PrivacySpent(epsilon=1.000 at delta=1e-06, add-remove, output only, proved; "
        "assumes: row norms <= 1 (enforced); b)"
    )
    seeded = PrivacySpent(PureDP(2.0), 0.0, releasable=False, level="research")
    assert "seeded: not for release" in repr(seeded)
    assert "epsilon=2.000 at delta=0" in repr(seeded)
    assert "\n" not in repr(seeded)


def test_replace_one_is_named():
    spent = PrivacySpent(PureDP(2.0, adjacency="replace-one"), 0.0)
    assert "replace-one" in repr(spent)
    assert "replace-one" in spent._repr_html_()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.000"),
        (1.0000001, "1.001"),
        (0.99999999, "1.000"),
        (12.345678, "12.35"),
        (1.2341e-5, "1.235e-05"),
        (1486.7160414, "1487."),
        (0.0, "0.000"),
        (math.inf, "inf"),
    ],
)
def test_printing_rounds_up(value, text):
    assert round_up(value) == text


def test_printed_numbers_are_never_below_the_truth():
    rng = np.random.Generator(np.random.PCG64(3))
    values = np.exp(rng.uniform(-20, 8, 2000))
    assert all(float(round_up(v)) >= v for v in values)


def test_leaks_cost_infinitely_much():
    part = PrivacyPart("forest", None)
    spent = PrivacySpent(None, 1e-6, leaks=("scaler",), parts=(part, *SPENT.parts))
    assert spent.epsilon == math.inf
    assert spent.nominal_epsilon == math.inf
    assert spent.adjacency is Adjacency.ADD_REMOVE
    assert spent.assumptions == ()
    assert "leaks: scaler" in repr(spent)
    assert "no guarantee" in spent._repr_html_()
    known = PrivacySpent(GUARANTEE, 1e-6, leaks=("scaler",))
    assert known.epsilon == math.inf
    assert known.nominal_epsilon <= 1.0
    assert PrivacySpent(None, 0.0, leaks=("x",)).adjacency is None


def test_heuristics_claim_nothing():
    part = PrivacyPart("chain", PureDP(1.0), "3 draws")
    spent = PrivacySpent(PureDP(1.0), 0.0, parts=(part,), grade="heuristic")
    assert math.isnan(spent.epsilon)
    assert spent.nominal_epsilon == 1.0
    assert spent.guarantee is None
    assert spent.nominal == PureDP(1.0)
    assert not spent.releasable
    assert spent.parts == (PrivacyPart("chain", None, "3 draws"),)
    assert PrivacySpent.from_json(spent.to_json()) == spent
    assert "no guarantee" in spent._repr_html_()
    assert "seeded" not in repr(spent)
    assert "epsilon=nan" in repr(spent)


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_table_is_accessible_and_escaped():
    odd = GaussianDP(0.1, assumptions=("<script>alert(1)</script>",))
    spent = PrivacySpent(odd, 1e-6, parts=(PrivacyPart("<b>", odd, "a & b"),))
    page = Cells()
    page.feed(spent._repr_html_())
    names = {tag for tag, _ in page.tags}
    assert names == {"table", "caption", "tbody", "tr", "th", "td"}
    assert all(a == {"scope": "row"} for tag, a in page.tags if tag == "th")
    assert "<script>alert(1)</script>" in page.text
    assert "add-remove" in page.text


@pytest.mark.parametrize(
    "spent",
    [
        SPENT,
        PrivacySpent(None, 0.5, leaks=("a", "b"), releasable=False, level="research"),
        PrivacySpent(
            compose(PureDP(0.1), GaussianDP(0.2)), 1e-7, grade="numerically certified"
        ),
        PrivacySpent(PureDP(1.0), 0.0, parts=(PrivacyPart("a", None, "<>"),)),
    ],
    ids=["spent", "leaks", "composed", "pure"],
)
def test_text_and_pickle_give_the_same_value(spent):
    for twin in (
        PrivacySpent.from_json(spent.to_json()),
        pickle.loads(pickle.dumps(spent)),
    ):
        assert twin == spent
        assert hash(twin) == hash(spent)
        assert repr(twin) == repr(spent)
        assert twin.epsilon == spent.epsilon


@pytest.mark.parametrize("text", ["{}", "[]", PureDP(1.0).to_json()])
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match="text "):
        PrivacySpent.from_json(text)


def test_wrong_fields_are_refused():
    with pytest.raises(ValueError, match="level is not one of"):
        PrivacySpent(PureDP(1.0), 0.0, level="secret")
    with pytest.raises(ValueError, match="grade is not one of"):
        PrivacySpent(PureDP(1.0), 0.0, grade="hoped")
    with pytest.raises(ValueError, match="guarantee is None although"):
        PrivacySpent(None, 0.0)
    with pytest.raises(ValueError, match="delta is out of range"):
        PrivacySpent(ApproximateDP(1.0, 0.1), 1.0)
    with pytest.raises(AttributeError):
        SPENT.delta = 0.0


@pytest.mark.parametrize("value", ["false", 0, 1, None, np.bool_(True)])
def test_releasable_is_a_real_boolean(value):
    with pytest.raises(TypeError, match="releasable must be True or False"):
        PrivacySpent(PureDP(1.0), 0.0, releasable=value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"releasable": false', '"releasable": "false"'),
        ('"releasable": false', '"releasable": 0'),
        ('"leaks": ["abc"]', '"leaks": "abc"'),
        ('"parts": []', '"parts": "abc"'),
    ],
)
def test_loosely_typed_texts_are_refused(old, new):
    text = PrivacySpent(None, 0.0, leaks=["abc"], releasable=False).to_json()
    assert old in text
    with pytest.raises(ValueError, match="text does not say what was spent"):
        PrivacySpent.from_json(text.replace(old, new))


def test_a_bare_string_is_no_sequence():
    with pytest.raises(TypeError, match="leaks must be a sequence of strings"):
        PrivacySpent(PureDP(1.0), 0.0, leaks="abc")
    with pytest.raises(TypeError, match="leaks must be a sequence of strings"):
        PrivacySpent(None, 0.0, leaks="abc")
    for parts in ("abc", ("abc",), PrivacyPart("a", None)):
        with pytest.raises(TypeError, match="parts must be a sequence of parts"):
            PrivacySpent(PureDP(1.0), 0.0, parts=parts)
    assert PrivacySpent(PureDP(1.0), 0.0, leaks=["abc"]).leaks == ("abc",)
