"""One cell of a study: a model is fitted once, and every setup of the cell calibrates its scores and is measured.

A failure is recorded in the result, with its traceback, and does not affect other cells.
"""

from __future__ import annotations

import contextlib
import json
import threading
import traceback
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from calib.calibrators import CALIBRATORS
from calib.evaluate import Fitted, calibrate, fit_rows
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset, Predictions
from calib.kernel.registry import Registry
from calib.metrics import METRICS, metric_value
from calib.models import MODELS
from calib.study.grid import Cell, rows_of_cell
from calib.study.papers.models import paper_estimator, paper_placement
from calib.study.protocol import Setup
from calib.study.rows import measures


@dataclass(frozen=True, eq=False)
class Result:
    """Result of one setup in one fold, as stored in the results file.

    Attributes
    ----------
    metrics
        Key → value, empty if the cell failed.
    sizes
        Numbers of training, calibration and test rows.
    predictions
        Packed test labels and probabilities.
    notes
        Warnings of the model, each once.
    error, traceback
        The reason of a failure, else "".
    """

    data: str
    setup: str
    repeat: int
    fold: int
    seed: int
    data_digest: str
    digest: str
    metrics: Mapping[str, float]
    fit_seconds: float = float("nan")
    sizes: tuple[int, int, int] = (0, 0, 0)
    predictions: bytes = b""
    notes: tuple[str, ...] = ()
    error: str = ""
    traceback: str = ""


@dataclass(frozen=True, eq=False)
class Task:
    """A cell with all that another process needs: its data, the metrics, and methods registered from outside.

    Attributes
    ----------
    shared
        Whether its process does other work at the same time, as a server does.
    """

    cell: Cell
    data: Dataset
    metrics: tuple[str, ...]
    outside: tuple[Any, ...] = ()
    shared: bool = False


REGISTRIES: tuple[Registry[Any], ...] = (MODELS, CALIBRATORS, METRICS)


MOST_BYTES_OF_FOLD = 400_000_000  # largest unpacked predictions of a fold: ten million rows
TURN = threading.Lock()  # held by the running cell of a shared process


def outside() -> tuple[Any, ...]:
    """Return the registry entries from outside, one tuple per registry, because a new worker does not have them."""
    return tuple(
        tuple(e for k, e in registry.items() if k not in registry.shipped) for registry in REGISTRIES
    )


def run(task: Task) -> list[Result]:
    """Compute the results of a cell, one per setup, on one thread, so that sums do not depend on the number of workers.

    In a shared process, cells take turns and warnings are not caught, because both limits apply to a whole
    process.
    """
    with _turn(task.shared), _threads().limit(limits=1):
        for registry, entries in zip(REGISTRIES, task.outside, strict=False):
            for entry in entries:
                if entry.key not in registry:
                    registry.register(entry)
        with _warnings(task.shared) as warned:
            results = _results(task)
    notes = tuple(dict.fromkeys(" ".join(str(one.message).split()) for one in warned))
    return [replace(result, notes=notes) for result in results]


@contextlib.contextmanager
def _turn(shared: bool) -> Iterator[None]:
    """Let only one cell of a shared process run at a time."""
    with TURN if shared else contextlib.ExitStack():
        yield


@contextlib.contextmanager
def _warnings(shared: bool) -> Iterator[list[warnings.WarningMessage]]:
    """Catch all warnings in this context; none in a shared process, where others may be warned too."""
    if shared:
        yield []
        return
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield warned


def _results(task: Task) -> list[Result]:
    try:
        fitted = _fit(task.cell, task.data)
    except Exception as error:  # any error of a model or its data fails one cell only
        return [_failed(task, setup, error) for setup in task.cell.setups]
    return [_measured(task, setup, fitted) for setup in task.cell.setups]


@cache
def _threads() -> ThreadpoolController:
    """Return a controller of the loaded libraries' threads, created once per process."""
    return ThreadpoolController()


def _fit(cell: Cell, data: Dataset) -> Fitted:
    """Fit the model that all setups of the cell share."""
    setup = cell.setups[0]
    return fit_rows(
        setup.recipe.replace(seed=cell.seed),
        data,
        [rows_of_cell(cell, data)],
        estimator=paper_estimator(setup, data, cell.seed),
        placement=paper_placement(setup, cell.splits.seed + cell.repeat),
    )


def _measured(task: Task, setup: Setup, fitted: Fitted) -> Result:
    try:
        answers = {rule: _answer(setup, fitted, rule) for rule in rules(setup)}
        posterior = None if task.data.posterior is None else task.data.posterior[fitted.parts[0].test]
        values = compute_metrics(setup, answers, task.metrics, posterior)
    except Exception as error:  # a failing calibrator or metric does not affect the others of the cell
        return _failed(task, setup, error)
    part = fitted.parts[0]
    sizes = (len(part.train), len(part.placed.index), len(part.test))
    packed = pack(answers)
    return Result(
        **_named(task, setup), metrics=values, fit_seconds=fitted.seconds, sizes=sizes, predictions=packed
    )


