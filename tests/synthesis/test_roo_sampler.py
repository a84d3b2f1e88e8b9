"""The sampler as a user meets it: what it costs, hands out, refuses and forgets."""

import math
import multiprocessing
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

import skdp
from skdp.exceptions import (
    BudgetExceededError,
    NotForReleaseWarning,
    PrivacyLeakWarning,
    WeakGuaranteeWarning,
)
from skdp.synthesis import ROOSampler

ABC = ["a", "b", "c"]
COLUMN = np.repeat(ABC, [60, 30, 10])


def made(**kwargs):
    return ROOSampler(**{"categories": ABC, **kwargs})


# --- what it costs --------------------------------------------------------------------

SETTINGS = [
    {},
    {"profile": "minimax"},
    {"profile": "roo"},
    {"profile": "ds-roo"},
    {"adjacency": "add-remove"},
    {"adjacency": "add-remove", "profile": "minimax"},
    {"n_samples": 4},
    {"n_samples": 4, "release": "draws"},
    {"n_samples": 4, "release": "draws", "profile": "ds-roo"},
    {"n_samples": 4, "release": "batch"},
    {"n_samples": 4, "adjacency": "add-remove"},
    {"release": "histogram"},
    {"release": "histogram", "adjacency": "add-remove"},
    {"delta": 1e-6},
    {"delta": 1e-6, "n_samples": 20},
    {"delta": 1e-6, "n_samples": 4, "release": "draws"},
    {"delta": 1e-6, "adjacency": "add-remove"},
    {"group_size": 3},
    {"group_size": 3, "n_samples": 3, "release": "batch"},
    {"group_size": 2, "release": "histogram"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_spend_is_at_most_what_was_asked_and_nearly_all_of_it(settings):
    check_spend(settings, (0.01, 3.0))


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_spend_is_at_most_what_was_asked_at_any_epsilon(settings):
    check_spend(settings, (1e-6, 1e-3, 0.1, 0.5, 10.0, 60.0))


def check_spend(settings, epsilons):
    for epsilon in epsilons:
        sampler = made(epsilon=epsilon, **settings).fit(COLUMN)
        spent, delta = sampler.privacy_spent_
        assert spent <= epsilon
        if settings.get("profile") != "minimax" and epsilon < 10:
            # convex profiles are bounded a little above their exact loss
            assert spent >= 0.999 * epsilon
        assert sampler.epsilon_certified_ == spent
        assert delta == settings.get("delta", 0.0)
        relation = settings.get("adjacency", "replace-one")
        assert sampler.privacy_spent_.adjacency == relation
        assert sampler.privacy_spent_.level == "exact"


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_huge_and_tiny_epsilon_work(settings):
    for epsilon in (1e-9, 1000.0):
        sampler = made(epsilon=epsilon, **settings).fit(COLUMN)
        assert sampler.privacy_spent_.epsilon <= epsilon
        assert set(np.unique(sampler.sample(1))) <= set(ABC)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_fitted_attributes_are_declared_and_small(settings):
    sizes = set()
    for times in (1, 10):
        sampler = made(**settings).fit(np.repeat(COLUMN, times))
        fitted = set(vars(sampler)) - set(sampler.get_params())
        assert fitted <= sampler._released
        with pytest.raises(AttributeError, match="declared"):
            sampler._publish(counts_=1)
        sizes.add(len(pickle.dumps(sampler)))
    # the longer of two tables of weights is a public number of n under replace-one
    assert max(sizes) - min(sizes) < 200


def test_one_category_is_returned_at_no_cost():
    for adjacency in ("replace-one", "add-remove"):
        for release in ("auto", "histogram", "draws"):
            sampler = ROOSampler(
                categories=["only"], adjacency=adjacency, release=release
            ).fit(["only"] * 4)
            assert sampler.sample(1).tolist() == ["only"]
            assert tuple(sampler.privacy_spent_) == (0.0, 0.0)
            assert sampler.accuracy_bound_ == 0.0
            assert sampler.pdp_loss(["only"]).tolist() == [0.0]


def test_assumptions_are_written_down():
    text = "; ".join(made(group_size=2).fit(COLUMN).privacy_spent_.assumptions)
    for words in (
        "categories are public (declared)",
        "at least one record",
        "number of records is public",
        "every value is a declared category",
        "at most 2 records",
    ):
        assert words in text
    other = made(handle_unknown="other", adjacency="add-remove").fit(COLUMN)
    text = "; ".join(other.privacy_spent_.assumptions)
    assert "every value" not in text
    assert "number of records" not in text


# --- what it hands out ----------------------------------------------------------------


def test_draws_are_handed_out_once_and_no_more_than_paid_for():
    sampler = made(n_samples=5, release="draws").fit(COLUMN)
    first, second = sampler.sample(2), sampler.sample(2)
    np.testing.assert_array_equal(np.append(first, second), sampler.samples_[:4])
    before = pickle.dumps(sampler)
    with pytest.raises(BudgetExceededError, match="2 draws were asked for, got 1"):
        sampler.sample(2)
    assert pickle.dumps(sampler) == before
    assert sampler.sample(1)[0] == sampler.samples_[4]
    with pytest.raises(BudgetExceededError):
        sampler.sample()
    assert sampler.sample(0).shape == (0,)
    spent = sampler.privacy_spent_
    sampler.fit(COLUMN)
    assert sampler.n_handed_out_ == 0
    assert sampler.privacy_spent_ == spent


def test_a_draw_is_counted_even_if_handing_it_out_fails(monkeypatch):
    sampler = made(n_samples=2, release="draws").fit(pd.Series(COLUMN))

    def broken(*args, **kwargs):
        raise RuntimeError("interrupted")

    with monkeypatch.context() as patch:
        patch.setattr(pd, "Series", broken)
        with pytest.raises(RuntimeError, match="interrupted"):
            sampler.sample(1)
    assert sampler.n_handed_out_ == 1
    assert sampler.sample(1).tolist() == sampler.samples_[1:].tolist()


def test_a_histogram_hands_out_any_number():
    sampler = made(release="histogram").fit(COLUMN)
    assert sampler.sample(10_000).shape == (10_000,)
    assert sampler.sample(10_000).shape == (10_000,)
    assert sampler.probabilities_.sum() == pytest.approx(1.0)
    assert sampler.profile_ == "none"
    assert not hasattr(sampler, "samples_")
    again = sampler.set_params(release="draws").fit(COLUMN)
    assert not hasattr(again, "probabilities_")


@pytest.mark.statistical
@pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")
def test_draws_follow_the_weights_of_the_mechanism():
    """Binomial counts within 6 standard errors: a false alarm is below 1e-8."""
    sampler = made(
        epsilon=100.0, n_samples=20_000, release="draws", profile="roo", random_state=0
    ).fit(COLUMN)
    weights = sampler.mechanism_.weights(np.array([60, 30, 10]))
    p = weights / weights.sum()
    share = np.array([(sampler.samples_ == c).mean() for c in ABC])
    assert np.all(np.abs(share - p) < 6 * np.sqrt(p * (1 - p) / 20_000))


@pytest.mark.parametrize(
    ("categories", "dtype"),
    [
        (["b", "a"], np.dtype("<U1")),
        ([3, 1], np.dtype(np.int64)),
        (np.array([3, 1], dtype=np.int8), np.dtype(np.int8)),
        ([1.5, 2.5], np.dtype(np.float64)),
        (["x", None], np.dtype(object)),
    ],
)
def test_output_keeps_dtype_and_order_of_the_categories(categories, dtype):
    sampler = ROOSampler(categories=categories).fit(list(categories) * 5)
    assert sampler.categories_.tolist() == list(categories)
    assert sampler.sample(1).dtype == dtype


def test_output_has_the_kind_of_the_input():
    frame = pd.DataFrame({"letter": COLUMN})
    sampler = made(n_samples=2).fit(frame)
    out = sampler.sample(1)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == ["letter"]
    assert sampler.feature_names_in_.tolist() == ["letter"]
    out = sampler.fit(frame["letter"]).sample(1)
    assert isinstance(out, pd.Series)
    assert out.name == "letter"
    assert not hasattr(sampler, "feature_names_in_")
    assert isinstance(sampler.fit(COLUMN.reshape(-1, 1)).sample(1), np.ndarray)


def test_levels_of_a_dtype_count_only_if_asserted_public():
    dtype = pd.CategoricalDtype(["c", "a", "b"], ordered=True)
    column = pd.Series(COLUMN).astype(dtype)
    with pytest.raises(ValueError, match="categories is None"):
        ROOSampler().fit(column)
    sampler = ROOSampler(categories="dtype").fit(column)
    assert sampler.sample(1).dtype == dtype
    assert sampler.categories_.tolist() == ["c", "a", "b"]
    assert "asserted" in "; ".join(sampler.privacy_spent_.assumptions)
    for wrong in (pd.Series(COLUMN), COLUMN):
        with pytest.raises(ValueError, match="CategoricalDtype"):
            ROOSampler(categories="dtype").fit(wrong)


# --- the choice is public -------------------------------------------------------------


def test_the_choice_does_not_look_at_the_counts():
    extremes = [np.repeat("a", 99), np.repeat(ABC, 33), np.repeat(["c", "a"], [98, 1])]
    for settings in SETTINGS:
        fitted = [made(**settings).fit(X) for X in extremes]
        seen = {
            (
                s.release_,
                s.profile_,
                s.mechanism_,
                s.accuracy_bound_ if settings.get("adjacency") is None else 0,
                repr(s.privacy_spent_),
            )
            for s in fitted
        }
        assert len(seen) == 1


def test_nothing_published_depends_on_a_private_number_of_records():
    for settings in SETTINGS:
        if settings.get("adjacency") != "add-remove":
            continue
        seen = []
        for n in (5, 5000):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                s = made(**settings).fit(np.repeat("a", n))
            public = {
                name: repr(value)
                for name, value in vars(s).items()
                if name not in {"samples_", "probabilities_"}
            }
            card = s.privacy_spent_._repr_html_()
            seen.append((public, repr(s), card, [str(w) for w in caught]))
        assert seen[0] == seen[1]
        assert math.isnan(s.accuracy_bound_)
        assert not hasattr(s, "obscure_probability_")


def test_auto_is_the_envelope_for_one_draw_and_the_best_worst_case_for_more():
    big = np.repeat(ABC * 3, 100)
    assert made().fit(big).profile_ == "envelope"
    assert made(epsilon=0.001).fit(big).profile_ == "roo"
    nine = {"categories": list(range(9)), "epsilon": 4.0}
    X = np.arange(1000) % 9
    assert ROOSampler(n_samples=3, **nine).fit(X).release_ == "batch"
    assert ROOSampler(n_samples=500, **nine).fit(X).release_ == "histogram"
    one = {"categories": list(range(9)), "epsilon": 1.0}
    assert ROOSampler(n_samples=2, **one).fit(X).release_ == "draws"
    assert ROOSampler(n_samples=10, delta=1e-6, **one).fit(X).profile_ == "roo"
    assert ROOSampler(n_samples=900, delta=1e-6, **one).fit(X).release_ == "histogram"
    private = {"adjacency": "add-remove", **one}
    assert ROOSampler(**private).fit(X).profile_ == "envelope"
    assert ROOSampler(n_samples=2, **private).fit(X).release_ == "histogram"
    assert ROOSampler(n_samples=50, **private).fit(X).release_ == "histogram"
    assert ROOSampler(n_samples=1, delta=1e-6, **private).fit(X).profile_ == "none"


def test_public_numbers_are_those_of_the_mechanism():
    X = np.arange(1000) % 9
    sampler = ROOSampler(categories=list(range(9)), profile="roo").fit(X)
    assert sampler.obscure_probability_ == pytest.approx(0.005210498861, rel=1e-9)
    assert sampler.accuracy_bound_ == pytest.approx(0.004631554543, rel=1e-9)
    sampler.set_params(profile="ds-roo").fit(X)
    assert sampler.obscure_probability_[0] == pytest.approx(0.0052105, rel=1e-5)
    sampler.set_params(profile="envelope").fit(X)
    assert not hasattr(sampler, "obscure_probability_")
    assert sampler.accuracy_bound_ == pytest.approx(0.00293548, abs=1e-8)


# --- what it refuses ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"adjacency": "add-remove", "profile": "ds-roo"}, "no proof"),
        ({"adjacency": "add-remove", "release": "batch"}, "private"),
        ({"adjacency": "add-remove", "release": "draws", "delta": 1e-6}, "private"),
        ({"adjacency": "add-remove", "profile": "roo", "delta": 1e-6}, "private"),
        ({"delta": 1e-6, "profile": "envelope"}, "no use for delta"),
        ({"delta": 1e-6, "profile": "minimax"}, "no use for delta"),
        ({"delta": 1e-6, "profile": "ds-roo"}, "no use for delta"),
        ({"delta": 1e-6, "release": "batch"}, "no use for delta"),
        ({"release": "batch", "profile": "minimax"}, "does not use"),
        ({"release": "histogram", "profile": "roo"}, "does not use"),
        ({"release": "batch", "n_samples": 101}, "more than there are records"),
        ({"categories": None}, "categories is None"),
        ({"categories": []}, "at least one"),
        ({"categories": ["a", "b", "c", "a"]}, "differ"),
        ({"categories": ["a", float("nan")]}, "NaN"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": 1001.0}, "epsilon"),
        ({"n_samples": 0}, "n_samples"),
        ({"group_size": 0}, "group_size"),
        ({"profile": "best"}, "profile"),
        ({"release": "all"}, "release"),
        ({"adjacency": "both"}, "adjacency"),
        ({"handle_unknown": "ignore"}, "handle_unknown"),
        ({"delta": 0.01}, "raw record"),
    ],
)
@pytest.mark.filterwarnings("ignore::skdp.exceptions.WeakGuaranteeWarning")
def test_parameters_that_make_no_sense_are_refused_with_a_way_out(wrong, words):
    with pytest.raises(ValueError, match=words) as caught:
        made(**wrong).fit(COLUMN)
    assert "Allowed" in str(caught.value)


def test_a_weak_delta_warns():
    with pytest.warns(WeakGuaranteeWarning, match="raw record"):
        made(delta=5e-4).fit(np.repeat("a", 1000))


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (np.zeros((4, 2)), ValueError, "one column"),
        (np.zeros((4, 1, 1)), ValueError, "one column"),
        (np.array("a"), ValueError, "one column"),
        (pd.DataFrame({"x": [1], "y": [2]}), ValueError, "one column"),
        (np.empty((0,)), ValueError, "0 sample"),
        ([], ValueError, "0 sample"),
        (pd.Series([], dtype=object), ValueError, "0 sample"),
        (np.empty((3, 0)), ValueError, "0 feature"),
        (np.array([1j]), ValueError, "Complex data not supported"),
        (sparse.csr_matrix(np.ones((3, 1))), TypeError, "dense data is required"),
        (["a", "TOPSECRET"], ValueError, "not one of the declared"),
        (["a", None], ValueError, "NaN"),
        ([1.0, float("nan")], ValueError, "NaN"),
        ([1.0, float("inf")], ValueError, "inf"),
    ],
)
def test_columns_that_make_no_sense_are_refused_without_their_values(X, error, words):
    with pytest.raises(error, match=words) as caught:
        made().fit(X)
    assert "TOPSECRET" not in str(caught.value)
    assert caught.value.__context__ is None


