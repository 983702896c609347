"""Figures and evaluations as one self-contained HTML file: nothing is loaded from anywhere."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import plotly.graph_objects as go

from calib.analysis.advice import recommend
from calib.analysis.decision import decide
from calib.analysis.label_shift import before_and_after
from calib.calibrators import CALIBRATORS
from calib.evaluate import Evaluation
from calib.export.charts import Chart, charts
from calib.export.render import render
from calib.export.source import python_source
from calib.figures import (
    FIGURES,
    LIGHT,
    Theme,
    formatted_costs,
    formatted_metrics,
    formatted_rates,
    formatted_side_by_side,
)
from calib.kernel.checks import InputError
from calib.kernel.version import __version__

PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "plotly")
SIDE_BY_SIDE = (
    *("brier", "log_loss", "ece", "auc", "accuracy", "miscalibration", "miscalibration_chance", "discrimination"),
    "width",
)
COMPARED = ("brier", "ece")  # the metrics drawn side by side


def page(template: str, title: str, theme: Theme, plotly: str | None = None, **values: Any) -> bytes:
    """A page by its template; ``plotly`` is the address of the script, which the page holds itself by default."""
    return render(template, title=title, theme=theme, plotly=plotly, **values).encode()


def versions() -> list[str]:
    """What the numbers were made with."""
    packages = [f"{name} {version(name)}" for name in PACKAGES]
    return [f"calib {__version__}", f"Python {platform.python_version()}", *packages]


def standalone_html(figure: go.Figure, alt: str, theme: Theme = LIGHT, plotly: str | None = None) -> bytes:
    """One interactive figure as a page of its own, Plotly included unless ``plotly`` says where it lies.

    Parameters
    ----------
    figure
    alt : str
        What it shows, for those who cannot see it.
    theme
        That of the page around it.
    plotly : str, optional
        Where Plotly's script lies, relative to the page.
    """
    return page("figure.html", alt, theme, plotly, figure=figure)


def report_html(
    evaluations: Evaluation | Mapping[str, Evaluation],
    theme: Theme = LIGHT,
    files: Mapping[str, str] | None = None,
    drawn: Mapping[str, Sequence[Chart]] | None = None,
) -> bytes:
    """Recommendation, charts, tables, Recipes, source, versions and the data's digest – not the data.

    Parameters
    ----------
    evaluations
        One, or several by name, which are then set side by side first.
    files
        As for ``python_source``.
    drawn
        The charts of each, where they are there already.
    """
    named = {evaluations.dataset.name: evaluations} if isinstance(evaluations, Evaluation) else dict(evaluations)
    name = " · ".join(named) if len(named) < 4 else f"{len(named)} Recipes side by side"
    recipes = {key: evaluation.recipe for key, evaluation in named.items()}
    several = len(named) > 1
    return page(
        "report.html",
        f"{name} · Calibration Explorer",
        theme,
        name=name,
        compared=list(_compared(named)) if several else [],
        side_by_side=formatted_side_by_side(named, SIDE_BY_SIDE) if several else None,
        sections=[_section(key, one, (drawn or {}).get(key) or charts(one)) for key, one in named.items()],
        source=python_source(recipes if several else recipes[name], files),
        versions=versions(),
    )


def _compared(named: Mapping[str, Evaluation]) -> Iterator[Chart]:
    for metric in COMPARED:
        with suppress(InputError):
            yield Chart("compared", FIGURES["compared"].prepare(named, metric=metric))


def _section(name: str, evaluation: Evaluation, drawn: Sequence[Chart]) -> dict[str, Any]:
    """Everything about one evaluation, for the template."""
    data = evaluation.dataset
    return {
        "name": name,
        "advice": recommend(evaluation),
        "charts": drawn,
        "metrics": formatted_metrics(evaluation).T.rename_axis(None, axis=1),
        "costs": formatted_costs(decide(evaluation)).rename_axis(None, axis=1) if evaluation.predictions else None,
        "refused": {CALIBRATORS[key].label: why for key, why in evaluation.refused.items()},
        "base_rates": formatted_rates(before_and_after(evaluation), evaluation.recipe.base_rate)
        if evaluation.before
        else None,
        "notes": evaluation.notes,
        "data": f"{data.name}: {data.n:,} rows, {data.X.shape[1]} columns, digest {data.digest}; classes "
        f"{data.classes[0]} (0) and {data.classes[1]} (1); {evaluation.size:,} test rows, "
        f"{evaluation.calibration_size:,} calibration scores.",
        "recipe": evaluation.recipe.to_json(),
    }
