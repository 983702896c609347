"""Sweeps over all values: some for every change, the rest by ``make soak``."""

from collections.abc import Iterable
from typing import Any

import pytest


def sweep(values: Iterable[Any], *short: Any) -> list[Any]:
    """Parameters of a test, of which those that are not ``short`` wait for ``make soak``."""
    return [value if value in short else pytest.param(value, marks=pytest.mark.soak) for value in values]
