"""The tables of a validation report for readers: every number with its interval."""

from __future__ import annotations

import math

import pandas as pd

from calib.analysis.audit.of_evaluation import LOOK_LABELS, Audited, look_of
from calib.analysis.recommendation.verdict import chance_sentence
from calib.analysis.subgroups import judge_groups
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.groups import GroupLanes
from calib.kernel.wording import class_named, listed, number, percent, two_decimals, with_interval
from calib.metrics import METRICS
from calib.metrics.confidence_intervals import INTERVALS, why_missing


def formatted_flow(table: pd.DataFrame, positive: str) -> pd.DataFrame:
    """Format the steps of ``calib.analysis.validation.flow``, with rows by count or as effective rows."""
    weighted = not (table["rows"].isna() | (table["rows"] == table["lines"])).all()
    counted = not (table["rows"] < table["lines"]).any()  # otherwise weights make rows worth less
    lines, rows = (
        ("Lines (each may count as several rows)", "Rows") if counted else ("Rows", "Effective rows")
    )
    events = f"In {class_named(positive)}" if counted else f"Effective rows in {class_named(positive)}"
    shown = {"Step": table["step"]}
    if weighted:
        shown[lines] = _whole(table["lines"])
    shown[rows] = _whole(table["rows"].where(table["rows"].notna(), math.nan if weighted else table["lines"]))
    shown[events] = _whole(table["events"])
    shown["Share"] = list(map(percent, table["events"] / table["rows"]))
    return pd.DataFrame(shown)


def _whole(values: pd.Series) -> list[str]:
    return ["–" if math.isnan(value) else f"{value:,.0f}" for value in values]


def formatted_performance(evaluation: Evaluation, table: pd.DataFrame) -> pd.DataFrame:
    """Format ``calib.analysis.validation.performance``, one line per metric and one column per calibrator."""
    metrics = list(dict.fromkeys(table["metric"]))
    texts = {
        label_of(key): [
            found.beside(two_decimals(found.value, found.low, found.high))
            for metric in metrics
            for found in [evaluation.estimate(metric, key)]
        ]
        for key in evaluation.predictions
    }
    return pd.DataFrame(texts, index=[METRICS[metric].label for metric in metrics])


def _crossed(table: pd.DataFrame, down: str, across: str) -> pd.DataFrame:
    """Return each value with its interval, by two columns."""
    columns = {
        key: {
            getattr(line, down): with_interval(line.value, line.lower, line.upper)
            for line in lines.itertuples()
        }
        for key, lines in table.groupby(across, sort=False)
    }
    return pd.DataFrame(columns)


def basis_of_intervals(table: pd.DataFrame, evaluation: Evaluation) -> str:
    """Name the source of the intervals of ``performance``, and why some are missing."""
    ways: dict[str, list[str]] = {}
    for key in table["metric"].unique():
        ways.setdefault(INTERVALS[key].how, []).append(METRICS[key].label)
    sources = "; ".join(f"{listed(labels)}: {how}" for how, labels in ways.items())
    clustered = evaluation.cluster is not None
    by = (
        " Each cluster counts as one independent observation; Student’s t has as many degrees of freedom as clusters, "
        "minus 1."
        if clustered
        else ""
    )
    chance = f" {chance_sentence(evaluation)}" if "ece" in set(table["metric"]) else ""
    missing = why_missing(evaluation.sample) if table["lower"].isna().any() else ""
    said = f"95 % intervals show how much the numbers vary with the test rows for a fixed model. {sources}.{by}{chance}"
    return f"{said} {missing}".rstrip()


def formatted_net_benefits(table: pd.DataFrame) -> pd.DataFrame:
    """Format ``calib.analysis.validation.net_benefits``, one line per rule and one column per threshold."""
    shown = _crossed(table, "rule", "threshold")
    return shown.rename(
        index=lambda rule: "Act on all" if rule == "all" else label_of(rule),
        columns=lambda threshold: f"At {number(threshold)}",
    )


def formatted_segments(made: Audited, most: int = 20) -> pd.DataFrame:
    """Return one line per cause, worst first: segment, rows, predicted, observed, adjusted p-value and deviation.

    Parameters
    ----------
    most
        Largest number of lines.
    """
    found, causes = made.found, made.causes[:most]
    lines = found.segments.iloc[[each.line for each in causes]]
    return pd.DataFrame(
        {
            "Segment": lines["segment"],
            "Rows": _whole(lines["rows"]),
            "Predicted": [percent(p) for p in lines["predicted"]],
            "Observed": [percent(p) for p in lines["observed"]],
            "Adjusted p": [number(p) for p in lines["p_value"]],
            "Deviation": [LOOK_LABELS[look_of(found, each.line)] for each in causes],
            "Overlapping segments, same cause": [str(len(each.others)) for each in causes],
        }
    )


def formatted_groups(evaluation: Evaluation, record: GroupLanes) -> pd.DataFrame:
    """Return a line per group: rows, observed frequency with its interval, each calibrator's mean prediction."""
    table = judge_groups(evaluation, record.grouping, list(dict.fromkeys(record.table["calibrator"]))).table
    first = table[table["calibrator"] == table["calibrator"].iloc[0]]
    shown = pd.DataFrame(
        {
            "Group": first["group"],
            "Rows": _whole(first["count"]),
            "Observed": [
                with_interval(*line) for line in first[["observed", "lower", "upper"]].itertuples(index=False)
            ],
        }
    )
    for key, lines in table.groupby("calibrator", sort=False):
        marks = [" ✻" if off else "" for off in lines["off"]]
        shown[label_of(str(key))] = [number(p) + mark for p, mark in zip(lines["mean_p"], marks, strict=True)]
    return shown
