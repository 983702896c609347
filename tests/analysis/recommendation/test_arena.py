"""The shipped arena has every calibrator at every size, and its reference is the lowest or nearly so."""

import numpy as np
import pandas as pd
import pytest

from calib.analysis.recommendation.rule import REFERENCE, arena, is_tied, prior
from calib.calibrators import CALIBRATORS, INPUT_TABLES
from scripts.arena_sizes import complete, grid, regrets


def test_every_calibrator_of_one_score_has_a_line_at_every_size():
    every = {key for key in CALIBRATORS.shipped if CALIBRATORS[key].input not in INPUT_TABLES}
    for (minority, tied), lines in arena().groupby(["minority", "tied"]):
        assert set(lines["method"]) == every, (minority, tied)
        assert len(lines) == len(every)
        assert (lines["deviation"] >= 0).all()
        assert lines.set_index("method").loc[REFERENCE, ["difference", "deviation"]].tolist() == [0, 0]


@pytest.mark.parametrize("tied", [False, True])
def test_no_method_is_expected_to_be_clearly_better_than_the_reference(tied):
    for minority in arena()["minority"].unique():
        lines = prior(minority, tied)
        assert lines["difference"].min() > -0.005
    assert prior(1e9, tied).equals(prior(arena()[arena()["tied"] == tied]["minority"].max(), tied))
    assert prior(0, tied).equals(prior(arena()["minority"].min(), tied))


def lines_of(brier, log_loss, *, data="a", model="m", size=100, minority=40, tied=False):
    return pd.DataFrame(
        {
            **{"data": data, "model": model, "repeat": 0, "size": size, "minority": minority, "tied": tied},
            **{"method": list(brier), "brier": list(brier.values()), "log_loss": list(log_loss.values())},
            "infinite": 0.0,
        }
    )


def test_the_grid_and_the_regrets_are_the_means_over_sets_by_hand():
    cases = [
        lines_of({"auto": 0.20, "platt": 0.21}, {"auto": 0.6, "platt": 0.5}, data=f"s{i}", model=model)
        for i in range(5)
        for model in ("m", "n")
    ]
    cases.append(lines_of({"auto": 0.20, "platt": 0.15}, {"auto": 0.6, "platt": 0.5}, data="s5"))
    cases.append(lines_of({"auto": 0.20}, {"auto": 0.6}, data="s6"))  # incomplete
    rows = complete(pd.concat(cases))
    assert "s6" not in set(rows["data"])
    found = grid(rows).set_index("method")
    uncertainty = 0.4 * 0.6
    per_set = np.array([0.01] * 5 + [-0.05]) / uncertainty
    per_case = np.array([0.01] * 10 + [-0.05]) / uncertainty
    assert found.difference["platt"] == pytest.approx(per_set.mean(), abs=1e-5)
    assert found.deviation["platt"] == pytest.approx(per_case.std(ddof=1), abs=1e-5)
    assert found.loc["auto", ["minority", "sets", "difference"]].tolist() == [25, 6, 0]
    lost = regrets(rows)
    assert lost.brier[(100, "auto")] == pytest.approx(0.05 / 6)
    assert lost.brier[(100, "platt")] == pytest.approx(0.01 * 5 / 6)
    assert lost.log_loss[(100, "auto")] == pytest.approx(0.1)


def test_votes_and_seven_values_are_tied_and_other_scores_are_not():
    rng = np.random.default_rng(0)
    assert is_tied(rng.integers(0, 11, 50) / 10)
    assert is_tied(rng.integers(0, 7, 5000) / 6)
    assert not is_tied(rng.random(35))
    assert not is_tied(rng.random(5000).round(4))
