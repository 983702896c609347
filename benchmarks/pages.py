"""Compares the processor time of each page with the time of an empty page, and measures the size of its charts.

Every page is opened by its link and its work is done first; then its script runs again, which is the server's cost of
the smallest change. Ratios are medians over runs in which page and empty page take turns.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import median

from streamlit.testing.v1 import AppTest

from benchmarks._ratios import Verdicts, elapsed
from pages.ui.current import PAGES
from tests.pages.app import page

QUICK = {"data": "sample:breast_cancer", "model": "naive_bayes"}
EMPTY = "import streamlit as st\nst.write('empty')"
SECONDS, MEGABYTES = 1.0, 2.0  # a script's run; the largest chart of a page


def main(rounds: int = 5) -> int:
    verdict = Verdicts()
    empty = AppTest.from_string(EMPTY).run()
    print(
        "page                     seconds, bound     times an empty page   largest chart, MB   all charts, MB"
    )
    for stem in (Path(each.script).stem for pages in PAGES.values() for each in pages):
        at = page(stem, **({} if stem.startswith("learn") else QUICK))
        assert not at.exception, stem
        taken = [tuple(elapsed(each.run, time.process_time) for each in (empty, at)) for _ in range(rounds)]
        sizes = [len(chart.proto.spec) / 1e6 for chart in at.get("plotly_chart")] or [0.0]
        times = median(own / least for least, own in taken)
        print(
            f"{stem:24}{verdict(median(own for _, own in taken), SECONDS)}{times:20.0f}"
            f"{verdict(max(sizes), MEGABYTES):>22}{sum(sizes):15.2f}",
            flush=True,
        )
    return verdict.status


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    sys.exit(main(**vars(parser.parse_args())))
