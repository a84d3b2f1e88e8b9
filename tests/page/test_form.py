"""Wrong answers are told where they stand, and everybody can use the form."""

import pytest
from lookups import SCHEMA, report

pytestmark = pytest.mark.page


@pytest.fixture
def seen(visit, tmp_path):
    report().to_html(tmp_path / "lookup.html", SCHEMA)
    return visit(tmp_path / "lookup.html")


def described(seen, control):
    """Return the texts that a screen reader adds to a control."""
    return control.evaluate(
        """(node) => node.getAttribute("aria-describedby").split(" ")
            .map((id) => document.getElementById(id).textContent).join(" ")"""
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("", "Enter a number from 18 to 100."),
        ("old", "with digits and a point only"),
        ("1,5", "with digits and a point only"),
        ("0x20", "with digits and a point only"),
        ("NaN", "with digits and a point only"),
        ("Infinity", "with digits and a point only"),
        ("1e999", "with digits and a point only"),
        ("17.9", "Enter a number from 18 to 100."),
        ("101", "Enter a number from 18 to 100."),
    ],
)
def test_a_wrong_number_gets_a_message_at_its_field(seen, entry, message):
    age = seen.page.get_by_label("Age")
    age.fill(entry)
    age.press("Enter")
    assert message in described(seen, age)
    assert age.get_attribute("aria-invalid") == "true"
    assert seen.page.evaluate("document.activeElement.id") == "value0"
    assert not seen.page.locator("#result").is_visible()
    assert seen.announced() == "5 answers need another look."


def test_a_question_without_an_answer_gets_a_message(seen):
    seen.page.get_by_label("Age").fill("43")
    seen.page.get_by_label("Duration").fill("-1")
    seen.submit()
    group = seen.page.get_by_role("radiogroup", name="How do you live?")
    assert described(seen, group).strip() == "Choose one of the answers."
    assert group.get_attribute("aria-invalid") == "true"
    months = seen.page.get_by_label("Duration")
    assert "Enter a number of at least 0." in described(seen, months)
    assert seen.page.get_by_label("Age").get_attribute("aria-invalid") == "false"


def test_every_control_has_a_name_and_every_reference_leads_somewhere(seen):
    nameless = seen.page.evaluate(
        """() => [...document.querySelectorAll("input, button, [role=radiogroup]")]
            .filter((node) => {
                const ids = (name) => (node.getAttribute(name) ?? "").split(" ");
                const found = ids("aria-labelledby").concat(ids("aria-describedby"))
                    .filter(Boolean).map((id) => document.getElementById(id));
                const named = node.labels?.length > 0 || node.textContent.trim()
                    || node.getAttribute("aria-labelledby");
                return !named || found.includes(null);
            }).map((node) => node.outerHTML)"""
    )
    assert nameless == []
    ids = seen.page.evaluate("[...document.querySelectorAll('[id]')].map((n) => n.id)")
    assert len(ids) == len(set(ids))
    levels = seen.page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3')].map((n) => n.tagName)"
    )
    assert levels == ["H1", "H2", "H2", "H2"]
    assert seen.page.get_attribute("html", "lang") == "en"


def test_the_tab_key_visits_every_control_and_shows_where_it_is(seen):
    stops = []
    for _ in range(8):
        seen.tab()
        stop, outline = seen.page.evaluate(
            """() => [document.activeElement.name || document.activeElement.id
                    || document.activeElement.textContent,
                getComputedStyle(document.activeElement).outlineWidth]"""
        )
        stops.append(stop)
        assert outline == "3px"
    assert stops == [
        "value0", "value1", "value2", "value3", "label", "kind",
        "Show my bound", "Clear my answers",
    ]  # fmt: skip


def test_the_answer_to_being_in_the_data_is_withheld_unless_given(seen):
    group = seen.page.get_by_role("radiogroup", name="Were you in the data?")
    assert group.get_by_label("rather not say").is_checked()


def test_without_javascript_the_page_says_what_is_missing(browser, tmp_path):
    report().to_html(tmp_path / "lookup.html")
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto((tmp_path / "lookup.html").as_uri())
    assert "needs JavaScript" in page.locator("body").inner_text()
    assert not page.locator("form").is_visible()
    context.close()
