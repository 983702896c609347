"""What every calibrator of the registry promises, whatever its method."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from calib.calibrators import CALIBRATORS, INPUT_TABLES, IntervalCalibrator
from calib.kernel.checks import InputError

KEYS = list(CALIBRATORS)
INTERVALS = [key for key in KEYS if CALIBRATORS[key].gives_interval]
WEIGHTED = [key for key in KEYS if CALIBRATORS[key].weighted]
SCORES_ONLY = [key for key in KEYS if CALIBRATORS[key].input == "score"]
PROBABILITIES_ONLY = [key for key in KEYS if CALIBRATORS[key].input == "probability"]
VARIANTS = [
    (key, {option.name: value})
    for key in KEYS
    for option in CALIBRATORS[key].parameters
    for value in option.choices or ([True, False] if option.kind == "boolean" else [option.default])
] + [(key, {}) for key in KEYS]
TURN = ["quadratic", "spline", "histogram"]  # whose ends are mended whatever the data say


def problem(key, n=150, seed=0):
    """Calibration scores, labels and test scores of the kind that the method takes."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.8, 0.8, 2 * n).round(2)
    y = (rng.random(2 * n) < p**1.5).astype(int)
    if CALIBRATORS[key].input == "tree_scores":
        p = np.clip(p[:, None] + rng.normal(0, 0.2, (2 * n, 7)), 0, 1).round(1)
    if CALIBRATORS[key].input == "features":  # two, and in a group of the first the scores are too high
        group = rng.integers(0, 3, 2 * n)
        y = np.where(group == 2, y * (rng.random(2 * n) < 0.2), y)
        p = np.column_stack([p, group, rng.normal(size=2 * n).round(1)])
    return p[:n], y[:n], p[n:]


@pytest.mark.whole_registry
def test_entries_are_complete_and_keys_of_the_registry_are_the_classes_own():
    for key, method in CALIBRATORS.items():
        assert method.key == key
        assert method.label
        assert method.source
        assert np.isfinite(method.complexity)
        assert method.kind
        assert ">>>" in method.__doc__
        assert (
            method.gives_interval
            == issubclass(method, IntervalCalibrator)
            == hasattr(method, "predict_interval")
        )


@pytest.mark.parametrize("key", KEYS)
def test_declared_options_are_the_constructors(key):
    options = {option.name: option.default for option in CALIBRATORS[key].parameters}
    assert CALIBRATORS[key]().get_params() == options


@pytest.mark.parametrize(("key", "options"), VARIANTS)
def test_predictions_are_probabilities_inside_their_interval(key, options):
    scores, y, new = problem(key)
    calibrator = CALIBRATORS[key](**options).fit(scores, y)
    p = calibrator.predict(new)
    assert p.shape == (len(new),)
    assert p.dtype == np.float64
    assert ((p >= 0) & (p <= 1)).all()
    if calibrator.gives_interval:
        p0, p1 = calibrator.predict_interval(new).T
        assert ((p0 >= 0) & (p0 <= p) & (p <= p1) & (p1 <= 1)).all()


@pytest.mark.parametrize(("key", "options"), VARIANTS)
def test_predictions_grow_with_the_score(key, options):
    scores, y, _ = problem(key)
    grid = np.linspace(0, 1, 301)
    if CALIBRATORS[key].input in INPUT_TABLES:
        grid = np.repeat(grid[:, None], scores.shape[1], axis=1)
    p = CALIBRATORS[key](**options).fit(scores, y).predict(grid)
    if CALIBRATORS[key].monotone and options.get("taxonomy", "label") == "label":
        assert (np.diff(p) >= -1e-15).all()


@pytest.mark.parametrize(("key", "options"), VARIANTS)
def test_clones_and_repetitions_agree(key, options):
    scores, y, new = problem(key)
    first = CALIBRATORS[key](**options).fit(scores, y)
    copy = clone(first)
    assert copy.get_params() == first.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(new)
    np.testing.assert_array_equal(copy.fit(scores, y).predict(new), first.predict(new))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).predict(new), first.predict(new))


@pytest.mark.parametrize(("key", "options"), VARIANTS)
def test_a_refit_forgets(key, options):
    scores, y, new = problem(key)
    other_scores, other_y, _ = problem(key, n=40, seed=9)
    calibrator = CALIBRATORS[key]().fit(other_scores, 1 - other_y).set_params(**options).fit(scores, y)
    fresh = CALIBRATORS[key](**options).fit(scores, y)
    assert vars(calibrator).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(calibrator.predict(new), fresh.predict(new))


