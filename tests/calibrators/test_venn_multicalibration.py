"""Venn multicalibration against least squares from scratch, and its own promise simulated."""

import json

import numpy as np
import pandas as pd
import pytest

from calib import CalibratedClassifier, Recipe, evaluate
from calib.calibrators import CALIBRATORS, VennMulticalibration, interval_methods
from calib.export import read_calibrator, write_calibrator
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.models import ProbabilityForest
from calib.placements import PLACEMENTS
from tests.calibrators.test_multicalibration import everything, joined, planted
from tests.saying import assert_says


def design(fitted, table):
    """Indicators (m, k) of each group at each level, made of the columns' values anew."""
    level = np.digitize(table.iloc[:, 0], fitted.breaks_)
    parts = [np.ones(len(table), dtype=bool)]
    for each in fitted.features_:
        values = table[each.name]
        if each.kind == "text":
            parts += [(values == v).fillna(False).to_numpy(dtype=bool) for v in each.values]
        else:
            numbers = values.to_numpy("datetime64[us]").astype(float) if each.kind == "date" else values
            place = np.digitize(np.asarray(numbers, dtype=float), each.breaks)
            known = values.notna().to_numpy()
            parts += [known & (place == i) for i in range(len(each.breaks) + 1)]
        if each.missing:
            parts.append(values.isna().to_numpy())
    return np.column_stack([part & (level == i) for i in range(len(fitted.breaks_) + 1) for part in parts])


def from_scratch(fitted, table, y, new, removed=None):
    """Pairs before clipping: for each row and label, one least-squares fit to all rows and this one."""
    held, added = (design(fitted, each).astype(float) for each in (table, new))
    f, found = table.iloc[:, 0].to_numpy(), np.empty((len(new), 2))
    for i in range(len(new)):
        kept = np.ones(len(y), dtype=bool)
        if removed is not None:
            kept[removed[i]] = False
        for label in (0, 1):
            rows = np.vstack([held[kept], added[i]])
            residual = np.append((y - f)[kept], label - new.iloc[i, 0])
            solution = np.linalg.lstsq(rows, residual, rcond=1e-10)[0]
            found[i, label] = new.iloc[i, 0] + added[i] @ solution
    return found


def test_pairs_are_those_of_a_fit_with_the_row_and_each_label():
    table, y = everything(300)
    new, _ = everything(40, seed=5)
    new.loc[3, "word"] = "never seen"
    new.loc[4, "number"] = 1e6
    fitted = VennMulticalibration(bins=2).fit(table, y)
    exact = from_scratch(fitted, table, y, new)
    np.testing.assert_allclose(fitted.raw_pairs(new), exact, atol=1e-8)
    clipped = np.clip(exact, [0, 1 / 301], [300 / 301, 1])
    np.testing.assert_allclose(fitted.predict_interval(new), clipped, atol=1e-8)


