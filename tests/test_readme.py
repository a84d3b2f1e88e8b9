"""What the documents show is what happens."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "docs/guarantee.md",
    "docs/accounting.md",
    "docs/linear_family.md",
    "docs/posterior_sampling.md",
    "docs/selection.md",
    "docs/pdp_report.md",
    "CONTRIBUTING.md",
]
OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def blocks(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_scripts_run(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scripts = [block for block in blocks(page) if ">>>" not in block]
    exec("\n".join(scripts), {})
    if page == "README.md":
        printed = capsys.readouterr().out
        assert printed.startswith("PrivacySpent(epsilon=1.000 at delta=0, add-remove")


@pytest.mark.parametrize("page", PAGES)
def test_sessions_print_what_they_show(page, tmp_path, monkeypatch):
    """Numbers are compared to the digits shown."""
    monkeypatch.chdir(tmp_path)
    session = "\n".join(block for block in blocks(page) if ">>>" in block)
    test = doctest.DocTestParser().get_doctest(session, {}, page, page, 0)
    runner = doctest.DocTestRunner(checker=RoundedNumbers(), optionflags=OPTIONS)
    assert runner.run(test).failed == 0


class RoundedNumbers(doctest.OutputChecker):
    """Compares a lone number after rounding it to as many decimals as are shown."""

    def check_output(self, want, got, optionflags):
        if re.fullmatch(r"-?\d+\.\d+\n", want):
            decimals = len(want.strip().partition(".")[2])
            return round(float(got), decimals) == float(want)
        return super().check_output(want, got, optionflags)


@pytest.mark.parametrize("page", [*PAGES, "SECURITY.md"])
def test_links_between_the_documents_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", text):
        assert ((ROOT / page).parent / target).exists()


def test_the_table_of_free_steps_names_every_rule():
    from skdp.preprocessing._data_independent import RULES

    text = (ROOT / "docs/guarantee.md").read_text(encoding="utf-8")
    assert not [rule.__name__ for rule in RULES if f"`{rule.__name__}`" not in text]
