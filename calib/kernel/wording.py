"""Format numbers, counts and lists as people read them, for notes, tables, titles and advice."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from operator import not_
from typing import Any

import numpy as np

MISSING = "–"
MOST_DIGITS = 6
MOST_APART = 12  # digits that tell numbers apart
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a text, for tables of words in the code.

    >>> split_words("yes no")
    ('yes', 'no')
    """
    return tuple(text.split())


def without_direction_marks(text: str) -> str:
    r"""Remove characters that change the writing direction, because they would mirror the words after them.

    >>> without_direction_marks("\u202egnp.exe"), without_direction_marks("עמודה")
    ('gnp.exe', 'עמודה')
    """
    return TURNING.sub("", text)


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with three significant digits; infinity as ∞, a missing value as a dash.

    >>> [number(x) for x in (0.09412, 0.0, 12.345, float("inf"), None, 1234.6)]
    ['0.0941', '0', '12.3', '∞', '–', '1235']
    >>> number(-2.5e-9)
    '−2.50e−9'
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if int(exponent) < -6:
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return _with_decimals(value, _decimals(value, digits))


def _decimals(value: float, digits: int) -> int:
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return max(0, min(max(MOST_DIGITS, digits), digits - 1 - exponent))


def _with_decimals(value: float, decimals: int) -> str:
    # + 0.0: what is rounded to 0 has no sign
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def alike(value: float, *others: float, digits: int = 3) -> tuple[str, ...]:
    """Format an estimate and the ends of its interval with the same decimals: those of the estimate.

    If an end is ten times as large, fewer suffice; if one more tells equal ones apart, it is shown. Exactly 0 is 0.

    >>> alike(0.0941, 0.0812, 0.107), alike(1.02, 0.9512, 1.12, digits=2)
    (('0.0941', '0.0812', '0.1070'), ('1.02', '0.95', '1.12'))
    >>> alike(0.9134, 0.9127, 0.9206, digits=2)
    ('0.91', '0.91', '0.92')
    >>> alike(0.0001, 0.0, 0.05), alike(0.71, 0.0435, 11.3), alike(0.0, -0.0123, float("inf"))
    (('0.0001', '0', '0.0500'), ('0.7', '0.0', '11.3'), ('0', '−0.0123', '∞'))
    """
    values = (value, *others)
    sizes = [abs(each) for each in values if each and math.isfinite(each)]
    largest = max(sizes, default=0.0)
    if largest < 1e-6:
        return tuple(number(each, digits) for each in values)
    decimals = _decimals(value if largest < 10 * abs(value) < math.inf else largest, digits)
    if value and math.isfinite(value):
        decimals = max(decimals, _decimals(value, 1))

    rounded, finer = (_all_with_decimals(values, each) for each in (decimals, decimals + 1))
    return rounded if len({*rounded}) == len({*finer}) else finer


def _all_with_decimals(values: Sequence[float], decimals: int) -> tuple[str, ...]:
    """Format numbers with the same decimals; 0, infinity and missing values as ``number`` does."""
    return tuple(
        _with_decimals(each, decimals) if each and math.isfinite(each) else number(each) for each in values
    )


ONE_IN = 1e-12, 0.01  # range in which a probability is also shown as 1 in N


def one_in(p: float) -> str:
    """Write a small probability as 1 in N, to two significant digits; "" for 1 % or more, and for almost 0.

    >>> one_in(0.0042), one_in(0.00083), one_in(0.2), one_in(1e-320)
    ('1 in 240', '1 in 1,200', '', '')
    """
    least, most = ONE_IN
    if not least <= p < most:
        return ""
    many = 1 / p
    return f"1 in {round(many, 1 - math.floor(math.log10(many))):,.0f}"


def probability(p: float) -> str:
    """Format a probability with three digits, a small one also as 1 in N.

    >>> probability(0.25), probability(0.0042)
    ('0.250', '0.00420 (1 in 240)')
    """
    return f"{number(p)} ({one_in(p)})" if one_in(p) else number(p)


