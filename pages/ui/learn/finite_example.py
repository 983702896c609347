"""The line of the finite example: cuts by hand, by preset or by click, and its points in an editable table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import nan
from typing import Any

import pandas as pd
import streamlit as st

from calib.experiments import EXPERIMENTS
from calib.experiments.finite import TREE_NAMES
from calib.experiments.finite.simulation import EveryPartition, ForecastLine
from calib.kernel.checks import MOST_ON_LINE
from calib.recipe import Recipe
from pages.ui import chart, points, state
from pages.ui.learn.experiments import PageVariation, at_once
from pages.ui.points import Point
from pages.ui.posed_question import current_question
from pages.ui.tables import grid

FINITE_FIELD = "finite.line"
SLIDERS = 4  # most cuts with a slider; more cuts have buttons only


def _pictures(recipe: Recipe, values: dict[str, Any], found: EveryPartition) -> list[Any]:
    """Draw the line with its cuts and presets; below, the losses of the presets beside all partitions."""
    line = found.line
    hint = "Click a mark to flip its label. Click + to add or remove a cut."
    records = [chart.show("finite", found, on_click=lambda mark: _change(clicked(line, *mark)), hint=hint)]
    current_question().hide_others()  # the losses are the answer
    _cuts(line)
    with st.container(horizontal=True, key="partitions"):
        for name in list(found.rows)[1:]:
            st.button(
                TREE_NAMES[name],
                key=f"take_{name}",
                type="primary" if found.rows[name] == found.rows["own"] else "secondary",
                on_click=partial(_change, line.cut_at(found.cuts(name))),
            )
    left, right = st.columns(2, gap="medium")
    with left:
        costs = chart.show("finite_losses", found)
        if not current_question().open:
            grid(costs.formatted(), hide_index=True, alt=costs.alt)
    with right:
        hint = "Click a mark to use its partition."
        cloud = chart.show(
            "finite_all", found, on_click=lambda row: _change(line.cut_at(found.cuts(row))), hint=hint
        )
    return [*records, costs, cloud]


def clicked(line: ForecastLine, what: str, which: int) -> ForecastLine:
    """Return the line after a click: on a point, its label flips; on a gap, a cut is added or removed."""
    return line.turned(which) if what == "turn" else line.cut_at({*line.cuts} ^ {which})


def _change(line: ForecastLine | str) -> None:
    state.update(**{FINITE_FIELD: str(line)})


def _cuts(line: ForecastLine) -> None:
    """Draw a button for every gap, and a slider for every cut between its neighbours."""
    x = [position for position, _, _ in line.points]
    gaps = range(len(x) - 1)

    def name(gap: int) -> str:
        return f"{x[gap]:g} | {x[gap + 1]:g}"

    state.control(
        st.pills,
        FINITE_FIELD,
        list(line.cuts),
        "Cut between the points",
        gaps,
        key="cuts",
        store=lambda cuts: str(line.cut_at(cuts)),
        selection_mode="multi",
        format_func=name,
        help="Each leaf between two cuts predicts the share of class 1 among its labels.",
    )
    if not 0 < len(line.cuts) <= SLIDERS:
        return
    walls = (-1, *line.cuts, len(gaps))
    for i, (place, cut) in enumerate(zip(st.columns(SLIDERS, gap="medium"), line.cuts, strict=False)):
        free = gaps[walls[i] + 1 : walls[i + 2]]
        if len(free) > 1:
            with place:
                state.control(
                    st.select_slider,
                    FINITE_FIELD,
                    cut,
                    f"Move cut {i + 1}",
                    free,
                    key=f"cut_{i}",
                    store=lambda to, cut=cut: str(line.moved(cut, to)),
                    format_func=name,
                )


def _editor(recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw the points as a table. Invalid rows stay there to be fixed, and the line stays as it was.

    The table is rebuilt if the line changes elsewhere. It is not rebuilt after its own changes, since the cell in
    use would lose the focus.
    """
    text = values["line"]
    opened, rows, version = st.session_state.get("line_table", (None, [], 0))
    if opened != text or f"line_table_{version}" not in st.session_state:
        line, version = ForecastLine.of(text), version + 1
        rows = [
            {"position": x, "posterior": pi, "label": label, "cut": i in line.cuts}
            for i, (x, pi, label) in enumerate(line.points)
        ]
        st.session_state["line_table"] = text, rows, version

    def changed() -> None:
        _change(edited(rows, st.session_state[f"line_table_{version}"]))
        now = EXPERIMENTS["finite"].values(dict(state.recipe().settings))["line"]
        st.session_state["line_table"] = now, rows, version

    with st.expander("Edit the points", key="points", expanded=True):
        _dragged(ForecastLine.of(text))
        st.data_editor(
            pd.DataFrame(rows).astype({"label": "Int64"}),
            key=f"line_table_{version}",
            on_change=changed,
            num_rows="dynamic",
            height="content",
            hide_index=True,
            width="stretch",
            placeholder="–",
            column_config={
                "position": st.column_config.NumberColumn("Position", required=True),
                "posterior": st.column_config.NumberColumn("True probability of class 1", required=True),
                "label": st.column_config.SelectboxColumn("Label", options=[0, 1]),
                "cut": st.column_config.CheckboxColumn("Cut after this point", default=False),
            },
            alt="The table lists each point with its position, true probability and label, and whether a cut follows.",
        )
        st.caption(f"Use 2 to {MOST_ON_LINE} points. A point without a label is not a training row.")


def _dragged(line: ForecastLine) -> None:
    """Draw the points, which can be dragged between their neighbours, or up and down to change the true probability."""
    x = [position for position, _, _ in line.points]

    def dropped(placed: list[Point]) -> None:
        _change(replace(line, points=tuple((p.x, _float(p.y), p.label) for p in placed)))

    points.show(
        "finite",
        [Point(*point) for point in line.points],
        dropped,
        kind="line",
        cuts=line.cuts,
        low=min(x) - 0.5,
        high=max(x) + 0.5,
        label="Position",
        alt="The chart shows each point's true probability by position, the leaf predictions, and the groups' mean "
        "true probabilities.",
    )


def edited(rows: list[dict[str, Any]], changes: Mapping[str, Any]) -> ForecastLine:
    """Return the line of the edited table, unchecked and without incomplete rows."""
    rows = [row | changes["edited_rows"].get(i, {}) for i, row in enumerate(rows)]
    rows = [row for i, row in enumerate(rows) if i not in changes["deleted_rows"]]
    rows += [row for row in changes["added_rows"] if None not in (row.get("position"), row.get("posterior"))]
    rows.sort(key=lambda row: _float(row["position"]))
    points = tuple((_float(row["position"]), _float(row["posterior"]), row.get("label")) for row in rows)
    return ForecastLine(points, tuple(i for i, row in enumerate(rows) if row.get("cut")))


def _float(value: float | None) -> float:
    return nan if value is None else float(value)


FINITE_VARIATION = PageVariation(pictures=_pictures, below=_editor, compute=at_once)
