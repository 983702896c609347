"""The remark after theorem 2, by writing down every ordering."""

from fractions import Fraction
from itertools import permutations

import pytest

from calib.experiments import EXPERIMENTS
from calib.kernel.checks import InputError

simulate = EXPERIMENTS["order"].simulate


def predicted(training, last):
    """The remark's predictor, and what its selector takes when the label ``last`` comes."""
    length, k = len(training), sum(training)
    pair = (k - 1, k) if training[0] else (k, k + 1)
    return Fraction(pair[last], length)


@pytest.mark.parametrize(("objects", "ones"), [(2, 1), (2, 2), (4, 2), (5, 3), (6, 6), (6, 1)])
def test_counts_and_probabilities_are_those_of_all_orderings(objects, ones):
    labels = [1] * ones + [0] * (objects + 1 - ones)
    orderings = set(permutations(labels))
    found = simulate(objects=objects, ones=ones)
    for form in found.forms:
        of_form = [o for o in orderings if (o[0], o[-1]) == (form.first, form.last)]
        assert form.orderings == len(of_form)
        assert {predicted(o[:-1], o[-1]) for o in of_form} <= {form.selected}
    for p in {predicted(o[:-1], o[-1]) for o in orderings}:
        same = [o[-1] for o in orderings if predicted(o[:-1], o[-1]) == p]
        assert Fraction(sum(same), len(same)) == p  # perfectly calibrated, given the bag
    for first in (0, 1):
        last = [o[-1] for o in orderings if o[0] == first]
        assert found.frequency(first) == (Fraction(sum(last), len(last)) if last else None)


def test_more_ones_than_training_labels_are_refused_by_name():
    with pytest.raises(InputError, match=r"training labels .*\b4\b.*\b5\b"):
        simulate(objects=4, ones=5)
