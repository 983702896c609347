"""Parts of the Out of bag page: the ten setups of the 2019 paper, their table, and the paper's own results."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from calib.analysis.sample_size import too_few_to_compare
from calib.evaluate import Evaluation
from calib.figures import formatted_setups
from calib.figures.metrics import formatted_together
from calib.kernel.weights import are_whole
from calib.kernel.wording import brief_percent, listed, points, with_interval
from calib.metrics import METRICS
from calib.models import MODELS
from calib.recipe import Recipe
from calib.study.papers.ten_setups import (
    PUBLISHED_IN_WORDS,
    as_in_the_paper,
    bagged,
    departures,
    findings,
    no_bags,
    placements_together,
    setup_recipes,
    setup_table,
    together_placements,
)
from pages.ui import bagging, chart, controls, downloads, frame, headings, jobs, state, tables
from pages.ui.evaluations import dataset, evaluations_of, may_fit, or_previous, or_stop
from pages.ui.tables import grid

FOREST_NEEDED = (
    "Out-of-bag scores need the trees of a forest and the rows that each tree was trained on. These data "
    "are predictions without their model, so no setup can be built. The Reliability and Venn–Abers pages "
    "calibrate and evaluate the predictions."
)


def needs_bagging(recipe: Recipe) -> None:
    """Offer a bagged model if the Recipe's model has no out-of-bag rows; its held-out setups are shown."""
    why = no_bags(recipe, dataset(recipe))
    if why:
        st.info(f"{why} Only setups with held-out data are shown.")
        return
    if bagged(recipe):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(
            f"{MODELS[recipe.model].label} has no out-of-bag rows, because it is trained on all rows. Only "
            f"setups with held-out data are shown. For all ten, choose {bagging.models()} under Model."
        )
        bagging.use_forest()


def as_published(recipe: Recipe) -> None:
    """Draw the differences from the paper's settings, a button that applies those, and the merge rule of pairs."""
    differs, weight = departures(recipe), dataset(recipe).weight
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if weight is None or are_whole(weight):  # else no method here gives pairs
            controls.choice("merge", recipe)
        if differs:
            st.button(
                "Use the paper's settings",
                key="as_published",
                on_click=lambda: state.update(**as_in_the_paper(recipe)),
                help=f"{PUBLISHED_IN_WORDS} The paper's settings are slower.",
            )
    text = (
        f"Here: {', '.join(differs)}."
        if differs
        else "These are the paper's settings, with a single ten-fold cross-validation."
    )
    platt = (
        ""
        if dict(recipe.options).get("platt.on") == "log-odds"
        else " Platt scaling is fitted to probabilities, as in the paper."
    )
    with headings.details():
        st.caption(
            "Johansson, Löfström, Linusson and Boström (2019) compare these setups on 22 data sets. "
            f"{text}{platt}"
        )
        st.caption(
            "Brackets show the 95 % interval over these test rows. No interval is available for reliability."
        )


def evaluations(recipe: Recipe) -> dict[str, Evaluation]:
    """Return placement → Evaluation; while they are fitted, those of the last settings in grey, or end the page."""
    setups = setup_recipes(recipe, dataset(recipe))
    with jobs.place_of_progress():
        done = evaluations_of(setups) if may_fit(setups) else None
        found = or_previous("setups", done and {key: or_stop(one) for key, one in done.items()})
    if found is None:
        st.stop()
    return found


def together(recipe: Recipe) -> None:
    """Draw all classes: each calibrator on a held-out share and out of bag, on the same test rows."""
    headings.heading("All classes together")
    needs_bagging(recipe)
    keys = together_placements(recipe, dataset(recipe))
    recipes = {key: recipe.replace(placement=key) for key in keys}
    with jobs.place_of_progress():
        done = evaluations_of(recipes) if may_fit(recipes) else None
        found = or_previous("placements_together", done and {key: or_stop(one) for key, one in done.items()})
    if found is None:
        st.stop()
    table = placements_together(found)
    grid(
        formatted_together(table),
        hide_index=True,
        key="placements_together",
        alt="Scores of all classes by calibrator and calibration data",
    )
    first = next(iter(found.values()))
    chart.caption(
        f"{first.size_text}; ★ marks the best value, and brackets are 95 % intervals. The Brier score is summed over "
        "the classes. The intervals of log loss and Brier score need at least 5 right and 5 wrong "
        "predictions. A small difference may be due to sampling variability.",
        "placements_together",
    )
    downloads.table("All classes (CSV)", lambda: table, "all_classes.csv")


