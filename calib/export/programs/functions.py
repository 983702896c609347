"""A calibrator as a function of plain Python, which imports nothing but math, and the same in JavaScript.

Both have the same structure: tables of breaks and of the values between them, a function that finds a place among
breaks, and ``calibrate``, which returns p, or p0, p1 and p for a method with intervals. A term that occurs twice in
the formula is computed once.
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
NAMES = {"ln": "log", "log1p": "log1p", "exp": "exp"}


@dataclass(frozen=True)
class Syntax:
    """Differences between the two languages; {} in a text stands for an inserted value."""

    place: str
    math: str
    variable: str
    table: str
    listed: str
    clipped: str


PYTHON = Syntax("_place", "math", "    {} = {}", "{} = {}", "({},)", "min(max({}, {}), {})")
JAVASCRIPT = Syntax(
    "place", "Math", "  const {} = {};", "const {} = {};", "[{}]", "Math.min(Math.max({}, {}), {})"
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
                return f"{self.syntax.math}.{NAMES[term.name]}({self.write(term.of)})"
            case Clip():
                return self.syntax.clipped.format(self.write(term.of), number(term.low), number(term.high))
            case Pieces():
                return self._pieces(term)
        raise TypeError(f"{term!r} cannot be written.")

    def _pieces(self, term: Pieces) -> str:
        x = self.write(term.of)
        at = f"{self.syntax.place}({self._table('BREAKS', self._listed(term.breaks))}, {x})"
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
        name = f"t{len(self.statements) + 1}"
        self.statements.append(self.syntax.variable.format(name, written))
        return name

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
        A fitted calibrator, one per fold, or one read from a file (``read_calibrator``). Each score is one argument.

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
    """
    formulas, names, body, answers = _body(calibrator, PYTHON)
    outside = " or ".join(
        f"{name} is None or not {number(s.low)} <= {name} <= {number(s.high)}"
        for name, s in zip(names, formulas.scores, strict=True)
    )
    lines = [
        f"def calibrate({', '.join(names)}):",
        f'    """{_sentence(formulas)}"""',
        f"    if {outside}:",
        f"        return {', '.join(['None'] * len(answers))}",
        *body.statements,
        f"    return {', '.join(answers)}",
    ]
    code = "\n".join(lines)
    head = (["import math"] if "math." in code else []) + body.tables
    place = ["", "", PYTHON_PLACE] if f"{PYTHON.place}(" in code else []
    return "\n".join([_comments(formulas, "#"), *head, *place, *([""] if place else ["", ""]), code])


def write_javascript(calibrator: Any) -> str:
    """Write a script of plain JavaScript with the function ``calibrate``, for browsers and Node, as ``write_python``.

    It returns a number, or the list [p0, p1, p] for a method with intervals, and null for anything but a score.

    Parameters
    ----------
    calibrator
        Fitted, or read from a file.

    Raises
    ------
    InputError
        As ``check_written``.
    """
    formulas, names, body, answers = _body(calibrator, JAVASCRIPT)
    inside = " && ".join(
        f'typeof {name} === "number" && {name} >= {number(s.low)} && {name} <= {number(s.high)}'
        for name, s in zip(names, formulas.scores, strict=True)
    )
    nothing, answer = (", ".join(each) for each in (["null"] * len(answers), answers))
    if len(answers) > 1:
        nothing, answer = f"[{nothing}]", f"[{answer}]"
    lines = [
        f"/** {_sentence(formulas)} */",
        f"function calibrate({', '.join(names)}) {{",
        f"  if (!({inside})) return {nothing};",
        *body.statements,
        f"  return {answer};",
        "}",
        "",
        'if (typeof module !== "undefined") module.exports = { calibrate };',
    ]
    code = "\n".join(lines)
    place = [JAVASCRIPT_PLACE] if f"{JAVASCRIPT.place}(" in code else []
    return "\n".join([_comments(formulas, "//"), *body.tables, *place, code])


def _body(calibrator: Any, syntax: Syntax) -> tuple[Formulas, list[str], Body, list[str]]:
    """Return the formulas, the argument names, the function's body and the expressions that it returns."""
    formulas = formulas_of(calibrator)
    names = [score.name for score in formulas.scores]
    shared = {term for term, times in uses(list(formulas.answers.values())).items() if times > 1}
    body = Body(syntax, {id(s): name for s, name in zip(formulas.scores, names, strict=True)}, shared)
    written = [(term, body.write(term)) for term in formulas.answers.values()]
    return (
        formulas,
        names,
        body,
        [x[1:-1] if isinstance(term, Arithmetic) and x[0] == "(" else x for term, x in written],
    )


def _sentence(formulas: Formulas) -> str:
    gives = ", ".join(formulas.answers)
    return f"{formulas.label} ({formulas.source}): {gives}, the probability of class 1."


def _comments(formulas: Formulas, mark: str) -> str:
    """Return comments with the version and the notes; text from a file stays on its line."""
    notes = [f"{mark} {note.encode('ascii', 'backslashreplace').decode()!a}" for note in formulas.notes]
    return "\n".join([f"{mark} Written by calib {__version__}.", *notes])


def number(value: float) -> str:
    """Write a double with the fewest digits that reproduce it; negative numbers are in brackets."""
    written = repr(float(value) + 0.0)
    return f"({written})" if value < 0 else written
