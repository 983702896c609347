"""Weights for local regression: the tricube kernel, and the distance to the nearest rows (Cleveland 1979)."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def tricube(distance: Array, least: float = 0.0) -> Array:
    """Return the tricube weight (1 − |u|³)³ of distances u in units of the window, with 1 − |u|³ at least ``least``.

    >>> tricube(np.array([0.0, 0.5, 1.0, 2.0])).round(3)
    array([1.  , 0.67, 0.  , 0.  ])
    """
    return np.clip(1 - np.abs(distance) ** 3, least, 1) ** 3


def reach_of_nearest(distance: Array, count: Array, rows: float) -> Array:
    """Return how far (g,) the nearest ``rows`` reach from each point; distance (g, cells), rows per cell (cells,).

    >>> reach_of_nearest(np.array([[0.0, 1.0, 3.0]]), np.array([2.0, 2.0, 2.0]), 3)
    array([1.])
    """
    order = np.argsort(distance, axis=1, kind="stable")
    enough = np.cumsum(count[order], axis=1) >= rows
    nearest = np.take_along_axis(order, np.argmax(enough, axis=1)[:, None], axis=1)
    return np.take_along_axis(distance, nearest, axis=1)[:, 0]
