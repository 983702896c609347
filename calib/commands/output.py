"""What commands print, and tables as files."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8

import pandas as pd

from calib.export import safe_csv

MOST_PRINTED_ROWS = 60  # rows of a printed table; of a longer one, only both ends are printed


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Write CSV without a byte-order mark, for programs."""
    return safe_csv(frame).removeprefix(BOM_UTF8)


def print_table(table: pd.DataFrame) -> None:
    """Print all columns on one line; ``print(table)`` would wrap at the width of the terminal."""
    with pd.option_context("display.precision", 4):
        print(
            table.to_string(
                max_rows=MOST_PRINTED_ROWS, min_rows=10, show_dimensions=len(table) > MOST_PRINTED_ROWS
            )
        )


def print_progress(share: float, doing: str) -> None:
    print(f"\r{share:4.0%} {doing:40.40}", end="\n" if share == 1 else "", file=sys.stderr, flush=True)
