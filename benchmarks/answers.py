"""Measures how many seconds of processor time an answer takes, and compares them with limits.

It covers computations that are slow without care, and pages redrawn after a small change, when all work in the
background is done.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from functools import partial
from statistics import median

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from benchmarks._ratios import Verdicts, elapsed
from calib import Recipe, evaluate
from calib.analysis.decision import decide
from calib.analysis.watch import watch
from calib.calibrators import VennAbers
from calib.comparison import bergmann_hommel
from calib.export import drawings, readable
from calib.sources import load
from calib.study import check_rows, summarise
from calib.study.tables import tables
from tests.pages.app import bring, go, page, settled


def main(rows: int = 1_000_000) -> int:
    verdict = Verdicts()
    for name, bound, waits in (
        ("Bergmann and Hommel's procedure for ten methods", 5, comparing),
        ("a study's 100 000 rows summarised, every table and diagram", 2, summarising),
        ("out-of-bag Venn–Abers pairs, 10 000 rows, 10 000 queries", 5, left_out),
        ("a decision on 105 000 test rows", 1, deciding),
        ("Finite example: a cut", 0.3, cutting),
        ("Venn–Abers: another colour, 100 200 test rows", 1, colouring),
        ("Reliability: other bins, 30 000 test rows", 1, lambda: binning(100_000)),
        (f"Reliability: other bins, {0.3 * rows:,.0f} test rows", 5, lambda: binning(rows)),
        (f"watching {rows:,} rows, one by one", 5, lambda: watching(rows)),
        (f"Watch: the whole page, {rows:,} rows", 5, lambda: watch_page(rows)),
    ):
        print(f"{name}, seconds: {verdict(median(waits()), bound)}", flush=True)
    return verdict.status


seconds = partial(elapsed, clock=time.process_time)


def comparing() -> list[float]:
    return [seconds(lambda: bergmann_hommel(np.linspace(2, 9, 10), 30))]


def summarising() -> list[float]:
    """Measure ten setups on a hundred data sets, ten times ten folds."""
    place = np.indices((100, 10, 10, 10)).reshape(4, -1)
    names = {"data": [f"set{i}" for i in place[0]], "setup": [f"setup{i}" for i in place[1]]}
    numbers = {"repeat": place[2], "fold": place[3], "seed": place[2]}
    values = np.random.default_rng(0).random(place.shape[1])
    frame = pd.DataFrame(names | numbers | {"brier": values})

    def whole() -> None:
        summary = summarise(check_rows(frame), "brier")
        for table in tables(summary):
            readable(table)
        for drawing in drawings(summary):
            drawing.chart().draw()

    return [seconds(whole)]


def left_out() -> list[float]:
    rng = np.random.default_rng(0)
    scores, new = rng.random(10_000), rng.random(10_000)
    venn_abers = VennAbers().fit(scores, (rng.random(10_000) < scores).astype(int))
    removed = rng.integers(0, 10_000, 10_000)
    return [seconds(lambda: venn_abers.leave_one_out_interval(new, removed))]


def deciding() -> list[float]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"p": rng.random(150_000).round(4)})
    frame["y"] = (rng.random(150_000) < frame["p"]).astype(int)
    recipe = Recipe(data="upload:big", content="predictions", target="y", positive="1", test_size=0.7)
    evaluation = evaluate(recipe, load(recipe, {"big": frame}))
    return [seconds(lambda: decide(evaluation))]


def cutting() -> list[float]:
    line = " ".join(f"{i}:{i / 13:.3f}:{i % 2}" for i in range(13))
    at = page("learn_labs", **{"labs.experiment": "finite", "finite.guess": "skip", "finite.line": line})
    return [seconds(at.pills(key="cuts").set_value([cut]).run) for cut in range(5)]


def colouring() -> list[float]:
    at = go(with_predictions(334_000), "explore_venn_abers")
    changes = (
        at.segmented_control(key="venn_abers.color").set_value(value) for value in ("width", "score", "label")
    )
    return [seconds(change.run) for change in changes]


def binning(rows: int) -> list[float]:
    """Measure the slowest of the three curves."""
    at = go(with_predictions(rows), "explore_reliability")
    return max((rebinned(at, curve) for curve in ("binned", "corp", "smoothed")), key=median)


def watching(rows: int) -> list[float]:
    rng = np.random.default_rng(0)
    p = rng.random(rows)
    y = rng.random(rows) < p
    return [seconds(lambda: watch(y, p))]


def watch_page(rows: int) -> list[float]:
    """Measure from an upload that was read, with a day per 2,000 rows: the fits, the evidence and three charts."""
    rng = np.random.default_rng(0)
    p = rng.random(rows).round(6)
    day = np.datetime64("2023-01-01") + np.arange(rows) // 2000
    table = pd.DataFrame({"day": day, "score": p, "label": (rng.random(rows) < p).astype(int)})
    at = page("explore_data")
    bring(at, "days.csv", table.to_csv(index=False).encode())
    at.session_state["recipe"] = at.session_state["recipe"].replace(time="day")
    settled(at.run())
    return [seconds(lambda: go(at, "explore_watch"))]


def rebinned(at: AppTest, curve: str) -> list[float]:
    settled(at.segmented_control(key="curve").set_value(curve).run())
    return [seconds(at.slider(key="bins").set_value(bins).run) for bins in (13, 14, 15)]


def with_predictions(rows: int) -> AppTest:
    """Open a session with this many predictions made elsewhere."""
    rng = np.random.default_rng(0)
    score = rng.beta(0.5, 0.8, rows).round(6)
    file = io.BytesIO()
    pd.DataFrame({"label": (rng.random(rows) < score**1.3).astype(int), "score": score}).to_parquet(file)
    return bring(page("explore_data"), "many.parquet", file.getvalue())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the largest file")
    sys.exit(main(**vars(parser.parse_args())))
