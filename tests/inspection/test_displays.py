"""Displays draw what they say, in the manner of scikit-learn's."""

import builtins

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from skdp.inspection import (
    AccuracyDisplay,
    MarginalsDisplay,
    ObscureProbabilityDisplay,
)
from skdp.synthesis import ROOSampler


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def test_accuracy_is_that_of_the_samplers():
    display = AccuracyDisplay.from_parameters(
        n_rows=1000, n_categories=9, epsilons=[0.1, 1.0], n_samples=1
    )
    for profile, values in display.bounds.items():
        for epsilon, value in zip(display.epsilons, values, strict=True):
            sampler = ROOSampler(
                epsilon=epsilon, profile=profile, categories=list(range(9))
            ).fit(np.zeros(1000, dtype=int))
            assert value == sampler.accuracy_bound_
    assert len(display.lines_) == 4
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    assert display.figure_ is display.ax_.figure


def test_curves_go_where_they_are_told():
    _, ax = pyplot.subplots()
    display = AccuracyDisplay(epsilons=[1, 2], bounds={"roo": [0.2, 0.1]}).plot(ax)
    assert display.ax_ is ax
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), [0.2, 0.1])
    with pytest.raises(ValueError, match="n_rows"):
        AccuracyDisplay.from_parameters(n_rows=0, n_categories=2, epsilons=[1.0])


def test_obscure_probabilities_fall_with_the_rarest_count():
    display = ObscureProbabilityDisplay.from_parameters(
        n_rows=12, n_categories=4, epsilon=0.3
    )
    expected = [0.48790569, 0.42154293, 0.22245466, 0.0]
    np.testing.assert_allclose(display.probabilities, expected, atol=1e-8)
    np.testing.assert_array_equal(display.line_.get_ydata(), display.probabilities)
    assert display.reference == display.probabilities[0]


def test_obscure_probabilities_of_a_fitted_sampler():
    X = np.arange(100) % 3
    sampler = ROOSampler(categories=[0, 1, 2], profile="ds-roo").fit(X)
    _, ax = pyplot.subplots()
    display = ObscureProbabilityDisplay.from_estimator(sampler, ax=ax)
    assert display.ax_ is ax
    np.testing.assert_allclose(
        display.probabilities, np.atleast_1d(sampler.obscure_probability_)
    )
    sampler.set_params(profile="envelope").fit(X)
    with pytest.raises(ValueError, match="envelope"):
        ObscureProbabilityDisplay.from_estimator(sampler)


def test_marginals_stand_side_by_side():
    real = pd.DataFrame({"a": ["x", "x", "y", "x"], "b": [1, 2, 3, 3]})
    synthetic = pd.DataFrame({"a": ["y", "y"], "b": [3, 3]})
    categories = {"a": ["x", "y", "z"], "b": [1, 2, 3]}
    display = MarginalsDisplay.from_tables(real, synthetic, categories=categories)
    np.testing.assert_allclose(display.distances_, [0.75, 0.5])
    assert len(display.axes_) == 2
    heights = [bar.get_height() for bar in display.axes_[0].patches]
    np.testing.assert_allclose(heights, [0.75, 0.25, 0.0, 0.0, 1.0, 0.0])
    assert display.axes_[1].get_title() == "b"
    again = display.plot(display.axes_)
    assert again is display


def test_without_matplotlib_the_error_says_how_to_get_it(monkeypatch):
    original = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"skdp\[plot\]"):
        AccuracyDisplay(epsilons=[1], bounds={}).plot()
