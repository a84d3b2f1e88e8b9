"""The decision table: each row is reached, and a leak is refused unless allowed."""

import importlib

import pytest

from skdp.samplers import (
    BatchedLoop,
    PaddedLoop,
    SimpleLoop,
    SlackSqueeze,
    ThinnedLoop,
    choose_sampler,
)
from skdp.samplers._choose import _TABLE

ROWS = [
    ("candidates", 1, (), "finite selection", None),
    ("interval", 1, ("sensitivity",), "utility interpolated on a public grid", None),
    ("box", 3, ("sensitivity",), "cells of a public grid", None),
    ("space", 1, ("public acceptance",), "simple loop", SimpleLoop),
    ("line", 1, ("log-concave",), "universal log-concave envelope", BatchedLoop),
    ("sphere", 1, ("bingham",), "angular central Gaussian envelope", BatchedLoop),
    ("space", 2, ("strongly concave",), "Gaussian envelope in batches", BatchedLoop),
    ("interval", 1, ("log-concave", "curvature"), "concave hull", BatchedLoop),
    ("space", 1, ("acceptance bound",), "batches until one succeeds", BatchedLoop),
    ("space", 1, ("exact acceptance",), "thinned loop", ThinnedLoop),
    ("space", 1, ("estimated acceptance",), "padded loop", PaddedLoop),
    ("interval", 1, ("holder",), "slack squeeze on public cells", SlackSqueeze),
    ("space", 1, ("squeeze",), "slack squeeze", SlackSqueeze),
    ("box", 2, ("holder",), "slack squeeze on public cells of a box", SlackSqueeze),
    ("box", 5, ("public proposal",), "public candidates", None),
]


@pytest.mark.parametrize(("domain", "dimension", "known", "name", "sampler"), ROWS)
def test_every_row_of_the_table_is_reached(domain, dimension, known, name, sampler):
    choice = choose_sampler(domain, dimension=dimension, known=known)
    assert choice.name.startswith(name)
    assert choice.sampler[:1] == ((sampler,) if sampler else ())
    assert bool(choice.sampler) != bool(choice.mechanism)
    assert choice.why
    assert choice.name in str(choice)
    assert choice.cost in str(choice)


def test_the_rows_are_all_there():
    names = {choose_sampler(d, dimension=n, known=k).name for d, n, k, *_ in ROWS}
    assert names == {rule.choice.name for rule in _TABLE}


def test_mechanisms_are_where_they_are_said_to_be():
    """The rows of fixed work name a mechanism, and the name leads to it."""
    named = [rule.choice for rule in _TABLE if rule.choice.mechanism]
    assert [len(choice.mechanism) for choice in named] == [2, 1, 1, 2]
    for choice in named:
        assert choice.fixed_work
        for name in choice.mechanism:
            room, _, member = name.rpartition(".")
            assert isinstance(getattr(importlib.import_module(room), member), type)
            assert name in str(choice)


def test_the_order_of_preference():
    """Whoever knows everything gets the first row; without it the next, and so on."""
    tables = {
        "interval": [
            ("sensitivity", "utility interpolated"),
            ("public proposal", "public candidates"),
            ("strongly concave", "Gaussian envelope"),
            ("curvature", "concave hull"),
            ("public acceptance", "simple loop"),
            ("acceptance bound", "batches until"),
            ("exact acceptance", "thinned"),
            ("estimated acceptance", "padded"),
            ("holder", "slack squeeze on public cells"),
            ("squeeze", "slack squeeze"),
        ],
        "box": [
            ("sensitivity", "cells of a public grid"),
            ("public proposal", "public candidates"),
            ("strongly concave", "Gaussian envelope"),
            ("public acceptance", "simple loop"),
            ("acceptance bound", "batches until"),
            ("exact acceptance", "thinned"),
            ("estimated acceptance", "padded"),
            ("holder", "slack squeeze on public cells of a box"),
            ("squeeze", "slack squeeze"),
        ],
    }
    for domain, rows in tables.items():
        for i, (_, name) in enumerate(rows):
            known = ("log-concave", *(fact for fact, _ in rows[i:]))
            assert choose_sampler(domain, known=known).name.startswith(name)


@pytest.mark.parametrize(
    ("domain", "fact"),
    [("line", "log-concave"), ("sphere", "bingham"), ("space", "strongly concave")],
)
def test_free_candidates_come_before_envelopes_and_these_before_loops(domain, fact):
    known = (fact, "public acceptance", "acceptance bound")
    assert choose_sampler(domain, known=known).sampler[0] is BatchedLoop
    choice = choose_sampler(domain, known=(*known, "public proposal", "sensitivity"))
    assert choice.name == "public candidates"


def test_a_public_grid_comes_before_loops():
    """Changing the utility is free in privacy, so it is preferred."""
    known = ("log-concave", "curvature", "holder", "sensitivity", "acceptance bound")
    choice = choose_sampler("interval", known=known)
    assert choice.name == "utility interpolated on a public grid"
    assert choice.fixed_work


def test_fixed_delta_comes_before_epsilon():
    choice = choose_sampler("interval", known=("holder", "acceptance bound"))
    assert choice.sampler[0] is BatchedLoop


@pytest.mark.parametrize("domain", ["space", "line", "sphere", "box", "interval"])
def test_a_running_time_that_tells_is_refused(domain):
    with pytest.raises(ValueError, match="running time would depend on the data"):
        choose_sampler(domain)
    choice = choose_sampler(domain, allow_runtime_leak=True)
    assert choice.sampler == (SimpleLoop,)
    assert not choice.fixed_work
    assert "RuntimeCost" in choice.cost


def test_a_box_of_many_axes_has_no_grid():
    for fact in ("sensitivity", "holder"):
        with pytest.raises(ValueError, match="running time would depend"):
            choose_sampler("box", dimension=4, known=(fact,))


def test_typos_are_refused():
    with pytest.raises(ValueError, match="domain is not one of"):
        choose_sampler("lattice")
    with pytest.raises(ValueError, match="known is not one of"):
        choose_sampler("line", known=("log concave",))
    with pytest.raises(ValueError, match="dimension"):
        choose_sampler("box", dimension=0)
