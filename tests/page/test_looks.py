"""The page is readable by day, by night, on small screens and on paper."""

import pytest
from lookups import SCHEMA, report

pytestmark = pytest.mark.page

#: Texts with too little contrast, as "ratio: text".
FAINT = """() => {
    const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => {
        const [r, g, b] = numbers(colour).slice(0, 3).map((v) => v / 255)
            .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (node) => {
        for (let at = node; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if ((numbers(colour)[3] ?? 1) === 1) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    const contrast = (a, b) => {
        const [dark, bright] = [light(a), light(b)].sort((x, y) => x - y);
        return (bright + 0.05) / (dark + 0.05);
    };
    const out = [];
    for (const node of document.querySelectorAll("body *")) {
        const own = [...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
        if (!own || !node.checkVisibility() || node.closest("script")) continue;
        const ratio = contrast(getComputedStyle(node).color, ground(node));
        if (ratio < 4.5) out.push(`${ratio.toFixed(2)}: ${node.textContent}`);
    }
    for (const node of document.querySelectorAll("input[type=text], select")) {
        const ratio = contrast(getComputedStyle(node).borderTopColor, ground(node));
        if (ratio < 3) out.push(`${ratio.toFixed(2)}: border of ${node.id}`);
    }
    for (const node of document.querySelectorAll(".yours, .worst")) {
        const ratio = contrast(getComputedStyle(node).fill, ground(node));
        if (ratio < 3) out.push(`${ratio.toFixed(2)}: ${node.getAttribute("class")}`);
    }
    return out;
}"""

LONG = SCHEMA | {"age": SCHEMA["age"] | {"label": "Lebensversicherung" * 4}}


def answer(seen):
    """Fill in the form, and unfold everything."""
    page = seen.page
    page.locator("#value0").fill("43")
    page.get_by_label("Duration").fill("24")
    for group in ("How do you live?", "children?", "pay the loan back?"):
        page.get_by_role("radiogroup", name=group).get_by_role("radio").first.check()
    seen.submit()
    for fold in page.locator("summary").all():
        fold.press("Enter")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(visit, tmp_path, scheme):
    report().to_html(tmp_path / "lookup.html", SCHEMA)
    seen = visit(tmp_path / "lookup.html", color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    assert (
        seen.page.evaluate(paper)
        == {
            "light": "rgb(247, 246, 243)",
            "dark": "rgb(19, 23, 28)",
        }[scheme]
    )
    seen.page.get_by_label("Age").press("Enter")
    assert seen.page.evaluate(FAINT) == []  # with messages
    answer(seen)
    assert seen.page.evaluate(FAINT) == []  # with a result


@pytest.mark.parametrize("width", [320, 360, 768, 1440])
def test_no_screen_is_too_narrow(visit, tmp_path, width):
    report().to_html(tmp_path / "lookup.html", LONG)
    seen = visit(tmp_path / "lookup.html", viewport={"width": width, "height": 700})
    across = "document.documentElement.scrollWidth"
    seen.page.locator("#value0").press("Enter")
    assert seen.page.evaluate(across) <= width
    answer(seen)
    assert seen.page.evaluate(across) <= width
    small = seen.page.evaluate(
        """[...document.querySelectorAll("button, .option, input[type=text]")]
            .filter((node) => node.getBoundingClientRect().height < 36).length"""
    )
    assert small == 0


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("light", {"viewport": {"width": 1100, "height": 900}}),
        ("dark", {"viewport": {"width": 1100, "height": 900}, "color_scheme": "dark"}),
        ("narrow", {"viewport": {"width": 360, "height": 740}}),
        ("forced", {"forced_colors": "active"}),
    ],
    ids=["light", "dark", "narrow", "forced colours"],
)
def test_a_picture_of_the_page_can_be_taken(visit, tmp_path, name, options):
    report().to_html(tmp_path / "lookup.html", SCHEMA)
    seen = visit(tmp_path / "lookup.html", **options)
    answer(seen)
    picture = tmp_path / f"{name}.png"
    seen.page.screenshot(path=picture, full_page=True)
    assert picture.stat().st_size > 10_000


def test_paper_shows_the_answers_and_the_result_but_no_buttons(visit, tmp_path):
    report().to_html(tmp_path / "lookup.html", SCHEMA)
    seen = visit(tmp_path / "lookup.html")
    answer(seen)
    seen.page.emulate_media(media="print")
    assert not seen.page.get_by_role("button", name="Show my bound").is_visible()
    assert seen.page.locator("#verdict").is_visible()
    for fold in seen.page.locator("summary").all():
        fold.press("Enter")
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert seen.page.locator("#exact").is_visible()
    seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not seen.page.locator("#exact").is_visible()
