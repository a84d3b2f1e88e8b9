"""Properties of every public estimator and transformer, found by a walk."""

import importlib
import pickle
import pkgutil
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import skdp
from skdp.exceptions import NotForReleaseWarning, PrivacyLeakWarning


class Closeness:
    """Counts, with a minus sign, the rows that are not close to a candidate.

    Its repr holds no address, so that all workers collect tests of the same names.
    """

    def __call__(self, candidate, X, y):
        return -int(np.sum(np.abs(X[:, 0] - candidate) > 0.5))

    def __repr__(self):
        return "closeness"


#: Parameters without which an estimator cannot be made or fitted; the regressor's loss
#: has a bounded slope, so that it fits on any domain.
NEEDED = {
    "ASAPRegressor": {"bounds_y": (-10.0, 10.0), "loss": "huber"},
    "AdaSSPRegressor": {"bounds_y": (-10.0, 10.0), "delta": 1e-6},
    "KNGQuantileRegressor": {"bounds_y": (-10.0, 10.0)},
    "ObjPertPoissonRegressor": {"bounds_y": (0.0, 10.0)},
    "ObjPertQuantileRegressor": {"bounds_y": (-10.0, 10.0)},
    "ObjPertRegressor": {"bounds_y": (-10.0, 10.0)},
    "GaussianSampler": {"delta": 1e-6},
    "PrivateSelector": {
        "candidates": (0.0, 0.5, 1.0),
        "scoring": Closeness(),
        "sensitivity": 1,
    },
}


def _plain(cls, **kwargs):
    return cls(**NEEDED.get(cls.__name__, {}) | kwargs)


def _public_estimators():
    found = {}
    for module in pkgutil.iter_modules(skdp.__path__, "skdp."):
        namespace = importlib.import_module(module.name)
        for name in getattr(namespace, "__all__", ()):
            item = getattr(namespace, name)
            if isinstance(item, type) and issubclass(item, BaseEstimator):
                if not get_tags(_plain(item)).input_tags.two_d_array:
                    continue  # readers of one column have tests of their own
                found[name] = item
    return [found[name] for name in sorted(found)]


ESTIMATORS = _public_estimators()
#: Models of labels or targets; samplers of tables have tests of their own.
PRIVATE = [
    cls
    for cls in ESTIMATORS
    if hasattr(cls, "pdp_loss") and not cls.__module__.startswith("skdp.synthesis.")
]
#: Each model with delta = 0, where it has a pure version, and above.
EACH_VERSION = [
    (cls, delta)
    for cls in PRIVATE
    for delta in (0.0, 1e-6)
    if delta > 0.0 or "delta" not in NEEDED.get(cls.__name__, {})
]
LABELLED = [cls for cls in PRIVATE if "classes" in _plain(cls).get_params()]


def test_the_walk_finds_the_estimators():
    names = {cls.__name__ for cls in ESTIMATORS}
    assert {"BoundedScaler", "ObjPertLogisticRegression", "RowClipper"} <= names
    assert set(NEEDED) <= names
    assert {"ASAPClassifier", "ASAPRegressor", "PosteriorSampler"} <= names


# 2026-11: scikit-learn's battery fits without declared classes, seeds every estimator
# and passes column-vector labels, each of which warns as it should.
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([_plain(cls) for cls in ESTIMATORS])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([_plain(cls, epsilon=100.0, delta=1e-6) for cls in PRIVATE])
def test_scikit_learn_checks_of_the_gaussian_version(estimator, check):
    check(estimator)


METRIC = [cls for cls in PRIVATE if "metric" in _plain(cls).get_params()]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [_plain(cls, epsilon=100.0, delta=1e-6, metric="private") for cls in METRIC]
)
def test_scikit_learn_checks_of_a_private_metric(estimator, check):
    check(estimator)


def _problem(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, (n, 3))
    y = np.where(X[:, 0] + 0.2 * rng.standard_normal(n) > 0, 1, 0)
    return X, y


def _made(cls, **kwargs):
    declared = {"classes": [0, 1]} if cls in LABELLED else {}
    return _plain(cls, **declared, **kwargs)


@pytest.mark.parametrize(("cls", "delta"), EACH_VERSION)
def test_spend_is_at_most_what_was_asked_and_nearly_all_of_it(cls, delta):
    for epsilon in (0.01, 0.5, 3.0, 100.0, 1000.0):
        model = _made(cls, epsilon=epsilon, delta=delta).fit(*_problem())
        spent, at = model.privacy_spent_
        assert spent <= epsilon
        assert spent >= 0.999 * epsilon
        assert at == delta


@pytest.mark.parametrize("cls", PRIVATE)
def test_fitted_attributes_are_declared_as_released(cls):
    model = _made(cls).fit(*_problem())
    fitted = set(vars(model)) - set(model.get_params())
    assert fitted <= cls._released