def test_a_pair_with_a_row_left_out_is_that_of_a_fit_without_it():
    rng = np.random.default_rng(0)
    table, y = everything(120)
    table["word"] = np.where(np.arange(120) < 20, "x", "y")
    table.loc[0, ["flag", "level", "few"]] = [True, "low", 0]
    fitted = VennMulticalibration(bins=3).fit(table, y)
    new, removed = table.iloc[rng.integers(0, 120, 40)].reset_index(drop=True), rng.integers(0, 120, 40)
    exact = np.clip(from_scratch(fitted, table, y, new, removed), [0, 1 / 121], [120 / 121, 1])
    np.testing.assert_allclose(fitted.leave_one_out_interval(new, removed), exact, atol=1e-7)
    # A row that is alone in a direction takes it along
    lone = pd.DataFrame({"p": np.full(44, 0.5), "kind": ["a"] * 21 + ["b"] * 22 + [None]})
    alone = VennMulticalibration().fit(lone, np.arange(44) % 2)
    assert alone.leave_one_out_interval(lone[-1:], [43]).tolist() == [[0, 1]]
    np.testing.assert_allclose(
        alone.leave_one_out_interval(lone[:1], [43]), alone.predict_interval(lone[:1]), atol=1e-12
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_pair_of_the_true_label_is_right_on_average_in_every_group_at_every_level(seed):
    """Its promise, without a simulation: each of 61 exchangeable rows is as likely to be the new one, so the errors of
    their pairs add up to 0 in every group; f is off by up to 0.25 in groups that overlap.
    """
    rng, n = np.random.default_rng(seed), 61
    a, b, p = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.choice([0.3, 0.6], n)
    y = (rng.random(n) < p + 0.2 * a - 0.25 * b * (p > 0.5)).astype(int)
    table = pd.DataFrame({"p": p, "a": a, "b": b})
    pairs = np.empty((n, 2))
    for i in range(n):
        fitted = VennMulticalibration(bins=2).fit(table.drop(i), np.delete(y, i))
        pairs[i] = fitted.raw_pairs(table.loc[[i]])[0]
    group = [(part == value) & (p == level) for part in (a, b) for value in (0, 1) for level in (0.3, 0.6)]
    of_true_label = pairs[np.arange(n), y]
    for rows in group:
        assert of_true_label[rows].mean() == pytest.approx(y[rows].mean(), abs=1e-12)
        assert pairs[rows, 0].mean() < y[rows].mean() < pairs[rows, 1].mean()
    assert max(abs(y[rows].mean() - p[rows].mean()) for rows in group) > 0.1  # as f alone is not


def test_width_is_the_leverage_and_falls_with_the_rows_of_a_group():
    rng = np.random.default_rng(0)
    widths = []
    for rows in (300, 3000):
        frame = pd.DataFrame({"kind": rng.choice(list("ab"), rows, p=[0.1, 0.9])})
        p = rng.uniform(0.2, 0.8, rows)
        fitted = VennMulticalibration(bins=1).fit(joined(p, frame), (rng.random(rows) < p).astype(int))
        widths.append(np.diff(fitted.raw_pairs(pd.DataFrame({"p": [0.5] * 2, "kind": list("ab")}))).ravel())
        np.testing.assert_allclose(widths[-1], [1 / (1 + (frame["kind"] == k).sum()) for k in "ab"])
    assert (widths[1] < widths[0]).all()


def test_what_the_calibration_rows_do_not_know_is_answered_by_all():
    table = pd.DataFrame({"p": np.r_[np.full(30, 0.2), np.full(30, 0.8)], "kind": list("a" * 30 + "b" * 30)})
    fitted = VennMulticalibration(bins=2).fit(table, np.arange(60) % 2)
    assert fitted.predict_interval(pd.DataFrame({"p": [0.2], "kind": ["b"]})).tolist() == [[0, 1]]


def test_few_rows_and_clipped_ends_are_said():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 12)), columns=[f"x{i}" for i in range(12)])
    p = rng.uniform(0.02, 0.98, 60)
    y = (rng.random(60) < p).astype(int)
    (note,) = VennMulticalibration().fit(joined(p, frame), y).notes_
    assert "intervals are wide" in note
    # One level, f from 0 to 1: what is added to all rows of a group leaves [0, 1]
    table = pd.DataFrame({"p": rng.uniform(0, 1, 2000), "kind": rng.integers(0, 2, 2000)})
    y = (rng.random(2000) < 0.5 * table["p"] + 0.5 * table["kind"]).astype(int)
    fitted = VennMulticalibration(bins=1).fit(table, y)
    raw, ends = fitted.raw_pairs(table), ([0, 1 / 2001], [2000 / 2001, 1])
    assert (raw < ends[0]).any(axis=0).all()
    assert (raw > ends[1]).any(axis=0).all()
    np.testing.assert_allclose(fitted.predict_interval(table), np.clip(raw, *ends), rtol=1e-12)
    share = ((raw < 0) | (raw > 1)).any(axis=1).mean()
    assert share > 0.2
    (note,) = fitted.notes_
    assert_says(note, f"{100 * share:.0f} %", "calibration rows", "outside [0, 1]", "clipped")


def test_a_file_brings_back_the_same_answers_whatever_the_columns():
    table, y = everything()
    fitted = VennMulticalibration().fit(table, y)
    saved = read_calibrator(write_calibrator(fitted))
    new, _ = everything(400, seed=5)
    new.loc[3, "word"] = "never seen"
    np.testing.assert_array_equal(saved.predict(new).p0, fitted.predict_interval(new)[:, 0])
    np.testing.assert_array_equal(saved.predict(new).p, fitted.predict(new))
    shuffled = new[["p", *new.columns[:0:-1]]]
    np.testing.assert_array_equal(saved.predict(shuffled).p, fitted.predict(new))
    applied = saved.apply(new, ["p"])
    np.testing.assert_array_equal(
        applied.table.iloc[:, -3:], np.c_[fitted.predict_interval(new), fitted.predict(new)]
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m["levels"].pop(), "levels must contain 3 levels"),
        (lambda m: m["levels"][0]["counts"].pop(), "counts must contain"),
        (lambda m: m["levels"][0]["counts"].__setitem__(0, 0.5), "counts must be whole numbers"),
        (lambda m: m["levels"][0]["sums"].append(1), "sums must contain"),
        (lambda m: m["features"].append(m["features"][0]), "features must have different names"),
        (lambda m: m.update(breaks=[0.5, 0.4]), "breaks must increase"),
    ],
)
def test_a_wrong_file_is_refused_by_the_field(change, words):
    table, y = everything()
    document = json.loads(write_calibrator(VennMulticalibration().fit(table, y)))
    change(document["map"])
    with pytest.raises(InputError, match=words):
        read_calibrator(json.dumps(document))


