"""Histogram binning answers with the frequency in the bin."""

import numpy as np
import pandas as pd
import pytest

from calib.calibrators.histogram import Histogram


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 5, 3000)
    return scores, (rng.random(3000) < scores).astype(int)


def test_bins_of_equal_count_are_those_of_pandas(rows):
    scores, y = rows
    means = pd.Series(y).groupby(pd.qcut(scores, 10, labels=False)).transform("mean")
    assert Histogram().fit(scores, y).predict(scores) == pytest.approx(means.to_numpy())


def test_bins_of_equal_width_are_counted_by_hand(rows):
    scores, y = rows
    fitted = Histogram(bins=20, strategy="uniform").fit(scores, y)
    for k in range(20):
        inside = (scores >= k / 20) & (scores < (k + 1) / 20)
        middle = (k + 0.5) / 20
        if not inside.any() and not scores.min() < middle < scores.max():  # beyond: the outermost frequency
            end = scores.min() if middle < scores.min() else scores.max()
            inside, middle = np.floor(scores * 20) == np.floor(end * 20), end
        assert fitted.predict([middle])[0] == pytest.approx(y[inside].mean() if inside.any() else middle)


def test_tied_scores_make_fewer_bins():
    fitted = Histogram(bins=10).fit([0.2] * 50 + [0.7] * 50, [0, 1] * 25 + [1] * 50)
    assert fitted.counts_.tolist() == [50, 50]
    assert fitted.predict([0.2, 0.7]) == pytest.approx([0.5, 1.0])
