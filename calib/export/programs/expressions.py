"""Terms of formulas as expressions of standard SQL, which SQLite, DuckDB and PostgreSQL all accept.

The three differ, and the written SQL takes this into account:

- A number such as 0.1 is an exact decimal in PostgreSQL and DuckDB and a double in SQLite. All here have an
  exponent, which makes them doubles in DuckDB, and all results are cast, which makes them doubles in
  PostgreSQL. They have 17 digits instead of the fewest possible: SQLite's own parsing of numbers is not correctly
  rounded, and the fewest digits may lie as far as half a step from the exact number, 17 digits at most
  a fifth of a step. (For numbers below 1e-290 SQLite may still read the neighbour.)
- Scores are cast too: a NUMERIC column would be compared as decimals, a REAL one in single precision, and a
  TEXT one, as SQLite's import of CSV makes them, letter by letter. The guard around all compares the column
  with cast bounds, for which SQLite reads texts as numbers, so that an empty text has no answer instead of
  the answer for 0.
- SQLite allows expressions 1000 deep, and its parser 100 open parts: step functions are trees of CASE with eight
  branches each, so that a million steps are seven deep, and a row needs a few dozen comparisons.
- PostgreSQL refuses results that underflow or overflow: exp is only taken of −700 to 700, and a product
  nearer to 0 than about 1e-307, the smallest numbers with all their digits, is 0.
"""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from calib.kernel.formula import Arithmetic, Clip, Expression, Function, Number, Pieces, Score

BRANCHES = 8
SMALLEST_PRODUCT = 1e-307  # smallest product that is computed
NEAREST_TO_ZERO = 1e-17  # to 0, if the range of a factor includes it
PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
# words: right, these are the reserved words of SQL
SQL_WORDS = """
all analyse analyze and any array as asc asymmetric between both by case cast check collate column commit constraint
create cross current_date current_role current_time current_timestamp current_user default deferrable delete desc
describe distinct do drop else end escape except exists false fetch filter for foreign from full glob grant group
having if in index initially inner insert intersect into is isnull join lambda lateral leading left like limit
localtime localtimestamp natural not notnull null offset on only or order outer over partition pivot pivot_longer
pivot_wider placing primary qualify range references returning right row rows select session_user set show similar
some summarize symmetric table then to trailing transaction true union unique unpivot update user using values
variadic view when where window with
"""
RESERVED_BY_SQL = frozenset(SQL_WORDS.split())


def identifier(name: str) -> str:
    """Return a column's name, quoted if necessary.

    Quotes are not put around every name, since SQLite takes a quoted name that it does not know for a text.

    >>> identifier("score"), identifier("Model score"), identifier("order")
    ('score', '"Model score"', '"order"')
    """
    if PLAIN_NAME.fullmatch(name) and name not in RESERVED_BY_SQL:
        return name
    return '"' + name.replace('"', '""') + '"'


def literal(value: float) -> str:
    """Write a double as a number that each of the three databases reads as this double.

    >>> literal(0.5), literal(0.1), literal(-1e-9)
    ('0.5e0', '0.10000000000000001e0', '-1.0000000000000001e-09')
    """
    digits = f"{value + 0.0:.17g}"
    return digits if "e" in digits else f"{digits}e0"


def double(expression: str) -> str:
    return f"CAST({expression} AS DOUBLE PRECISION)"


