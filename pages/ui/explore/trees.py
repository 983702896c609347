"""Parts of the Trees page: depths grown in the background, curves, diagrams, and the calibrated tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from calib.analysis.depth import (
    DEPTH_METRICS,
    GROWTHS,
    JOINT_METRICS,
    SETTINGS_FROM,
    UNLIMITED,
    DepthFit,
    at_depth,
    depth_recipe,
    depth_scores,
    forest_cost,
    grown_depths,
    growths_of,
    judge,
    sweep_depths,
    sweep_key,
    tree_is_grown,
    tree_seconds,
    why_not_grown,
)
from calib.analysis.grown_tree import GrownTree, grown_tree
from calib.calibrators import interval_methods, label_of
from calib.evaluate import FEWEST_ESTIMATED, Evaluation
from calib.figures.depth import best_cells, metric_of
from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.kernel.wording import brief, class_named
from calib.metrics import METRICS, class_metrics
from calib.models import MODELS
from calib.recipe import Recipe
from pages.ui import chart, controls, downloads, evaluations, headings, jobs, state, tables
from pages.ui.tables import grid
from pages.ui.text import plain

KEPT_SWEEPS, KEPT_SCORES, KEPT_DIAGRAMS, KEPT_TREES = 2, 6, 12, 6
ROW_ROLES = {
    "test": "a test row",
    "calibrates": "a calibration row",
    "trained": "a training row",
}
# A leaf's prediction comes first, because a rule alone would fill a phone
LEAF_COLUMNS = ("condition", "p", "rule", "n", "label", "p0", "p1", "own", "test rows", "observed")
MOST_DIAGRAMS = 4
FEATURES_NEEDED = (
    "This page grows trees, so it needs feature columns. These data contain predictions instead. "
    "The Reliability and Venn–Abers pages evaluate the predictions."
)
# Lines of a table: a fully grown tree of many rows has tens of thousands of leaves, with long rules
MOST_RULES = 500


@dataclass(frozen=True, eq=False)
class DepthSweep:
    """Results so far: the fits by (growth, leaf, depth), and their scores under the Recipe's calibrators."""

    data: Dataset
    key: tuple[Any, ...]
    points: dict[tuple[str, str, int], DepthFit]
    scores: dict[tuple[str, str, int], pd.DataFrame]

    def tables(self) -> list[pd.DataFrame]:
        return list(self.scores.values())

    @property
    def has_tree(self) -> bool:
        """Whether the tree is fitted at every depth; the forests are fitted after it."""
        return tree_is_grown(list(self.points.values()))


def depth_sweep(recipe: Recipe) -> DepthSweep:
    """Return the sweep of a Recipe. Other calibrators keep the fits, and other views keep the scores."""
    data = evaluations.dataset(recipe)
    fits = (data.digest, sweep_key(recipe))
    bins = (recipe.bins, recipe.binning) if METRICS[recipe.setting("trees.metric")].binned else ()
    key = (*fits, *recipe.fields_of("calibrate").values(), *bins)
    points = jobs.cached("depth_points", KEPT_SWEEPS, fits, dict)
    return DepthSweep(data, key, points, jobs.cached("depth_scores", KEPT_SCORES, key, dict))


def _metric_drawn(recipe: Recipe, grown: DepthSweep) -> str:
    """Return the Recipe's metric, or for all classes together one that they have."""
    preferred = recipe.setting("trees.metric")
    return JOINT_METRICS[0] if grown.data.joint and preferred not in JOINT_METRICS else preferred


def metric(recipe: Recipe, grown: DepthSweep) -> None:
    """Draw the choice of the metric, and say whose settings the trees have."""
    together, drawn = grown.data.joint, _metric_drawn(recipe, grown)
    posterior, intervals = (
        grown.data.posterior is not None,
        set(recipe.calibrators) & set(interval_methods()),
    )
    there = {"posterior": posterior, "intervals": bool(intervals), "probabilities": True}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.control(
            st.selectbox,
            "trees.metric",
            drawn,
            SETTINGS["trees.metric"].label,
            JOINT_METRICS
            if together
            else [key for key in dict.fromkeys([drawn, *DEPTH_METRICS]) if there[METRICS[key].needs]],
            format_func=lambda key: (class_metrics() if together else METRICS)[key].label,
            help=f"{(class_metrics() if together else METRICS)[drawn].help} {_settings(recipe)}",
            width=300,
        )


