"""Which calibrator to use, as sentences: the answer, its reasons, and what to be careful about.

The comparison is that of ``choice``; here are only words, for the page, the report and the command
line alike. No sentence says more than was compared, and every difference stands with its sign and its
interval.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from calib.analysis.differences import Repeats
from calib.analysis.recommendation.choice import Choice, advise, begins
from calib.analysis.recommendation.enough import too_few
from calib.calibrators import CALIBRATORS, complexity_of, label_of
from calib.evaluate import Evaluation
from calib.kernel.memo import once
from calib.kernel.records import Problem
from calib.kernel.wording import briefly, change, listed, moved, number

__all__ = ["Recommendation", "advise", "over_splits", "recommend", "too_few"]

LEAVE = "Leave the probabilities as they are."
TOO_FEW = "Too few rows to tell."
NOTHING = "There is nothing to compare yet."
CERTAIN = "gave a probability of 0 or 1 to a row that went the other way, an infinite log loss"
SURER = "came nearer to 0 or 1 than the rows can support"
TRIED = (  # docs/results.md, which a test holds against it
    "Tried on 860 tables of 20 real data sets, with rules set on the other 19, this advice lost 0.0042 of Brier score "
    "against the best in hindsight; "
    "always Platt lost 0.0044, and no calibration 0.0256."
)
# Platt and Venn–Abers, likewise held
LESS_THAN_NONE = "over 860 tables of real data it lost less than no calibration"


@dataclass(frozen=True)
class Recommendation:
    """What to do, in plain sentences.

    Attributes
    ----------
    answer
        One sentence.
    reasons
        What it rests on, one sentence or two each.
    warnings
        What to be careful about.
    choice
        The method to use, "none" for the probabilities as they are, or None where nothing can be recommended.
    """

    answer: str
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    choice: str | None = None


def recommend(evaluation: Evaluation) -> Recommendation:
    """The recommendation from the test rows of an evaluation; never raises.

    >>> from calib import Recipe, evaluate, load_sample
    >>> evaluation = evaluate(Recipe(model="naive_bayes", calibrators=("none", "platt")), load_sample("digits"))
    >>> recommend(evaluation).answer
    'Use Platt scaling.'
    """
    return once(evaluation, "recommend", lambda: _recommend(evaluation))


def _recommend(evaluation: Evaluation) -> Recommendation:
    if len(evaluation.predictions) < 2:
        return Recommendation(NOTHING, _alone(evaluation), _notes(too_few(evaluation)))
    found, problems = advise(evaluation), too_few(evaluation)
    if any(problem.severity == "warning" for problem in problems):
        seen = (
            f"What these rows show says little about others: {_changes(found, _tried(found))}."
            if found.compared
            else ""
        )
        return Recommendation(TOO_FEW, (*_notes(problems), *filter(None, (seen, _not_compared(evaluation)))))
    answer = LEAVE if found.choice == "none" else f"Use {label_of(found.choice)}."
    return Recommendation(
        answer, _reasons(evaluation, found), (*_certain(found), *_notes(problems)), found.choice
    )


def over_splits(choice: str | None, repeats: Repeats) -> str:
    """Whether other splits, with everything fitted anew, agree with a choice; nothing where there is none."""
    found = repeats.differences()
    table = found.table[found.table["metric"] == "brier"].set_index("calibrator")
    if choice is None or found.reference != "none" or table.empty or choice not in (*table.index, "none"):
        return ""
    where = f"Over {repeats.splits} random splits, everything fitted anew on each,"
    if choice == "none":
        better = [key for key in table.index if table.upper[key] < 0]
        if not better:
            return f"{where} no method compared lowers the Brier score beyond sampling variability."
        line = "; ".join(f"{label_of(key)} {change(*table.loc[key, ENDS])}" for key in better)
        return f"{where} the Brier score is lower than uncalibrated beyond sampling variability: {line}."
    line = table.loc[choice]
    agrees = "beyond sampling variability" if line.upper < 0 else "so that on another split it need not help"
    return f"{where} {label_of(choice)} changes the Brier score by {change(*line[ENDS])}, {agrees}."


ENDS = ["value", "lower", "upper"]


def _alone(evaluation: Evaluation) -> tuple[str, ...]:
    if not evaluation.predictions:
        return ("None of the chosen calibrators works here.",)
    (key,) = evaluation.predictions
    other = "a calibrator" if key == "none" else "Uncalibrated, or another calibrator,"
    return (f"Only {label_of(key)} was judged: choose {other} to compare it with.",)


def _notes(problems: Iterable[Problem]) -> tuple[str, ...]:
    return tuple(f"{problem.message} {problem.remedy}" for problem in problems)


def _reasons(evaluation: Evaluation, found: Choice) -> tuple[str, ...]:
    rows = f"on the {evaluation.judged_by}"
    if not found.compared:
        first = (_lowest_of_all(found, rows), *_rivals(found))
    elif found.choice == "none":
        first = (_none_is_better(found, rows),)
    else:
        first = (_improvement(found, rows), *_rivals(found))
    tried = TRIED if found.start == begins(evaluation)[0] and found.compared else ""
    return tuple(
        filter(
            None, (*first, _equal(found), _with_interval(evaluation, found), _not_compared(evaluation), tried)
        )
    )


def _tried(found: Choice) -> list[str]:
    """The methods that say something else than the uncalibrated model and each other, the lowest score first."""
    table = found.table
    own = [key for key in table.index if table.same[key] == key and key != "none"]
    return sorted(own, key=lambda key: (table.score[key], complexity_of(key)))


def _changes(found: Choice, keys: Iterable[str], columns: str = "change lower upper") -> str:
    """Each method's change of the Brier score to the uncalibrated model, or by name of columns to the choice."""
    return ", ".join(f"{label_of(key)} {change(*found.table.loc[key, columns.split()])}" for key in keys)


