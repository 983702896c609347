"""The audit against brute force by its definition, its error rate, and what it refuses."""

import threading
from itertools import combinations, islice, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from calib.analysis.audit import ALPHA, audit
from calib.calibrators import CALIBRATORS
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from scripts.audit_rates import calm, one_calm, one_planted


def drawn(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"kind": rng.choice(list("abc"), rows), "size": rng.normal(size=rows)})
    p = rng.uniform(0.1, 0.9, rows)
    return (rng.random(rows) < p).astype(int), p, table


def every_segment(table, edges):
    """Segment in words → mask, of conjunctions of up to two columns."""
    values = table["size"].to_numpy()
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    single = {
        "kind": {f"kind = {v}": (table["kind"] == v).to_numpy() for v in "abc"},
        "size": {i: place == i for i in range(len(edges) - 1)},
    }
    found = [mask for column in single.values() for mask in column.values()]
    for a, b in combinations(single, 2):
        found += [x & y for x, y in product(single[a].values(), single[b].values())]
    return found


def test_segments_are_all_values_and_fifths_and_their_conjunctions_with_enough_rows_and_expected_events():
    y, p, table = drawn()
    found = audit(y, p, table, resamples=19, min_rows=20)
    edges = np.quantile(table["size"], np.arange(6) / 5)
    expected = {
        mask.tobytes()
        for mask in every_segment(table, edges)
        if mask.sum() >= 20 and min(p[mask].sum(), (1 - p[mask]).sum(), 2 * (p * (1 - p))[mask].sum()) >= 10
    }
    assert {found.members(i).tobytes() for i in range(len(found.segments))} == expected
    for i, line in found.segments.iterrows():
        mine = found.members(i)
        assert line["rows"] == mine.sum()
        assert line["predicted"] == pytest.approx(p[mine].mean())
        assert line["observed"] == pytest.approx(y[mine].mean())


def test_segments_do_not_depend_on_labels():
    y, p, table = drawn()
    first, other = (audit(labels, p, table, resamples=19, min_rows=20) for labels in (y, np.zeros_like(y)))
    assert set(first.segments["segment"]) == set(other.segments["segment"])


def test_names_spell_out_columns_values_and_ranges_and_missing_values():
    y, p, table = drawn(2000)
    table.loc[:400, "kind"] = None
    names = set(audit(y, p, table, resamples=19).segments["segment"])
    assert "kind = (missing)" in names
    assert "kind = b" in names
    assert any(name.startswith("size = ") and " to " in name and " and " not in name for name in names)
    assert any(name.startswith("kind = b and size = ") and " to " in name for name in names)


def test_the_adjusted_p_value_counts_tables_whose_largest_statistic_is_as_large():
    """One segment of equal probabilities: its p-value is that of the exact binomial test, by symmetry."""
    n, events = 200, 118
    y = np.r_[np.ones(events), np.zeros(n - events), np.tile([0, 1], 300)]
    table = pd.DataFrame({"group": ["a"] * n + ["b"] * 600})
    p = np.full(800, 0.5)
    found = audit(y, p, table, resamples=1999, min_rows=150)
    assert list(found.segments["segment"]) == ["group = a", "group = b"]
    k = np.arange(n + 1)
    # |z| of a as large as seen, or of b, which has three times the rows
    alone = 1 - binom.pmf(k, n, 0.5)[np.abs(k - 100) < events - 100].sum()
    j = np.arange(601)
    other = 1 - binom.pmf(j, 600, 0.5)[np.abs(j - 300) / 150**0.5 < (events - 100) / 50**0.5].sum()
    exact = 1 - (1 - alone) * (1 - other)
    assert found.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact / 1999))
    assert found.segments["p_value"].iloc[1] == 1.0


def test_the_threshold_separates_what_is_significant():
    y, p, table = drawn(4000, seed=3)
    y = np.where((table["kind"] == "a").to_numpy(), 1, y)
    found = audit(y, p, table, resamples=199)
    above = found.segments["statistic"] > found.threshold
    assert (above == (found.segments["p_value"] <= ALPHA)).all()
    assert 0 < above.sum() < len(above)
    assert found.found == above.sum()
    assert (found.segments["statistic"].diff().dropna() <= 0).all()


def test_whole_weights_are_repeated_rows():
    y, p, table = drawn(600)
    times = np.random.default_rng(1).integers(1, 4, 600)
    again = np.repeat(np.arange(600), times)
    kinds = table[["kind"]]
    counted, repeated = (
        each.segments.set_index("segment").sort_index()
        for each in (
            audit(y, p, kinds, sample_weight=times, resamples=499),
            audit(y[again], p[again], kinds.iloc[again], resamples=499),
        )
    )
    assert (counted["rows"] == repeated["rows"]).all()
    for name in ("predicted", "observed"):
        np.testing.assert_allclose(counted[name], repeated[name])
    np.testing.assert_allclose(
        counted["statistic"], repeated["statistic"], atol=0.25
    )  # the reach by its redraws


