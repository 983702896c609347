"""TCE is the mean squared distance, and splits exactly: into bias² and scatter, and into CL and GL."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.experiments.shared.gaussian_plane import TRUTH_BINS, PredictionErrors, expected_loss

HUNDREDTHS = st.integers(0, 100)
OBJECTS = st.lists(st.tuples(HUNDREDTHS, HUNDREDTHS), min_size=1, max_size=30)


def errors_of(objects):
    posterior, p = (np.array(values) / 100 for values in zip(*objects, strict=True))
    return PredictionErrors("model", posterior, p)


@given(OBJECTS)
def test_tce_and_its_parts_are_those_of_the_definition(objects):
    exact = [(Fraction(a, 100), Fraction(b, 100)) for a, b in objects]
    bins: dict[int, list[Fraction]] = {}
    for truth, p in exact:
        bins.setdefault(min(TRUTH_BINS - 1, int(truth * TRUTH_BINS)), []).append(p - truth)
    bias = sum(sum(off) ** 2 / len(off) for off in bins.values()) / len(exact)
    found = errors_of(objects)
    assert found.tce == pytest.approx(
        float(sum((p - truth) ** 2 for truth, p in exact) / len(exact)), abs=1e-12
    )
    assert found.bias == pytest.approx(float(bias), abs=1e-12)
    assert found.bias + found.scatter == pytest.approx(found.tce, abs=1e-12)


@given(OBJECTS)
def test_the_losses_add_up_to_the_expected_loss_and_to_tce(objects):
    found = errors_of(objects)
    parts = found.losses
    whole = parts.calibration + parts.grouping + parts.irreducible
    assert whole == pytest.approx(expected_loss(found.posterior, found.p, "brier"), abs=1e-9)
    assert parts.calibration + parts.grouping == pytest.approx(found.tce, abs=1e-9)


def test_the_levels_are_means_by_true_probability():
    levels = errors_of([(3, 10), (4, 20), (97, 90)]).levels
    assert levels.share == pytest.approx([2 / 3, 1 / 3])
    assert levels.posterior == pytest.approx([0.035, 0.97])
    assert levels.p == pytest.approx([0.15, 0.9])
    assert levels.spread == pytest.approx([0.045**2, 0])


def test_many_different_predictions_leave_a_remainder():
    rng = np.random.default_rng(0)
    found = PredictionErrors("model", rng.random(2000), rng.random(2000))
    parts = found.losses
    assert parts.groups == 20
    assert parts.calibration + parts.grouping + parts.remainder == pytest.approx(found.tce, abs=1e-9)
