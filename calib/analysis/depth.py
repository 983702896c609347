"""Effect of tree depth on probabilities: trees and forests are grown to every depth, scored and calibrated.

Johansson, Löfström, Boström (trees, 2019): frequency against Laplace leaves; Shaker and Hüllermeier (2025):
calibration loss falls and grouping loss rises as groups get larger.

Every depth is grown separately. Cutting a fully grown tree gives other trees: scikit-learn draws features, and
breaks ties between splits, in the order in which it grows the nodes, so that nodes below one node
change later draws.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from calib.analysis.sample_size import minority_rows
from calib.calibrators import CALIBRATORS
from calib.evaluate import Evaluation, Fitted, calibrate, fit
from calib.kernel import checks
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.metrics import METRICS, log_loss_clipped, loss_decomposition, metric_table
from calib.models import MODELS
from calib.models.leaves import LEAVES as ALL_LEAVES
from calib.placements import PLACEMENTS
from calib.recipe import Recipe, effective_values, with_calibrators
from calib.splits import SPLITS

DEPTH_METRICS = (
    "brier",
    "log_loss",
    "ece",
    "reliability",
    "auc",
    "accuracy",
    "accuracy_gap",
    "group_entropy",
    "width",
    "tce",
)
JOINT_METRICS = ("brier", "log_loss", "accuracy", "auc")  # scores of all K classes together
LEAF_ESTIMATES = {key: label for key, label in ALL_LEAVES.items() if key != "m"}  # m needs a strength
UNLIMITED = "max"
DEPTHS = ("2", "5", UNLIMITED)  # default depths of the diagrams side by side
DRAWN_DEPTH = 3  # default depth of the drawn tree
LOSS_PARTS = ("calibration", "grouping", "irreducible")
# Near-continuous predictions are grouped by quantile bins: in groups of one, calibration is all
FOREST_GROUPS = 20


@dataclass(frozen=True)
class Growth:
    """A kind of tree model to grow: a tree, or a forest with one kind of calibration data."""

    key: str
    label: str
    forest: bool
    placement: str


GROWTHS = {
    growth.key: growth
    for growth in (
        Growth("tree", "Tree, held out", False, "split"),
        Growth("forest", "Forest, held out", True, "split"),
        Growth("forest_oob", "Forest, out of bag", True, "oob"),
    )
}
FOREST_MODELS = ("random_forest", "bagged_trees", "large_forest")
SETTINGS_FROM = ("decision_tree", *FOREST_MODELS)  # the models whose settings a tree and a forest can share


@dataclass(frozen=True, eq=False)
class DepthFit:
    """A tree model fitted and scored at one depth with one kind of leaf; calibrating it takes milliseconds.

    Attributes
    ----------
    depth
        The depth limit; if ``deepest`` (no limit), the largest depth of the trees.
    leaves
        Mean number of leaves per tree.
    fitted
        The fit without models and rows, except for the model of a single tree.
    """

    growth: str
    leaf: str
    depth: int
    deepest: bool
    leaves: float
    fitted: Fitted

    @property
    def key(self) -> tuple[str, str, int]:
        return self.growth, self.leaf, self.depth


def depth_recipe(recipe: Recipe, growth: str, depth: int | None = None, leaf: str = "frequency") -> Recipe:
    """Return the Recipe that evaluates a growth at a depth.

    Settings that a tree and a forest share come from the Recipe's model if it is one of the two, else
    from the random forest; all depths share one test set.

    Parameters
    ----------
    growth
        A key of GROWTHS.
    depth
        None means without a limit.
    leaf
        A key of LEAF_ESTIMATES.

    Examples
    --------
    >>> depth_recipe(Recipe(params={"min_samples_leaf": 3}), "tree", 4).to_query()["params"]
    '{"criterion":"gini","curtail":0,"leaf":"frequency","m":2.0,"max_depth":4,"min_samples_leaf":3}'
    """
    kind = GROWTHS[growth]
    source = recipe.model if recipe.model in SETTINGS_FROM else "random_forest"
    given = dict(recipe.params) if source == recipe.model else {}
    values = checks.settings(given, MODELS[source].parameters, MODELS[source].label)
    model = (source if source in FOREST_MODELS else "random_forest") if kind.forest else "decision_tree"
    known = {parameter.name for parameter in MODELS[model].parameters}
    params = {name: value for name, value in values.items() if name in known} | {
        "max_depth": depth,
        "leaf": leaf,
    }
    return recipe.replace(
        content="features",
        score=None,
        model=model,
        params=effective_values(MODELS[model].parameters, params),
        placement=kind.placement,
        evaluation="holdout",
    )


def sweep_key(recipe: Recipe) -> str:
    """Return the settings that a sweep depends on: the fit parts of its Recipes."""
    return "-".join(depth_recipe(recipe, growth).digest("fit") for growth in GROWTHS)


def check_depth(depth: str, name: str) -> str:
    """Refuse a text that is neither a depth from 1 to 100 nor "max" for the fully grown tree."""
    if depth not in (UNLIMITED, *map(str, range(1, 101))):
        raise checks.InputError(
            f"{name} must be whole numbers from 1 to 100 or {UNLIMITED!r}, but include {checks.short_repr(depth)}."
        )
    return depth


def depths_below(deepest: int, forest: bool) -> list[int]:
    """Return the depths below the full one, coarse before fine; for a forest, those with at most four binary digits.

    >>> depths_below(7, False)
    [4, 2, 6, 1, 3, 5]
    >>> sorted(depths_below(40, True))[13:]
    [14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36]
    """
    chosen = [d for d in range(1, deepest) if not forest or d % (1 << max(0, d.bit_length() - 4)) == 0]
    return sorted(chosen, key=lambda d: (-(d & -d), d))


def grow(
    recipe: Recipe, dataset: Dataset, growth: str, depth: int | None = None, watch: Watch | None = None
) -> list[DepthFit]:
    """Grow a tree model at one depth, and return one DepthFit per kind of leaf for the same trees."""
    cell = depth_recipe(recipe, growth, depth)
    fitted = fit(cell, dataset, watch)
    part = fitted.parts[0]
    last = part.placed.model[-1]
    trees = [member.tree_ for member in getattr(last, "estimators_", [last])]
    reached = max(tree.max_depth for tree in trees)
    done = []
    for leaf in LEAF_ESTIMATES:
        placed, tests = part.placed, part.tests
        if leaf != dict(cell.params).get("leaf"):
            placed = placed.with_model(Pipeline([*placed.model.steps[:-1], ("model", last.with_leaf(leaf))]))
            tests = placed.score(part.tests.X)
        light = placed.light() if GROWTHS[growth].forest else placed.light("model")
        kept = replace(part, placed=light, tests=replace(tests, X=None))
        done.append(
            DepthFit(
                growth,
                leaf,
                reached if depth is None else depth,
                depth is None,
                float(np.mean([tree.n_leaves for tree in trees])),
                replace(fitted, recipe=depth_recipe(recipe, growth, depth, leaf), parts=(kept,)),
            )
        )
    return done


def sweep_depths(
    recipe: Recipe,
    dataset: Dataset,
    watch: Watch | None = None,
    have: Collection[DepthFit] = (),
    forests: bool = True,
) -> Iterator[DepthFit]:
    """Yield every growth at every depth as soon as it is fitted: first the tree, then the forests, coarse before fine.

    Parameters
    ----------
    have
        Results of an earlier sweep with the same ``sweep_key``, which are not grown again.
    forests
        Whether to grow forests after the tree.

    Raises
    ------
    InputError
        If the data do not allow a fit.
    Cancelled
        If ``watch`` was cancelled.
    """
    watch = watch or Watch()
    share = 0.1 if forests else 1.0
    yield from _sweep(recipe, dataset, ["tree"], watch.within(0.0, share), have)
    if forests:
        growths = [key for key in growths_of(recipe, dataset) if GROWTHS[key].forest]
        yield from _sweep(recipe, dataset, growths, watch.within(share, 1.0), have)


def growths_of(recipe: Recipe, dataset: Dataset) -> tuple[str, ...]:
    """Return the growths whose placement the Recipe's split allows."""
    return tuple(key for key in GROWTHS if why_not_grown(recipe, dataset, key) is None)


