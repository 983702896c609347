"""A calibrator as an ONNX graph in double precision: scores (n,) in; p, or p0, p1 and p, (n,) out.

The graph is a few operators of the standard set, and an ONNX file is a short message of protocol buffers;
this module writes both itself, so that no package is needed. Field numbers are those of onnx.proto, whose
meaning does not change. ONNX has no search among sorted numbers: a place among t breaks is found by bisection, in
log₂ t rounds of Gather, LessOrEqual and Where over all scores at once, so that no array is larger than the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from calib.export.programs.formulas import formulas_of
from calib.kernel.formula import Arithmetic, Clip, Expression, Function, Number, Pieces
from calib.kernel.version import __version__

IR_VERSION, OPSET = 8, 17
DOUBLE, INT64 = 11, 7
ONNX_OPERATORS = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div"}


def write_onnx(calibrator: Any, score: str | Sequence[str] = "score") -> bytes:
    """Write the calibrator as an ONNX model, opset 17, with doubles only.

    Parameters
    ----------
    calibrator
        A fitted calibrator, one per fold, or one read from a file (``read_calibrator``).
    score
        The name of the input, double (n,); for a calibrator of several scores a list of names, or one prefix for
        score_1, score_2, …

    Returns
    -------
    bytes
        Outputs are p0 and p1, if the method has them, and p, double (n,); NaN for a score that ``predict`` refuses.

    Raises
    ------
    InputError
        For a calibrator that cannot be written, by its name; NotFittedError before ``fit``.

    Examples
    --------
    >>> from calib.calibrators import Platt
    >>> model = write_onnx(Platt().fit([-1, 1], [0, 1]))
    >>> model[:2].hex(), b"score" in model
    ('0808', True)
    """
    formulas = formulas_of(calibrator, score)
    formulas.check_names("ONNX")
    graph = Graph({id(s): s.name for s in formulas.scores})
    bounds = [
        pair
        for limits in formulas.limits
        for x in [graph.write(limits.term)]
        for pair in ((graph.number(limits.low), x), (x, graph.number(limits.high)))
    ]
    tests = [graph.node("LessOrEqual", *pair) for pair in bounds]
    inside = reduce(partial(graph.node, "And"), tests)
    for name, term in formulas.answers.items():
        graph.node("Where", inside, graph.write(term), graph.number(np.nan), output=name)
    return graph.model(
        [s.name for s in formulas.scores], list(formulas.answers), " ".join([formulas.label, *formulas.notes])
    )


class Graph:
    """Nodes and constants written so far; ``scores`` maps the ids of input terms to their names."""

    def __init__(self, scores: dict[int, str]) -> None:
        self._terms = dict(scores)
        self._nodes: list[bytes] = []
        self._constants: dict[bytes, tuple[str, bytes]] = {}
        self._places: dict[tuple[bytes, str], str] = {}

    def write(self, term: Expression) -> str:
        """Return the name of the term's values; each term is written once."""
        if id(term) not in self._terms:
            self._terms[id(term)] = self._written(term)
        return self._terms[id(term)]

    def _written(self, term: Expression) -> str:
        match term:
            case Number():
                return self.number(term.value)
            case Arithmetic():
                return self.node(ONNX_OPERATORS[term.operator], self.write(term.left), self.write(term.right))
            case Function():
                return self._function(term.name, self.write(term.of))
            case Clip():
                return self.node("Clip", self.write(term.of), self.number(term.low), self.number(term.high))
            case Pieces():
                return self._pieces(term)
        raise TypeError(f"{term!r} cannot be written.")

    def _function(self, name: str, x: str) -> str:
        if name != "log1p":
            return self.node({"ln": "Log", "exp": "Exp"}[name], x)
        one = self.number(1.0)  # Kahan's method: rounding of 1 + x affects both factors alike
        more = self.node("Add", one, x)
        return self.node("Mul", self.node("Log", more), self.node("Div", x, self.node("Sub", more, one)))

    def _pieces(self, term: Pieces) -> str:
        x = self.write(term.of)
        place = self._place(term.breaks, x)

        def gathered(values: np.ndarray) -> str:
            return self.node("Gather", self.constant(values), place)

        columns = [gathered(column) for column in term.coefficients.T]
        written = columns.pop()
        away = self.node("Sub", x, gathered(term.origins)) if columns else ""
        while columns:
            written = self.node("Add", self.node("Mul", away, written), columns.pop())
        return written

    def _place(self, breaks: np.ndarray, x: str) -> str:
        """Return the number of breaks that are at most x; pieces with equal breaks share it."""
        key = breaks.tobytes(), x
        if key not in self._places:
            self._places[key] = self._bisected(breaks, x)
        return self._places[key]

    def _bisected(self, breaks: np.ndarray, x: str) -> str:
        """Count by bisection over the breaks padded to a power of two."""
        stride = 1 << len(breaks).bit_length()
        # Comparisons with NaN are false, so no score passes the padding
        padded = self.constant(np.append(breaks, np.full(stride - 1 - len(breaks), np.nan)))
        place = self.constant(np.int64(0))  # a scalar, until the first comparison makes it one per score
        while stride > 1:
            stride //= 2
            ahead = self.node("Add", place, self.constant(np.int64(stride)))
            break_ = self.node("Gather", padded, self.node("Sub", ahead, self.constant(np.int64(1))))
            place = self.node("Where", self.node("LessOrEqual", break_, x), ahead, place)
        return place

    def number(self, value: float) -> str:
        return self.constant(np.float64(value))

    def constant(self, value: Any) -> str:
        """Return the name of an array of doubles or integers; equal arrays are stored once."""
        array = np.asarray(value)
        kind = DOUBLE if array.dtype.kind == "f" else INT64
        content = _message(
            *((1, size) for size in array.shape),
            (2, kind),
            (9, array.astype("<f8" if kind == DOUBLE else "<i8").tobytes()),
        )
        name, _ = self._constants.setdefault(content, (f"/c{len(self._constants)}", content))
        return name

    def node(self, operator: str, *inputs: str, output: str = "") -> str:
        """Add an operator and return the name of its output."""
        output = output or f"/n{len(self._nodes)}"
        self._nodes.append(_message(*((1, name) for name in inputs), (2, output), (4, operator)))
        return output

    def model(self, scores: Sequence[str], answers: Sequence[str], about: str) -> bytes:
        """Return the complete model as a file."""
        graph = _message(
            *((1, node) for node in self._nodes),
            (2, "calibrator"),
            *((5, content + _message((8, name))) for name, content in self._constants.values()),
            *((11, _vector(name)) for name in scores),
            *((12, _vector(name)) for name in answers),
        )
        opset = _message((2, OPSET))
        return _message((1, IR_VERSION), (2, "calib"), (3, __version__), (6, about), (7, graph), (8, opset))


def _vector(name: str) -> bytes:
    """Return a named input or output: one double per row."""
    shape = _message((1, _message((2, "rows"))))
    return _message((1, name), (2, _message((1, _message((1, DOUBLE), (2, shape))))))


def _message(*fields: tuple[int, int | str | bytes]) -> bytes:
    """Return a message of protocol buffers: integers as varints, texts and messages after their lengths.

    >>> _message((1, 300), (2, "ab")).hex()
    '08ac0212026162'
    """
    written = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            written += _varint(number << 3) + _varint(value)
        else:
            content = value.encode(errors="replace") if isinstance(value, str) else value
            written += _varint(number << 3 | 2) + _varint(len(content)) + content
    return bytes(written)


def _varint(value: int) -> bytes:
    """Return an integer in groups of seven bits per byte, the lowest first; a high bit marks that more follow."""
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])
