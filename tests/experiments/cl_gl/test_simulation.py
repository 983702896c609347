"""CL + GL + IL is the expected loss; groups are unions of leaves; depth trades one against the other."""

import numpy as np
import pytest

from calib.experiments.cl_gl import EXPERIMENT as CL_GL
from calib.experiments.cl_gl.simulation import NO_GROUP, one_point
from calib.experiments.shared.gaussian_plane import expected_loss
from calib.metrics import loss_decomposition
from calib.models import ProbabilityTree

LOSSES = ("brier", "log")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"leaf": "laplace"},
        {"depth": 3, "leaf": "laplace"},
        {"leaves": 6},
        {"model": "forest", "trees": 20, "depth": 4},
    ],
    ids=str,
)
def test_the_terms_add_up_to_the_expected_loss_and_the_groups_to_the_terms(settings, loss):
    for seed in range(3):
        found = CL_GL.simulate(random_state=seed, n=200, **settings)
        parts, pi, p = found.point.losses[loss], found.plane.posterior, found.point.p
        total = expected_loss(pi, p, loss)
        if np.isfinite(total):
            whole = parts.calibration + parts.grouping + parts.irreducible + parts.remainder
            assert whole == pytest.approx(total, abs=1e-9)
            assert found.table[f"calibration_{loss}"].sum() == pytest.approx(parts.calibration, abs=1e-9)
        else:
            assert parts.calibration == np.inf
        assert found.table[f"grouping_{loss}"].sum() == pytest.approx(parts.grouping, abs=1e-9)
        assert found.table["share"].sum() == pytest.approx(1, abs=1e-9)
        assert (found.table["share"] * found.table["posterior"]).sum() == pytest.approx(pi.mean(), abs=1e-9)
        if found.point.binned is None:
            assert parts.remainder == 0


@pytest.mark.parametrize("seed", range(5))
def test_pure_leaves_make_two_groups_and_laplace_splits_them(seed):
    pure, laplace = (CL_GL.simulate(random_state=seed, leaf=leaf) for leaf in ("frequency", "laplace"))
    assert pure.table["p"].tolist() == [0, 1]
    assert pure.point.leaves > 100
    assert 2 < len(laplace.table) < laplace.point.leaves
    # Each of the two groups is split, none is mixed: a Laplace prediction lies on the side of its leaf's
    # frequency.
    assert ((laplace.point.p > 0.5) == (pure.point.p == 1)).all()
    assert laplace.point.losses["brier"].grouping < pure.point.losses["brier"].grouping


def test_a_group_is_a_union_of_leaves():
    found = CL_GL.simulate(random_state=1, depth=4, n=500)
    plane = found.plane
    tree = ProbabilityTree(max_depth=4, random_state=1).fit(plane.X, plane.y)
    leaf = tree.apply(plane.test)
    for node in np.unique(leaf):
        assert len(np.unique(found.point.p[leaf == node])) == 1
    assert found.point.leaves == tree.get_n_leaves()


@pytest.mark.parametrize("settings", [{"depth": 5}, {"model": "forest", "trees": 10, "depth": 5}], ids=str)
def test_a_cell_belongs_to_the_group_of_its_prediction(settings):
    found = CL_GL.simulate(random_state=0, n=200, **settings)
    known = found.grid_group != NO_GROUP
    assert known.mean() > 0.95
    if found.point.binned is None:
        assert np.array_equal(found.table["p"].to_numpy()[found.grid_group[known]], found.point.grid_p[known])
    else:
        order = np.argsort(found.point.grid_p[known], kind="stable")
        assert (np.diff(found.grid_group[known][order]) >= 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_depth_trades_grouping_against_calibration_and_the_best_is_in_between(seed):
    found = CL_GL.simulate("cl_gl_sweep", random_state=seed, against="depth", leaf="laplace", n=1000)
    parts = [point.losses["brier"] for point in found.points]
    calibration, grouping = (
        np.array([getattr(part, name) for part in parts]) for name in ("calibration", "grouping")
    )
    assert calibration[-1] > 5 * calibration[:3].max()
    assert grouping[0] > 2 * grouping[3:6].min()
    total = calibration + grouping
    assert 0 < int(total.argmin()) < len(total) - 1
    assert len({part.irreducible for part in parts}) == 1


def test_a_sweep_passes_through_the_setting_itself_and_can_remember():
    asked = []

    def remembering(*args, **kwargs):
        asked.append(kwargs)
        return one_point(*args, **kwargs)

    found = CL_GL.simulate(
        "cl_gl_sweep", random_state=0, against="leaf", depth=3, n=100, using={"point": remembering}
    )
    alone = CL_GL.simulate(random_state=0, leaf="laplace", depth=3, n=100, using={"point": remembering})
    assert asked[1] == asked[2]
    assert np.array_equal(found.points[1].p, alone.point.p)
    assert [
        point.plane.y.size
        for point in CL_GL.simulate("cl_gl_sweep", random_state=0, against="n", depth=2).points
    ][:3] == [50, 100, 200]
    assert {
        len(np.unique(point.p))
        for point in CL_GL.simulate("cl_gl_sweep", random_state=0, against="trees", depth=None, n=50).points[
            :2
        ]
    } == {2, 3}


def test_bins_of_a_forest_are_those_of_the_metric():
    point = one_point(0, "separate", 500, "forest", 20, 6, None, "laplace")
    assert point.binned == 20
    assert point.losses["brier"] == loss_decomposition(
        point.plane.posterior, point.p, "brier", groups=20, corrected=False
    )
