"""Statements that pages, reports and commands make about a number, read from their texts, and compared.

A statement is a quantity of a method on some rows, with the number as it is printed and its interval. The texts are
read as a person reads them, without help from the code that wrote them, so a wrong number is found whoever wrote it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from calib.calibrators import CALIBRATORS, label_of, name_of
from calib.calibrators import JOINT as JOINT_METHODS
from calib.metrics import METRICS, class_metrics

N = r"(?:[−+]?\d[\d,]*(?:\.\d+)?(?:e−?\d+)?|∞)"
ENDS = rf"(?: \[({N}), ({N})\])?"
STAR, DOT = "★", "●"
EXACTLY = ".0"  # a count is not rounded
LABELS = {metric.label: key for key, metric in METRICS.items()}
JOINT = {score.label: f"joint {key}" for key, score in class_metrics().items()}
SPOKEN = {
    "Brier score": "brier",
    "log loss": "log_loss",
    "ECE": "ece",
    "AUC": "auc",
    "accuracy": "accuracy",
} | {
    "O/E": "observed_expected",
    "slope": "slope",
    "Slope": "slope",
}
OF_SEARCH = {"Smallest adjusted p": "segment p", "All rows": "mean prediction"}
SO_FAR = {"Observed − predicted": "level", "Slope": "slope so far"}
METHODS = {named(key): key for named in (label_of, name_of) for key in (*CALIBRATORS, *JOINT_METHODS)}
NAMED = "|".join(sorted(map(re.escape, METHODS), key=len, reverse=True))
REASONS = "infinite|miscalibrated|extreme|cost|although not clearly"  # for advice that raises the Brier score
OWN_RATE = "is based on the base rate in the evaluated rows"
VERDICT = (
    "Not calibrated|Miscalibrated|No sign|Too few|For |Apart from|95 of 100|The model |.* is not calibrated"
)
ANY_ROWS = 0


@dataclass(frozen=True)
class Piece:
    """Text at one place: a sentence or a title, a tile ("label | value | change"), a corner, or a table."""

    kind: str
    text: str
    table: pd.DataFrame | None = None


@dataclass(frozen=True)
class Statement:
    """A printed number.

    Attributes
    ----------
    place
        Page, report or command, and the view of the classes.
    rows
        Number of rows that the text names; ``ANY_ROWS`` if it names none.
    level
        "stated" base rate, or the "own" one of the rows.
    """

    place: str
    quantity: str
    method: str
    rows: int
    level: str
    value: str
    ends: tuple[str, ...]
    text: str


def number(text: str) -> float:
    """Return the value of a printed number.

    >>> number("−1,234.5"), number("∞"), number("3.0e−7")
    (-1234.5, inf, 3e-07)
    """
    return math.inf if "∞" in text else float(text.replace(",", "").replace("−", "-"))


def unit(text: str) -> float:
    """Return the value of one in the last printed digit.

    >>> unit("0.123"), unit("12"), unit("3.0e−7")
    (0.001, 1.0, 1e-08)
    """
    mantissa, _, exponent = text.replace("−", "-").partition("e")
    return float(f"{10.0 ** (int(exponent or 0) - len(mantissa.partition('.')[2])):.3g}")


def agree(one: str, other: str) -> bool:
    """Tell whether two printed numbers may be one number, rounded.

    >>> agree("0.12", "0.1249"), agree("0.12", "0.134"), agree("∞", "∞")
    (True, False, True)
    """
    a, b = number(one), number(other)
    return a == b or abs(a - b) <= (unit(one) + unit(other)) / 2 * 1.0001 + 1e-12


def reads(text: str, true: float) -> bool:
    """Tell whether a printed number is the true one, rounded to the printed digits."""
    shown = number(text)
    return shown == true or abs(shown - true) <= unit(text) / 2 * 1.0001 + 1e-12


def statements(
    place: str, pieces: Sequence[Piece], reference: str = "none", default: int = ANY_ROWS
) -> list[Statement]:
    """Return all statements of one page, report or command.

    Parameters
    ----------
    reference
        The method that the verdict judges.
    default
        Number of rows of the diagram, which titles need not repeat; a verdict on other rows must name them.
    """
    moved = any(OWN_RATE in each.text for each in pieces)
    found: list[Statement] = []
    for i, piece in enumerate(pieces):
        after = [each.text for each in pieces[i:] if each.kind == "sentence"][:5]
        for quantity, method, value, ends, text in _of_piece(piece, after, reference):
            rows = _rows(text) or (_rows_after(after) if piece.kind in ("tile", "table") else ANY_ROWS)
            if not re.match(VERDICT, piece.text):
                rows = rows or default
            if not method or quantity == "level":  # of a search or of all periods: one per page
                rows = ANY_ROWS
            level = "own" if moved and re.match(VERDICT, piece.text) else "stated"
            found.append(Statement(place, quantity, method, rows, level, value, ends, text))
    return found


def _of_piece(piece: Piece, after: Sequence[str], reference: str) -> Iterator[tuple]:
    if piece.kind == "table":
        yield from _of_table(piece.table)
    elif piece.kind == "tile":
        yield from _of_tile(piece.text, after, reference)
    elif piece.kind == "corner":
        for quantity, value, *ends in re.findall(rf"(Slope|O/E) ({N}){ENDS}", piece.text):
            yield SPOKEN[quantity], reference, value, tuple(filter(None, ends)), piece.text
    else:
        yield from _of_sentence(piece.text, reference)


def _of_sentence(text: str, reference: str) -> Iterator[tuple]:
    if text.startswith("Wrong "):  # numbers of a segment, not of all rows
        yield from _of_segments(text)
        return
    used = re.search(rf"Use ({NAMED})\.|^({NAMED}) (?:lowers|makes|changes|avoids|is not|:)", text, re.I)
    after = METHODS.get(_method(next(filter(None, used.groups())))) if used else None
    for a, b in re.findall(rf"Brier score (?:\w+ )?from ({N}) to ({N})", text):
        yield "brier", "none", a, (), text
        yield "brier", after or "?", b, (), text
    for name, a, b in re.findall(
        rf"^For ({NAMED}) a random split would have given a Brier score of ({N}) instead of ({N})", text, re.I
    ):
        yield "brier at random", METHODS[_method(name)], a, (), text
        yield "brier", METHODS[_method(name)], b, (), text
    for a, b in re.findall(rf"ECE (?:rises|falls) from ({N}) to ({N})", text):
        yield "ece", "none", a, (), text
        yield "ece", after or "?", b, (), text
    for a, b, c, *ends in re.findall(rf"Brier score ({N}) → ({N}), ({N}){ENDS}", text):
        yield "brier", "none", a, (), text
        yield "brier", after or "?", b, (), text
        yield "change of brier", after or "?", c, tuple(filter(None, ends)), text
    for value in re.findall(rf"ECE below ({N})", text):
        yield "ece_chance", reference, value, (), text
    for value in re.findall(rf"observed ECE is ({N})", text):
        yield "ece", reference, value, (), text
    for quantity, value, *ends in re.findall(rf"\b(O/E|slope|AUC)(?: of)? ({N}){ENDS}", text):
        yield SPOKEN[quantity], reference, value, tuple(filter(None, ends)), text
    yield from _of_segments(text)
    yield from _of_periods(text)
    for label, value, name in re.findall(rf"^(?:Lowest|Highest) ([\w ]+): ({N}), ({NAMED})", text, re.I):
        if label in LABELS:
            yield LABELS[label], METHODS[_method(name)], value, (), text
    for name, value in re.findall(rf"calibrator is ({NAMED}) \(({N})\)", text):
        yield "brier if compared", METHODS[_method(name)], value, (), text


def _of_segments(text: str) -> Iterator[tuple]:
    """Read the search of groups: how many segments, and the clearest one."""
    for value in re.findall(
        rf"search of ({N}) segments|finds \S+ of ({N}) segments|None of the ({N}) segments searched", text
    ):
        yield "segments searched", "", next(filter(None, value)) + EXACTLY, (), text
    for value in re.findall(rf"search finds ({N}) of {N} segments", text):
        yield "segments found", "", value + EXACTLY, (), text
    for predicted, observed in re.findall(rf"^Wrong .*predicted ({N}) %, observed ({N}) %", text):
        yield "segment predicted", "", predicted, (), text
        yield "segment observed", "", observed, (), text
    for value in re.findall(rf"^Wrong for ({N}) groups", text):
        yield "causes", "", value + EXACTLY, (), text


def _of_periods(text: str) -> Iterator[tuple]:
    """Read *Watch*: the period with the largest gap, and the rows since a change."""
    for observed, predicted in re.findall(rf"^Largest gap in .*: observed ({N}), predicted ({N})", text):
        yield "largest gap observed", "", observed, (), text
        yield "largest gap predicted", "", predicted, (), text
    for observed, predicted, gap in re.findall(rf"observed ({N}), predicted ({N}), difference ({N})", text):
        yield "gap since", "", gap, (), text
        yield "gap since", "", f"{number(observed) - number(predicted):.3f}", (), text


def _method(name: str) -> str:
    return next(each for each in METHODS if each.lower() == name.lower())


def _of_tile(text: str, after: Sequence[str], reference: str) -> Iterator[tuple]:
    """Read a tile with one value, or with two and their change; the caption below names the methods."""
    label, value, change = [*text.split(" | "), "", ""][:3]
    if label in OF_SEARCH:
        yield OF_SEARCH[label], "", value.partition(" ")[0], (), text
    if label in SO_FAR:
        yield SO_FAR[label], reference, value, (), text
    if label not in LABELS:
        return
    caption = next((each for each in after if "test rows" in each or " rows" in each), "")
    named = re.match(rf"({NAMED}|Uncalibrated)(?: → ({NAMED}))?", caption)
    methods = [METHODS.get(name or "", reference) for name in (named.groups() if named else ("", ""))]
    shown = re.findall(rf"({N})(?: \(clipped: {N}\))?(?: →|$)", value)  # words: right, a pattern
    for method, each in zip(methods, shown, strict=False):
        yield LABELS[label], method, each, (), f"{text} ({caption})"
    found = re.match(rf"({N}){ENDS}", change or "")
    if found and len(methods) > 1:
        ends = tuple(filter(None, found.groups()[1:]))
        yield f"change of {LABELS[label]}", methods[1], found.group(1), ends, f"{text} ({caption})"


def _of_table(table: pd.DataFrame | None) -> Iterator[tuple]:
    """Read a table with one line per method and one column per metric, or the other way round."""
    assert table is not None
    yield from _of_listed(table)
    table = _metrics_across(table)
    of_change = table.map(lambda cell: " [" in str(cell) and str(cell)[:1] in "+−0").to_numpy().any()
    several = any(
        len(set(table[name])) > 1 for name in ("", "Calibration data", "Where") if name in table.columns
    )
    methods = table["Calibrator"] if "Calibrator" in table.columns else table.index.to_series()
    for label in table.columns:
        key = (LABELS | JOINT).get(str(label))
        if key is None or several:
            continue
        for name, cell in zip(methods, table[label], strict=True):
            found = re.match(rf"({N}){ENDS}", str(cell))
            if found and str(name) in METHODS:
                ends = tuple(filter(None, found.groups()[1:]))
                quantity = f"change of {key}" if of_change else key
                yield quantity, METHODS[str(name)], found.group(1), ends, f"{name}, {label}: {cell}"


def _of_listed(table: pd.DataFrame) -> Iterator[tuple]:
    """Read the first of the segments in the table of causes, and the period with the largest gap."""
    if {"Segment", "Deviation"} <= {*table.columns}:
        first = table.iloc[0]
        text = f"first segment {first['Segment']}"
        causes = table[table["Deviation"] != "nothing"]
        if len(causes):
            found = len(causes) + causes["More"].sum()
            yield "causes", "", f"{len(causes)}{EXACTLY}", (), "lines of segments"
            yield "segments found", "", f"{found}{EXACTLY}", (), "lines of segments and “more”"
            for column, quantity in (("Predicted", "segment predicted"), ("Observed", "segment observed")):
                yield quantity, "", f"{100 * first[column]:.2f}", (), text
        yield "segment p", "", f"{first['Adjusted p']:.5f}", (), text
    if {"period", "observed − predicted"} <= {*table.columns}:
        gap = table["observed − predicted"]
        worst = table.loc[gap.abs().idxmax()]
        for column in ("observed", "predicted"):
            yield f"largest gap {column}", "", f"{worst[column]:.5f}", (), f"period {worst['period']}"
        yield "level", "none", f"{gap @ table['rows'] / table['rows'].sum():.6f}", (), "mean over the periods"


def _metrics_across(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with one column per metric, whichever way round it is."""
    across, down = ({*map(str, names)} & {*LABELS, *JOINT} for names in (table.columns, table.index))
    return table.T if down and not across else table


