"""A run computes what the store lacks and nothing else, with the same numbers however many cells run at once."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calib.calibrators import CALIBRATORS, Platt
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.metrics import METRICS
from calib.study import Store, load_sets, read_protocol, run_study, study_progress
from calib.study import cell as cell_module
from calib.study import runner as runner_module

from .small import FAILING, PROTOCOL, files

SMALL = read_protocol(PROTOCOL, "small.toml")


@pytest.fixture
def sets(tmp_path):
    _, paths = files(tmp_path, "one", "two")
    return load_sets(map(str, paths), SMALL.data)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def study(path, sets, protocol=SMALL, **options):
    with Store(path, write=True) as store:
        done = run_study(protocol, sets, store, **options)
        return done, store.rows()


def numbers(rows):
    return rows.drop(columns="fit_seconds")


@pytest.fixture
def fits(monkeypatch):
    """What was fitted in this process."""
    seen = []
    fit = cell_module.fit_rows
    monkeypatch.setattr(
        cell_module, "fit_rows", lambda *args, **more: seen.append(args) or fit(*args, **more)
    )
    return seen


def test_every_setup_has_a_row_a_fold(path, sets, fits):
    done, rows = study(path, sets)
    assert done.complete
    assert (done.cells, done.computed) == (2 * 2 * 3 * 2, 24)
    assert len(fits) == 24
    assert len(rows) == 2 * 3 * 2 * 3  # sets × setups × repeats × folds
    assert not rows.duplicated(["data", "setup", "repeat", "fold"]).any()
    assert rows.columns.tolist()[5:] == [*SMALL.metrics, "fit_seconds"]


def test_a_run_goes_on_where_another_stopped(path, sets, fits):
    whole = study(path.with_name("whole.sqlite"), sets)[1]
    fits.clear()
    stopped = Watch()

    def stop_at_half(share, doing):
        if share >= 0.5:
            stopped.cancel.set()

    watch = Watch(stop_at_half, stopped.cancel)
    with pytest.raises(Cancelled):
        study(path, sets, watch=watch)
    with Store(path) as store:
        first = store.rows()
    assert 0 < len(first) < len(whole)
    before = len(fits)
    done, rows = study(path, sets)
    assert len(fits) == 24
    assert done.computed == 24 - before
    pd.testing.assert_frame_equal(numbers(rows), numbers(whole), check_exact=True)
    kept = rows.merge(first, on=["data", "setup", "repeat", "fold"], suffixes=("", "_first"))
    assert (kept["fit_seconds"] == kept["fit_seconds_first"]).all()  # what was there was not touched


def test_more_repeats_and_setups_add_to_what_is_there(path, sets, fits):
    study(path, sets, setups=["VAP"], repeats=1)
    assert len(fits) == 2 * 3
    done, rows = study(path, sets, setups=["VAP"], repeats=3)
    assert (done.computed, len(fits)) == (2 * 6, 2 * 9)
    assert len(rows) == 2 * 9
    done, _ = study(path, sets, setups=["VAP"], repeats=1)
    assert done.computed == 0


def test_another_metric_fits_nothing_again(path, sets, fits):
    study(path, sets, setups=["Raw", "VAP"])
    fits.clear()
    more = read_protocol(PROTOCOL.replace('"width"]', '"width", "auc", "ece"]'), "small.toml")
    done, rows = study(path, sets, more, setups=["Raw", "VAP"])
    assert (done.computed, len(fits)) == (0, 0)
    anew = study(path.with_name("anew.sqlite"), sets, more, setups=["Raw", "VAP"])[1]
    pd.testing.assert_frame_equal(numbers(rows), numbers(anew), check_exact=True)


def test_other_settings_under_the_same_name_are_refused_not_mixed(path, sets):
    study(path, sets, setups=["VAP"], repeats=1)
    changed = read_protocol(PROTOCOL.replace("[recipe]", '[recipe]\nmerge = "square"'), "small.toml")
    with pytest.raises(InputError, match="'VAP' on 'one'.*protocol or the folds have changed"):
        study(path, sets, changed, setups=["VAP"])
    with pytest.raises(InputError, match="protocol or the folds have changed"):
        study(path, sets, setups=["VAP"], folds=4)
    other = {"one": sets["two"]}
    with pytest.raises(InputError, match="'VAP' on 'one'.*the data have changed"):
        study(path, other, setups=["VAP"])


def test_a_failed_setup_is_told_and_the_rest_goes_on(path, sets, fits):
    protocol = read_protocol(FAILING, "small.toml")
    done, rows = study(path, sets, protocol)
    assert (done.complete, done.failed) == (False, 12)
    assert set(rows["setup"]) == {"VAP", "Forest"}
    fits.clear()
    assert study(path, sets, protocol)[0].computed == 0  # it is not tried again unasked
    done, _ = study(path, sets, protocol, retry_failed=True)
    assert done.computed == len(fits) == 12
    assert done.failed == 12


def test_what_no_set_allows_is_refused_before_anything_is_run(path, sets, fits):
    for asked, options, said in (
        (
            SMALL,
            {"folds": 50},
            "one: The minority class has .* fewer than the 50 folds. Use fewer folds, or exclude",
        ),
        (SMALL.measuring(["tce"]), {}, "'tce' needs true probabilities, but no data set has them"),
    ):
        with pytest.raises(InputError, match=said):
            study(path, sets, asked, **options)
    assert not fits
    data = sets["two"]
    few = {"few": replace(data, X=data.X[:6], y=np.array([0, 0, 0, 0, 1, 1])), "two": data}
    assert study(path, few, setups=["Forest"], repeats=1)[0].failed == 3


def test_what_fails_once_can_be_repeated(path, sets, monkeypatch):
    fit = cell_module.fit_rows

    def fail(recipe, data, splits, **more):
        if recipe.seed == 4:
            raise MemoryError("no room")
        return fit(recipe, data, splits, **more)

    monkeypatch.setattr(cell_module, "fit_rows", fail)
    done, rows = study(path, sets, setups=["Raw", "VAP"])
    assert done.failed == 2 * 2
    with Store(path) as store:
        failures = store.failures()
    assert set(failures["error"]) == {"MemoryError: no room"}
    assert failures["traceback"].str.contains("in fail").all()
    monkeypatch.setattr(cell_module, "fit_rows", fit)
    done, rows = study(path, sets, setups=["Raw", "VAP"], retry_failed=True)
    assert (done.computed, done.failed) == (2, 0)
    assert len(rows) == 2 * 2 * 6


def test_the_number_of_jobs_changes_no_number_and_workers_know_a_method_registered_here(
    path, sets, monkeypatch
):
    class Half(Platt):
        key, label = "half", "Half"

        def _map(self, scores):
            return super()._map(scores) / 2

    monkeypatch.setattr(CALIBRATORS, "_held", {**CALIBRATORS, "half": Half})
    setup = '{ name = "Half", calibrator = "half", placement = "split" },'
    text = PROTOCOL.replace("]\n[data]", f"  {setup}\n]\n[data]").replace(', "width"', "")
    protocol = read_protocol(text, "small.toml")
    done, rows = study(path, sets, protocol, jobs=2)
    assert done.complete
    assert set(rows["setup"]) == {"Raw", "VAP", "Forest", "Half"}
    alone = study(path.with_name("alone.sqlite"), sets, protocol)[1]
    pd.testing.assert_frame_equal(numbers(rows), numbers(alone), check_exact=True)


def test_progress_counts_cells_and_what_is_left(path, sets):
    said = []
    study(path, sets, watch=Watch(lambda share, doing: said.append((share, doing))))
    assert said[0] == (0.0, "0 of 24 runs")
    assert said[-1] == (1.0, "24 of 24 runs")
    assert [share for share, _ in said] == [k / 24 for k in range(25)]
    assert "12 of 24 runs, " in said[12][1]
    assert " per second, " in said[12][1]
    assert said[12][1].endswith(" remaining")
    said.clear()
    study(path, sets, watch=Watch(lambda share, doing: said.append((share, doing))))
    assert said == [(1.0, "24 of 24 runs")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "--jobs must be a whole number from 1"),
        ({"scheduler": "tcp://here:1"}, "--scheduler has an effect only with --backend dask"),
        ({"backend": "threads"}, "--backend must be one of 'loky', 'dask'"),
        ({"backend": "dask"}, "needs the address of the scheduler"),
        ({"setups": ["Row"]}, "no setup 'Row'"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is(path, sets, fits, options, message):
    with pytest.raises(InputError, match=message):
        study(path, sets, **options)
    assert fits == []


def test_a_missing_package_is_named_before_any_work(path, sets, fits, monkeypatch):
    monkeypatch.setattr("calib.study.papers.models.find_spec", lambda name: None)
    text = PROTOCOL.replace('model = "random_forest", params = { n_estimators = 5 }', 'model = "XGB_opt"')
    with pytest.raises(InputError, match="XGB_opt .*package xgboost.*calibration-explorer.xgboost"):
        study(path, sets, read_protocol(text, "small.toml"))
    assert fits == []


def test_every_metric_is_taken_in_a_cell(path, sets):
    keys = [key for key in METRICS if key != "tce"]
    protocol = read_protocol(
        PROTOCOL.replace(
            '"reliability", "width"',
            ", ".join(f'"{k}"' for k in keys if k not in ("accuracy", "brier", "log_loss")),
        ),
        "small.toml",
    )
    done, rows = study(path, {"one": sets["one"]}, protocol, setups=["VAP"], repeats=1)
    assert done.complete
    assert set(keys) <= set(rows.columns)


def test_workers_that_keep_dying_end_the_run_with_a_message(path, sets, monkeypatch):
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    calls = []

    def die(tasks):
        calls.append(len(tasks))
        yield id(tasks[0]), cell_module.run(tasks[0])
        raise TerminatedWorkerError("killed")

    monkeypatch.setattr(runner_module, "_here", die)
    done, _ = study(path, sets)  # each time one cell gets through: it ends, with all of them
    assert done.complete
    assert calls == list(range(24, 0, -1))

    def die_at_once(tasks):
        raise TerminatedWorkerError("killed")
        yield

    monkeypatch.setattr(runner_module, "_here", die_at_once)
    with pytest.raises(InputError, match="killed workers 3 times"):
        study(path.with_name("dead.sqlite"), sets)


def test_breadth_first_takes_the_first_fold_of_every_set_and_model_first_and_changes_no_number(path, sets):
    seen = []

    class Watched(Store):
        def add(self, results):
            results = list(results)
            seen.append((results[0].repeat, results[0].fold, results[0].data, results[0].setup))
            super().add(results)

    rows = {}
    for breadth_first in (False, True):
        seen.clear()
        with Watched(path.with_name(f"{breadth_first}.sqlite"), write=True) as store:
            run_study(SMALL, sets, store, breadth_first=breadth_first)
            rows[breadth_first] = store.rows()
        assert (seen == sorted(seen, key=lambda key: key[:2])) == breadth_first
    assert {key[2:] for key in seen[:4]} == {(data, setup) for data in sets for setup in ("Raw", "Forest")}
    pd.testing.assert_frame_equal(numbers(rows[False]), numbers(rows[True]), check_exact=True)


def test_how_far_a_study_is_is_told_from_its_store(path, sets):
    study(path, sets, setups=["Raw"], repeats=1)
    with Store(path) as store:
        assert [study_progress(SMALL, sets, store, **asked).done for asked in ({}, {"setups": ["Raw"]})] == [
            0,
            6,
        ]
        now = study_progress(SMALL, sets, store, setups=["Raw", "Forest"], repeats=1)
    assert (now.cells, now.done, now.failed, len(now.keys)) == (12, 6, 0, 12)


def test_studies_that_share_a_process_take_turns_and_leave_its_warnings_alone(sets, monkeypatch):
    """Two studies in threads of one process: one cell at a time, and the process warns afterwards as it did before."""
    under_way, most, real = [], [], cell_module._results

    def watched(task):
        under_way.append(task)
        most.append(len(under_way))
        found = real(task)
        under_way.remove(task)
        return found

    monkeypatch.setattr(cell_module, "_results", watched)
    before = warnings.showwarning, list(warnings.filters)
    stores = [Store.in_memory(), Store.in_memory()]
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(run_study, SMALL, sets, store, repeats=1, shared=True) for store in stores]:
            assert done.result().failed == 0
    assert max(most) == 1
    assert (warnings.showwarning, list(warnings.filters)) == before
    pd.testing.assert_frame_equal(numbers(stores[0].rows()), numbers(stores[1].rows()), check_exact=True)
