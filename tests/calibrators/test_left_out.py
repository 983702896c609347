import numpy as np
import pytest

from calib.calibrators import VennAbers
from calib.kernel.checks import InputError


def labels(kind, scores, rng):
    share = scores / scores.max()
    return {
        "mixed": rng.random(len(scores)) < share,
        "zeros": np.zeros(len(scores), dtype=bool),
        "ones": np.ones(len(scores), dtype=bool),
        "separable": share > 0.4,
        "reversed": share < 0.4,
        "noise": rng.random(len(scores)) < 0.5,
    }[kind].astype(int)


@pytest.mark.parametrize("kind", ["mixed", "zeros", "ones", "separable", "reversed", "noise"])
@pytest.mark.parametrize(("n", "distinct"), [(2, 2), (7, 3), (40, 1000), (300, 40), (700, 100_000)])
def test_pair_is_the_one_without_the_object(kind, n, distinct):
    """The sizes go beyond the runs of 64 that are pooled in advance, with and without ties."""
    rng = np.random.default_rng(n)
    scores = rng.integers(1, distinct + 1, n).astype(float)
    y = labels(kind, scores, rng)
    m = 40
    removed = rng.integers(0, n, m)
    new = np.where(rng.random(m) < 0.5, scores[rng.integers(0, n, m)], rng.uniform(-1, distinct + 2, m))
    new[:10] = scores[removed[:10]]
    pairs = VennAbers().fit(scores, y).leave_one_out_interval(new, removed)
    for j in range(m):
        rest = np.arange(n) != removed[j]
        assert (
            pairs[j].tolist()
            == VennAbers().fit(scores[rest], y[rest]).predict_interval(new[j : j + 1])[0].tolist()
        )


def test_without_its_only_object_nothing_is_known():
    assert VennAbers().fit([0.3], [1]).leave_one_out_interval([0.2, 0.3], [0, 0]).tolist() == [[0, 1], [0, 1]]


def test_explanation_leaves_the_same_object_out():
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 30, 60).astype(float)
    venn_abers = VennAbers().fit(scores, labels("mixed", scores, rng))
    new, removed = rng.uniform(0, 30, 20).round(), rng.integers(0, 60, 20)
    pairs = venn_abers.leave_one_out_interval(new, removed)
    explained = [venn_abers.explain(s, r) for s, r in zip(new.tolist(), removed.tolist(), strict=True)]
    assert pairs.tolist() == [[e.zero.value, e.one.value] for e in explained]
    for e in explained:
        assert e.one.counts.sum() == e.zero.counts.sum() == 60
        assert e.one.ones.sum() == e.zero.ones.sum() + 1
    with pytest.raises(InputError, match="removed must .*from 0 to 59, .*60"):
        venn_abers.explain(1.0, 60)


def test_no_query_no_pair():
    assert VennAbers().fit([0.3], [1]).leave_one_out_interval([], []).shape == (0, 2)
