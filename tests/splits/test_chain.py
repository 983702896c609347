"""Each split through the chain, in each placement: nothing torn between training, calibration and test rows."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest

from calib.calibrated import CalibratedClassifier
from calib.evaluate import evaluate, fit
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.models import ProbabilityForest
from calib.placements import PLACEMENTS
from calib.recipe import Recipe
from calib.splits import SPLITS
from tests.saying import assert_any_says

N = 360
RNG = np.random.default_rng(8)
X = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "c"])
Y = (RNG.random(N) < 1 / (1 + np.exp(-X["a"]))).astype(int).to_numpy()
TIME = RNG.integers(0, 60, N).astype(float)
CLUSTER = RNG.integers(0, 90, N)
PART = RNG.choice([0, 1, 2], N, p=[0.5, 0.2, 0.3])
DATA = Dataset("made", X, Y, time=TIME, cluster=CLUSTER, part=PART)
SMALL = Recipe(
    model="random_forest",
    params={"n_estimators": 10, "max_depth": 4},
    calibrators=("none", "venn_abers"),
    cv=4,
)


def cells():
    for split, placement, evaluation in product(SPLITS, PLACEMENTS, ("holdout", "folds")):
        if placement != "full":
            yield split, placement, evaluation


def parts_of(split, placement, evaluation):
    recipe = SMALL.replace(split=split, placement=placement, evaluation=evaluation, folds=3)
    if placement == "none":
        recipe = recipe.replace(calibrators=("none",))
    return fit(recipe, DATA).parts


REFUSED = {("time", key) for key, one in PLACEMENTS.items() if one.asks == "bag"} | {
    ("file", key) for key, one in PLACEMENTS.items() if one.asks != "calibration"
}


@pytest.mark.parametrize(("split", "placement", "evaluation"), list(cells()))
def test_no_cluster_is_torn_and_time_runs_forward_in_every_placement(split, placement, evaluation):
    if split == "file" and evaluation == "folds":
        with pytest.raises(InputError, match="evaluation: split='file' .*one test set"):
            parts_of(split, placement, evaluation)
        return
    if (split, placement) in REFUSED:
        with pytest.raises(InputError, match="placement: .*Choose placement='split'"):
            parts_of(split, placement, evaluation)
        return
    holds_out = PLACEMENTS[placement].asks == "calibration"
    for part in parts_of(split, placement, evaluation):
        calibrating = part.train[part.placed.index]
        assert np.intersect1d(part.train, part.test).size == 0
        learned = np.setdiff1d(part.train, calibrating) if holds_out else part.train
        held = [(part.train, part.test)] + ([(learned, calibrating)] if holds_out else [])
        for before, after in held:
            if split == "time":
                assert TIME[before].max() < TIME[after].min()
            if split == "cluster":
                assert set(CLUSTER[before]).isdisjoint(CLUSTER[after])
        if split == "file":
            assert set(PART[part.test]) == {2}
            assert set(PART[calibrating]) == {1}
            assert set(PART[learned]) == {0}
        if placement == "cv":
            seen = [part.train[part.placed.index[fold]] for fold in part.placed.fold_index]
            assert len(np.concatenate(seen)) == len(np.unique(np.concatenate(seen)))
            for one, other in pairwise(seen):
                if split == "time":
                    assert TIME[one].max() < TIME[other].min()
                if split == "cluster":
                    assert set(CLUSTER[one]).isdisjoint(CLUSTER[other])


@pytest.mark.parametrize("split", SPLITS)
def test_the_fold_models_of_cross_calibration_saw_nothing_of_what_they_score(split, monkeypatch):
    """By what the models were fitted on, told by a column that names each row."""
    if split == "file":
        return
    seen = []
    grow = ProbabilityForest.fit

    def remember(self, Z, y, sample_weight=None, watch=None, groups=None):
        seen.append(np.asarray(Z)[:, 0].astype(int))
        return grow(self, Z, y, sample_weight, watch, groups)

    monkeypatch.setattr(ProbabilityForest, "fit", remember)
    data = Dataset("named", pd.DataFrame({"row": np.arange(float(N))}), Y, time=TIME, cluster=CLUSTER)
    (part,) = fit(SMALL.replace(split=split, placement="cv"), data).parts
    for rows, fold in zip(seen, part.placed.fold_index, strict=False):
        scored = part.train[part.placed.index[fold]]
        assert set(rows).isdisjoint(scored)
        if split == "time":
            assert TIME[rows].max() < TIME[scored].min()
        if split == "cluster":
            assert set(CLUSTER[rows]).isdisjoint(CLUSTER[scored])


def test_cross_calibration_in_time_says_how_many_rows_cannot_calibrate():
    evaluation = evaluate(SMALL.replace(split="time", placement="cv"), DATA)
    (part,) = fit(SMALL.replace(split="time", placement="cv"), DATA).parts
    missing = len(part.train) - len(part.placed.index)
    assert 0 < missing < len(part.train) / 2
    missing_rows = f"{missing} of {len(part.train)} training rows", "not", "calibration rows"
    assert_any_says(evaluation.notes, *missing_rows)


def test_out_of_bag_by_clusters_no_tree_that_scores_a_row_saw_its_cluster():
    (part,) = fit(SMALL.replace(split="cluster", placement="oob"), DATA).parts
    placed, forest = part.placed, part.placed.model[-1]
    own = CLUSTER[part.train]
    bag = forest.in_bag()
    for cluster in np.unique(own):
        assert (bag[own == cluster] == bag[own == cluster][0]).all()  # in or out as a whole
    names = len(np.unique(own))
    drawn = np.array([len(np.unique(own[column])) for column in bag.T])
    assert abs(drawn.mean() / names - (1 - np.exp(-1))) < 0.05  # so many of m clusters does a bootstrap hold
    matrix = placed.model[0].transform(DATA.X.iloc[part.train]).astype(np.float32)
    for j, i in enumerate(placed.index[:40]):
        votes = [
            tree.predict_proba(matrix[[i]])[0, 1]
            for tree, inside in zip(forest.estimators_, bag[i], strict=True)
            if not inside
        ]
        assert placed.scores[j] == pytest.approx(np.mean(votes), abs=1e-12)


def test_trees_on_whole_clusters_are_those_of_scikit_learn_on_the_same_weights():
    forest = ProbabilityForest(6, random_state=3).fit(X, Y, groups=CLUSTER)
    assert len(forest.estimators_) == 6
    assert forest.get_params()["bootstrap"]
    assert not forest.get_params()["warm_start"]
    again = ProbabilityForest(6, random_state=3).fit(X, Y, groups=CLUSTER)
    np.testing.assert_array_equal(forest.predict_proba(X), again.predict_proba(X))
    out = ~forest.in_bag()
    assert out.any(axis=1).mean() > 0.8


def test_models_that_cannot_draw_clusters_are_refused_out_of_bag():
    with pytest.raises(InputError, match="placement: .*row by row.*split='cluster'"):
        fit(Recipe(model="tuned_forest", placement="oob", split="cluster", params={"draws": 1}), DATA)


@pytest.mark.parametrize("split", [key for key in SPLITS if SPLITS[key].needs])
def test_a_split_without_its_column_is_refused(split):
    with pytest.raises(InputError, match=f"split='{split}' needs the field {SPLITS[split].needs}"):
        evaluate(SMALL.replace(split=split), Dataset("plain", X, Y))


def test_given_scores_calibrate_on_what_the_file_names_else_on_all_before():
    scores = Dataset("given", pd.DataFrame({"s": RNG.random(N)}), Y, predictions=True, time=TIME, part=PART)
    (part,) = fit(Recipe(split="file"), scores).parts
    assert set(PART[part.train[part.placed.index]]) == {1}
    (part,) = fit(Recipe(split="time"), scores).parts
    assert len(part.placed.index) == len(part.train)


def test_a_training_part_of_one_class_is_refused_with_the_remedy():
    y = (TIME > 40).astype(int)
    with pytest.raises(InputError, match="split='time'.*training .*one class"):
        evaluate(SMALL.replace(split="time", test_size=0.6), Dataset("late", X, y, time=TIME))
    with pytest.raises(InputError, match="split='time'.*training .*one class"):
        evaluate(
            SMALL.replace(split="time", test_size=0.1, calibration_size=0.6), Dataset("late", X, y, time=TIME)
        )


def test_splits_are_repeated_where_seeds_draw_them_and_refused_where_not():
    from calib.analysis.differences import repeat_splits

    recipe = SMALL.replace(model="naive_bayes", params=(), split="cluster", calibrators=("none", "platt"))
    assert repeat_splits(recipe, DATA, ("brier",), repeats=3).splits == 3
    for split in ("time", "file"):
        with pytest.raises(InputError, match=f"split='{split}' .*same split"):
            repeat_splits(recipe.replace(split=split), DATA, ("brier",), repeats=3)


def test_groups_reach_the_scikit_learn_classifier():
    model = CalibratedClassifier(ProbabilityForest(20, random_state=0), "platt", random_state=0)
    model.fit(X, Y, groups=CLUSTER)
    inside = model.placed_.index
    assert set(CLUSTER[inside]).isdisjoint(np.delete(CLUSTER, inside))
