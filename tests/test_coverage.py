"""Intervals at 95 % cover, or are not given: a few draws of what was worst, and in the soak everything that is printed.

A cell fails where fewer than 92 % cover, beyond what the number of draws leaves open (``scripts.coverage``).
"""

import pytest

from calib.metrics.confidence_intervals import confidence_interval
from scripts.coverage import (
    MODELS,
    PREVALENCES,
    SAMPLES,
    SETS,
    SIZES,
    Case,
    Cell,
    cells_of,
    lines_of,
    on_rows,
    on_sets,
)
from scripts.intervals import ON_ROWS, TESTS, Found, Printed, claims_over_sets, over_sets
from scripts.worlds import Drawn

CALIBRATED, OVERCONFIDENT = MODELS
# Curves and bands that are biased where the truth bends, and what takes the probabilities for right
BESIDE = {"CORP", "smooth", "base rate"}


def found_in(printed: Printed, case: Case, draws: int) -> dict[str, Cell]:
    """Name → its cell."""
    lines = lines_of(on_rows, {"": printed}, [case], draws, jobs=1)
    return {name: cell for (name, _), cell in cells_of(lines).items()}


def of_one(key: str) -> Printed:
    """One number alone, which takes less time than all."""

    def found(rows: Drawn) -> Found:
        ends = confidence_interval(key, rows.y, rows.p, rows.weight, rows.cluster)
        return {key: (rows.world.value(key), *ends)}

    return Printed("", found)


@pytest.mark.parametrize("key", ["ece", "ici"])
@pytest.mark.parametrize(("n", "prevalence"), [(200, 0.5), (1000, 0.1)])
def test_the_interval_of_a_calibrated_model_s_distance_includes_0(key, n, prevalence):
    cell = found_in(of_one(key), Case(prevalence, CALIBRATED, n), 12)[key]
    assert not cell.low
    assert cell.given == 1


@pytest.mark.parametrize("model", MODELS)
def test_the_interval_of_a_difference_in_ece_includes_it(model):
    found = found_in(ON_ROWS["differences"], Case(0.5, model, 200), 15)
    ece = {name: cell for name, cell in found.items() if "ECE" in name}
    assert ece
    assert not [name for name, cell in ece.items() if cell.low]
    assert all(cell.given == 1 for cell in ece.values())


@pytest.mark.parametrize("key", ["brier", "log_loss", "accuracy", "brier_skill"])
def test_few_events_give_an_interval_that_covers_or_none(key):
    assert not found_in(of_one(key), Case(0.02, CALIBRATED, 50), 100)[key].low


@pytest.mark.parametrize("n", [200, 5000])
def test_calibration_in_the_large_covers_where_the_slope_is_not_1(n):
    cell = found_in(of_one("in_the_large"), Case(0.1, OVERCONFIDENT, n), 300)["in_the_large"]
    assert not cell.low
    assert cell.given > 0.98


@pytest.mark.parametrize(
    ("key", "clusters"), [("brier", 10), ("auc", 5), ("slope", 5), ("observed_expected", 5)]
)
def test_few_clusters_give_an_interval_that_covers(key, clusters):
    cell = found_in(of_one(key), Case(sample=f"{clusters} clusters"), 300)[key]
    assert not cell.low
    assert cell.given == 1


@pytest.mark.parametrize("key", ["numbers", "differences", "costs", "net benefit", "out of bag", "optimism"])
def test_one_cluster_gives_no_interval(key):
    given = {name: cell.given for name, cell in found_in(ON_ROWS[key], Case(sample="1 cluster"), 2).items()}
    assert given
    assert not any(given.values()), given


def test_weights_that_have_nothing_to_do_with_the_labels_cost_what_they_are_worth():
    found = found_in(ON_ROWS["bins"], Case(sample="weights 1, 3, 9"), 60)
    assert not [name for name, cell in found.items() if cell.low]


@pytest.mark.parametrize("n", [5, 10])
def test_the_interval_of_a_win_rate_covers_or_is_not_given(n):
    lines = lines_of(on_sets, over_sets, [n], 200, jobs=1)
    found = {name: cell for (name, _), cell in cells_of(lines).items() if name.startswith("Win rate")}
    assert not [name for name, cell in found.items() if cell.low]


@pytest.mark.soak
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("prevalence", PREVALENCES)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("key", [key for key in ON_ROWS if key not in BESIDE])
def test_whatever_is_printed_covers_or_is_not_given(key, model, prevalence, n):
    found = found_in(ON_ROWS[key], Case(prevalence, model, n), 200)
    assert {name: cell.share for name, cell in found.items() if cell.low} == {}
    if n * prevalence >= 100 and key != "bins":  # bins may be empty
        assert {name: cell.given for name, cell in found.items() if cell.given < 0.99} == {}


@pytest.mark.soak
@pytest.mark.parametrize("sample", [name for name in SAMPLES if name != "1 cluster"])
@pytest.mark.parametrize("key", [key for key in ON_ROWS if key not in BESIDE])
def test_whatever_is_printed_covers_in_clusters_and_with_weights(key, sample):
    found = found_in(ON_ROWS[key], Case(sample=sample), 200)
    assert {name: cell.share for name, cell in found.items() if cell.low} == {}


@pytest.mark.soak
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("prevalence", PREVALENCES)
@pytest.mark.parametrize("key", TESTS)
def test_tests_reject_what_is_right_no_more_often_than_they_say(key, prevalence, n):
    found = found_in(TESTS[key], Case(prevalence, CALIBRATED, n), 400)
    assert {name: cell.share for name, cell in found.items() if cell.often} == {}


@pytest.mark.soak
@pytest.mark.parametrize("n", SETS)
def test_means_and_tests_over_data_sets_hold_what_they_say(n):
    means = cells_of(lines_of(on_sets, over_sets, [n], 1000, jobs=2))
    assert {name: cell.share for (name, _), cell in means.items() if cell.low} == {}
    tests = cells_of(lines_of(on_sets, claims_over_sets, [n], 1000, jobs=2))
    assert {name: cell.share for (name, _), cell in tests.items() if cell.often} == {}
