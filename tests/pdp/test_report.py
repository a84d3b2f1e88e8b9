"""The published report: what it holds, how it travels, and what it refuses."""

import contextlib
import dataclasses
import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit, ndtri
from scipy.stats import chi2
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import skdp
from skdp.linear_model import ObjPertLogisticRegression
from skdp.mechanisms import GaussianNoise
from skdp.pdp import PublishedReport
from skdp.random import GOE
from skdp.rows import L2Ball

LEVELS = ["data-independent", "hessian", "gradient"]
NAMES = ["age", "income", "score"]


def problem(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, np.where(X[:, 0] + 0.3 * rng.standard_normal(n) > 0, "yes", "no")


def model(level="data-independent", delta=1e-6, **options):
    return ObjPertLogisticRegression(
        **{"classes": ["no", "yes"], "delta": delta, "pdp_report": level} | options
    )


def made(level="data-independent", delta=1e-6, **options):
    X, y = problem()
    frame = pd.DataFrame(X, columns=NAMES)
    return model(level, delta, **options).fit(frame, y).report_


REPORTS = {level: made(level) for level in LEVELS} | {"pure": made(delta=0.0)}
every_report = pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)


# --- what it holds --------------------------------------------------------------------

FIELDS = [
    "schema",
    "level",
    "loss",
    "loss_params",
    "adjacency",
    "epsilon",
    "delta",
    "rho",
    "data_norm",
    "intercept_scaling",
    "column_lower",
    "column_upper",
    "column_shift",
    "column_scale",
    "feature_names",
    "classes",
    "alpha",
    "noise",
    "noise_scale",
    "gradient_tol",
    "smoothing_scale",
    "smoothing_error",
    "smoothing_step",
    "theta",
    "hessian",
    "gradient",
]
STATISTIC = ["values", "scale", "smoothing_scale", "smoothing_error", "smoothing_step"]


@every_report
def test_the_fields_are_these_and_no_others(report):
    record = json.loads(report.to_json())
    assert list(record) == FIELDS
    for name, size in (("hessian", 10), ("gradient", 4)):
        if record[name] is not None:
            assert list(record[name]) == STATISTIC
            assert len(record[name]["values"]) == size
    assert len(record["theta"]) == 4
    assert record["feature_names"] == NAMES
    assert (record["rho"] is None) == (record["noise"] == "k-norm")


@pytest.mark.parametrize("level", LEVELS)
def test_the_numbers_are_those_of_the_fit(level):
    X, y = problem()
    fitted = model(level, epsilon=2.0).fit(X, y)
    report = fitted.report_
    assert report.level == level
    assert (report.epsilon, report.delta) == tuple(fitted.privacy_spent_)
    assert report.alpha == fitted.alpha_
    assert report.noise_scale == fitted.noise_scale_
    assert report.smoothing_scale == fitted.smoothing_scale_
    np.testing.assert_array_equal(report.theta[:3], fitted.coef_[0])
    constant = report.intercept_scaling
    np.testing.assert_array_equal(constant * report.theta[3], fitted.intercept_[0])
    if level != "data-independent":
        assert report.hessian.scale == fitted.mechanism_.hessian_scale
    np.testing.assert_array_equal(fitted.pdp_loss(X, y), report.loss(X, y))


@pytest.mark.parametrize("level", LEVELS[1:])
def test_what_is_released_beside_the_coefficients_is_paid_for(level):
    X, y = problem()
    alone, more = model().fit(X, y), model(level).fit(X, y)
    assert more.privacy_spent_.epsilon <= 1.0
    assert more.privacy_spent_.epsilon > 0.999
    assert more.noise_scale_ > alone.noise_scale_
    R, mu = more.mechanism_.main.radius, 0.23670
    assert more.report_.hessian.scale == pytest.approx(
        R**2 / 4 / (mu * math.sqrt(0.05)), rel=1e-3
    )
    if level == "gradient":
        scale = more.report_.gradient.scale
        assert scale == pytest.approx(R / (mu * math.sqrt(0.05)), rel=1e-3)