def _improvement(found: Choice, rows: str) -> str:
    table, line = found.table, found.table.loc[found.choice]
    before, after = briefly(table.score["none"], line.score, digits=3)
    both = f"from {before} to {after}, {change(line.change, line.lower, line.upper)}"
    if line.upper < 0:
        return f"It lowers the Brier score {rows} {both}."
    if line.lower > 0:
        does = f"raises the Brier score {rows} {both}"
    else:
        does = f"changes the Brier score {rows} {both}, no more than sampling variability"
    if table.infinite["none"]:
        return f"It {does}; but Uncalibrated {CERTAIN}, and {label_of(found.choice)} never did."
    if table.sure["none"]:
        return f"It {does}; but Uncalibrated {SURER}, which costs most where it is wrong."
    if found.choice == found.start:
        return f"It {does}: these rows leave room for a gain, and {LESS_THAN_NONE}."
    return f"It {does}; but it lowers that of {label_of(found.start)} beyond sampling variability."


def _none_is_better(found: Choice, rows: str) -> str:
    tried, score = _tried(found), number(found.table.score["none"])
    if not tried:
        return f"Nothing compared changes them; their Brier score {rows} is {score}."
    lower = [key for key in tried if found.table.upper[key] < 0]
    if lower:
        passed = _passed_over(found, lower, "change lower upper")
        if found.start == "none":
            return f"Their Brier score {rows} is {score}. {passed}."
        begins = f"{label_of(found.start)} does not lower the Brier score {rows}, {score}, beyond sampling variability"
        return f"{begins}. {passed}."
    who = label_of(tried[0]) if len(tried) == 1 else "None of the methods compared"
    does = "does not lower" if len(tried) == 1 else "lowers"
    return f"{who} {does} the Brier score {rows}, {score}, beyond sampling variability: {_changes(found, tried)}."


