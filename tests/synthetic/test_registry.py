"""What every synthetic set must do, whatever it is."""

import numpy as np
import pytest

from calib.kernel.checks import InputError
from calib.synthetic import SYNTHETIC

entries = pytest.mark.parametrize("entry", SYNTHETIC.values(), ids=SYNTHETIC)


@entries
def test_the_seed_decides_everything(entry):
    one, same, other = (entry.make({"n": 200}, random_state=seed) for seed in (1, 1, 2))
    assert one.digest == same.digest != other.digest


@entries
def test_rows_labels_and_posteriors_belong_together(entry):
    data = entry.make({"n": 300}, random_state=0)
    assert data.n == 300
    assert set(data.y) == {0, 1}
    assert data.X.notna().all().all()
    assert ((data.posterior >= 0) & (data.posterior <= 1)).all()
    # Labels drawn by these posteriors: the mean gap is within sampling error.
    gap = np.mean(data.y - data.posterior)
    assert abs(gap) < 4 * np.sqrt(np.mean(data.posterior * (1 - data.posterior)) / 300) + 1e-12


@entries
def test_the_distribution_of_a_seed_is_the_one_its_rows_come_from(entry):
    data = entry.make({"n": 50}, random_state=5)
    again = entry.distribution(random_state=5).posterior(data.X)
    assert again.tolist() == data.posterior.tolist()


@entries
def test_defaults_lie_within_their_ranges_and_the_rows_are_the_default_number(entry):
    n = next(parameter for parameter in entry.parameters if parameter.name == "n")
    assert entry.make(random_state=0).n == n.default
    assert all(parameter.help for parameter in entry.parameters)


@entries
def test_unknown_settings_and_values_out_of_range_are_refused_by_name(entry):
    with pytest.raises(InputError, match=f"{entry.label} has no setting 'clusterz'"):
        entry.make({"clusterz": 3}, random_state=0)
    with pytest.raises(InputError, match=r"n must .*from 20\b"):
        entry.make({"n": 3}, random_state=0)


def test_settings_reach_the_data():
    assert SYNTHETIC["gaussian"].make({"d": 7}, random_state=0).X.shape[1] == 7
    unequal = SYNTHETIC["gaussian"].distribution({"covariances": "unequal"}, random_state=0)
    assert unequal.cov1.max() > 4
    apart = SYNTHETIC["overlap"].distribution({"step": 20}, random_state=0)
    assert apart.bhattacharyya() == pytest.approx(5.72)
    assert len(SYNTHETIC["mixture"].distribution({"clusters": 9}, random_state=0).means0) == 9
