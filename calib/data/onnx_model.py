"""Run an existing model, given as an ONNX file, on a table of its inputs, without training.

onnxruntime executes only the graph, in a process without files and network, with limits of memory and time
(``confined``). Operators from other domains than ONNX's own, functions, and weights in other files (which name paths)
are refused. Both packages are optional (the extra ``onnx``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calib.data import confined
from calib.data.column_types import typed_frame
from calib.data.columns import as_float, is_number
from calib.data.errors import DataError, TooLargeError
from calib.data.label import class_counts
from calib.data.limits import MODEL_LIMIT, Bounds, format_bytes
from calib.data.table import note_reading, reading_of
from calib.kernel.version import to_install

DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
ROWS_AT_ONCE = 1 << 13
MOST_MEMORY = 2 << 30  # bytes that a graph may take
MEMORY_PER_BYTE = 4  # bytes of memory for each byte of the model and of the table
LONGEST_RUN = 8  # seconds of processor time for a batch of ROWS_AT_ONCE
EXTRA = f"Install both with: {to_install('onnx')}."
TENSOR_TYPES = {
    "float": np.float32,
    "double": np.float64,
    "int64": np.int64,
    "int32": np.int32,
    "bool": np.bool_,
}
ONNX_SCORE = "model_score"


class Input(NamedTuple):
    """Number or text that a model needs, and the column of the table that supplies it.

    Attributes
    ----------
    name
        Name of the model's input, followed by a position if the input takes several columns.
    kind
        Type, such as float, int64 or string.
    column
        Column that matches by name or by position; None if there is none.
    misfit
        Reason why the column does not fit, or None.
    """

    name: str
    kind: str
    column: str | None
    misfit: str | None = None


class Inputs(NamedTuple):
    """Inputs of a model, and the columns of a table that supply them.

    Attributes
    ----------
    each
        One line per column that the model needs or the table has.
    by_position
        Whether one input takes all columns in order, so that excluding a column shifts the others.
    """

    each: tuple[Input, ...]
    by_position: bool

    @property
    def fit(self) -> bool:
        return all(one.misfit is None for one in self.each)

    def to_frame(self) -> pd.DataFrame:
        """Return the columns input, type, column, fits."""
        lines = [(one.name, one.kind, one.column or "–", one.misfit or "yes") for one in self.each]
        return pd.DataFrame(lines, columns=["input", "type", "column", "fits"])


def model_inputs(model: bytes, frame: pd.DataFrame, beside: Collection[str]) -> Inputs:
    """Return the model's inputs and the columns that match them; parameters and errors as for ``onnx_scores``.

    Parameters
    ----------
    beside
        Columns that are not inputs: the label, columns with a role and excluded columns.
    """
    each, by_position = _confined(_described, model, typed_frame(frame), beside)
    return Inputs(tuple(Input(*one) for one in each), by_position)


def onnx_scores(model: bytes, frame: pd.DataFrame, target: str, beside: Collection[str] = ()) -> pd.DataFrame:
    """Return the table with an additional column: the model's probability, named after its class.

    The field ``model_score`` of ``reading_of`` names this column.

    Parameters
    ----------
    model
        Content of an ONNX file.
    frame : DataFrame
        Table with one column per input of the model, matched by name. If the model has one input of several
        columns, these are all columns but the label and ``beside``, in order.
    target
        Label column.
    beside
        Columns that are not inputs, such as those with a role.

    Raises
    ------
    DataError
        If the file is not such a model, needs other files, or does not fit the table; lists every misfit.
    """
    found = _confined(_scores, model, typed_frame(frame), {target, *beside})
    label = reading_of(found).model_score
    label = list(class_counts(frame, target))[-1] if label is None else label
    scored, name = frame.copy(deep=False), ONNX_SCORE if label == ONNX_SCORE else f"p_{label}"
    if name in scored.columns:
        raise DataError(
            f"The table already has a column {name!r}, but this name is needed for the model's output.",
            "Rename the column.",
        )
    scored[name] = found[ONNX_SCORE].to_numpy()
    return note_reading(scored, model_score=name)


def _confined(call: Callable[..., Any], model: bytes, typed: pd.DataFrame, beside: Collection[str]) -> Any:
    """Return ``call(model, typed, beside)``, computed in a confined process."""
    if find_spec("onnx") is None or find_spec("onnxruntime") is None:
        raise DataError("ONNX files need the packages onnx and onnxruntime.", EXTRA)
    if not confined.can_confine():
        raise DataError(
            "ONNX models cannot be run safely on this system, because it cannot deny a process access to "
            "files and the network.",
            "Run the program on Linux (x86-64 or ARM64), or compute the model's predictions elsewhere and "
            "upload them.",
        )
    if len(model) > MODEL_LIMIT:
        raise DataError(
            f"The model is larger than {MODEL_LIMIT >> 20} MiB, which is the limit.", "Use a smaller model."
        )
    size = len(model) + int(typed.memory_usage(deep=True).sum())
    bounds = Bounds(MOST_MEMORY + MEMORY_PER_BYTE * size, LONGEST_RUN * (1 + len(typed) // ROWS_AT_ONCE))
    try:
        return confined.run(call, [model], [typed], {"beside": list(beside)}, name="The model", bounds=bounds)
    except TooLargeError:
        raise DataError(
            f"The model exceeds a limit: {format_bytes(bounds.memory)} of memory, or {bounds.seconds:,} "
            f"seconds for {len(typed):,} rows. The model may loop forever.",
            "Export a model without loops, or a smaller model.",
        ) from None


def _described(model: bytes, typed: pd.DataFrame, beside: Collection[str]) -> Inputs:
    """Return the model's inputs, in the confined process."""
    return _inputs(_session(model), typed, beside)


