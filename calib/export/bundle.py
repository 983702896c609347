"""One or several evaluations as a ZIP: report, charts, numbers, Recipes, source and calibrators."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from plotly.offline import get_plotlyjs

from calib.evaluate import Evaluation
from calib.export import chromium
from calib.export.calibrators import calibrator_json
from calib.export.charts import Chart, charts
from calib.export.pages import standalone_html
from calib.export.recipes import write_recipes
from calib.export.report import report_html
from calib.export.source import python_source
from calib.export.tables import safe_csv, side_by_side_table, zipped
from calib.export.titled import subtitle, titled
from calib.figures import FIGURES, LIGHT, Theme
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.records import Problem

PLOTLY = "plotly.min.js"
# words: right, a table of files
READ_ME = """Calibration Explorer

report.html       one interactive file with everything; it opens offline
reproduce.py      Python that gives the same numbers with the package calib
recipes.json      the Recipes by name, which the Compare and report page can load again
side_by_side.csv  the metrics of all Recipes
{folders}

In each folder
recipe.json       the Recipe, for the command line: python -m calib evaluate recipe.json DATA
metrics.csv       every metric of every calibrator
predictions.csv   one line per test row: row number (row 1 is the first below the header), label, score
                  and probabilities, but no features; "weight" is the weight in the table, and "effective_weight" is
                  scaled so that it sums over all rows to the effective number of rows
charts/           each chart as interactive HTML (with {plotly} beside it){images} and its numbers as CSV
calibrators/      the fitted calibrators as JSON lookup tables

Left out
{left_out}
"""


def bundle(
    evaluations: Mapping[str, Evaluation],
    theme: Theme = LIGHT,
    files: Mapping[str, str] | None = None,
    images: Sequence[str] = (),
    watch: Watch | None = None,
    problems: Mapping[str, Sequence[Problem]] | None = None,
) -> bytes:
    """Return evaluations by name as a ZIP archive.

    Parameters
    ----------
    images
        Formats of ``chromium.FORMATS`` in which every chart is drawn as well, if Chromium answers.
    files
        As for ``python_source``.
    problems
        As for ``report_html``.
    """
    return zipped(_files(evaluations, theme, files, images, watch or Watch(), problems))


def _files(
    evaluations: Mapping[str, Evaluation],
    theme: Theme,
    files: Mapping[str, str] | None,
    images: Sequence[str],
    watch: Watch,
    problems: Mapping[str, Sequence[Problem]] | None,
) -> Iterator[tuple[str, str | bytes]]:
    """Yield (path, content) of every file and report progress."""
    left_out: list[str] = []
    folders = _folders(evaluations)
    for i, (name, evaluation) in enumerate(evaluations.items()):
        watch.step(i / (len(evaluations) + 1), name)
        for path, data in _evaluation(name, evaluation, theme, images, left_out):
            yield f"{folders[name]}/{path}", data
    watch.step(len(evaluations) / (len(evaluations) + 1), "report")
    recipes = {name: evaluation.recipe for name, evaluation in evaluations.items()}
    yield "report.html", report_html(evaluations, theme, files, problems=problems)
    yield "reproduce.py", python_source(recipes, files)
    yield "recipes.json", write_recipes(recipes)
    yield "side_by_side.csv", safe_csv(side_by_side_table(evaluations))
    yield PLOTLY, get_plotlyjs()
    read_me = READ_ME.format(
        folders="\n".join(f"{folder}/    {name}" for name, folder in folders.items()),
        plotly=PLOTLY,
        images="".join(f", {image.upper()}" for image in images),
        left_out="\n".join(dict.fromkeys(left_out)) or "Nothing.",
    )
    yield "README.txt", read_me


def _folders(evaluations: Mapping[str, Evaluation]) -> dict[str, str]:
    """Return a folder for each name that any file system accepts: numbered, plain letters, short.

    >>> _folders({"../Wald & Wiese": None})
    {'../Wald & Wiese': '1-Wald-Wiese'}
    """
    plain = (re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40].strip("-") for name in evaluations)
    return {
        name: f"{i}-{word or 'recipe'}"
        for i, (name, word) in enumerate(zip(evaluations, plain, strict=True), 1)
    }


def _evaluation(
    name: str,
    evaluation: Evaluation,
    theme: Theme,
    images: Sequence[str],
    left_out: list[str],
) -> Iterator[tuple[str, str | bytes]]:
    """Yield (path, content) of one evaluation's files, and add to ``left_out`` why a file is missing."""
    yield "recipe.json", evaluation.recipe.to_json()
    yield "metrics.csv", safe_csv(evaluation.metrics.rename_axis("calibrator"), index=True)
    yield "predictions.csv", safe_csv(evaluation.frame())
    drawn = charts(evaluation)
    for chart in drawn:
        alt, title = chart.record.alt, chart.record.title
        below = subtitle(evaluation, FIGURES[chart.key].label)
        written = standalone_html(chart.draw(theme), alt, theme, f"../../{PLOTLY}", title, below)
        yield f"charts/{chart.key}.html", written
        yield f"charts/{chart.key}.csv", safe_csv(chart.record.to_frame())
    yield from _images(drawn, evaluation, theme, images, left_out)
    for key in evaluation.recipe.calibrators:
        try:
            yield f"calibrators/{key}.json", calibrator_json(evaluation, key)
        except InputError as error:
            left_out.append(f"{name}, {key} as JSON: {error}")


def _images(
    drawn: Sequence[Chart], evaluation: Evaluation, theme: Theme, images: Sequence[str], left_out: list[str]
) -> Iterator[tuple[str, bytes]]:
    if not images or not drawn:
        return
    try:
        figures = [
            titled(chart.draw(theme), chart.record.title, evaluation, FIGURES[chart.key].label)
            for chart in drawn
        ]
        pictures = chromium.draw_files(figures, images)
    except chromium.NoBrowser as error:
        left_out.append(f"Charts as {', '.join(images)}: {error}")
        return
    for chart, picture in zip(drawn, pictures, strict=True):
        for image, data in picture.items():
            yield f"charts/{chart.key}.{image}", data
