"""Multicalibration against its definition, by brute force, and against boosting of trees as MCGrad does it."""

import json
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from calib import CalibratedClassifier, Recipe, evaluate
from calib.calibrators import CALIBRATORS, Logistic, Multicalibration
from calib.calibrators.feature_groups import FeatureGroups, levels_of
from calib.calibrators.multicalibration import (
    DOUBT,
    LEAST_INFORMATION,
    _loss_decreases,
    _promise,
    _split_weights,
)
from calib.export import read_calibrator, write_calibrator
from calib.export.programs import check_written
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.models import ProbabilityForest
from calib.placements import PLACEMENTS
from scripts.multicalibration_rates import boosted_trees
from scripts.multicalibration_rates import one as one_table
from scripts.multicalibration_rates import table as simulated


def joined(p, frame):
    return pd.concat([pd.Series(p, name="p"), frame], axis=1)


def planted(seed=0, rows=6000):
    """Probabilities that are 0.2 too low where kind = b and size is large, and 0.1 too high where kind = c."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "kind": rng.choice(list("abc"), rows),
            "size": rng.normal(size=rows),
            "other": rng.integers(0, 4, rows),
        }
    )
    p = rng.uniform(0.15, 0.75, rows)
    truth = p + 0.2 * ((frame["kind"] == "b") & (frame["size"] > 0.2)) - 0.1 * (frame["kind"] == "c")
    return p, truth.to_numpy(), (rng.random(rows) < truth).astype(int), frame


def losses(q, y):
    return -(y * np.log(q) + (1 - y) * np.log1p(-q))


def masks(fitted, frame):
    """Every segment of up to two columns by its name, as bool arrays, made of the columns' values anew."""
    single = {}
    for each in fitted.features_:
        values = frame[each.name]
        if each.kind == "text":
            parts = {v: values == v for v in each.values}
        else:
            ends = [-np.inf, *each.breaks, np.inf]
            parts = {i: (values >= a) & (values < b) for i, (a, b) in enumerate(pairwise(ends))}
        for i, mask in enumerate(parts.values()):
            single[each.name, i] = mask.to_numpy()
    found = {(): np.ones(len(frame), dtype=bool)} | {(key,): mask for key, mask in single.items()}
    for one, other in combinations(single, 2):
        if one[0] != other[0]:
            found[one, other] = single[one] & single[other]
    return found