def test_rows_of_weight_zero_do_not_count():
    y, p, table = drawn(600)
    weight = np.r_[np.ones(500), np.zeros(100)]
    found = audit(y, p, table[["kind"]], sample_weight=weight, resamples=99)
    alone = audit(y[:500], p[:500], table[["kind"]].iloc[:500], resamples=99)
    pd.testing.assert_frame_equal(found.segments, alone.segments)


def test_a_cluster_alone_finds_nothing_however_wrong():
    y, p, table = drawn()
    found = audit(np.ones_like(y), p, table, cluster=np.zeros(400), resamples=99)
    assert found.p_value == 1.0


def test_right_probabilities_raise_false_alarms_at_the_stated_rate():
    """60 tables: the chance of 10 alarms or more is below 1 in 500 at a rate of 5 %."""
    rng, alarms = np.random.default_rng(5), 0
    for seed in range(60):
        p = rng.beta(1, 3, 300)
        table = pd.DataFrame({i: rng.choice(list("abc"), 300) for i in "xy"})
        alarms += audit(rng.random(300) < p, p, table, resamples=39, random_state=seed).p_value <= ALPHA
    assert binom.sf(9, 60, 0.05) < 2e-3
    assert 0 < alarms < 10


@pytest.mark.parametrize(("seed", "kind"), [(1, "group"), (0, "group, weights"), (2, "group, 400 clusters")])
def test_a_planted_group_is_found_and_named(seed, kind):
    assert one_planted(seed, kind, 39)[1]


def test_the_usual_rule_is_fooled_in_every_table():
    assert all(one_calm(seed, "probabilities", 19)[1] for seed in range(3))


def test_a_slope_that_is_wrong_within_a_segment_is_found_where_the_level_is_right():
    rng = np.random.default_rng(0)
    kind, x = rng.choice(list("ab"), 4000), rng.normal(0, 1.5, 4000)
    y = rng.random(4000) < 1 / (1 + np.exp(-np.where(kind == "a", 0.5 * x, x)))
    found = audit(y, 1 / (1 + np.exp(-x)), pd.DataFrame({"kind": kind}), resamples=199)
    assert found.segments["segment"][0] == "kind = a"
    assert found.looks[0] == "slope"


def test_errors_that_cancel_are_found_by_the_shape():
    rng = np.random.default_rng(0)
    kind, p = rng.choice(list("ab"), 6000), rng.uniform(0.25, 0.75, 6000)
    wave = 0.2 * np.cos(4 * np.pi * (p - 0.25)) * (kind == "a")  # level and slope are right
    found = audit(rng.random(6000) < p + wave, p, pd.DataFrame({"kind": kind}), resamples=199)
    assert found.segments["segment"][0] == "kind = a"
    assert found.looks[0] == "shape"
    assert found.p_value == 1 / 200


def test_the_answer_does_not_depend_on_the_order_of_rows_without_ties():
    y, p, table = drawn()
    order = np.random.default_rng(9).permutation(400)
    first, other = (
        audit(y, p, table, resamples=99),
        audit(y[order], p[order], table.iloc[order], resamples=99),
    )
    pd.testing.assert_frame_equal(first.segments, other.segments)
    assert (first.members(0)[order] == other.members(0)).all()


@pytest.mark.parametrize("key", ["platt", "isotonic", "beta", "histogram", "offset"])
def test_calibrators_fitted_on_the_audited_rows_are_refused(key):
    y, p, table = drawn(2000)
    fitted = CALIBRATORS[key]().fit(p, y)
    with pytest.raises(InputError, match="fitted to these labels"):
        audit(y, fitted.predict(p), table, resamples=19)
    fresh, scores, table = drawn(2000, seed=1)
    assert audit(fresh, fitted.predict(scores), table, resamples=19).p_value > 0


def test_weights_that_depend_on_the_label_alone_are_refused():
    """Events counted once and sampled others 3.7 times: redrawn labels would keep the weights of others."""
    y, p, table = drawn()
    weights = np.where(y == 1, 1.0, 3.7)
    with pytest.raises(InputError, match="The weights depend on the labels"):
        audit(y, p, table, sample_weight=weights, resamples=19)
    weights[0] *= 1.1
    assert audit(y, p, table, sample_weight=weights, resamples=19).resamples == 19
    assert audit(y, p, table, sample_weight=np.where(y == 1, 1, 4), resamples=19).resamples == 19  # counts


