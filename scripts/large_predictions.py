"""Measure how long predictions larger than memory take, and what DuckDB costs.

    python -m scripts.large_predictions FOLDER [--rows 1e6 1e7 1e8]

Simulated files of predictions are written to FOLDER, once with four decimals and once with all digits, as Parquet and
CSV. Each is counted and evaluated by ``python -m calib evaluate``, in processes of their own. Prints the lines of the
table in docs/measurements.md. By hand: about 15 minutes, and 4 GB on disk.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

PIECE = 2_000_000
RECIPE = {"content": "predictions", "target": "label", "calibrators": ["none", "platt"]}
SCORES = {"four decimals": 4, "all digits": None}
COUNT = """
import sys, time
from pathlib import Path
from calib.data import open_large
start = time.perf_counter()
lines = len(open_large(Path(sys.argv[1])).count("label", "score"))
print(lines, time.perf_counter() - start)
"""
DUCKDB = """
import resource, time, numpy, pandas
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
import duckdb
imported = time.perf_counter()
duckdb.connect().execute("SELECT 1").fetchall()
end = time.perf_counter()
print(imported - start, end - imported, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def pieces(rows: int, decimals: int | None) -> Iterator[pa.Table]:
    rng = np.random.default_rng(0)
    for at in range(0, rows, PIECE):
        p = rng.beta(0.5, 2, min(PIECE, rows - at))
        p = p if decimals is None else np.round(p, decimals)
        yield pa.table({"label": (rng.random(len(p)) < p**1.3).astype(np.int8), "score": p})


def write(path: Path, rows: int, decimals: int | None) -> None:
    tables = pieces(rows, decimals)
    first = next(tables)
    kind = pyarrow.csv.CSVWriter if path.suffix == ".csv" else pyarrow.parquet.ParquetWriter
    with kind(path, first.schema) as writer:
        for table in (first, *tables):
            writer.write_table(table)


def run(*command: str) -> tuple[str, float, float]:
    """Return what a process prints, its seconds, and its most memory in GB."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([sys.executable, *command], stdout=out, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        out.seek(0)
        said = out.read().decode()
    if status:
        raise SystemExit(said)
    return said, seconds, used.ru_maxrss * 1024 / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    args = parser.parse_args()
    recipe = args.folder / "recipe.json"
    recipe.write_text(json.dumps(RECIPE), encoding="utf-8")
    costs = [list(map(float, run("-c", DUCKDB)[0].split())) for _ in range(5)]
    imported, connected, memory = np.median(costs, axis=0)
    print(
        f"DuckDB: import {imported:.2f} s, connection {connected:.2f} s, {memory / 1000:.0f} MB", flush=True
    )
    for kind in ("parquet", "csv"):
        for name, decimals in SCORES.items():
            for rows in map(int, args.rows):
                path = args.folder / f"{name.replace(' ', '_')}_{rows}.{kind}"
                if not path.exists():
                    write(path, rows, decimals)
                out, _, peak = run("-c", COUNT, str(path))
                lines, seconds = out.split()
                whole = run("-m", "calib", "evaluate", str(recipe), str(path))
                cells = (
                    f"{kind}, {name}", f"{rows:,}", f"{path.stat().st_size / 1e6:,.0f}", f"{int(lines):,}",
                    f"{float(seconds):.1f}", f"{peak:.2f}", f"{whole[1]:.0f}", f"{whole[2]:.2f}",
                )  # fmt: skip
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
