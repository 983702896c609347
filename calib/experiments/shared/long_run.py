"""A long experiment: results stored in the package, or independent chunks, computed one by one and averaged.

Pages compute chunks as background jobs and show the means of the finished ones. ``scripts/long_experiments.py``
computes them to files, resumes from these files, and stores the means. Both long experiments share the names of their
forests and measures.

In their figures, calibrators have their own colours.
Forests without a calibration set have the text colour, and differ by dash and marker.
"""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import label_of, name_of
from calib.experiments.base import view_of
from calib.figures.axes import padded
from calib.figures.panels import band
from calib.figures.theme import Mark, Theme
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter

BASELINES = {
    "rf_d": "Default forest on all rows",
    "rf_opt": "Tuned forest on all rows",
    "rf_large": "Forest of 500 trees on all rows",
    "ct": "Curtailed forest on all rows",
}
"""The paper's RF_d, RF_opt, RF_large and CT."""
FOREST_TERMS = ("rf_d", "rf_opt", "rf_large", "ct")
"""Keys of their glossary entries."""
BASES = {"tuned": "Tuned forest", "default": "Default forest"}
FOREST_MEASURES = {
    "tce": "TCE",
    "ece": "ECE",
    "brier": "Brier score",
    "excess": "CL + GL",
    "irreducible": "IL",
    "accuracy": "Accuracy",
    "group_entropy": "Entropy of the predictions",
    "bin_entropy": "Entropy over 20 bins",
}
"""Measures: TCE is the mean of (p − π)²; CL + GL is the Brier score minus that of π; entropies are in bits."""

RESULTS = Parameter(
    "results",
    "Results",
    "choice",
    "shipped",
    choices={"shipped": "Stored", "anew": "Compute now"},
    help="Use stored results (for the paper's settings and seed 0), or compute the results now.",
)


def measure_setting(*figures: str) -> Parameter:
    """Return the setting that chooses the measure of the lines."""
    return Parameter(
        "measure",
        "Measure",
        "choice",
        "tce",
        choices=FOREST_MEASURES,
        help="TCE, CL + GL and IL need the true probabilities; the other measures can also be computed from "
        "real data.",
        extra=view_of(*figures),
    )


def base(*figures: str) -> Parameter:
    """Return the setting that chooses the calibrated forest."""
    return Parameter(
        "base",
        "Calibrated",
        "choice",
        "tuned",
        choices=BASES,
        help="Forest to calibrate: tuned, as in the paper, or with scikit-learn's default settings.",
        extra=view_of(*figures),
    )


TOOLS = ("numpy", "scikit-learn")
TABLE_FILE, ABOUT_FILE = "results.csv.gz", "results.json"

Chunk = Callable[..., pd.DataFrame]
"""``chunk(watch=…)`` → columns of the run's ``by``, method, base and measures, one row per repetition."""


@dataclass(frozen=True)
class HowMade:
    """Date and conditions of the computation of stored results.

    Attributes
    ----------
    settings, seed
        Settings and seed of the stored run.
    when
        Date.
    minutes
        Processor time without searches.
    versions
        Versions of the libraries.
    """

    settings: Mapping[str, Any]
    seed: int
    when: str
    minutes: float
    versions: Mapping[str, str]

    def sentence(self) -> str:
        """Describe how the results were computed, in one sentence."""
        tools = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"Precomputed on {self.when}, with seed {self.seed} ({tools})."


