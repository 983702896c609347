"""The held-out share, by hand; the validity theorem by simulation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calib.calibrators import CALIBRATORS, Isotonic, VennAbers
from calib.kernel.checks import InputError
from calib.models import GivenScores, ProbabilityForest
from calib.placements import PLACEMENTS

from .helpers import NEW, X, Y


def test_by_hand():
    placed = PLACEMENTS["split"]().fit(LogisticRegression(), X, Y, calibration_size=0.4, random_state=7)
    train, held_out = train_test_split(np.arange(150), test_size=0.4, stratify=Y, random_state=7)
    model = LogisticRegression().fit(X[train], Y[train])
    scores = model.predict_proba(X[held_out])[:, 1]
    assert np.array_equal(placed.index, held_out)
    assert np.array_equal(placed.scores, scores)
    tests = placed.score(NEW)
    pair = VennAbers().fit(scores, Y[held_out]).predict_interval(model.predict_proba(NEW)[:, 1])
    outcome = placed.predict(placed.calibrate(VennAbers()), tests)
    assert np.array_equal(np.column_stack([outcome.p0, outcome.p1]), pair)
    iso = Isotonic().fit(scores, Y[held_out]).predict(model.predict_proba(NEW)[:, 1])
    assert np.array_equal(placed.predict(placed.calibrate(Isotonic()), tests).p, iso)


def test_both_parts_have_the_classes_in_proportion():
    y = np.zeros(150, dtype=int)
    y[:30] = 1
    placed = PLACEMENTS["split"]().fit(LogisticRegression(), X, y, random_state=0)
    assert (len(placed.y), placed.y.sum()) == (50, 10)


def test_rank_sees_every_tree_on_the_held_out_rows():
    placed = PLACEMENTS["split"]().fit(
        ProbabilityForest(6, leaf="laplace", random_state=0), X, Y, random_state=0
    )
    assert np.array_equal(placed.tree_scores, placed.model.tree_scores(X[placed.index]))
    rank = CALIBRATORS["rank"]().fit(placed.model.tree_scores(X[placed.index]), placed.y)
    outcome = placed.predict(placed.calibrate(CALIBRATORS["rank"]()), placed.score(NEW))
    assert np.array_equal(outcome.p, rank.predict(placed.model.tree_scores(NEW)))


@pytest.mark.parametrize(
    "ensemble", [RandomForestClassifier(6, random_state=0), BaggingClassifier(n_estimators=6)]
)
def test_rank_takes_the_trees_of_any_bagged_ensemble(ensemble):
    placed = PLACEMENTS["split"]().fit(make_pipeline(StandardScaler(), ensemble), X, Y, random_state=0)
    scaled, trees = placed.model[0].transform, placed.model[-1].estimators_
    held_out, new = (
        np.column_stack([t.predict_proba(scaled(z))[:, 1] for t in trees]) for z in (X[placed.index], NEW)
    )
    outcome = placed.predict(placed.calibrate(CALIBRATORS["rank"]()), placed.score(NEW))
    np.testing.assert_allclose(
        outcome.p, CALIBRATORS["rank"]().fit(held_out, placed.y).predict(new), atol=1e-12
    )


def test_scores_made_elsewhere_all_calibrate():
    table = pd.DataFrame({"s": np.linspace(0, 1, 150)})
    placed = PLACEMENTS["split"]().fit(GivenScores("s"), table, Y, random_state=0)
    assert np.array_equal(placed.scores, table["s"])
    assert np.array_equal(placed.index, np.arange(150))
    assert "all rows outside the test set" in placed.notes[0]


def test_a_fitted_pipeline_is_calibrated_and_not_refitted():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:50], Y[:50])
    before = pipeline.predict_proba(NEW)
    placed = PLACEMENTS["split"]().fit(FrozenEstimator(pipeline), X[50:], Y[50:], random_state=0)
    assert np.array_equal(placed.scores, pipeline.predict_proba(X[50:])[:, 1])
    assert np.array_equal(placed.score(NEW).scores, before[:, 1])


@pytest.mark.parametrize("ones", [1, 2])
def test_too_few_of_a_class_for_two_parts_are_refused(ones):
    y = np.zeros(40, dtype=int)
    y[:ones] = 1
    if ones == 2:
        PLACEMENTS["split"]().fit(LogisticRegression(), X[:40], y, calibration_size=0.5, random_state=0)
    else:
        with pytest.raises(InputError, match=r"\b1 .*minority class.*'cv' or 'oob'"):
            PLACEMENTS["split"]().fit(LogisticRegression(), X[:40], y, random_state=0)


def selected(outcome, y):
    """P_Y: p1 for objects of class 1 and p0 for the others, which theorem 1 says is right on average."""
    return np.where(y == 1, outcome.p1, outcome.p0)


@pytest.mark.parametrize("calibrator", ["venn", "venn_abers"])
def test_validity_theorem(calibrator):
    """mean p0 <= frequency <= mean p1 within sampling error, and E(Y − P_Y) = 0, over many calibration sets."""
    rng = np.random.default_rng(0)
    lower, upper, observed, gaps = [], [], [], []
    for seed in range(250):
        x = rng.normal(size=(70, 1))
        y = (rng.random(70) < 1 / (1 + np.exp(-3 * x[:, 0] + 1))).astype(int)
        train, new = slice(0, 40), slice(40, 70)
        if y[train].min() == y[train].max():
            continue
        placed = PLACEMENTS["split"]().fit(GaussianNB(), x[train], y[train], random_state=seed)
        outcome = placed.predict(placed.calibrate(CALIBRATORS[calibrator]()), placed.score(x[new]))
        lower.append(outcome.p0.mean())
        upper.append(outcome.p1.mean())
        observed.append(y[new].mean())
        gaps.append((y[new] - selected(outcome, y[new])).mean())
    error = np.std(observed) / np.sqrt(len(observed))
    assert np.mean(lower) <= np.mean(observed) + 3 * error
    assert np.mean(observed) <= np.mean(upper) + 3 * error
    assert np.mean(upper) - np.mean(lower) > 6 * error, (
        "the interval is wide enough for the check to mean something"
    )
    # The stratified split leaves a trace of the training labels' frequency, of order 1/n.
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / np.sqrt(len(gaps)) + 0.005