def _settings(recipe: Recipe) -> str:
    """Say whose settings the trees have, and which rows evaluate them."""
    label = MODELS[recipe.model].label.lower()
    if recipe.model in SETTINGS_FROM:
        text = f"Tree and forest use the sidebar settings of the {label}; only depth and leaf estimates vary."
    else:
        text = (
            f"Tree and forest use the defaults of a random forest; the settings of the {label} do not apply."
        )
    return text + (" All depths are evaluated on one test set." if recipe.evaluation == "folds" else "")


def curves(recipe: Recipe, grown: DepthSweep) -> Any:
    """Draw the metric against depth, and redraw it until all depths are fitted.

    Return the container of the page's own controls: beside the picture, and below it while it is redrawn.
    """

    def draw(all_of_it: bool = False) -> Any:
        if not grown.scores:
            return st.container()
        place, name = headings.finding(), _metric_drawn(recipe, grown)
        with place.words:
            if all_of_it:
                _headline(grown, name)
        with place.picture:
            view = recipe.stated_settings("trees", "growth", "leaves")
            chart.show("depth", grown.tables(), sentence=place.sentence, metric=name, **view)
        return place.words

    def grow(forests: bool, watch: Watch) -> None:
        waiting = [point for key, point in list(grown.points.items()) if key not in grown.scores]
        for point in watch.within(0.0, 0.1).loop(waiting, "evaluating the fitted models"):
            grown.scores[point.key] = depth_scores(recipe, point)
        for point in sweep_depths(recipe, grown.data, watch, list(grown.points.values()), forests):
            grown.points[point.key] = point
            grown.scores[point.key] = depth_scores(recipe, point)

    if not grown.has_tree:  # the rest of the page needs only the tree
        key = (*grown.key, "tree")
        if not _may_grow(recipe, grown.data, key):
            return draw()
        if jobs.run("depths", "Growing trees", {key: partial(grow, False)}, meanwhile=draw) is None:
            return st.container()
    fits, seconds = forest_cost(recipe, list(grown.points.values()))
    cost = jobs.price(fits, seconds)
    picture = st.container()
    estimate = 0.0 if state.lesson_open() else seconds  # a lesson's text needs them, so it does not ask
    if not jobs.may_begin("depths", grown.key, "Forests of all depths", cost, estimate):
        with picture:
            return draw()
    if jobs.run("depths", "Growing trees", {grown.key: partial(grow, True)}, meanwhile=draw) is not None:
        return draw(all_of_it=True)
    return st.container()


def _may_grow(recipe: Recipe, data: Dataset, key: tuple[Any, ...]) -> bool:
    """Tell whether the tree may be grown at every depth; if many rows take long, after a click."""
    # A lesson's text needs the trees, so it does not ask
    if data.n < FEWEST_ESTIMATED or jobs.started("depths", key) or state.lesson_open():
        return True
    full = evaluations.expected([(depth_recipe(recipe, "tree"), data)])
    if full is None:
        return False
    seconds = tree_seconds(data.n, full)
    cost = evaluations.cost_of(data.n, seconds)
    return jobs.may_begin("depths", key, "Trees of all depths", cost, seconds, main=True)


def _headline(grown: DepthSweep, name: str) -> None:
    """Draw the best value of each growth over depths, leaves and calibrators."""
    cells = best_cells(grown.tables(), name)
    if cells:
        with headings.rows():
            for growth, value, where in cells:
                tables.noted(
                    f"{metric_of(grown.tables()[0], name).label} · {GROWTHS[growth].label}",
                    brief(value),
                    where,
                    help="Best value over all depths, leaf estimates and calibrators. This value was chosen "
                    "on the test rows, so it is slightly optimistic.",
                )


