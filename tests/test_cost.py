"""The time of a fit of many rows is estimated from fits of few; ``make bench`` alone judges real times."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calib import Recipe
from calib.data import draw_rows, prepare, reading_of
from calib.evaluate import cost, expected_seconds, fitting
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch

RNG = np.random.default_rng(0)
N = 100_000
TABLE = pd.DataFrame({"x": RNG.normal(size=N), "y": np.where(RNG.random(N) < 0.4, "a", "b")})


class Clock:
    """Time that only fits take, each at its ``pace``: seconds that pass per second of the processor."""

    def __init__(self, monkeypatch, takes, paces=(1.0, 1.0, 1.0), works=1.0) -> None:
        self.now, self.work, self.fits = 0.0, 0.0, []

        def fit_rows(recipe, dataset, cuts, watch):
            ((train, test),) = cuts
            self.fits.append((len(train), len(test)))
            self.now += paces[len(self.fits) % 3 - 1] * takes(len(train))
            self.work += takes(len(train)) * works
            return fitting.fit_rows(recipe, dataset, [(train[:500], test[:500])], watch)

        monkeypatch.setattr(cost, "fit_rows", fit_rows)
        monkeypatch.setattr(cost.time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(cost.time, "thread_time", lambda: self.work)


@pytest.mark.parametrize(("power", "folds"), [(1.0, 1), (1.1, 1), (1.7, 5)])
def test_the_time_grows_with_the_power_that_small_fits_show(power, folds, monkeypatch):
    clock = Clock(monkeypatch, lambda rows: 1e-4 * rows**power)
    recipe = Recipe(model="naive_bayes", evaluation="holdout" if folds == 1 else "folds", folds=5)
    data = prepare(TABLE, "y")
    train = N * 0.7 if folds == 1 else N * 0.8
    assert expected_seconds(recipe, data) == pytest.approx(folds * 1e-4 * train**power, rel=0.01)
    assert [rows for rows, _ in clock.fits] == [2_000, 8_000]  # a third would take more than two seconds


def test_small_fits_end_where_a_short_time_is_sure(monkeypatch):
    clock = Clock(monkeypatch, lambda rows: 1e-5 * rows)
    recipe, data = Recipe(model="naive_bayes"), prepare(TABLE, "y")
    assert expected_seconds(recipe, data, short=5.0) == pytest.approx(0.7, rel=0.01)
    assert [rows for rows, _ in clock.fits] == [2_000, 8_000]
    clock.fits.clear()
    assert expected_seconds(recipe, data, short=0.5) == pytest.approx(0.7, rel=0.01)
    assert [rows for rows, _ in clock.fits] == [2_000, 8_000, 32_000]


def test_a_fixed_cost_does_not_grow_with_the_rows(monkeypatch):
    Clock(monkeypatch, lambda rows: 5.0 + 1e-4 * rows)
    assert expected_seconds(Recipe(model="naive_bayes"), prepare(TABLE, "y")) == pytest.approx(
        5 + 1e-4 * 70_000
    )


@pytest.mark.parametrize("paces", [(1.0, 4.0, 4.0), (8.0, 1.0, 1.0)])
def test_other_work_on_the_machine_changes_the_pace_and_not_the_power(paces, monkeypatch):
    Clock(monkeypatch, lambda rows: 1e-4 * rows, paces)
    pace = (paces[0] * 2_000 + paces[1] * 8_000) / 10_000
    found = expected_seconds(Recipe(model="naive_bayes"), prepare(TABLE, "y"))
    assert found == pytest.approx(pace * 1e-4 * 70_000)


def test_work_of_other_threads_is_estimated_by_the_time_that_passes(monkeypatch):
    Clock(monkeypatch, lambda rows: 1e-4 * rows**1.2, works=0.0)
    found = expected_seconds(Recipe(model="naive_bayes"), prepare(TABLE, "y"))
    assert found == pytest.approx(1e-4 * 70_000**1.2, rel=0.01)


def test_rows_outside_a_sample_count_by_what_their_first_block_takes(monkeypatch):
    clock = Clock(monkeypatch, lambda rows: 1e-4 * rows)

    def blocks(names, watch):
        for at in range(0, N, 10_000):
            clock.now += 2.0
            yield TABLE.iloc[at : at + 10_000]

    frame = draw_rows(blocks, "y", 20_000)
    sample = replace(prepare(frame, "y"), rest=reading_of(frame).rest)
    seconds = expected_seconds(Recipe(model="naive_bayes"), sample)
    assert seconds == pytest.approx(1e-4 * 20_000 + 2.0 / 8_000 * 80_000, rel=0.05)


def test_what_cannot_be_fitted_takes_no_time_and_a_cancel_ends_the_estimate(monkeypatch):
    def refused(*_):
        raise InputError("too few rows of a class")

    monkeypatch.setattr(cost, "fit_rows", refused)
    assert expected_seconds(Recipe(model="naive_bayes"), prepare(TABLE, "y")) == 0
    watch = Watch()
    watch.cancel.set()
    with pytest.raises(Cancelled):
        expected_seconds(Recipe(model="naive_bayes"), prepare(TABLE, "y"), watch)