@pytest.mark.parametrize("level", LEVELS)
def test_neighbouring_tables_give_reports_of_the_same_shape(level):
    X, y = problem()
    other = np.vstack([X, [[1e9, -1e9, 0.5]]]), np.append(y, "unheard-of")
    shapes = []
    for data in ((X, y), other, (X[:2], y[:2]), (X * 0.0, y)):
        record = json.loads(model(level).fit(*data).report_.to_json())
        public = {k: v for k, v in record.items() if k not in ("theta", *LEVELS)}
        for name in LEVELS[1:]:
            if record[name]:
                public[name] = record[name] | {"values": len(record[name]["values"])}
        shapes.append(public | {"theta": len(record["theta"])})
    assert all(shape == shapes[0] for shape in shapes)


@pytest.mark.parametrize("level", LEVELS)
def test_no_canary_of_the_table_is_in_the_report(level, tmp_path):
    X, y = problem()
    X[17] = [0.123456789, 0.23456789, -0.3456789]
    report = model(level).fit(X, y).report_
    report.to_html(tmp_path / "lookup.html")
    page = (tmp_path / "lookup.html").read_text(encoding="utf-8")
    blob = pickle.dumps(report)
    for text in (report.to_json(), report.summary(), repr(report), page):
        for secret in X[[17, 0, 1, 2]].ravel():
            assert repr(float(secret)) not in text
            assert np.float64(secret).tobytes() not in blob


@pytest.mark.parametrize("level", LEVELS)
def test_no_noise_that_was_drawn_stays_in_the_fitted_object(level, monkeypatch):
    drawn = []
    for law in (GaussianNoise, GOE):
        original = law.draw

        def draw(self, *args, original=original):
            drawn.append(original(self, *args))
            return drawn[-1]

        monkeypatch.setattr(law, "draw", draw)
    fitted = model(level).fit(*problem())
    blob = pickle.dumps(fitted)
    assert len(drawn) == 1 + LEVELS.index(level)
    for secret in np.concatenate([noise.ravel() for noise in drawn]):
        assert np.float64(secret).tobytes() not in blob


def test_the_summary_names_the_promise_and_the_failure_probability():
    text = REPORTS["pure"].summary()
    assert "1e-12" in text
    assert "epsilon = 1 " in text
    assert "1e-06" in REPORTS["hessian"].summary()


# --- what it says ---------------------------------------------------------------------


def by_hand(report, X, y, *, z, tail, steps, jacobian=True):
    """The bound at the level "data-independent", written out from its statement."""
    step = report._mechanism().smoothing
    rounding = step.grid * math.sqrt(step.n_features) / 2
    Z = L2Ball(report.data_norm, report.intercept_scaling).project(X)
    q, sign = np.linalg.norm(Z, axis=1), np.where(y == "yes", 1.0, -1.0)
    grow = np.exp(q * (step.error + rounding + tail * step.scale))
    slope = expit(-sign * (Z @ np.array(report.theta)))
    m = np.minimum(1, grow * slope) * q / report.noise_scale
    h = np.minimum(0.25, grow * slope * (1 - slope))
    loss = m**2 / 2 + m * z + step.rho + math.sqrt(2 * step.rho) * steps
    return loss + jacobian * np.log1p(h * q**2 / report.alpha)


