"""The decision table: each row is reached, and a leak is refused unless allowed."""

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
    ("box", 5, ("public proposal", "sensitivity"), "public candidates", None),
]


@pytest.mark.parametrize(("domain", "dimension", "known", "name", "sampler"), ROWS)
def test_every_row_of_the_table_is_reached(domain, dimension, known, name, sampler):
    choice = choose_sampler(domain, dimension=dimension, known=known)
    assert choice.name.startswith(name)
    assert choice.sampler[:1] == ((sampler,) if sampler else ())
    assert choice.why
    assert choice.name in str(choice)
    assert choice.cost in str(choice)


def test_the_rows_are_all_there():
    names = {choose_sampler(d, dimension=n, known=k).name for d, n, k, *_ in ROWS}
    assert names == {rule.choice.name for rule in _TABLE}


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
    with pytest.raises(ValueError, match="running time would depend"):
        choose_sampler("box", dimension=4, known=("sensitivity",))


def test_typos_are_refused():
    with pytest.raises(ValueError, match="domain is not one of"):
        choose_sampler("lattice")
    with pytest.raises(ValueError, match="known is not one of"):
        choose_sampler("line", known=("log concave",))
    with pytest.raises(ValueError, match="dimension"):
        choose_sampler("box", dimension=0)
