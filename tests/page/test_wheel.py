"""The page travels with the package."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.page

ROOT = Path(__file__).parents[2]
PAGE = Path("skdp/pdp/_page")


def test_the_wheel_holds_every_file_of_the_page(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {n: archive.read(n) for n in archive.namelist() if str(PAGE) in n}
    sources = [p for p in (ROOT / PAGE).iterdir() if p.is_file()]
    assert held == {str(PAGE / path.name): path.read_bytes() for path in sources}
    assert {"lookup.html", "lookup.css", "lookup.js"} <= {p.name for p in sources}