def percent(p: float) -> str:
    """Format a probability or a share as a percentage with three digits, a small one also as 1 in N.

    >>> percent(0.256), percent(0.0042), percent(0.0)
    ('25.6 %', '0.42 % (1 in 240)', '0 %')
    """
    if math.isnan(p):
        return MISSING
    text = f"{100 * p:.3g} %" if p == 0 or p >= 1e-6 else f"{number(100 * p)} %"
    return f"{text} ({one_in(p)})" if one_in(p) else text


def brief(value: float | None) -> str:
    """Format a number with two significant digits, for headlines; with more if rounding would give exactly 1.

    >>> [brief(x) for x in (0.09412, 1234.6, float("inf"), 0.9967)]
    ['0.094', '1235', '∞', '0.997']
    """
    return briefly(value)[0]


def briefly(*values: float | None, whole: float = 1.0, digits: int = 2) -> tuple[str, ...]:
    """Format numbers to compare: with enough digits to distinguish them, and to distinguish them from ``whole``.

    Numbers that six digits do not distinguish get no extra digits.

    >>> briefly(0.0419, 0.0262), briefly(0.1533, 0.1524), briefly(0.16641, 0.16582, digits=3)
    (('0.042', '0.026'), ('0.153', '0.152'), ('0.1664', '0.1658'))
    >>> briefly(0.9999999), briefly(0.1533, 0.1524, 0.9999999)
    (('1.0',), ('0.153', '0.152', '1.00'))
    """
    known = {value for value in values if value is not None and math.isfinite(value)} | {whole}
    apart = len({number(value, MOST_DIGITS) for value in known})
    while len({number(value, digits) for value in known}) < apart:
        digits += 1
    return tuple(number(value, digits) for value in values)


def set_apart(
    values: Sequence[float],
    marked: Sequence[bool],
    form: Callable[[float, int], str] = number,
    digits: int = 3,
) -> list[str]:
    """Format numbers so that none that is marked reads like one that is not; ``form`` takes a number and its digits.

    All have the same digits: as few as tell them apart.

    >>> set_apart([0.15562, 0.15581, 0.201, 0.15562], [True, False, False, True])
    ['0.1556', '0.1558', '0.2010', '0.1556']
    """
    enough = digits_apart(values, marked, form, digits)
    return [form(value, enough) for value in values]


def digits_apart(
    values: Sequence[Any], marked: Sequence[bool], form: Callable[[Any, int], str], digits: int = 3
) -> int:
    """Return the fewest digits, at least ``digits``, with which no marked value reads like one that is not.

    >>> digits_apart([0.15562, 0.15581, 0.201], [True, False, False], number)
    4
    """
    for enough in range(digits, MOST_APART):
        texts = [form(value, enough) for value in values]
        if {*compress(texts, marked)}.isdisjoint(compress(texts, map(not_, marked))):
            return enough
    return MOST_APART


def low_to_high(values: Mapping[str, float]) -> str:
    """State the range of named numbers, without a winner: for numbers that have no interval.

    >>> low_to_high({"Platt": 0.0419, "Beta": 0.0262}), low_to_high({"Platt": 0.0419})
    ('from 0.026 (Beta) to 0.042 (Platt)', '0.042 (Platt)')
    """
    low, high = min(values, key=lambda name: values[name]), max(values, key=lambda name: values[name])
    least, most = briefly(values[low], values[high])
    return f"{least} ({low})" if low == high else f"from {least} ({low}) to {most} ({high})"


def brief_percent(share: float) -> str:
    """Format a share as a percentage for headlines: two significant digits, but 0 % and 100 % only if exact.

    >>> [brief_percent(share) for share in (0.5037, 0.0042, 0.9991, 1.0)]
    ['50 %', '0.42 %', '99.9 %', '100 %']
    """
    return f"{briefly(100 * share, whole=100)[0]} %"


def change(value: float, lower: float, upper: float, digits: int = 3) -> str:
    """Format a difference with its sign and its interval, if it has one.

    >>> change(-0.0814, -0.1047, -0.0581), change(0.0031, 0.0012, 0.0052), change(0.1, float("nan"), float("nan"))
    ('−0.0814 [−0.1047, −0.0581]', '+0.00310 [0.00120, 0.00520]', '+0.100')
    """
    text = with_clear_interval(value, lower, upper, 0.0, digits)
    return f"+{text}" if value > 0 else text