@dataclass(frozen=True, eq=False)
class LongResult:
    """Averaged results of a long experiment.

    Attributes
    ----------
    table
        One row per value of the run's ``by``, method and base, with means over repetitions and standard errors.
    made
        Date and conditions of stored results, or None.
    settings
        Settings of the experiment.
    """

    table: pd.DataFrame
    made: HowMade | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LongRun:
    """The simulation of a long experiment; its stored results are in the folder of ``package``.

    Attributes
    ----------
    settings
        Names of the settings that its chunks depend on.
    chunks
        (random_state, settings) → name → chunk.
    by
        Columns that identify the rows of a method.
    order
        Columns that rows are sorted by.
    chosen
        (table, settings) → the requested rows of stored results.
    """

    package: str
    settings: tuple[str, ...]
    chunks: Callable[[int, Mapping[str, Any]], dict[Any, Chunk]]
    by: tuple[str, ...]
    order: tuple[str, ...]
    chosen: Callable[[pd.DataFrame, Mapping[str, Any]], pd.DataFrame] = lambda table, settings: table

    def __call__(self, settings: Mapping[str, Any], random_state: int, watch: Watch) -> LongResult:
        """Return stored results, or compute all chunks one after the other."""
        stored = self.stored_results(random_state, settings)
        if stored is not None:
            return stored
        chunks = list(self.chunks(random_state, settings).values())
        shares = [(i / len(chunks), (i + 1) / len(chunks)) for i in range(len(chunks))]
        return self.gathered(
            [chunk(watch=watch.within(*share)) for chunk, share in zip(chunks, shares, strict=True)], settings
        )

    def stored_results(self, random_state: int, settings: Mapping[str, Any]) -> LongResult | None:
        """Return stored results if they are requested and were computed with these settings.

        A setting that they do not name selects rows, and so may have any value.
        """
        found = _stored(self.package)
        if found is None or settings["results"] != "shipped":
            return None
        table, made = found
        if random_state != made.seed or any(settings[name] != value for name, value in made.settings.items()):
            return None
        return LongResult(self.chosen(table, settings), made, settings)

    def gathered(self, tables: list[pd.DataFrame], settings: Mapping[str, Any]) -> LongResult:
        """Return the means over the repetitions of these chunks."""
        table = means(tables, self.by).sort_values(list(self.order), kind="stable")
        return LongResult(table, settings=settings)

    def keep(self, tables: list[pd.DataFrame], random_state: int, settings: Mapping[str, Any]) -> None:
        """Store the means of all chunks, which have a column ``seconds``, for ``stored_results``."""
        made = {
            "settings": {name: settings[name] for name in settings if name in self.settings},
            "seed": random_state,
            "when": datetime.date.today().isoformat(),
            "minutes": round(sum(table["seconds"].iloc[0] for table in tables) / 60, 1),
            "versions": {tool: version(tool) for tool in TOOLS},
        }
        folder, packed = Path(str(resources.files(self.package))), {"method": "gzip", "mtime": 0}
        self.gathered(tables, settings).table.to_csv(
            folder / TABLE_FILE, index=False, float_format="%.6g", compression=packed
        )
        (folder / ABOUT_FILE).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        _stored.cache_clear()


@lru_cache
def _stored(package: str) -> tuple[pd.DataFrame, HowMade] | None:
    folder = resources.files(package)
    about = folder.joinpath(ABOUT_FILE)
    if not about.is_file():
        return None
    with resources.as_file(folder.joinpath(TABLE_FILE)) as path:
        table = pd.read_csv(path, keep_default_na=False, na_values=["nan"])
    return table, HowMade(**json.loads(about.read_text(encoding="utf-8")))


def means(tables: Iterable[pd.DataFrame], by: Iterable[str]) -> pd.DataFrame:
    """Average over repetitions: columns ``by``, method, base, runs, then tce, tce_error, …"""
    grouped = pd.concat(list(tables)).groupby([*by, "method", "base"], sort=False)[list(FOREST_MEASURES)]
    mean, error = grouped.mean(), grouped.sem().add_suffix("_error")
    return pd.concat([grouped.size().rename("runs"), mean, error], axis=1).reset_index()


def resumed(chunk: Chunk, file: Path) -> Path:
    """Return the file of a chunk's table with its processor time; compute it if it does not exist."""
    if not file.exists():
        begin = time.process_time()
        table = chunk()
        unfinished = file.with_suffix(".part")
        table.assign(seconds=time.process_time() - begin).to_csv(unfinished, index=False)
        unfinished.rename(file)
    return file