def test_others_count_as_the_last_category():
    X = ["a", "?", None, float("nan"), "b"]
    sampler = made(
        handle_unknown="other", epsilon=1000.0, n_samples=30, release="batch"
    )
    with pytest.raises(ValueError, match="more than there are"):
        sampler.fit(X)
    drawn = sampler.set_params(n_samples=5, epsilon=200.0).fit(X).sample(5)
    assert sorted(drawn) == ["a", "b", "c", "c", "c"]


def test_no_method_tells_the_law_of_a_draw():
    """It is a function of the counts; only what was drawn leaves."""
    for settings in ({}, {"profile": "ds-roo"}, {"n_samples": 4, "release": "batch"}):
        names = set(dir(made(**settings).fit(COLUMN)))
        assert not names & {"predict_proba", "score", "score_samples", "pmf", "pmf_"}
        assert not {name for name in names if "count" in name or "weight" in name}


def test_what_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        made().sample()
    with pytest.raises(NotFittedError):
        made().pdp_loss(COLUMN)


# --- randomness -----------------------------------------------------------------------


def _draws_of_a_fork(_):
    return (
        made(n_samples=40, release="draws", epsilon=40.0).fit(COLUMN).samples_.tolist()
    )


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_and_copied_samplers_draw_afresh():
    """Forty draws of three symbols agree with probability below 1e-11."""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        drawn = pool.map(_draws_of_a_fork, range(4))
    sampler = made(release="histogram").fit(COLUMN)
    copied = pickle.loads(pickle.dumps(sampler))
    drawn += [s.sample(40).tolist() for s in (sampler, copied, sampler)]
    assert len({tuple(draws) for draws in drawn}) == 7


