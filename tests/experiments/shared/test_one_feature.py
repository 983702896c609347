"""Many small data sets at once say what each of them says alone."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from calib.calibrators import VennAbers
from calib.experiments.shared.one_feature import NormalClasses, WindowScorer, isotonic_rows, venn_abers_pairs


def by_definition(scores, y):
    """min-max formula: g(s) = max over a <= s of min over b >= s of the mean label with scores in [a, b]; fractions."""
    values = sorted(set(scores))

    def mean(a, b):
        inside = [label for s, label in zip(scores, y, strict=True) if a <= s <= b]
        return Fraction(sum(inside), len(inside))

    fit = {s: max(min(mean(a, b) for b in values if b >= s) for a in values if a <= s) for s in values}
    return [fit[s] for s in scores]


@given(
    st.integers(2, 7).flatmap(
        lambda k: st.lists(
            st.tuples(
                st.lists(st.integers(0, 4), min_size=k, max_size=k),
                st.lists(st.integers(0, 1), min_size=k, max_size=k),
            ),
            min_size=1,
            max_size=5,
        )
    )
)
def test_every_row_is_fitted_as_if_it_were_alone_and_exactly(rows):
    scores, y = (np.array([row[i] for row in rows]) for i in (0, 1))
    expected = [[float(value) for value in by_definition(*row)] for row in rows]
    assert isotonic_rows(scores.astype(float), y).tolist() == expected


def test_pairs_are_those_of_the_inductive_predictor():
    rng = np.random.default_rng(0)
    scores, y = rng.integers(0, 12, (40, 31)).astype(float), rng.integers(0, 2, (40, 30))
    p0, p1 = venn_abers_pairs(scores, scores, y)
    alone = [
        VennAbers().fit(s[:-1], labels).predict_interval(s[-1:])[0]
        for s, labels in zip(scores, y, strict=True)
    ]
    assert np.array_equal(np.column_stack([p0, p1]), alone)


def test_the_posterior_is_bayes_rule():
    classes, x = NormalClasses(1.3), np.linspace(-3, 4, 15)
    one, zero = norm.pdf(x, 1.3), norm.pdf(x)
    assert classes.posterior(x) == pytest.approx(one / (one + zero), abs=1e-12)


def test_draws_are_independent_labels_and_normal_features():
    x, y = NormalClasses(2.0).draw((200_000,), np.random.default_rng(0))
    assert y.mean() == pytest.approx(0.5, abs=0.005)
    assert (x[y == 1].mean(), x[y == 0].mean(), x[y == 1].std()) == pytest.approx((2, 0, 1), abs=0.01)
    share = quad(lambda at: NormalClasses(2.0).posterior(at) * (norm.pdf(at) + norm.pdf(at, 2)) / 2, -10, 12)[
        0
    ]
    assert share == pytest.approx(0.5, abs=1e-9)


def window_score(x, y, at, window):
    weights = [np.exp(-((at - other) ** 2) / (2 * window**2)) for other in x]
    return sum(w * label for w, label in zip(weights, y, strict=True)) / sum(weights)


@pytest.mark.parametrize("window", [0.1, 1.0])
def test_the_scorer_is_the_weighted_mean_label_and_refits_with_an_object(window):
    rng = np.random.default_rng(1)
    x, y, new = rng.normal(size=(3, 8)), rng.integers(0, 2, (3, 8)), rng.normal(size=(3, 2))
    scorer = WindowScorer.fit(x, y, window)
    for row in range(3):
        assert scorer.training[row] == pytest.approx(
            [window_score(x[row], y[row], at, window) for at in x[row]], abs=1e-12
        )
        assert scorer.new(new)[row] == pytest.approx(
            [window_score(x[row], y[row], at, window) for at in new[row]], abs=1e-9
        )
        for label in (0, 1):
            more_x, more_y = np.append(x[row], new[row, 0]), np.append(y[row], label)
            refitted = [window_score(more_x, more_y, at, window) for at in more_x]
            assert scorer.with_object(new[:, 0], label)[row] == pytest.approx(refitted, abs=1e-12)
    assert np.array_equal(scorer.repeated(2).training[1], scorer.training[0])


def test_far_from_every_training_object_the_score_is_one_half():
    scorer = WindowScorer.fit(np.zeros((1, 2)), np.array([[1, 1]]), 0.02)
    assert scorer.new(np.array([[50.0]])).tolist() == [[0.5]]