def values_and_change(
    before: float, after: float, value: float, lower: float, upper: float, digits: int = 3
) -> tuple[str, str, str]:
    """Format a number before and after, in the decimals of the change ``value`` with its interval, which comes third.

    >>> values_and_change(0.18650, 0.18565, -0.00085, -0.00136, -0.00037, digits=2)
    ('0.18650', '0.18565', '−0.00085 [−0.00136, −0.00037]')
    >>> values_and_change(math.inf, 0.51, math.nan, math.nan, math.nan), values_and_change(0.25, 0.25, 0.0, 0.0, 0.0)
    (('∞', '0.51', '–'), ('0.25', '0.25', '0 [0, 0]'))
    """
    difference = change(value, lower, upper, digits)
    texts = briefly(before, after)
    first = difference.partition(" ")[0]
    decimals = 0 if "e" in first else len(first.partition(".")[2])
    shown = [len(text.partition(".")[2]) for text in texts]
    if decimals > min(shown):
        texts = _all_with_decimals((before, after), max(decimals, *shown))
    return texts[0], texts[1], difference


def with_interval(value: float, lower: float, upper: float, mark: str = "", digits: int = 3) -> str:
    """Format a number, a mark after it, and its interval in the same decimals, if it is known.

    >>> with_interval(0.1234, 0.1, 0.15), with_interval(float("nan"), float("nan"), 1.0)
    ('0.123 [0.100, 0.150]', '–')
    """
    if math.isnan(lower) or math.isnan(value):
        return f"{number(value, digits)}{mark}"
    text, low, high = alike(value, lower, upper, digits=digits)
    return f"{text}{mark} [{low}, {high}]"


def two_decimals(value: float, lower: float = math.nan, upper: float = math.nan) -> str:
    """Format a number and its interval, if it is known, as journals print them: more decimals only if needed.

    >>> two_decimals(1.0249, 0.951, 1.1), two_decimals(0.0042), two_decimals(float("nan"))
    ('1.02 [0.95, 1.10]', '0.004', '–')
    """
    if not math.isfinite(value):
        return number(value)
    decimals = 2 if value == 0 else max(2, _decimals(value, 1))
    text, low, high = _all_with_decimals((value, lower, upper), decimals)
    return text if math.isnan(lower) else f"{text} [{low}, {high}]"


def with_clear_interval(value: float, lower: float, upper: float, excluded: float, digits: int = 3) -> str:
    """Format a number and its interval so that no end reads like a number that the interval excludes.

    >>> with_clear_interval(0.00131, 0.0000042, 0.00262, 0.0), with_clear_interval(0.97, 0.94, 0.9996, 1.0)
    ('0.001310 [0.000004, 0.002620]', '0.9700 [0.9400, 0.9996]')
    """
    if lower > excluded or upper < excluded:
        while digits < MOST_APART and excluded in map(_read, alike(value, lower, upper, digits=digits)):
            digits += 1
    return with_interval(value, lower, upper, digits=digits)


def with_clipped(text: str, value: float) -> str:
    """Return an infinite value's text with its clipped value beside it; ``text`` alone if there is none.

    >>> with_clipped("∞", 4.3096), with_clipped("0.142", float("nan"))
    ('∞ (clipped: 4.31)', '0.142')
    """
    return text if math.isnan(value) else f"{text} (clipped: {number(value)})"


def change_or_clipped(text: str, value: float, clipped: float) -> str:
    """Return the text of a change; if it is infinite or undefined, the clipped change or a dash.

    >>> change_or_clipped("−0.2", -0.2, float("nan")), change_or_clipped("−∞", float("-inf"), -17.67)
    ('−0.2', 'clipped: −17.7')
    >>> change_or_clipped("−∞", float("-inf"), float("nan"))
    '–'
    """
    if math.isfinite(value):
        return text
    return MISSING if math.isnan(clipped) else f"clipped: {'+' * (clipped > 0)}{number(clipped)}"


