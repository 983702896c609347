"""A perfectly calibrated predictor that depends on the order of its training labels, with exact counts.

Vovk and Petej (2014), the remark after theorem 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

from calib.kernel.checks import InputError
from calib.kernel.progress import Watch


@dataclass(frozen=True)
class Form:
    """Orderings that begin with label ``first`` and end with the test row's label ``last``.

    Attributes
    ----------
    orderings
        Number of orderings.
    selected
        P_Y, the prediction for the true label.
    """

    first: int
    last: int
    orderings: int
    selected: Fraction


@dataclass(frozen=True)
class Orderings:
    """All orderings of l + 1 labels with m ones, in four forms."""

    objects: int
    ones: int
    forms: tuple[Form, ...]

    def frequency(self, first: int) -> Fraction | None:
        """Return the share of class 1 in the last place among orderings that begin with ``first``; None without any."""
        counts = {form.last: form.orderings for form in self.forms if form.first == first}
        return Fraction(counts[1], sum(counts.values())) if sum(counts.values()) else None


def count_orderings(
    settings: Mapping[str, Any], random_state: int = 0, watch: Watch | None = None
) -> Orderings:
    """Count the four forms 0…0, 0…1, 1…0, 1…1, with their selected probabilities; nothing is random.

    Parameters
    ----------
    settings
        objects (l) and ones (m).

    Raises
    ------
    InputError
        If m is above l.

    Examples
    --------
    >>> orderings = count_orderings({"objects": 3, "ones": 2})
    >>> [(form.orderings, str(form.selected)) for form in orderings.forms]
    [(1, '2/3'), (2, '2/3'), (2, '1/3'), (1, '1/3')]
    >>> str(orderings.frequency(0)), str(orderings.frequency(1))
    ('2/3', '1/3')
    """
    length, m = settings["objects"], settings["ones"]
    if m > length:
        raise InputError(
            f"ones must be at most the number of training labels ({length}), but is {m}. Choose fewer ones or more "
            f"labels."
        )
    forms = []
    for first in (0, 1):
        for last in (0, 1):
            rest = m - first - last
            k = m - last  # ones among the training labels
            pair = (Fraction(k - first, length), Fraction(k - first + 1, length))
            forms.append(Form(first, last, comb(length - 1, rest) if rest >= 0 else 0, pair[last]))
    return Orderings(length, m, tuple(forms))
