"""The table sampler as a user meets it: cost, rows, refusals, and what it keeps."""

import math
import os
import pickle
import subprocess
import sys
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
    LowAccuracyWarning,
    NotForReleaseWarning,
    PrivacyLeakWarning,
)
from skdp.rows import Alphabet
from skdp.synthesis import MWEM, ROOSampler, SyntheticHistogram, TableSampler
from skdp.synthesis import _table_sampler as module

CATEGORIES = {"sex": ["f", "m"], "age": [0, 1, 2, 3], "ill": [False, True]}
N = 4000


def table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 4, n)
    return pd.DataFrame(
        {
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
            "age": age,
            "ill": rng.random(n) < age / 4,
        }
    )


FRAME = table()


def made(**kwargs):
    return TableSampler(**{"categories": CATEGORIES, **kwargs})


SETTINGS = [
    {},
    {"method": "records", "n_samples": 3},
    {"method": "columns"},
    {"method": "columns", "n_samples": 4},
    {"method": "records", "adjacency": "add-remove"},
    {"method": "columns", "adjacency": "add-remove"},
    {"adjacency": "add-remove"},
    {"method": "records", "delta": 1e-6, "n_samples": 5},
    {"method": "columns", "delta": 1e-6, "n_samples": 5},
    {"method": "tree", "delta": 1e-6},
    {"method": "tree", "delta": 1e-6, "adjacency": "add-remove"},
    {"method": "tree", "delta": 1e-6, "group_size": 3},
    {"method": "columns", "group_size": 3},
    {"method": "records", "group_size": 2},
]
quiet = pytest.mark.filterwarnings("ignore::skdp.exceptions.LowAccuracyWarning")


# --- what it costs --------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_spend_is_at_most_what_was_asked_and_nearly_all_of_it(settings):
    check_spend(settings, (0.5,))


@quiet
@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_spend_is_at_most_what_was_asked_at_any_epsilon(settings):
    check_spend(settings, (0.01, 0.1, 3.0))


def check_spend(settings, epsilons):
    for epsilon in epsilons:
        sampler = made(epsilon=epsilon, **settings).fit(FRAME)
        spent, delta = sampler.privacy_spent_
        assert spent <= epsilon
        # convex weights for groups are bounded a little above their exact loss
        assert spent >= 0.999 * epsilon
        assert delta == settings.get("delta", 0.0)
        relation = settings.get("adjacency", "replace-one")
        assert sampler.privacy_spent_.adjacency == relation


@quiet
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_fitted_attributes_are_declared_and_do_not_grow_with_the_data(settings):
    sizes = set()
    for times in (1, 8):
        frame = pd.concat([FRAME] * times, ignore_index=True)
        sampler = made(**settings).fit(frame)
        fitted = set(vars(sampler)) - set(sampler.get_params())
        assert fitted <= sampler._released
        with pytest.raises(AttributeError, match="declared"):
            sampler._publish(counts_=1)
        sizes.add(len(pickle.dumps(sampler)))
    assert max(sizes) - min(sizes) < 300


def test_assumptions_are_written_down():
    text = "; ".join(made(group_size=2).fit(FRAME).privacy_spent_.assumptions)
    for words in ("categories are public", "number of records", "at most 2 records"):
        assert text.count(words) == 1
    private = made(adjacency="add-remove", handle_unknown="other").fit(FRAME)
    text = "; ".join(private.privacy_spent_.assumptions)
    assert "number of records" not in text
    assert "declared category" not in text


def test_parts_of_a_tree_tell_the_three_steps():
    spent = made(method="tree", delta=1e-6).fit(FRAME).privacy_spent_
    names = [part.name for part in spent.parts]
    assert names == ["one-way marginals", "choices of pairs", "two-way marginals"]


# --- rows out -------------------------------------------------------------------------


@pytest.mark.parametrize("settings", SETTINGS[:4] + SETTINGS[-5:-2], ids=str)
@quiet
def test_rows_come_out_as_a_frame_of_the_declared_dtypes(settings):
    shuffled = FRAME[["ill", "sex", "age"]]
    out = made(**settings).fit(shuffled).sample(1)
    assert out.columns.tolist() == ["ill", "sex", "age"]
    assert out["ill"].dtype == bool
    assert out["age"].dtype == np.int64
    assert out["sex"].isin(["f", "m"]).all()