@pytest.mark.parametrize("rho", [1e-12, 1e-6, 0.3])
def test_the_gaussian_bounds_are_their_statements(rho):
    report, (X, y) = REPORTS["data-independent"], problem()
    two, one = (math.sqrt(2 * math.log(k / rho)) for k in (40, 20))
    expected = {
        "either": by_hand(report, X, y, z=-ndtri(0.45 * rho), tail=two, steps=two),
        "member": by_hand(report, X, y, z=-ndtri(0.9 * rho), tail=two, steps=one),
        "non-member": by_hand(
            report, X, y, z=-ndtri(0.9 * rho), tail=two, steps=one, jacobian=False
        ),
    }
    for kind, bound in expected.items():
        found = report.loss(X, y, kind=kind, rho=rho)
        np.testing.assert_allclose(found, bound, rtol=1e-11)
    chi = math.sqrt(chi2.isf(0.9 * rho, 4))
    tail = 2.0 + one
    found = report.loss(X, y, rho=rho, simultaneous=True)
    bound = by_hand(report, X, y, z=chi, tail=tail, steps=tail)
    np.testing.assert_allclose(found, bound, rtol=1e-11)


def test_the_hessian_bound_is_its_statement():
    """With a leverage bound by a fine search of weights instead of the public grid."""
    report, (X, y) = made("hessian", alpha=5.0), problem()
    rho, d, D = 1e-4, 4, 10
    main, extra = report._mechanism().smoothing, report.hessian.step

    def reach(step, n, share):
        tail = math.sqrt(n) + math.sqrt(-2 * math.log(share * rho))
        return step.error + step.grid * math.sqrt(n) / 2 + tail * step.scale

    E, R = reach(main, d, 0.03), math.hypot(1.0, 0.5)
    spread = report.hessian.scale * GOE(d).isf(0.1 * rho)
    spread += math.sqrt(2) * reach(extra, D, 0.03)
    e, V = np.linalg.eigh(report.hessian.matrix(d) - spread * np.eye(d))
    Z = L2Ball(1.0, 0.5).project(X)
    q, sign = np.linalg.norm(Z, axis=1), np.where(y == "yes", 1.0, -1.0)
    slope = np.exp(E * q) * expit(-sign * (Z @ np.array(report.theta)))
    h = np.exp(E * q) * expit(Z @ np.array(report.theta))
    h = np.minimum(0.25, h * expit(-Z @ np.array(report.theta)))
    top = 1.0 if e[0] >= 0 else report.alpha / (report.alpha - e[0])
    w = top * expit(np.linspace(-9, 9, 2000))[:, None]
    mixed = report.alpha + w * (e - report.alpha)
    leverage = np.exp(R * E) * ((Z @ V) ** 2 @ (1 / mixed).T).min(axis=1)
    k = h * q**2 / report.alpha
    jacobian = -np.log1p(-np.minimum(h * leverage, k / (1 + k)))
    M = np.hypot(
        np.minimum(1, slope) * q / report.noise_scale, h * q**2 / report.hessian.scale
    )
    total = main.rho + extra.rho
    found = report.bound(kind="member", rho=rho)
    loss = M**2 / 2 + M * found.slope + jacobian + total
    loss += math.sqrt(2 * total) * math.sqrt(-2 * math.log(0.03 * rho))
    bound = report.loss(X, y, kind="member", rho=rho)
    assert (bound >= loss * (1 - 1e-9)).all()
    np.testing.assert_allclose(bound, loss, rtol=0.02)
    assert -ndtri(0.8 * rho) < found.slope < math.sqrt(-2 * math.log(0.8 * rho))


@every_report
def test_a_smaller_question_has_a_smaller_answer(report):
    X, y = problem()
    for of in ("everything", "coefficients"):
        either = report.loss(X, y, of=of)
        for kind in ("member", "non-member"):
            assert (report.loss(X, y, kind=kind, of=of) <= either).all()
        assert (either <= report.loss(X, y, simultaneous=True, of=of)).all()
        rare = report.loss(X, y, rho=1e-9, of=of)
        assert (either <= rare).all()
    if report.rho is None:
        assert (report.loss(X, y) <= report.epsilon).all()