def _scores(model: bytes, typed: pd.DataFrame, beside: Collection[str]) -> pd.DataFrame:
    """Return the probabilities, and their class as ``model_score``, in the confined process."""
    session = _session(model)
    values = _values(session, typed, _fitting(_inputs(session, typed, beside)))
    parts = (
        _probability(session, {name: given[i : i + ROWS_AT_ONCE] for name, given in values.items()})
        for i in range(0, len(typed), ROWS_AT_ONCE)
    )
    found, labels = zip(*parts, strict=True)
    return note_reading(pd.DataFrame({ONNX_SCORE: np.concatenate(found)}), model_score=labels[0])


def _session(model: bytes) -> Any:
    import onnx

    try:
        graph = onnx.load_model_from_string(model)
        # a newer onnxruntime may know fields that this onnx cannot check
        graph.DiscardUnknownFields()
        _refuse(graph)
        return _started(graph.SerializeToString())
    except DataError:
        raise
    except Exception as error:  # protobuf and onnxruntime raise their own errors
        first = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise DataError(
            f"This ONNX model cannot be run ({first}).",
            "Export the model again. For a scikit-learn model, use skl2onnx with zipmap=False.",
        ) from None


def _started(model: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # the limit is one of processor time
    # no fallback, which would print to standard output
    providers = ["CPUExecutionProvider"]
    return onnxruntime.InferenceSession(model, options, providers=providers, enable_fallback=0)


def _refuse(model: Any) -> None:
    """Refuse a model that runs or reads anything outside its graph."""
    parts = list(_parts(model))
    if any(getattr(part, "data_location", 0) or getattr(part, "external_data", ()) for part in parts):
        raise DataError(
            "The model refers to weights in another file, which cannot be read.",
            "Save the model with all weights in one file.",
        )
    foreign = sorted({part.domain for part in parts if part.DESCRIPTOR.name == "NodeProto"} - set(DOMAINS))
    if foreign or model.functions:
        what = f"operators of {', '.join(map(repr, foreign))}" if foreign else "custom functions"
        raise DataError(
            f"The model uses {what}, but only standard ONNX operators are allowed.",
            "Export the model without custom functions.",
        )


def _parts(message: Any) -> Iterator[Any]:
    """Yield a message of protobuf and all messages in it, whatever its fields are called."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if isinstance(value, Sequence) else (value,):
                yield from _parts(part)


def _inputs(session: Any, typed: pd.DataFrame, beside: Collection[str]) -> Inputs:
    nodes = session.get_inputs()
    kinds = {each.name: each.type.removeprefix("tensor(").removesuffix(")") for each in nodes}
    if len(nodes) > 1 or nodes[0].name in typed.columns:
        return Inputs(tuple(_by_name(typed, name, kind) for name, kind in kinds.items()), by_position=False)
    ((name, kind),) = kinds.items()
    features, shape = [column for column in typed if column not in beside], nodes[0].shape
    width = shape[1] if len(shape) == 2 and isinstance(shape[1], int) else len(features)
    each = tuple(
        Input(f"{name}, {i + 1}", kind, column, _misfit(typed, column, kind))
        for i, column in enumerate(features[:width])
    )
    each += tuple(
        Input(f"{name}, {i + 1}", kind, None, "the table has no column for this input")
        for i in range(len(each), width)
    )
    each += tuple(
        Input("–", "–", column, "the model does not use this column") for column in features[width:]
    )
    return Inputs(each, by_position=True)


def _by_name(typed: pd.DataFrame, name: str, kind: str) -> Input:
    if name not in typed.columns:
        return Input(name, kind, None, f"the table has no column {name!r}")
    return Input(name, kind, name, _misfit(typed, name, kind))


def _misfit(typed: pd.DataFrame, column: str, kind: str) -> str | None:
    """Return why a column does not fit an input of this kind, or None."""
    if kind == "string":
        return None
    if kind not in TENSOR_TYPES:
        return f"{column!r} must have the type {kind}, which tables do not support"
    if not is_number(typed[column]):
        return f"{column!r} is not numeric, but the model needs {kind}"
    if kind not in ("float", "double") and typed[column].isna().any():
        return f"{column!r} has missing values, but the model needs {kind}"
    return None


def _fitting(inputs: Inputs) -> Inputs:
    """Return the inputs, or raise DataError with all misfits."""
    needed = sum(one.name != "–" for one in inputs.each)
    given = [one.column for one in inputs.each if one.column is not None]
    if inputs.by_position and (needed != len(given) or not given):
        raise DataError(
            f"The model has {needed} input columns, but the table has {len(given)} without the label: "
            f"{', '.join(given[:20])}.",
            "Upload exactly the columns with which the model was trained, in the same order.",
        )
    if not inputs.fit:
        wrong = "; ".join(one.misfit for one in inputs.each if one.misfit)
        raise DataError(f"The table does not match the model: {wrong}.", "Correct the table, then try again.")
    return inputs


def _values(session: Any, typed: pd.DataFrame, inputs: Inputs) -> dict[str, np.ndarray]:
    """Return input of the graph → its values (n, columns), or (n,) if it takes a vector."""
    columns = [str(one.column) for one in inputs.each]
    named = (
        {session.get_inputs()[0].name: columns} if inputs.by_position else {name: [name] for name in columns}
    )
    kind = {one.column: one.kind for one in inputs.each}
    flat = {each.name for each in session.get_inputs() if len(each.shape) == 1}
    table = {name: _as_kind(typed, held, kind[held[0]]) for name, held in named.items()}
    return {name: values.ravel() if name in flat else values for name, values in table.items()}


def _as_kind(typed: pd.DataFrame, columns: Sequence[str], kind: str) -> np.ndarray:
    if kind == "string":
        return np.column_stack(
            [typed[column].astype("str").fillna("").to_numpy(object) for column in columns]
        )
    return np.column_stack([as_float(typed[column]) for column in columns]).astype(TENSOR_TYPES[kind])


def _run(session: Any, inputs: dict[str, np.ndarray]) -> list[Any]:
    try:
        return session.run(None, inputs)
    except Exception as error:
        first = str(error).strip().splitlines()[0][:200]
        raise DataError(
            f"The model fails on this table ({first}).", "Correct the table, then try again."
        ) from None


def _probability(session: Any, inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, str | None]:
    """Return (probabilities (n,), their class); None means the later class, ONNX_SCORE an unknown class."""
    outputs = _run(session, inputs)
    for maps in outputs:  # a sequence of maps (class → probability), which skl2onnx writes by default
        if isinstance(maps, list) and maps and isinstance(maps[0], dict) and len(maps[0]) == 2:
            label = max(maps[0])
            return np.array([row[label] for row in maps], dtype=np.float64), str(label)
    tables = [np.asarray(each) for each in outputs if not isinstance(each, list)]
    floats = [each.astype(np.float64) for each in tables if each.dtype.kind == "f"]
    two = [each for each in floats if each.ndim == 2 and each.shape[1] == 2]
    if two:
        return two[0][:, 1], None
    one = [each.ravel() for each in floats if each.size == len(next(iter(inputs.values())))]
    if one:
        return one[0], ONNX_SCORE
    raise DataError(
        "The model must return the probabilities of two classes, or one number per row, but returns neither.",
        "Export a two-class model with its probabilities.",
    )