def test_levels_of_dtypes_count_only_if_asserted_public():
    dtype = pd.CategoricalDtype(["m", "f"], ordered=True)
    frame = FRAME.assign(sex=FRAME["sex"].astype(dtype))
    declared = {**CATEGORIES, "sex": "dtype"}
    out = made(categories=declared).fit(frame).sample(1)
    assert out["sex"].dtype == dtype
    with pytest.raises(ValueError, match="CategoricalDtype"):
        made(categories=declared).fit(FRAME)
    with pytest.raises(ValueError, match="categories is None"):
        made(categories=None).fit(frame)
    every = FRAME.astype(
        {name: pd.CategoricalDtype(levels) for name, levels in CATEGORIES.items()}
    )
    out = made(categories="dtype").fit(every).sample(1)
    assert list(out.dtypes) == list(every.dtypes)
    with pytest.raises(ValueError, match="CategoricalDtype"):
        made(categories="dtype").fit(FRAME)


def test_arrays_come_out_as_arrays():
    X = FRAME[["age", "ill"]].to_numpy(dtype=int)
    sampler = TableSampler(categories=[[0, 1, 2, 3], [0, 1]]).fit(X)
    assert sampler.sample(1).dtype == np.int64
    mixed = TableSampler(categories=[["f", "m"], [0, 1, 2, 3]])
    out = mixed.fit(FRAME[["sex", "age"]].to_numpy()).sample(1)
    assert out.dtype == object
    assert out.shape == (1, 2)


@pytest.mark.parametrize(
    "maker",
    [TableSampler, SyntheticHistogram, MWEM],
    ids=lambda maker: maker.__name__,
)
def test_columns_of_several_levels_come_out_as_they_were(maker):
    pairs = [("person", "sex"), ("person", "age")]
    columns = pd.MultiIndex.from_tuples(pairs, names=["of", "what"])
    frame = FRAME[["sex", "age"]].set_axis(columns, axis=1)
    for categories in ([["f", "m"], [0, 1, 2, 3]], dict.fromkeys(pairs, "dtype")):
        if isinstance(categories, dict):
            frame = frame.astype("category")
        sampler = maker(categories=categories).fit(frame)
        out = sampler.sample(3) if maker is not TableSampler else sampler.sample(1)
        pd.testing.assert_index_equal(out.columns, columns)
        assert sampler.pdp_loss(frame[:2]).shape == (2,)


def test_an_array_of_text_for_numbers_is_refused_with_a_way_out():
    """NumPy makes text of numbers beside text, so nothing could match them."""
    rows = [["f", 1], ["m", 0]]
    for unknown in ("error", "other"):
        sampler = TableSampler(
            categories=[["f", "m"], [0, 1]], handle_unknown=unknown, epsilon=9.0
        )
        with pytest.raises(TypeError, match="dtype=object"):
            sampler.fit(np.array(rows))
        for X in (pd.DataFrame(rows), rows, np.array(rows, dtype=object)):
            assert sampler.fit(X).n_features_in_ == 2
        with pytest.raises(TypeError, match="column 1"):
            sampler.pdp_loss(np.array(rows))
    declared = TableSampler(categories=[["f", "m"], ["0", "1"]], epsilon=9.0)
    assert declared.fit(np.array(rows)).sample(1).dtype.kind == "U"


def test_missing_values_are_a_declared_none():
    frame = pd.DataFrame({"a": ["x", None] * 50, "b": [1.0, float("nan")] * 50})
    sampler = TableSampler(
        categories={"a": ["x", None], "b": [1, None]}, epsilon=90.0, n_samples=40
    ).fit(frame)
    assert sampler.samples_.isna().any().all()
    assert sampler.samples_.notna().any().all()
    assert sampler.fit(sampler.samples_).n_features_in_ == 2