def test_a_released_gradient_never_lowers_the_total():
    """With the same noise of the coefficients: it costs, and it tells nothing new."""
    report, (X, y) = REPORTS["gradient"], problem()
    without = dataclasses.replace(report, level="hessian", gradient=None)
    assert (report.loss(X, y) >= without.loss(X, y)).all()
    alone = dataclasses.replace(without, level="data-independent", hessian=None)
    far = 1e-3 * X  # the Jacobian counts for nothing there
    assert (without.loss(far, y) >= alone.loss(far, y)).all()


@every_report
def test_rows_count_as_clipped_and_undeclared_labels_for_nothing(report):
    X, y = problem()
    clipped = L2Ball(1.0).project(X)
    np.testing.assert_allclose(
        report.loss(1e5 * X, y), report.loss(1e5 * clipped, y), rtol=1e-9
    )
    assert not report.loss(X[:3], ["perhaps", "No", ""]).any()


@every_report
def test_every_container_and_order_of_columns_gives_the_same_bounds(report):
    X, y = problem()
    expected = report.loss(X, y)
    frame = pd.DataFrame(X, columns=NAMES)
    more = frame[NAMES[::-1]].assign(other="text")
    for table in (X.tolist(), np.asfortranarray(X), sp.csr_array(X), frame, more):
        np.testing.assert_allclose(report.loss(table, y), expected, rtol=1e-12)
    person = dict(zip(NAMES, X[5], strict=True))
    for x in (X[5], list(X[5]), person, pd.Series(person), frame.iloc[[5]]):
        np.testing.assert_allclose(report.loss((x, y[5])), expected[5:6], rtol=1e-12)
    assert report.loss(X[:0], y[:0]).shape == (0,)


# --- how it travels -------------------------------------------------------------------


@every_report
def test_json_and_pickle_give_back_an_equal_report(report):
    for again in (
        PublishedReport.from_json(report.to_json()),
        pickle.loads(pickle.dumps(report)),
        dataclasses.replace(report),
    ):
        assert again == report
        assert hash(again) == hash(report)
        np.testing.assert_array_equal(again.loss(*problem()), report.loss(*problem()))


@pytest.mark.parametrize(
    "classes", [[0, 1], [False, True], [0.5, 1.5], ["a", "ü"], np.array([3, 9])]
)
def test_labels_keep_their_kind(classes):
    X, y = problem()
    labels = np.where(y == "yes", classes[1], classes[0])
    report = ObjPertLogisticRegression(classes=classes).fit(X, labels).report_
    again = PublishedReport.from_json(report.to_json())
    assert again == report
    assert [type(label) for label in again.classes] == [
        type(label) for label in np.asarray(classes).tolist()
    ]
    assert again.loss(X, labels).all()


def test_labels_that_json_cannot_hold_are_refused_when_written():
    X, _ = problem()
    days = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    fitted = ObjPertLogisticRegression(classes=days).fit(X, np.resize(days, len(X)))
    assert fitted.pdp_loss(X, np.resize(days, len(X))).all()
    with pytest.raises(ValueError, match="classes"):
        fitted.report_.to_json()


def changed(report, **changes):
    record = json.loads(report.to_json())
    for path, value in changes.items():
        where, *names = record, *path.split("__")
        for name in names[:-1]:
            where = where[name]
        where[names[-1]] = value
    return json.dumps(record)


