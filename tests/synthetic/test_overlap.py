"""The overlap path: exactly its steps, from the same distribution to the paper's last distance."""

import numpy as np
import pytest

from calib.kernel.checks import InputError
from calib.synthetic import overlap_path


@pytest.mark.parametrize("d", [1, 2, 5, 10, 20])
def test_the_path_runs_from_0_to_the_last_distance_in_exactly_its_steps(d):
    path = overlap_path(d, random_state=d)
    distances = [pair.bhattacharyya() for pair in path]
    assert len(path) == 20
    assert distances[0] == 0
    assert distances[-1] == pytest.approx(5.72, rel=1e-12)
    assert (np.diff(distances) > 0).all()
    np.testing.assert_allclose(np.diff(np.sqrt(distances)), np.sqrt(5.72) / 19)  # equal steps of the constant


def test_only_a_constant_is_added_to_class_1s_mean():
    path = overlap_path(3, steps=4, max_distance=2.0, random_state=0)
    first = path[0]
    assert (first.mean0 == first.mean1).all()
    assert ((first.mean0 >= 0) & (first.mean0 < 1)).all()
    for pair in path:
        assert (pair.mean0 == first.mean0).all()
        assert (pair.cov0 == first.cov0).all()
        assert (pair.cov1 == first.cov0).all()
        assert np.ptp(pair.mean1 - pair.mean0) == pytest.approx(0, abs=1e-12)


def test_where_the_classes_are_the_same_nothing_can_be_known():
    data = overlap_path(2, random_state=0)[0].sample(1000, 0)
    assert set(data.posterior) == {0.5}


def test_the_seed_decides():
    one, same, other = (overlap_path(2, random_state=seed)[5].mean1.tolist() for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"d": 0}, "d must be"),
        ({"d": 2, "steps": 1}, "steps must be a whole number of at least 2"),
        ({"d": 2, "max_distance": 0}, "max_distance must be a number above 0"),
    ],
)
def test_bad_input_is_refused_by_name(settings, message):
    with pytest.raises(InputError, match=message):
        overlap_path(**settings, random_state=0)