def _answer(setup: Setup, fitted: Fitted, rule: str) -> Predictions:
    """Return the setup's predictions, merged by a rule or as its Recipe specifies."""
    recipe = setup.recipe.replace(merge=rule) if rule else setup.recipe
    evaluation = calibrate(recipe, fitted)
    if setup.calibrator in evaluation.refused:
        raise InputError(evaluation.refused[setup.calibrator])
    whole = evaluation.all_classes
    if whole is evaluation:
        return evaluation.predictions[setup.calibrator]
    return Predictions(whole.y, whole.predictions[setup.calibrator].p)


def rules(setup: Setup) -> list[str]:
    """Return the merge rules that a setup's metrics need; "" is that of its Recipe."""
    return ["", *dict.fromkeys(dict(setup.merges).values())]


def compute_metrics(
    setup: Setup,
    answers: Mapping[str, Predictions],
    metrics: Iterable[str],
    posterior: np.ndarray | None = None,
) -> dict[str, float]:
    """Return the metrics of a setup's predictions by merge rule."""
    bins, strategy, merges = setup.recipe.bins, setup.recipe.binning, dict(setup.merges)
    known = measures()
    return {
        key: metric_value(
            known[key], answers[merges.get(key, "")], bins=bins, strategy=strategy, posterior=posterior
        )
        for key in metrics
    }


def _failed(task: Task, setup: Setup, error: Exception) -> Result:
    message = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    trace = "".join(traceback.format_exception(error))
    return Result(**_named(task, setup), metrics={}, error=message or type(error).__name__, traceback=trace)


def _named(task: Task, setup: Setup) -> dict[str, Any]:
    cell = task.cell
    return {
        "data": cell.data,
        "setup": setup.name,
        "repeat": cell.repeat,
        "fold": cell.fold,
        "seed": cell.seed,
        "data_digest": task.data.digest,
        "digest": setup.digest,
    }


def pack(answers: Mapping[str, Predictions]) -> bytes:
    """Compress predictions by merge rule, "" for the Recipe's; ``unpack`` reads them."""
    first = answers[""]
    arrays = {"y": first.y.astype(np.int8), "p": first.p}  # models are trained on at most 100 classes
    if first.p0 is not None and first.p1 is not None:
        arrays |= {"p0": first.p0, "p1": first.p1}
    arrays |= {f"p {rule}": one.p for rule, one in answers.items() if rule}
    head = json.dumps([[name, array.dtype.str, *array.shape] for name, array in arrays.items()])
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    return zlib.compress(head.encode() + b"\n" + body, level=1)


def _valid(y: np.ndarray, p: np.ndarray, **more: np.ndarray) -> bool:
    """Tell whether these are labels, and numbers in [0, 1]; with K classes, labels are columns of p, 0 … K − 1."""
    last = 1 if p.ndim == 1 else p.shape[1] - 1
    return all(
        bool(((v >= 0) & (v <= top)).all())
        for v, top in [(y, last), (p, 1), *((v, 1) for v in more.values())]
    )


def unpack(content: bytes, rule: str = "") -> Predictions:
    """Return the predictions of one fold, merged by ``rule``; KeyError if they were not stored.

    >>> kept = pack({"": Predictions(np.array([0, 1]), np.array([0.25, 0.75]))})
    >>> unpack(kept).y, unpack(kept).p
    (array([0, 1]), array([0.25, 0.75]))
    """
    packed = zlib.decompressobj()
    head, _, body = packed.decompress(content, MOST_BYTES_OF_FOLD).partition(b"\n")
    if not packed.eof:
        raise ValueError(f"the predictions take more than {MOST_BYTES_OF_FOLD:,} bytes")
    arrays, at = {}, 0
    for name, kind, *shape in json.loads(head):
        arrays[name] = np.frombuffer(body, dtype=kind, count=prod(shape), offset=at).reshape(shape)
        at += arrays[name].nbytes
    alike = len({len(each) for each in arrays.values()}) == 1
    if not alike or not {"y", "p"} <= arrays.keys() or not _valid(**arrays):
        raise ValueError("the predictions are invalid")
    y, p = arrays["y"].astype(np.intp), arrays[f"p {rule}" if rule else "p"]
    if "p0" not in arrays:
        return Predictions(y, p)
    p0, p1 = arrays["p0"], arrays["p1"]
    return Predictions(y, p, lower=np.minimum(p0, p1), upper=np.maximum(p0, p1), p0=p0, p1=p1)