def about_all_classes() -> None:
    """Explain the scores of all classes together."""
    st.caption(
        "These scores cover all classes together: the Brier score is summed over the classes, and the AUC "
        "is averaged over each class against the rest."
    )


def losses(recipe: Recipe, grown: DepthSweep) -> None:
    """Draw calibration and grouping loss if true probabilities are known."""
    if grown.data.posterior is None:
        st.caption(
            "For synthetic data, whose true probabilities are known, a second chart shows which part of the loss "
            "calibration can correct."
        )
        return
    if not grown.scores:
        return
    method = recipe.setting("trees.losses_of")
    controls.choice(
        "trees.losses_of",
        recipe,
        method,
        list(dict.fromkeys([method, *recipe.calibrators])),
        format_func=label_of,
    )
    chart.show("depth_losses", grown.tables(), calibrator=method)


def diagrams(recipe: Recipe, grown: DepthSweep) -> None:
    """Draw reliability diagrams of one growth at a few depths, side by side."""
    settings = recipe.page("trees")
    with st.container(horizontal=True, key="diagram_switches"):
        growth = _growth(recipe, grown.data)
        controls.choice("trees.leaves", recipe, and_then=lambda _: {"trees.node": None})
        there = grown_depths(grown.points, growth, settings.leaves)
        controls.choice(
            "trees.depths",
            recipe,
            list(settings.depths),
            list(dict.fromkeys([*settings.depths, *map(str, there), UNLIMITED])),
            st.multiselect,
            max_selections=max(MOST_DIAGRAMS, len(settings.depths)),
            format_func=lambda depth: "fully grown" if depth == UNLIMITED else depth,
            width=420,
        )
    shown: dict[str, Evaluation] = {}
    for depth in settings.depths:
        point = at_depth(grown.points, growth, settings.leaves, depth)
        if point is not None and grown.has_tree:
            shown[_name(point)] = _evaluation(recipe, grown, point)
    if shown:
        tables.diagrams(shown)
    else:
        st.caption("Not grown yet." if settings.depths else "Choose a depth above.")


def _growth(recipe: Recipe, data: Dataset) -> str:
    """Return the growth of the diagrams, among those that the split allows; if a link names another one, the tree."""
    preferred, offered = recipe.setting("trees.growth"), growths_of(recipe, data)
    shown = preferred if preferred in offered else offered[0]
    if len(offered) > 1:
        controls.choice("trees.growth", recipe, value=shown, offered=offered)
    return shown


def not_grown(recipe: Recipe, grown: DepthSweep) -> None:
    """Say which growths are missing, and why."""
    for key in GROWTHS:
        why = why_not_grown(recipe, grown.data, key)
        if why:
            st.info(f"{GROWTHS[key].label}, is not shown. {why}")


def _name(point: DepthFit) -> str:
    leaves = f"{point.leaves:.0f} leaves" + (" per tree" if GROWTHS[point.growth].forest else "")
    return f"{f'Fully grown, depth {point.depth}' if point.deepest else f'Depth {point.depth}'}: {leaves}"


def _evaluation(recipe: Recipe, grown: DepthSweep, point: DepthFit) -> Evaluation:
    key = (*grown.key, *point.key)
    return jobs.cached("depth_diagrams", KEPT_DIAGRAMS, key, lambda: judge(recipe, point)).with_view(recipe)


def chosen(recipe: Recipe, grown: DepthSweep) -> GrownTree:
    """Return the tree at the chosen depth, leaves and method; end the page while it is missing."""
    settings = recipe.page("trees")
    depths = grown_depths(grown.points, "tree", settings.leaves)
    point = at_depth(grown.points, "tree", settings.leaves, str(settings.depth))
    if point is None or not grown.has_tree:
        st.caption("Not grown yet.")
        st.stop()
    key = (grown.key, point.key, settings.interval)
    tree = refused = None
    try:
        tree = jobs.cached(
            "grown_trees", KEPT_TREES, key, lambda: grown_tree(recipe, point, method=settings.interval)
        )
    except InputError as error:
        refused = plain(error)
    with st.container(horizontal=True, key="tree_switches"):
        if depths[-1] > 1 and tree is not None:
            controls.parameter_control(
                replace(recipe.parameter("trees.depth"), high=depths[-1]),
                "trees.depth",
                min(settings.depth, depths[-1]),
                plays=True,
                and_then=lambda _: {"trees.node": None},
                width=260,
            )
        controls.choice("trees.interval", recipe)
        if tree is not None:
            controls.parameter_control(recipe.parameter("trees.row"), "trees.row", settings.row, width=200)
    if tree is None:
        st.info(refused)
        st.stop()
    return tree


