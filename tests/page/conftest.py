"""A browser without a network, and pages opened in it from disk."""

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

#: Debian's browser; `make test-page` installs it.
BROWSER = shutil.which("chromium")


@pytest.fixture(scope="session")
def browser():
    """Start the browser once; without one the tests fail, they never skip."""
    from playwright.sync_api import sync_playwright

    assert BROWSER is not None, "chromium is missing: run `make test-page`"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER)
        yield browser
        browser.close()


@dataclass
class Visit:
    """A page, and what it did besides being looked at."""

    page: object
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def bounds(self, people):
        """Let the page compute the bounds of ``(raw row, sign, kind)``."""
        return self.page.evaluate(
            """(people) => {
                const text = (id) => document.getElementById(id).textContent;
                const { report, page } = readReport(text("report"), text("page"));
                return people.map(([raw, sign, kind]) =>
                    lossBound(report, page.bounds[kind], raw, sign).loss);
            }""",
            [[list(map(float, raw)), sign, kind] for raw, sign, kind in people],
        )

    def tab(self, times=1):
        for _ in range(times):
            self.page.keyboard.press("Tab")

    def type(self, text):
        self.page.keyboard.type(text)

    def choose(self, position):
        """Choose an answer of the group of radio buttons that has the focus."""
        self.page.keyboard.press("Space")
        for _ in range(position):
            self.page.keyboard.press("ArrowDown")

    def submit(self):
        self.page.keyboard.press("Enter")

    def announced(self):
        return self.page.locator("[role=status]").text_content()


@pytest.fixture
def visit(browser, tmp_path):
    """Return a function that opens a file and watches what it does."""
    contexts = []

    def open_file(path, **options):
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        seen = Visit(page)
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("console", lambda message: seen.complaints.append(message.text))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.goto(Path(path).as_uri())
        return seen

    yield open_file
    for context in contexts:
        context.close()
