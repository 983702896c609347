"""What the page says of its advice is the table of docs/results.md."""

import re
from pathlib import Path

import numpy as np
import pytest

from calib import load_sample
from calib.analysis.recommendation.advice import BENCHMARKS, tried
from scripts.judge_advice import MEASURED, SHIPPED, by_rules, decided_elsewhere, judge

RESULTS = Path(__file__).parents[3] / "docs" / "results.md"


def test_every_number_of_the_line_stands_in_the_table():
    text = RESULTS.read_text(encoding="utf-8")
    first = text.partition("**From 1,500 rows.**")[0]
    table = dict(re.findall(r"^\| \**(\S[^|*]*?)\** \| \**([\d.]+)", first, re.MULTILINE))
    tables, sets, own, auto = re.search(
        r"(\d+) tables of 150 to 1,000 rows, (\d+) data sets\), .* Brier score ([\d.]+) .*? a score ([\d.]+) h",
        tried(150),
    ).groups()
    assert (own, auto) == (table["the advice"], table["always automatic calibration"])
    assert float(own) < min(float(number) for name, number in table.items() if name.startswith("always"))
    assert f"# {tables} tables" in text
    assert f"From each of {sets} data sets" in text


@pytest.mark.parametrize("size", [size for size in BENCHMARKS if size >= 1500])
def test_a_large_table_is_told_the_benchmark_of_its_size(size):
    text = RESULTS.read_text(encoding="utf-8").partition("**From 1,500 rows.**")[2]
    text = text.partition("**The multiclass sets.**")[0]
    lines = [line.strip("| ").split(" | ") for line in re.findall(r"^\| .*$", text, re.MULTILINE)]
    column = next(i for i, name in enumerate(lines[0]) if name.startswith(f"{size:,} rows"))
    told = re.findall(r"\d[\d,.]*\d|\d+", tried(size * 1.3))
    of = {line[0]: line[column].split() for line in lines}
    assert told == [
        *re.findall(r"\d+(?= tables)", lines[0][column]),
        f"{size:,}",
        *re.findall(r"\d+(?= sets)", lines[0][column]),
        of["the advice"][0],
        of["always automatic calibration"][0],
    ]
    others = [
        float(cells[0]) for name, cells in of.items() if name.startswith("always") and "auto" not in name
    ]
    assert float(of["the advice"][0]) < min(others)


@pytest.mark.parametrize("model", ["naive_bayes", "decision_tree"])
def test_by_its_own_rules_the_script_chooses_as_the_advice_does(model):
    lines = judge(load_sample("digits"), model, 150, 0).assign(data="digits", model=model, size=150, table=0)
    found = by_rules(lines, [SHIPPED])
    expected = lines.loc[lines["chosen"], "brier"].item() - lines["brier"].min()
    assert found[0, 0, MEASURED.index("brier")] == pytest.approx(expected)


def test_each_set_is_judged_by_the_rules_that_lost_least_on_the_others():
    found = np.random.default_rng(0).random((6, 5, len(MEASURED)))
    for by in ("brier", "log_loss"):
        column, rows = MEASURED.index(by), range(6)
        best = [min(range(5), key=lambda r: sum(found[e, r, column] for e in rows if e != d)) for d in rows]
        mean, taken = decided_elsewhere(found, by)
        assert taken.tolist() == best
        assert mean == pytest.approx(np.mean([found[d, best[d]] for d in rows], axis=0))
