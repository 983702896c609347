"""Moves of an algorithm, forward and back, and points to drag or to flip with a click."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from calib.experiments.pooling import Moves
from calib.kernel.checks import labelled_points
from calib.recipe import Recipe
from pages.ui import chart, points, state
from pages.ui.controls import parameter_control
from pages.ui.learn.experiments import PageVariation, at_once
from pages.ui.points import Point

POOLING_FIELD = "pooling"


def _pictures(recipe: Recipe, values: dict[str, Any], found: Moves) -> list[Any]:
    """Draw the picture of the chosen move, and the slider of all moves."""
    step = min(values["step"], found.moves)
    hint = "Click a point to flip its label."
    record = chart.show(
        POOLING_FIELD, found, first=True, step=step, on_click=partial(_turn, found), hint=hint
    )
    if found.moves:
        declared = replace(recipe.parameter(f"{POOLING_FIELD}.step"), high=found.moves)
        parameter_control(declared, f"{POOLING_FIELD}.step", step, plays=True)
    return [record]


def _dragged(recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw the points and a new row, which can all be dragged, and the pair p0, p1 of the new row."""
    new, given = values["score"], labelled_points(values["points"], f"{POOLING_FIELD}.points")
    scores = [new, *(score for score, _ in given)]
    with st.expander("Drag the points", key="dragged", expanded=True):
        points.show(
            POOLING_FIELD,
            [Point(new), *(Point(score, label=label) for score, label in given)],
            _dropped,
            kind="scores",
            still=[],
            merge="log",
            low=min(0.0, *scores),
            high=max(1.0, *scores),
            label="Score",
            alt="The chart shows points by score and label, a new row, and the two isotonic fits with the new row.",
        )


def _dropped(placed: list[Point]) -> None:
    new, *others = placed
    text = " ".join(f"{point.x:.15g}:{point.label}" for point in others)
    _change(score=new.x, points=text, step=0)


def _turn(found: Moves, point: int | list[int]) -> None:
    """Flip the label of a point, and start again."""
    turned = point[0] if isinstance(point, list) else point
    _change(
        points=" ".join(f"{s:.15g}:{1 - y if i == turned else y}" for i, (s, y) in enumerate(found.points)),
        step=0,
    )


def _change(**changes: Any) -> None:
    state.update(**{f"{POOLING_FIELD}.{name}": value for name, value in changes.items()})


POOLING_VARIATION = PageVariation(
    pictures=_pictures, below=_dragged, compute=at_once, last=lambda found: found.moves
)
