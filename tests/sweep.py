"""Sweeps over all values: some for every change, the rest by ``make soak``."""

from collections.abc import Iterable
from typing import Any

import pytest


def sweep(values: Iterable[Any], *short: Any) -> list[Any]:
    """Return the values as parameters of a test; all except ``short`` run only in ``make soak``."""
    return [value if value in short else pytest.param(value, marks=pytest.mark.soak) for value in values]