def test_unseeded_fits_differ_and_seeded_ones_repeat_and_are_flagged():
    big = {"n_samples": 64, "release": "draws", "epsilon": 64.0}
    draws = {made(**big).fit(COLUMN).samples_.tobytes() for _ in range(3)}
    draws.add(clone(made(**big)).fit(COLUMN).samples_.tobytes())
    assert len(draws) == 4
    seen = set()
    for X in (COLUMN, COLUMN[::-1], np.random.default_rng(0).permutation(COLUMN)):
        with pytest.warns(NotForReleaseWarning):
            sampler = made(random_state=3, **big).fit(X)
        assert not sampler.privacy_spent_.releasable
        assert sampler.privacy_spent_.level == "research"
        seen.add(sampler.samples_.tobytes())
    assert len(seen) == 1  # the order of the rows and of first appearance is nothing
    assert made().fit(COLUMN).privacy_spent_.releasable


def test_every_declared_category_can_come_out_though_none_was_seen():
    """Probability below 1e-9 to miss one of 50 in 4,000 draws."""
    sampler = ROOSampler(
        categories=list(range(50)), epsilon=0.01, n_samples=4000, release="draws"
    ).fit([7])
    assert set(sampler.samples_) == set(range(50))


def test_default_draws_need_no_generator_of_numpy_or_python(monkeypatch):
    import random

    def refuse(*args, **kwargs):
        raise AssertionError("a predictable generator was used")

    for name in ("default_rng", "random", "normal", "RandomState", "choice"):
        monkeypatch.setattr(np.random, name, refuse)
    for name in ("random", "gauss", "getrandbits"):
        monkeypatch.setattr(random, name, refuse)
    for settings in SETTINGS:
        made(**settings).fit(COLUMN).sample(1)