def test_sampling_by_label_raises_too_many_false_alarms_and_without_its_weights_always():
    """What the guide warns of, in 25 tables; at 5 % five or more alarms would come in less than 1 of 100 sets."""
    assert binom.sf(4, 25, 0.05) < 0.01
    alarms = (seed for seed in range(25) if one_calm(seed, "sampled by label, weights", 39)[0])
    assert len(list(islice(alarms, 5))) == 5  # no more are drawn
    assert all(one_calm(seed, "sampled by label, no weights", 39)[0] for seed in range(5))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [0, 2] * 200}, "labels 0 and 1"),
        ({"p": np.full(400, np.nan)}, "p must be finite"),
        ({"p": np.full(400, 1.5)}, r"\[0, 1\]"),
        ({"p": np.full(399, 0.5)}, "Lengths differ"),
        ({"frame": pd.DataFrame(index=range(400))}, "no columns"),
        ({"frame": pd.DataFrame({"a": range(9)})}, "Lengths differ"),
        ({"frame": pd.DataFrame(np.zeros((400, 2)), columns=["a", "a"])}, "called 'a'"),
        ({"frame": pd.DataFrame({"a": np.zeros(400)})}, "it needs 50 rows"),
        ({"frame": pd.DataFrame({"id": [f"row {i}" for i in range(400)]})}, "No segment"),
        ({"depth": 4}, "depth"),
        ({"depth": 0}, "depth"),
        ({"resamples": 10}, "resamples"),
        ({"min_rows": 0}, "min_rows"),
        ({"sample_weight": np.full(400, -1.0)}, "sample_weight"),
        ({"sample_weight": np.ones(3)}, "Lengths differ"),
        ({"cluster": np.ones(3)}, "Lengths differ"),
        ({"random_state": -1}, "random_state"),
        ({"y": [], "p": [], "frame": pd.DataFrame({"a": []})}, "empty"),
    ],
)
def test_bad_input_is_refused_by_name(change, message):
    y, p, table = drawn()
    with pytest.raises(InputError, match=message):
        audit(**({"y": y, "p": p, "frame": table, "resamples": 19} | change))


def test_constant_columns_and_identifiers_are_passed_over_beside_others():
    y, p, table = drawn()
    beside = table.assign(same=1, id=[f"row {i}" for i in range(400)])
    pd.testing.assert_frame_equal(
        audit(y, p, table, resamples=99).segments, audit(y, p, beside, resamples=99).segments
    )


def test_columns_that_say_the_same_make_one_segment():
    y, p, table = drawn()
    twice = table.assign(again=table["kind"].map({"a": "x", "b": "y", "c": "z"}))
    pd.testing.assert_frame_equal(
        audit(y, p, table, resamples=99).segments, audit(y, p, twice, resamples=99).segments
    )


def test_probabilities_of_zero_and_one_that_are_wrong_are_impossible_by_chance():
    y, p = np.r_[np.zeros(60), np.ones(60), 1.0, 0.0], np.r_[np.zeros(60), np.ones(60), 0.0, 1.0]
    table = pd.DataFrame({"a": ["x", "y"] * 61})
    found = audit(y, p, table, resamples=19, min_rows=20)
    assert found.p_value == 1 / 20
    assert found.segments["statistic"][0] == np.inf


def test_segments_of_all_but_certain_labels_do_not_raise_the_threshold_of_the_others():
    """Half of the rows are certain to one in ten thousand; a group among the others is found all the same."""
    rng = np.random.default_rng(0)
    sure = np.arange(4000) % 2 == 0
    table = pd.DataFrame({"sure": np.where(sure, "yes", "no"), "x": rng.integers(0, 8, 4000).astype(str)})
    p = np.where(sure, np.where(rng.random(4000) < 0.5, 1e-4, 1 - 1e-4), rng.uniform(0.3, 0.7, 4000))
    y = (rng.random(4000) < p + 0.2 * (~sure & (table["x"] == "3"))).astype(int)
    found = audit(y, p, table, resamples=199)
    assert found.threshold < 5
    assert found.p_value == 1 / 200
    assert not any("sure = yes" in name for name in found.segments["segment"])


def test_it_can_be_cancelled_and_reports_how_far_it_is():
    y, p, table = drawn()
    told: list[float] = []
    audit(y, p, table, resamples=19, watch=Watch(lambda share, _: told.append(share)))
    assert told == sorted(told)
    assert told[0] == 0
    assert told[-1] == 1
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        audit(y, p, table, watch=Watch(None, cancel))


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["probabilities", "weights", "counts"])
def test_false_alarms_in_many_tables(kind):
    """400 tables of ten columns; at 5 % all but 1 in 1,000 sets have from 7 to 35 alarms."""
    alarms = sum(one_calm(seed, kind, 99)[0] for seed in range(400))
    assert 7 <= alarms <= 35


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["group", "group, 400 clusters", "group, milder weights"])
def test_planted_groups_in_many_tables(kind):
    """60 tables; a rate of 95 % is below 52 in 1 of 100 sets."""
    assert binom.cdf(51, 60, 0.95) < 0.01
    assert sum(one_planted(seed, kind, 99)[1] for seed in range(60)) >= 52


def test_calm_tables_are_calibrated():
    y, p, _, _ = calm(0, "100 clusters", 200_000)
    assert abs((y - p).mean()) < 0.02
