"""A page with a wrong report says so, and computes nothing."""

import dataclasses
import json
import re

import pytest
from lookups import NAMES, SCHEMA, report

pytestmark = pytest.mark.page

_BLOCK = re.compile(
    r'(<script type="application/json" id="report">)(.*?)(</script>)', re.S
)


def with_report(path, change):
    """Replace the report within a finished page."""
    html = path.read_text(encoding="utf-8")
    text = _BLOCK.search(html)[2]
    changed = _BLOCK.sub(lambda found: found[1] + change(text) + found[3], html)
    path.write_text(changed, encoding="utf-8")


def fields(**changes):
    """Return a change of fields; None takes one away."""

    def change(text):
        record = json.loads(text) | changes
        return json.dumps({k: v for k, v in record.items() if v is not ...}, indent=1)

    return change


WRONG = {
    "another schema": (fields(schema="skdp.report/2"), "skdp.report/2"),
    "no schema": (fields(schema=...), "nothing"),
    "a field too few": (fields(alpha=...), "“alpha” is missing"),
    "a field too many": (fields(n=1000), "“n” does not belong"),
    "cut off": (lambda text: text[: len(text) // 2], "damaged or cut off"),
    "no number": (fields(alpha=float("nan")), "damaged or cut off"),
    "infinity": (
        lambda text: re.sub(r'"alpha": [^,]*', '"alpha": 1e999', text),
        "“alpha” holds a wrong value",
    ),
    "not positive": (fields(noise_scale=0.0), "“noise_scale” holds a wrong value"),
    "text for a number": (fields(delta="1e-6"), "“delta” holds a wrong value"),
    "other parameters": (fields(loss_params={"c": 1}), "“loss_params” holds a wrong"),
    "no coefficients": (fields(theta=[]), "wrong length"),
    "too short": (fields(theta=[0.5]), "wrong length"),
    "half a scaling": (fields(column_lower=None), "scaling"),
    "three labels": (fields(classes=["a", "b", "c"]), "“classes” holds a wrong value"),
    "another level": (fields(level="hessian"), "“hessian” does not go with the level"),
    "half a statistic": (fields(hessian={"values": [1.0]}), "“hessian” holds a wrong"),
    "no record": (lambda text: "[1]", "damaged"),
    "another report": (fields(alpha=77.0), "not those this page was made from"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_report_gets_a_message_in_place_of_the_form(visit, tmp_path, wrong):
    change, words = WRONG[wrong]
    path = tmp_path / "lookup.html"
    report().to_html(path, SCHEMA)
    with_report(path, change)
    seen = visit(path)
    message = seen.page.get_by_role("alert").text_content()
    assert words in message
    assert "Ask whoever gave you this file for a new copy." in message
    assert not seen.page.locator("form").is_visible()
    assert seen.complaints == []


def test_the_page_knows_the_fields_of_python(visit, tmp_path):
    published = report()
    published.to_html(tmp_path / "lookup.html")
    known = visit(tmp_path / "lookup.html").page.evaluate("Object.keys(FIELDS)")
    assert known == list(json.loads(published.to_json()))


@pytest.mark.parametrize("classes", [("paid",), (0, 1), (False, True), (0.5, 1.5)])
def test_every_kind_of_label_is_read(visit, tmp_path, classes):
    published = dataclasses.replace(report(), classes=classes)
    published.to_html(tmp_path / "lookup.html")
    group = visit(tmp_path / "lookup.html").page.get_by_role(
        "radiogroup", name="Your label"
    )
    shown = group.locator("label").all_text_contents()
    assert shown == [*map(str, classes), "None of these"]


def test_a_tampered_file_runs_no_foreign_script(visit, tmp_path):
    path = tmp_path / "lookup.html"
    report().to_html(path)
    html = path.read_text(encoding="utf-8")
    foreign = "<script>document.title = 'taken over'</script></body>"
    path.write_text(html.replace("</body>", foreign), encoding="utf-8")
    seen = visit(path)
    assert "taken over" not in seen.page.title()
    assert len(NAMES) == seen.page.locator("#values input").count()
