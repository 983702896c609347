"""Figures and evaluations as one self-contained HTML file: nothing is loaded from anywhere."""

from __future__ import annotations

import html
import platform
from importlib.metadata import version

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from calib.calibrators import CALIBRATORS
from calib.evaluate import Evaluation
from calib.figures import FIGURES, LIGHT, Theme, formatted_metrics

STYLE = """
body { font: 16px/1.5 "Source Sans 3", "Segoe UI", Helvetica, Arial, sans-serif; max-width: 62rem; margin: 2rem auto;
       padding: 0 1rem; color: %(ink)s; background: %(paper)s }
table { border-collapse: collapse; font-variant-numeric: tabular-nums } .wide { overflow-x: auto }
th, td { text-align: right; padding: .25rem .75rem; border-bottom: 1px solid %(grid)s }
th:first-child { text-align: left }
figure { margin: 2rem 0 } figcaption { color: %(muted)s } pre { overflow-x: auto; background: %(grid)s; padding: 1rem }
"""


def _document(title: str, body: str, theme: Theme) -> str:
    style = STYLE % {name: getattr(theme, name) for name in ("ink", "paper", "grid", "muted")}
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style><script>{get_plotlyjs()}</script></head><body>{body}</body></html>"
    )


def _figure(figure: go.Figure, alt: str, caption: str = "") -> str:
    drawn = figure.to_html(full_html=False, include_plotlyjs=False, config={"displaylogo": False, "responsive": True})
    label = html.escape(alt, quote=True)
    text = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    return f'<figure><div role="img" aria-label="{label}">{drawn}</div>{text}</figure>'


def standalone_html(figure: go.Figure, alt: str, theme: Theme = LIGHT) -> bytes:
    """One interactive figure as a page of its own, Plotly included."""
    return _document(alt, _figure(figure, alt), theme).encode()


def report_html(evaluation: Evaluation, theme: Theme = LIGHT) -> bytes:
    """Figures, metric table, Recipe, versions and the data's digest – not the data."""
    recipe, data = evaluation.recipe, evaluation.dataset
    parts = [f"<h1>{html.escape(data.name)}</h1>"]
    for name in ("reliability",):
        record = FIGURES[name].prepare(evaluation)
        parts += [
            f"<h2>{html.escape(record.title)}</h2>",
            _figure(FIGURES[name].draw(record, theme), record.alt, record.caption),
        ]
    parts += ["<h2>Metrics</h2>", f'<div class="wide">{formatted_metrics(evaluation).to_html(border=0)}</div>']
    parts += [f"<p>{CALIBRATORS[key].label}: {html.escape(why)}</p>" for key, why in evaluation.refused.items()]
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in evaluation.notes)
    parts += ["<h2>What was dropped, imputed or left out</h2>", f"<ul>{notes}</ul>" if notes else "<p>Nothing.</p>"]
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "pandas", "scipy", "scikit-learn", "plotly"))
    parts += [
        "<h2>How this was made</h2>",
        f"<p>{data.n} rows, {data.X.shape[1]} columns, data digest {data.digest}; classes "
        f"{html.escape(str(data.classes[0]))} (0) and {html.escape(str(data.classes[1]))} (1). "
        f"Python {platform.python_version()}, {packages}.</p>",
        f"<pre>{html.escape(recipe.to_json())}</pre>",
    ]
    return _document(f"{data.name} · Calibration Explorer", "".join(parts), theme).encode()