# --- what a release cost one person ---------------------------------------------------


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_published_loss_is_at_most_what_was_spent(settings):
    sampler = made(**settings).fit(COLUMN)
    loss = sampler.pdp_loss(ABC)
    assert loss.shape == (3,)
    assert np.all(loss >= 0)
    if settings.get("delta", 0.0) == 0.0:
        assert np.all(loss <= sampler.privacy_spent_.epsilon * (1 + 1e-12))
    assert np.all(np.isfinite(loss))


@pytest.mark.parametrize("profile", ["envelope", "minimax", "roo"])
def test_the_published_loss_bounds_the_exact_one(profile):
    """All histograms of up to six records, a person of each symbol, all draws."""
    from itertools import product

    for epsilon, k in ((0.7, 2), (2.0, 3)):
        sampler = ROOSampler(
            categories=list(range(k)),
            epsilon=epsilon,
            profile=profile,
            adjacency="add-remove",
        ).fit([0])
        weights = sampler.mechanism_.weights
        bounds = np.empty((k, k))
        for y in range(k):
            sampler.samples_ = np.array([y])
            bounds[y] = sampler.pdp_loss(np.arange(k))
        assert bounds.max() <= epsilon
        assert epsilon < 1 or bounds.min() < 0.9 * epsilon
        for counts in product(range(5), repeat=k):
            before = weights(np.array(counts))
            for s in range(k):
                more = np.array(counts)
                more[s] += 1
                after = weights(more)
                ratio = np.log(after / after.sum()) - np.log(before / before.sum())
                assert np.all(np.abs(ratio) <= bounds[:, s] + 1e-12)