@pytest.mark.parametrize("light", [1.0, 0.05])
def test_each_correction_is_the_worst_segment_and_its_newton_step_shrunk(light):
    """Rows of the planted segment count, or their weights are so small that their sums have a variance below 1."""
    p, _, y, frame = planted(rows=3000)
    weights = np.where(frame["kind"] == "b", light, 1.0)
    fitted = Multicalibration(bins=3).fit(joined(p, frame), y, sample_weight=weights)
    assert len(fitted.corrections_) >= 2
    # The rows that learn: those of the canonical order that were not drawn
    start = fitted.start_.predict(p)
    groups = np.column_stack([each.index(frame[each.name]) for each in fitted.features_])
    order = np.lexsort((y, *groups.T, p))
    weights *= weights.sum() / (weights @ weights)
    weights[order] = _split_weights(weights[order])[0]
    learning = np.flatnonzero(weights)
    w, x, segments = weights[learning], logit(start), masks(fitted, frame)
    for made in fitted.corrections_:
        q, level = expit(x), np.digitize(x, fitted.breaks_)
        scored = {}
        for key, mask in segments.items():
            for at in (*range(3), None):
                mine = mask[learning] & (True if at is None else level[learning] == at)
                gap = (w * (y - q)[learning])[mine].sum()
                information = (w * (q * (1 - q))[learning])[mine].sum()
                variance = (w**2 * (q * (1 - q))[learning])[mine].sum()
                if information**2 >= LEAST_INFORMATION * variance > 0:
                    scored[key, at] = gap**2 / variance, gap / information
        key, at = max(scored, key=lambda one: scored[one][0])
        square, newton = scored[key, at]
        names = [each.name for each in fitted.features_]
        assert {(names[column], group) for column, group in made.segment} == set(key)
        assert made.level == (-1 if at is None else at)
        assert made.offset == pytest.approx(newton * (1 - DOUBT**2 / square), rel=1e-9)
        x = x + made.offset * (segments[key] & (True if at is None else level == at))
    np.testing.assert_allclose(fitted.predict(joined(p, frame)), expit(x), atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_never_worse_on_the_held_out_part_than_where_it_began(weighted):
    changed = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = int(rng.integers(60, 700))
        frame = pd.DataFrame({"a": rng.integers(0, 3, rows), "b": rng.normal(size=rows)})
        p = rng.uniform(0.05, 0.95, rows)
        truth = np.clip(p + 0.25 * rng.integers(-1, 2, 3)[frame["a"]], 0.02, 0.98)
        y = (rng.random(rows) < truth).astype(int)
        weights = rng.gamma(1, size=rows) if weighted else np.ones(rows)
        fitted = Multicalibration().fit(joined(p, frame), y, sample_weight=weights)
        groups = np.column_stack([each.index(frame[each.name]) for each in fitted.features_])
        order = np.lexsort((y, *groups.T, p))
        scale = weights * weights.sum() / (weights @ weights)
        held = _split_weights(scale[order])[1]
        before, after = (
            losses(q, y)[order] for q in (fitted.start_.predict(p), fitted.predict(joined(p, frame)))
        )
        assert held @ after <= held @ before + 1e-9
        changed += len(fitted.corrections_) > 0
    assert changed >= 3


def gaps(truth, q, segments):
    """Mean error times share of the rows, of every segment of at least 2 % of the rows."""
    return np.array([abs((truth - q)[mask].mean()) for mask in segments.values() if mask.mean() >= 0.02])


def test_gaps_of_all_segments_fall_as_with_boosted_trees_and_losses_fall_too():
    p, _, y, frame = planted(rows=8000)
    new, truth, _, further = planted(seed=1, rows=20_000)
    fitted = Multicalibration().fit(joined(p, frame), y)
    segments = masks(fitted, further)
    before = Logistic().fit(p, y).predict(new)
    after = fitted.predict(joined(new, further))
    trees = boosted_trees(p, frame, y, new, further)
    own, other, none = (gaps(truth, q, segments) for q in (after, trees, before))
    assert own.max() < none.max() / 2
    assert own.mean() < none.mean() / 2
    assert own.mean() < 2 * other.mean()
    assert ((truth - after) ** 2).mean() < ((truth - before) ** 2).mean() / 3
    assert losses(after, truth).mean() < losses(before, truth).mean()


def test_a_planted_group_is_found_and_most_of_its_gap_goes():
    before, after = [], []
    for seed in range(6):  # a value, a conjunction of values, a conjunction of ranges
        p, _, y, frame, _ = simulated(seed, 10_000, True)
        new, truth, _, further, group = simulated(seed + 999_999, 10_000, True)
        fitted = Multicalibration().fit(joined(p, frame), y)
        for found, q in (
            (before, Logistic().fit(p, y).predict(new)),
            (after, fitted.predict(joined(new, further))),
        ):
            found.append(abs((truth - q)[group].mean()))
    assert np.mean(before) > 0.13
    assert np.mean(after) < 0.6 * np.mean(before)
    assert all(a < b + 0.01 for a, b in zip(after, before, strict=True))


def test_calibrated_tables_stay_as_they_are():
    quiet = 0
    for seed in range(12):
        p, _, y, frame, _ = simulated(seed, 1500, False)
        fitted = Multicalibration().fit(joined(p, frame), y)
        if not fitted.corrections_:
            quiet += 1
            np.testing.assert_array_equal(fitted.predict(joined(p, frame)), Logistic().fit(p, y).predict(p))
    assert quiet >= 9


@pytest.mark.soak
def test_few_weighted_rows_become_no_worse_on_average():
    """Planted groups in 60 tables of 3,000 rows with weights: the mean change is at most 0.0001 of Brier score."""
    changes = np.array([one_table(seed, 3000, True, True)[1] for seed in range(20_000, 20_060)])
    assert changes.mean() < 0.0001


def everything(rows=900, seed=0):
    """A column of each type, with missing values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
            "few": rng.integers(0, 3, rows),
            "flag": rng.random(rows) < 0.5,
            "word": pd.Series(rng.choice(["é, “b”", "x", "y"], rows)).where(rng.random(rows) < 0.9),
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, rows), unit="D"),
            "level": pd.Categorical(rng.choice(["low", "high"], rows)),
        }
    )
    p = rng.uniform(0.2, 0.7, rows)
    shift = 0.25 * (frame["word"] == "x") - 0.15 * (frame["day"] > "2025-06-01")
    return joined(p, frame), (rng.random(rows) < p + shift).astype(int)


def test_a_file_brings_back_the_same_answers_whatever_the_columns():
    table, y = everything()
    fitted = Multicalibration().fit(table, y)
    assert fitted.corrections_
    saved = read_calibrator(write_calibrator(fitted))
    assert (saved.input, saved.columns) == ("features", 1)
    new, _ = everything(400, seed=5)
    new.loc[3, "word"] = "never seen"
    np.testing.assert_array_equal(saved.predict(new).p, fitted.predict(new))
    shuffled = new[["p", *new.columns[:0:-1]]]  # columns are found by name
    np.testing.assert_array_equal(saved.predict(shuffled).p, fitted.predict(new))
    applied = saved.apply(new, ["p"])
    np.testing.assert_array_equal(applied.table.iloc[:, -1], fitted.predict(new))
    with pytest.raises(InputError, match="has no column 'word'"):
        saved.predict(new.drop(columns="word"))
    quiet = Multicalibration().fit(table[:20], y[:20])
    assert not quiet.corrections_
    np.testing.assert_array_equal(read_calibrator(write_calibrator(quiet)).predict(new).p, quiet.predict(new))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m["corrections"][0].update(columns=["nowhere"], groups=[0]), "columns must name features"),
        (
            lambda m: m["corrections"][0].update(groups=[99] * len(m["corrections"][0]["groups"])),
            "groups must be",
        ),
        (lambda m: m["corrections"][0].update(level=0.5), "level must be a whole number"),
        (lambda m: m["corrections"][0].update(level=77), "level must be a number from -1 to 4"),
        (lambda m: m["features"].append(m["features"][0]), "features must have different names"),
        (lambda m: m["features"][0].update(kind="colour"), "kind must be one of"),
        (lambda m: m["features"][0].update(name=3), "name must be a string"),
        (lambda m: m.update(levels=[1, 0]), "levels must increase"),
        (lambda m: m["corrections"][0].update(more=1), "more is not a known field"),
    ],
)
def test_a_wrong_file_is_refused_by_the_field(change, words):
    table, y = everything()
    document = json.loads(write_calibrator(Multicalibration().fit(table, y)))
    change(document["map"])
    with pytest.raises(InputError, match=words):
        read_calibrator(json.dumps(document))


def test_programs_are_refused_by_name():
    table, y = everything()
    with pytest.raises(InputError, match="Multicalibration needs the features"):
        check_written(Multicalibration().fit(table, y))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.full(9, 0.5), r"table of the score and the features.*shape \(9,\)"),
        (np.full((9, 1), 0.5), "at least one feature"),
        (np.full((9, 2), 1.5), r"must lie in \[0, 1\]"),
        (pd.DataFrame(np.full((9, 3), 0.5), columns=["p", "x", "x"]), "Two features are called 'x'"),
    ],
)
def test_other_tables_are_refused(table, words):
    with pytest.raises(InputError, match=words):
        Multicalibration().fit(table, np.arange(9) % 2)


@pytest.mark.parametrize("key", [key for key in PLACEMENTS if key not in ("none", "full")])
def test_in_every_placement_it_sees_the_features_of_the_rows_that_calibrate(key):
    p, _, y, frame = planted(rows=700)
    X = frame.assign(kind=frame["kind"].map({"a": 0.0, "b": 1.0, "c": 2.0}), p=p)
    forest = ProbabilityForest(15, min_samples_leaf=20, random_state=0)
    weights = None
    placed = PLACEMENTS[key]().fit(forest, X, y, random_state=0)
    tests = placed.score(X[:50])
    made = placed.calibrate(Multicalibration(), X)
    own = Multicalibration().fit(
        joined(placed.scores, X.iloc[placed.index].reset_index(drop=True)), placed.y, sample_weight=weights
    )
    np.testing.assert_array_equal(placed.predict(made, tests).p, own.predict(joined(tests.scores, X[:50])))
    with pytest.raises(InputError, match="Multicalibration needs the features"):
        placed.calibrate(Multicalibration())
    whole = CalibratedClassifier(forest, "multicalibration", key, random_state=0).fit(X, y)
    np.testing.assert_array_equal(whole.predict_proba(X[:50])[:, 1], placed.predict(made, tests).p)


def test_where_it_cannot_answer_it_is_refused_by_name():
    for key, words in (("none", "needs calibration scores"), ("full", "needs intervals")):
        with pytest.raises(InputError, match=f"Multicalibration.*{words}"):
            PLACEMENTS[key].check_takes(CALIBRATORS["multicalibration"])


def test_predictions_made_elsewhere_take_the_other_columns_of_their_table():
    p, _, y, frame = planted(rows=3000)
    recipe = Recipe(content="predictions", calibrators=("none", "logistic", "multicalibration"), seed=1)

    def judged(beside):
        data = Dataset("given", pd.DataFrame({"p": p}), y, predictions=True, beside=beside)
        return evaluate(recipe, data)

    found = judged(dict(frame.items()))
    assert found.metrics.loc["multicalibration", "brier"] < found.metrics.loc["logistic", "brier"]
    assert "needs the features of each row" in judged({}).refused["multicalibration"]


def test_margins_are_refused_by_name():
    found = evaluate(
        Recipe(model="svm", calibrators=("none", "multicalibration")),
        Dataset("mine", planted(rows=300)[3][["size", "other"]], planted(rows=300)[2]),
    )
    assert "probabilities" in found.refused["multicalibration"]


def test_groups_of_a_column_are_its_values_or_ranges():
    rng = np.random.default_rng(0)
    x = pd.Series(rng.normal(size=500), name="x")
    ranges = FeatureGroups.learn(x)
    assert ranges.breaks == pytest.approx(np.quantile(x, [0.2, 0.4, 0.6, 0.8]), rel=1e-12)
    np.testing.assert_array_equal(
        ranges.index(x), pd.cut(x, [-np.inf, *ranges.breaks, np.inf], right=False).cat.codes
    )
    words = pd.Series(["a"] * 30 + ["b"] * 40 + ["rare"] * 5 + [None] * 3, name="w")
    groups = FeatureGroups.learn(words)
    assert (groups.values, groups.missing) == (("b", "a"), True)
    assert groups.index(words).tolist() == [1] * 30 + [0] * 40 + [-1] * 5 + [2] * 3
    assert [groups.words(i) for i in range(3)] == ["w = b", "w = a", "w is missing"]


def test_levels_meet_halfway_between_the_numbers_around_each_quantile():
    rng = np.random.default_rng(0)
    for case in range(300):
        bins, counted = int(rng.integers(1, 6)), rng.integers(1, 4, 12)
        x = rng.integers(0, 7, 12) * 1.0
        values, rows = np.unique(x), np.sort(np.repeat(x, counted))
        quantiles = [
            rows[rank] + (rows[min(rank + 1, len(rows) - 1)] - rows[rank]) * Fraction(rest, bins)
            for rank, rest in (divmod((len(rows) - 1) * i, bins) for i in range(1, bins))
        ]
        if len(values) <= bins:  # one level each
            quantiles = (values[1:] + values[:-1]) / 2
        inner = [q for q in quantiles if values[0] < q < values[-1]]
        expected = {(values[values <= q].max() + values[values > q].min()) / 2 for q in inner}
        assert levels_of(x, bins, counted * 1.0).tolist() == sorted(expected), case


def test_its_sentences_name_the_segments():
    p, _, y, frame = planted()
    fitted = Multicalibration().fit(joined(p, frame), y)
    assert "kind = b" in fitted.corrections_in_words()[0]
    assert fitted.notes_[-1].startswith("corrected: ")


def test_twenty_rows_of_probability_a_half_can_be_corrected_and_nineteen_or_two_standard_errors_cannot():
    rows, ones = np.array([20.0, 19.0, 64.0, 100.0, 0.0]), np.array([20.0, 19.0, 40.0, 62.0, 0.0])
    gap, variance = ones - rows / 2, rows / 4
    assert _promise(gap, variance, variance).tolist() == [20.0, 0.0, 0.0, 5.76, 0.0]


def test_a_loss_decreases_if_its_mean_is_so_many_standard_errors_above_0():
    gain = np.tile([0.0, 2.0], 50)  # mean 1, standard error 1 / √100
    assert _loss_decreases(gain, np.zeros(100), np.ones(100), errors=9.9)
    assert not _loss_decreases(gain, np.zeros(100), np.ones(100), errors=10.1)
