"""The finite example, held against the values P2 prints and against expected losses in exact fractions."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.kernel.checks import InputError
from calib.synthetic import FiniteExample

ONE_LEAF, ONE_SPLIT, PURE_LEAVES = (), (6.5,), (3.5, 8.5, 9.5)
EXAMPLE = FiniteExample()


@pytest.mark.parametrize(
    ("cuts", "calibration", "grouping", "loss"), [(ONE_LEAF, 0.0, 0.15, 0.5), (PURE_LEAVES, 0.29, 0.12, 0.75)]
)
def test_the_values_of_figure_2(cuts, calibration, grouping, loss):
    part = EXAMPLE.partition(cuts)
    assert (round(part.calibration, 2), round(part.grouping, 2), round(part.loss, 2)) == (
        calibration,
        grouping,
        loss,
    )


def test_one_split_is_much_better_than_either_end():
    losses = [EXAMPLE.partition(cuts).loss for cuts in (ONE_LEAF, ONE_SPLIT, PURE_LEAVES)]
    assert losses[1] < losses[0] - 0.1 < losses[2]


def test_pure_leaves_are_pure_and_end_up_in_two_groups():
    part = EXAMPLE.partition(PURE_LEAVES)
    assert len(set(part.leaf)) == 4
    assert set(part.p) == {0.0, 1.0}
    assert len(set(part.group)) == 2
    for x, y in zip(EXAMPLE.train_x, EXAMPLE.train_y, strict=True):
        assert part.p[EXAMPLE.x.index(x)] == y


def by_hand(cuts, example=EXAMPLE):
    """(CL, GL, IL, expected loss) in fractions, by the definitions; both classes summed."""
    leaf_of = {x: sum(x >= cut for cut in cuts) for x in example.x}
    pi = {x: Fraction(round(100 * p), 100) for x, p in zip(example.x, example.posterior_at, strict=True)}
    labels = {}
    for x, y in zip(example.train_x, example.train_y, strict=True):
        labels.setdefault(leaf_of[x], []).append(y)
    everyone = Fraction(sum(example.train_y), len(example.train_y))
    share = {leaf: Fraction(sum(ys), len(ys)) for leaf, ys in labels.items()}
    p = {x: share.get(leaf_of[x], everyone) for x in example.x}
    alike = {x: [other for other in example.x if p[other] == p[x]] for x in example.x}
    c = {x: sum(pi[other] for other in alike[x]) / len(alike[x]) for x in example.x}
    n = len(example.x)
    CL = 2 * sum((p[x] - c[x]) ** 2 for x in example.x) / n
    GL = 2 * sum((c[x] - pi[x]) ** 2 for x in example.x) / n
    IL = 2 * sum(pi[x] * (1 - pi[x]) for x in example.x) / n
    loss = 2 * sum(pi[x] * (1 - p[x]) ** 2 + (1 - pi[x]) * p[x] ** 2 for x in example.x) / n
    return CL, GL, IL, loss


def test_every_partition_with_up_to_three_cuts_agrees_with_its_definition():
    places = [x + 0.5 for x in range(12)]  # 0.5: a leaf without any point
    for count in range(4):
        for cuts in combinations(places, count):
            part, (CL, GL, IL, loss) = EXAMPLE.partition(cuts), by_hand(cuts)
            assert loss == CL + GL + IL
            ours = (part.calibration, part.grouping, part.irreducible, part.loss)
            assert ours == pytest.approx([float(value) for value in (CL, GL, IL, loss)], abs=1e-12)


def agree(example):
    """Every row of ``partitions`` with the definitions, at the cuts it says it has."""
    every = example.partitions()
    x = sorted(example.x)
    assert every.cuts.shape == (2 ** (len(x) - 1), len(x) - 1)
    assert len(np.unique(every.cuts, axis=0)) == len(every.cuts)
    for row, cut in enumerate(every.cuts):
        places = [Fraction(x[i] + x[i + 1]) / 2 for i in np.flatnonzero(cut)]
        CL, GL, IL, loss = by_hand(places, example)
        assert loss == CL + GL + IL
        ours = (every.calibration[row], every.grouping[row], every.irreducible[row], every.loss[row])
        assert ours == pytest.approx([float(value) for value in (CL, GL, IL, loss)], abs=1e-9)


def test_all_partitions_of_the_example_agree_with_their_definition():
    agree(EXAMPLE)


@given(st.data())
def test_all_partitions_of_any_line_agree_with_their_definition(data):
    x = data.draw(st.lists(st.integers(-20, 20), min_size=2, max_size=6, unique=True))
    posterior = [data.draw(st.integers(0, 100)) / 100 for _ in x]
    # Several at one point, in any order
    train = data.draw(st.lists(st.sampled_from(x), min_size=1, max_size=8))
    labels = [data.draw(st.integers(0, 1)) for _ in train]
    agree(FiniteExample(tuple(x), tuple(posterior), tuple(train), tuple(labels)))


def test_one_partition_and_all_of_them_say_the_same_of_every_point():
    every = EXAMPLE.partitions()
    for row in range(0, 2048, 37):
        part = EXAMPLE.partition(np.flatnonzero(every.cuts[row]) + 1.5)
        assert part.p.tolist() == every.p[row].tolist()
        assert part.calibrated == pytest.approx(every.calibrated[row], abs=1e-12)
        assert part.loss == pytest.approx(every.loss[row], abs=1e-12)


def test_a_leaf_without_training_objects_predicts_the_share_among_all():
    part = EXAMPLE.partition([4.5, 7.5])
    assert part.p[4:7].tolist() == [0.5, 0.5, 0.5]


def test_cuts_are_sorted_and_counted_once():
    assert EXAMPLE.partition([9.5, 3.5, 9.5]).cuts == (3.5, 9.5)


def test_samples_follow_the_posteriors():
    data = EXAMPLE.sample(120_000, 0)
    at = data.X["x1"].to_numpy()
    for x, pi in zip(EXAMPLE.x, EXAMPLE.posterior_at, strict=True):
        rows = at == x
        assert rows.mean() == pytest.approx(1 / 12, abs=0.004)
        assert (data.posterior[rows] == pi).all()
        assert data.y[rows].mean() == pytest.approx(pi, abs=4 * np.sqrt(pi * (1 - pi) / rows.sum()))


def test_cuts_that_are_no_numbers_are_refused():
    with pytest.raises(InputError, match="cuts must be finite"):
        EXAMPLE.partition([np.nan])