def _rows(text: str) -> int:
    found = re.search(r"(?:\b(?:in|on)|n =)(?: the| these| all)* ([\d,]+)(?: (?:test )?rows|;|$)", text)
    return int(found.group(1).replace(",", "")) if found else ANY_ROWS


def _rows_after(texts: Iterable[str]) -> int:
    """Return the number of rows in the first of the following texts that names one."""
    found = (re.search(r"\b([\d,]+) (?:test )?rows", text) for text in texts)
    return next((int(each.group(1).replace(",", "")) for each in found if each), ANY_ROWS)


def pairs(found: Sequence[Statement]) -> list[tuple[Statement, Statement]]:
    """Return pairs of statements on the same quantity, method, rows and level.

    On one page, a statement that names no rows is on the same rows as any other. Of two places, both must name them.
    """
    groups: dict[tuple, list[Statement]] = {}
    for each in found:
        groups.setdefault((each.quantity, each.method, each.level), []).append(each)

    def same(one: Statement, other: Statement) -> bool:
        if one.place == other.place:
            return ANY_ROWS in (one.rows, other.rows) or one.rows == other.rows
        return one.rows == other.rows != ANY_ROWS

    return [pair for group in groups.values() for pair in combinations(group, 2) if same(*pair)]


def disagreements(
    found: Sequence[Statement], pieces: Mapping[str, Sequence[Piece]], exact: Mapping[tuple, float]
) -> list[str]:
    """Return what contradicts something: a pair, the exact number, a word, a star, or advice.

    Parameters
    ----------
    exact
        (quantity, method, rows) → value, of every quantity that is known.
    """
    lines = [f"{a.place}: {a.text}\n    {b.place}: {b.text}" for a, b in pairs(found) if not _alike(a, b)]
    lines += [f"{each.place}: {each.text} is {true:.6g}" for each in found for true in _wrong(each, exact)]
    for place, shown in pieces.items():
        for i, piece in enumerate(shown):
            contradicted = _stars(piece.table) if piece.table is not None else _words(piece, shown[i + 1 :])
            lines += [f"{place}: {why}" for why in contradicted]
    return list(dict.fromkeys(lines))


