"""Play buttons for the setting that an experiment declares: play, pause, steps, speed, and the value in words.

The browser keeps the time. It asks for the next value only after the picture of the last one is on the page, so that
nothing queues. If the system asks for reduced motion, only the single steps remain. The value is in the Recipe, so that
a link restores it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from calib.experiments import Experiment
from pages.ui import browser, state


def frames(experiment: Experiment, last: int | None = None) -> list[Any]:
    """List the values to play in their order; ``last`` ends a range of whole numbers early."""
    parameter = next(p for p in experiment.parameters if p.name == experiment.plays)
    if parameter.kind == "choice":
        return list(parameter.choices)
    assert parameter.low is not None
    assert parameter.high is not None
    return list(range(int(parameter.low), (int(parameter.high) if last is None else last) + 1))


def index_of(values: Sequence[Any], value: Any) -> int:
    """Return the index of a value, or of the last value below it; None is above all numbers."""
    if value in values:
        return list(values).index(value)
    below = [i for i, one in enumerate(values) if one is not None and (value is None or one < value)]
    return max(below, default=0)


def show(experiment: Experiment, values: Sequence[Any], value: Any, ready: bool) -> None:
    """Draw the buttons for ``values``; ``ready`` says whether the picture of ``value`` is on the page."""
    parameter = next(p for p in experiment.parameters if p.name == experiment.plays)
    key = f"play_{experiment.key}"
    index = index_of(values, value)

    def stepped() -> None:
        chosen = st.session_state[key].step
        st.session_state[f"{key}_asked"] = chosen["n"]
        state.update(**{f"{experiment.key}.{experiment.plays}": values[int(chosen["index"])]})

    asked = st.session_state.get(f"{key}_asked", 0)
    data = {
        "label": parameter.label,
        "values": ["no limit" if one is None else f"{one:,}" for one in values],
        "index": index,
        "answered": asked if ready else asked - 1,
    }
    browser.component("play")(key=key, data=data, on_step_change=stepped)