def why_not_grown(recipe: Recipe, dataset: Dataset, growth: str) -> str | None:
    """Explain in a sentence why the Recipe's split does not allow a growth; None if it does."""
    placement = GROWTHS[growth].placement
    if dataset.joint and not PLACEMENTS[placement].for_k:
        return "Each class has its own calibration rows. Choose a class to see its rows."
    return SPLITS[recipe.split].refuses(PLACEMENTS[placement].asks, dataset.fixes_calibration)


def tree_is_grown(points: Collection[DepthFit]) -> bool:
    """Tell whether the single tree has been grown to every depth."""
    trees = [point for point in points if point.growth == "tree"]
    deepest = [point.depth for point in trees if point.deepest]
    return bool(deepest) and {point.depth for point in trees} >= set(depths_below(deepest[0], False))


def tree_seconds(rows: int, seconds: float) -> float:
    """Estimate the seconds of the single tree at every depth from those of the fully grown tree.

    In measurements, the fully grown tree of 100,000 rows was twice as deep as a balanced one. With its scores, a tree
    took as long as the fully grown one alone, averaged over the depths.

    >>> round(tree_seconds(100_000, 3.0))
    100
    """
    return seconds * 2 * float(np.log2(rows))


def forest_cost(recipe: Recipe, points: Collection[DepthFit]) -> tuple[int, float]:
    """Estimate (fits, seconds) for the forests of a sweep from the quickest of its deep trees.

    In measurements, a forest's tree, which looks at fewer columns, took about a fifth of the single tree's
    time. Out-of-bag growth on all rows took 1.7 times as long as growth on the held-out share. A forest's trees were
    deeper by half, and the mean time over the depths was two thirds of that of the full depth.
    """
    fitted = [point for point in points if point.growth == "tree"]
    deepest = max(point.depth for point in fitted)
    # the quickest, because a fit may have been interrupted by other work
    seconds = min(point.fitted.seconds for point in fitted if 2 * point.depth >= deepest)
    trees = dict(depth_recipe(recipe, "forest").params).get("n_estimators", 1)
    depths = 1 + len(depths_below(max(2, round(1.5 * deepest)), True))
    return 2 * depths, seconds * trees * depths * 0.2 * (1 + 1.7) * 2 / 3