BASELINE_MARKS = {
    "rf_d": ("circle-open", "solid"),
    "rf_opt": ("square-open", "dash"),
    "rf_large": ("diamond-open", "dot"),
    "ct": ("triangle-up-open", "dashdot"),
}
UNCALIBRATED = "none"
PAPER_CALIBRATORS = ("platt", "isotonic", "beta", "venn_abers", "ppa", "rank")
PAPER_METHODS = (*BASELINES, *PAPER_CALIBRATORS)
DRAWN_METHODS = (*PAPER_METHODS, UNCALIBRATED)
"""The paper's methods and the uncalibrated forest that they must beat; others can be switched on in the legend."""


def line_mark(method: str, theme: Theme) -> Mark:
    """Return colour, marker and dash of a forest or a calibrator."""
    if method == UNCALIBRATED:
        return Mark(theme.muted, "circle", "solid")
    return Mark(theme.ink, *BASELINE_MARKS[method]) if method in BASELINES else theme.mark(method)


def name(method: str) -> str:
    """Return the name in the legend; UNCALIBRATED is the forest that the calibrators start from."""
    return BASELINES.get(method) or (
        "Same forest, uncalibrated" if method == UNCALIBRATED else label_of(method)
    )


def method_name(method: str) -> str:
    """Return the name of a forest or a calibrator within a sentence."""
    forest = BASELINES.get(method)
    return f"the {forest[0].lower()}{forest[1:]}" if forest else name_of(method)


def of_base(table: pd.DataFrame, base: str) -> pd.DataFrame:
    """Select the forests without a calibration set, and the calibrators of one base forest."""
    return table[table["base"].isin(["", base])]


def wide(table: pd.DataFrame, along: str, measure: str) -> pd.DataFrame:
    """Pivot the means of a measure: one row per value of the column ``along``, one column per method."""
    return table.pivot_table(index=along, columns="method", values=measure)


def add_lines(
    figure: go.Figure,
    table: pd.DataFrame,
    x: str,
    measure: str,
    theme: Theme,
    *,
    where: Mapping[str, Any],
    hover: str,
    first: bool,
    bands: bool = False,
) -> None:
    """Add one line per method of ``measure`` along the column ``x``, with optional bands of two standard errors.

    Parameters
    ----------
    where
        Axes of the traces.
    hover
        Name of x.
    first
        Whether the legend shows these lines.
    """
    for method, rows in table.groupby("method", sort=False):
        ink = line_mark(method, theme)
        visible = True if method in DRAWN_METHODS else "legendonly"
        at, mean = rows[x].to_numpy(), rows[measure].to_numpy()
        error = rows[f"{measure}_error"].fillna(0).to_numpy()
        if bands:
            low, high = mean - 2 * error, mean + 2 * error
            shape = band(at, low, high, ink.color, legendgroup=method, visible=visible, **where)
            figure.add_trace(shape.update(opacity=0.5 if method in BASELINES else 1))
        figure.add_scatter(
            x=at,
            y=np.round(mean, 6),
            mode="lines+markers" if len(at) <= 25 and method != UNCALIBRATED else "lines",
            name=name(method),
            legendgroup=method,
            showlegend=first,
            visible=visible,
            line={"color": ink.color, "dash": ink.dash, "width": 5 if method == UNCALIBRATED else 2},
            marker={"color": ink.color, "symbol": ink.symbol, "size": 7},
            customdata=np.column_stack([2 * error, rows["runs"]]),
            hovertemplate=f"{name(method)}: %{{y:.4f}} ± %{{customdata[0]:.4f}}<br>{hover} %{{x}}"
            "<br>%{customdata[1]} repetitions<extra></extra>",
            **where,
        )


def span(table: pd.DataFrame, measure: str, from_zero: bool = True) -> list[float]:
    """Return a vertical range for the means, from zero for errors and losses unless ``from_zero`` is off."""
    values = table.loc[table["method"].isin(DRAWN_METHODS), measure]
    low, high = padded(values)
    return [0.0 if from_zero and values.min() >= 0 and measure != "accuracy" else low, high]


def source_in_words(found: LongResult) -> str:
    """State the source of the numbers: stored results, or repetitions computed here."""
    if found.made is not None:
        return found.made.sentence()
    runs = found.table["runs"]
    low, high = int(runs.min()), int(runs.max())
    return f"Computed here: means over {high if low == high else f'{low} to {high}'} repetitions."