def _alike(one: Statement, other: Statement) -> bool:
    if not agree(one.value, other.value):
        return False
    return all(map(agree, one.ends, other.ends)) if one.ends and other.ends else True


def _wrong(each: Statement, exact: Mapping[tuple, float]) -> Iterator[float]:
    """Yield the true value if none that the text may mean reads like the printed one."""
    known = {
        rows: true
        for (quantity, method, rows), true in exact.items()
        if (quantity, method) == (each.quantity, each.method) and each.rows in (ANY_ROWS, rows)
    }
    if known and each.level == "stated" and not any(reads(each.value, true) for true in known.values()):
        yield next(iter(known.values()))


def _stars(table: pd.DataFrame) -> Iterator[str]:
    """Yield columns in which a value without a star reads as well as one with a star."""
    table = _metrics_across(table)
    for label in table.columns:
        cells = [str(cell) for cell in table[label]]
        best = {re.sub(rf" {STAR}", "", cell).split(" [")[0] for cell in cells if STAR in cell}
        others = {cell.split(" [")[0] for cell in cells if STAR not in cell}
        if best & others:
            yield f"{label}: {', '.join(cells)}"
    cells = [str(cell) for cell in table.to_numpy().ravel()]
    if not any(DOT in cell for cell in cells):
        return
    for cell in cells:
        if ends := re.search(rf"\[({N}), ({N})\]( {DOT})?", cell):
            clear = number(ends.group(1)) > 0 or number(ends.group(2)) < 0
            if clear != bool(ends.group(3)):
                yield f"clear or not: {cell}"


