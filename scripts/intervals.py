"""Compute the intervals and tests that pages and reports print, each as they do, beside their true values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import norm

from calib import Recipe
from calib.analysis.clusters import sampling_effect
from calib.analysis.curves import FEW_IN_BIN, binned_curve, corp_curve, smooth_curve
from calib.analysis.decision import benefit_steps, benefits, decide, expected_costs, gain, realised_costs
from calib.analysis.differences import OtherSplits, differences, view_of_all
from calib.analysis.label_shift import estimate_base_rate
from calib.analysis.selection import telling_mark
from calib.analysis.split_optimism import split_optimism
from calib.analysis.subgroups import Grouping, judge_groups
from calib.calibrators import CALIBRATORS
from calib.comparison import (
    bergmann_hommel,
    friedman,
    nemenyi_critical_difference,
    paired_t,
    win_rates,
)
from calib.data.ranking import auc_interval, class_draws, column_aucs
from calib.evaluate import Evaluation
from calib.kernel.weights import or_ones
from calib.kernel.wording import within_a_sentence
from calib.metrics import METRICS, interval_summary
from calib.metrics.confidence_intervals import INTERVALS, confidence_interval, mean_interval, share_interval
from calib.metrics.losses import overconfidence, squared_errors
from scripts.worlds import Array, Drawn, World, draw

THRESHOLD = 1 / 6  # of costs 1 and 5
OTHERS = {"platt": "after recalibration", "isotonic": "with three distinct predictions"}
SPLITS, TEST_SHARE = 20, 0.3

# Results of one draw by name: (truth, low, high) of an interval, each a number or an array; whether a test rejects
Found = dict[str, Any]


@dataclass(frozen=True)
class Printed:
    """Intervals, or tests, that one function gives.

    Attributes
    ----------
    where
        Pages and reports that print them.
    found
        Returns the results, name → result, for test rows.
    otherwise
        Shown on the page instead of an interval that would not cover.
    thin
        For 1,000 rows and more, one of this many draws is used, to save time.
    """

    where: str
    found: Callable[[Drawn], Found]
    otherwise: str = ""
    thin: int = 1


def evaluation(rows: Drawn) -> Evaluation:
    """Return the test rows as pages have them: the model's predictions, and two other forecasts as calibrators'."""
    made = Evaluation.from_predictions(rows.y, rows.forecasts, rows.weight, rows.cluster)
    return replace(
        made, recipe=Recipe(), calibration_scores=np.zeros(1000), calibration_y=np.tile([0, 1], 500)
    )


# Intervals on test rows


def numbers(rows: Drawn) -> Found:
    return {
        METRICS[key].label: (
            rows.world.value(key),
            *confidence_interval(key, rows.y, rows.p, rows.weight, rows.cluster),
        )
        for key in INTERVALS
    }


def changes(rows: Drawn) -> Found:
    value = rows.world.value
    return {
        f"Change in {within_a_sentence(METRICS[line.metric].label)} {OTHERS[line.calibrator]}": (
            value(line.metric, line.calibrator) - value(line.metric),
            line.lower,
            line.upper,
        )
        for line in differences(evaluation(rows)).table.itertuples()
        if (line.metric, line.calibrator) != ("auc", "platt")  # which keeps the order of the rows
    }


@cache
def _true_costs(of: World) -> dict[str, float]:
    realised = {
        key: of.mean(lambda y, p: realised_costs(y, p > THRESHOLD, 1.0, 5.0), key)
        for key in ("none", "platt")
    }
    return {
        "realised": realised["none"],
        "expected": of.mean(lambda y, p: expected_costs(p, 1.0, 5.0)),
        "difference": realised["platt"] - realised["none"],
    }


def costs(rows: Drawn) -> Found:
    table = decide(evaluation(rows)).table
    lines = {"realised": "none", "expected": "none", "difference": "platt"}
    return {
        ("Change in cost per row" if name == "difference" else f"{name.capitalize()} cost per row"): (
            _true_costs(rows.world)[name],
            table[f"{name}_lower"][key],
            table[f"{name}_upper"][key],
        )
        for name, key in lines.items()
    }


RULES: dict[str, tuple[Callable[[Array], Array], float]] = {  # whom it acts on, and at which threshold
    "at 1/6": (lambda p: p > THRESHOLD, THRESHOLD),
    "at 1/2": (lambda p: p > 0.5, 0.5),
    "of acting on all, at 1/6": (np.ones_like, THRESHOLD),
}


@cache
def _true_benefits(of: World) -> dict[str, float]:
    return {
        name: of.mean(lambda y, p, act=act, t=t: act(p) * benefits(y, t)) for name, (act, t) in RULES.items()
    }


def net_benefits(rows: Drawn) -> Found:
    true, found = _true_benefits(rows.world), {}
    for name, (act, t) in RULES.items():
        acted = act(rows.p) * benefits(rows.y, t)
        _, low, high = mean_interval(evaluation(rows).sample, acted, steps=benefit_steps(t))
        found[f"Net benefit {name}"] = (true[name], low, high)
    simple = max(0.0, true["of acting on all, at 1/6"])
    found["Net benefit gained over acting on all or on none, whichever is better"] = (
        true["at 1/6"] - simple,
        *gain(evaluation(rows), "none", THRESHOLD)[1:],
    )
    return found


def half_widths(rows: Drawn) -> Found:
    losses = overconfidence(rows.y, rows.p)
    ends = mean_interval(evaluation(rows).sample, losses)[1:]
    return {"Estimated − observed accuracy, ±": (rows.world.value("accuracy_gap"), *ends)}


def optimisms(rows: Drawn) -> Found:
    table = split_optimism(*(evaluation(each) for each in (rows, rows.again()))).table
    return {
        f"Optimism of a random split in {within_a_sentence(METRICS[line.metric].label)}": (
            0.0,
            line.lower,
            line.upper,
        )
        for line in table[table["calibrator"] == "none"].itertuples()
    }


def over_splits(rows: Drawn) -> Found:
    """Compute the mean over random splits, each with Platt scaling fitted on the rows outside the test set."""
    if rows.cluster is not None or rows.weight is not None:  # other splits and other fits
        return {}
    n, lines = len(rows.y), []
    n_test = round(TEST_SHARE * n)
    for seed in range(SPLITS):
        order = rows.rng.permutation(n)
        learnt = _refitted(rows.y[order[n_test:]], rows.p[order[n_test:]])
        if learnt is None:
            return {"Change in Brier score over 20 splits": (0.0, np.nan, np.nan)}
        test = order[:n_test]
        for key, p in (("none", rows.p[test]), ("platt", learnt(rows.p[test]))):
            lines.append((seed, key, squared_errors(rows.y[test], p).mean()))
    values = pd.DataFrame(lines, columns=["seed", "calibrator", "brier"])
    line = OtherSplits(values, TEST_SHARE / (1 - TEST_SHARE)).differences().table.iloc[0]
    true = _expected_gain(rows.world, n - n_test)
    return {"Change in Brier score over 20 splits": (true, line.lower, line.upper)}


def _refitted(y: Array, p: Array) -> Callable[[Array], Array] | None:
    """Fit Platt scaling on these rows; None if they are of one class."""
    if y.min() == y.max():
        return None
    return CALIBRATORS["platt"](on="log-odds", clip=1e-12).fit(p, y).predict


@cache
def _expected_gain(of: World, n: int) -> float:
    """Compute the mean change in Brier score by Platt scaling fitted on n rows, over 400 fits."""
    rng, gains = np.random.default_rng(0), []
    some = slice(50, None, 100)  # of the objects
    p, truth = of.forecasts["none"][some], of.truth[some]
    while len(gains) < 400:
        rows = draw(of, n, rng)
        learnt = _refitted(rows.y, rows.p)
        if learnt is not None:
            q = learnt(p)
            gains.append(np.mean((q - truth) ** 2 - (p - truth) ** 2))
    return float(np.mean(gains))


def bins(rows: Drawn) -> Found:
    found: Found = {}
    for name, options in (
        ("Frequency in a bin", {"bins": 20}),
        ("Frequency in a bin, bins of equal count", {"bins": 10, "strategy": "quantile"}),
    ):
        curve = binned_curve(rows.y, rows.p, sample_weight=rows.weight, cluster=rows.cluster, **options)
        true = rows.world.frequency(curve.edges)
        found[name] = (true, curve.lower, curve.upper)
        if name == "Frequency in a bin":
            enough = curve.count >= FEW_IN_BIN
            found[f"{name} of at least {FEW_IN_BIN} rows"] = tuple(each[enough] for each in found[name])
            found[f"{name}, consistency band"] = _of_calibrated(
                rows, curve.observed, curve.band_lower, curve.band_upper
            )
    return found


def _of_calibrated(rows: Drawn, curve: Array, lower: Array, upper: Array) -> tuple[Array, Array, Array]:
    """Compare a consistency band with the curve itself, for calibrated models only."""
    right = np.allclose(rows.world.forecasts["none"], rows.world.truth)
    return np.where(right, curve, np.nan), lower, upper


def steps(rows: Drawn) -> Found:
    held = {"sample_weight": rows.weight, "cluster": rows.cluster, "repeats": 200}
    sure = corp_curve(rows.y, rows.p, band="confidence", **held)
    consistent = corp_curve(rows.y, rows.p, band="consistency", **held)
    return {
        "CORP, confidence band": (rows.world.truth_at(sure.p), sure.lower, sure.upper),
        "CORP, consistency band": _of_calibrated(
            rows, consistent.recalibrated, consistent.lower, consistent.upper
        ),
    }


def smooth(rows: Drawn) -> Found:
    found: Found = {}
    for name, log_odds in (("Smooth curve", False), ("Smooth curve on log-odds", True)):
        held = {"log_odds": log_odds, "cluster": rows.cluster}
        curve = smooth_curve(rows.y, rows.p, sample_weight=rows.weight, **held)
        ends = curve.lower, curve.upper
        found[f"{name}, confidence band: true frequency"] = (rows.world.truth_at(curve.p), *ends)
        found[f"{name}, confidence band: smoothed truth"] = (_smoothed_truth(rows, curve.p, log_odds), *ends)
        found[f"{name}, consistency band"] = _of_calibrated(
            rows, curve.smoothed, curve.band_lower, curve.band_upper
        )
    return found


def _smoothed_truth(rows: Drawn, at: Array, log_odds: bool) -> Array:
    """Compute the curve without label noise: each row counts as two, weighted by its true probability."""
    labels, weight = np.repeat([1, 0], len(rows.y)), or_ones(rows.weight, len(rows.y))
    both = np.concatenate([weight * rows.truth, weight * (1 - rows.truth)])
    curve = smooth_curve(labels, np.tile(rows.p, 2), log_odds=log_odds, sample_weight=both)
    return np.interp(at, curve.p, curve.smoothed)


GROUPS = 5


def _five_groups(rows: Drawn) -> Grouping:
    index = rows.rng.permutation(len(rows.y)) % GROUPS
    return Grouping(tuple(map(str, range(GROUPS))), index)


def groups(rows: Drawn) -> Found:
    table = judge_groups(evaluation(rows), _five_groups(rows), ["none"]).table
    return {"Frequency in one of five groups": (rows.world.share, table["lower"], table["upper"])}


def shares(rows: Drawn) -> Found:
    return {"Overall frequency": (rows.world.share, *share_interval(evaluation(rows).sample, rows.y))}


def ranking(rows: Drawn) -> Found:
    area, draws = (
        float(column_aucs(rows.p[:, None], rows.y, rows.weight)[0]),
        class_draws(evaluation(rows).sample),
    )
    ends = auc_interval(area, *draws) if draws else (np.nan, np.nan)
    return {"AUC of a column": (rows.world.value("auc"), *ends)}


def base_rates(rows: Drawn) -> Found:
    found = estimate_base_rate(rows.p, rows.world.share, sample_weight=rows.weight)
    return {"Base rate of rows without labels": (rows.world.share, found.lower, found.upper)}


NO_INTERVAL = "There is no interval; the page shows why."
ON_ROWS = {
    "numbers": Printed("Report: performance and calibration", numbers, NO_INTERVAL, thin=2),
    "differences": Printed(
        "Reliability (headline, table and figure of differences, advice), Compare, report",
        changes,
        "There is no interval and no ●, and the title does not mention a difference.",
        thin=4,
    ),
    "costs": Printed("Decide: table and figure of costs; report", costs, NO_INTERVAL, thin=2),
    "net benefit": Printed("Decide: title of the decision curve; report", net_benefits, NO_INTERVAL),
    "out of bag": Printed("Out of bag: headline and figure", half_widths, "There is no interval."),
    "optimism": Printed("Data split (comparison with a random split), report", optimisms, NO_INTERVAL),
    "splits": Printed(
        "Reliability: differences over splits; advice",
        over_splits,
        "There is no interval, and the text does not mention an interval.",
        thin=2,
    ),
    "bins": Printed(
        "Reliability, log-odds and Venn–Abers (arms, bands and hover text of bins), report",
        bins,
        f"Bins with fewer than {FEW_IN_BIN} rows are faint or not drawn.",
    ),
    "CORP": Printed(
        "Reliability: CORP curve; report", steps, "There is no band if there is only one cluster.", thin=4
    ),
    "smooth": Printed(
        "Reliability: smooth curve; report",
        smooth,
        "The caption says that the band refers to the smoothed frequency.",
    ),
    "groups": Printed("Subgroups; report", groups, NO_INTERVAL),
    "frequency": Printed("Venn–Abers (observed frequency), advice (overall share)", shares, NO_INTERVAL),
    "ranking": Printed("Data: AUC of a column of scores, leaks", ranking, "There is no warning."),
    "base rate": Printed(
        "Base rate: estimate from rows without labels",
        base_rates,
        "The caption says that the interval assumes correct probabilities and independent rows.",
    ),
}


# Tests at 5 % of true hypotheses: whether they reject


def tests_of_calibration(rows: Drawn) -> Found:
    keys = ["spiegelhalter_p", "kuiper_p", "kolmogorov_smirnov_p"]
    line = evaluation(rows).measured(keys).loc["none"]
    return {
        METRICS[key].label: bool(value < 0.05) if value == value else np.nan for key, value in line.items()
    }


def verdicts(rows: Drawn) -> Found:
    one = evaluation(rows)
    table = judge_groups(one, _five_groups(rows), ["none"]).table
    mark = telling_mark(one)
    return {
        "One of five groups deviates by more than chance": bool(table["off"].any()),
        "A bin overestimates or underestimates": mark is not None and mark.beyond_chance,
    }


def pairs(rows: Drawn) -> Found:
    """Test Venn–Abers fitted on an equal number of rows."""
    other = rows.again()
    if rows.weight is not None or other.y.min() == other.y.max():
        return {"Venn–Abers: not as predicted": np.nan}
    found = CALIBRATORS["venn_abers"]().fit(other.p, other.y).predict_interval(rows.p)
    effect = sampling_effect(evaluation(rows), "none")
    held = interval_summary(rows.y, found, calibration_size=len(other.y), design_effect=effect)
    return {"Venn–Abers: not as predicted": not held.valid}


def equals(rows: Drawn) -> Found:
    """Test four equally good forecasts: the best of them on these rows against the others."""
    noisy = [expit(logit(rows.truth) + rows.rng.normal(size=len(rows.y)) / 2) for _ in range(4)]
    losses = [squared_errors(rows.y, p) for p in noisy]
    sample = evaluation(rows).sample
    best = min(losses, key=sample.mean)
    level = view_of_all(len(losses)).level
    found = [mean_interval(sample, loss - best, level) for loss in losses if loss is not best]
    return {
        "One of four equally good methods is worse than the best": any(low > 0 for _, low, _ in found),
        "One of two equally good methods is better": _differs(mean_interval(sample, losses[0] - losses[1])),
    }


def _differs(interval: tuple[float, float, float]) -> bool | float:
    return interval[1] > 0 or interval[2] < 0 if interval[1] == interval[1] else np.nan


TESTS = {
    "tests": Printed("Reliability: table of metrics, cumulative differences", tests_of_calibration),
    "verdicts": Printed("Subgroups, and the explained mark on the start page", verdicts),
    "pairs": Printed("Venn–Abers, Out of bag", pairs),
    "equals": Printed("Compare, Out of bag, advice", equals),
}


# Over data sets: the results of k methods on n of them, each of a level of its own


def _results(n: int, better: Array, rng: np.random.Generator) -> Array:
    """Draw (n, k) losses; ``better`` (k,) is each method's advantage, in standard deviations of one result."""
    return rng.normal(scale=3, size=(n, 1)) + rng.normal(size=(n, len(better))) - better