def _passed_over(found: Choice, keys: Iterable[str], columns: str) -> str:
    """Methods with a lower Brier score that were not taken, each with the reason."""
    reasons: dict[str, list[str]] = {}
    for key in keys:
        reasons.setdefault(_why(found, key), []).append(key)
    return "Lower, but passed over: " + "; ".join(
        f"{_changes(found, those, columns)}, {why}" for why, those in reasons.items()
    )


def _why(found: Choice, key: str) -> str:
    """Why a method with a lower Brier score was not taken."""
    line = found.table.loc[key]
    if line.infinite:
        return f"which {CERTAIN}"
    return f"which {SURER}" if line.sure else f"not told apart from {label_of(found.start)}"


def passed_over(found: Choice, key: str) -> str:
    """A title that says what the answer says where this method lowers the Brier score but was not taken."""
    line = f"{label_of(key)} lowers the Brier score {moved(*found.table.score[['none', key]])}"
    return f"{LEAVE.removesuffix('.')}: {line}, but is passed over, {_why(found, key)}"


def _lowest_of_all(found: Choice, rows: str) -> str:
    return f"Its Brier score {rows} is {number(found.table.score[found.choice])}."


def _rivals(found: Choice) -> tuple[str, ...]:
    """How the other methods compare with the choice."""
    table, gap = found.table, "gap gap_lower gap_upper"
    others = [key for key in _tried(found) if key != table.same[found.choice]]
    open_ = [key for key in others if not (table.gap_lower[key] > 0 or table.gap_upper[key] < 0)]
    worse = [key for key in others if table.gap_lower[key] > 0]
    lower = [key for key in others if table.gap_upper[key] < 0]
    against = f"in Brier score against {label_of(found.choice)}"
    simpler = [
        key for key in open_ if complexity_of(key) < complexity_of(found.choice) and not table.infinite[key]
    ]
    simple = f" {label_of(min(simpler, key=complexity_of))} is simpler." if simpler else ""
    return (
        f"Not told apart from it by these rows: {_changes(found, open_, gap)} {against}.{simple}"
        if open_
        else "",
        f"Worse than it: {_changes(found, worse, gap)} {against}." if worse else "",
        f"{_passed_over(found, lower, gap)}." if lower else "",
    )


def _equal(found: Choice) -> str:
    """Methods that say what a simpler one says."""
    same = found.table["same"]
    return " ".join(
        f"{label_of(str(key))} gives the same probabilities as {label_of(first)}."
        for key, first in same.items()
        if key != first
    )


def _with_interval(evaluation: Evaluation, found: Choice) -> str:
    """Methods that cannot be told from the choice but also say how sure they are."""
    given = [key for key in _tried(found) if evaluation.predictions[key].lower is not None]
    gaps = found.table.loc[given]
    alike = [label_of(str(key)) for key in gaps.index[(gaps.gap_lower <= 0) & (gaps.gap_upper >= 0)]]
    if found.choice == "none" or found.choice in given or not alike:
        return ""
    return f"{listed(alike)} also {'give' if len(alike) > 1 else 'gives'} an interval with each probability."


def _not_compared(evaluation: Evaluation) -> str:
    """The methods that were left out or could not answer."""
    missing = [
        key
        for key in CALIBRATORS
        if key not in evaluation.predictions and CALIBRATORS[key].input != "tree_scores"
    ]
    unknown = (
        ""
        if "none" in evaluation.predictions
        else " Whether calibrating helps at all is therefore not known."
    )
    return f"Not compared: {listed([label_of(key) for key in missing])}.{unknown}" if missing else ""


def _certain(found: Choice) -> tuple[str, ...]:
    """A word on methods that were certain and wrong."""
    infinite = [key for key in found.table.index if found.table.infinite[key]]
    if not infinite:
        return ()
    kept = "" if found.choice in infinite else f"; {label_of(found.choice)} never did"
    return (f"{listed([label_of(key) for key in infinite])} {CERTAIN}{kept}.",)