def test_rows_are_handed_out_once_and_no_more_than_paid_for():
    sampler = made(n_samples=5, method="columns").fit(FRAME)
    got = pd.concat([sampler.sample(2), sampler.sample(2)], ignore_index=True)
    pd.testing.assert_frame_equal(got, sampler.samples_[:4])
    before = pickle.dumps(sampler)
    with pytest.raises(BudgetExceededError, match="2 rows were asked for, got 1"):
        sampler.sample(2)
    assert pickle.dumps(sampler) == before
    assert len(sampler.sample(1)) == 1
    with pytest.raises(BudgetExceededError):
        sampler.sample()
    assert sampler.sample(0).shape == (0, 3)
    assert sampler.fit(FRAME).n_handed_out_ == 0


def test_rows_are_counted_even_if_handing_them_out_fails(monkeypatch):
    sampler = made(n_samples=2, method="columns").fit(FRAME)

    def broken(*args, **kwargs):
        raise RuntimeError("interrupted")

    with monkeypatch.context() as patch:
        patch.setattr(pd, "DataFrame", broken)
        with pytest.raises(RuntimeError, match="interrupted"):
            sampler.sample(1)
    assert sampler.n_handed_out_ == 1


def test_a_tree_gives_any_number_of_rows_that_look_like_the_table():
    """Seeded, 40,000 records: noise is far below what is asked."""
    big = table(40_000)
    with pytest.warns(NotForReleaseWarning):
        sampler = made(method="tree", delta=1e-6, random_state=0).fit(big)
    out = sampler.sample(40_000)
    for column, levels in CATEGORIES.items():
        for level in levels:
            gap = (out[column] == level).mean() - (big[column] == level).mean()
            assert abs(gap) < 0.02
    real = big.groupby("age")["ill"].mean()
    np.testing.assert_allclose(out.groupby("age")["ill"].mean(), real, atol=0.05)
    assert not hasattr(sampler, "samples_")
    again = sampler.set_params(method="columns", delta=0.0, random_state=None)
    assert not hasattr(again.fit(big), "tree_")


def test_whole_records_keep_what_connects_columns_and_columns_do_not():
    """A thousand draws at a large epsilon: 12 standard errors apart."""
    frame = pd.DataFrame({"a": [0, 1] * 2000, "b": [0, 1] * 2000})
    kwargs = {"categories": {"a": [0, 1], "b": [0, 1]}, "n_samples": 1000}
    with pytest.warns(NotForReleaseWarning):
        records = TableSampler(
            epsilon=1000.0, method="records", random_state=1, **kwargs
        ).fit(frame)
    with pytest.warns(NotForReleaseWarning):
        columns = TableSampler(
            epsilon=1000.0, method="columns", random_state=1, **kwargs
        ).fit(frame)
    assert (records.samples_["a"] == records.samples_["b"]).mean() > 0.99
    assert abs((columns.samples_["a"] == columns.samples_["b"]).mean() - 0.5) < 0.1


# --- choices are public ---------------------------------------------------------------


@quiet
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_choice_does_not_look_at_the_records(settings):
    constant = FRAME.assign(sex="f", age=0, ill=False)
    seen = set()
    for frame in (FRAME, constant):
        s = made(**settings).fit(frame)
        bound = "" if math.isnan(s.accuracy_bound_) else repr(s.accuracy_bound_)
        seen.add((s.method_, repr(s.mechanism_), bound, repr(s.privacy_spent_)))
    assert len(seen) == 1


@pytest.mark.parametrize(
    "settings", [s for s in SETTINGS if s.get("adjacency") == "add-remove"], ids=str
)
def test_nothing_published_depends_on_a_private_number_of_records(settings):
    seen = []
    for n in (10, 11):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            s = made(**settings).fit(FRAME[:n])
        public = {
            name: repr(value)
            for name, value in vars(s).items()
            if name not in {"samples_", "tree_", "_drawn"}
        }
        seen.append((public, repr(s), s.privacy_spent_._repr_html_(), str(caught)))
    assert seen[0] == seen[1]
    assert math.isnan(s.accuracy_bound_)