WRONG = {
    "schema": "skdp.report/2",
    "level": "everything",
    "loss": "hinge",
    "loss_params": {"width": 0.5},
    "adjacency": "replace-two",
    "epsilon": -1.0,
    "delta": 1.5,
    "rho": 0.0,
    "data_norm": 0.0,
    "intercept_scaling": -0.5,
    "column_shift": [0.0, 0.0, 0.0],
    "feature_names": ["age", "age", "score"],
    "classes": ["no", "yes", "maybe"],
    "alpha": "1.0",
    "noise": "laplace",
    "noise_scale": None,
    "gradient_tol": True,
    "smoothing_scale": -1e-5,
    "smoothing_error": [],
    "smoothing_step": 0,
    "theta": [0.1, 0.2, 0.3, "0.4"],
    "hessian": None,
    "gradient": {},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_field_out_of_range_is_named(name):
    with pytest.raises(ValueError, match=rf"{name}|column_") as caught:
        PublishedReport.from_json(changed(REPORTS["gradient"], **{name: WRONG[name]}))
    assert "Allowed" in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("hessian__scale", 0.0),
        ("hessian__values", [1.0] * 9),
        ("hessian__values", [1.0] * 9 + [None]),
        ("gradient__values", [1.0] * 5),
        ("gradient__smoothing_scale", -1.0),
        ("gradient__more", 1.0),
        ("theta", [0.1] * 5),
        ("classes", ["yes", "no"]),
        ("classes", ["no", "no"]),
        ("classes", [0, "yes"]),
        ("classes", [None, None]),
        ("feature_names", ["a", "b"]),
        ("feature_names", [1, 2, 3]),
        ("smoothing_step", 3e-9),
        ("smoothing_error", 1e-30),
        ("adjacency", "replace-one"),
        ("noise", "k-norm"),
        ("level", "hessian"),
    ],
)
def test_fields_that_contradict_others_are_refused(path, value):
    name = path.split("__")[0]
    with pytest.raises(
        ValueError, match=rf"{name}|contradict|gradient|level|hessian|feature"
    ):
        PublishedReport.from_json(changed(REPORTS["gradient"], **{path: value}))


@every_report
@pytest.mark.parametrize("value", [5e-324, 1e-200, 1e-20, 1e20, 1e200, 1.7e308])
def test_numbers_of_any_size_are_refused_or_give_a_bound(report, value):
    X, y = problem()
    names = [name for name in FIELDS if isinstance(getattr(report, name, None), float)]
    statistics = [name for name in LEVELS[1:] if getattr(report, name)]
    paths = [*names, *(f"{a}__{b}" for a in statistics for b in STATISTIC[1:])]
    others, lists = [], {"theta": 4} | {f"{name}__values": None for name in statistics}
    for path in [*paths, *lists]:
        changes = {path: value}
        if path in lists:
            size = lists[path] or len(getattr(report, path.split("__")[0]).values)
            changes = {path: [value, -value] * (size // 2)}
        with contextlib.suppress(ValueError):
            other = PublishedReport.from_json(changed(report, **changes))
            others.append((path, other))
    for path, other in others:
        for of in ("everything", "coefficients"):
            loss = other.loss(X[:20], y[:20], of=of)
            assert not np.isnan(loss).any(), path


@every_report
def test_a_missing_or_extra_field_is_named(report):
    record = json.loads(report.to_json())
    for name in record:
        shorter = {k: v for k, v in record.items() if k != name}
        with pytest.raises(ValueError, match=name):
            PublishedReport.from_json(json.dumps(shorter))
    with pytest.raises(ValueError, match="1 field that no report has"):
        PublishedReport.from_json(json.dumps(record | {"n_rows": 300}))
    twice = report.to_json().replace('"alpha":', '"alpha": 1.0, "alpha":')
    with pytest.raises(ValueError, match=r"'alpha'.*twice"):
        PublishedReport.from_json(twice)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 400])
@pytest.mark.parametrize("name", ["alpha", "theta"])
def test_numbers_that_are_none_are_refused(name, word):
    report = REPORTS["pure"]
    value = repr(getattr(report, name) if name == "alpha" else report.theta[0])
    with pytest.raises(ValueError, match="Allowed") as caught:
        PublishedReport.from_json(report.to_json().replace(value, word, 1))
    assert name in str(caught.value) or word in str(caught.value)


@every_report
def test_a_text_cut_off_anywhere_is_refused(report):
    text = report.to_json()
    for end in [0, 1, 2, *range(3, len(text) - 1, 97), len(text) - 1]:
        with pytest.raises(ValueError, match="Allowed"):
            PublishedReport.from_json(text[:end])


