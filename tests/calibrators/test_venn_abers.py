"""Venn–Abers against its definition in exact fractions, against closed forms, and at size."""

import json
import tracemalloc

import numpy as np
import pytest
import venn_abers as package
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from calib.calibrators import VennAbers
from calib.kernel.checks import InputError
from tests import exact
from tests.vectors import vector


def random_case(rng):
    """A small calibration set: ties or none, outliers, one class, separable or reversed; queries everywhere."""
    n = int(rng.integers(1, 11))
    scores = (
        rng.integers(0, rng.integers(1, 9), n).astype(float) if rng.random() < 0.7 else rng.normal(size=n)
    )
    if rng.random() < 0.2:
        scores[0] = rng.choice([-1e300, 1e300, 1e-300])
    kind = rng.integers(6)
    y = rng.integers(0, 2, n)
    if kind == 0:
        y[:] = rng.integers(0, 2)
    elif kind == 1:
        y = (scores > np.median(scores)).astype(int)
    elif kind == 2:
        y = (scores < np.median(scores)).astype(int)
    distinct = np.unique(scores)
    between = distinct[:-1] / 2 + distinct[1:] / 2
    beyond = [np.nextafter(distinct[0], -np.inf), -1.5e300, np.nextafter(distinct[-1], np.inf), 1.5e300]
    return scores, y, np.concatenate([distinct, between, beyond])


@pytest.mark.parametrize(
    "block", [0, 1, *(pytest.param(block, marks=pytest.mark.soak) for block in range(2, 8))]
)
def test_pairs_are_the_definition_to_the_last_bit(block):
    """Thousands of small calibration sets, every query checked against two isotonic fits in fractions."""
    rng = np.random.default_rng(block)
    for _ in range(300):
        scores, y, new = random_case(rng)
        pairs = VennAbers().fit(scores, y).predict_interval(new)
        chosen = rng.permutation(len(new))[:4]
        expected = [exact.venn_abers(scores.tolist(), y.tolist(), new[j]) for j in chosen]
        assert pairs[chosen].tolist() == [[float(p0), float(p1)] for p0, p1 in expected], (
            scores,
            y,
            new[chosen],
        )


@pytest.mark.parametrize("name", ["ivap_basic", "ivap_ties", "ivap_all_zero", "ivap_all_one", "ivap_n1"])
def test_reference_vectors(name):
    case = vector(name)
    pairs = VennAbers().fit(case["cal_scores"], case["cal_labels"]).predict_interval(case["test_scores"])
    assert pairs.T.tolist() == [case["p0_float"], case["p1_float"]]


@pytest.mark.parametrize("grid", [None, 1, 2])
def test_pairs_of_medium_sets_are_two_isotonic_fits(grid):
    """scikit-learn, refitted for every query, on scores far enough apart that it takes none of them for ties."""
    rng = np.random.default_rng(5)
    n = 400
    scores = rng.normal(size=n).round(6 if grid is None else grid)
    y = (rng.random(n) < 1 / (1 + np.exp(-scores))).astype(int)
    new = np.concatenate([scores[:20], rng.normal(0, 2, 20).round(7)])
    pairs = VennAbers().fit(scores, y).predict_interval(new)
    for score, pair in zip(new, pairs, strict=True):
        for label in (0, 1):
            fit = IsotonicRegression().fit(np.append(scores, score), np.append(y, label))
            assert pair[label] == pytest.approx(fit.predict([score])[0], abs=1e-12)


