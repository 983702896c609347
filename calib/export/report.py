"""The report: what reviewers of a validation ask for, on one page that stands alone and prints.

Its sections follow TRIPOD+AI's items for studies that evaluate a model (Collins et al. 2024, *BMJ* 385): what
was judged, the flow of rows, the split, discrimination, calibration on two scales, the distribution of
predictions, net benefit, subgroups, sample size, settings and versions. All numbers are those of the pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from calib.analysis.decision import decide
from calib.analysis.label_shift import before_and_after
from calib.analysis.optimism import optimism
from calib.analysis.recommendation.advice import recommend
from calib.analysis.side_by_side import answer
from calib.analysis.validation import (
    CALIBRATION,
    OVERALL,
    costs_of,
    flow,
    net_benefits,
    performance,
    rows_needed,
    thresholds_of,
)
from calib.calibrators import CALIBRATORS, label_of
from calib.data.repeats import doubts
from calib.evaluate import Evaluation
from calib.export.charts import Chart, charts
from calib.export.pages import page, versions
from calib.export.source import python_source
from calib.figures import (
    FIGURES,
    LIGHT,
    Theme,
    formatted_costs,
    formatted_metrics,
    formatted_rates,
    formatted_sample_size,
    formatted_side_by_side,
)
from calib.figures.metrics import EVERYDAY
from calib.figures.validation import (
    basis_of_intervals,
    formatted_flow,
    formatted_groups,
    formatted_net_benefits,
    formatted_performance,
)
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.kernel.weights import told
from calib.kernel.wording import class_named, counted, listed, number, percent
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.recipe import Recipe
from calib.splits import SPLITS

SIDE_BY_SIDE = (*EVERYDAY, "width")
COMPARED = ("brier", "ece")  # the metrics drawn side by side
PLACES = {
    "calibration": ("reliability", "reliability_log_odds", "smooth_calibration", "cumulative"),
    "distribution": ("distribution",),
    "benefit": ("net_benefit", "costs"),
    "subgroups": ("groups",),
}
"""Section → its charts, in their order; all others stand together near the end."""


def report_html(
    evaluations: Evaluation | Mapping[str, Evaluation],
    theme: Theme = LIGHT,
    files: Mapping[str, str] | None = None,
    drawn: Mapping[str, Sequence[Chart]] | None = None,
    at_random: Mapping[str, Evaluation] | None = None,
) -> bytes:
    """Recommendation, flow of rows, numbers with intervals, charts, Recipes, source, versions, digest – not the data.

    Parameters
    ----------
    evaluations
        One, or several by name, which are then set side by side first.
    files
        As for ``python_source``.
    drawn
        The charts of each, where they are there already.
    at_random
        By name, the evaluation of ``random_recipe`` on the same data: what a random split would have claimed.
    """
    named = (
        {evaluations.dataset.name: evaluations} if isinstance(evaluations, Evaluation) else dict(evaluations)
    )
    name = " · ".join(named) if len(named) < 4 else f"{len(named)} Recipes side by side"
    recipes = {key: evaluation.recipe for key, evaluation in named.items()}
    several = len(named) > 1
    return page(
        "report.html",
        f"{name} · Calibration Explorer",
        theme,
        name=name,
        compared=list(_compared(named)) if several else [],
        answer=answer(named),
        side_by_side=formatted_side_by_side(named, SIDE_BY_SIDE) if several else None,
        sections=[
            _section(key, one, (drawn or {}).get(key) or charts(one), (at_random or {}).get(key))
            for key, one in named.items()
        ],
        source=python_source(recipes if several else recipes[name], files),
        versions=versions(),
    )


def _compared(named: Mapping[str, Evaluation]) -> Iterator[Chart]:
    for metric in COMPARED:
        with suppress(InputError):
            yield Chart("compared", FIGURES["compared"].prepare(named, metric=metric))


def _section(
    name: str, evaluation: Evaluation, drawn: Sequence[Chart], at_random: Evaluation | None
) -> dict[str, Any]:
    """Everything about one evaluation, for the template."""
    data = evaluation.dataset
    by_key = {chart.key: chart for chart in drawn}
    placed = {place: [by_key[key] for key in keys if key in by_key] for place, keys in PLACES.items()}
    elsewhere = {key for keys in PLACES.values() for key in keys}
    return {
        "name": name,
        "verdict": evaluation.verdict.sentence,
        "advice": recommend(evaluation),
        "charts": placed | {"others": [chart for chart in drawn if chart.key not in elsewhere]},
        "subject": _subject(evaluation),
        "flow": formatted_flow(flow(evaluation), data.classes[1]),
        "left_out": data.left_out,
        "doubts": doubts(data),
        "split": _split(evaluation, at_random),
        "metrics": formatted_metrics(evaluation).T.rename_axis(None, axis=1),
        "refused": {CALIBRATORS[key].label: why for key, why in evaluation.refused.items()},
        "base_rates": formatted_rates(evaluation, before_and_after(evaluation))
        if evaluation.before
        else None,
        "notes": evaluation.notes,
        "recipe": evaluation.recipe.to_json(),
    } | (
        _numbers(evaluation, by_key["groups"].record if "groups" in by_key else None)
        if evaluation.predictions
        else {"answered": False}
    )


def _numbers(evaluation: Evaluation, groups: Any) -> dict[str, Any]:
    """The tables, each number with its interval."""
    overall, calibration = (performance(evaluation, metrics) for metrics in (OVERALL, CALIBRATION))
    false_alarm, miss = costs_of(evaluation)
    low, high = thresholds_of(evaluation)
    return {
        "answered": True,
        "overall": formatted_performance(evaluation, overall),
        "overall_basis": basis_of_intervals(overall, evaluation),
        "calibration": formatted_performance(evaluation, calibration),
        "calibration_basis": basis_of_intervals(calibration, evaluation),
        "benefit": formatted_net_benefits(net_benefits(evaluation)),
        "thresholds": f"{number(low)} to {number(high)}",
        "costs": formatted_costs(
            decide(evaluation, cost_false_alarm=false_alarm, cost_miss=miss)
        ).rename_axis(None, axis=1),
        "no_groups": _no_groups(**evaluation.recipe.given("reliability", "group")),
        "groups": None if groups is None else formatted_groups(evaluation, groups),
        "sample_size": _sample_size(evaluation),
    }


def _no_groups(group: str | None = None) -> str:
    """Why there are no subgroups, if there are none."""
    if group is None:
        return "No column was chosen to judge subgroups by."
    return f"The column {group!r}, chosen for subgroups, is not in the table."


def _sample_size(evaluation: Evaluation) -> dict[str, Any]:
    try:
        key, found = rows_needed(evaluation)
    except InputError as error:
        return {"finding": str(error), "table": None, "basis": ""}
    basis = found.basis(label_of(key), evaluation.dataset.classes[1])
    return {"finding": f"{found.finding}.", "table": formatted_sample_size(found), "basis": basis}


def _subject(evaluation: Evaluation) -> dict[str, str]:
    """What was judged, on what: a word and a sentence each."""
    recipe, data = evaluation.recipe, evaluation.dataset
    negative, positive = map(class_named, data.classes)
    return {
        "Data": f"{data.name}: {told(data.weight, data.n)}, {counted(data.X.shape[1], 'column')}, "
        f"{_digest(recipe, data)}.",
        "Outcome": f"{recipe.target or 'The label'}: {positive} against {negative}.",
        "Model": _model(recipe),
        "Calibrators": f"{', '.join(label_of(key) for key in recipe.calibrators)}. {_placement(recipe)}",
        "Judged on": f"{evaluation.judged_by}, {percent(evaluation.share)} of them in {positive}"
        + (f", of {data.judged_on}." if data.judged_on else "."),
    }


def _digest(recipe: Recipe, data: Dataset) -> str:
    """The digest by which the Recipe knows the file, or each of two; of other data that of the Dataset."""
    files = [name for name in (recipe.data, recipe.judge_on) if name and name.startswith("upload:")]
    digests = [name.removeprefix("upload:") for name in files] or [data.digest]
    return f"digest{'s' if len(digests) > 1 else ''} {listed(digests)}"


def _model(recipe: Recipe) -> str:
    if recipe.onnx is not None:
        return f"{recipe.onnx_file or 'An ONNX file'}, a model that was there already: it is judged as it is."
    if recipe.content == "predictions":
        return (
            f"Scores made elsewhere, of the column {recipe.score}."
            if recipe.score
            else "Scores made elsewhere."
        )
    settings = ", ".join(f"{name} {value}" for name, value in recipe.params) or "settings as by default"
    return f"{MODELS[recipe.model].label}, {settings}."


def _placement(recipe: Recipe) -> str:
    if recipe.content == "predictions":
        return ""
    placement = PLACEMENTS[recipe.placement]
    return f"Fitted on scores of the placement “{placement.label}”. {placement.help}"


def _split(evaluation: Evaluation, at_random: Evaluation | None) -> dict[str, Any]:
    """How rows were held out, its sense, and what a random split would have claimed."""
    recipe, entry = evaluation.recipe, SPLITS[evaluation.recipe.split]
    folds = f" In {recipe.folds} folds." if recipe.evaluation == "folds" else ""
    column = f" (column {getattr(recipe, entry.needs)})" if entry.needs else ""
    section: dict[str, Any] = {
        "sense": f"{entry.label}{column}. {entry.help}{folds}",
        "claim": "",
        "table": None,
    }
    if recipe.split == "random":
        return section
    if at_random is None:
        return section | {"claim": "What a random split would have claimed was not computed."}
    found = optimism(evaluation, at_random)
    choice = recommend(evaluation).choice
    both = [key for key in evaluation.predictions if key in at_random.predictions]
    claim = found.sentence(choice if choice is not None and choice in both else both[0]) if both else ""
    return section | {"claim": claim, "table": found.formatted()}
