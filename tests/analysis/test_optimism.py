"""Correction for optimism: held against the definition, against new rows, and against an interrupted run."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from calib import validate
from calib.analysis.optimism import VALIDATED_MEASURES
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from tests.saying import says

PLAIN = LogisticRegression(C=np.inf)


def rows(n=120, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (rng.random(n) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)


def quick(X, y, **options):
    return validate(options.pop("estimator", PLAIN), X, y, 20, **{"repeats": 1, "splits": 5, **options})


def test_optimism_is_that_of_the_definition():
    X, y = rows()
    found = quick(X, y)
    scores = {"brier": brier_score_loss, "auc": roc_auc_score}
    optimism, within = {key: [] for key in scores}, {key: [] for key in scores}
    for i in range(20):
        rng = np.random.default_rng([0, 0, i])
        at = rng.integers(0, 120, 120)
        again = [at[rng.integers(0, 120, 120)] for _ in range(2)]
        for rows_of, test, into in ((at, np.arange(120), optimism), *((each, at, within) for each in again)):
            p = LogisticRegression(C=np.inf).fit(X[rows_of], y[rows_of]).predict_proba(X)[:, 1]
            for key, score in scores.items():
                into[key].append(score(y[rows_of], p[rows_of]) - score(y[test], p[test]))
    p = PLAIN.fit(X, y).predict_proba(X)[:, 1]
    table = found.table()
    for key, score in scores.items():
        inner = np.reshape(within[key], (20, 2))
        noise = inner.var(axis=1, ddof=1).mean() / 2
        error = np.var(optimism[key] - inner.mean(axis=1), ddof=1) - noise
        half = 1.959964 * np.sqrt(max(error, np.var(optimism[key], ddof=1)))
        assert_allclose(table.loc[key, "apparent"], score(y, p))
        assert_allclose(table.loc[key, "corrected"], score(y, p) - np.mean(optimism[key]))
        assert_allclose(table.loc[key, "high"] - table.loc[key, "low"], 2 * half, rtol=1e-6)


def test_the_apparent_slope_of_maximum_likelihood_is_1_and_the_corrected_one_shrinks():
    table = quick(*rows()).table()
    assert_allclose(table.loc["slope", "apparent"], 1, atol=1e-3)
    assert_allclose(table.loc["intercept", "apparent"], 0, atol=1e-3)
    assert 0.3 < table.loc["slope", "corrected"] < 0.9
    assert table.loc["slope", "low"] < table.loc["slope", "corrected"] < table.loc["slope", "high"]


def test_corrected_measures_are_those_of_rms_within_the_error_of_resampling():
    """``rms::validate`` 6.5 in R 4.2.2, with 2,000 resamples of the same rows."""
    i = np.arange(1, 151)
    steps = (0.6180339887, 0.7548776662, 0.5698402910, 0.8191725134, 0.6710436067, 0.5497004779)
    X = norm.ppf(np.column_stack([(i * step) % 1 * 0.998 + 0.001 for step in steps]))
    y = ((i * 0.3247179572) % 1 < 1 / (1 + np.exp(0.5 - X[:, 0]))).astype(int)
    found = validate(PLAIN, X, y, 200, repeats=1, splits=1)
    optimism = pd.DataFrame(found.train - found.test, columns=list(VALIDATED_MEASURES))
    rms = {"slope": 0.849846272832, "intercept": -0.055486089994, "brier": 0.202953163768}
    for key, value in {**rms, "auc": (0.486551184746 + 1) / 2}.items():
        error = optimism[key].std() * np.sqrt(1 / 200 + 1 / 2000)
        assert abs(found.table().loc[key, "corrected"] - value) < 3 * error


def test_corrected_measures_are_nearer_to_those_of_new_rows_than_apparent_ones():
    true, apparent, corrected = [], [], []
    new = rows(20_000, seed=99)
    for seed in range(8):
        X, y = rows(seed=seed)
        p = PLAIN.fit(X, y).predict_proba(new[0])[:, 1]
        true.append(roc_auc_score(new[1], p))
        table = quick(X, y, splits=1, folds=2).table()
        apparent.append(table.loc["auc", "apparent"])
        corrected.append(table.loc["auc", "corrected"])
    assert np.mean(apparent) - np.mean(true) > 0.06
    assert abs(np.mean(corrected) - np.mean(true)) < 0.03


def test_plus_632_of_noise_says_that_there_is_no_information():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 15)), np.tile([0, 1], 50)
    found = quick(X, y)
    table = found.table()
    assert table.loc["auc", "apparent"] > 0.65
    assert table.loc["auc", "plus_632"] < 0.58
    at = VALIDATED_MEASURES.index("brier")
    out, apparent = found.out[:, at].mean(), found.apparent[at]
    none = 0.5 * np.mean((1 - found.predictions) ** 2) + 0.5 * np.mean(found.predictions**2)
    overfitting = min((min(out, none) - apparent) / (none - apparent), 1)
    share = 0.632 / (1 - 0.368 * overfitting)
    assert_allclose(table.loc["brier", "plus_632"], (1 - share) * apparent + share * min(out, none))


def test_a_run_that_was_cancelled_continues_and_processes_change_nothing(tmp_path):
    X, y = rows()
    whole, kept = quick(X, y), tmp_path / "run.jsonl"
    watch = Watch(lambda share, what: share > 0.3 and watch.cancel.set())
    with pytest.raises(Cancelled) as stopped:
        quick(X, y, resume=kept, watch=watch)
    assert says(stopped.value.__notes__[0], "of 26 fits", "with the same resume")
    done = kept.read_text().splitlines()
    assert 1 < len(done) < 20
    kept.write_text("\n".join(done)[:-20])  # the last line was cut
    again = quick(X, y, resume=kept, n_jobs=2)
    pd.testing.assert_frame_equal(again.table(), whole.table())
    pd.testing.assert_frame_equal(again.curve, whole.curve)
    assert len(kept.read_text().splitlines()) >= 27
    with pytest.raises(InputError, match=r"belongs to another run.*Name another file"):
        quick(X, 1 - y, resume=kept)


def test_a_dictionary_keeps_the_fits_and_more_resamples_continue_from_it():
    (X, y), kept = rows(), {}
    quick(X, y, resume=kept)
    fits, watch = [], Watch(lambda share, what: fits.append(share))
    again = validate(PLAIN, X, y, 25, repeats=1, splits=5, resume=kept, watch=watch)
    assert len(fits) == 5 + 1
    whole = validate(PLAIN, X, y, 25, repeats=1, splits=5)
    pd.testing.assert_frame_equal(again.table(), whole.table())
    with pytest.raises(InputError, match=r"another run.*empty dictionary"):
        quick(X, 1 - y, resume=kept)


def test_an_estimator_that_cannot_be_pickled_is_validated():
    X, y = rows()
    step = FunctionTransformer(lambda part: part[:, :4])
    found = quick(X, y, estimator=make_pipeline(step, LogisticRegression(C=np.inf)))
    assert_allclose(found.corrected, quick(X[:, :4], y).corrected)


def test_intervals_stay_within_the_range_of_the_measure():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = rng.random(300) < 1 / (1 + np.exp(-X[:, 0]))
    found = quick(X, y)
    at = VALIDATED_MEASURES.index("ici")
    assert found.corrected[at] - 1.96 * found.standard_error[at] < 0
    assert found.table().loc["ici", "low"] == 0


def test_clusters_are_resampled_and_held_out_whole():
    X, y = rows()
    whose = np.repeat([f"centre {i}" for i in range(12)], 10)
    found = quick(X, y, groups=whose, folds=4)
    at = found.model.drawn(np.random.default_rng(3))[1]
    left_out = np.setdiff1d(np.arange(120), at)
    assert not set(whose[at]) & set(whose[left_out])
    assert set(np.bincount(at, minlength=120)[:10]) == {np.bincount(at, minlength=120)[0]}


def test_every_step_of_a_pipeline_is_repeated_and_labels_may_be_words():
    X, y = rows()
    X = X.copy()
    X[::7, 0] = np.nan
    pipeline = make_pipeline(SimpleImputer(), GridSearchCV(LogisticRegression(), {"C": [0.01, 1]}, cv=3))
    found = quick(pd.DataFrame(X), np.where(y == 1, "dead", "alive"), estimator=pipeline)
    assert found.y.tolist() == y.tolist()
    assert says(found.sentence, "slope", "AUC", "single splits")


def test_weights_are_repeated_rows():
    X, y = rows(60, 3)
    times = np.random.default_rng(0).integers(1, 4, 60)
    weighted = validate(PLAIN, X, y, 20, sample_weight=times.astype(float), repeats=1, splits=1)
    repeated = validate(PLAIN, np.repeat(X, times, axis=0), np.repeat(y, times), 20, repeats=1, splits=1)
    assert_allclose(weighted.apparent[:6], repeated.apparent[:6], rtol=1e-3, atol=1e-4)


def test_the_corrected_curve_is_flatter_than_the_apparent_one():
    found = quick(*rows(300, 20))
    curve = found.curve.dropna()
    bend = curve["apparent"] - curve["corrected"]
    assert bend.iloc[-8:].mean() > 0.02
    assert bend.iloc[:8].mean() < -0.02


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"B": 5}, r"B must be a whole number of at least 20"),
        ({"folds": 1}, r"folds must be a whole number of at least 2"),
        ({"folds": 90}, r"folds must be at most \d+, the number of rows of the minority class"),
        ({"y": np.zeros(120, int)}, r"only the label '0'|minority class has 0"),
        ({"y": np.arange(120) < 4}, r"minority class has 4 rows.*at least 10"),
        ({"y": np.zeros(7, int)}, r"[Ll]ength|only"),
        ({"estimator": RidgeClassifier()}, r"no predict_proba.*wrap"),
        ({"sample_weight": np.r_[0, np.ones(119)]}, r"sample_weight must be positive"),
        ({"groups": np.arange(120), "cluster": np.arange(120)}, r"Give only one of them"),
        ({"X": np.full((120, 12), np.nan)}, r"fails on all rows \(ValueError"),
    ],
)
def test_bad_input_gets_one_message_with_the_remedy(change, said):
    X, y = rows()
    given = {"estimator": PLAIN, "X": X, "y": y, "B": 20, **change}
    with pytest.raises(InputError, match=said):
        validate(**given)
