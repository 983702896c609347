"""Stated shares of K classes through the whole chain: answers moved, rows weighted, saved forms the same; EM for K."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2
from sklearn.naive_bayes import GaussianNB

from calib import CalibratedClassifier, Recipe, evaluate
from calib.analysis.label_shift import estimate_base_rate, estimate_base_rates, estimate_of_rows
from calib.analysis.recommendation.advice import recommend
from calib.analysis.recommendation.rule import START_OF_CLASSES, advise
from calib.evaluate import calibrate, fit
from calib.export import calibrator_json, read_calibrator, report_html
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.metrics import log_loss
from tests.export.programs import engines

NAMES = ("a", "b", "c")
KEYS = ("none", "isotonic", "venn_abers", "temperature", "structured_matrix", "pairwise")
STATED = {"a": 0.1, "b": 0.3, "c": 0.6}
SHARES = np.array(list(STATED.values()))
CENTRES = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])
FITTED = np.array([0.5, 0.3, 0.2])
RECIPE = Recipe(model="naive_bayes", calibrators=KEYS, base_rates=STATED)


def drawn(n, seed=0, rates=FITTED):
    """Rows of three normal laws, whose posterior is known."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, size=n, p=rates)
    return rng.normal(size=(n, 2)) + CENTRES[y], y


def posterior(X, rates=FITTED):
    density = np.exp(X @ CENTRES.T - (CENTRES**2).sum(axis=1) / 2) * rates
    return density / density.sum(axis=1, keepdims=True)


def dataset(n=900, seed=0, **more):
    X, y = drawn(n, seed)
    return Dataset("three", pd.DataFrame(X, columns=["x1", "x2"]), y == 2, labels=y, names=NAMES, **more)


DATA = dataset()
MOVED = evaluate(RECIPE, DATA)


def test_shares_are_a_field_like_any_other_and_cost_no_fit():
    assert RECIPE.digest("fit") == RECIPE.replace(base_rates={}).digest("fit")
    assert Recipe.from_query(RECIPE.to_query()) == RECIPE
    assert Recipe.from_json(RECIPE.to_json()) == RECIPE
    assert RECIPE.lost(RECIPE.replace(base_rates={})) == {f"base_rates.{k}": v for k, v in STATED.items()}
    assert RECIPE.label("base_rates.a") == "Share of a in deployment"
    for wrong in ({"a": 0.5, "b": 0.6}, {"a": 0.0, "b": 1.0}, {"a": "x"}, {"a": 0.5}):
        with pytest.raises(InputError, match="base_rates"):
            Recipe(base_rates=wrong)


def test_every_probability_is_multiplied_by_the_ratio_of_its_shares():
    before, part = MOVED.whole.unadjusted.distributions, np.setdiff1d(np.arange(DATA.n), MOVED.rows)
    held = np.bincount(MOVED.whole.unadjusted.calibration_y, minlength=3)
    trained = np.bincount(DATA.labels[part], minlength=3) - held
    for key, P in MOVED.whole.distributions.items():
        counts = trained if key == "none" else held
        moved = before[key] * SHARES / (counts / counts.sum())
        np.testing.assert_allclose(P, moved / moved.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-15)
        np.testing.assert_array_equal(
            MOVED.whole.unadjusted.distributions[key],
            evaluate(RECIPE.replace(base_rates={}), DATA).whole.distributions[key],
        )


