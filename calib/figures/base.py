"""A figure is two functions: ``prepare`` computes a record (numbers), ``draw`` puts ink on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import CALIBRATORS
from calib.figures.theme import Theme


class Record(Protocol):
    """What ``prepare`` returns: title (the finding), caption (what to look for), alt text, and its numbers."""

    @property
    def title(self) -> str: ...
    @property
    def caption(self) -> str: ...
    @property
    def alt(self) -> str: ...
    def to_frame(self) -> pd.DataFrame: ...


@dataclass(frozen=True)
class FigureEntry:
    """``prepare(evaluation, …) → record`` and ``draw(record, theme) → Plotly figure``.

    parts : of a figure of several panels, a record for each, so that a page can set them in ``record.columns`` columns,
        which a phone stacks; what is taken along holds them all in one
    """

    key: str
    label: str
    prepare: Callable[..., Any]
    draw: Callable[[Any, Theme], go.Figure]
    parts: Callable[[Any], Sequence[Any]] | None = None


def label_of(key: str) -> str:
    """The name of a calibrator in running text."""
    return CALIBRATORS[key].label if key in CALIBRATORS else key