def table(evaluations: dict[str, Evaluation]) -> pd.DataFrame:
    """Return the table of the setups that work; name the others with the reason."""
    frame.refusals(*evaluations.values())
    return setup_table(evaluations)


def picture(table: pd.DataFrame, evaluations: dict[str, Evaluation], sentence: Any) -> None:
    """Draw all setups, and how clear the lowest Brier score is; with too few rows no winner is named."""
    few = any(map(too_few_to_compare, evaluations.values()))
    record = chart.show("setups", table, sentence=sentence, few=few)
    if record is not None and record.sure:
        st.caption(record.sure)


def headline(table: pd.DataFrame) -> None:
    """Draw the leader by each of the paper's criteria, with the interval of its number: a lead may be chance.

    Values that read alike lead together, as the table below marks them.
    """
    if table.empty:
        return
    with headings.rows():
        for label, metric, written in (
            ("Mean estimate closest to accuracy", "accuracy_gap", _in_points),
            ("Lowest reliability (100 bins)", "reliability", _brief),
            ("Lowest Brier score", "brier", _brief),
            ("Highest accuracy", "accuracy", _in_percent),
        ):
            names = list(table.index[METRICS[metric].best(table[metric])])
            lead = table.loc[names[0]]
            ends = [lead.get(f"{metric}_{end}", math.nan) for end in ("low", "high")]
            tables.noted(label, listed(names, 2), written(lead[metric], *ends))


def _in_points(gap: float, low: float, high: float) -> str:
    return f"{points(gap, low, high)} points"


def _brief(value: float, low: float, high: float) -> str:
    return with_interval(value, low, high, digits=2)


def _in_percent(share: float, low: float, high: float) -> str:
    ends = "" if math.isnan(low) else f" [{brief_percent(low)}, {brief_percent(high)}]"
    return f"{brief_percent(share)}{ends}"


def numbers(table: pd.DataFrame, evaluations: dict[str, Evaluation]) -> None:
    """Draw every number of every setup, with the best of each column marked."""
    first = next(iter(evaluations.values()))
    grid(
        formatted_setups(table),
        key="setups",
        alt="Table of all setups; the best value of each column is marked",
    )
    st.caption(
        f"{first.size_text}. Estimate is the mean probability of the predicted label. Reliability is Murphy's, over "
        "100 bins. Size is the width of the interval for the predicted label. The last column takes sampling "
        "variability into account. ★ marks the best value in each column; a small difference may be due to "
        "sampling variability."
    )
    downloads.table("Setups (CSV)", lambda: table.rename_axis("setup"), "setups.csv", index=True)


def beside_the_paper(table: pd.DataFrame) -> None:
    """Draw the results that the paper found over 22 data sets beside those on these data."""
    found = findings(table)
    if found:
        held = sum(one.holds for one in found)
        headings.heading(
            f"{held or 'None'} of the paper's {len(found)} results {'holds' if held < 2 else 'hold'} here"
        )
        shown = pd.DataFrame(
            {
                "Here": ["confirmed" if one.holds else "not confirmed" for one in found],
                "In the paper, on 22 data sets": [one.there for one in found],
                "On these data": [one.here for one in found],
            }
        )
        grid(shown, hide_index=True, alt="Results of the paper and results on these data")
        st.caption(
            "A single data set can differ from the mean over many data sets. Therefore a result that is not "
            "confirmed here does not contradict the paper. The comparison ignores sampling variability."
        )


def notes(evaluations: dict[str, Evaluation]) -> None:
    frame.notes(list(dict.fromkeys(note for one in evaluations.values() for note in one.notes)))
