"""A calibrator in SQL that SQLite, DuckDB and PostgreSQL run: of two classes a select list, of K classes a query.

A select list cannot bind a value to a name, so a term that occurs twice in a formula is written twice. With K classes
most terms do, and the list would grow to megabytes. The query computes them in stages instead: each stage is a named
SELECT of the one before and adds columns. (More than about ten SELECTs within one another overflow SQLite's parser.) A
step function is a table that is joined by the number of the step. With many steps, their breaks are a table too, of
which a row is about the square root of their number.

Terms of formulas as expressions of standard SQL, which SQLite, DuckDB and PostgreSQL all accept.

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
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from calib.export.programs.formulas import Formulas, formulas_of, parts, uses
from calib.kernel.checks import Array
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


# Fewer breaks are found by a CASE of two levels: planning takes the square of the number of joins
BREAKS_IN_ONE_LEVEL = 100
BREAK_BEYOND_TERMS = "1e308"  # a break that no term reaches
# Without it SQLite and PostgreSQL write each stage's terms into the next, and compute them once for each use
FENCE = "LIMIT 9223372036854775807 OFFSET 0"
FASTER = f"In DuckDB, delete every {FENCE!r}: the query then uses all processors."


def write_sql(calibrator: Any, score: str | Sequence[str] = "score", table: str = "scores") -> str:
    """Write the select list for a column of scores: "… AS p0, … AS p1, … AS p", or "… AS p" without intervals.

    A calibrator of K classes gives a query instead, because a select list would repeat every term for each class.

    Parameters
    ----------
    calibrator
        A fitted calibrator, one per fold, or one read from a file (``read_calibrator``).
    score
        The name of the column, as the database spells it; it is quoted if necessary. For a calibrator of several
        scores a list of names, or one prefix for score_1, score_2, …
    table
        The table that the query of K classes reads; a dot separates it from its schema.

    Returns
    -------
    str
        The text between SELECT and FROM, or a query that adds p_0, p_1 …, the ends p0_0, p1_0 … and columns calib_1 …
        with intermediate results to the table's columns. A score that is NULL, or that ``predict`` would refuse, gives
        NULL. SQLite needs its mathematical functions (since 3.35) for methods with logarithms or exponentials.
        A probability below 1e-307 may be given as 0, because PostgreSQL refuses smaller products.

    Raises
    ------
    InputError
        For a calibrator that cannot be written, by its name; NotFittedError before ``fit``.

    Examples
    --------
    >>> from calib.calibrators import Isotonic
    >>> print(write_sql(Isotonic(between="step").fit([0.25, 0.5], [0, 1])).replace("DOUBLE PRECISION", "DOUBLE"))
    CASE WHEN score BETWEEN CAST(-1.7976931348623157e+308 AS DOUBLE) AND CAST(1.7976931348623157e+308 AS DOUBLE) THEN
      CAST(CASE
        WHEN CAST(score AS DOUBLE) < 0.5e0 THEN 0e0
        ELSE 1e0
      END AS DOUBLE)
    END AS p
    """
    formulas = formulas_of(calibrator, score)
    if formulas.joint:
        return write_query(formulas, table)
    writer, inside = Writer(), guard(formulas)
    return ",\n".join(
        f"CASE WHEN {inside} THEN\n  {writer.answer(term)}\nEND AS {name}"
        for name, term in formulas.answers.items()
    )


def guard(formulas: Formulas) -> str:
    """Return the condition that all scores are within their limits."""
    return " AND ".join(map(_within, formulas.scores))


def _within(score: Score) -> str:
    return f"{identifier(score.name)} BETWEEN {double(literal(score.low))} AND {double(literal(score.high))}"


def write_query(formulas: Formulas, table: str) -> str:
    """Write the query of K classes: all columns of the table, columns calib_1 … of the stages, and the answers."""
    formulas.check_names("SQL")
    limits = [each for each in formulas.limits if not isinstance(each.term, Score)]
    query = Query([*formulas.answers.values(), *(each.term for each in limits)])
    write = query.writer.write
    valid = " AND ".join(f"{write(x.term)} BETWEEN {literal(x.low)} AND {literal(x.high)}" for x in limits)
    answers = [
        f"CASE WHEN {valid} THEN {query.writer.answer(term)} END AS {name}"
        for name, term in formulas.answers.items()
    ]
    source = ".".join(map(identifier, table.split(".")))
    comment = "\n".join([formulas.sentence, *formulas.notes, FASTER]).replace("*/", "* /")
    return f"/* {comment} */\n{query.around(source, answers)}"


@dataclass
class Stage:
    """One SELECT: the columns that it adds to the stage before, and the tables that it joins."""

    added: list[str] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)

    def around(self, inner: str) -> str:
        source = "\n".join([inner, *self.joins])
        return f"SELECT {', '.join(['*', *self.added])} FROM {source}"


class Query:
    """The stages that compute these terms, and the tables that they join.

    Attributes
    ----------
    writer
        Knows the columns of terms.
    ready
        The first stage that can use a term, by its id.
    """

    def __init__(self, terms: Sequence[Expression]) -> None:
        self.writer = Writer()
        self.ready: dict[int, int] = {}
        self.stages: defaultdict[int, Stage] = defaultdict(Stage)
        self.tables: list[str] = []
        self._times = uses(terms)
        self._names = 0
        self._compared: defaultdict[int, list[Pieces]] = defaultdict(list)
        for each in distinct(terms):
            if isinstance(each, Pieces):
                self._compared[id(each.of)].append(each)
        self._kept = {id(x) for one, *_ in self._compared.values() for x in (one.of, unclipped(one))}
        for term in terms:
            self._add(term)

    def around(self, source: str, answers: Sequence[str]) -> str:
        """Return the query that adds the answers to the columns of the source."""
        last = max(self.ready.values())
        self.stages[last].added += answers
        named = [*self.tables]
        for number in range(last):
            name = f"calib_stage_{number + 1}"
            named.append(f"{name} AS (\n{self.stages[number].around(source)} {FENCE}\n)")
            source = name
        written, before = self.stages[last].around(source), ",\n".join(named)
        return f"WITH {before}\n{written}" if named else written

    def _add(self, term: Expression) -> None:
        """Give the term a column, or make sure that it can be written from columns."""
        if id(term) in self.ready:
            return
        for part in parts(term):
            self._add(part)
        self.ready[id(term)] = max((self.ready[id(part)] for part in parts(term)), default=0)
        if isinstance(term, Score):
            self._bind(term, f"CASE WHEN {_within(term)} THEN {self.writer.write(term)} END")
        elif isinstance(term, Pieces) and len(self._breaks(term)) >= BRANCHES:
            self._look_up(self._compared[id(term.of)])
        elif not isinstance(term, Number) and (self._times[id(term)] > 1 or id(term) in self._kept):
            self._bind(term, self.writer.write(term))

    def _bind(self, term: Expression, written: str) -> None:
        self.writer.columns[id(term)] = self._column(self.ready[id(term)], written)
        self.ready[id(term)] += 1

    def _column(self, stage: int, written: str) -> str:
        """Add a column in this stage, for the next ones, and return its name."""
        name = self._name()
        self.stages[stage].added.append(f"{written} AS {name}")
        return name

    def _name(self) -> str:
        self._names += 1
        return f"calib_{self._names}"

    def _breaks(self, term: Pieces) -> Array:
        """Return the breaks of all pieces of this term's argument."""
        return np.unique(np.concatenate([each.breaks for each in self._compared[id(term.of)]]))

    def _look_up(self, group: Sequence[Pieces]) -> None:
        """Write the pieces of one argument as a table, joined by the number of the step."""
        breaks, x = self._breaks(group[0]), self.writer.write(unclipped(group[0]))
        place, stage = self._place(breaks, x, self.ready[id(group[0])])
        names: dict[bytes, str] = {}
        columns: list[Array] = []

        def named(values: Array) -> str:
            if values.tobytes() not in names:
                names[values.tobytes()] = self._name()
                columns.append(values)
            return names[values.tobytes()]

        for each in group:
            at = np.append(0, np.searchsorted(each.breaks, breaks, side="right"))
            coefficients = [named(column[at]) for column in each.coefficients.T]
            origin = named(each.origins[at]) if len(coefficients) > 1 else ""
            self.writer.columns[id(each)] = _horner(self.writer.write(each.of), origin, coefficients)
            self.ready[id(each)] = stage
        rows = [[str(i), *map(value, row)] for i, row in enumerate(np.column_stack(columns).tolist())]
        self._join(stage, place, list(names.values()), rows)

    def _place(self, breaks: Array, x: str, stage: int) -> tuple[str, int]:
        """Return the column of the number of breaks that are at most x, and the first stage that can use it."""
        if len(breaks) < BREAKS_IN_ONE_LEVEL:
            numbers = list(map(str, range(len(breaks) + 1)))
            return self._column(stage, re.sub(r"\s+", " ", tree(x, breaks, numbers, ""))), stage + 1
        width = int(np.ceil(np.sqrt(len(breaks) + 1)))
        block = self._column(stage, _count(x, map(literal, breaks[width - 1 :: width])))
        names = [self._name() for _ in range(width - 1)]
        starts = range(0, len(breaks) + 1, width)
        rows = [list(map(literal, breaks[start : start + width - 1])) for start in starts]
        rows = [[str(i), *row, *[BREAK_BEYOND_TERMS] * (width - 1 - len(row))] for i, row in enumerate(rows)]
        self._join(stage + 1, block, names, rows)
        return self._column(stage + 1, f"{width} * {block} + {_count(x, names)}"), stage + 2

    def _join(self, stage: int, by: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Join a table of numbers by its first column in this stage; the first row settles the types."""
        first, *others = rows
        first = [first[0], *map(double, first[1:])]
        table = self._name()
        values = ",\n".join(f"({', '.join(row)})" for row in [first, *others])
        self.tables.append(f"{table} ({table}_row, {', '.join(names)}) AS (VALUES\n{values})")
        self.stages[stage].joins.append(f"LEFT JOIN {table} ON {table}_row = {by}")


def distinct(terms: Sequence[Expression]) -> Iterable[Expression]:
    """Return the terms and all terms within them, each once."""
    found: dict[int, Expression] = {}

    def visit(term: Expression) -> None:
        if id(term) not in found:
            found[id(term)] = term
            for part in parts(term):
                visit(part)

    for term in terms:
        visit(term)
    return found.values()


def _count(x: str, breaks: Iterable[str]) -> str:
    """Write the number of breaks that are at most x."""
    when = [f"WHEN {x} < {each} THEN {i}" for i, each in enumerate(breaks)]
    return f"CASE {' '.join(when)} ELSE {len(when)} END"


def _horner(x: str, origin: str, coefficients: Sequence[str]) -> str:
    *lower, written = coefficients
    for coefficient in reversed(lower):
        written = f"(({x} - {origin}) * {written} + {coefficient})"
    return written


def value(number: float) -> str:
    """Write a value of a table with the fewest digits: SQLite may read its neighbour, which no break depends on.

    >>> value(0.1), value(-1e-9), value(1.0)
    ('0.1e0', '-1e-09', '1e0')
    """
    digits = repr(number + 0.0).removesuffix(".0")
    return digits if "e" in digits else f"{digits}e0"