def _true_rates(better: Array) -> Array:
    return (norm.cdf(np.subtract.outer(better, better) / np.sqrt(2)).sum(axis=1) - 0.5) / (len(better) - 1)


def over_sets(n: int, rng: np.random.Generator) -> Found:
    found: Found = {}
    for name, better in (
        ("two equal methods", (0.0, 0.0)),
        ("four equal methods", (0.0, 0.0, 0.0, 0.0)),
        ("four methods, one of them better", (1.0, 0.0, 0.0, 0.0)),
    ):
        won = win_rates(_results(n, np.array(better), rng), False)
        found[f"Win rate of {name}"] = (_true_rates(np.array(better)), won.lower, won.upper)
    return found


def claims_over_sets(n: int, rng: np.random.Generator) -> Found:
    results = _results(n, np.zeros(4), rng)
    test, ranks = friedman(results, False), results.argsort(axis=1).argsort(axis=1).mean(axis=0) + 1
    return {
        "Friedman’s χ²": test.pvalue < 0.05,
        "Iman and Davenport’s F": test.f_pvalue < 0.05,
        "Nemenyi, any of six pairs": np.ptp(ranks) >= nemenyi_critical_difference(4, n),
        "Bergmann–Hommel, any of six pairs": bool(
            (bergmann_hommel(ranks, n)[~np.eye(4, dtype=bool)] <= 0.05).any()
        ),
        "Paired t, one pair": paired_t(results[:, 0], results[:, 1], "less").pvalue < 0.05,
    }