@pytest.mark.parametrize("cls", PRIVATE)
def test_undeclared_attributes_cannot_be_published(cls):
    with pytest.raises(AttributeError, match="n_rows_"):
        _made(cls)._publish(n_rows_=3)


@pytest.mark.parametrize("cls", PRIVATE)
@pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")
def test_pickle_does_not_grow_with_the_data(cls):
    sizes = {
        len(pickle.dumps(_made(cls, random_state=7).fit(*_problem(n))))
        for n in (50, 500, 5000)
    }
    assert max(sizes) - min(sizes) <= 4  # digits of released floats


@pytest.mark.parametrize(("cls", "delta"), EACH_VERSION)
def test_no_data_and_no_noise_hide_in_the_fitted_object(cls, delta, monkeypatch):
    """Canaries planted in X, and what was drawn, are searched byte by byte.

    Noise and points before the lattice step are drawn; neither may stay.
    """
    from skdp.mechanisms import GaussianNoise, KNormNoise
    from skdp.samplers import GibbsSampler

    drawn = []
    for law in (GaussianNoise, KNormNoise, GibbsSampler):
        original = law.draw

        def draw(self, *args, original=original):
            found = original(self, *args)
            drawn.append(found.ravel())
            return found

        monkeypatch.setattr(law, "draw", draw)
    X, y = _problem()
    X[17] = [0.123456789, 0.23456789, -0.3456789]
    model = _made(cls, delta=delta).fit(X, y)
    blob = pickle.dumps(model) + repr(vars(model)).encode()
    text = model._repr_html_() + repr(model) + repr(model.privacy_spent_)
    assert drawn
    for secret in [*X[17], *X.ravel()[:90], *np.concatenate(drawn)]:
        assert np.float64(secret).tobytes() not in blob
        assert repr(float(secret)) not in text


@pytest.mark.parametrize("cls", PRIVATE)
def test_two_unseeded_fits_differ_and_so_do_clones(cls):
    X, y = _problem()
    model = _made(cls)
    coefs = [clone(model).fit(X, y).coef_ for _ in range(3)] + [model.fit(X, y).coef_]
    assert len({c.tobytes() for c in coefs}) == 4


@pytest.mark.parametrize("cls", PRIVATE)
def test_seeded_fits_repeat_bit_for_bit_and_are_flagged(cls):
    X, y = _problem()
    with pytest.warns(NotForReleaseWarning):
        first = _made(cls, random_state=3).fit(X, y)
    with pytest.warns(NotForReleaseWarning):
        second = _made(cls, random_state=3).fit(X, y)
    with pytest.warns(NotForReleaseWarning):
        other = _made(cls, random_state=4).fit(X, y)
    assert first.coef_.tobytes() == second.coef_.tobytes()
    assert first.coef_.tobytes() != other.coef_.tobytes()
    assert not first.privacy_spent_.releasable
    assert _made(cls).fit(X, y).privacy_spent_.releasable


@pytest.mark.parametrize("cls", PRIVATE)
def test_default_noise_needs_no_generator_of_numpy_or_python(cls, monkeypatch):
    import random

    def refuse(*args, **kwargs):
        raise AssertionError("a predictable generator was used")

    X, y = _problem()
    for name in ("default_rng", "random", "normal", "standard_normal", "RandomState"):
        monkeypatch.setattr(np.random, name, refuse)
    for name in ("random", "gauss", "getrandbits"):
        monkeypatch.setattr(random, name, refuse)
    _made(cls).fit(X, y)


@pytest.mark.parametrize("cls", LABELLED)
def test_reading_the_labels_warns_and_is_recorded(cls):
    X, y = _problem()
    with pytest.warns(PrivacyLeakWarning, match="label set"):
        model = cls().fit(X, y)
    assert any("not paid for" in note for note in model.privacy_spent_.assumptions)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        declared = _made(cls).fit(X, y)
    assert any("declared" in note for note in declared.privacy_spent_.assumptions)


@pytest.mark.parametrize("cls", PRIVATE)
def test_every_released_number_moves_with_the_noise(cls):
    """What does not change between fits is public: no un-noised path exists."""
    X, y = _problem()
    # with a private centre, where there is one to be had
    kwargs = {"localize": True} if hasattr(cls(), "localize") else {}
    models = [_made(cls, **kwargs).fit(X, y) for _ in range(2)]
    constant = {
        "alpha_",
        "classes_",
        "data_norm_",
        "intercept_scaling_",
        "inverse_temperature_",
        "mechanism_",
        "n_features_in_",
        "n_handed_out_",
        "noise_scale_",
        "privacy_spent_",
        "radius_",
        "smoothing_scale_",
        "targets_",
    }
    # of the identity metric nothing is released
    constant |= {name for name, value in vars(models[0]).items() if value is None}
    for name in set(vars(models[0])) - set(models[0].get_params()) - constant:
        values = [np.asarray(getattr(m, name)) for m in models]
        assert not np.any(values[0] == values[1]), name