@pytest.mark.parametrize("key", KEYS)
def test_inputs_are_left_as_they_were_and_not_kept(key):
    scores, y, new = problem(key)
    before = scores.copy(), y.copy(), new.copy()
    calibrator = CALIBRATORS[key]().fit(scores, y)
    p = calibrator.predict(new)
    for array, copy in zip((scores, y, new), before, strict=True):
        np.testing.assert_array_equal(array, copy)
    p[:] = scores[:] = y[:] = 0
    np.testing.assert_array_equal(calibrator.predict(new), CALIBRATORS[key]().fit(*before[:2]).predict(new))


@pytest.mark.parametrize("key", KEYS)
def test_order_and_neighbours_do_not_matter(key):
    scores, y, new = problem(key)
    order = np.random.default_rng(1).permutation(len(y))
    p = CALIBRATORS[key]().fit(scores, y).predict(new)
    shuffled = CALIBRATORS[key]().fit(scores[order], y[order])
    np.testing.assert_allclose(shuffled.predict(new), p, atol=1e-9)
    alone = np.concatenate([shuffled.predict(new[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, p[:20], atol=1e-9)
    assert shuffled.predict(new[:0]).shape == (0,)


@pytest.mark.parametrize("key", KEYS)
def test_lists_series_booleans_and_single_precision_are_taken(key):
    scores, y, new = problem(key)
    p = CALIBRATORS[key]().fit(scores, y).predict(new)
    as_frame = pd.Series if scores.ndim == 1 else pd.DataFrame
    index = np.arange(len(y))[::-1]
    for s, labels, t in [
        (scores.tolist(), y.tolist(), new.tolist()),
        (as_frame(scores, index=index), pd.Series(y, index=index), as_frame(new)),
        (scores, y.astype(bool), new),
        (scores, y.astype(float), new),
    ]:
        np.testing.assert_array_equal(CALIBRATORS[key]().fit(s, labels).predict(t), p)
    single = CALIBRATORS[key]().fit(scores.astype(np.float32), y).predict(new.astype(np.float32))
    np.testing.assert_allclose(single, p, atol=1e-5)


@pytest.mark.parametrize("key", KEYS)
def test_constant_scores(key):
    _, y, _ = problem(key)
    scores = np.full(len(y), 0.7)
    if CALIBRATORS[key].input in INPUT_TABLES:
        scores = np.repeat(scores[:, None], 5, axis=1)
    calibrator = CALIBRATORS[key]().fit(scores, y)
    p = calibrator.predict(scores)
    n, k = len(y), y.sum()
    targets = (k * (k + 1) / (k + 2) + (n - k) / (n - k + 2)) / n
    expected = {"none": 0.7, "platt": targets, "ppa": max(0.7, k / n)}.get(key, k / n)
    if key == "temperature":  # no temperature takes 0.7 below one half
        assert (k / n < 0.5, calibrator.bounded_) == (True, True)
        expected = 0.5
    tolerance = 1 / n if key in INTERVALS else 1e-3 if key == "temperature" else 1e-12
    np.testing.assert_allclose(p, expected, atol=tolerance)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("key", KEYS)
def test_one_class_is_answered_or_refused_by_name(key, label):
    scores, y, new = problem(key)
    y = np.full(len(y), label)
    if not CALIBRATORS[key].answers_one_class:
        with pytest.raises(
            InputError, match=rf"{CALIBRATORS[key].label} needs rows of both classes.*only class {label}"
        ):
            CALIBRATORS[key]().fit(scores, y)
        return
    p = CALIBRATORS[key]().fit(scores, y).predict(new)
    assert ((p >= 0) & (p <= 1)).all()
    if key not in ("none", "ppa", *INTERVALS, "histogram"):
        assert (p == label).all()
    if key in INTERVALS:
        assert (CALIBRATORS[key]().fit(scores, y).predict_interval(new)[:, label] == label).all()


@pytest.mark.parametrize("key", KEYS)
def test_single_objects_are_answered_or_refused(key):
    for label in (0, 1):
        scores = np.array([0.4]) if CALIBRATORS[key].input not in INPUT_TABLES else np.array([[0.4, 0.2]])
        if CALIBRATORS[key].answers_one_class:
            assert 0 <= CALIBRATORS[key]().fit(scores, [label]).predict(scores)[0] <= 1
        else:
            with pytest.raises(InputError, match=CALIBRATORS[key].label):
                CALIBRATORS[key]().fit(scores, [label])


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_missing_and_infinite_scores_are_refused(key, value):
    scores, y, _ = problem(key)
    calibrator = CALIBRATORS[key]().fit(scores, y)
    scores[(3, 0) if CALIBRATORS[key].input == "features" else np.unravel_index(3, scores.shape)] = value
    with pytest.raises(InputError, match="must be finite.*at position 3"):
        CALIBRATORS[key]().fit(scores, y)
    with pytest.raises(InputError, match="must be finite"):
        calibrator.predict(scores)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "labels",
    [
        lambda y: y + 1,
        lambda y: 2 * y - 1,
        lambda y: y + 0.5,
        lambda y: np.where(y, "yes", "no"),
        lambda y: np.where(y, 1, np.nan),
    ],
)
def test_labels_other_than_0_and_1_are_refused(key, labels):
    scores, y, _ = problem(key)
    with pytest.raises(InputError, match="only the labels 0 and 1"):
        CALIBRATORS[key]().fit(scores, labels(y))


@pytest.mark.parametrize("key", KEYS)
def test_wrong_shapes_are_refused(key):
    scores, y, new = problem(key)
    with pytest.raises(InputError, match="Lengths differ: scores has 150, y has 149"):
        CALIBRATORS[key]().fit(scores, y[1:])
    with pytest.raises(InputError, match="empty"):
        CALIBRATORS[key]().fit(scores[:0], y[:0])
    with pytest.raises(InputError, match="shape"):
        CALIBRATORS[key]().fit(scores[..., None], y)
    with pytest.raises(InputError, match="one-dimensional"):
        CALIBRATORS[key]().fit(scores, y[:, None])
    with pytest.raises(InputError, match="must be numbers"):
        CALIBRATORS[key]().fit(np.full(scores.shape, "high"), y)
    for kind in (str, complex, "datetime64[s]"):  # which NumPy would turn into numbers
        with pytest.raises(InputError, match="must be numbers"):
            CALIBRATORS[key]().fit(np.zeros(scores.shape).astype(kind), y)
    with pytest.raises(InputError, match="shape"):
        CALIBRATORS[key]().fit(scores, y).predict(new[..., None])


@pytest.mark.parametrize("key", PROBABILITIES_ONLY)
def test_margins_are_refused_where_probabilities_are_needed(key):
    scores, y, _ = problem(key)
    with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
        CALIBRATORS[key]().fit(3 * scores - 1, y)
    with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
        CALIBRATORS[key]().fit(scores, y).predict([1.5])


@pytest.mark.parametrize("key", SCORES_ONLY)
def test_scores_of_any_size_are_answered_without_a_warning(key):
    largest = np.finfo(np.float64).max
    scores = np.array([-largest, -1e308, -1e-310, 0.0, 5e-324, 1.0, 1e308, largest])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = CALIBRATORS[key]().fit(scores, [0, 0, 1, 0, 1, 0, 1, 1]).predict(scores)
    assert ((p >= 0) & (p <= 1)).all()


@pytest.mark.parametrize("key", KEYS)
def test_misspelt_and_impossible_options_are_refused(key):
    scores, y, _ = problem(key)
    for option in CALIBRATORS[key].parameters:
        with pytest.raises(InputError, match=f"{key}: {option.name} must be"):
            CALIBRATORS[key](**{option.name: "no such option"}).fit(scores, y)
    with pytest.raises(TypeError):
        CALIBRATORS[key](no_such_option=1)


@pytest.mark.parametrize(("key", "options"), VARIANTS)
def test_whole_weights_are_repetitions_and_zero_weights_absence(key, options):
    scores, y, new = problem(key)
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = CALIBRATORS[key](**options).fit(scores, y, sample_weight=weights)
    repeated = CALIBRATORS[key](**options).fit(np.repeat(scores, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict(new), repeated.predict(new), atol=1e-9)
    if key in INTERVALS:  # bit by bit
        np.testing.assert_array_equal(weighted.predict_interval(new), repeated.predict_interval(new))


def rows_within(key, n, seed, truth):
    """Scores that leave room on both sides, and labels of the frequency truth(score)."""
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 2, n) if seed % 2 else rng.uniform(0.15, 0.85, n)
    y = (rng.random(n) < truth(p)).astype(int)
    return (np.column_stack([p] * 3) if CALIBRATORS[key].input in INPUT_TABLES else p), y


@pytest.mark.parametrize(
    ("key", "options"), [each for each in VARIANTS if each != ("venn", {"taxonomy": "uniform"})]
)
@pytest.mark.parametrize(("n", "seeds"), [(200, 5), (1000, 2)])
def test_beyond_the_calibration_scores_no_method_goes_the_wrong_way(key, options, n, seeds):
    """Venn in bins of equal width gives (0, 1) beyond, which is no direction."""
    truths = [lambda p: p] + [lambda p: 4 * p * (1 - p), lambda p: 1 - 3 * p * (1 - p)] * (key in TURN)
    for seed, truth in ((seed, truth) for seed in range(seeds) for truth in truths):
        scores, y = rows_within(key, n, seed, truth)
        fitted = CALIBRATORS[key](**options).fit(scores, y)
        low, high = scores.min(), scores.max()
        below = np.append(low * np.linspace(0, 1, 21), [1e-300, 1e-17, 1e-6])
        above = np.append(1 - (1 - high) * np.linspace(0, 1, 21), [1 - 1e-16, 1 - 1e-6])
        for side, far, end in ((-1, below, low), (1, above, high)):
            p, at_end = (
                fitted.predict(np.column_stack([s] * 3) if scores.ndim == 2 else s)
                for s in (far, np.array([end]))
            )
            assert (side * (p - at_end) >= -1e-12).all(), (seed, side)


@pytest.mark.parametrize(("key", "options"), VARIANTS)
@pytest.mark.parametrize("factor", [0.001, 0.37, 250.3])
def test_the_scale_of_weights_that_are_no_counts_does_not_matter(key, options, factor):
    scores, y, new = problem(key)

    def fitted(weights):
        return CALIBRATORS[key](**options).fit(scores, y, sample_weight=weights).predict(new)

    np.testing.assert_array_equal(fitted(np.full(len(y), factor)), fitted(None))
    weights = np.random.default_rng(2).gamma(1, size=len(y))
    if CALIBRATORS[key].counts_rows or not CALIBRATORS[key].weighted:
        with pytest.raises(InputError, match="counts rows"):
            fitted(factor * weights)
    else:
        np.testing.assert_allclose(fitted(factor * weights), fitted(weights), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("key", KEYS)
def test_a_class_of_weight_zero_is_no_class(key):
    scores, y, new = problem(key)
    if CALIBRATORS[key].answers_one_class:
        weighted = CALIBRATORS[key]().fit(scores, y, sample_weight=y).predict(new)
        np.testing.assert_allclose(
            weighted, CALIBRATORS[key]().fit(scores[y == 1], y[y == 1]).predict(new), atol=1e-9
        )
    else:
        with pytest.raises(InputError, match="rows of both classes.*only class 1"):
            CALIBRATORS[key]().fit(scores, y, sample_weight=y)


@pytest.mark.parametrize("key", [key for key in KEYS if key not in WEIGHTED])
def test_fractional_weights_are_refused_where_rows_are_counted(key):
    scores, y, _ = problem(key)
    weights = np.ones(len(y))
    weights[7] = 0.5
    with pytest.raises(InputError, match=f"{CALIBRATORS[key].label} counts rows.*whole numbers.*Platt"):
        CALIBRATORS[key]().fit(scores, y, sample_weight=weights)
    with pytest.raises(InputError, match="must be at most 100,000,000"):
        CALIBRATORS[key]().fit(scores, y, sample_weight=weights.round() + 1e7)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("weights", [[1.0], [-1.0] * 150, [0.0] * 150, [np.nan] * 150])
def test_wrong_weights_are_refused(key, weights):
    scores, y, _ = problem(key)
    with pytest.raises(InputError, match="sample_weight"):
        CALIBRATORS[key]().fit(scores, y, sample_weight=weights)


@pytest.mark.parametrize("key", KEYS)
def test_unfitted_use_is_refused(key):
    _, _, new = problem(key)
    with pytest.raises(NotFittedError):
        CALIBRATORS[key]().predict(new)
    if key in INTERVALS:
        with pytest.raises(NotFittedError):
            CALIBRATORS[key]().predict_interval(new)
        with pytest.raises(NotFittedError):
            CALIBRATORS[key]().leave_one_out_interval(new, np.zeros(len(new), dtype=int))


@pytest.mark.parametrize("key", INTERVALS)
@pytest.mark.parametrize("removed", [[0.0], [-1], [150], [True], [[0]], [0, 1]])
def test_positions_that_are_none_are_refused(key, removed):
    scores, y, new = problem(key)
    with pytest.raises(InputError, match="removed"):
        CALIBRATORS[key]().fit(scores, y).leave_one_out_interval(new[:1], removed)
