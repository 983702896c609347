"""Check the sentences of verdict, advice, headline and Compare's title against numbers recomputed from labels and p.

    python -m scripts.check_sentences FOLDER [--seeds 1]

FOLDER holds one CSV file per data set, with its label in the column ``target``; of more than 3,000 rows, 1,500 are
drawn. Every model of ``JUDGED`` runs on each, and on the included samples. Intervals, the slope and the ECE's chance
level come from ``calib.metrics``; means, signs and counts are computed here. Prints every contradiction; if there are
any, the exit status is 1.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calib import Recipe, evaluate
from calib.analysis.differences import view_of_all
from calib.analysis.recommendation.advice import LEAVE, headline, recommend
from calib.analysis.recommendation.verdict import verdict_of
from calib.calibrators import name_of
from calib.data import SAMPLES, load_sample, prepare, read_table
from calib.evaluate import Evaluation
from calib.figures import FIGURES
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.metrics.chance import ece_by_chance
from calib.metrics.confidence_intervals import INTERVALS, View
from calib.metrics.paired_intervals import difference_interval

JUDGED = ("naive_bayes", "logistic_regression", "decision_tree", "random_forest", "gradient_boosting")
METHODS = ("none", "platt", "isotonic", "beta", "venn_abers")
MOST_ROWS, DRAWN = 3000, 1500
NEARLY = 1 - 1e-12  # a printed end is the number that it reads as
N = r"([−+]?\d+(?:\.\d+)?(?:e−?\d+)?)"
ENDS = rf" \[{N}, {N}\]"
STRETCH = rf"(under|over)estimates(?: below {N}\s%| from {N}\s% to {N}\s%| (above))?"
NAMED = "|".join(sorted(map(name_of, METHODS), key=len, reverse=True))


@dataclass(frozen=True)
class Said:
    """Sentences shown for an evaluation."""

    verdict: tuple[str, ...]
    answer: str
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    headline: str
    title: str

    @property
    def sentences(self) -> tuple[str, ...]:
        return (*self.verdict, self.answer, *self.reasons, *self.warnings, self.headline, self.title)


def said(evaluation: Evaluation) -> Said:
    found = recommend(evaluation)
    compared = FIGURES["compared"].prepare({"one": evaluation}, "brier")
    title = f"{compared.title}. {compared.recommended}" if compared.recommended else compared.title
    verdict = verdict_of(evaluation).sentences
    return Said(verdict, found.answer, found.reasons, found.warnings, headline(evaluation), title)


def value(text: str) -> float:
    return float(text.replace("−", "-"))


def reads(text: str, true: float) -> bool:
    """Tell whether a printed number is the true one, rounded to the printed digits."""
    mantissa, _, exponent = text.replace("−", "-").partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(value(text) - true) <= unit * 0.5001 + 1e-12


def contradictions(evaluation: Evaluation, told: Said) -> list[str]:
    """Return each sentence that the numbers contradict."""
    return [*_verdict(evaluation, told), *_advice(evaluation, told), *_agreement(evaluation, told)]


def _verdict(evaluation: Evaluation, told: Said) -> Iterator[str]:
    whole = evaluation.on_every_row()
    possible = np.where(whole.y == 1, whole.predictions["none"].p, 1 - whole.predictions["none"].p) > 2**-54
    others = whole.at(np.flatnonzero(possible))  # level, slope and shape are those of the other rows
    for text in told.verdict:
        every = whole if "no calibrated model" in text else others
        rows, p, recipe = every.sample, every.predictions["none"].p, every.recipe
        low = 0.0
        for over, below, start, end, above in re.findall(STRETCH, text):
            low = value(start) / 100 if start else low
            high = value(below or end) / 100 if below or end else np.inf
            inside = (p >= low * NEARLY) & (p < high * NEARLY) if above or below or end else p == p
            off = rows.weights[inside] @ (rows.y - p)[inside]
            if not inside.any() or (off > 0) != (over == "under"):
                yield f"{off:+.4g} in these {inside.sum()} rows: {text}"
            low = high
        for label, shown, *ends in re.findall(rf"\((slope|O/E) {N}{ENDS}\)", text):
            metric = "slope" if label == "slope" else "observed_expected"
            ratio = rows.weights @ rows.y / (rows.weights @ p)
            true = ratio if label == "O/E" else float(every.measured([metric])[metric]["none"])
            interval = INTERVALS[metric].ends(rows, p, View())
            if not (reads(shown, true) and all(map(reads, ends, interval))):
                yield f"{label} is {true:.4g} {interval}: {text}"
            if interval[0] <= 1 <= interval[1]:
                yield f"{label}'s interval includes 1: {text}"
        for most, own in re.findall(rf"ECE below {N} on .*; the observed ECE is {N}", text):
            chance = ece_by_chance(
                rows.y, p, recipe.bins, recipe.binning, rows.weights, cluster=rows.cluster, counts=rows.counts
            )
            at = np.minimum((p * recipe.bins).astype(int), recipe.bins - 1)
            ece = np.abs(np.bincount(at, rows.weights * (rows.y - p))).sum() / rows.weights.sum()
            if not (reads(most, chance) and reads(own, ece)) or (ece > chance) == ("But chance" in text):
                yield f"ECE {ece:.4g}, by chance up to {chance:.4g}: {text}"
        for count, shown in re.findall(r"For ([\d,]+) rows? the model predicted (.*): no calibrated", text):
            wrong = np.where(rows.y == 1, p, 1 - p) <= 2**-54
            happened, then = rows.y[wrong] == 1, ("event happened" in shown, "did not happen" in shown)
            directions = then if any(then) else (True, True)
            if wrong.sum() != int(count.replace(",", "")) or directions != (
                happened.any(),
                (~happened).any(),
            ):
                yield f"{wrong.sum()} rows were so, {happened.sum()} of which happened: {text}"


def _advice(evaluation: Evaluation, told: Said) -> Iterator[str]:
    y, w, keys = evaluation.y, evaluation.sample.weights, {name_of(key): key for key in METHODS}
    p = {key: each.p for key, each in evaluation.predictions.items()}
    score = {key: np.average((each - y) ** 2, weights=w) for key, each in p.items()}
    wrong = {key for key, each in p.items() if (each == 1 - y).any()}
    choice = _used(told.answer) or "none"

    def differ(key: str, other: str) -> tuple[float, float, float]:
        return score[key] - score[other], *difference_interval("brier", evaluation.sample, p[key], p[other])[
            1:
        ]

    for before, after, *shown in re.findall(rf"Brier score {N} → {N}, {N}{ENDS}", told.reasons[0]):
        true = differ(choice, "none")
        if not all(map(reads, (before, after, *shown), (score["none"], score[choice], *true))):
            yield f"{score['none']:.5g} → {score[choice]:.5g}, {true}: {told.reasons[0]}"
        if re.search("no clear change|without a clear change", told.reasons[0]) and true[1] * true[2] > 0:
            yield f"the change is clear, {true}: {told.reasons[0]}"
    for text in told.reasons:
        for name, *shown in re.findall(rf"({NAMED}) {N}{ENDS}", text):
            true = differ(keys[name], choice)
            if not all(map(reads, shown, true)):
                yield f"{name} {true}: {text}"
            held = {
                "No clear difference": true[1] <= 0 <= true[2],
                "Clearly higher": true[1] > 0,
                "Lower Brier score": true[2] < 0,
                "None of the compared methods clearly lowers": true[2] >= 0,
                "does not clearly lower": true[2] >= 0,
                "Each of the compared methods raises": min(score[key] for key in p if key != "none")
                > score["none"],
            }
            yield from (
                f"{name} {true}: {text}" for words, holds in held.items() if words in text and not holds
            )
        for name, other in re.findall(rf"({NAMED}) gives the same probabilities as ({NAMED})", text, re.I):
            first, second = (p[_key(each)] for each in (name, other))
            if np.abs(first - second).max() > 1e-9:
                yield f"they differ: {text}"
    for text in (*told.reasons, *told.warnings):
        for who in re.findall(r"^(.*) predicted exactly 0 or 1 and w", text):
            named = {_key(name) for name in re.findall(NAMED, who, re.I)}
            never = {_key(name) for name in re.findall(rf"({NAMED}) never did", text)}
            if not named <= wrong or never & wrong or (text in told.warnings and named != wrong):
                yield f"certain and wrong were {sorted(wrong)}: {text}"
    upper = differ(choice, "none")[2]
    if choice != "none" and ("lowers" in told.headline) != (upper < 0):
        yield f"its interval ends at {upper:.4g}: {told.headline}"
    for before, after in re.findall(rf"Brier score (?:\w+ )?from {N} to {N}", told.headline):
        if not (reads(before, score["none"]) and reads(after, score[choice])):
            yield f"{score['none']:.5g} to {score[choice]:.5g}: {told.headline}"
    for lowest, name in re.findall(rf"^Lowest Brier score: {N}, ({NAMED})", told.title):
        best = keys[name]
        others = [key for key in p if score[key] > score[best] + 1e-12]
        view = view_of_all(len(others) + 1)
        found = [difference_interval("brier", evaluation.sample, p[key], p[best], view) for key in others]
        clear = sum(low > 0 or high < 0 for _, low, high in found)
        many = re.findall(r"(none|\d+) of \d+ others|(all|both|the one|no) (?:\d+ )?others?", told.title)
        counts = {"none": 0, "no": 0, "all": len(others), "both": 2, "the one": 1}
        shown = [counts[a or b] if (a or b) in counts else int(a) for a, b in many]
        if (
            not reads(lowest, score[best])
            or score[best] > min(score.values()) + 1e-12
            or shown != [clear] * len(many)
        ):
            yield f"lowest {min(score.values()):.4g}, {clear} clear: {told.title}"


def _agreement(evaluation: Evaluation, told: Said) -> Iterator[str]:
    finding, used = verdict_of(evaluation).finding, _used(told.answer)
    if told.answer == LEAVE and finding == "miscalibrated":
        yield f"the finding is {finding}: {told.answer}"
    starts = _key(re.split(" lowers| makes| changes|:", told.headline)[0])
    if used != starts:
        yield f"{told.answer} But the headline: {told.headline}"
    for name, shown in re.findall(rf"recommended calibrator is ({NAMED}) \({N}\)", told.title):
        p = evaluation.predictions[_key(name) or "none"].p
        loss = np.average((p - evaluation.y) ** 2, weights=evaluation.sample.weights)
        if _key(name) != (used or "none") or not reads(shown, loss):
            yield f"{told.answer} But beside the title: {told.title}"


def _key(name: str) -> str | None:
    return next((key for key in METHODS if name_of(key).lower() == name.lower()), None)


def _used(answer: str) -> str | None:
    return _key(answer.removeprefix("Use ").removesuffix("."))


def data_sets(folder: Path) -> Iterator[Dataset]:
    yield from map(load_sample, SAMPLES)
    for path in sorted(folder.glob("*.csv")):
        table = read_table(path, path.name)
        if len(table) > MOST_ROWS:
            table = table.sample(DRAWN, random_state=0).reset_index(drop=True)
        try:
            yield prepare(table, "target", name=path.stem)
        except (InputError, KeyError) as error:
            print(f"skipped {path.name}: {error}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = sentences = found = 0
    for data in data_sets(asked.folder):
        models = {"content": "predictions"} if data.predictions else {}
        for model in JUDGED[:1] if models else JUDGED:
            for seed in range(asked.seeds):
                recipe = Recipe(model=model, calibrators=METHODS, seed=seed, **models)
                try:
                    evaluation = evaluate(recipe, data)
                except InputError as error:
                    print(f"skipped {data.name}, {model}: {error}")
                    continue
                told = said(evaluation)
                cells, sentences = cells + 1, sentences + len(told.sentences)
                for line in contradictions(evaluation, told):
                    found += 1
                    print(f"{data.name}, {model}, seed {seed}: {line}", flush=True)
    print(f"{cells} cells, {sentences} sentences, {found} contradictions")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
