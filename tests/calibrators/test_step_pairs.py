"""A file's pairs of step functions: values on, between and beyond the breaks; pairs that cross are refused."""

from itertools import product

import numpy as np
import pytest

from calib.calibrators.step_pairs import StepPairs
from calib.kernel.checks import InputError
from calib.kernel.fields import Fields

STEPS = [
    {"breaks": breaks, "values": list(values)}
    for breaks in ([], [-1.0], [2.0], [-1.0, 2.0])
    for values in product([0.0, 1.0], repeat=len(breaks) + 1)
]


def test_pairs_are_read_unless_p0_exceeds_p1_at_any_score():
    """On a break, p0 has passed it and p1 has not."""
    scores = np.array([-2.0, -1.0, 1.0, 2.0, 3.0])
    crossing = 0
    for p0, p1 in product(STEPS, STEPS):
        pairs = [
            [p0["values"][sum(b <= s for b in p0["breaks"])], p1["values"][sum(b < s for b in p1["breaks"])]]
            for s in scores
        ]
        file = Fields({"p0": p0, "p1": p1}, "The file")
        if any(low > high for low, high in pairs):
            crossing += 1
            with pytest.raises(InputError, match="p0 must not exceed p1"):
                StepPairs.from_map(file)
        else:
            assert StepPairs.from_map(file).predict_interval(scores).tolist() == pairs
    assert 0 < crossing < len(STEPS) ** 2
