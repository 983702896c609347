"""Every test object is in the picture's numbers, and the panels of the page are those of the picture taken along."""

import numpy as np
import pytest

from calib.experiments.shared.gaussian_plane import PredictionErrors
from calib.experiments.shared.truth_panels import (
    DENSITY_CELLS,
    FEWEST_IN_BIN,
    MOST_POINTS_OF_TRUTH,
    against_truth,
    draw,
    panels_of,
)

PLENTY = 4000


@pytest.fixture(scope="module")
def shown():
    rng = np.random.default_rng(0)
    posterior = rng.random(PLENTY)
    return tuple(
        PredictionErrors(f"model {i}", posterior, np.clip(posterior + s * rng.normal(size=PLENTY), 0, 1))
        for i, s in enumerate((0.0, 0.1, 0.3))
    )


def traces(figure, kind):
    return [trace for trace in figure.data if trace.type == kind]


def test_a_density_counts_every_object(shown):
    record = against_truth(shown, 3, "density", "title", None)
    for heat, errors in zip(traces(draw(record), "heatmap"), shown, strict=True):
        count = np.asarray(heat.customdata)
        assert count.sum() == PLENTY
        row, column = (
            np.minimum((values * DENSITY_CELLS).astype(int), DENSITY_CELLS - 1)
            for values in (errors.p, errors.posterior)
        )
        assert count[row[7], column[7]] == ((row == row[7]) & (column == column[7])).sum()
        assert np.nanmax(np.asarray(heat.z, dtype=float)) == pytest.approx(np.log10(count.max()), abs=1e-3)


def test_points_lie_where_they_are_said_to_lie(shown):
    figure = draw(against_truth(shown, 3, "points", "title", None))
    clouds = [trace for trace in figure.data if trace.mode == "markers"]
    for cloud, errors in zip(clouds, shown, strict=True):
        assert len(cloud.x) == MOST_POINTS_OF_TRUTH
        assert np.asarray(cloud.x) == pytest.approx(errors.posterior[:MOST_POINTS_OF_TRUTH], abs=1e-3)
        assert np.asarray(cloud.y) == pytest.approx(errors.p[:MOST_POINTS_OF_TRUTH], abs=1e-3)


def test_the_table_holds_both_identities(shown):
    table = against_truth(shown, 3, "points", "title", None).to_frame()
    whole = table.calibration + table.grouping + table.irreducible + table.remainder
    assert list(table.bias_squared + table.scatter) == pytest.approx(list(table.tce), abs=1e-9)
    assert list(whole) == pytest.approx(list(table.expected_brier), abs=1e-9)


def test_parts_draw_what_the_whole_draws(shown):
    record = against_truth(shown, 3, "points", "title", None)
    whole, alone = draw(record), [draw(part) for part in panels_of(record)]
    assert [len(figure.data) for figure in alone] == [3, 3, 3]
    for i, figure in enumerate(alone):
        assert [list(trace.y) for trace in figure.data] == [
            list(trace.y) for trace in whole.data[3 * i : 3 * i + 3]
        ]
    assert len({part.alt for part in panels_of(record)}) == 3


def test_the_line_of_means_leaves_out_where_hardly_anybody_is():
    posterior = np.append(np.full(5, 0.01), np.full(95, 0.5))
    record = against_truth((PredictionErrors("model", posterior, posterior),), 1, "points", "title", None)
    line = draw(record).data[-1]
    assert list(line.x) == [0.5]
    assert f"at least {FEWEST_IN_BIN}" in record.caption


def test_side_by_side_the_marks_of_the_axis_are_level_and_few(shown):
    figure = draw(against_truth(shown, 3, "points", "title", None))
    assert {(axis.tickangle, axis.tickvals) for axis in figure.select_xaxes()} == {(0, (0, 0.5, 1))}
