"""Measures how long *Data* takes to show the table, the problems and the columns of large files.

Times are processor seconds, independent of other work on the machine, and include the processes that read a stranger's
formats: for the table, for its problems, and for the Dataset with the table of its columns. No wait is longer than ten
seconds. The time of pandas for the same text is printed beside them; pandas does not detect decimal commas, headers,
dates or remarks. Files of plain numbers follow, with the elapsed seconds for the table as a ratio to those of pandas.
"""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from benchmarks._ratios import Verdicts, elapsed
from calib.data import limits, prepare, read_table, summarise_columns, validate
from scripts.suite_times import spent
from tests.data.test_hostile import HEADER, ROW, sheet

LONGEST_WAIT, AT_MOST = 10, 1.5  # seconds; times pandas
RNG = np.random.default_rng(0)
WIDE = limits.MOST_TABLE_COLUMNS
JSON_CELLS, ARFF_CELLS, EXCEL_CELLS = 4_000_000, 3_000_000, 1_500_000
CELLS, BYTES = 40_000_000, 200 << 20


def main(part: float = 1.0) -> int:
    """Measure files at ``part`` of each limit."""
    verdict = Verdicts()
    print(f"{'file':40}{'MB':>5}{'table':>18}{'problems':>18}{'columns':>18}   pandas reads it in")
    for name, file in FILES.items():
        content = file(part)
        held = "".join(f"{verdict(wait, LONGEST_WAIT):>18}" for wait in waits(content, name))
        beside = f"{by_pandas(content):12.2f}" if name.endswith(".csv") else ""
        print(f"{name:40}{len(content) >> 20:5}{held}{beside}", flush=True)
    for name, table in NUMBERS.items():
        content = table(part).to_csv(index=False).encode()
        print(
            f"{name:40}{len(content) >> 20:5}, beside pandas:{verdict(beside_pandas(content), AT_MOST):>20}"
        )
    return verdict.status


def beside_pandas(content: bytes, repeats: int = 4) -> float:
    """Return the seconds that pass for the table over those of pandas, each the best of some, taken in turn."""
    took = [
        (elapsed(lambda: read_table(content, "x.csv")), elapsed(lambda: pd.read_csv(io.BytesIO(content))))
        for _ in range(repeats)
    ]
    ours, theirs = np.min(took, axis=0)
    return float(ours / theirs)


def waits(content: bytes, name: str) -> np.ndarray:
    """Return the seconds for the table, for its problems, and for its columns."""
    at = [spent()]
    table = read_table(content, name)
    at.append(spent())
    validate(table, "y")
    at.append(spent())
    summarise_columns(prepare(table, "y").X)
    return np.diff([*at, spent()])


def by_pandas(content: bytes) -> float:
    return elapsed(lambda: pd.read_csv(io.BytesIO(content)), time.process_time)


def text(part: float, columns: int, values: Sequence[str]) -> bytes:
    """Write rows with this many columns, the last of them a label, up to ``CELLS`` or ``BYTES``."""
    some = [",".join([*RNG.choice(values, columns - 1), str(i % 2)]).encode() + b"\n" for i in range(400)]
    names = ",".join([*(f"c{i}" for i in range(columns - 1)), "y"]).encode() + b"\n"
    most = min(CELLS // columns, (BYTES - len(names)) // max(map(len, some)))
    return names + b"".join(some[i] for i in RNG.integers(0, len(some), int(part * most)))


def days() -> Iterator[str]:
    return (day.strftime("%d/%m/%Y") for day in pd.date_range("1990-01-01", periods=9_000))


def measured(part: float) -> bytes:
    """Write few columns of many different numbers."""
    rows = int(part * BYTES) // 31
    table = pd.DataFrame(RNG.random((rows, 4)), columns=list("abcd")).assign(y=RNG.integers(0, 2, rows))
    return table.to_csv(index=False, float_format="%.4f", lineterminator="\n").encode()


def named(part: float) -> bytes:
    """Write two unique texts in every row, and a number, because a table of texts alone has no usable feature."""
    rows = range(int(part * BYTES) // 37)
    lines = (
        b"x%09d w%d,text here %07d,%d,%d\n" % (i, i % 9, i * 7919 % 1_000_003, i % 7, i % 2) for i in rows
    )
    return b"id,t,x,y\n" + b"".join(lines)


def records(part: float) -> bytes:
    rows = RNG.random((int(part * JSON_CELLS) // 11, 9)).round(4).tolist()
    return json.dumps(
        [dict(zip("abcdefghi", row, strict=True)) | {"y": i % 2} for i, row in enumerate(rows)]
    ).encode()


def relation(part: float) -> bytes:
    head = [
        "@relation r",
        *(f"@attribute {name} numeric" for name in "abcdefghi"),
        "@attribute y {0,1}",
        "@data",
    ]
    rows = RNG.random((int(part * ARFF_CELLS) // 10, 9)).round(4).astype(str).tolist()
    return "\n".join([*head, *(",".join([*row, str(i % 2)]) for i, row in enumerate(rows))]).encode()


def workbook(part: float) -> bytes:
    rows = [ROW.replace("<v>1<", f"<v>{value:.4f}<") for value in RNG.random(1_000)]
    label = [row[: -len("</row>")] + f"<c><v>{i % 2}</v></c></row>" for i, row in enumerate(rows)]
    head = HEADER.replace("</row>", '<c t="str"><v>y</v></c></row>')
    return sheet([head, *(label[i % 1_000] for i in range(int(part * EXCEL_CELLS) // 12))])


FILES: dict[str, Callable[[float], bytes]] = {
    f"{WIDE:,} columns of words.csv": lambda part: text(part, WIDE, ["red", "green", "blue", "no"]),
    f"{WIDE:,} columns of numbers.csv": lambda part: text(part, WIDE, RNG.random(200).round(3).astype(str)),
    f"{WIDE:,} columns of whole numbers.csv": lambda part: text(part, WIDE, list(map(str, range(100)))),
    f"{WIDE:,} columns of dates, days first.csv": lambda part: text(part, WIDE, list(days())),
    "8 columns of words.csv": lambda part: text(part, 8, ["red", "green", "blue", "no"]),
    "4 columns of different numbers.csv": measured,
    "2 columns of different texts.csv": named,
    "10 columns.json": records,
    "10 columns.arff": relation,
    "11 columns.xlsx": workbook,
}

NUMBERS: dict[str, Callable[[float], pd.DataFrame]] = {
    "10 columns of whole numbers": lambda part: pd.DataFrame(
        RNG.integers(0, 1000, (int(part * 2_000_000), 10))
    ),
    "8 columns of four decimals": lambda part: pd.DataFrame(RNG.random((int(part * 1_000_000), 8)).round(4)),
    "8 columns of all digits": lambda part: pd.DataFrame(RNG.random((int(part * 500_000), 8))),
    "50 columns of three decimals": lambda part: pd.DataFrame(RNG.random((int(part * 150_000), 50)).round(3)),
}

if __name__ == "__main__":
    sys.exit(main())
