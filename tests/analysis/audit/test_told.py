"""Causes, detectable gaps and sentences of an audit."""

import numpy as np
import pandas as pd
import pytest

from calib import check
from calib.analysis.audit import audit
from calib.analysis.audit.told import audit_evaluation, causes, detectable_gap, sentences
from calib.calibrators import CALIBRATORS
from calib.kernel.checks import InputError


def planted(shift=0.25, rows=6000, second=0.0):
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"job": rng.choice(list("abc"), rows), "place": rng.choice(list("xyz"), rows)})
    p = rng.uniform(0.3, 0.6, rows)
    truth = p + shift * (table["job"] == "b") + second * ((table["job"] == "a") & (table["place"] == "x"))
    return (rng.random(rows) < truth).astype(int), p, table


def test_one_cause_is_one_line():
    found = audit(*planted(), resamples=199)
    together = causes(found)
    assert [found.segments["segment"][each.line] for each in together] == ["job = b"]
    assert found.found > 1
    assert sorted([together[0].line, *together[0].others]) == list(range(found.found))


def test_two_causes_are_two_lines():
    found = audit(*planted(second=-0.25), resamples=199)
    assert [found.segments["segment"][each.line] for each in causes(found)] == [
        "job = b",
        "job = a and place = x",
    ]


def test_a_gap_of_the_detectable_size_is_found_in_about_80_of_100_tables():
    rng, rows, hits = np.random.default_rng(3), 1500, 0
    table = pd.DataFrame({"job": np.repeat(list("abcde"), rows // 5)})
    p = np.full(rows, 0.4)
    first = audit(rng.random(rows) < p, p, table, resamples=199)
    gap = detectable_gap(first, rows // 5)
    truth = p + gap * (table["job"] == "b").to_numpy()
    for _ in range(40):
        hits += audit(rng.random(rows) < truth, p, table, resamples=199).found > 0
    assert 24 <= hits <= 39


def test_sentences_state_the_numbers_of_the_table():
    found = audit(*planted(), resamples=199)
    told = sentences(found)
    worst = found.segments.iloc[0]
    assert f"{len(found.segments)} segments of 6,000 rows" in told[0]
    assert f"job = b: {worst['rows']:,} rows, predicted {100 * worst['predicted']:.1f} %" in told[1]
    assert f"observed {100 * worst['observed']:.1f} %, adjusted p = 0.005" in told[1]


def test_an_evaluation_is_audited_by_its_columns_and_the_calibrator_is_named():
    y, p, table = planted()
    evaluation = check(
        y, {"none": p, "isotonic": CALIBRATORS["isotonic"]().fit(p, y).predict(p)}, features=table
    )
    found, own = audit_evaluation(evaluation, "none", resamples=99), audit(y, p, table, resamples=99)
    assert list(found.segments["segment"]) == list(own.segments["segment"])
    with pytest.raises(InputError, match="Isotonic.*fitted to these labels"):
        audit_evaluation(evaluation, "isotonic", resamples=99)
