"""Cross-calibration by hand; the merging of folds by its formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from calib.calibrators import Platt, Venn, VennAbers, merge_pair
from calib.kernel.checks import InputError
from calib.placements import PLACEMENTS
from calib.placements.cross_validation import merge_folds

from .helpers import NEW, X, Y


def geometric_mean(values):
    return np.prod(values) ** (1 / len(values))


def test_pooled_out_of_fold_scores_by_hand():
    placed = PLACEMENTS["cv"]().fit(LogisticRegression(), X, Y, cv=4, random_state=2)
    scores = np.empty(150)
    for train, test in StratifiedKFold(4, shuffle=True, random_state=2).split(X, Y):
        scores[test] = LogisticRegression().fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
    assert np.array_equal(placed.scores, scores)
    refitted = LogisticRegression().fit(X, Y).predict_proba(NEW)[:, 1]
    for on in ("score", "log-odds"):
        by_hand = Platt(on).fit(scores, Y).predict(refitted)
        assert np.array_equal(placed.predict(placed.calibrate(Platt(on)), placed.score(NEW)).p, by_hand)


@pytest.mark.parametrize("method", [VennAbers, Venn])
@pytest.mark.parametrize("rule", ["log", "square", "midpoint"])
def test_cross_venn_predictors_by_hand(method, rule):
    placed = PLACEMENTS["cv"]().fit(LogisticRegression(), X, Y, cv=4, random_state=2)
    pairs = []
    for train, test in StratifiedKFold(4, shuffle=True, random_state=2).split(X, Y):
        model = LogisticRegression().fit(X[train], Y[train])
        fitted = method().fit(model.predict_proba(X[test])[:, 1], Y[test])
        pairs.append(fitted.predict_interval(model.predict_proba(NEW)[:, 1]))
    outcome = placed.predict(placed.calibrate(method(merge=rule)), placed.score(NEW))
    for j in range(len(NEW)):
        p0, p1 = np.array([pair[j] for pair in pairs]).T
        if rule == "log":
            gm0, gm_not0 = geometric_mean(p0), geometric_mean(1 - p0)
            gm1, gm_not1 = geometric_mean(p1), geometric_mean(1 - p1)
            p, ends = gm1 / (gm_not0 + gm1), (gm0 / (gm0 + gm_not0), gm1 / (gm1 + gm_not1))
        else:
            merged = p1 + p0**2 / 2 - p1**2 / 2 if rule == "square" else (p0 + p1) / 2
            p, ends = merged.mean(), (p0.mean(), p1.mean())
        assert outcome.p[j] == pytest.approx(p, abs=1e-12)
        assert (outcome.p0[j], outcome.p1[j]) == pytest.approx(ends, abs=1e-12)


pairs = st.integers(1, 6).flatmap(
    lambda folds: st.tuples(
        arrays(float, (folds, 5), elements=st.floats(0, 0.999)),
        arrays(float, (folds, 5), elements=st.floats(0, 1)),
    )
)


@given(pairs, st.sampled_from(["log", "square", "midpoint"]))
def test_the_interval_never_crosses_and_always_holds_p(pair, rule):
    p0, share = pair
    p1 = np.clip(p0 + share * (1 - p0), max(1e-6, p0.min()), 1)
    p1 = np.maximum(p0, p1)
    merged = merge_folds(p0, p1, rule)
    assert (merged.lower <= merged.p).all()
    assert (merged.p <= merged.upper).all()
    assert ((merged.lower >= 0) & (merged.upper <= 1)).all()


@pytest.mark.parametrize("rule", ["log", "square", "midpoint"])
def test_folds_that_agree_are_merged_as_one(rule):
    p0, p1 = np.array([0.0, 0.2, 0.7]), np.array([0.3, 0.25, 1.0])
    merged = merge_folds(np.tile(p0, (3, 1)), np.tile(p1, (3, 1)), rule)
    assert np.allclose(merged.p, merge_pair(p0, p1, rule))
    assert np.allclose(merged.p0, p0)
    assert np.allclose(merged.p1, p1)


def test_p_can_leave_the_arithmetic_means_but_not_the_interval_shown():
    p0, p1 = np.array([[0.0], [0.0], [0.97]]), np.array([[0.001], [0.001], [0.98]])
    merged = merge_folds(p0, p1)
    assert not p0.mean() <= merged.p[0] <= p1.mean()
    assert merged.lower[0] <= merged.p[0] <= merged.upper[0]


def test_too_few_objects_for_the_folds_are_refused_with_the_remedy():
    y = np.zeros(150, dtype=int)
    y[:4] = 1
    with pytest.raises(InputError, match=r"cv=5 .*\b5 rows of each.*\b4\b.*fewer folds"):
        PLACEMENTS["cv"]().fit(LogisticRegression(), X, y)