@pytest.mark.parametrize("text", ["[]", "3", '"skdp.report/1"', "null", "[" * 100_000])
def test_other_json_is_refused(text):
    with pytest.raises(ValueError, match="Allowed"):
        PublishedReport.from_json(text)
    with pytest.raises(TypeError, match="text must be a string"):
        PublishedReport.from_json(json.loads("{}"))


def test_whole_numbers_may_stand_for_floats():
    """Other writers of JSON drop the point; the report is the same."""
    report = REPORTS["pure"]
    assert PublishedReport.from_json(changed(report, data_norm=1)) == report


# --- wrong people ---------------------------------------------------------------------


@every_report
def test_wrong_people_get_a_clear_error(report):
    X, y = problem()
    person = dict(zip(NAMES, [0.1, 0.2, 0.987654321], strict=True))
    cases = [
        (ValueError, "missing or repeated", ({"age": 1.0, "score": 2.0}, "yes"), None),
        (ValueError, "missing", pd.DataFrame(X, columns=["a", "income", "score"]), y),
        (ValueError, "2 columns", X[:, :2], y),
        (ValueError, "text", ([0.1, "old", 0.987654321], "yes"), None),
        ((TypeError, ValueError), "numbers", (person | {"age": "old"}, "yes"), None),
        (ValueError, "NaN", (person | {"age": math.nan}, "yes"), None),
        (ValueError, "infinity", (person | {"age": math.inf}, "yes"), None),
        (ValueError, "inconsistent", X, y[:-1]),
        (ValueError, "different kinds", X, np.zeros(len(X))),
        (TypeError, "y is missing", X, None),
        (ValueError, "2D array", X[0], y),
    ]
    for error, words, table, labels in cases:
        with pytest.raises(error, match=words) as caught:
            report.loss(table, labels)
        assert "0.98765" not in str(caught.value)


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("kind", "neither", ValueError),
        ("kind", None, ValueError),
        ("rho", 0.0, ValueError),
        ("rho", 1.0, ValueError),
        ("rho", "1e-6", TypeError),
        ("simultaneous", 1, TypeError),
        ("of", "all", ValueError),
    ],
)
def test_a_wrong_option_is_named(option, value, error):
    for report in REPORTS.values():
        with pytest.raises(error, match=option) as caught:
            report.loss(*problem(), **{option: value})
        assert "Allowed" in str(caught.value)
    with pytest.raises(ValueError, match="1e-290"):
        REPORTS["hessian"].loss(*problem(), rho=1e-295)


@pytest.mark.parametrize("level", LEVELS[1:])
@pytest.mark.parametrize(
    "options", [{"delta": 0.0}, {"delta": 1e-6, "adjacency": "replace-one"}]
)
def test_a_level_without_its_proof_is_refused_before_the_data_is_read(level, options):
    with pytest.raises(ValueError, match=r"pdp_report.*Allowed"):
        model(level, **options).fit(None, None)
    with pytest.raises(ValueError, match="pdp_report"):
        model("everything").fit(None, None)


# --- pipelines ------------------------------------------------------------------------


@pytest.mark.parametrize("feature_range", [(-1, 1), (0, 1)])
@pytest.mark.parametrize("clippers", [[], [0.7], [3.0, 0.9]])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_public_scaling_is_folded_into_the_report(feature_range, clippers, delta):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(-50, 150, (200, 3)), columns=NAMES)
    bounds = {"age": (0, 100), "income": (-20.0, 90.0), "score": (7, 7)}
    y = np.where(frame["age"] > 40, "yes", "no")
    pipeline = make_pipeline(
        skdp.BoundedScaler(bounds, feature_range=feature_range),
        make_pipeline("passthrough", *map(skdp.RowClipper, clippers)),
        model(delta=delta),
    ).fit(frame, y)
    report = skdp.published_report(pipeline)
    assert report.feature_names == tuple(NAMES)
    loss = skdp.pdp_loss(pipeline, frame, y)
    found = PublishedReport.from_json(report.to_json()).loss(frame, y)
    assert (found <= loss + 1e-12).all()
    if delta or not clippers:
        np.testing.assert_allclose(found, loss, rtol=1e-12)


