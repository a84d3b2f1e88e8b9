"""Pictures of privacy losses show the bounds of a report beside the promise."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import skdp
from skdp.datasets import make_classification_rows
from skdp.inspection import PdpLossDisplay

VIEWS = ["distribution", "margin", "worst-case", "group"]
X, Y = make_classification_rows(2000, 4, random_state=0)
PEOPLE, LABELS = make_classification_rows(300, 4, random_state=1)
LEVELS = {
    "pure": {"delta": 0.0},
    "Gaussian": {"delta": 1e-6},
    "hessian": {"delta": 1e-6, "pdp_report": "hessian"},
}


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def fitted(**options):
    return skdp.ObjPertLogisticRegression(classes=[0, 1], **options).fit(X, Y)


@pytest.fixture(scope="module")
def model():
    return fitted(delta=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_losses_are_those_of_the_report(level):
    model = fitted(**LEVELS[level])
    display = PdpLossDisplay.from_estimator(model, PEOPLE, LABELS)
    np.testing.assert_array_equal(display.loss, model.report_.loss(PEOPLE, LABELS))
    assert display.epsilon == model.report_.epsilon
    again = PdpLossDisplay.from_report(
        model.report_,
        PEOPLE,
        LABELS,
        bound="member",
        rho=1e-3,
        simultaneous=True,
        of="coefficients",
    )
    expected = model.report_.loss(
        PEOPLE, LABELS, kind="member", rho=1e-3, simultaneous=True, of="coefficients"
    )
    np.testing.assert_array_equal(again.loss, expected)


@pytest.mark.parametrize("kind", VIEWS)
def test_views_go_where_they_are_told(model, kind, tmp_path):
    _, ax = pyplot.subplots()
    display = PdpLossDisplay.from_estimator(model, PEOPLE, LABELS, kind=kind)
    assert display.plot(ax, kind=kind) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    display.figure_.savefig(tmp_path / "figure.png")


def test_margins_are_on_the_side_of_the_labels_and_lengths_are_clipped(model):
    far = np.vstack([PEOPLE, 10 * PEOPLE[:1]])
    labels = np.append(LABELS, LABELS[0])
    display = PdpLossDisplay.from_estimator(model, far, labels, kind="margin")
    clipped = far / np.maximum(1.0, np.linalg.norm(far, axis=1, keepdims=True))
    margin = np.where(labels == 1, 1, -1) * model.decision_function(clipped)
    np.testing.assert_allclose(display.margin, margin, rtol=1e-12, atol=1e-12)
    assert ((display.margin > 0) == (model.predict(clipped) == labels)).all()
    constant = model.intercept_scaling_
    length = np.sqrt(np.sum(clipped**2, axis=1) + constant**2)
    np.testing.assert_allclose(display.length, length / np.hypot(1.0, constant))
    assert display.length[-1] == pytest.approx(1.0)


def test_a_person_of_an_undeclared_label_has_no_loss_and_no_margin(model):
    display = PdpLossDisplay.from_estimator(model, PEOPLE[:2], [1, 7], kind="margin")
    assert display.loss[1] == 0.0
    assert np.isnan(display.margin[1])
    assert np.isfinite(display.margin[0])


def test_a_histogram_counts_everybody_once(model):
    ax = PdpLossDisplay.from_estimator(model, PEOPLE, LABELS).ax_
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1.0)
    marks = [line.get_xdata()[0] for line in ax.lines]
    loss = model.report_.loss(PEOPLE, LABELS)
    expected = [*np.quantile(loss, [0.5, 0.95]), model.report_.epsilon]
    np.testing.assert_allclose(marks, expected)


def test_the_worst_case_is_what_bayes_makes_of_the_bounds(model):
    display = PdpLossDisplay.from_estimator(model, PEOPLE, LABELS, kind="worst-case")
    lines = {line.get_label(): line for line in display.ax_.lines}
    losses = {
        "the promise to everybody": display.epsilon,
        "half of the people": np.median(display.loss),
        "the most exposed": display.loss.max(),
    }
    for label, loss in losses.items():
        prior, posterior = lines[label].get_data()
        odds = prior / (1 - prior) * np.exp(loss)
        np.testing.assert_allclose(posterior, odds / (1 + odds), rtol=1e-9)


def test_groups_stand_in_order_with_their_quantiles(model):
    groups = pd.Series(np.where(PEOPLE[:, 0] > 0, "right", "left"), dtype="category")
    display = PdpLossDisplay.from_estimator(
        model, PEOPLE, LABELS, kind="group", groups=groups
    )
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    left = np.asarray(groups) == "left"
    assert names == [f"left ({left.sum()})", f"right ({(~left).sum()})"]
    medians = display.ax_.lines[0].get_xdata()
    expected = [np.median(display.loss[side]) for side in (left, ~left)]
    np.testing.assert_allclose(medians, expected)


def test_groups_are_the_labels_when_none_are_given(model):
    display = PdpLossDisplay.from_estimator(model, PEOPLE, LABELS, kind="group")
    names = [text.get_text()[:2] for text in display.ax_.get_yticklabels()]
    assert names == ["0 ", "1 "]


def test_the_upper_axis_tells_how_sure_an_attacker_becomes(model):
    ax = PdpLossDisplay.from_estimator(model, PEOPLE, LABELS).ax_
    (upper,) = ax.child_axes
    ax.figure.canvas.draw()
    np.testing.assert_allclose(upper.get_xlim(), 100 * expit(ax.get_xlim()))


def test_the_report_of_a_pipeline_takes_its_raw_rows():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(
        skdp.BoundedScaler(bounds=(-1, 1)),
        skdp.ObjPertLogisticRegression(classes=[0, 1]),
    ).fit(frame, Y)
    display = PdpLossDisplay.from_report(skdp.published_report(model), frame, Y)
    np.testing.assert_allclose(display.loss, skdp.pdp_loss(model, frame, Y))
    with pytest.raises(TypeError, match="published_report"):
        PdpLossDisplay.from_estimator(model, frame, Y)


def test_what_cannot_be_drawn_is_refused(model):
    draw = PdpLossDisplay.from_estimator
    with pytest.raises(ValueError, match="kind is not one of the choices"):
        draw(model, PEOPLE, LABELS, kind="pie")
    with pytest.raises(ValueError, match="kind is not one of the choices"):
        draw(model, PEOPLE, LABELS).plot(kind=None)
    with pytest.raises(ValueError, match="0 rows"):
        draw(model, PEOPLE[:0], LABELS[:0])
    with pytest.raises(ValueError, match="inconsistent"):
        draw(model, PEOPLE, LABELS, groups=LABELS[:5])
    with pytest.raises(TypeError, match="report is none, got an object of type dict"):
        PdpLossDisplay.from_report({}, PEOPLE, LABELS)
    with pytest.raises(TypeError, match="publishes no report"):
        draw(LogisticRegression().fit(X, Y), PEOPLE, LABELS)
    with pytest.raises(NotFittedError):
        draw(skdp.ObjPertLogisticRegression(), PEOPLE, LABELS)