@quiet
def test_auto_takes_whole_records_while_they_are_accurate():
    assert made().fit(FRAME).method_ == "records"
    assert made(n_samples=2000).fit(FRAME).method_ == "columns"
    assert made(n_samples=20_000, delta=1e-6).fit(FRAME).method_ == "tree"
    assert made(adjacency="add-remove").fit(FRAME).method_ == "columns"
    one = TableSampler(categories=[[0, 1]], adjacency="add-remove")
    assert one.fit(FRAME[["ill"]].to_numpy(dtype=int)).method_ == "records"


def test_choices_tell_what_each_method_would_achieve():
    for settings in ({}, {"delta": 1e-6, "n_samples": 3}, {"adjacency": "add-remove"}):
        sampler = made(**settings)
        choices = sampler.choices(N).set_index("method")
        assert choices["auto"].sum() == 1
        fitted = sampler.fit(FRAME)
        assert choices.loc[fitted.method_, "auto"]
        if not math.isnan(fitted.accuracy_bound_):
            bound = choices.loc[fitted.method_, "accuracy_bound"]
            assert bound == fitted.accuracy_bound_
        assert np.isnan(choices.loc["tree", "accuracy_bound"]) == (
            settings.get("delta", 0.0) == 0.0
        )
    with pytest.raises(ValueError, match="declared by a dtype"):
        made(categories="dtype").choices(10)


def test_low_accuracy_warns_where_it_is_public():
    wide = TableSampler(categories=[list(range(10))] * 6, method="records")
    X = np.zeros((100, 6), dtype=int)
    with pytest.warns(LowAccuracyWarning, match="choices"):
        wide.fit(X)
    assert wide.accuracy_bound_ > 0.99
    wide.set_params(adjacency="add-remove").fit(X)


# --- what it refuses ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"method": "tree"}, "delta > 0"),
        ({"method": "records", "delta": 1e-6, "adjacency": "add-remove"}, "private"),
        ({"method": "columns", "delta": 1e-6, "adjacency": "add-remove"}, "private"),
        ({"method": "best"}, "method"),
        ({"n_samples": 0}, "n_samples"),
        ({"group_size": 0}, "group_size"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"adjacency": "both"}, "adjacency"),
        ({"handle_unknown": "ignore"}, "handle_unknown"),
        ({"categories": {"sex": ["f", "m"]}}, "other columns"),
        ({"categories": [["f", "m"]]}, "1 entries"),
        ({"categories": {**CATEGORIES, "sex": ["f", "f"]}}, "differ"),
        ({"categories": {**CATEGORIES, "sex": ["f", float("nan")]}}, "NaN"),
        ({"categories": {**CATEGORIES, "sex": []}}, "at least one"),
        ({"delta": 5e-4, "method": "tree"}, "raw record"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_with_a_way_out(wrong, words):
    with pytest.raises(ValueError, match=words) as caught:
        made(**wrong).fit(FRAME)
    assert "Allowed" in str(caught.value)


def test_categories_of_the_wrong_type_are_refused():
    for wrong in ("all", 3):
        with pytest.raises(TypeError, match="categories"):
            made(categories=wrong).fit(FRAME)


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (np.zeros(4), ValueError, "1D array"),
        (np.zeros((0, 3)), ValueError, "0 sample"),
        (np.zeros((3, 0)), ValueError, "0 feature"),
        (sparse.csr_matrix(np.ones((3, 3))), TypeError, "dense data is required"),
        ([["f", 0, "TOPSECRET"]], ValueError, "declared"),
        ([["f", None, True]], ValueError, "NaN"),
    ],
)
def test_tables_that_make_no_sense_are_refused_without_their_values(X, error, words):
    sampler = made(categories=list(CATEGORIES.values()))
    with pytest.raises(error, match=words) as caught:
        sampler.fit(X)
    assert "TOPSECRET" not in str(caught.value)


