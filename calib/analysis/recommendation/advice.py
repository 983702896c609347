"""The recommendation in words: whether to calibrate, with which method, and why not with the others.

Each part has one source: the verdict (``verdict``), the comparison (``rule``), the number of rows (``enough``).
Pages, report and command line all take their words from here, and every difference has its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calib.analysis.differences import OtherSplits, paired_difference, reference_of
from calib.analysis.recommendation.rule import REFERENCE, START_OF_CLASSES, Choice, advise, calibration_rows
from calib.analysis.recommendation.verdict import NEGLIGIBLE, NO_SIGN, TOO_FEW, judged_rows, verdict_of
from calib.analysis.sample_size import too_few
from calib.calibrators import CALIBRATORS, INPUT_TABLES, by_simplicity, complexity_of, name_of
from calib.evaluate import Evaluation, evaluate, fit_calibrator, fit_rows
from calib.kernel.cache import cached_result
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.kernel.wording import briefly, capital, change, from_to, listed, number, values_and_change
from calib.metrics import METRICS
from calib.recipe import Recipe

LEAVE = "Leave the probabilities as they are."
UNKNOWN = "Too few rows to say whether to calibrate."
UNHELPED = "The model needs calibration, but none of the compared methods helps."
NOTHING_TO_COMPARE = "There is nothing to compare yet."
IMPOSSIBLE_PREDICTION = "predicted exactly 0 or 1 and was wrong at least once"
EXTREME = "is more extreme than the data justify, so its errors are costly"
# Calibration rows → what the advice was tried on, and its regret and that of automatic calibration, in Brier score
BENCHMARKS = {  # a test compares them with docs/results.md
    300: ("430 tables of 150 to 1,000 rows, 20 data sets", "0.0027", "0.0036"),
    1500: ("304 tables with 1,500 calibration rows, 38 data sets", "0.00036", "0.00036"),
    5000: ("208 tables with 5,000 calibration rows, 26 data sets", "0.00015", "0.00018"),
    15000: ("128 tables with 15,000 calibration rows, 16 data sets", "0.00009", "0.00021"),
}
TRIED_ON_CLASSES = (  # a test compares it with docs/results.md
    "In our benchmark (348 cases from 18 data sets), following this advice gave a Brier score 0.0033 higher "
    "than the best method in hindsight. Automatic calibration in every case gave a score 0.0035 higher."
)
NOT_FOUND = {  # what the verdict says of a model that need not be calibrated
    NEGLIGIBLE: "The miscalibration is negligible",
    NO_SIGN: "There is no sign of miscalibration",
    TOO_FEW: "These rows are too few to show miscalibration",
}
SLIGHT = "too small to matter, or not clear compared with the other methods"
COMPARISON_FOLDS = 5  # folds that compare the methods for arrays, which have no calibration rows


@dataclass(frozen=True)
class Recommendation:
    """Advice in plain sentences: the method to use, and why.

    Attributes
    ----------
    answer
        One sentence.
    reasons
        First the decisive one, then the comparison with the other methods.
    warnings
        Cautions, one sentence each.
    choice
        The method to use, "none" to keep the probabilities, or None if nothing can be recommended.
    """

    answer: str
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    choice: str | None = None
    fitted: Callable[[str], Any] | None = field(default=None, repr=False, compare=False)

    def fit(self) -> Any:
        """Return the chosen calibrator, fitted: ``.predict(p)`` calibrates probabilities.

        For arrays it is fitted on all rows; else it is that of the Evaluation, fitted on its calibration rows.

        Raises
        ------
        InputError
            If nothing is recommended, or if folds have one calibrator each.
        """
        if self.choice is None or self.fitted is None:
            raise InputError(f"There is no calibrator to fit: {self.answer}")
        return self.fitted(self.choice)


def recommendation(evaluation: Evaluation, seed: int = 0) -> Recommendation:
    """Recommend a method for the first (uncalibrated) predictions, and fit it on demand.

    An Evaluation of arrays has no calibration rows: methods are then compared by five folds with this seed.

    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 1, 2000)
    >>> y = (rng.random(2000) < p**2).astype(int)
    >>> found = recommendation(Evaluation.from_predictions(y, p))
    >>> found.answer, bool(abs(found.fit().predict([0.5])[0] - 0.25) < 0.05)
    ('Use Venn–Abers.', True)
    """
    if evaluation.calibrators or evaluation.whole is not None or not evaluation.dataset.predictions:
        owner = evaluation.all_classes if evaluation.of_confidence else evaluation  # of all classes together
        return replace(recommend(evaluation), fitted=lambda key: owner.only_fitted(key, "to use on new rows"))
    recipe, data = _of_arrays(evaluation, seed)
    try:
        compared = cached_result(evaluation, ("by folds", seed), lambda: evaluate(recipe, data))
    except InputError as error:  # rows too few for folds
        return Recommendation(UNKNOWN, (evaluation.verdict.sentence, str(error)))
    return replace(recommend(compared), fitted=lambda key: _on_all(recipe, data, key))


def _of_arrays(evaluation: Evaluation, seed: int) -> tuple[Recipe, Dataset]:
    """Return the Recipe and the data that compare the methods for the first of some predictions made elsewhere."""
    score = next(iter(evaluation.predictions))
    data = replace(
        evaluation.dataset, X=evaluation.dataset.X[[score]].set_axis(["p"], axis=1), beside={}, name=score
    )
    methods = tuple(key for key, method in CALIBRATORS.items() if method.input not in INPUT_TABLES)
    if data.weight is not None and not evaluation.sample.plain:
        methods = tuple(key for key in methods if CALIBRATORS[key].weighted)
    split = "random" if data.cluster is None else "cluster"
    recipe = Recipe(
        content="predictions",
        calibrators=methods,
        evaluation="folds",
        folds=COMPARISON_FOLDS,
        split=split,
        seed=seed,
    )
    return recipe, data


def _on_all(recipe: Recipe, data: Dataset, key: str) -> Any:
    rows = np.arange(data.n)
    return fit_calibrator(recipe, key, fit_rows(recipe, data, [(rows, rows)]).parts[0].placed)


def recommend(evaluation: Evaluation) -> Recommendation:
    """Recommend a method from the test rows of an evaluation, of one class or of all together; never raises.

    >>> from calib import load_sample
    >>> evaluation = evaluate(Recipe(model="naive_bayes", calibrators=("none", "platt")), load_sample("digits"))
    >>> recommend(evaluation).answer
    'Use Platt scaling.'
    """
    return cached_result(evaluation, "recommend", lambda: _recommend(evaluation))


def _recommend(evaluation: Evaluation) -> Recommendation:
    if evaluation.classes > 2:
        return (
            _of_classes(evaluation, advise(evaluation))
            if evaluation.predictions
            else Recommendation(NOTHING_TO_COMPARE)
        )
    notes = tuple(f"{problem.message} {problem.remedy}" for problem in too_few(evaluation))
    if len(evaluation.predictions) < 2:
        return Recommendation(NOTHING_TO_COMPARE, _alone(evaluation), notes)
    found = advise(evaluation)
    if _together_first(evaluation):
        return _together(evaluation, found, notes)
    others = tuple(
        filter(
            None,
            (
                *_comparisons(found),
                _equal(found),
                _with_interval(evaluation, found),
                _not_compared(evaluation),
                tried(calibration_rows(evaluation, found.choice))
                if found.start == REFERENCE and found.compared
                else "",
            ),
        )
    )
    warnings = (*_certain(found), *notes)
    if _unknown(evaluation, found):
        return Recommendation(UNKNOWN, (verdict_of(evaluation).sentence, *others), warnings)
    if found.unhelped:
        return Recommendation(UNHELPED, (_unhelped(found), *others), warnings)
    answer = LEAVE if found.choice == "none" else f"Use {name_of(found.choice)}."
    return Recommendation(answer, (_reason(evaluation, found), *others), warnings, found.choice)


def tried(rows: float) -> str:
    """State the regret of this advice in our benchmark, at the size that is nearest to so many calibration rows.

    >>> tried(4000)[:72]
    'In our benchmark (208 tables with 5,000 calibration rows, 26 data sets),'
    """
    what, own, auto = BENCHMARKS[min(BENCHMARKS, key=lambda size: abs(np.log(size / max(rows, 1.0))))]
    return (
        f"In our benchmark ({what}), following this advice gave a Brier score {own} higher than the best "
        f"method in hindsight. Automatic calibration on every table gave a score {auto} higher."
    )


def _together_first(evaluation: Evaluation) -> bool:
    """Tell whether the method for all classes together decides: for a confidence, if a starting method is chosen."""
    return (
        evaluation.whole is not None
        and evaluation.of_confidence
        and advise(evaluation.whole).start in START_OF_CLASSES
    )


def _together(evaluation: Evaluation, found: Choice, notes: tuple[str, ...]) -> Recommendation:
    """Recommend the method for all classes together, so that their confidence gets no other recommendation."""
    made = recommend(evaluation.all_classes)
    warnings = (*_certain(replace(found, choice=str(made.choice))), *notes)
    if _unknown(evaluation, found):
        return Recommendation(UNKNOWN, (verdict_of(evaluation).sentence,), warnings)
    return replace(made, warnings=warnings)


def _of_classes(evaluation: Evaluation, found: Choice) -> Recommendation:
    """Recommend a method for all classes together, by their Brier score."""
    choice, start, table = found.choice, found.start, found.table
    answer = LEAVE if choice == "none" else f"Use {name_of(choice)}."
    benchmark = (TRIED_ON_CLASSES,) if start == START_OF_CLASSES[0] else ()
    if choice == start and table.infinite[start]:
        why = f"{capital(name_of(start))} gave the true class a probability of 0, but no other method is better."
        return Recommendation(answer, (why, *benchmark), choice=choice)
    line, score = table.loc[choice], f"Brier score over all classes {number(table.score[choice])}"
    if found.compared and choice != "none":
        texts = values_and_change(table.score["none"], line.score, line.change, line.lower, line.upper)
        score = "Brier score over all classes {} → {}, {}".format(*texts)
        if table.infinite["none"] and not line.infinite:
            score = f"{_finite(evaluation, choice)}: {score}"
        elif benchmark and not line.upper < 0:
            score = f"These rows show no clear change, so our benchmark decides: {score}"
    other = "No other method is expected to be better."
    if choice != start:
        first = briefly(table.score[start], table.score[choice], digits=3)[0]
        other = f"It is expected to be better than {name_of(start)} ({first} on these rows)."
    return Recommendation(answer, (f"{score}. {other}", *benchmark), choice=choice)


def _unknown(evaluation: Evaluation, found: Choice) -> bool:
    """Tell whether the test rows are too few for both the verdict and every interval."""
    if evaluation.sample.single_cluster:
        return True
    if not found.compared or found.miscalibrated:
        return False
    if verdict_of(evaluation).finding == TOO_FEW:
        return True
    others = found.table.drop("none")
    return bool(others["lower"].isna().all())


def _alone(evaluation: Evaluation) -> tuple[str, ...]:
    if not evaluation.predictions:
        return ("None of the chosen calibrators can be fitted here.",)
    (key,) = evaluation.predictions
    other = "a calibrator" if key == "none" else "“Uncalibrated”, or another calibrator,"
    return (f"Only {name_of(key)} was evaluated: choose {other} to compare it with.",)


def _reason(evaluation: Evaluation, found: Choice) -> str:
    """Return the decisive reason."""
    if not found.compared:
        return f"The Brier score is {number(found.table.score[found.choice])} on the {evaluation.size_text}."
    if found.choice == "none":
        return _why_keep(found)
    table, line, name = found.table, found.table.loc[found.choice], name_of(found.choice)
    texts = values_and_change(table.score["none"], line.score, line.change, line.lower, line.upper)
    score = "Brier score {} → {}, {}".format(*texts)
    on = f"{score} on the {evaluation.size_text}."
    if table.infinite["none"] and not line.infinite and not line.upper < 0:
        return f"{_finite(evaluation, found.choice)}{', at a cost' if line.change > 0 else ''}: {score}."
    if found.miscalibrated:
        why = f"{capital(name)} corrects the miscalibration without a clear change in Brier score. "
        return on if line.upper < 0 else f"{why}{score}."
    if table.sure["none"] and not line.upper < 0:
        return f"The uncalibrated model {EXTREME}. {score}."
    why = NOT_FOUND[verdict_of(evaluation).finding]
    if line.upper < 0:
        return f"{why}, but {name} clearly lowers the Brier score: {on}"
    return f"{why}, but {name} may lower the Brier score, although not clearly: {on}"


def _finite(evaluation: Evaluation, key: str) -> str:
    """State that a method avoids the infinite log loss of the uncalibrated model."""
    after = number(float(evaluation.measured(["log_loss"])["log_loss"][key]))
    return f"{capital(name_of(key))} avoids an infinite log loss (now {after})"


def _why_keep(found: Choice) -> str:
    """Explain why to keep the probabilities, beside the verdict: the changes by the compared methods."""
    tried, score = _tried(found), number(found.table.score["none"])
    if not tried:
        return f"None of the compared methods changes the probabilities (Brier score {score})."
    lower = [key for key in tried if found.table.upper[key] < 0]
    if lower:
        return f"{_not_chosen(found, lower, 'change lower upper')}."
    who = (
        "None of the compared methods clearly lowers"
        if len(tried) > 1
        else f"{capital(name_of(tried[0]))} does not clearly lower"
    )
    return f"{who} the Brier score of {score}: {_changes(found, tried)}."


def _unhelped(found: Choice) -> str:
    tried = _tried(found)
    if not tried:
        return "None of the compared methods changes the probabilities. Compare other methods."
    best = min(tried, key=lambda key: found.table.score[key])
    return (
        f"Each of the compared methods raises the Brier score of {number(found.table.score['none'])}, {name_of(best)} "
        f"least ({change(*found.table.loc[best, ['change', 'lower', 'upper']])}). Use more calibration "
        f"rows, out-of-bag calibration or cross-calibration."
    )


def _tried(found: Choice) -> list[str]:
    """Return the methods that differ from the uncalibrated model and from each other, the lowest score first."""
    table = found.table
    distinct = [key for key in table.index if table.same[key] == key and key != "none"]
    return sorted(distinct, key=lambda key: (table.score[key], by_simplicity(key)))


def _changes(found: Choice, keys: Iterable[str], columns: str = "change lower upper") -> str:
    """List each method's change of the Brier score from the uncalibrated model.

    Other ``columns`` give the change from another method, such as the choice.
    """
    return ", ".join(f"{name_of(key)} {change(*found.table.loc[key, columns.split()])}" for key in keys)


def _not_chosen(found: Choice, keys: Iterable[str], columns: str) -> str:
    """List the methods with a clearly lower Brier score that were not chosen, each with the reason."""
    reasons: dict[str, list[str]] = {}
    for key in keys:
        fault = _fault(found, key)
        reasons.setdefault(f"which {fault}" if fault else f"a gain that is {SLIGHT}", []).append(key)
    return "Lower Brier score, but not chosen: " + "; ".join(
        f"{_changes(found, those, columns)}, {why}" for why, those in reasons.items()
    )


def _fault(found: Choice, key: str) -> str:
    """Return the fault that excludes a method whatever its Brier score, or ""."""
    line = found.table.loc[key]
    if line.infinite:
        return IMPOSSIBLE_PREDICTION
    return EXTREME if line.sure else ""


def why_not_chosen(evaluation: Evaluation, key: str) -> str:
    """Explain in a clause why the choice is not ``key``, a method with a lower Brier score.

    >>> from calib import load_sample
    >>> evaluation = evaluate(Recipe(model="random_forest"), load_sample("digits"))
    >>> why_not_chosen(evaluation, "venn_abers")
    'the difference in Brier score is not clear: Venn–Abers +0.00121 [−0.00016, 0.00314]'
    """
    together = evaluation.all_classes if _together_first(evaluation) else evaluation
    found, name = advise(together), name_of(key)
    line = found.table.loc[key]
    if together.classes > 2:
        if line.infinite:
            return f"{name} gave the true class a probability of 0"
        return f"{name} is not expected to be better in Brier score over all classes"
    if line.gap_upper < 0:
        return f"{name} {_fault(found, key)}" if _fault(found, key) else f"the gain of {name} is {SLIGHT}"
    if line.gap_lower <= 0:
        return (
            f"the difference in Brier score is not clear: {_changes(found, [key], 'gap gap_lower gap_upper')}"
        )
    return f"no interval shows that {name} is better"


def _comparisons(found: Choice) -> tuple[str, ...]:
    """Compare the other methods with the choice; if probabilities are kept, the reason already does."""
    table, gap, name = found.table, "gap gap_lower gap_upper", name_of(found.choice)
    if found.choice == "none":
        return ()
    others = [key for key in _tried(found) if key != table.same[found.choice]]
    worse = [key for key in others if table.gap_lower[key] > 0]
    lower = [key for key in others if table.gap_upper[key] < 0]
    alike = [key for key in others if key not in (*worse, *lower)]
    simpler = [
        key for key in alike if complexity_of(key) < complexity_of(found.choice) and not table.infinite[key]
    ]
    simple = (
        f" {capital(name_of(min(simpler, key=by_simplicity)))} is simpler than {name}." if simpler else ""
    )
    return (
        f"No clear difference from {name} in Brier score: {_changes(found, alike, gap)}.{simple}"
        if alike
        else "",
        f"Clearly higher Brier score than {name}: {_changes(found, worse, gap)}." if worse else "",
        f"{_not_chosen(found, lower, gap)}." if lower else "",
    )


def _equal(found: Choice) -> str:
    """List the methods that give the same probabilities as a simpler one."""
    return " ".join(
        f"{capital(name_of(str(key)))} gives the same probabilities as {name_of(first)}."
        for key, first in found.table["same"].items()
        if key != first
    )


def _with_interval(evaluation: Evaluation, found: Choice) -> str:
    """List methods that do not differ clearly from the choice and also give intervals."""
    given = [key for key in _tried(found) if evaluation.predictions[key].lower is not None]
    gaps = found.table.loc[given]
    alike = [name_of(str(key)) for key in gaps.index[(gaps.gap_lower <= 0) & (gaps.gap_upper >= 0)]]
    if found.choice == "none" or found.choice in given or not alike:
        return ""
    return f"{capital(listed(alike))} also {'give' if len(alike) > 1 else 'gives'} an interval with each probability."


def _not_compared(evaluation: Evaluation) -> str:
    """List the methods that were not selected or could not answer."""
    missing = [
        key
        for key in CALIBRATORS
        if key not in evaluation.predictions and CALIBRATORS[key].input not in INPUT_TABLES
    ]
    unknown = (
        ""
        if "none" in evaluation.predictions
        else " Without uncalibrated predictions you cannot tell whether calibration helps."
    )
    return f"Not compared: {listed([name_of(key) for key in missing])}.{unknown}" if missing else ""


def _certain(found: Choice) -> tuple[str, ...]:
    """Warn about methods that were certain and wrong."""
    infinite = [key for key in found.table.index if found.table.infinite[key]]
    if not infinite:
        return ()
    were, their = ("were", "their") if len(infinite) > 1 else ("was", "its")
    kept = "" if found.choice in infinite else f"; the log loss of {name_of(found.choice)} is finite"
    who = capital(listed([name_of(key) for key in infinite]))
    return (
        f"{who} predicted exactly 0 or 1 and {were} wrong at least once, so {their} log loss is infinite{kept}.",
    )


def headline(evaluation: Evaluation) -> str:
    """Return the title of a diagram: the change by the recommended method, or else the verdict in short."""
    found = recommend(evaluation)
    if found.choice in (None, "none"):
        return verdict_of(evaluation).headline
    table, name = advise(evaluation).table, capital(name_of(found.choice))
    if "none" not in table.index:
        return f"{name}: Brier score {briefly(table.score[found.choice])[0]}"
    scores = table.score[["none", found.choice]]
    if table.upper[found.choice] < 0:
        return f"{name} lowers the Brier score {from_to(*scores)}; {_ece(evaluation, found.choice)}"
    if table.infinite["none"]:
        before, after = briefly(*scores)
        does = "rises" if scores.iloc[1] > scores.iloc[0] else "falls"
        return f"{name} makes the log loss finite; Brier score {does} from {before} to {after}"
    return f"{name} changes the Brier score {from_to(*scores)}, but not clearly"


def _ece(evaluation: Evaluation, key: str) -> str:
    """Describe the change of the ECE, if its interval excludes 0."""
    change, low, high = paired_difference(evaluation, "ece", key, "none")
    if not (low > 0 or high < 0):
        return "no clear change in ECE"
    before, after = briefly(*evaluation.measured(["ece"])["ece"][["none", key]])
    return f"ECE {'rises' if change > 0 else 'falls'} from {before} to {after}"


def over_splits(choice: str | None, repeats: OtherSplits) -> str:
    """State whether other splits, with everything refitted, agree with a choice; "" if there is no choice."""
    found = repeats.differences()
    table = found.table[found.table["metric"] == "brier"].set_index("calibrator")
    if choice is None or found.reference != "none" or table.empty or choice not in (*table.index, "none"):
        return ""
    where = f"Over {repeats.splits} random splits, with all steps refitted,"
    if choice == "none":
        better = [key for key in table.index if table.upper[key] < 0]
        if not better:
            return f"{where} none of the compared methods clearly lowers the Brier score."
        line = "; ".join(f"{name_of(key)} {change(*table.loc[key, VALUE_AND_ENDS])}" for key in better)
        return f"{where} the Brier score is clearly lower than without calibration: {line}."
    line = table.loc[choice]
    agrees = "a clear gain" if line.upper < 0 else "so it may not help on another split"
    return f"{where} {name_of(choice)} changes the Brier score by {change(*line[VALUE_AND_ENDS])}, {agrees}."


VALUE_AND_ENDS = ["value", "lower", "upper"]


SLOW_MEASURES = ("slope", "observed_expected", "auc")
"""Metrics of the verdict whose intervals take long."""


def recommend_in_steps(evaluation: Evaluation, watch: Watch) -> Recommendation:
    """Recommend as ``recommend`` does, with progress; what is computed is cached and serves verdict and diagram.

    >>> from calib import Recipe, evaluate, load_sample
    >>> found = evaluate(Recipe(model="naive_bayes", calibrators=("none", "platt")), load_sample("digits"))
    >>> seen = []
    >>> recommend_in_steps(found, Watch(lambda share, what: seen.append(what))).answer, seen[0], seen[-1]
    ('Use Platt scaling.', 'Calibration slope', 'calibrators')
    """
    before = evaluation.unadjusted or evaluation
    metrics = SLOW_MEASURES if before.predictions else ()
    steps = len(metrics) + 2
    for i, metric in enumerate(metrics):
        watch.step(i / steps, METRICS[metric].label)
        key = reference_of(before.predictions)
        judged_rows(before, key).estimate(metric, key)
    watch.step((steps - 2) / steps, "verdict")
    verdict_of(evaluation)
    watch.step((steps - 1) / steps, "calibrators")
    return recommend(evaluation)
