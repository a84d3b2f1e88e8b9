"""Callbacks hear of the draws, see no rows, and change nothing."""

import numpy as np
import pytest

from skdp.linear_model import ASAPClassifier, ASAPRegressor, PosteriorSampler
from skdp.linear_model._progress import batch_sizes

#: Whether scikit-learn has callbacks.
CALLBACKS = hasattr(ASAPClassifier, "set_callbacks")
seeded = pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")
each = pytest.mark.parametrize("cls", [ASAPClassifier, ASAPRegressor, PosteriorSampler])

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (60, 2)) / 2
y = (X[:, 0] > 0).astype(int)


class Recorder:
    """A callback that writes down what it is told, and wishes to stop at once."""

    def __init__(self):
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append(("setup", context.max_subtasks))

    def teardown(self, estimator, context):
        self.heard.append(("teardown", ""))

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        assert X is None
        assert y is None
        self.heard.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None):
        assert X is None
        assert y is None
        self.heard.append(("end", context.task_name))
        return True


def made(cls, **kwargs):
    needed = {"bounds_y": (-2, 2)} if cls is ASAPRegressor else {"classes": [0, 1]}
    return cls(**needed, **kwargs)


def heard_by(recorder, model):
    """Let a recorder listen; where a release has no callbacks, nobody can."""
    if not CALLBACKS:
        assert not hasattr(model, "set_callbacks")
        return model
    return model.set_callbacks(recorder)


def tasks(*names):
    inner = [(side, name) for name in names for side in ("begin", "end")]
    if not CALLBACKS:
        return []
    return [
        ("setup", len(names)),
        ("begin", "fit"),
        *inner,
        ("end", "fit"),
        ("teardown", ""),
    ]


@each
@pytest.mark.parametrize(
    ("kwargs", "expected"),
    [
        ({"n_samples": 3, "localize": True}, ["centre", *["draws"] * 3]),
        ({"n_samples": 3, "radius": 1.0}, ["draws"] * 3),
        ({"n_samples": 1000, "radius": 0.5, "epsilon": 900.0}, ["draws"] * 20),
        (
            {"n_samples": 2, "radius": 0.5, "constant_time": True, "n_max": 60},
            ["draws"],
        ),
    ],
)
def test_callbacks_are_told_of_the_centre_and_of_the_draws(cls, kwargs, expected):
    recorder = Recorder()
    model = heard_by(recorder, made(cls, **kwargs)).fit(X, y)
    assert recorder.heard == tasks(*expected)
    assert len(model.samples_) == kwargs["n_samples"]
    assert set(vars(model)) - set(model.get_params()) - {"_skl_callbacks"} <= set(
        model._released
    )


@each
def test_a_fit_that_is_refused_is_not_announced_and_leaves_nothing_behind(cls):
    recorder = Recorder()
    model = heard_by(recorder, made(cls))
    with pytest.raises(ValueError, match="epsilon"):
        model.set_params(epsilon=0).fit(X, y)
    assert recorder.heard == []
    with pytest.raises(ValueError, match="NaN"):
        model.set_params(epsilon=1.0).fit(X * np.nan, y)
    assert recorder.heard == []
    assert not hasattr(model, "_callback_fit_ctx")


@seeded
@each
def test_a_listener_changes_no_draw(cls):
    plain = made(cls, n_samples=30, random_state=0).fit(X, y)
    model = made(cls, n_samples=30, random_state=0)
    heard = heard_by(Recorder(), model).fit(X, y)
    np.testing.assert_array_equal(plain.draws_, heard.draws_)


@each
def test_nothing_is_printed(cls, capsys):
    made(cls, n_samples=50).fit(X, y)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("n", [1, 2, 19, 20, 21, 39, 40, 1000])
def test_batches_hold_all_draws_and_are_alike(n):
    sizes = batch_sizes(n)
    assert sum(sizes) == n
    assert len(sizes) == min(n, 20)
    assert max(sizes) - min(sizes) <= 1
