"""The package as a whole: cheap to import, typed, layered."""

import importlib.util
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path

import pytest

import skdp

HEAVY = [
    "pandas",
    "scipy.stats",
    "matplotlib",
    "dp_accounting",
    "opendp",
    "statsmodels",
]


def loaded_after(statement):
    """Return which heavy modules, and whether scikit-learn, the statement loads."""
    code = f"import sys; {statement}; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


def test_importing_the_package_loads_nothing_but_itself():
    modules = loaded_after("import skdp")
    assert not modules & {"numpy", "scipy", "sklearn", *HEAVY}
    assert {name for name in modules if name.startswith("skdp")} == {"skdp"}


def test_the_estimator_adds_no_heavy_module_to_scikit_learn():
    base = loaded_after("import sklearn.linear_model")
    added = loaded_after("from skdp import *") - base
    assert not added & set(HEAVY)


def test_names_are_loaded_on_first_use():
    for name in skdp.__all__:
        assert getattr(skdp, name).__name__ == name
    assert skdp.__getattr__("accounting").PureDP is skdp.PureDP
    assert set(skdp.__all__) | {"accounting", "__version__"} <= set(dir(skdp))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        skdp.nothing  # noqa: B018


def test_the_type_marker_is_shipped():
    assert (resources.files("skdp") / "py.typed").is_file()


def test_the_version_is_that_of_the_installed_package():
    assert skdp.__version__.count(".") == 2
    try:
        installed = metadata.version("skdp")
    except metadata.PackageNotFoundError:  # run from the source tree
        return
    assert installed == skdp.__version__


def test_floors_import_downwards_only():
    """The contracts of pyproject.toml, where the linter is installed."""
    if importlib.util.find_spec("importlinter") is None:
        return
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command; lint_imports_command()",
        ],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert run.returncode == 0, run.stdout


def test_every_room_is_reached_from_the_top():
    home = Path(skdp.__file__).parent
    folders = {path.parent.name for path in home.glob("[a-z]*/__init__.py")}
    assert folders | {"exceptions"} == skdp._ROOMS
    for room in skdp._ROOMS:
        assert getattr(skdp, room).__name__ == f"skdp.{room}"
