"""Trade-off curves are those of the guarantees they are drawn from."""

import numpy as np
import pytest
from matplotlib import pyplot
from scipy.stats import norm
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import skdp
from skdp.accounting import (
    ApproximateDP,
    GaussianDP,
    PureDP,
    TradeoffDP,
    ZeroConcentratedDP,
    compose,
)
from skdp.datasets import make_classification_rows
from skdp.inspection import TradeoffDisplay

GUARANTEES = [
    PureDP(0.0),
    PureDP(1.0),
    PureDP(50.0),
    ApproximateDP(1.0, 1e-3),
    ApproximateDP(0.5, 0.4),
    GaussianDP(0.5),
    ZeroConcentratedDP(0.1),
    TradeoffDP([(0.0, 0.9), (0.25, 0.25), (1.0, 0.0)]),
    compose(PureDP(0.3), GaussianDP(0.4)),
]


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: type(g).__name__)
def test_a_curve_is_that_of_its_guarantee(guarantee):
    display = TradeoffDisplay.from_guarantee(guarantee)
    type_1, type_2 = display.type_1, display.type_2
    inside = type_2 > 0.0
    expected = guarantee.tradeoff(type_1[inside])
    np.testing.assert_allclose(type_2[inside], expected, rtol=1e-6, atol=1e-9)
    assert (np.diff(type_1) >= 0.0).all()
    assert (np.diff(type_2) <= 1e-12).all()
    assert (type_1[0], type_1[-1], type_2[-1]) == (0.0, 1.0, 0.0)


def test_a_curve_of_a_pure_guarantee_has_its_corner():
    display = TradeoffDisplay.from_guarantee(PureDP(1.0))
    corner = 1 / (1 + np.e)
    assert np.min(np.abs(display.type_1 - corner)) < 1e-12
    between = np.linspace(0, 1, 1001)
    drawn = np.interp(between, display.type_1, display.type_2)
    lines = np.maximum(1 - np.e * between, (1 - between) / np.e)
    np.testing.assert_allclose(drawn, lines, atol=1e-12)


def test_errors_and_roc_show_the_same_curve():
    display = TradeoffDisplay.from_guarantee(GaussianDP(1.0), kind="errors")
    np.testing.assert_array_equal(display.line_.get_ydata(), display.type_2)
    assert display.ax_.get_xscale() == "linear"
    display.plot(kind="roc")
    false_alarms, found = display.line_.get_data()
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    expected = norm.cdf(norm.ppf(false_alarms) + 1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert false_alarms.min() <= 1e-6


def test_curves_share_axes_and_one_line_of_guessing():
    _, ax = pyplot.subplots()
    first = TradeoffDisplay.from_guarantee(PureDP(1.0), ax=ax, color="black")
    second = TradeoffDisplay.from_guarantee(
        PureDP(2.0), ax=ax, name="two", plot_chance_level=False
    )
    assert first.ax_ is second.ax_ is ax
    assert first.figure_ is ax.figure
    assert first.line_.get_color() == "black"
    assert second.chance_level_ is None
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["PureDP, add-remove", "guessing", "two"]
    x, y = first.chance_level_.get_data()
    np.testing.assert_array_equal(np.add(x, y), [1.0, 1.0])


def test_a_fitted_estimator_shows_what_it_spent():
    X, y = make_classification_rows(200, 3, random_state=0)
    model = skdp.ObjPertLogisticRegression(classes=[0, 1])
    with pytest.raises(NotFittedError):
        TradeoffDisplay.from_estimator(model)
    display = TradeoffDisplay.from_estimator(model.fit(X, y))
    expected = TradeoffDisplay.from_guarantee(model.privacy_spent_.guarantee)
    np.testing.assert_array_equal(display.type_2, expected.type_2)
    assert display.line_.get_label() == "ObjPertLogisticRegression"


def test_what_has_no_guarantee_is_refused():
    X, y = make_classification_rows(50, 3, random_state=0)
    with pytest.raises(TypeError, match="guarantee is none, got an object of type flo"):
        TradeoffDisplay.from_guarantee(1.0)
    with pytest.raises(TypeError, match="LogisticRegression"):
        TradeoffDisplay.from_estimator(LogisticRegression().fit(X, y))
    with pytest.raises(ValueError, match="kind is not one of the choices"):
        TradeoffDisplay.from_guarantee(PureDP(1.0), kind="det")
    with pytest.raises(TypeError, match="plot_chance_level"):
        TradeoffDisplay.from_guarantee(PureDP(1.0), plot_chance_level=1)
