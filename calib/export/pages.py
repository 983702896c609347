"""Figures and evaluations as one self-contained HTML file: nothing is loaded from anywhere."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from html import escape
from importlib.metadata import version

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from calib.analysis.decision import decide
from calib.calibrators import CALIBRATORS
from calib.evaluate import Evaluation
from calib.export.charts import Chart, charts
from calib.export.source import python_source
from calib.figures import FIGURES, LIGHT, Theme, formatted_costs, formatted_metrics, formatted_side_by_side
from calib.kernel.checks import InputError
from calib.kernel.version import __version__

PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "plotly")
SIDE_BY_SIDE = (
    *("brier", "log_loss", "ece", "auc", "accuracy", "miscalibration", "miscalibration_chance", "discrimination"),
    "width",
)
COMPARED = ("brier", "ece")  # the metrics drawn side by side
STYLE = """
body { font: 16px/1.5 "Source Sans 3", "Segoe UI", Helvetica, Arial, sans-serif; max-width: 62rem; margin: 2rem auto;
       padding: 0 1rem; color: %(ink)s; background: %(paper)s }
h1, h2, h3 { line-height: 1.25; font-family: Georgia, serif } h2 { margin-top: 3rem } nav a { margin-right: 1.5rem }
a { color: inherit } table { border-collapse: collapse; font-variant-numeric: tabular-nums } .wide { overflow-x: auto }
th, td { text-align: right; padding: .25rem .75rem; border-bottom: 1px solid %(grid)s }
th:first-child, td:first-child { text-align: left }
figure { margin: 2rem 0 } figcaption { color: %(muted)s }
pre { overflow-x: auto; background: %(grid)s; padding: 1rem; font-size: .85rem }
@media print { body { margin: 0; padding: 0; background: none } .modebar-container { display: none }
  figure, tr { break-inside: avoid } h2, h3 { break-after: avoid } pre { white-space: pre-wrap }
  th, td { padding: .2rem .4rem; font-size: .8rem } }
@page { size: A4; margin: 14mm }
"""


def document(title: str, body: str, theme: Theme, plotly: str | None = None) -> str:
    """A page; ``plotly`` is the address of the script, which the page holds itself by default."""
    style = STYLE % {name: getattr(theme, name) for name in ("ink", "paper", "grid", "muted")}
    script = f"<script>{get_plotlyjs()}</script>" if plotly is None else f'<script src="{plotly}"></script>'
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style>{script}</head><body>{body}</body></html>"
    )


def figure_html(figure: go.Figure, alt: str, caption: str = "") -> str:
    """A figure for such a page, with its caption."""
    drawn = figure.to_html(full_html=False, include_plotlyjs=False, config={"displaylogo": False, "responsive": True})
    text = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure><div role="img" aria-label="{escape(alt)}">{drawn}</div>{text}</figure>'


def made_by(source: str) -> str:
    """The versions, and source that gives the same numbers."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"<h2>How this was made</h2><p>Calibration Explorer, calib {__version__}, Python {platform.python_version()}, "
        f"{packages}. This source gives the same numbers:</p><pre>{escape(source)}</pre>"
    )


def standalone_html(figure: go.Figure, alt: str, theme: Theme = LIGHT, plotly: str | None = None) -> bytes:
    """One interactive figure as a page of its own, Plotly included unless ``plotly`` says where it lies."""
    return document(alt, figure_html(figure, alt), theme, plotly).encode()


def report_html(
    evaluations: Evaluation | Mapping[str, Evaluation],
    theme: Theme = LIGHT,
    files: Mapping[str, str] | None = None,
    drawn: Mapping[str, Sequence[Chart]] | None = None,
) -> bytes:
    """Charts, tables, Recipes, source, versions and the data's digest – not the data.

    evaluations : one, or several by name, which are then set side by side first · files : as for ``python_source``
    drawn : the charts of each, where they are there already
    """
    named = {evaluations.dataset.name: evaluations} if isinstance(evaluations, Evaluation) else dict(evaluations)
    title = " · ".join(named) if len(named) < 4 else f"{len(named)} Recipes side by side"
    parts = [f"<h1>{escape(title)}</h1>"]
    if len(named) > 1:
        links = "".join(f'<a href="#recipe-{i}">{escape(name)}</a>' for i, name in enumerate(named))
        parts += [f"<nav>{links}</nav>", *_side_by_side(named, theme)]
    for i, (name, evaluation) in enumerate(named.items()):
        parts += [f'<section id="recipe-{i}">', f"<h1>{escape(name)}</h1>" if len(named) > 1 else ""]
        parts += [*_evaluation(evaluation, (drawn or {}).get(name) or charts(evaluation), theme), "</section>"]
    recipes = {name: evaluation.recipe for name, evaluation in named.items()}
    source = python_source(next(iter(recipes.values())) if len(recipes) == 1 else recipes, files)
    parts.append(made_by(source))
    return document(f"{title} · Calibration Explorer", "".join(parts), theme).encode()


def _side_by_side(named: Mapping[str, Evaluation], theme: Theme) -> list[str]:
    parts = ["<h2>Side by side</h2>"]
    for metric in COMPARED:
        try:
            parts += _chart(Chart("compared", FIGURES["compared"].prepare(named, metric=metric)), theme)
        except InputError:
            continue
    table = formatted_side_by_side(named, SIDE_BY_SIDE).to_html(border=0, index=False)
    return [*parts, f'<div class="wide">{table}</div>']


def _chart(chart: Chart, theme: Theme) -> list[str]:
    record = chart.record
    return [f"<h3>{escape(record.title)}</h3>", figure_html(chart.draw(theme), record.alt, record.caption)]


def _evaluation(evaluation: Evaluation, drawn: Sequence[Chart], theme: Theme) -> list[str]:
    """Everything about one evaluation."""
    recipe, data = evaluation.recipe, evaluation.dataset
    tables = {"Metrics on the test rows": formatted_metrics(evaluation).T}
    if evaluation.predictions:
        tables["Costs on the test rows"] = formatted_costs(decide(evaluation))
    parts = [part for chart in drawn for part in _chart(chart, theme)]
    for title, table in tables.items():
        parts += [f"<h3>{title}</h3>", f'<div class="wide">{table.rename_axis(None, axis=1).to_html(border=0)}</div>']
    parts += [f"<p>{CALIBRATORS[key].label}: {escape(why)}</p>" for key, why in evaluation.refused.items()]
    notes = "".join(f"<li>{escape(note)}</li>" for note in evaluation.notes)
    return [
        *parts,
        "<h3>What was dropped, imputed or left out</h3>",
        f"<ul>{notes}</ul>" if notes else "<p>Nothing.</p>",
        "<h3>Data and Recipe</h3>",
        f"<p>{escape(data.name)}: {data.n:,} rows, {data.X.shape[1]} columns, digest {data.digest}; classes "
        f"{escape(str(data.classes[0]))} (0) and {escape(str(data.classes[1]))} (1); {len(evaluation.y):,} test rows, "
        f"{len(evaluation.calibration_y):,} calibration scores.</p>",
        f"<pre>{escape(recipe.to_json())}</pre>",
    ]
