"""Every public name is exported, documented, and built on public scikit-learn."""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
from enum import Enum
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import skdp
from skdp.mechanisms import Mechanism

PACKAGE = Path(skdp.__file__).parent
ROOMS = sorted(
    f"skdp.{module.name}"
    for module in pkgutil.iter_modules(skdp.__path__)
    if not module.name.startswith("_")
)
SOURCES = sorted(PACKAGE.rglob("*.py"))

#: Checks of numpydoc that we do not follow, each with its reason.
IGNORED = {
    "ES01",  # no extended summary: one line often says all
    "EX01",  # examples stand on the class, not on each method
    "GL01",  # ruff asks for the summary on the opening line
    "GL08",  # a magic method or an override needs no docstring of its own
    "PR07",  # "objective : Objective" needs no more words
    "PR08",  # a description may start with a symbol
    "RT02",  # scikit-learn names what is returned, and so do we
    "RT03",  # the type of what is returned often says all
    "RT04",  # as PR08
    "SS02",  # "f-DP" starts with a symbol
    "SA01",  # no "See Also" without something worth seeing
}


def public_objects():
    """Yield (qualified name, object) of the exported classes, functions and methods."""
    seen = set()
    for room in ["skdp", *ROOMS]:
        module = importlib.import_module(room)
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            if not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            if value in seen:
                continue
            seen.add(value)
            yield f"{room}.{name}", value
            if inspect.isclass(value):
                yield from methods(f"{room}.{name}", value)


def methods(path, cls):
    """Yield what a class defines itself under a public name."""
    for name, value in vars(cls).items():
        function = getattr(value, "__func__", value)
        documented = isinstance(value, property) or inspect.isfunction(function)
        if documented and not name.startswith("_"):
            yield f"{path}.{name}", value


OBJECTS = dict(public_objects())


@pytest.mark.parametrize("room", ["skdp", *ROOMS])
def test_exports_are_a_sorted_list_of_strings_that_all_exist(room):
    module = importlib.import_module(room)
    assert all(type(name) is str for name in module.__all__)
    assert module.__all__ == sorted(module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name)


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_of_a_room_is_exported(room):
    """What a room imports from its own files under a public name is in ``__all__``."""
    module = importlib.import_module(room)
    real = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "").startswith(room)
    }
    assert real <= set(module.__all__)


@pytest.mark.filterwarnings("ignore:Unknown section Privacy")
@pytest.mark.parametrize("path", OBJECTS)
def test_docstrings_are_complete(path):
    errors = [
        f"{code}: {text}"
        for code, text in validate(path)["errors"]
        if code not in IGNORED and not follows_house_rules(code, text, path)
    ]
    assert not errors


def follows_house_rules(code, text, path):
    """Tell whether a complaint is about something our docstrings do on purpose."""
    value = OBJECTS[path]
    if code == "GL06":  # "Privacy" is a section of our own
        return "Privacy" in text
    if code == "GL07":  # ... and it may stand anywhere after the parameters
        return True
    if is_method(path):
        # short methods need a sentence, not a form
        return code in {"PR01", "RT01", "YD01"}
    return (
        code == "PR01"
        and inspect.isclass(value)
        and has_no_parameters_to_document(value, text)
    )


def is_method(path):
    return inspect.isclass(OBJECTS.get(path.rpartition(".")[0]))


def has_no_parameters_to_document(cls, text):
    """Results tell of their fields in other places; protocols and enums have none."""
    if issubclass(cls, Enum) or getattr(cls, "_is_protocol", False):
        return True
    if not dataclasses.is_dataclass(cls):
        return False
    missing = ast.literal_eval(text[text.index("{") : text.index("}") + 1])
    attributes = NumpyDocString(inspect.getdoc(cls))["Attributes"]
    listed = {name for entry in attributes for name in entry.name.split(", ")}
    told = set(re.findall(r"\w+", cls.__doc__))
    return missing <= listed | told


def needs_privacy_section(value):
    if not inspect.isclass(value) or inspect.isabstract(value):
        return False
    is_estimator = hasattr(value, "fit") and (
        "epsilon" in inspect.signature(value).parameters
    )
    return is_estimator or issubclass(value, Mechanism)


@pytest.mark.parametrize(
    "path", [path for path, value in OBJECTS.items() if needs_privacy_section(value)]
)
def test_mechanisms_and_private_estimators_have_a_privacy_section(path):
    text = inspect.getdoc(OBJECTS[path])
    assert re.search(r"^(Privacy\n-+|\.\. rubric:: Privacy)$", text, re.MULTILINE)


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_only_public_names_of_other_packages_are_imported(source):
    """No part of the dotted path outside skdp starts with an underscore."""
    for module, names in imports(source):
        parts = [*module.split("."), *names]
        if parts[0] not in {"skdp", "__future__"}:
            assert not [part for part in parts if part.startswith("_")]


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_heavy_packages_are_imported_where_they_are_used(source):
    tree = ast.parse(source.read_text(encoding="utf-8"))
    heavy = ("pandas", "scipy.stats", "matplotlib", "dp_accounting", "statsmodels")
    for node in tree.body:  # module level only; blocks such as TYPE_CHECKING are not
        for module, names in imported_by(node):
            full = [module, *(f"{module}.{name}" for name in names)]
            assert not [path for path in full if path.startswith(heavy)]


def imports(source):
    """Yield (module, names) of every import statement of a file."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        yield from imported_by(node)


def imported_by(node):
    if isinstance(node, ast.Import):
        yield from ((alias.name, []) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module, [alias.name for alias in node.names]