def _sweep(
    recipe: Recipe, dataset: Dataset, growths: list[str], watch: Watch, have: Collection[DepthFit]
) -> Iterator[DepthFit]:
    """Grow these kinds of models: first fully, which gives the deepest depth, then at the depths below."""
    deepest = {point.growth: point.depth for point in have if point.deepest}
    for i, growth in enumerate(growths):
        if growth not in deepest:
            name = f"{GROWTHS[growth].label}, fully grown"
            points = grow(recipe, dataset, growth, None, _named(watch, 0.1 * i, 0.1 * (i + 1), name))
            deepest[growth] = points[0].depth
            yield from points
    grown = {(point.growth, point.depth) for point in have}
    plan = [
        (growth, depth)
        for growth in growths
        for depth in depths_below(deepest[growth], GROWTHS[growth].forest)
        if (growth, depth) not in grown
    ]
    plan.sort(key=lambda cell: -(cell[1] & -cell[1]))
    costs = np.cumsum([0.0, *(min(depth, 10) for _, depth in plan)])
    begin = 0.1 * len(growths)
    ends = begin + (1 - begin) * costs / (costs[-1] or 1.0)
    for (growth, depth), start, stop in zip(plan, ends, ends[1:], strict=False):
        name = f"{GROWTHS[growth].label}, depth {depth}"
        yield from grow(recipe, dataset, growth, depth, _named(watch, float(start), float(stop), name))


