"""What runs a calibrator that was written in another language: each takes scores and gives the answers (m, outputs)."""

import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import playwright

from calib.export import write_javascript, write_onnx, write_python, write_sql
from calib.export.programs.formulas import formulas_of


def columns(scores: np.ndarray) -> np.ndarray:
    """Scores (m,) or (m, columns) as a matrix."""
    return scores[:, None] if scores.ndim == 1 else scores


def names(matrix: np.ndarray) -> list[str]:
    return ["score"] if matrix.shape[1] == 1 else [f"score_{i + 1}" for i in range(matrix.shape[1])]


def answers(rows) -> np.ndarray:
    return np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=np.float64)


def answering(fitted) -> str:
    """A query of the table t, whose rows have numbers in the column place, for place and the answers."""
    formulas = formulas_of(fitted)
    written = write_sql(fitted, table="t")
    if not formulas.joint:
        return f"SELECT place, {written} FROM t"
    return f"SELECT place, {', '.join(formulas.answers)} FROM ({written}) AS calibrated"


def sqlite(fitted, scores):
    matrix = columns(scores)
    with sqlite3.connect(":memory:") as base:
        base.execute(f"CREATE TABLE t (place INTEGER, {', '.join(f'{name} REAL' for name in names(matrix))})")
        rows = ((i, *row) for i, row in enumerate(matrix.tolist()))
        base.executemany(f"INSERT INTO t VALUES ({', '.join('?' * (1 + matrix.shape[1]))})", rows)
        return answers(row[1:] for row in sorted(base.execute(answering(fitted)).fetchall()))


def duckdb(fitted, scores):
    import duckdb
    import pandas as pd

    matrix = columns(scores)
    table = pd.DataFrame(matrix, columns=names(matrix)).assign(place=np.arange(len(matrix)))
    with duckdb.connect() as base:
        base.register("t", table)
        found = base.execute(answering(fitted)).fetchnumpy()
    order = np.argsort(found.pop("place"))
    return np.column_stack(
        [np.ma.filled(column.astype(np.float64), np.nan)[order] for column in found.values()]
    )


def onnx(fitted, scores):
    import onnxruntime

    matrix = columns(scores)
    session = onnxruntime.InferenceSession(write_onnx(fitted), providers=["CPUExecutionProvider"])
    return np.column_stack(session.run(None, dict(zip(names(matrix), matrix.T.copy(), strict=True))))


def python(fitted, scores):
    module: dict = {}
    exec(write_python(fitted), module)
    found = module["calibrate"](*columns(scores).T)
    return np.column_stack(found if isinstance(found, tuple) else [found])


NODE = str(Path(playwright.__file__).parent / "driver" / "node")
LOOP = """
const rows = Array.from({ length: flat.length / width }, (_, i) => i);
const answered = calibrate(...Array.from({ length: width }, (_, k) => rows.map(i => flat[i * width + k])));
const outputs = Array.isArray(answered[0]) ? answered : [answered];
const said = rows.flatMap(i => outputs.map(column => column[i] === null ? NaN : column[i]));
"""


def javascript(fitted, scores):
    matrix = columns(scores)
    return run(write_javascript(fitted) + LOOP, matrix).reshape(len(matrix), -1)


def run(code: str, matrix: np.ndarray) -> np.ndarray:
    """In the Node that Playwright brings: the same engine as Chromium's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        matrix.astype("<f8").tofile(path / "scores")
        read = "const bytes = require('fs').readFileSync('scores'); const flat = new Float64Array(bytes.buffer.slice("
        read += f"bytes.byteOffset, bytes.byteOffset + bytes.length)); const width = {matrix.shape[1]};\n"
        write = "require('fs').writeFileSync('said', Buffer.from(new Float64Array(said).buffer));"
        (path / "run.js").write_text(read + code + write, encoding="utf-8")
        done = subprocess.run([NODE, "run.js"], cwd=path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return np.fromfile(path / "said", dtype="<f8")


ENGINES: dict[str, Callable] = {
    engine.__name__: engine for engine in (sqlite, duckdb, onnx, python, javascript)
}
