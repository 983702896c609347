"""Long runs: means over repetitions, chunks that are found again, results that are kept and found."""

import sys

import numpy as np
import pandas as pd
import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments.shared.long_run import FOREST_MEASURES, LongRun, means, resumed
from calib.kernel.progress import Watch


def part_of(step, watch=None):
    """Two repetitions of two methods at one step."""
    rng = np.random.default_rng(step)
    rows = [("rf_d", ""), ("platt", "tuned")] * 2
    table = pd.DataFrame(rows, columns=["method", "base"]).assign(step=step)
    return table.assign(**{measure: rng.random(4) for measure in FOREST_MEASURES})


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of two steps, in a package of its own."""
    name = f"kept_{tmp_path.name}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    yield LongRun(
        package=name,
        settings=("n",),
        chunks=lambda random_state, settings: {
            (random_state, step): lambda watch=None, step=step: part_of(step, watch) for step in (2, 1)
        },
        by=("step",),
        order=("step",),
    )
    sys.modules.pop(name, None)


def test_means_and_standard_errors_are_over_the_repetitions():
    table = part_of(1)
    found = means([table], ["step"]).set_index("method").loc["rf_d"]
    values = table.loc[table["method"] == "rf_d", "tce"]
    assert found["runs"] == 2
    assert found["tce"] == pytest.approx(values.mean(), abs=1e-12)
    assert found["tce_error"] == pytest.approx(np.std(values, ddof=1) / np.sqrt(2), abs=1e-12)


def test_all_parts_are_computed_and_their_means_ordered(run):
    found = run({"results": "anew", "n": 5}, 0, Watch())
    assert list(found.table["step"]) == [1, 1, 2, 2]
    assert found.made is None
    assert found.table.equals(run.gathered([part_of(2), part_of(1)], {}).table)


def test_a_part_whose_file_is_there_is_not_computed_again(tmp_path):
    calls, file = [], tmp_path / "one.csv"

    def chunk():
        calls.append(1)
        return part_of(3)

    file.with_suffix(".chunk").write_text("half a line")  # what a stopped process leaves
    assert resumed(chunk, file) == file
    first = file.read_text()
    assert resumed(chunk, file).read_text() == first
    assert calls == [1]
    table = pd.read_csv(file, keep_default_na=False)
    assert table["tce"].to_numpy() == pytest.approx(part_of(3)["tce"], abs=1e-12)
    assert (table["seconds"] >= 0).all()


def test_what_is_kept_is_found_for_its_settings_alone(run):
    settings = {"results": "shipped", "n": 5, "view": "any"}
    assert run.stored_results(4, settings) is None
    run.keep([part_of(step).assign(seconds=30.0) for step in (1, 2)], 4, settings)
    found = run.stored_results(4, settings)
    expected = run.gathered([part_of(1), part_of(2)], {}).table
    assert found.table["tce"].to_numpy() == pytest.approx(expected["tce"], rel=1e-5)
    assert found.made.settings == {"n": 5}
    assert found.made.minutes == 1.0
    assert run.stored_results(4, settings | {"view": "another"}) is not None
    for other in (settings | {"n": 6}, settings | {"results": "anew"}):
        assert run.stored_results(4, other) is None
    assert run.stored_results(5, settings) is None


@pytest.mark.parametrize("key", ["overlap", "calibration_size"])
def test_both_long_experiments_open_with_what_was_kept(key):
    experiment = EXPERIMENTS[key]
    assert isinstance(experiment.simulation, LongRun)
    assert experiment.simulate(random_state=0).made.seed == 0