def test_equal_names_are_refused_and_others_count_as_the_last_category():
    twice = pd.DataFrame(np.zeros((3, 2), dtype=int), columns=["a", "a"])
    with pytest.raises(ValueError, match="equal names"):
        TableSampler(categories=[[0, 1], [0, 1]]).fit(twice)
    odd = FRAME.assign(sex="?", age=None)
    with pytest.warns(NotForReleaseWarning):
        out = (
            made(
                handle_unknown="other",
                epsilon=200.0,
                n_samples=5,
                method="records",
                random_state=0,
            )
            .fit(odd)
            .samples_
        )
    assert out["sex"].tolist() == ["m"] * 5
    assert out["age"].tolist() == [3] * 5


def test_what_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        made().sample()
    with pytest.raises(NotFittedError):
        made().pdp_loss(FRAME)


# --- randomness -----------------------------------------------------------------------


@quiet
def test_unseeded_fits_differ_and_seeded_ones_ignore_the_order_of_rows():
    big = {"n_samples": 40, "epsilon": 40.0, "method": "records"}
    seen = {repr(clone(made(**big)).fit(FRAME).samples_) for _ in range(3)}
    assert len(seen) == 3
    for settings in (big, {"method": "columns", "n_samples": 9}):
        outputs = set()
        for frame in (FRAME, FRAME[::-1], FRAME.sample(frac=1, random_state=0)):
            with pytest.warns(NotForReleaseWarning):
                s = made(random_state=3, **settings).fit(frame)
            assert not s.privacy_spent_.releasable
            outputs.add(repr(s.samples_))
        assert len(outputs) == 1


@pytest.mark.parametrize("sampler", [TableSampler, ROOSampler])
def test_hashes_of_categories_do_not_matter(sampler):
    class Salted(str):
        salt = 0

        def __hash__(self):
            return hash((self.salt, str(self)))

    drawn = []
    for salt in range(3):
        Salted.salt = salt
        categories = [Salted(c) for c in "xyzw"]
        X = np.array([Salted(c) for c in "xyzzyx" * 19], dtype=object)
        made_of = sampler(
            categories=categories if sampler is ROOSampler else [categories],
            epsilon=40.0,
            n_samples=40,
            random_state=0,
        )
        with pytest.warns(NotForReleaseWarning):
            made_of.fit(X if sampler is ROOSampler else X.reshape(-1, 1))
        drawn.append(np.ravel(made_of.sample(40)).tolist())
    assert drawn[0] == drawn[1] == drawn[2]


@pytest.mark.slow
def test_the_order_of_hashes_does_not_matter():
    """Of samplers of columns and of tables, in another process."""
    code = (
        "import pandas as pd\nfrom skdp.synthesis import ROOSampler, TableSampler\n"
        "X = pd.DataFrame({'a': list('xyzzyx') * 19, 'b': list('uvuvuu') * 19})\n"
        "s = TableSampler(categories={'a': list('xyzw'), 'b': list('uvt')},"
        "method='records', n_samples=50, epsilon=25., random_state=0).fit(X)\n"
        "r = ROOSampler(categories=list('xyzw'), n_samples=50, release='draws',"
        "epsilon=50., random_state=0).fit(X['a'])\n"
        "drawn = s.samples_.to_csv().split() + list(r.samples_)\n"
    )
    other = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code + "print(*drawn)"],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    here = {}
    with pytest.warns(NotForReleaseWarning):
        exec(code, here)
    assert other.stdout.split() == here["drawn"]


@quiet
def test_default_draws_need_no_generator_of_numpy_or_python(monkeypatch):
    import random

    def refuse(*args, **kwargs):
        raise AssertionError("a predictable generator was used")

    for name in ("default_rng", "random", "normal", "RandomState", "choice"):
        monkeypatch.setattr(np.random, name, refuse)
    for name in ("random", "gauss", "getrandbits"):
        monkeypatch.setattr(random, name, refuse)
    for settings in SETTINGS:
        made(**settings).fit(FRAME).sample(1)


# --- what a release cost one person ---------------------------------------------------


@quiet
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_published_loss_is_finite_and_at_most_what_was_spent(settings):
    sampler = made(**settings).fit(FRAME)
    before = dict(vars(sampler))
    loss = sampler.pdp_loss(FRAME[:5])
    assert vars(sampler) == before
    assert loss.shape == (5,)
    assert np.all((loss > 0) & np.isfinite(loss))
    if settings.get("delta", 0.0) == 0.0:
        assert np.all(loss <= sampler.privacy_spent_.epsilon * (1 + 1e-12))