def test_losses_of_the_gaussian_histogram_need_a_probability():
    sampler = made(delta=1e-6, release="histogram").fit(COLUMN)
    assert sampler.pdp_loss(["a"], rho=1e-9) > sampler.pdp_loss(["a"], rho=1e-3)
    for wrong in (0.0, 1.0, -1.0):
        with pytest.raises(ValueError, match="rho"):
            sampler.pdp_loss(["a"], rho=wrong)
    with pytest.raises(ValueError, match="declared"):
        sampler.pdp_loss(["z"])


# --- scikit-learn ---------------------------------------------------------------------


def test_check_estimator_passes():
    for sampler in (ROOSampler(), made(delta=1e-6), made(release="histogram")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tables of several columns are not tested
            results = check_estimator(sampler)
        for result in results or []:
            assert result["status"] == "passed"


class AnyColumn(ROOSampler):
    """Says that it reads tables, so that scikit-learn's battery is run on it."""

    def __init__(
        self,
        *,
        epsilon=1.0,
        delta=0.0,
        profile="auto",
        n_samples=1,
        release="auto",
        categories=(0.0, 1.0),
        adjacency="replace-one",
        group_size=1,
        handle_unknown="other",
        random_state=None,
    ):
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            profile=profile,
            n_samples=n_samples,
            release=release,
            categories=categories,
            adjacency=adjacency,
            group_size=group_size,
            handle_unknown=handle_unknown,
            random_state=random_state,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.non_deterministic = False
        return tags


#: These slice the columns of their X, which is a vector for one column.
NEED_TABLES = {
    "check_dont_overwrite_parameters",
    "check_dont_overwrite_attributes",
    "check_dtype_object",
    "check_n_features_in_after_fitting",
    "check_n_features_in",
    "check_estimator_sparse_array",
    "check_f_contiguous_array_estimator",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_dict_unchanged",
    "check_fit1d",
    "check_fit2d_predict1d",
    "check_array_api_input",
}


@pytest.mark.filterwarnings("ignore")
def test_every_check_that_can_be_put_to_one_column_passes():
    names = set()
    for sampler, check in estimator_checks_generator(AnyColumn()):
        name = getattr(check, "func", check).__name__
        if name not in NEED_TABLES:
            names.add(name)
            check(sampler)
    assert len(names) >= 20


def test_parameters_and_columns_are_left_alone():
    categories, X = ["a", "b", "c"], COLUMN.copy()
    sampler = ROOSampler(categories=categories).fit(X)
    assert sampler.categories is categories
    np.testing.assert_array_equal(X, COLUMN)
    before = dict(vars(sampler))
    sampler.pdp_loss(X)
    assert vars(sampler) == before
    X.flags.writeable = False
    sampler.fit(X)


def test_a_learned_encoding_in_front_is_a_leak():
    X = COLUMN.reshape(-1, 1)
    pipeline = make_pipeline(OrdinalEncoder(), ROOSampler(categories=[0, 1, 2]))
    pipeline.fit(X)
    with pytest.warns(PrivacyLeakWarning, match="ordinalencoder"):
        assert skdp.privacy_spent(pipeline).epsilon == math.inf
    declared = make_pipeline(
        OrdinalEncoder(categories=[ABC]), ROOSampler(categories=[0, 1, 2])
    )
    assert skdp.privacy_spent(declared.fit(X)).epsilon <= 1.0


# --- asking about a person changes nothing --------------------------------------------


@pytest.mark.parametrize("asked", ["array", "series", "frame"])
def test_asking_leaves_the_sampler_as_it_is(asked):
    sampler = made().fit(pd.DataFrame({"letter": COLUMN}))
    before = pickle.dumps(sampler)
    column = {
        "array": COLUMN,
        "series": pd.Series(COLUMN),
        "frame": pd.DataFrame({"letter": COLUMN}),
    }[asked]
    sampler.pdp_loss(column)
    assert pickle.dumps(sampler) == before
    with pytest.raises(ValueError, match="feature names"):
        sampler.pdp_loss(pd.DataFrame({"other": COLUMN}))
    assert pickle.dumps(sampler) == before


def test_writing_into_draws_does_not_change_the_released_ones():
    sampler = made(n_samples=3, release="draws").fit(COLUMN)
    before = sampler.samples_.copy()
    sampler.sample(2)[:] = "z"
    np.testing.assert_array_equal(sampler.samples_, before)


@pytest.mark.parametrize("kind", [set, frozenset])
def test_categories_without_an_order_are_refused(kind):
    with pytest.raises(TypeError, match="order"):
        made(categories=kind(ABC)).fit(COLUMN)


@pytest.mark.parametrize("release", ["auto", "draws", "batch", "histogram"])
def test_one_category_is_released_as_was_asked(release):
    sampler = made(categories=["a"], release=release).fit(["a", "a"])
    assert sampler.release_ == ("draws" if release == "auto" else release)
    k = 5 if release == "histogram" else 1
    assert sampler.sample(k).tolist() == ["a"] * k


def test_a_column_of_several_levels_keeps_its_name():
    columns = pd.MultiIndex.from_tuples([("person", "letter")], names=["of", "what"])
    frame = pd.DataFrame({0: COLUMN}).set_axis(columns, axis=1)
    sampler = made().fit(frame)
    pd.testing.assert_index_equal(sampler.sample(1).columns, columns)
    assert sampler.pdp_loss(frame).shape == (100,)
    assert made().fit(frame.iloc[:, 0]).sample(1).name == ("person", "letter")


def test_missing_text_is_a_declared_none():
    """A column of text that pandas holds has another missing value than an array."""
    column = ["a", None] * 50
    for X in (pd.Series(column), pd.Series(column, dtype="string"), np.array(column)):
        sampler = ROOSampler(
            categories=["a", None], epsilon=50.0, n_samples=50, release="draws"
        ).fit(X)
        assert set(sampler.samples_) == {"a", None}
        assert sampler.pdp_loss(X[:2]).shape == (2,)
        assert ROOSampler(categories=["a", None]).fit(sampler.sample(50)).n_features_in_


def test_a_table_that_would_be_too_long_is_not_made(monkeypatch):
    from skdp.mechanisms import _data_specific_roo as ds_roo

    monkeypatch.setattr(ds_roo, "_LONGEST", 20)
    for epsilon, profile in ((1.5e-3, "roo"), (0.5, "ds-roo")):
        sampler = made(profile="ds-roo", epsilon=epsilon).fit(COLUMN)
        assert sampler.profile_ == profile
        assert sampler.privacy_spent_.epsilon <= epsilon


def test_dates_in_other_units_are_counted_and_asked_about():
    days = np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")
    column = pd.Series(np.repeat(days, 10).astype("M8[ns]"))
    sampler = ROOSampler(categories=days).fit(column)
    assert sampler.pdp_loss(column).shape == (20,)
    levels = ROOSampler(categories="dtype").fit(column.astype("category"))
    assert levels.pdp_loss(column.astype("category")).shape == (20,)
