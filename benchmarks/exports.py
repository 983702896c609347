"""Measures exported calibrators for ten classes, fitted to 20,000 rows: their size per language, and the time for a
million rows in DuckDB and ONNX Runtime.

Both engines run the same calibrator. DuckDB reads and writes tables in memory, and
uses all processors, because the query's fences are deleted, as its comment says.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from statistics import median

import duckdb
import numpy as np
import onnxruntime
import pandas as pd

from benchmarks._ratios import Verdicts, elapsed
from calib.calibrators import CALIBRATORS, joint_calibrator
from calib.export import write_onnx, write_program
from calib.export.programs.sql import FENCE
from tests.export.programs.engines import answering, names
from tests.export.programs.test_classes import KEYS, ten_classes

LANGUAGES = ("sql", "python", "js", "onnx")
KILOBYTES, SLOWER = 200, 3  # per program; DuckDB's time over that of ONNX Runtime
TIMED = (  # joined tables, formulas, and both
    "isotonic",
    "venn_abers",
    "pairwise",
    "temperature",
    "structured_vector",
    "auto",
)


def main(calibration: int, rows: int, rounds: int) -> int:
    verdict, matrix = Verdicts(), ten_classes(rows, 3)[0]
    print(f"{'kilobytes':20}" + "".join(f"{language:>18}" for language in LANGUAGES))
    fitted = {key: joint_calibrator(CALIBRATORS[key]()).fit(*ten_classes(calibration)) for key in KEYS}
    for key, calibrator in fitted.items():
        sizes = (len(write_program(calibrator, language)) / 1000 for language in LANGUAGES)
        print(f"{key:20}" + "".join(f"{verdict(size, KILOBYTES):>18}" for size in sizes))
    print(f"{rows:,} rows{'DuckDB':>15}{'ONNX':>12}   ratio")
    for key in TIMED:
        works = in_duckdb(fitted[key], matrix), in_onnx(fitted[key], matrix)
        ours, theirs = np.transpose([[elapsed(work) for work in works] for _ in range(rounds)])
        ratio = verdict(median(ours / theirs), SLOWER)
        print(f"{key:20}{median(ours):10.2f} s{median(theirs):10.2f} s{ratio}", flush=True)
    return verdict.status


def in_duckdb(fitted, matrix: np.ndarray) -> Callable[[], object]:
    """Return a function that makes a table of answers from the table t of these rows."""
    base, query = duckdb.connect(), answering(fitted).replace(FENCE, "")
    base.register("frame", pd.DataFrame(matrix, columns=names(matrix)).assign(place=np.arange(len(matrix))))
    base.execute("CREATE TABLE t AS SELECT * FROM frame")
    return lambda: base.execute(f"CREATE OR REPLACE TABLE answered AS {query}")


def in_onnx(fitted, matrix: np.ndarray) -> Callable[[], object]:
    session = onnxruntime.InferenceSession(write_onnx(fitted), providers=["CPUExecutionProvider"])
    columns = dict(zip(names(matrix), matrix.T.copy(), strict=True))
    return lambda: session.run(None, columns)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("calibration", 20_000), ("rows", 1_000_000), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    sys.exit(main(**vars(parser.parse_args())))
