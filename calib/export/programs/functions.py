"""A calibrator as a function of plain Python, which imports nothing but math, and the same in JavaScript.

Both have the same structure: tables of breaks and of the values between them, a function that finds a place among
breaks, one for the answer to one row, and ``calibrate``, which takes numbers or columns and returns p, or p0, p1 and p
for a method with intervals. A term that occurs twice in the formula is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.export.programs.formulas import Formulas, formulas_of, uses
from calib.kernel.formula import Arithmetic, Clip, Expression, Function, Number, Pieces
from calib.kernel.version import __version__

PYTHON_PLACE = '''def _place(breaks, x):
    """How many of the increasing breaks are at most x."""
    low, high = 0, len(breaks)
    while low < high:
        middle = (low + high) // 2
        if breaks[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low
'''
JAVASCRIPT_PLACE = """/** How many of the increasing breaks are at most x. */
function place(breaks, x) {
  let low = 0, high = breaks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (breaks[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}
"""
# words: right, this is code
PYTHON_COLUMNS = '''
def _number(x):
    """Convert x to a number; NaN if x is not a number."""
    try:
        return float(x)
    except (TypeError, ValueError):
        return math.nan


def _each(scores, outputs):
    """Calibrate one row, or each row of columns; return arrays for arrays and lists for other columns."""
    if not any(hasattr(x, "__iter__") and not isinstance(x, str) and getattr(x, "ndim", 1) for x in scores):
        return _one(*map(_number, scores))
    if any(getattr(x, "ndim", 1) > 1 for x in scores):
        raise ValueError("Give one column per score, such as calibrate(*P.T) for an array P of rows.")
    found = [_one(*map(_number, row)) for row in zip(*scores, strict=True)]
    rows = found if outputs > 1 else [(p,) for p in found]
    columns = [[math.nan if p is None else p for p in column] for column in zip(*rows)] or [[]] * outputs
    columns = tuple(_like(scores[0], column) for column in columns)
    return columns if outputs > 1 else columns[0]


def _like(scores, answers):
    """Return the results in the type of the scores: an array, a Series or a list."""
    if not hasattr(scores, "astype"):
        return answers
    made = scores.astype(object)
    made[:] = answers
    return made.astype(float)
'''
JAVASCRIPT_COLUMNS = """/** Calibrate one row, or each row of arrays; return arrays for arrays. */
function each(scores, outputs) {
  const column = x => Array.isArray(x) || ArrayBuffer.isView(x);
  if (!scores.some(column)) return one(...scores);
  if (!scores.every(x => column(x) && x.length === scores[0].length))
    throw new Error("All scores must be numbers, or arrays of one length.");
  const found = Array.from(scores[0], (_, i) => one(...scores.map(x => x[i])));
  if (outputs === 1) return found;
  return Array.from({ length: outputs }, (_, k) => found.map(row => row[k]));
}
"""
FUNCTION_NAMES = {"ln": "log", "log1p": "log1p", "exp": "exp"}


@dataclass(frozen=True)
class Syntax:
    """Differences between the two languages; {} in a text stands for an inserted value."""

    place: str
    math: str
    variable: str
    table: str
    listed: str
    clipped: str
    between: str


PYTHON = Syntax(
    "_place",
    "math",
    "    {} = {}",
    "{} = {}",
    "({},)",
    "min(max({}, {}), {})",
    "{} <= {} <= {}",
)
JAVASCRIPT = Syntax(
    "place",
    "Math",
    "  const {} = {};",
    "const {} = {};",
    "[{}]",
    "Math.min(Math.max({}, {}), {})",
    "{0} <= {1} && {1} <= {2}",
)


class Body:
    """Statements of a function, and the tables that they use; each is written once.

    Attributes
    ----------
    names
        Names of the scores, by the ids of their terms.
    shared
        Ids of the terms that occur more than once.
    """

    def __init__(self, syntax: Syntax, names: dict[int, str], shared: set[int]) -> None:
        self.syntax, self.shared = syntax, shared
        self.statements: list[str] = []
        self.tables: list[str] = []
        self._terms = dict(names)
        self._known: dict[str, str] = {}
        self._variables: dict[str, str] = {}

    def write(self, term: Expression) -> str:
        """Write the term as an expression; repeated terms become variables first."""
        if id(term) not in self._terms:
            written = self._expression(term)
            if id(term) in self.shared and isinstance(term, (Arithmetic, Function, Clip)):
                written = self._variable(written)
            self._terms[id(term)] = written
        return self._terms[id(term)]

    def _expression(self, term: Expression) -> str:
        match term:
            case Number():
                return number(term.value)
            case Arithmetic():
                return f"({self.write(term.left)} {term.operator} {self.write(term.right)})"
            case Function():
                return f"{self.syntax.math}.{FUNCTION_NAMES[term.name]}({self.write(term.of)})"
            case Clip():
                return self.syntax.clipped.format(self.write(term.of), number(term.low), number(term.high))
            case Pieces():
                return self._pieces(term)
        raise TypeError(f"{term!r} cannot be written.")

    def _pieces(self, term: Pieces) -> str:
        x = self.write(term.of)
        at = self._variable(f"{self.syntax.place}({self._table('BREAKS', self._listed(term.breaks))}, {x})")
        degree = term.coefficients.shape[1] - 1
        if degree == 0:
            return f"{self._table('VALUES', self._listed(term.coefficients[:, 0]))}[{at}]"
        rows = [self._listed(row) for row in np.column_stack([term.origins, term.coefficients])]
        piece = self._variable(f"{self._table('PIECES', self.syntax.listed.format(', '.join(rows)))}[{at}]")
        away = self._variable(f"{x} - {piece}[0]")
        written = f"{piece}[{degree + 1}]"
        for k in range(degree, 0, -1):
            written = f"({away} * {written} + {piece}[{k}])"
        return written

    def _variable(self, written: str) -> str:
        """Name a value; equal expressions are computed once."""
        if written not in self._variables:
            self._variables[written] = f"t{len(self.statements) + 1}"
            self.statements.append(self.syntax.variable.format(self._variables[written], written))
        return self._variables[written]

    def _table(self, kind: str, content: str) -> str:
        if content not in self._known:
            self._known[content] = f"{kind}_{len(self.tables) + 1}"
            self.tables.append(self.syntax.table.format(self._known[content], content))
        return self._known[content]

    def _listed(self, values: np.ndarray) -> str:
        return self.syntax.listed.format(", ".join(map(number, values.tolist())))


def write_python(calibrator: Any) -> str:
    """Write a module of plain Python with the function ``calibrate``, which imports only math.

    Parameters
    ----------
    calibrator
        A fitted calibrator, one per fold, or one read from a file (``read_calibrator``). Each score is one argument:
        a number, or a column such as a list, a NumPy array or a pandas Series.

    Raises
    ------
    InputError
        For a calibrator that cannot be written, by its name; NotFittedError before ``fit``.

    Examples
    --------
    >>> from calib.calibrators import Isotonic
    >>> names = {}
    >>> exec(write_python(Isotonic(between="step").fit([0.25, 0.5], [0, 1])), names)
    >>> names["calibrate"](0.3), names["calibrate"](0.5), names["calibrate"](None)
    (0.0, 1.0, None)
    >>> names["calibrate"]([0.3, 0.5, None])
    [0.0, 1.0, nan]
    """
    function = _function(calibrator, PYTHON)
    arguments, nothing = ", ".join(function.names), ", ".join(["None"] * function.outputs)
    code = "\n".join(
        [
            f"def _one({arguments}):",
            '    """Calibrate one row of numbers."""',
            f"    if not ({' and '.join(function.guards)}):",
            f"        return {nothing}",
            *function.body.statements,
            *([f"    if not ({function.later}):", f"        return {nothing}"] if function.later else []),
            f"    return {', '.join(function.answers)}",
            "",
            "",
            f"def calibrate({arguments}):",
            f'    """{function.formulas.sentence} Arguments are numbers or columns of numbers."""',
            f"    return _each([{arguments}], {function.outputs})",
        ]
    )
    helpers = [PYTHON_COLUMNS, *([PYTHON_PLACE] if f"{PYTHON.place}(" in code else [])]
    tables = function.body.tables
    return "\n".join(
        [_comments(function.formulas, "#"), "import math", "", *tables, "", "\n\n".join([*helpers, code])]
    )


def write_javascript(calibrator: Any) -> str:
    """Write a script of plain JavaScript with the function ``calibrate``, for browsers and Node, as ``write_python``.

    It returns a number, or the list [p0, p1, p] for a method with intervals, and null for anything but a score. Of
    arrays it returns an array for each answer.

    Parameters
    ----------
    calibrator
        Fitted, or read from a file.

    Raises
    ------
    InputError
        As ``check_written``.
    """
    function = _function(calibrator, JAVASCRIPT)
    numbers = [f'typeof {name} === "number"' for name in function.names]
    nothing, answer = (", ".join(each) for each in (["null"] * function.outputs, function.answers))
    if function.outputs > 1:
        nothing, answer = f"[{nothing}]", f"[{answer}]"
    arguments = ", ".join(function.names)
    code = "\n".join(
        [
            "/** Calibrate one row. */",
            f"function one({arguments}) {{",
            f"  if (!({' && '.join(numbers + function.guards)})) return {nothing};",
            *function.body.statements,
            *([f"  if (!({function.later})) return {nothing};"] if function.later else []),
            f"  return {answer};",
            "}",
            "",
            f"/** {function.formulas.sentence} Arguments are numbers or arrays of numbers. */",
            f"function calibrate({arguments}) {{",
            f"  return each([{arguments}], {function.outputs});",
            "}",
            "",
            'if (typeof module !== "undefined") module.exports = { calibrate };',
        ]
    )
    helpers = [JAVASCRIPT_COLUMNS, *([JAVASCRIPT_PLACE] if f"{JAVASCRIPT.place}(" in code else [])]
    return "\n".join([_comments(function.formulas, "//"), *function.body.tables, *helpers, code])


@dataclass(frozen=True)
class Written:
    """A calibrator as parts of a function.

    Attributes
    ----------
    names
        Names of the arguments.
    guards, later
        Conditions that the arguments must meet; a condition of what the body computes, or "".
    answers
        Expressions to return.
    """

    formulas: Formulas
    names: list[str]
    body: Body
    guards: list[str]
    later: str
    answers: list[str]

    @property
    def outputs(self) -> int:
        return len(self.answers)


def _function(calibrator: Any, syntax: Syntax) -> Written:
    formulas = formulas_of(calibrator)
    names = [score.name for score in formulas.scores]
    terms = [*formulas.answers.values(), *(limits.term for limits in formulas.limits)]
    shared = {term for term, times in uses(terms).items() if times > 1}
    body = Body(syntax, {id(s): name for s, name in zip(formulas.scores, names, strict=True)}, shared)
    answers = [(term, body.write(term)) for term in formulas.answers.values()]
    guards = [
        syntax.between.format(number(x.low), body.write(x.term), number(x.high)) for x in formulas.limits
    ]
    return Written(
        formulas,
        names,
        body,
        guards[: len(names)],
        "".join(guards[len(names) :]),
        [x[1:-1] if isinstance(term, Arithmetic) and x[0] == "(" else x for term, x in answers],
    )


def _comments(formulas: Formulas, mark: str) -> str:
    """Return comments with the version and the notes; text from a file stays on its line."""
    notes = [f"{mark} {note.encode('ascii', 'backslashreplace').decode()!a}" for note in formulas.notes]
    return "\n".join([f"{mark} Written by calib {__version__}.", *notes])


def number(value: float) -> str:
    """Write a double with the fewest digits that reproduce it; negative numbers are in brackets."""
    written = repr(float(value) + 0.0)
    return f"({written})" if value < 0 else written
