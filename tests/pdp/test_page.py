"""The lookup page is one safe file that asks for what the report needs.

What a browser makes of it is tested in tests/page.
"""

import base64
import dataclasses
import hashlib
import json
import re

import pytest

from skdp.accounting import ApproximateDP, PureDP
from skdp.mechanisms import ObjectivePerturbation
from skdp.pdp import PublishedReport, ReleasedStatistic

NAMES = ("age", "rent", "own", "child")


def report(*, pure=False, **changes):
    """Return a report of zero coefficients."""
    target = PureDP(1.0) if pure else ApproximateDP(1.0, 1e-6)
    mechanism = ObjectivePerturbation.calibrate(
        target, radius=1.25**0.5, n_coefficients=5
    )
    step = mechanism.smoothing
    fields = {
        "adjacency": "add-remove",
        "epsilon": 1.0,
        "delta": 0.0 if pure else 1e-6,
        "rho": None if pure else 1e-6,
        "data_norm": 1.0,
        "intercept_scaling": 0.5,
        "feature_names": NAMES,
        "classes": ("no", "yes"),
        "alpha": mechanism.alpha,
        "noise": "k-norm" if pure else "gaussian",
        "noise_scale": mechanism.noise_law.scale,
        "gradient_tol": mechanism.gradient_tol,
        "smoothing_scale": step.scale,
        "smoothing_error": step.error,
        "smoothing_step": step.grid,
        "theta": (0.0,) * 5,
    }
    return PublishedReport(**fields | changes)


@pytest.fixture
def page(tmp_path):
    """Return a function that writes a page and reads back its text and data."""

    def write(published=None, schema=None):
        path = tmp_path / "lookup.html"
        (published or report()).to_html(path, schema)
        text = path.read_text(encoding="utf-8")
        return text, json.loads(block(text, "page"))

    return write


def block(text, name):
    pattern = rf'<script type="application/json" id="{name}">(.*?)</script>'
    return re.search(pattern, text, re.S)[1]