class Writer:
    """Writes terms as expressions; ``columns`` are the columns of terms that already have one, by their ids."""

    def __init__(self) -> None:
        self.columns: dict[int, str] = {}

    def answer(self, term: Expression) -> str:
        return double(literal(term.value)) if isinstance(term, Number) else self.write(term, "  ")

    def write(self, term: Expression, indent: str = "") -> str:
        if id(term) in self.columns:
            return self.columns[id(term)]
        match term:
            case Number():
                return literal(term.value) if term.value >= 0 else f"({literal(term.value)})"
            case Score():
                return double(identifier(term.name))
            case Arithmetic():
                return self._arithmetic(term, indent)
            case Function():
                return self._function(term, indent)
            case Clip():
                return self._clip(term, indent)
            case Pieces():
                return self._pieces(term, indent)
        raise TypeError(f"{term!r} cannot be written.")

    def _arithmetic(self, term: Arithmetic, indent: str) -> str:
        left, right = (
            (self._factor(term.left, term.right, indent), self._factor(term.right, term.left, indent))
            if term.operator == "*"
            else (self.write(term.left, indent), self.write(term.right, indent))
        )
        return f"({left} {term.operator} {right})"

    def _factor(self, term: Expression, other: Expression, indent: str) -> str:
        """Write a factor of a product: 0 if PostgreSQL would refuse the product as too small."""
        same_sign = other.low > 0 or other.high < 0
        least = max(min(abs(other.low), abs(other.high)) if same_sign else 0.0, NEAREST_TO_ZERO)
        if least >= 1 or not _may_be_tiny(term):
            return self.write(term, indent)
        if isinstance(term, Clip) and id(term) not in self.columns:
            return self._clip(term, indent, _tiny(self.write(term.of, indent), least))
        written = self.write(term, indent)
        return f"CASE{_tiny(written, least)} ELSE {written} END"

    def _function(self, term: Function, indent: str) -> str:
        x = self.write(term.of, indent)
        if term.name == "log1p":  # Kahan's method: rounding of 1 + x affects both factors alike
            return f"(LN(1e0 + {x}) * ({x} / ((1e0 + {x}) - 1e0)))"
        return f"{term.name.upper()}({x})"

    def _clip(self, term: Clip, indent: str, first: str = "") -> str:
        x, low, high = self.write(term.of, indent), literal(term.low), literal(term.high)
        below = f" WHEN {x} < {low} THEN {low}" if term.of.low < term.low else ""
        above = f" WHEN {x} > {high} THEN {high}" if term.of.high > term.high else ""
        return f"CASE{first}{below}{above} ELSE {x} END"

    def _pieces(self, term: Pieces, indent: str) -> str:
        x = self.write(term.of, indent)
        polynomials = [
            polynomial(term.of, x, *row) for row in zip(term.origins, term.coefficients, strict=True)
        ]
        return double(tree(self.write(unclipped(term), indent), term.breaks, polynomials, indent))


def unclipped(term: Pieces) -> Expression:
    """Return what can be compared with the breaks, all of which are between the ends of a clipped term."""
    return term.of.of if isinstance(term.of, Clip) else term.of


def _may_be_tiny(term: Expression) -> bool:
    """Tell whether a term can come arbitrarily close to 0: a score, or one plus or minus something that may be 0."""
    if isinstance(term, Arithmetic) and term.operator in "+-":
        sides = term.left, term.right
        return not any(isinstance(side, Number) and side.value for side in sides) and any(
            map(_may_be_tiny, sides)
        )
    score = term.of if isinstance(term, Clip) else term
    return isinstance(score, Score) and term.low <= 0 <= term.high


def _tiny(x: str, least: float) -> str:
    return f" WHEN ABS({x}) < {literal(SMALLEST_PRODUCT / least)} THEN 0e0"


def tree(x: str, breaks: np.ndarray, answers: list[str], indent: str) -> str:
    """Write a CASE over at most BRANCHES parts of the answers, each a tree itself."""
    if len(answers) == 1:
        return answers[0]
    bounds = np.unique(np.linspace(0, len(answers), min(BRANCHES, len(answers)) + 1).astype(int)).tolist()
    inner = indent + "  "
    branches = [
        tree(x, breaks[start : end - 1], answers[start:end], inner) for start, end in pairwise(bounds)
    ]
    when = [
        f"{inner}WHEN {x} < {literal(breaks[end - 1])} THEN {branch}"
        for end, branch in zip(bounds[1:-1], branches, strict=False)
    ]
    return "\n".join(["CASE", *when, f"{inner}ELSE {branches[-1]}", f"{indent}END"])


def polynomial(term: Expression, x: str, origin: float, coefficients: np.ndarray) -> str:
    """Write a polynomial by Horner's rule; x is the written term."""
    kept = np.trim_zeros(coefficients, "b")
    written = literal(kept[-1]) if len(kept) else literal(0.0)
    if origin == 0 and kept.tolist() == [0, 1]:
        return x
    away = f"({x} {'-' if origin > 0 else '+'} {literal(abs(origin))})" if origin else x
    if (
        len(kept) > 1
        and abs(kept[-1]) < 1
        and abs(origin) < SMALLEST_PRODUCT / NEAREST_TO_ZERO
        and _may_be_tiny(term)
    ):
        away = f"CASE{_tiny(away, abs(float(kept[-1])))} ELSE {away} END"
    for coefficient in kept[-2::-1]:
        sign = "+" if coefficient >= 0 else "-"
        written = f"({away} * {written} {sign} {literal(abs(coefficient))})"
    return written