def test_in_a_split_by_time_the_shares_of_the_earlier_rows_are_replaced():
    """The classes drift, so that the shares of earlier rows are not those of all rows."""
    X, y = drawn(900, 5)
    order = np.argsort(y + np.random.default_rng(0).normal(size=900) * 2)
    recipe = RECIPE.replace(split="time", time="when", calibrators=("none", "isotonic", "temperature"))
    data = Dataset(
        "dated",
        pd.DataFrame(X[order], columns=["x1", "x2"]),
        y[order] == 2,
        labels=y[order],
        names=NAMES,
        time=np.arange(900.0),
    )
    found = evaluate(recipe, data)
    assert found.rows.min() >= 900 - len(found.rows), "the last rows are the test rows"
    before = found.whole.unadjusted.distributions
    held = np.bincount(found.whole.unadjusted.calibration_y, minlength=3)
    trained = np.bincount(y[order][: found.rows.min()], minlength=3) - held
    assert abs(held / held.sum() - np.bincount(y) / 900).max() > 0.02
    for key, P in found.whole.distributions.items():
        counts = trained if key == "none" else held
        moved = before[key] * SHARES / (counts / counts.sum())
        np.testing.assert_allclose(P, moved / moved.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.whole.shares, SHARES, atol=1e-12)


def test_the_right_probabilities_stay_right_and_losses_are_those_where_the_shares_hold():
    X, y = drawn(60_000, 1)
    data = Dataset(
        "right",
        pd.DataFrame(posterior(X), columns=NAMES),
        y == 2,
        labels=y,
        names=NAMES,
        predictions=True,
        columns={"p": NAMES},
    )
    found = evaluate(Recipe(content="predictions", calibrators=("none",), base_rates=STATED), data)
    there, labels = drawn(60_000, 2, SHARES)
    truth = log_loss(labels, posterior(there, SHARES))
    assert found.whole.metrics.loc["none", "log_loss"] == pytest.approx(truth, rel=0.03)
    assert found.whole.metrics.loc["none", "classwise_ece"] < 0.01
    assert found.whole.unadjusted.metrics.loc["none", "log_loss"] == pytest.approx(
        log_loss(y, posterior(X)), rel=0.03
    )


def test_rows_are_weighted_by_class_and_views_hold_both_places():
    y = MOVED.whole.y
    np.testing.assert_allclose(MOVED.whole.shares, SHARES, atol=1e-12)
    each = [log_loss(y[y == k], MOVED.whole.distributions["isotonic"][y == k]) for k in range(3)]
    assert MOVED.whole.metrics.loc["isotonic", "log_loss"] == pytest.approx(SHARES @ each)
    for k in range(3):
        view = MOVED.of(k)
        assert view.share == pytest.approx(SHARES[k])
        assert view.unadjusted.share == pytest.approx(np.mean(y == k))
        assert view.verdict.finding == view.unadjusted.verdict.finding
    P = MOVED.whole.distributions["none"]
    assert MOVED.y.tolist() == (P.argmax(axis=1) == y).tolist()
    np.testing.assert_array_equal(MOVED.predictions["none"].p, P.max(axis=1))
    with pytest.raises(InputError, match="Remove base_rates"):
        MOVED.of(1).fitted("isotonic")
    assert b"at the deployment class shares" in report_html(MOVED)