def _named(watch: Watch, start: float, stop: float, name: str) -> Watch:
    """Return the share [start, stop] of a watch that reports ``name`` for all steps in it."""
    part = watch.within(start, stop)
    report = part.report
    return part if report is None else Watch(lambda share, what: report(share, name), part.cancel)


def grown_depths(points: Mapping[tuple[str, str, int], DepthFit], growth: str, leaf: str) -> list[int]:
    """Return the depths grown so far, in increasing order."""
    return sorted(depth for grown, kind, depth in list(points) if (grown, kind) == (growth, leaf))


def at_depth(
    points: Mapping[tuple[str, str, int], DepthFit], growth: str, leaf: str, depth: str
) -> DepthFit | None:
    """Return the point nearest to a depth (a number as text, or "max"), the shallower on a tie; None if there is none.

    Beyond the deepest tree, this is the fully grown one.
    """
    there = grown_depths(points, growth, leaf)
    if not there:
        return None
    wanted = there[-1] if depth == UNLIMITED else int(depth)
    return points[growth, leaf, min(there, key=lambda each: (abs(each - wanted), each))]


def judge(recipe: Recipe, point: DepthFit) -> Evaluation:
    """Evaluate a point with a Recipe's calibrators; the rank calibrator is excluded, because votes are not kept."""
    keys = tuple(key for key in recipe.calibrators if CALIBRATORS[key].input != "tree_scores")
    return calibrate(recipe.replace(**with_calibrators(recipe, keys)), point.fitted)


def depth_scores(recipe: Recipe, point: DepthFit) -> pd.DataFrame:
    """Return one row per calibrator: growth, leaf, depth, leaves, rows, rarer, calibrator, then metrics.

    ``rows`` counts the test rows, ``rarer`` those of the minority class. The metrics are ``DEPTH_METRICS`` and the
    clipped log loss, or ``JOINT_METRICS`` for K classes together. If true probabilities are known, calibration,
    grouping and irreducible loss follow (Brier, corrected for finite groups), by groups of equal predictions for trees
    and by ``FOREST_GROUPS`` quantile bins for forests.
    """
    evaluation = judge(recipe, point)
    table = _together(evaluation.all_classes) if evaluation.of_confidence else _scores(recipe, evaluation)
    where: dict[str, Any] = {
        "growth": point.growth,
        "leaf": point.leaf,
        "depth": point.depth,
        "leaves": point.leaves,
        "rows": evaluation.tested,
        "rarer": minority_rows(evaluation),
        "calibrator": table.index,
    }
    for column, (name, value) in enumerate(where.items()):
        table.insert(column, name, value)
    if evaluation.posterior is not None:
        groups = FOREST_GROUPS if GROWTHS[point.growth].forest else None
        table[list(LOSS_PARTS)] = _losses(evaluation, evaluation.posterior, groups)
    return table.reset_index(drop=True)


def _scores(recipe: Recipe, evaluation: Evaluation) -> pd.DataFrame:
    return metric_table(
        evaluation.predictions,
        bins=recipe.bins,
        strategy=recipe.binning,
        posterior=evaluation.posterior,
        metrics=[
            key
            for key in (*DEPTH_METRICS, "log_loss_clipped")  # the last is shown beside infinite log losses
            if METRICS[key].needs != "posterior" or evaluation.posterior is not None
        ],
    )


def _together(whole: Evaluation) -> pd.DataFrame:
    """Return the scores of all classes, with the clipped log loss to show beside infinite ones."""
    clipped = {
        key: log_loss_clipped(whole.y, one.p, sample_weight=whole.weight)
        for key, one in whole.predictions.items()
    }
    return whole.metrics[list(JOINT_METRICS)].assign(log_loss_clipped=clipped)


def _losses(evaluation: Evaluation, posterior: np.ndarray, groups: int | None) -> list[list[float]]:
    """Return the parts of each calibrator's expected loss, if true probabilities are known."""
    weight = evaluation.weight
    parts = (
        loss_decomposition(posterior, each.p, groups=groups, corrected=True, sample_weight=weight)
        for each in evaluation.predictions.values()
    )
    return [[getattr(part, name) for name in LOSS_PARTS] for part in parts]
