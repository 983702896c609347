"""What runs a calibrator that was written in another language: each takes scores and gives the answers (m, outputs)."""

import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import playwright

from calib.export import write_javascript, write_onnx, write_python, write_sql


def columns(scores: np.ndarray) -> np.ndarray:
    """Scores (m,) or (m, columns) as a matrix."""
    return scores[:, None] if scores.ndim == 1 else scores


def names(matrix: np.ndarray) -> list[str]:
    return ["score"] if matrix.shape[1] == 1 else [f"score_{i + 1}" for i in range(matrix.shape[1])]


def answers(rows) -> np.ndarray:
    return np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=np.float64)


def sqlite(fitted, scores):
    matrix = columns(scores)
    with sqlite3.connect(":memory:") as base:
        base.execute(f"CREATE TABLE t ({', '.join(f'{name} REAL' for name in names(matrix))})")
        base.executemany(f"INSERT INTO t VALUES ({', '.join('?' * matrix.shape[1])})", matrix.tolist())
        return answers(base.execute(f"SELECT {write_sql(fitted)} FROM t ORDER BY rowid").fetchall())


def duckdb(fitted, scores):
    import duckdb
    import pandas as pd

    matrix = columns(scores)
    table = pd.DataFrame(matrix, columns=names(matrix)).assign(place=np.arange(len(matrix)))
    with duckdb.connect() as base:
        base.register("t", table)
        found = base.execute(f"SELECT place, {write_sql(fitted)} FROM t").fetchnumpy()
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
    calibrate = module["calibrate"]
    found = [calibrate(*row) for row in columns(scores).tolist()]
    return answers(row if isinstance(row, tuple) else (row,) for row in found)


NODE = str(Path(playwright.__file__).parent / "driver" / "node")
LOOP = """
const said = [];
for (let i = 0; i < flat.length; i += width) {
  const one = calibrate(...flat.slice(i, i + width));
  for (const value of Array.isArray(one) ? one : [one]) said.push(value === null ? NaN : value);
}
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