def _read(text: str) -> float:
    return float(text.replace("−", "-").replace("∞", "inf").replace(MISSING, "nan"))


def points(gap: float, lower: float, upper: float) -> str:
    """Format a difference of shares in percentage points, with its interval in the same decimals.

    >>> points(-0.00408, -0.0112, 0.000982), points(0.0001, -0.0003, 0.0005), points(0.0, float("nan"), 0.0)
    ('−0.4 [−1.1, 0.1]', '+0.01 [−0.03, 0.05]', '0')
    """
    if math.isnan(lower):
        return number(100 * gap)
    half = 50 * (upper - lower)
    decimals = max(1, min(6, -math.floor(math.log10(half)))) if half > 0 else 1
    # + 0.0: no sign for what is rounded to 0
    middle, low, high = (round(100 * each, decimals) + 0.0 for each in (gap, lower, upper))
    sign = "+" if middle > 0 else ""
    return f"{sign}{middle:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]".replace("-", "−")


def from_to(before: float, after: float) -> str:
    """State a number before and after, for headlines; state the change if no digits distinguish the two.

    >>> from_to(0.094, 0.021), from_to(0.1533, 0.1524), from_to(0.000999, 0.0009987)
    ('from 0.094 to 0.021', 'from 0.153 to 0.152', 'of 0.0010 by 3.0e−7')
    """
    then, now = briefly(before, after)
    if then == now and before != after:
        return f"of {then} by {brief(abs(after - before))}"
    return f"from {then} to {now}"