@st.composite
def labelled_scores(draw):
    scores = draw(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
    return np.array(scores), np.array(
        draw(st.lists(st.integers(0, 1), min_size=len(scores), max_size=len(scores)))
    )


@given(labelled_scores())
def test_both_curves_increase_and_never_cross(case):
    scores, y = case
    new = np.sort(np.concatenate([scores, scores + 1e-7, np.linspace(-1e6, 1e6, 50)]))
    p0, p1 = VennAbers().fit(scores, y).predict_interval(new).T
    assert (p0 < p1).all()
    assert (np.diff(p0) >= 0).all()
    assert (np.diff(p1) >= 0).all()


@given(labelled_scores())
def test_swapping_the_classes_mirrors_the_pair(case):
    scores, y = case
    mirrored = VennAbers().fit(-scores, 1 - y).predict_interval(-scores)
    np.testing.assert_allclose(
        1 - mirrored[:, ::-1], VennAbers().fit(scores, y).predict_interval(scores), atol=1e-15
    )


@given(labelled_scores(), st.sampled_from([np.arctan, np.cbrt, lambda s: 3 * s - 1]))
def test_only_the_order_of_the_scores_matters(case, change):
    scores, y = case
    ranks = np.unique(scores, return_inverse=True)[1].astype(float)
    expected = VennAbers().fit(ranks, y).predict_interval(ranks)
    np.testing.assert_array_equal(VennAbers().fit(scores, y).predict_interval(scores), expected)
    changed = change(ranks)
    np.testing.assert_array_equal(VennAbers().fit(changed, y).predict_interval(changed), expected)


@given(st.integers(1, 40), st.integers(0, 1), st.integers(0, 1000))
def test_one_class_has_a_closed_form(n, label, seed):
    """All zeros: p0 = 0, p1 = 1 / (1 + number of scores >= s); all ones the mirror image."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 10, n)
    new = np.arange(-1, 12) / 1.0
    p0, p1 = VennAbers().fit(scores, np.full(n, label)).predict_interval(new).T
    if label == 0:
        assert (p0 == 0).all()
        assert p1.tolist() == [1 / (1 + (scores >= s).sum()) for s in new]
    else:
        assert (p1 == 1).all()
        counts = [(scores <= s).sum() for s in new]
        assert p0.tolist() == [count / (1 + count) for count in counts]


@pytest.mark.filterwarnings("ignore:All-NaN slice")
@pytest.mark.parametrize("decimals", [1, 2, 15])
@pytest.mark.parametrize("kind", ["mixed", "zeros", "ones", "separable"])
def test_the_package_venn_abers_agrees(decimals, kind):
    rng = np.random.default_rng(11)
    scores, new = rng.random(300).round(decimals), rng.random(200).round(decimals)
    mixed = rng.random(300) < scores
    y = {"mixed": mixed, "zeros": 0 * mixed, "ones": mixed | True, "separable": scores > 0.5}[kind].astype(
        int
    )
    peer = package.VennAbers().fit(np.column_stack([1 - scores, scores]), y)
    p0, p1 = peer.predict_proba(np.column_stack([1 - new, new]))[1].T
    np.testing.assert_allclose(
        VennAbers().fit(scores, y).predict_interval(new), np.column_stack([p0, p1]), atol=1e-12
    )


def test_beyond_the_calibration_scores():
    pairs = VennAbers().fit([0.2, 0.4, 0.6], [0, 1, 0]).predict_interval([-5, 0.2, 0.6, 5])
    assert pairs[0, 0] == 0
    assert pairs[-1, 1] == 1
    assert pairs[1, 0] == 0  # at the lowest score, p0 looks from the right of it
    assert pairs[2, 1] < 1  # at the highest score, p1 looks from the left of it


def test_near_ties_are_not_rounded_away():
    scores = np.array([0.5, np.nextafter(0.5, 1)])
    pairs = VennAbers().fit(scores, [0, 1]).predict_interval(scores)
    assert pairs.tolist() == [[0, 0.5], [0.5, 1]]
    single = VennAbers().fit(scores.astype(np.float32), [0, 1]).predict_interval([0.5])
    assert single.tolist() == [[1 / 3, 2 / 3]]


@pytest.mark.parametrize("kind", ["mixed", "separable", "reversed", "alternating", "noise", "blocks"])
def test_large_sets_agree_with_fits_at_sampled_scores(kind):
    rng = np.random.default_rng(6)
    n = 20_000
    scores = rng.permutation(n) / 1.0
    y = {
        "mixed": (rng.random(n) < scores / n).astype(int),
        "separable": (scores > n / 3).astype(int),
        "reversed": (scores < n / 3).astype(int),
        "alternating": (scores % 2).astype(int),
        "noise": rng.integers(0, 2, n),
        "blocks": (rng.random(n) < np.floor(scores / 100) / (n / 100)).astype(int),
    }[kind]
    new = np.concatenate([rng.uniform(-10, n + 10, 25), rng.integers(0, n, 25)])
    venn_abers = VennAbers().fit(scores, y)
    for score, pair in zip(new, venn_abers.predict_interval(new), strict=True):
        explained = venn_abers.explain(float(score))
        assert pair.tolist() == [explained.zero.value, explained.one.value]


@pytest.mark.parametrize("label", [0, 1])
def test_bridges_that_span_many_pools(label):
    """Sixty pools whose values rise so slowly that one more row joins a dozen of them."""
    sizes = 1000 - np.arange(60)
    scores = np.repeat(np.arange(60.0), sizes)
    y = (np.concatenate([np.arange(size) for size in sizes]) < 10).astype(int)
    if label == 0:
        scores, y = -scores, 1 - y
    venn_abers = VennAbers().fit(scores, y)
    new = np.arange(-60, 60.5, 2.5)
    joined = []
    for score, pair in zip(new, venn_abers.predict_interval(new), strict=True):
        explained = venn_abers.explain(score)
        assert pair.tolist() == [explained.zero.value, explained.one.value]
        joined.append(max(np.ptp(explained.zero.pool), np.ptp(explained.one.pool)))
    assert max(joined) > 10


def test_few_thresholds_are_kept_for_mixed_data():
    rng = np.random.default_rng(7)
    scores = rng.random(100_000)
    venn_abers = VennAbers().fit(scores, (rng.random(100_000) < scores).astype(int))
    assert len(venn_abers.thresholds_) < 5000
    assert len(venn_abers.p0_) == len(venn_abers.p1_) == len(venn_abers.thresholds_) + 1


def test_peak_memory_of_a_million_scores():
    rng = np.random.default_rng(8)
    scores, new = rng.random(1_000_000), rng.random(1_000_000)
    y = (rng.random(1_000_000) < scores).astype(int)
    tracemalloc.start()
    VennAbers().fit(scores, y).predict_interval(new)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300e6


def test_the_lookup_table_is_ten_lines_of_plain_python():
    """What a saved calibrator needs: three lists and two bisections."""
    from bisect import bisect_left, bisect_right

    rng = np.random.default_rng(9)
    scores = rng.integers(0, 20, 200) / 20
    venn_abers = VennAbers().fit(scores, (rng.random(200) < scores).astype(int))
    table = json.loads(
        json.dumps({name: getattr(venn_abers, name + "_").tolist() for name in ("thresholds", "p0", "p1")})
    )
    new = np.concatenate([scores, rng.random(100), [-1, 2]])
    by_table = [
        [table["p0"][bisect_right(table["thresholds"], s)], table["p1"][bisect_left(table["thresholds"], s)]]
        for s in new.tolist()
    ]
    assert venn_abers.predict_interval(new).tolist() == by_table


def test_step_curves_hold_between_thresholds():
    rng = np.random.default_rng(10)
    scores = rng.random(300)
    venn_abers = VennAbers().fit(scores, (rng.random(300) < scores).astype(int))
    curves = venn_abers.step_curves()
    edges = np.concatenate([[curves.thresholds[0] - 1], curves.thresholds, [curves.thresholds[-1] + 1]])
    middles = edges[:-1] / 2 + edges[1:] / 2
    np.testing.assert_array_equal(
        venn_abers.predict_interval(middles), np.column_stack([curves.p0, curves.p1])
    )
    assert (np.diff(curves.thresholds) > 0).all()
    changes = (np.diff(curves.p0) > 0) | (np.diff(curves.p1) > 0)
    assert changes.all()


def test_explanation_shows_the_pools_behind_the_pair():
    explained = VennAbers().fit([1, 2, 3, 4, 5], [0, 1, 0, 1, 1]).explain(2.5)
    assert explained.zero.scores.tolist() == [1, 2, 2.5, 3, 4, 5]
    np.testing.assert_allclose(explained.zero.values, [0, 1 / 3, 1 / 3, 1 / 3, 1, 1])
    np.testing.assert_allclose(explained.one.values, [0, 2 / 3, 2 / 3, 2 / 3, 1, 1])
    assert (explained.zero.pool, explained.zero.positives, explained.zero.rows) == ((2, 3), 1, 3)
    assert (explained.one.pool, explained.one.positives, explained.one.rows) == ((2, 3), 2, 3)
    assert explained.p == pytest.approx(0.5)
    with pytest.raises(InputError, match="score must be a number"):
        VennAbers().fit([1, 2], [0, 1]).explain(float("nan"))


@given(labelled_scores(), st.floats(-1e6, 1e6))
def test_explanation_and_prediction_agree(case, score):
    venn_abers = VennAbers(merge="square").fit(*case)
    explained = venn_abers.explain(score)
    assert [[explained.zero.value, explained.one.value]] == venn_abers.predict_interval([score]).tolist()
    assert [explained.p] == venn_abers.predict([score]).tolist()
    for fit in (explained.zero, explained.one):
        at = fit.values[np.searchsorted(fit.scores, score)]
        assert at == fit.value
        low, high = fit.pool
        assert low <= score <= high
        assert (fit.values[(fit.scores >= low) & (fit.scores <= high)] == at).all()