@pytest.mark.parametrize("key", [key for key in PLACEMENTS if key not in ("none", "full")])
def test_in_every_placement_it_sees_the_features_of_the_rows_that_calibrate(key):
    p, _, y, frame = planted(rows=700)
    X = frame.assign(kind=frame["kind"].map({"a": 0.0, "b": 1.0, "c": 2.0}), p=p)
    forest = ProbabilityForest(15, min_samples_leaf=20, random_state=0)
    placed = PLACEMENTS[key]().fit(forest, X, y, random_state=0)
    tests = placed.score(X[:50])
    answer = placed.predict(placed.calibrate(VennMulticalibration(), X), tests)
    own = X.iloc[placed.index].reset_index(drop=True)
    if key == "cv":
        folds = [
            VennMulticalibration().fit(
                joined(placed.scores[fold], own.iloc[fold].reset_index(drop=True)), placed.y[fold]
            )
            for fold in placed.fold_index
        ]
        each = [f.predict_interval(joined(s, X[:50])) for f, s in zip(folds, tests.by_fold, strict=True)]
        assert (answer.p0 is None, len(each)) == (True, 5) or np.shape(each) == (len(folds), 50, 2)
        np.testing.assert_array_equal(answer.lower <= answer.p, True)
        logits = np.log(np.clip([e[:, 0] for e in each], 1e-300, 1)) - np.log1p(
            -np.array([e[:, 0] for e in each])
        )
        np.testing.assert_allclose(answer.lower, 1 / (1 + np.exp(-logits.mean(axis=0))), atol=1e-9)
        return
    fitted = VennMulticalibration().fit(joined(placed.scores, own), placed.y)
    table = joined(tests.scores, X[:50])
    exact = (
        fitted.predict_interval(table)
        if tests.reference is None
        else fitted.leave_one_out_interval(table, tests.reference)
    )
    np.testing.assert_array_equal(np.c_[answer.p0, answer.p1], exact)
    whole = CalibratedClassifier(forest, "venn_multicalibration", key, random_state=0).fit(X, y)
    np.testing.assert_array_equal(whole.predict_interval(X[:50]), exact)


def test_what_needs_a_score_alone_is_refused_by_name():
    method = CALIBRATORS["venn_multicalibration"]
    with pytest.raises(InputError, match="no interval for a single score"):
        PLACEMENTS["full"].check_takes(method)
    p, _, y, frame = planted(rows=600)
    fitted = method().fit(joined(p, frame), y)
    with pytest.raises(InputError, match="needs the features"):
        fitted.formula()
    assert "venn_multicalibration" not in interval_methods()
    folds = PLACEMENTS["cv"]().fit(
        ProbabilityForest(5, random_state=0), frame[["size", "other"]], y, random_state=0
    )
    with pytest.raises(InputError, match="from cross-calibration cannot be saved"):
        write_calibrator(folds.calibrate(method(), frame[["size", "other"]]))


def test_an_evaluation_has_its_pairs():
    p, _, y, frame = planted(rows=3000)
    recipe = Recipe(content="predictions", calibrators=("none", "venn_multicalibration"), seed=1)
    data = Dataset("given", pd.DataFrame({"p": p}), y, predictions=True, beside=dict(frame.items()))
    found = evaluate(recipe, data)
    pairs = found.predictions["venn_multicalibration"].pairs
    assert pairs.shape == (len(found.y), 2)
    assert (pairs[:, 0] <= pairs[:, 1]).all()
    # In a group that f gets wrong, the mean pair encloses the frequency
    there = (found.column("kind") == "c").to_numpy()
    low, high = pairs[there].mean(axis=0)
    spread = 2 * np.sqrt(0.25 / there.sum())
    assert low - spread < found.y[there].mean() < high + spread
    assert abs(found.predictions["none"].p[there].mean() - found.y[there].mean()) > spread