def test_an_estimator_alone_has_its_own_report():
    fitted = model().fit(*problem())
    assert skdp.published_report(fitted) == fitted.report_


@pytest.mark.parametrize(
    "steps",
    [
        [MinMaxScaler()],
        [skdp.RowClipper(), skdp.BoundedScaler()],
        [skdp.BoundedScaler(), skdp.BoundedScaler()],
    ],
    ids=["learned", "clipped before", "scaled twice"],
)
def test_steps_that_no_constants_tell_are_refused(steps):
    pipeline = make_pipeline(*steps, model()).fit(*problem())
    with pytest.raises(TypeError, match=r"pipeline\[-1\].report_"):
        skdp.published_report(pipeline)


def test_an_estimator_without_a_report_is_refused():
    sampler = skdp.ASAPClassifier(classes=["no", "yes"]).fit(*problem())
    with pytest.raises(TypeError, match="no report"):
        skdp.published_report(sampler)


@pytest.mark.parametrize(
    ("classes", "wrong"),
    [
        (["no", "yes"], [1, 0]),
        (["no", "yes"], np.array([1, 0], dtype=object)),
        (["no", "yes"], pd.Series([0, 1])),
        (["no", "yes"], [1.5, None]),
        ([0, 1], ["0", "1"]),
        ([0, 1], pd.Series(["0", "1"], dtype=object)),
        ([0, 1], [None, "yes"]),
    ],
    ids=range(7),
)
def test_labels_of_another_kind_are_refused_not_called_free(classes, wrong):
    X, y = problem()
    report = (
        model(classes=classes)
        .fit(X, np.array(classes)[(y == "yes").astype(int)])
        .report_
    )
    with pytest.raises(ValueError, match="different kinds"):
        report.loss(X[:2], wrong)


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT], ids=str)
@pytest.mark.parametrize("classes", [["no", "yes"], [0, 1]], ids=str)
def test_missing_labels_are_refused_not_called_free(classes, missing):
    X, y = problem()
    report = (
        model(classes=classes)
        .fit(X, np.array(classes)[(y == "yes").astype(int)])
        .report_
    )
    with pytest.raises(ValueError, match=r"y is missing|NaN"):
        report.loss((X[0], missing))
    with pytest.raises(ValueError, match=r"y is missing|NaN"):
        report.loss(X[:2], [missing, missing])


@pytest.mark.parametrize("level", ["data-independent", "hessian", "gradient"])
@pytest.mark.parametrize("kind", ["either", "member", "non-member"])
def test_a_likely_failure_gives_a_bound_that_is_not_negative(level, kind):
    X, y = problem()
    report = made(level)
    for rho in (0.5, 0.7, 0.999):
        loss = report.loss(X, y, kind=kind, rho=rho)
        assert (loss >= 0.0).all()
        assert (loss <= report.loss(X, y, kind=kind, rho=1e-3)).all()


def test_values_by_name_need_a_release_with_names():
    X, y = problem()
    with pytest.raises(ValueError, match="no feature names"):
        model().fit(X, y).report_.loss(({"a": 0.1, "b": 0.2, "c": 0.3}, "yes"))


def test_a_hessian_may_pay_for_itself_where_the_curvature_term_is_large():
    """At the least ridge, with many rows; docs/pdp_report.md says so."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (100_000, 1))
    y = (rng.random(len(X)) < expit(3 * X[:, 0])).astype(int)
    free, paid = (
        np.median(made_of(X, y, level).loss(X[:2000], y[:2000]))
        for level in ("data-independent", "hessian")
    )
    assert paid < 0.95 * free


def made_of(X, y, level):
    return model(level, classes=[0, 1]).fit(X, y).report_
