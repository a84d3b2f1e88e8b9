"""Files that promise constant work contain no call whose time depends on values.

The time of the calls named here was seen to depend on the values they are given: some
exit early, some branch on each element, some allocate what a mask leaves.
"""

import ast
from pathlib import Path

import pytest

import skdp

PACKAGE = Path(skdp.__file__).parent
FILES = sorted((PACKAGE / "_constant_work").glob("*.py"))
#: Files of samplers that promise no fixed work: ordinary rejection and its envelopes,
#: public computations, and a fixed amount that is looked at in its own tests (bounded,
#: padded, uniform_ball).
EXEMPT = {
    *("acceptance", "ball", "bounded", "core_tail", "gauss", "mala", "minorant"),
    *("mode", "normaliser", "padded", "uniform_ball"),
}
#: Samplers of fixed work may branch on public numbers and coins, so only the calls are
#: looked at. A new file is one of them until it is exempt.
SAMPLERS = sorted(
    path
    for path in (PACKAGE / "samplers").glob("_*.py")
    if path.stem.removeprefix("_") not in EXEMPT
)

#: Calls, by their last name.
BRANCHY = {
    *("where", "any", "all", "nonzero", "flatnonzero", "argwhere", "extract"),
    *("compress", "select", "piecewise", "place", "putmask", "isclose", "allclose"),
    *("sort", "argsort", "sorted", "partition", "argpartition", "searchsorted"),
    *("interp", "digitize", "bincount", "unique", "histogram", "isin", "intersect1d"),
    *("eigh", "eigvalsh", "eig", "svd", "lstsq", "pinv", "minimize", "brentq"),
    *("geometric", "binomial", "gamma", "poisson", "beta", "vonmises", "choice"),
    *("logaddexp", "repeat", "delete", "resize", "trim_zeros", "pow"),
}
#: exp is safe only after its argument is clamped, so it has one home.
EXPONENTIALS = {"exp", "expm1", "exp2"}
STATEMENTS = (ast.If, ast.IfExp, ast.While, ast.Break, ast.Continue, ast.Try)
STATEMENTS += (ast.Raise, ast.Assert, ast.BoolOp, ast.Match)
MASKS = (ast.Compare, ast.BoolOp, ast.UnaryOp)


def complaints(source):
    """List what a file of constant work must not contain."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in BRANCHY:
                found.append(f"line {node.lineno}: call of {name}")
            if name in EXPONENTIALS and not clamped(node):
                found.append(f"line {node.lineno}: {name} of an unclamped argument")
        elif isinstance(node, STATEMENTS):
            found.append(f"line {node.lineno}: {type(node).__name__}")
        elif isinstance(node, ast.Subscript) and masked(node.slice):
            found.append(f"line {node.lineno}: indexing by a mask")
    return found


def clamped(call):
    """Tell whether the argument is the result of bounded(...)."""
    first = call.args[0]
    return isinstance(first, ast.Call) and getattr(first.func, "id", "") == "bounded"


def masked(index):
    """Tell whether an index is a comparison, or a name that says it is a mask."""
    negative = isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub)
    named = isinstance(index, ast.Name) and index.id in {"mask", "accepted", "hit"}
    return named or (isinstance(index, MASKS) and not negative)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_constant_work_contains_nothing_branchy(path):
    assert complaints(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", SAMPLERS, ids=lambda p: p.name)
def test_samplers_of_fixed_work_make_no_branchy_call(path):
    found = complaints(path.read_text(encoding="utf-8"))
    assert [c for c in found if "call of" in c or "mask" in c] == []


def test_there_is_something_to_check():
    assert len(FILES) >= 3
    names = {path.stem for path in SAMPLERS}
    assert names >= {"_log_linear", "_bingham", "_slack", "_holder_grid"}
    assert all((PACKAGE / "samplers" / f"_{name}.py").exists() for name in EXEMPT)


@pytest.mark.parametrize("name", sorted(EXEMPT))
def test_who_is_exempt_has_a_reason(name):
    """A file that has nothing to complain about belongs to the others."""
    text = (PACKAGE / "samplers" / f"_{name}.py").read_text(encoding="utf-8")
    assert [c for c in complaints(text) if "call of" in c or "mask" in c]


@pytest.mark.parametrize(
    "line",
    [
        "np.where(mask, x, y)",
        "x[x > 0]",
        "x[mask]",
        "x[~mask]",
        "np.sort(x)",
        "np.exp(x)",
        "mask.any()",
        "if secret: pass",
        "y = 1 if secret else 2",
        "rng.geometric(p)",
        "np.linalg.eigh(A)",
        "while secret: pass",
    ],
)
def test_the_lint_sees_what_it_should(line):
    assert complaints(line)


@pytest.mark.parametrize("line", ["x[-1]", "x[:, None]", "np.exp(bounded(x, -7, 7))"])
def test_the_lint_lets_the_rest_pass(line):
    assert not complaints(line)