def picture(recipe: Recipe, tree: GrownTree) -> None:
    """Draw the tree from the chosen node, and the path of the chosen row in words."""
    settings = recipe.page("trees")
    row = settings.row
    try:
        position = None if row is None else tree.position(row)
    except InputError as error:
        st.info(plain(error))
        row = position = None
    root = settings.node if settings.node is not None and settings.node < len(tree.nodes) else None

    def clicked(known: list) -> None:
        node = tree.nodes[int(known[0])]
        if node.number == (root or 0):
            state.update(**{"trees.node": max(node.parent, 0) or None})
        elif not node.leaf:
            state.update(**{"trees.node": node.number})

    if root:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"The drawing starts at node {root}: {plain(tree.nodes[root].rule)}. Click the drawing's first line "
                "to go up one level."
            )
            st.button("Whole tree", key="whole_tree", on_click=lambda: state.update(**{"trees.node": None}))
    hint = "Click a node with branches to draw the tree from this node."
    record = chart.show("tree", tree, root=root, row=row, on_click=clicked, hint=hint)
    branches = [i for i in record.shown if not tree.nodes[i].leaf and i != 0] if record else []
    if branches:  # the same choice by keyboard
        controls.choice(
            "trees.node",
            recipe,
            root or None,
            [None, *branches],
            st.selectbox,
            format_func=lambda i: "The first node" if i is None else f"Node {i}: {tree.nodes[i].rule}",
            width=420,
        )
    if row is not None:
        label = plain(class_named(tree.classes[int(tree.labels[position])]))
        st.markdown(f"**The path of row {row}**, {ROW_ROLES[tree.roles[position]]} in {label}")
        way = tree.path_of(row)
        conditions = [tree.nodes[i].condition or "every row" for i in way]
        _table(tree.table(way).drop(columns="rule").assign(condition=conditions), "way")


def rules(tree: GrownTree) -> None:
    """Draw the calibrated tree as a table, one line per leaf."""
    table = tree.table()
    headings.heading(f"The tree as {len(table)} rules")
    _table(table if len(table) <= MOST_RULES else table.nlargest(MOST_RULES, "n").sort_index(), "leaf_rules")
    positive = plain(class_named(tree.classes[1]))
    largest = f"The {MOST_RULES} leaves with the most training rows; the file contains all leaves. " * (
        len(table) > MOST_RULES
    )
    st.caption(
        f"{largest}Each line is a leaf; leaves are ordered by p. Columns are training rows (n), the leaf's "
        f"own estimate (own) and its calibrated values (p0, p1, p). The last two columns show the number of "
        f"test rows in the leaf and the share of these rows in {positive}."
    )
    downloads.table("Leaf rules (CSV)", lambda: table, "tree_rules.csv")


def _table(table: pd.DataFrame, key: str) -> None:
    shown = table.rename(columns={"score": "own"})
    grid(
        shown,
        key=key,
        hide_index=True,
        column_order=[name for name in LEAF_COLUMNS if name in shown],
        column_config={
            name: st.column_config.NumberColumn(format="%.3g", width=66)
            for name in ("p0", "p1", "own", "observed")
        }
        | {"p": st.column_config.NumberColumn(format="%.3g", width=66, pinned=True)}
        | {"rule": st.column_config.TextColumn(width="large"), "n": st.column_config.NumberColumn(width=66)},
        alt="Rules of the tree: rule, training rows, class, p0, p1 and p for every leaf"
        if key == "leaf_rules"
        else "Nodes on the path of the chosen row",
    )