@pytest.mark.parametrize("method", ["records", "columns"])
def test_the_published_loss_bounds_the_exact_one(method):
    """All tables of up to three records of 2 x 2, one more person, every draw."""
    from itertools import combinations_with_replacement, product

    records = np.array(list(product((0, 1), (0, 1))))
    sampler = TableSampler(
        categories=[[0, 1], [0, 1]], method=method, adjacency="add-remove"
    ).fit(records)
    made_of = sampler.mechanism_

    def law(codes):
        if method == "columns":
            laws = [
                s.weights(np.bincount(codes[:, j], minlength=2))
                for j, s in enumerate(made_of.samplers)
            ]
            laws = [w / w.sum() for w in laws]
            return np.multiply.outer(*laws).ravel()
        counts = np.bincount(codes[:, 0] * 2 + codes[:, 1], minlength=4)
        weights = made_of.weights(counts)
        return weights / weights.sum()

    bounds = np.empty((4, 4))
    for y, record in enumerate(records):
        sampler._drawn = record[None]
        bounds[y] = sampler.pdp_loss(records)
    assert bounds.max() <= 1.0
    assert method == "columns" or bounds.min() < bounds.max()
    for n in range(4):
        for rows in combinations_with_replacement(range(4), n):
            codes = records[list(rows)].reshape(-1, 2)
            before = law(codes)
            for s, record in enumerate(records):
                ratio = np.log(law(np.vstack([codes, record])) / before)
                assert np.all(np.abs(ratio) <= bounds[:, s] + 1e-12)


def test_losses_of_a_tree_need_a_probability():
    sampler = made(method="tree", delta=1e-6).fit(FRAME)
    one = FRAME[:1]
    assert sampler.pdp_loss(one, rho=1e-9) > sampler.pdp_loss(one, rho=1e-3)
    for wrong in (0.0, 1.0):
        with pytest.raises(ValueError, match="rho"):
            sampler.pdp_loss(one, rho=wrong)


# --- scikit-learn ---------------------------------------------------------------------


def test_check_estimator_passes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without categories there is no table to read
        for result in check_estimator(TableSampler()) or []:
            assert result["status"] == "passed"


def test_a_learned_encoding_in_front_is_a_leak():
    X = FRAME[["age", "ill"]].to_numpy(dtype=int)
    last = TableSampler(categories=[[0.0, 1.0, 2.0, 3.0], [0.0, 1.0]])
    with pytest.warns(PrivacyLeakWarning, match="ordinalencoder"):
        spent = skdp.privacy_spent(make_pipeline(OrdinalEncoder(), last).fit(X))
    assert spent.epsilon == math.inf
    declared = OrdinalEncoder(categories=[[0, 1, 2, 3], [0, 1]])
    assert skdp.privacy_spent(make_pipeline(declared, last).fit(X)).epsilon <= 1.0


class AnyTable(TableSampler):
    """Says that it reads any table, so that scikit-learn's battery is run on it."""

    def __init__(
        self,
        *,
        epsilon=1.0,
        delta=0.0,
        method="auto",
        n_samples=1,
        categories=(),
        adjacency="replace-one",
        group_size=1,
        handle_unknown="other",
        random_state=None,
    ):
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            method=method,
            n_samples=n_samples,
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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["records", "columns", "tree"])
def test_the_battery_passes_once_categories_are_declared(method, monkeypatch):
    """Every column is given two categories, and everything else is the second."""
    original = module.enter_table

    def declared(estimator, X, categories):
        n_columns = np.shape(X)[1] if np.ndim(X) == 2 else 1
        return original(estimator, X, (Alphabet([0.0, 1.0]),) * n_columns)

    monkeypatch.setattr(module, "enter_table", declared)
    delta = 1e-6 if method == "tree" else 0.0
    n_checks = 0
    for sampler, check in estimator_checks_generator(
        AnyTable(method=method, delta=delta)
    ):
        check(sampler)
        n_checks += 1
    assert n_checks >= 35