def test_folds_are_moved_each_from_its_own_shares_and_periods_keep_both_places():
    data = dataset(907, cluster=np.arange(907) // 7)
    recipe = RECIPE.replace(
        evaluation="folds", folds=3, calibrators=("none", "isotonic"), split="cluster", cluster="c"
    )
    found = evaluate(recipe, data)
    assert len({one.rate.fitted for one in found.whole.calibrators["isotonic"]}) > 1
    np.testing.assert_allclose(found.whole.shares, SHARES, atol=1e-12)
    rows = DATA.row_numbers[MOVED.rows]
    half = evaluate(RECIPE.replace(period=f"1..{rows[100]}"), DATA)
    assert len(half.y) == len(half.unadjusted.y) == len(half.whole.unadjusted.y) == 101
    np.testing.assert_array_equal(half.of(0).predictions["none"].p, MOVED.of(0).predictions["none"].p[:101])


def test_counts_at_stated_shares_are_their_rows():
    """All rows calibrate and all are judged, so that nothing but the form of the table differs."""
    X, y = drawn(150, 3)
    count = np.random.default_rng(0).integers(1, 5, 150)

    def judged(times, weight):
        at = np.repeat(np.arange(150), times).repeat(2)
        data = Dataset(
            "rows",
            pd.DataFrame(posterior(X[at]) ** 1.5, columns=NAMES).pipe(lambda t: t.div(t.sum(axis=1), axis=0)),
            y[at] == 2,
            labels=y[at],
            names=NAMES,
            predictions=True,
            columns={"p": NAMES},
            weight=weight,
            part=np.tile([1, 2], len(at) // 2),
        )
        return evaluate(
            RECIPE.replace(
                content="predictions", split="file", part="part", calibrators=("none", "isotonic", "vector")
            ),
            data,
        )

    counted, rows = judged(1, np.repeat(count, 2).astype(float)), judged(count, None)
    for key, P in counted.whole.distributions.items():
        np.testing.assert_allclose(np.repeat(P, count, axis=0), rows.whole.distributions[key], atol=1e-6)
    pd.testing.assert_frame_equal(counted.whole.metrics, rows.whole.metrics, rtol=1e-5)
    assert recommend(counted.whole).reasons == recommend(rows.whole).reasons
    advice = advise(counted.whole)
    assert advice.choice == advise(rows.whole).choice
    assert recommend(counted).choice == advice.choice or advice.start not in START_OF_CLASSES
    for one, other in (
        (counted.whole.differences(), rows.whole.differences()),
        (counted.whole.by_class("isotonic"), rows.whole.by_class("isotonic")),
    ):
        numbers = [name for name in one.columns if name not in ("rows", "calibrator", "metric")]
        pd.testing.assert_frame_equal(one[numbers], other[numbers], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("key", KEYS)
def test_saved_calibrators_and_programs_say_what_predict_says(key):
    text = calibrator_json(MOVED, key)
    assert json.loads(text)["base_rate"]["stated"] == pytest.approx(SHARES)
    saved, scores = read_calibrator(text), MOVED.whole.scores
    answer = saved.predict(scores)
    np.testing.assert_allclose(answer.p, MOVED.whole.distributions[key], rtol=1e-13)
    np.testing.assert_allclose(answer.p.sum(axis=1), 1, atol=1e-12)
    if key == "pairwise":
        return
    scores = np.vstack([scores[:40], np.eye(3)])
    answer = saved.predict(scores)
    wanted = [answer.p]
    if saved.gives_interval:
        wanted.append(np.stack([answer.p0, answer.p1], axis=2).reshape(len(scores), -1))
    for engine in (engines.sqlite, engines.onnx, engines.python, engines.javascript):
        np.testing.assert_allclose(
            engine(saved, scores), np.hstack(wanted), atol=1e-11, err_msg=engine.__name__
        )


def test_a_classifier_takes_the_shares_in_the_order_of_its_classes():
    X, y = drawn(600, 5)
    labels = np.array(NAMES)[y]
    plain = CalibratedClassifier(GaussianNB(), "vector", random_state=0).fit(X, labels)
    moved = CalibratedClassifier(GaussianNB(), "vector", random_state=0, base_rate=SHARES).fit(X, labels)
    expected = plain.predict_proba(X) * SHARES / (np.bincount(plain.placed_.y) / len(plain.placed_.y))
    np.testing.assert_allclose(
        moved.predict_proba(X), expected / expected.sum(axis=1, keepdims=True), atol=1e-12
    )
    for wrong in (0.3, SHARES[:2] / SHARES[:2].sum()):
        with pytest.raises(InputError, match="base_rate"):
            CalibratedClassifier(GaussianNB(), "vector", base_rate=wrong).fit(X, labels)


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ({"a": 0.5, "b": 0.5}, "'c' is missing"),
        ({"a": 0.2, "b": 0.3, "d": 0.5}, "'d' is not a class"),
    ],
)
def test_shares_of_other_classes_are_refused_by_name(rates, said):
    with pytest.raises(InputError, match=said):
        evaluate(RECIPE.replace(base_rates=rates), DATA)


def test_a_class_that_rows_lack_cannot_be_adjusted():
    X, y = drawn(300, 0)
    kept = np.r_[np.flatnonzero(y != 2), np.flatnonzero(y == 2)[:1]]
    data = Dataset("few", pd.DataFrame(X[kept]), y[kept] == 2, labels=y[kept], names=NAMES)
    with pytest.raises(InputError, match="class 'c'.*share"):
        evaluate(RECIPE, data)
    two = Dataset("two", pd.DataFrame(X), y == 1)
    with pytest.raises(InputError, match="base_rates applies only to three"):
        evaluate(RECIPE.replace(calibrators=("none",)), two)


def test_em_ends_at_the_maximum_of_the_likelihood_and_intervals_at_its_profile():
    P = posterior(drawn(500, 7, SHARES)[0])
    table = estimate_base_rates(P, FITTED).table

    def likelihood(rate):
        return np.log((P / FITTED) @ rate).sum()

    def profile(k, share):
        others = [j for j in range(3) if j != k]

        def of(z):
            rate = np.empty(3)
            rate[k], part = share, 1 / (1 + np.exp(-z[0]))
            rate[others] = (1 - share) * np.array([part, 1 - part])
            return -likelihood(rate)

        return -minimize(of, [0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11}).fun

    by_em = np.full(3, 1 / 3)
    for _ in range(5000):
        moved = P / FITTED * by_em
        by_em = (moved / moved.sum(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(table["rate"], by_em, atol=1e-7)
    for k, line in enumerate(table.itertuples()):
        for end in (line.lower, line.upper):
            assert 2 * (likelihood(by_em) - profile(k, end)) == pytest.approx(chi2.ppf(0.95, 1), abs=1e-3)


def test_of_two_classes_the_shares_are_those_of_two():
    P = posterior(drawn(400, 8, SHARES)[0])[:, :2]
    P /= P.sum(axis=1, keepdims=True)
    k, two = estimate_base_rates(P, [0.6, 0.4]).table.loc[1], estimate_base_rate(P[:, 1], 0.4)
    assert (k.rate, k.lower, k.upper) == pytest.approx((two.rate, two.lower, two.upper), abs=1e-5)


def test_intervals_hold_the_shares_as_often_as_they_say_and_weights_repeat_rows():
    held = np.zeros(3)
    for seed in range(200):
        table = estimate_base_rates(posterior(drawn(300, seed, SHARES)[0]), FITTED).table
        held += (table["lower"] <= SHARES) & (table["upper"] >= SHARES)
    assert (np.abs(held / 200 - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 200)).all()
    P, count = posterior(drawn(200, 1, SHARES)[0]), np.random.default_rng(0).integers(0, 4, 200)
    one, other = (
        estimate_base_rates(P, FITTED, sample_weight=count),
        estimate_base_rates(P.repeat(count, axis=0), FITTED),
    )
    pd.testing.assert_frame_equal(one.table, other.table, rtol=1e-5)
    assert one.rows == other.rows == count.sum()
    with pytest.raises(InputError, match="does not separate"):
        estimate_base_rates(np.tile(FITTED, (5, 1)), FITTED)


def test_rows_of_another_table_give_their_own_shares():
    fitted = fit(RECIPE, DATA)
    found = calibrate(RECIPE, fitted)
    X, _ = drawn(20_000, 9, SHARES)
    for key in ("none", "isotonic", "structured_matrix"):
        estimate = estimate_of_rows(found, fitted, pd.DataFrame(X, columns=["x1", "x2"]), key)
        assert estimate.table.index.tolist() == list(NAMES)
        np.testing.assert_allclose(estimate.table["rate"], SHARES, atol=0.06)
        assert "no other share changes more" in estimate.finding
