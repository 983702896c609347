"""Every point of a sweep is the evaluation of its own Recipe; cut trees would not be; nothing is grown twice."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from calib import Recipe, evaluate
from calib.analysis import depth
from calib.analysis.depth import (
    GROWTHS,
    LEAF_ESTIMATES,
    LOSS_PARTS,
    depth_recipe,
    depth_scores,
    depths_below,
    forest_cost,
    grow,
    judge,
    sweep_depths,
    sweep_key,
    tree_is_grown,
)
from calib.calibrators import CALIBRATORS
from calib.kernel.progress import Cancelled, Watch
from calib.metrics import brier_score, loss_decomposition
from calib.models import ProbabilityTree
from calib.models.leaves import parents
from calib.synthetic import GaussianPair

DATA = GaussianPair([0, 0, 0], [1, 1, 2], [1, 1, 0], [1, 2, 1]).sample(400, random_state=1)
RECIPE = Recipe(
    params={"n_estimators": 8}, calibrators=("none", "platt", "venn", "venn_abers"), merge="square"
)


@pytest.fixture(scope="module")
def points():
    return {point.key: point for point in sweep_depths(RECIPE, DATA)}


def test_every_growth_and_leaf_has_every_depth_up_to_the_deepest_tree(points):
    for growth in GROWTHS:
        for leaf in LEAF_ESTIMATES:
            depths = sorted(depth for g, kind, depth in points if (g, kind) == (growth, leaf))
            assert depths == [*sorted(depths_below(depths[-1], GROWTHS[growth].forest)), depths[-1]]
            assert [points[growth, leaf, d].deepest for d in depths] == [False] * (len(depths) - 1) + [True]
    assert len({depth for growth, _, depth in points if growth == "tree"}) > 5


@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("leaf", LEAF_ESTIMATES)
@pytest.mark.parametrize("limit", [1, 3, "max"])
def test_a_point_is_the_evaluation_of_its_recipe(points, growth, leaf, limit):
    deepest = max(d for g, _, d in points if g == growth)
    point = points[growth, leaf, deepest if limit == "max" else limit]
    judged = judge(RECIPE, point)
    expected = evaluate(depth_recipe(RECIPE, growth, None if limit == "max" else limit, leaf), DATA)
    assert judged.recipe == expected.recipe
    for key, predictions in expected.predictions.items():
        np.testing.assert_array_equal(judged.predictions[key].p, predictions.p)
        if predictions.lower is not None:
            np.testing.assert_array_equal(judged.predictions[key].lower, predictions.lower)
    table = depth_scores(RECIPE, point).set_index("calibrator")
    for metric in ("brier", "log_loss", "ece", "reliability", "auc", "accuracy", "width", "tce"):
        np.testing.assert_array_equal(table[metric], expected.measured([metric])[metric])


def test_the_uncalibrated_points_are_scikit_learns_own_trees(points):
    train, test = map(
        np.sort, train_test_split(np.arange(DATA.n), test_size=0.3, stratify=DATA.y, random_state=0)
    )
    X = DATA.X.to_numpy()
    grown, _ = train_test_split(
        np.arange(len(train)), test_size=1 / 3, stratify=DATA.y[train], random_state=0
    )
    rows = train[grown]
    for limit in (1, 2, 4):
        tree = DecisionTreeClassifier(max_depth=limit, random_state=0).fit(X[rows], DATA.y[rows])
        forest = RandomForestClassifier(8, max_depth=limit, random_state=0).fit(X[rows], DATA.y[rows])
        for growth, model in (("tree", tree), ("forest", forest)):
            table = depth_scores(RECIPE, points[growth, "frequency", limit]).set_index("calibrator")
            own = brier_score(DATA.y[test], model.predict_proba(X[test])[:, 1])
            assert table.loc["none", "brier"] == pytest.approx(own, abs=1e-12)
        assert points["tree", "frequency", limit].leaves == tree.get_n_leaves()
        assert points["forest", "laplace", limit].leaves == np.mean(
            [t.get_n_leaves() for t in forest.estimators_]
        )


def test_a_full_tree_cut_at_a_depth_is_another_tree():
    """Why every depth is grown anew: where two splits are equally good, the order of growing decides."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (300, 8)).astype(float)
    y = (X[:, 0] + rng.normal(0, 1, 300) > 1).astype(int)
    full = ProbabilityTree(random_state=0).fit(X, y)
    up, level = parents(full.tree_), np.zeros(full.tree_.node_count, dtype=int)
    for node in range(1, full.tree_.node_count):
        level[node] = level[up[node]] + 1
    differs = []
    for limit in range(1, full.get_depth()):
        node = full.apply(X)
        while (deep := level[node] > limit).any():
            node[deep] = up[node[deep]]
        grown = ProbabilityTree(max_depth=limit, random_state=0).fit(X, y)
        differs.append(not np.array_equal(full.node_probability_[node], grown.predict_proba(X)[:, 1]))
    assert any(differs)


def test_a_sweep_goes_on_where_it_was_called_off(points):
    watch, done = Watch(), []

    def keep(point):
        done.append(point)
        if len(done) == 20:
            watch.cancel.set()

    with pytest.raises(Cancelled):
        list(map(keep, sweep_depths(RECIPE, DATA, watch)))
    rest = list(sweep_depths(RECIPE, DATA, have=done))
    assert not {point.key for point in done} & {point.key for point in rest}
    assert {point.key for point in done + rest} == set(points)


