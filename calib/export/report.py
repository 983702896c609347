"""The validation report: one self-contained document that prints on A4 and can be handed in.

It opens with title, author, date, purpose and a summary. Its sections follow TRIPOD+AI's items for studies that
evaluate a model (Collins et al. 2024, *BMJ* 385): data and flow of rows, model and split, discrimination,
calibration on two scales, predictions by outcome, net benefit, subgroups, sample size, limits, settings and versions.
It ends with a list of these items, and of the items that the author adds. All numbers equal those of the pages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import count
from typing import Any

import numpy as np
import pandas as pd

from calib.analysis.audit.of_evaluation import Audited, audit_sentences
from calib.analysis.centres import Centres
from calib.analysis.decision import decide, threshold
from calib.analysis.differences import answer
from calib.analysis.label_shift import compare_base_rates
from calib.analysis.optimism import Validation
from calib.analysis.recommendation.advice import recommend
from calib.analysis.split_optimism import split_optimism
from calib.analysis.validation import (
    CALIBRATION_METRICS,
    OVERALL_METRICS,
    flow,
    limits,
    net_benefits,
    performance,
    rows_needed,
    trained_here,
)
from calib.calibrators import CALIBRATORS, label_of, name_of
from calib.data import SAMPLES
from calib.data.duplicates import FLATTER, repeats_note
from calib.evaluate import Evaluation, row_info
from calib.export import tripod
from calib.export.charts import Chart, charts, report_options, with_numbers
from calib.export.clinical import POOLING, centres_section, optimism_section
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
from calib.figures.metrics import (
    EVERYDAY,
    formatted_classes,
    formatted_intervals,
    formatted_shares,
    kernel_tested,
)
from calib.figures.validation import (
    basis_of_intervals,
    formatted_flow,
    formatted_groups,
    formatted_net_benefits,
    formatted_performance,
    formatted_segments,
)
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset, Problem
from calib.kernel.version import __version__
from calib.kernel.weights import are_whole, describe_lines, or_ones
from calib.kernel.wording import capital, class_named, counted, listed, number, percent, within_a_sentence
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.recipe import Recipe
from calib.sources import file_key
from calib.splits import SPLITS
from calib.synthetic import SYNTHETIC

SIDE_BY_SIDE = (*EVERYDAY, "width")
METRICS_SIDE_BY_SIDE = ("brier", "ece")  # the metrics drawn side by side
PLACES = {
    "calibration": ("reliability", "reliability_log_odds", "smooth_calibration", "cumulative"),
    "distribution": ("distribution",),
    "differences": ("differences",),
    "benefit": ("net_benefit", "costs"),
    "subgroups": ("groups", "audit"),
}
"""Section → its charts, in order; the section on intervals has all others."""

NOT_GIVEN = "Not given"
FoundProblems = Mapping[str, Sequence[Problem]]


def report_html(
    evaluations: Evaluation | Mapping[str, Evaluation],
    theme: Theme = LIGHT,
    files: Mapping[str, str] | None = None,
    at_random: Mapping[str, Evaluation] | None = None,
    problems: FoundProblems | None = None,
    validated: Mapping[str, Validation] | None = None,
    centres: Mapping[str, Mapping[str, Centres]] | None = None,
) -> bytes:
    """Write title, summary, numbers with intervals, charts, Recipes, source, versions and digest, without the data.

    Title, purpose and author are the settings ``report.title``, ``report.purpose`` and ``report.author`` of the
    first Recipe.

    Parameters
    ----------
    evaluations
        One Evaluation, or several by name; several are compared first.
    files
        As for ``python_source``.
    at_random
        By name, the evaluation of ``random_recipe`` on the same data: the numbers that a random split gives.
    problems
        By name, the problems that ``calib.sources.problems`` finds in the data; None if the data were not checked.
    validated
        By name, the correction for optimism (``calib.validate``).
    centres
        By name, heading → centres (``calib.analysis.centres``); “Centres” or “Leave one centre out”.

    Examples
    --------
    >>> from calib import Recipe, evaluate, load_sample
    >>> recipe = Recipe(data="sample:loans", model="naive_bayes", settings={"report.title": "Loans, spring"})
    >>> b"<h1>Loans, spring</h1>" in report_html(evaluate(recipe, load_sample("loans")))
    True
    """
    named = (
        {evaluations.dataset.name: evaluations} if isinstance(evaluations, Evaluation) else dict(evaluations)
    )
    recipes = {key: evaluation.recipe for key, evaluation in named.items()}
    several, today = len(named) > 1, date.today()
    first = next(iter(recipes.values()))
    title = first.setting("report.title") or _title(list(named.values()))
    numbers = count(1)
    compared = with_numbers(_compared(named), numbers) if several else []
    sections = [
        _section(
            key,
            one,
            numbers,
            (at_random or {}).get(key),
            (problems or {}).get(key),
            (validated or {}).get(key),
            (centres or {}).get(key, {}),
        )
        for key, one in named.items()
    ]
    return page(
        "report.html",
        title,
        theme,
        cover={
            "Purpose": first.setting("report.purpose") or NOT_GIVEN,
            "Author": first.setting("report.author") or NOT_GIVEN,
            "Date": f"{today.day} {today:%B %Y}",
            "Program": f"Calibration Explorer {__version__}",
        },
        compared=compared,
        answer=answer(named),
        side_by_side=_side_by_side(named) if several else None,
        sections=sections,
        checklist=tripod.answered(
            {heading for section in sections for heading in _headings(section)},
            all(trained_here(one) for one in named.values()),
        ),
        source=python_source(recipes if several else first, files),
        versions=versions(),
    )


def _side_by_side(named: Mapping[str, Evaluation]) -> pd.DataFrame:
    """Return a row per Recipe and calibrator; both names label the row, so every part of a wide table has them."""
    table = formatted_side_by_side(named, SIDE_BY_SIDE)
    names = [table.pop(column) for column in list(table.columns[:2])]
    return table.set_axis([": ".join(both) for both in zip(*names, strict=True)])


def _title(evaluations: Sequence[Evaluation]) -> str:
    """Return the default title: the models and their data sets."""
    models, data = (
        list(dict.fromkeys(name(one.recipe, one.dataset) for one in evaluations))
        for name in (_short_model, data_name)
    )
    what = (
        listed(models, most=3)
        if len(evaluations) == len(models)
        else f"{len(evaluations)} models and settings"
    )
    return f"{'Comparison' if len(evaluations) > 1 else 'Validation'} of {what} on {listed(data, most=3)}"


def data_name(recipe: Recipe, data: Dataset) -> str:
    """Name a data set as the pages do: a shipped one by its label, others by their file."""
    kind, _, key = recipe.data.partition(":")
    shipped: dict[str, Any] = {"sample": SAMPLES, "synthetic": SYNTHETIC}
    entry = shipped.get(kind, {}).get(key)
    return f"“{entry.label if entry and key == data.name else data.name}”"


def _short_model(recipe: Recipe, data: Dataset) -> str:
    if recipe.onnx is not None:
        return f"“{recipe.onnx_file or 'an ONNX model'}”"
    if data.predictions:
        return f"the scores “{recipe.score or data.scores[0]}”"
    return within_a_sentence(MODELS[recipe.model].label)


def _compared(named: Mapping[str, Evaluation]) -> Iterator[Chart]:
    for metric in METRICS_SIDE_BY_SIDE:
        with suppress(InputError):
            yield Chart("compared", FIGURES["compared"].prepare(named, metric=metric))


def _shown(drawn: Sequence[Chart]) -> str:
    """Name figures as the subject of a sentence."""
    if len(drawn) < 2:
        return f"Figure {drawn[0].number} shows" if drawn else ""
    last = "and" if len(drawn) == 2 else "to"
    return f"Figures {drawn[0].number} {last} {drawn[-1].number} show"


def _headings(section: Mapping[str, Any]) -> Collection[str]:
    """Return the headings of a section that items of the checklist name; the template has the same conditions."""
    found = [
        tripod.FIRST_PAGE,
        tripod.SUMMARY,
        tripod.ROWS_ITEM,
        tripod.SPLIT,
        tripod.LIMITS_ITEM,
        tripod.SETTINGS_PART,
        tripod.REPORT_ITEM,
    ]
    if section["notes"]:
        found.append(tripod.CHOICES_ITEM)
    if section["answered"]:
        found += [tripod.OVERALL_ITEM, tripod.CALIBRATION_ITEM, tripod.BENEFIT, tripod.SAMPLE_SIZE_ITEM]
        found += [tripod.OPTIMISM_ITEM] if section["optimism"] else []
        found += [tripod.CENTRES_ITEM] if section["centres"] else []
        found += [tripod.DIFFERENCES_ITEM] if section["charts"]["differences"] else []
        found += [tripod.SUBGROUPS_ITEM] if section["groups"] is not None or section["searched"] else []
    return found


def _section(
    name: str,
    evaluation: Evaluation,
    numbers: Iterator[int],
    at_random: Evaluation | None,
    problems: Sequence[Problem] | None,
    validated: Validation | None,
    centres: Mapping[str, Centres],
) -> dict[str, Any]:
    """Return all values of one evaluation for the template; its figures take their numbers from ``numbers``."""
    data, alone = evaluation.dataset, len(evaluation.predictions) < 2
    by_key = {
        chart.key: chart
        for chart in charts(evaluation, leading=True)
        if not (alone and chart.key in PLACES["differences"])
    }
    elsewhere = [key for key in by_key if not any(key in keys for keys in PLACES.values())]
    placed, clinical = {}, {}
    for place, keys in (PLACES | {"others": elsewhere}).items():
        if place == "subgroups":  # figures are numbered in the order in which they are made
            clinical = {
                "optimism": validated and optimism_section(validated, numbers),
                "centres": {heading: centres_section(found, numbers) for heading, found in centres.items()},
                "pooling": POOLING,
            }
        placed[place] = with_numbers([by_key[key] for key in keys if key in by_key], numbers)
    split = _split(evaluation, at_random)
    searched = [_audited(evaluation)] if "audit" in by_key else []
    return {
        **clinical,
        "name": name,
        "verdict": evaluation.verdict.sentence,
        "advice": recommend(evaluation),
        "charts": placed,
        "figures": {place: _shown(each) for place, each in placed.items()},
        "event": class_named(data.classes[1]),
        "limits": limits(
            evaluation,
            evaluation.recipe.setting("reliability.group"),
            bool(evaluation.recipe.stated_settings("decide", "cost_false_alarm", "cost_miss")),
            searched[0].columns if searched else (),
        ),
        "subject": _subject(evaluation),
        "method": _method(evaluation),
        "flow": formatted_flow(flow(evaluation), data.classes[1]),
        "left_out": data.left_out,
        "warnings": _warnings(evaluation, problems),
        "split": split,
        "metrics": formatted_metrics(evaluation).T.rename_axis(None, axis=1),
        "refused": {CALIBRATORS[key].label: why for key, why in evaluation.refused.items()},
        "joint": None if evaluation.whole is None else _all_classes(evaluation),
        "base_rates": _rates(evaluation) if evaluation.unadjusted else None,
        "notes": (*([str(data.read_as)] if data.read_as else []), *evaluation.notes),
        "missing": split["missing"] + ([] if "groups" in by_key or searched else [_no_groups(evaluation)]),
        "recipe": evaluation.recipe.to_json(),
    } | (
        {"searched": [_search(made) for made in searched]}
        | _numbers(evaluation, by_key["groups"].record if "groups" in by_key else None)
        if evaluation.predictions
        else {"answered": False}
    )


def _warnings(evaluation: Evaluation, problems: Sequence[Problem] | None) -> list[str]:
    """Return warnings about the data, one line for problems that are alike.

    ``repeats_note`` adds repeated rows. Advice on recognising predictions is excluded, because it concerns the page.
    """
    alike: dict[str, list[str]] = {}
    for each in problems or ():
        if FLATTER not in each.remedy and each.fix != {"content": "features"}:
            alike.setdefault(f"{each.message} {each.remedy}", []).append(each.column or "")
    found = [
        f"{listed(columns, most=8)}: {text}" if any(columns) else text for text, columns in alike.items()
    ]
    found += repeats_note(evaluation.dataset)
    return found or ([] if problems is None else ["The data checks found no problem."])


def _numbers(evaluation: Evaluation, groups: Any) -> dict[str, Any]:
    """Return the tables of numbers with their intervals."""
    overall, calibration = (
        performance(evaluation, metrics) for metrics in (OVERALL_METRICS, CALIBRATION_METRICS)
    )
    decided = evaluation.recipe.page("decide")
    of_costs = threshold(decided.cost_false_alarm, decided.cost_miss)
    return {
        "answered": True,
        "overall": formatted_performance(evaluation, overall),
        "overall_basis": basis_of_intervals(overall, evaluation),
        "calibration": formatted_performance(evaluation, calibration),
        "calibration_basis": basis_of_intervals(calibration, evaluation),
        "benefit": formatted_net_benefits(
            net_benefits(evaluation, of_costs, decided.lowest, decided.highest)
        ),
        "costs_told": f"A false alarm costs {decided.cost_false_alarm:g} and a miss {decided.cost_miss:g}, "
        f"so acting is worthwhile above a probability of {number(of_costs)}.",
        "thresholds": f"{number(decided.lowest)} to {number(decided.highest)}",
        "costs": formatted_costs(
            decide(evaluation, cost_false_alarm=decided.cost_false_alarm, cost_miss=decided.cost_miss)
        ).rename_axis(None),
        "groups": None
        if groups is None
        else formatted_groups(evaluation, groups).set_index("Group").rename_axis(None),
        "sample_size": _sample_size(evaluation, of_costs),
    }


def _audited(evaluation: Evaluation) -> Audited:
    """Return the requested search for segments, or raise InputError with the reason."""
    entry = FIGURES["audit"]
    assert entry.reported is not None
    return entry.reported(evaluation, report_options(evaluation.recipe))[0]


def _search(made: Audited) -> dict[str, Any]:
    """Return the findings of the search for segments as sentences, and as a table if there are any."""
    what = (
        f"{name_of(made.calibrator)}: p-values are adjusted for the number of segments searched. If the "
        f"probabilities are right, "
        "the search finds a segment in at most 5 of 100 tables."
        + (" The search counts every row once, whatever its weight." if made.unweighted else "")
    )
    table = formatted_segments(made).set_index("Segment").rename_axis(None) if made.causes else None
    told = filter(None, [*audit_sentences(made.found), made.fit_sentence])
    ended = [f"{line.removesuffix('.')}." for line in told]
    return {"sentences": [capital(what), *ended], "table": table}


def _no_groups(evaluation: Evaluation) -> str:
    """Explain why there are no subgroups."""
    recipe = evaluation.recipe
    if recipe.setting("groups.in_report"):
        try:
            _audited(evaluation)
        except InputError as error:
            return f"Search for segments: {error}"
    group = recipe.setting("reliability.group")
    return f"Subgroups: {'no column was chosen' if group is None else f'the data have no column {group!r}'}."


def _sample_size(evaluation: Evaluation, of_costs: float) -> dict[str, Any]:
    try:
        key, found = rows_needed(evaluation, of_costs)
    except InputError as error:
        return {"finding": str(error), "table": None, "basis": ""}
    basis = found.basis(label_of(key), evaluation.dataset.classes[1])
    return {"finding": f"{found.finding}.", "table": formatted_sample_size(found), "basis": basis}


def _subject(evaluation: Evaluation) -> dict[str, str]:
    """Return short lines about the data, the outcome, the events, the model and the test set."""
    recipe, data = evaluation.recipe, evaluation.dataset
    negative, positive = map(class_named, data.classes)
    columns = "" if data.predictions else f", {counted(data.X.shape[1], 'column')}"
    column = f", from the column “{recipe.target}”" if recipe.target else ""
    return {
        "Data": f"{data_name(recipe, data)}, {describe_lines(data.weight, data.n)}{columns}",
        "Outcome": f"{capital(positive)} (event) or {negative} (no event){column}",
        "Events": _events(evaluation),
        "Model": _model(recipe),
        "Test set": f"{evaluation.size_text}{f', from {data.test_file}' if data.test_file else ''}",
    }


def _all_classes(evaluation: Evaluation) -> dict[str, Any]:
    """Return the scores of all classes with their intervals, and a line per class of the recommended calibrator."""
    joint, choice = evaluation.all_classes, recommend(evaluation).choice
    key = next(iter(joint.predictions)) if choice not in joint.predictions else str(choice)
    scores = [
        formatted_intervals(joint, each).assign(Calibrator=label_of(each)) for each in joint.predictions
    ]
    table = pd.concat(scores, ignore_index=True)
    return {
        "name": label_of(key),
        "tested": kernel_tested(joint, key),
        "scores": table[["Calibrator", *table.columns.drop("Calibrator")]],
        "classes": formatted_classes(joint.by_class(key)),
    }


def _rates(evaluation: Evaluation) -> pd.DataFrame:
    """Return every calibrator at the base rate, or shares, of the table and of deployment."""
    if evaluation.whole is not None:
        return formatted_shares(evaluation.whole)
    return formatted_rates(evaluation, compare_base_rates(evaluation))


def _events(evaluation: Evaluation) -> str:
    """Return the number and share of events among all rows and in the test set, as they are in the table."""
    data, tested = evaluation.dataset, evaluation.unadjusted or evaluation
    if evaluation.of_confidence:  # only test rows tell whether a prediction is right
        return _share_of_events(tested.y, tested.weight, "test row")
    whole = _share_of_events(data.y, row_info(data).weights, "row")
    base_rate = evaluation.recipe.base_rate
    adjusted = f"; deployment base rate {percent(base_rate)}" if base_rate else ""
    return f"{whole}; {_share_of_events(tested.y, tested.weight, 'test row')}{adjusted}"


def _share_of_events(y: np.ndarray, weight: np.ndarray | None, what: str) -> str:
    weights = or_ones(weight, len(y))
    share = percent(float(np.average(y, weights=weights)))
    if are_whole(weights):
        return f"{weights @ y:,.0f} of {counted(round(weights.sum()), what)} ({share})"
    return f"{y.sum():,} of {counted(len(y), what)} (by weight {share})"


def _method(evaluation: Evaluation) -> dict[str, str]:
    """Return lines about how calibrators were fitted and which digest identifies the data."""
    recipe = evaluation.recipe
    calibrators = {
        "Calibrators": f"{', '.join(label_of(key) for key in recipe.calibrators)}. {_placement(recipe)}"
    }
    files = list(filter(None, map(file_key, (recipe.data, recipe.test_data))))
    digests = files or [evaluation.dataset.digest]
    return calibrators | {"Data file": f"digest{'s' if len(digests) > 1 else ''} {listed(digests)}."}


def _model(recipe: Recipe) -> str:
    if recipe.onnx is not None:
        return f"{recipe.onnx_file or 'An ONNX file'}, an existing model, not fitted here"
    if recipe.content == "predictions":
        return f"Predictions made elsewhere{f', column {recipe.score}' if recipe.score else ''}"
    settings = ", ".join(f"{name} {value}" for name, value in recipe.params) or "default settings"
    return f"{MODELS[recipe.model].label}, {settings}"


def _placement(recipe: Recipe) -> str:
    if recipe.content == "predictions":
        return ""
    placement = PLACEMENTS[recipe.placement]
    return f"Calibration data: {within_a_sentence(placement.label)}. {placement.help}"


def _split(evaluation: Evaluation, at_random: Evaluation | None) -> dict[str, Any]:
    """Return the reason for the split, and a comparison with a random split if one was evaluated."""
    recipe, entry = evaluation.recipe, SPLITS[evaluation.recipe.split]
    folds = f" In {recipe.folds} folds." if recipe.evaluation == "folds" else ""
    column = f" (column {getattr(recipe, entry.needs)})" if entry.needs else ""
    if "train" not in evaluation.flow[0]:
        return {
            "sense": "No model was trained and no calibrator was fitted here: all rows are test rows.",
            "claim": "",
            "table": None,
            "missing": [],
        }
    how = entry.help.partition(". ")[0]  # the next sentence says when to use it
    section: dict[str, Any] = {
        "sense": f"Split: {within_a_sentence(entry.label)}{column}. {how}.{folds}",
        "claim": "",
        "table": None,
        "missing": [],
    }
    if recipe.split == "random":
        return section
    if at_random is None:
        return section | {"missing": ["Comparison with a random split: not computed."]}
    found = split_optimism(evaluation, at_random)
    choice = recommend(evaluation).choice
    both = [key for key in evaluation.predictions if key in at_random.predictions]
    claim = found.sentence(choice if choice is not None and choice in both else both[0]) if both else ""
    return section | {"claim": claim, "table": found.formatted()}
