"""Six methods on the same draws are what each of them is alone; and whose log loss may be infinite."""

import numpy as np
import pytest

from calib.calibrators import Isotonic, Platt, VennAbers, merge_pair
from calib.experiments import EXPERIMENTS
from calib.experiments.compare import draw, prepare
from calib.experiments.shared.one_feature import NormalClasses, WindowScorer


def test_every_method_is_what_it_is_alone():
    found = EXPERIMENTS["compare"].simulate(random_state=2, objects=20, tests=5, draws=50, window=0.2)
    rng = np.random.default_rng([2, 3])
    x, y = NormalClasses(1.5).draw((50, 25), rng)
    assert np.array_equal(found.y, y[:, 20:])
    for row in (0, 21, 49):
        train, labels, test = x[row : row + 1, :20], y[row : row + 1, :20], x[row : row + 1, 20:]
        scorer = WindowScorer.fit(train, labels, 0.2)
        scores, new = scorer.training[0], scorer.new(test)[0]
        assert found.p["none"][row] == pytest.approx(new, abs=1e-12)
        assert found.p["dir"][row] == pytest.approx(
            Isotonic(between="nearest").fit(scores, labels[0]).predict(new), abs=1e-12
        )
        assert found.p["platt"][row] == pytest.approx(Platt().fit(scores, labels[0]).predict(new), abs=1e-9)
        pair = VennAbers().fit(scores, labels[0]).predict_interval(new)
        assert np.column_stack([p[row] for p in found.pairs["simplified"]]) == pytest.approx(pair, abs=1e-12)
        for j in range(5):
            ends = []
            for label in (0, 1):
                extended = scorer.with_object(test[:, j], label)[0]
                ends.append(
                    VennAbers().fit(extended[:-1], labels[0]).predict_interval(extended[-1:])[0, label]
                )
            assert [p[row, j] for p in found.pairs["full"]] == pytest.approx(ends, abs=1e-12)
            assert found.p["full"][row, j] == pytest.approx(float(merge_pair(*ends)), abs=1e-12)
        half = WindowScorer.fit(train[:, :13], labels[:, :13], 0.2)
        held_out = Isotonic().fit(half.new(train[:, 13:])[0], labels[0, 13:])
        assert found.p["isotonic"][row] == pytest.approx(held_out.predict(half.new(test)[0]), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("window", [0.02, 0.5])
def test_log_loss_is_infinite_for_dir_and_never_for_venn_abers(seed, window):
    found = EXPERIMENTS["log_loss"].simulate(random_state=seed, window=window, draws=50)
    assert np.isinf(found.log_loss("dir")).any()
    for method in ("simplified", "full"):
        assert np.isfinite(found.log_loss(method)).all()
    assert found.mean_and_error(found.log_loss("dir"))[0] == np.inf


def test_standard_errors_are_those_of_independent_draws():
    found = EXPERIMENTS["compare"].simulate(random_state=0, draws=50)
    values = found.p["full"]
    mean, error = found.mean_and_error(values)
    assert mean == pytest.approx(values.mean(), abs=1e-12)
    assert error == pytest.approx(values.mean(axis=1).std(ddof=1) / np.sqrt(50), abs=1e-12)


def test_of_six_lines_three_are_in_colour_and_the_others_grey_until_asked():
    record = prepare(EXPERIMENTS["compare"].simulate(random_state=0, draws=50))
    lines = [trace for trace in draw(record).data if "lines" in trace.mode and trace.name]
    coloured = [trace for trace in lines if trace.visible is None]
    best = record.table.method[record.table.tce.idxmin()]
    assert {trace.legendgroup for trace in coloured} == {"none", "dir", best}
    waiting = [trace for trace in lines if trace.visible == "legendonly"]
    grey = [trace for trace in lines if trace.visible is True]
    assert sorted(trace.name for trace in waiting) == sorted(trace.name for trace in grey)
    assert len(grey) == 3
