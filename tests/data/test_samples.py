"""The samples load, are what their README says, and can be made again."""

import gzip
import hashlib
import importlib.util
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from calib.data import (
    DEFAULT_SAMPLE,
    SAMPLES,
    DataError,
    load_sample,
    read_table,
    sample_table,
    samples,
    validate,
)

FOLDER = Path(__file__).parents[2] / "sample_data"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
CHECKSUMS = dict(re.findall(r"`(\w+\.csv\.gz)` \|[^|]*\| `([0-9a-f]{64})`", README))


def text_digest(path):
    return hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest()


def gaps(y, p, bins=10):
    """(share of rows, frequency − mean probability) of each filled bin of equal width."""
    index = np.minimum(bins - 1, (p * bins + 1e-9).astype(int))
    return [(np.mean(index == b), y[index == b].mean() - p[index == b].mean()) for b in np.unique(index)]


def calibration_error(y, p):
    return sum(share * abs(gap) for share, gap in gaps(y, p))


@pytest.mark.parametrize("key", SAMPLES)
def test_a_sample_loads_without_an_error(key):
    data, (frame, target, positive) = load_sample(key), sample_table(key)
    assert data.joint == (positive is None)
    assert data.joint or data.classes[1] == positive
    assert set(data.y) == {0, 1}
    assert data.predictions == SAMPLES[key].predictions
    assert not [problem for problem in validate(frame, target, positive) if problem.severity == "error"]
    assert SAMPLES[key].why.endswith(".")
    assert (FOLDER / SAMPLES[key].file).stat().st_size < 100_000


def test_the_samples_are_of_every_kind_asked_for():
    assert DEFAULT_SAMPLE in SAMPLES
    assert len(SAMPLES) >= 4
    assert load_sample("rare_faults").y.mean() < 0.05
    loans = load_sample("loans").X
    assert loans.isna().any().sum() >= 3
    assert (loans.dtypes == "category").sum() >= 3
    assert load_sample("predictions").X.shape[1] == 3


def test_checksums_are_those_of_the_files():
    assert {path.name: text_digest(path) for path in FOLDER.glob("*.gz")} == CHECKSUMS
    assert CHECKSUMS.keys() == {sample.file for sample in SAMPLES.values()}


def test_making_them_again_gives_the_same_files(tmp_path):
    if not (sklearn.__version__.startswith("1.9.") and np.__version__.startswith("2.4.")):
        pytest.skip(
            "the checksums are those of scikit-learn 1.9 and NumPy 2.4, and other versions may draw otherwise"
        )
    spec = importlib.util.spec_from_file_location("make", FOLDER / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    make.make(tmp_path)
    assert {path.name: text_digest(path) for path in tmp_path.iterdir()} == CHECKSUMS


def test_the_real_ones_are_scikit_learn_s():
    frame, target, _ = sample_table("digits")
    X, y = sklearn.datasets.load_digits(return_X_y=True)
    np.testing.assert_array_equal(frame.drop(columns=target).to_numpy(), X)
    np.testing.assert_array_equal(frame[target] == "odd", y % 2 == 1)
    np.testing.assert_array_equal(load_sample("all_digits").labels, y)
    pd.testing.assert_frame_equal(load_sample("all_digits").X, load_sample("digits").X)
    frame, target, _ = sample_table("breast_cancer")
    X, y = sklearn.datasets.load_breast_cancer(return_X_y=True)
    np.testing.assert_array_equal(frame.drop(columns=target).to_numpy(), X)
    np.testing.assert_array_equal(frame[target] == "benign", y == 1)


def test_all_digits_show_an_underconfident_model():
    data = load_sample("all_digits")
    train, test, train_label, label = train_test_split(
        data.X, data.labels, test_size=0.3, random_state=0, stratify=data.labels
    )
    P = RandomForestClassifier(random_state=0).fit(train, train_label).predict_proba(test)
    confidence, right = P.max(axis=1), P.argmax(axis=1) == label
    assert abs(right.mean() - 0.97) < 0.01
    assert abs(confidence.mean() - 0.76) < 0.01
    assert right[confidence > 0.6].all()


def test_the_first_sample_shows_miscalibration_at_first_sight():
    data = load_sample(DEFAULT_SAMPLE)
    train, test, y_train, y_test = train_test_split(
        data.X, data.y, test_size=0.3, random_state=0, stratify=data.y
    )
    p = RandomForestClassifier(random_state=0).fit(train, y_train).predict_proba(test)[:, 1]
    rng = np.random.default_rng(0)
    by_chance = [calibration_error((rng.random(len(p)) < p).astype(int), p) for _ in range(100)]
    assert calibration_error(y_test, p) > 1.5 * max(by_chance)


def test_the_predictions_are_too_bold_too_modest_and_no_probabilities():
    data = load_sample("predictions")
    above = {
        name: data.y[data.X[name] > 0.7].mean() - data.X[name][data.X[name] > 0.7].mean() for name in data.X
    }
    below = {
        name: data.y[data.X[name] < 0.3].mean() - data.X[name][data.X[name] < 0.3].mean() for name in data.X
    }
    assert above["naive_bayes"] < -0.1 < 0.05 < below["naive_bayes"]
    assert above["forest"] > 0.1 > -0.1 > below["forest"]
    assert data.X["svm_margin"].min() < -1
    assert data.X["svm_margin"].max() > 1


def test_gaps_in_the_loans_say_something():
    frame, target, _ = sample_table("loans")
    hidden = frame["income"].isna()
    default = frame[target] == "default"
    assert hidden[default].mean() > 2 * hidden[~default].mean()


def test_a_sample_that_is_not_there_is_refused_with_the_remedy(monkeypatch, tmp_path):
    with pytest.raises(DataError, match="Sample 'moons' does not exist"):
        load_sample("moons")
    monkeypatch.setattr(samples, "SAMPLES_FOLDER", tmp_path)
    samples._read.cache_clear()
    try:
        with pytest.raises(DataError, match="clone of the repository"):
            load_sample("digits")
    finally:
        samples._read.cache_clear()


def test_a_sample_changed_by_one_is_whole_for_the_next():
    frame, target, _ = sample_table("loans")
    frame[target] = "paid"
    del frame["age"]
    again, _, _ = sample_table("loans")
    pd.testing.assert_frame_equal(again, read_table(FOLDER / "loans.csv.gz"))
