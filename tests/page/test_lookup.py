"""The page gives the numbers of Python, to anyone, without a network."""

import math
import re

import numpy as np
import pytest
from lookups import FITS, KINDS, NAMES, SCHEMA, SIGNS, people, report

pytestmark = pytest.mark.page

#: Answers in the order of the questions: age, months, housing, children, label, kind.
PEOPLE = [
    ("43", "24", 0, 1, 0, 0),
    ("18", "0", 1, 0, 1, 1),
    ("100", "1e3", 2, 1, 0, 2),
    ("77.25", ".5", 2, 0, 1, 2),
    ("30", "+7", 0, 0, 2, 0),
]
HOUSES = [(1, 0), (0, 1), (0, 0)]
LABELS = ["paid", "default", "unheard-of"]
ASKED = ["member", "non-member", "either"]


def by_keyboard(seen, person):
    """Fill in the form and send it without touching the pointer."""
    age, months, housing, children, label, kind = person
    seen.tab()
    seen.type(age)
    seen.tab()
    seen.type(months)
    for position in (housing, children, label):
        seen.tab()
        seen.choose(position)
    seen.tab()  # to the answer chosen in advance
    for _ in range(2 - kind):
        seen.page.keyboard.press("ArrowUp")
    seen.submit()


def in_python(published, person):
    age, months, housing, children, label, kind = person
    row = [float(age), float(months), *HOUSES[housing], children]
    return published.loss([row], [LABELS[label]], kind=ASKED[kind])[0]


@pytest.mark.parametrize("scaled", [True, False], ids=["scaled", "raw"])
@pytest.mark.parametrize("fit", FITS)
def test_the_page_computes_what_python_computes(visit, tmp_path, fit, scaled):
    published = report(fit, scaled=scaled)
    published.to_html(tmp_path / "lookup.html")
    seen = visit(tmp_path / "lookup.html")
    X, y = people(200)
    for kind in KINDS:
        signed = [(row, SIGNS[label], kind) for row, label in zip(X, y, strict=True)]
        expected = published.loss(X, y, kind=kind)
        np.testing.assert_allclose(seen.bounds(signed), expected, rtol=1e-9, atol=1e-9)
        assert np.ptp(expected) > 0.0
    assert seen.complaints == []


@pytest.mark.parametrize("fit", ["gaussian", "k-norm", "hessian"])
def test_the_form_works_by_keyboard_alone_and_shows_the_bound(visit, tmp_path, fit):
    published = report(fit)
    published.to_html(tmp_path / "lookup.html", SCHEMA)
    seen = visit(tmp_path / "lookup.html")
    for person in PEOPLE:
        seen.page.reload()
        by_keyboard(seen, person)
        loss = in_python(published, person)
        shown = float(seen.page.locator("#exact").text_content())
        assert shown == pytest.approx(loss, rel=1e-9, abs=1e-9)
        said = re.search(r"at most ([\d.]+) % sure", seen.announced())
        certainty = 100 / (1 + math.exp(-loss))
        assert certainty - 1e-6 <= float(said[1]) <= certainty + 0.1 + 1e-6
        assert seen.page.locator("#verdict").is_visible()
    # what the bound is not: a promise about records picked after a look
    assert "fixed before the model was made" in seen.page.locator("main").inner_text()
    assert seen.complaints == []


def test_nothing_is_loaded_or_kept(visit, tmp_path):
    path = tmp_path / "lookup.html"
    report().to_html(path, SCHEMA)
    seen = visit(path)
    by_keyboard(seen, PEOPLE[0])
    assert seen.requests == [path.as_uri()]
    assert seen.page.context.cookies() == []
    kept = "localStorage.length + sessionStorage.length + location.href.includes('?')"
    assert seen.page.evaluate(kept) == 0


@pytest.mark.parametrize(
    ("directive", "attempt"),
    [
        ("connect-src", "fetch(away).catch(() => null);"),
        ("img-src", "new Image().src = away;"),
        ("form-action", "const form = document.createElement('form');"
         "form.action = away; document.body.append(form); form.submit();"),
        ("require-trusted-types-for", "const script = document.createElement('script');"
         "script.append('stolen = 1'); document.body.append(script);"),
    ],
    ids=["fetch", "image", "form", "script"],
)  # fmt: skip
def test_the_policy_lets_nothing_out(visit, tmp_path, directive, attempt):
    report().to_html(tmp_path / "lookup.html")
    seen = visit(tmp_path / "lookup.html")
    stopped = seen.page.evaluate(
        f"""() => new Promise((resolve) => {{
            document.addEventListener("securitypolicyviolation",
                (event) => resolve(event.effectiveDirective));
            const away = "https://example.org/";
            {attempt}
        }})"""
    )
    assert stopped == directive


def test_every_column_has_a_question_when_nobody_describes_them(visit, tmp_path):
    report(scaled=False).to_html(tmp_path / "lookup.html")
    seen = visit(tmp_path / "lookup.html")
    for j in range(len(NAMES)):
        seen.page.get_by_label(f"Feature {j + 1}").fill(str(0.1 * j))
    seen.page.get_by_role("radiogroup", name="Your label").get_by_label("paid").check()
    seen.submit()
    expected = report(scaled=False).loss([[0.1 * j for j in range(5)]], ["paid"])[0]
    shown = float(seen.page.locator("#exact").text_content())
    assert shown == pytest.approx(expected, rel=1e-9)


def test_long_lists_of_answers_are_a_menu(visit, tmp_path):
    ages = {f"{10 * i} to {10 * i + 9}": 10 * i + 5 for i in range(2, 10)}
    schema = SCHEMA | {"age": {"label": "Your age", "categories": ages}}
    published = report()
    published.to_html(tmp_path / "lookup.html", schema)
    seen = visit(tmp_path / "lookup.html")
    seen.tab()
    seen.type("40 to 49")
    seen.tab()
    seen.type("24")
    for _ in range(3):
        seen.tab()
        seen.choose(0)
    seen.submit()
    shown = float(seen.page.locator("#exact").text_content())
    assert shown == pytest.approx(in_python(published, ("45", "24", 0, 0, 0, 2)))


def test_a_result_goes_when_an_answer_changes_and_when_all_are_cleared(visit, tmp_path):
    report().to_html(tmp_path / "lookup.html", SCHEMA)
    seen = visit(tmp_path / "lookup.html")
    result, age = seen.page.locator("#result"), seen.page.get_by_label("Age")
    by_keyboard(seen, PEOPLE[0])
    assert result.is_visible()
    age.fill("44")
    assert not result.is_visible()
    seen.submit()
    assert result.is_visible()
    seen.page.get_by_role("button", name="Clear my answers").press("Enter")
    assert not result.is_visible()
    assert age.input_value() == ""
    assert seen.announced() == "Your answers are cleared."


def test_markup_in_words_is_shown_as_it_is_written(visit, tmp_path):
    wild = "</script><img src=x onerror='alert(1)'><!--<script>"
    schema = SCHEMA | {"age": {"label": wild, "help": wild, "unit": wild}}
    report().to_html(tmp_path / "lookup.html", schema)
    seen = visit(tmp_path / "lookup.html")
    assert seen.page.get_by_label(wild).count() == 1
    assert seen.page.locator("img").count() == 0
    assert seen.complaints == []