def counted(n: int, what: str) -> str:
    """State a number of things.

    >>> counted(1, "bin"), counted(1234, "row")
    ('1 bin', '1,234 rows')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def describe_rows(rows: int, lines: int, worth: int, noun: str = "row") -> str:
    """State how many rows there are, in how many lines of the table if these differ, and their effective number.

    >>> describe_rows(4066, 1826, 4066), describe_rows(1826, 1826, 1410, "test row")
    ('4,066 rows in 1,826 lines', '1,826 test rows (effective number 1,410)')
    """
    lines_told = "" if rows == lines else f" in {counted(lines, 'line')}"
    return f"{counted(rows, noun)}{lines_told}" + ("" if rows == worth else f" (effective number {worth:,})")


def some_of(n: int, total: int, what: str) -> str:
    """State how many of some things.

    >>> [some_of(n, 5, "method") for n in (0, 1, 3, 5)]
    ['none of 5 methods', '1 of 5 methods', '3 of 5 methods', 'all 5 methods']
    >>> some_of(2, 2, "method"), some_of(1, 1, "method"), some_of(0, 1, "method")
    ('both methods', 'the one method', 'no method')
    """
    if total == 1:
        return f"{'the one' if n else 'no'} {what}"
    if n == total:
        return f"both {what}s" if n == 2 else f"all {counted(n, what)}"
    return f"{n or 'none':{',' if n else ''}} of {counted(total, what)}"


def ordinal(n: int) -> str:
    """Write a rank as an ordinal.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 21, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '21st', '113th']
    """
    return f"{n}{'th' if n % 100 in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def duration(seconds: float) -> str:
    """Format seconds as seconds, minutes, hours or days.

    >>> duration(42), duration(150), duration(90_000), duration(1e6)
    ('42 seconds', '2 minutes', '25 hours', '12 days')
    """
    for limit, unit, name in ((90, 1, "second"), (5400, 60, "minute"), (172800, 3600, "hour")):
        if seconds < limit:
            return counted(max(1, round(seconds / unit)), name)
    return counted(round(seconds / 86400), "day")


def outside_range(outside: int, total: int, what: str, ends: tuple[float, float] | None) -> str:
    """State how many scores are outside the range on which a calibrator was fitted.

    >>> outside_range(1, 90, "score", (-0.2, 0.99984))    # six digits: three would make a 1 of it
    '1 of 90 scores lies outside the range of calibration scores (−0.2 to 0.99984).'
    """
    lie = "lies" if outside == 1 else "lie"
    seen = f" ({ends[0]:.6g} to {ends[1]:.6g})".replace("-", "−") if ends else ""
    return f"{outside:,} of {counted(total, what)} {lie} outside the range of calibration scores{seen}."


def listed(names: Sequence[str], most: int | None = None, last: str = "and") -> str:
    """List names in running text; of more than ``most``, only the first.

    >>> listed(["A", "B", "C"]), listed(["A", "B"], last="or"), listed(["A", "B", "C", "D"], most=3)
    ('A, B and C', 'A or B', 'A, B and 2 others')
    """
    if most is not None and len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1:,} others"]
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else "".join(names)


def within_a_sentence(label: str) -> str:
    """Write a metric's name without its capital, unless that belongs to a name or an abbreviation.

    >>> [within_a_sentence(label) for label in ("Log loss", "AUC", "Brier score")]
    ['log loss', 'AUC', 'Brier score']
    """
    return label if label[:2].isupper() or label.startswith("Brier") else label[0].lower() + label[1:]


def capital(text: str) -> str:
    """Capitalise the first letter of a text.

    >>> capital("the uncalibrated model"), capital("Venn–Abers")
    ('The uncalibrated model', 'Venn–Abers')
    """
    return text[:1].upper() + text[1:]


def quoted(items: Sequence[object], most: int = 5) -> str:
    """Quote names from a file; of more than ``most``, only the first.

    >>> quoted(["a", "b", "c"], most=2)
    "'a', 'b' …"
    """
    return ", ".join(map(repr, items[:most])) + (" …" if len(items) > most else "")


LONGEST_CLASS = 40


def shortened(text: str, most: int) -> str:
    """Cut a text that is longer than ``most`` letters in its middle.

    >>> shortened("short", 9), shortened("a very long text", 9)
    ('short', 'a ver…ext')
    """
    end = most * 2 // 5
    return text if len(text) <= most else f"{text[: most - end - 1]}…{text[-end:]}"


def short_class(label: object) -> str:
    r"""Write a class's label in one line, and cut a long one in its middle.

    >>> short_class("in two\r\nlines"), short_class(60 * "x") == 24 * "x" + "…" + 15 * "x"
    ('in two lines', True)
    """
    text = " ".join(without_direction_marks(str(label)).split())
    if len(text) > LONGEST_CLASS:
        text = f"{text[: LONGEST_CLASS * 3 // 5]}…{text[-LONGEST_CLASS * 2 // 5 + 1 :]}"
    return text


def class_named(label: object) -> str:
    """Name a class in a sentence by its label, which may be a number or a phrase.

    >>> class_named("malignant"), class_named(1), class_named("Class A")
    ("class 'malignant'", "class '1'", "'Class A'")
    """
    text = short_class(label)
    return f"'{text}'" if text.casefold().startswith("class") else f"class '{text}'"


def are_in_class(rows: float, label: object) -> str:
    """State how many of the rows named before are in a class.

    >>> are_in_class(22, "odd"), are_in_class(1, 1), are_in_class(0, "odd")
    ("22 are in class 'odd'", "1 is in class '1'", "none is in class 'odd'")
    """
    many = f"{rows:,.0f}" if rows else "none"
    return f"{many} {'are' if round(rows) > 1 else 'is'} in {class_named(label)}"


def row_numbers(marked: np.ndarray, most: int = 10) -> str:
    """List the numbers of the marked rows, counted from 1.

    >>> row_numbers(np.array([False, True, True]))
    'rows 2, 3'
    """
    rows = np.flatnonzero(marked) + 1
    shown = ", ".join(map(str, rows[:most])) + (" …" if len(rows) > most else "")
    return f"row{'' if len(rows) == 1 else 's'} {shown}"


def excluded(reasons: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """Return a note for each reason for which rows, bool (n,), were excluded.

    >>> excluded({"because the label is missing": np.array([False, True]), "because": np.array([False, False])})
    ('Excluded because the label is missing: 1 row (row 2).',)
    """
    return tuple(
        f"Excluded {why}: {counted(int(out.sum()), 'row')} ({row_numbers(out)})."
        for why, out in reasons.items()
        if out.any()
    )