def _words(piece: Piece, after: Sequence[Piece]) -> Iterator[str]:
    """Yield a sentence or a tile whose words contradict its numbers, or which is too coarse to show them."""
    text = piece.text
    yield from _changes(text)
    for what, listed in re.findall(
        r"(No clear difference from|Clearly higher Brier score than|clearly lowers the Brier score of)(.*?\])\.",
        text,
    ):
        for low, high in re.findall(rf"\[({N}), ({N})\]", listed):
            low_, high_ = number(low), number(high)
            holds = {"No": low_ <= 0 <= high_, "Cl": low_ > 0, "cl": high_ >= 0}[what[:2]]
            if not holds:
                yield text
    direction = re.search(rf"Brier score (rises|falls|lowers the Brier score) from ({N}) to ({N})", text)
    if direction and (number(direction[3]) > number(direction[2])) != (direction[1] == "rises"):
        yield text
    found = re.search(rf"it (over|under)estimates \(O/E ({N})", text)
    if found and (found[1] == "over") != (number(found[2]) < 1):
        yield text
    for name, low, high in re.findall(rf"\((O/E|slope) {N} \[({N}), ({N})\]\)", text):
        if number(low) <= 1 <= number(high):
            yield f"{name} reads as 1: {text}"
    if "Kernel test" in text and "probabilities of" not in text and " together" in text:
        yield f"whose probabilities? {text}"
    verdict = re.search(
        rf"(too optimistic|too pessimistic|no clear difference)(?: by)? \(?{N} \[({N}), ({N})\]", text
    )
    if verdict:
        low_, high_ = number(verdict[2]), number(verdict[3])
        said = "optimistic" if low_ > 0 else "pessimistic" if high_ < 0 else "no clear"
        if said not in verdict[1]:
            yield text
    shared = re.search(r"^(?:Lowest|Highest) ([\w ]+): .*, shared with (\d+) other", text)
    for table in (each.table for each in after if each.table is not None and shared):
        assert shared is not None
        if shared[1] in table.columns and table[shared[1]].str.contains(STAR).sum() not in (
            0,
            int(shared[2]) + 1,
        ):
            yield text


def _changes(text: str) -> Iterator[str]:
    """Yield a text whose values before and after do not show the change that it states."""
    for before, after, change in re.findall(rf"({N}) → ({N})(?:,| \|) ({N})(?: \[|$| )", text):
        if "∞" in before + after:
            continue
        least, moved = unit(change), number(after) - number(before)
        coarse = max(unit(before), unit(after))
        if coarse > 1.01 * least or abs(moved - number(change)) > coarse + least / 2 + 1e-12:
            yield f"the decimals do not show the change: {text}"
    rise = re.search(rf"Use [^.]*\. .*Brier score {N} → {N}, \+", text)
    if rise and not re.search(REASONS, text):
        yield f"the Brier score rises without a reason: {text}"