def test_progress_rises_from_nothing_to_everything():
    shares = []
    for _ in sweep_depths(RECIPE, DATA, Watch(lambda share, what: shares.append(share))):
        pass
    assert shares == sorted(shares)
    assert 0.99 < shares[-1] <= 1


def test_kept_points_hold_no_forest_and_no_rows(points):
    for (growth, _, _), point in points.items():
        part = point.fitted.parts[0]
        assert hasattr(part.placed, "model") == (growth == "tree")
        assert part.tests.X is None


def test_settings_that_tree_and_forest_share_are_those_of_the_model_at_hand():
    chosen = Recipe(
        model="bagged_trees", params={"min_samples_leaf": 4, "criterion": "entropy", "n_estimators": 7}
    )
    tree, forest = depth_recipe(chosen, "tree", 3, "laplace"), depth_recipe(chosen, "forest_oob", 3)
    assert (
        dict(tree.params).items()
        >= {"min_samples_leaf": 4, "criterion": "entropy", "leaf": "laplace"}.items()
    )
    assert (tree.model, tree.placement, forest.model, forest.placement) == (
        "decision_tree",
        "split",
        "bagged_trees",
        "oob",
    )
    assert dict(forest.params)["n_estimators"] == 7
    from_tree = depth_recipe(Recipe(model="decision_tree"), "forest")
    assert dict(from_tree.params)["min_samples_leaf"] == 5  # the registry's default for a single tree
    assert (
        depth_recipe(Recipe(model="svm", params={"C": 2.0}), "tree").params
        == depth_recipe(Recipe(), "tree").params
    )


def test_only_what_is_grown_makes_another_sweep():
    key = sweep_key(RECIPE)
    same = (
        {"calibrators": ("none",)},
        {"merge": "log"},
        {"bins": 5},
        {"placement": "cv"},
        {"trees.depth": 7},
    )
    assert {sweep_key(RECIPE.replace(**change)) for change in same} == {key}
    assert dict(RECIPE.params)["n_estimators"] == 8
    assert sweep_key(RECIPE.replace(params={"n_estimators": 8, "max_depth": 4, "leaf": "laplace"})) == key
    other = ({"seed": 1}, {"calibration_size": 0.5}, {"test_size": 0.5}, {"params": {"n_estimators": 9}})
    assert key not in {sweep_key(RECIPE.replace(**change)) for change in other}


def test_a_forests_depths_thin_out_only_beyond_sixteen():
    for deepest in (1, 2, 9, 16, 40, 90):
        tree, forest = depths_below(deepest, False), sorted(depths_below(deepest, True))
        assert sorted(tree) == list(range(1, deepest))
        assert [d for d in forest if d <= 16] == list(range(1, min(deepest, 17)))
        steps = [(b - a) / a for a, b in zip(forest, [*forest, deepest][1:], strict=True) if a >= 16]
        assert all(step <= 0.125 for step in steps)


def test_losses_are_those_of_the_decomposition_and_add_up(points):
    point = points["tree", "frequency", 3]
    judged = judge(RECIPE, point)
    table = depth_scores(RECIPE, point).set_index("calibrator")
    truth = judged.posterior
    for key, predictions in judged.predictions.items():
        parts = loss_decomposition(truth, predictions.p, groups=None, corrected=True)
        assert table.loc[key, list(LOSS_PARTS)].tolist() == [
            parts.calibration,
            parts.grouping,
            parts.irreducible,
        ]
        expected = np.mean(truth * (1 - predictions.p) ** 2 + (1 - truth) * predictions.p**2)
        assert table.loc[key, list(LOSS_PARTS)].sum() == pytest.approx(expected)


def test_the_rank_calibrator_is_left_out_and_the_others_stay(points):
    chosen = RECIPE.replace(calibrators=tuple(CALIBRATORS))
    table = depth_scores(chosen, points["forest_oob", "laplace", 2])
    assert set(table["calibrator"]) == set(CALIBRATORS) - {"rank"}


def test_a_depth_is_grown_once_for_all_leaves(monkeypatch):
    fits, real = [], depth.fit
    monkeypatch.setattr(depth, "fit", lambda *args: fits.append(args) or real(*args))
    assert len(grow(RECIPE, DATA, "forest", 2)) == len(LEAF_ESTIMATES)
    assert len(fits) == 1


def test_the_tree_alone_comes_first_and_tells_what_the_forests_cost(points):
    alone = list(sweep_depths(RECIPE, DATA, forests=False))
    assert {point.key for point in alone} == {key for key in points if key[0] == "tree"}
    assert tree_is_grown(alone)
    assert tree_is_grown(list(points.values()))
    assert not tree_is_grown([point for point in alone if point.depth != 2])
    assert not tree_is_grown([])
    fits, seconds = forest_cost(RECIPE, alone)
    assert fits == pytest.approx(sum(key[0] != "tree" for key in points) / len(LEAF_ESTIMATES), rel=0.5)
    assert forest_cost(RECIPE.replace(params={"n_estimators": 800}), alone) == (
        fits,
        pytest.approx(100 * seconds),
    )
    slow = [replace(alone[0], fitted=replace(alone[0].fitted, seconds=1e6)), *alone[1:]]
    assert forest_cost(RECIPE, slow)[1] < 100 * seconds  # one fit that was held up tells nothing