def test_the_page_refers_to_nothing_outside(page):
    text, _ = page()
    addresses = set(re.findall(r"\w+://[^\s\"'`]*", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, never fetched
    assert not re.search(r"\b(src|href)=|@import|url\(|<link|<iframe|<object", text)
    for word in ("innerHTML", "eval(", "fetch(", "XMLHttp", "localStorage", "cookie"):
        assert word not in text


def test_the_policy_allows_the_one_script_and_style_it_holds(page):
    text, _ = page()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["form-action"] == rules["base-uri"] == "'none'"
    for directive, pattern in (
        ("script-src", r"<script>(.*?)</script>"),
        ("style-src", r"<style>(.*?)</style>"),
    ):
        (held,) = re.findall(pattern, text, re.S)
        digest = base64.b64encode(hashlib.sha256(held.encode()).digest()).decode()
        assert rules[directive] == f"'sha256-{digest}'"
    assert text.index("Content-Security-Policy") < text.index("<script")


@pytest.mark.parametrize("pure", [False, True], ids=["gaussian", "k-norm"])
def test_the_page_holds_the_report_and_the_public_numbers_of_its_bounds(page, pure):
    published = report(pure=pure)
    text, data = page(published)
    assert PublishedReport.from_json(block(text, "report")) == published
    assert list(data["bounds"]) == ["either", "member", "non-member"]
    for kind, numbers in data["bounds"].items():
        expected = published.bound(kind=kind).numbers()
        assert numbers.keys() == expected.keys()
        for name, value in expected.items():
            assert numbers[name] == (None if value == float("inf") else value)
    assert data["failure"] == (1e-12 if pure else 1e-6)


def test_no_word_ends_the_element_it_stands_in(page):
    wild = "</script><!--<script>{{script}}&amp;\u2028é😀"
    names = (wild, "rent", "own", "child")
    schema = {wild: {"label": wild, "help": wild}, "y": {"label": wild}}
    text, data = page(report(feature_names=names, classes=(wild, "~")), schema)
    assert text.count("</script>") == 3
    assert text.count("<script") == 3
    assert data["questions"][0]["label"] == wild
    assert data["label"]["answers"][0][0] == wild
    assert json.loads(block(text, "report"))["feature_names"][0] == wild


def test_columns_without_a_description_are_asked_for_by_name(page):
    _, data = page()
    assert [q["label"] for q in data["questions"]] == list(NAMES)
    assert [q["column"] for q in data["questions"]] == [0, 1, 2, 3]
    _, data = page(report(feature_names=None))
    assert [q["label"] for q in data["questions"]] == [
        f"Feature {j}" for j in range(1, 5)
    ]


def test_a_schema_orders_words_and_groups_the_questions(page):
    schema = {
        "home": {
            "label": "Your home",
            "categories": {"rented": "rent", "owned": "own", "other": None},
        },
        "age": {"label": " Age ", "unit": "years", "min": 18, "max": 99},
    }
    _, data = page(schema=schema)
    home, age, child = data["questions"]
    assert home["answers"] == [
        ["rented", [[1, 1.0], [2, 0.0]]],
        ["owned", [[1, 0.0], [2, 1.0]]],
        ["other", [[1, 0.0], [2, 0.0]]],
    ]
    assert (age["label"], age["unit"], age["min"], age["max"], age["column"]) == (
        ("Age", "years", 18.0, 99.0, 0)
    )
    assert child["label"] == "child"


def test_columns_without_names_are_described_by_position(page):
    schema = {2: {"label": "Third", "categories": {"low": -1, "high": 1.5}}}
    _, data = page(report(feature_names=None), schema)
    assert [q["label"] for q in data["questions"]] == [
        "Third", "Feature 1", "Feature 2", "Feature 4",
    ]  # fmt: skip
    assert data["questions"][0]["answers"] == [
        ["low", [[2, -1.0]]],
        ["high", [[2, 1.5]]],
    ]


def test_labels_carry_their_signs(page):
    _, data = page()
    assert data["label"]["answers"] == [["no", -1], ["yes", 1], ["None of these", 0]]
    _, data = page(report(classes=("no",)))
    assert data["label"]["answers"] == [["no", -1], ["None of these", 0]]
    words = {"label": "Ill?", "categories": {"I am": True, "I am not": False}}
    _, data = page(report(classes=(False, True)), {"y": words})
    assert data["label"]["label"] == "Ill?"
    assert data["label"]["answers"][:2] == [["I am", 1], ["I am not", -1]]


def test_a_column_called_y_is_a_column(page):
    names = ("y", "rent", "own", "child")
    _, data = page(report(feature_names=names), {"y": {"label": "Years"}})
    assert data["questions"][0]["label"] == "Years"
    assert data["label"]["label"] == "Your label"


@pytest.mark.parametrize(
    ("schema", "kind", "words"),
    [
        ([("age", {})], TypeError, "schema is not a mapping"),
        ({"age": "Age"}, TypeError, "not a description"),
        ({"height": {"label": "Height"}}, ValueError, "names no column"),
        ({0: {"label": "Age"}}, ValueError, "names no column"),
        ({"age": {"labels": "Age"}}, ValueError, "unknown key"),
        ({"age": {"label": 3}}, TypeError, "not a text"),
        ({"age": {"label": "  "}}, TypeError, "not a text"),
        ({"age": {"min": "18"}}, TypeError, "must be a real number"),
        ({"age": {"max": float("inf")}}, ValueError, "not finite"),
        ({"age": {"min": float("nan")}}, ValueError, "must not be nan"),
        ({"age": {"min": 2, "max": 1}}, ValueError, "empty range"),
        ({"age": {"categories": {"one": 1}}}, ValueError, "no choice"),
        ({"age": {"categories": ["a", "b"]}}, ValueError, "no choice"),
        ({"age": {"categories": {"a": 1, "b": 2}, "unit": "m"}}, ValueError, "range"),
        ({"age": {"categories": {"a": 1, "b": "rent"}}}, TypeError, "mix"),
        ({"age": {"categories": {"a": 1, "b": None}}}, TypeError, "real number"),
        ({"age": {"categories": {"a": None, "b": None}}}, TypeError, "real number"),
        ({"home": {"categories": {"a": "rnt", "b": "own"}}}, ValueError, "no column"),
        ({"home": {"categories": {"a": "rent", "b": "rent"}}}, ValueError, "twice"),
        ({"rent": {}, "h": {"categories": {"a": "rent", "b": "own"}}},
         ValueError, "twice"),
        ({"y": {"min": 0}}, ValueError, "describes a number"),
        ({"y": {"categories": {"No": "no", "Yes": "si"}}}, ValueError, "the labels"),
        ({"y": {"categories": {"No": "no", "Yes": "no"}}}, ValueError, "the labels"),
    ],
)  # fmt: skip
def test_a_schema_of_other_columns_is_refused(page, schema, kind, words):
    with pytest.raises(kind, match=words) as caught:
        page(schema=schema)
    assert "Allowed: " in str(caught.value)


def test_shared_matrices_stand_on_the_page_once(page):
    released = ReleasedStatistic(
        values=(1e3, 0.0, 1e3, 0.0, 0.0, 1e3, 0, 0, 0, 1e3, 0, 0, 0, 0, 1e3),
        scale=1.0,
        smoothing_scale=2.0**-20,
        smoothing_error=2.0**-24,
        smoothing_step=2.0**-30,
    )
    _, data = page(dataclasses.replace(report(), level="hessian", hessian=released))
    assert len(data["leverages"]) == 1
    positions = [numbers["leverage"] for numbers in data["bounds"].values()]
    assert positions == [0, 0, None]
