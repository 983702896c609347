"""Names written beside lines, where a line is alone and a name covers no other name, line or mark.

Positions are fractions of the plot's width and height, with space for the largest type in which the figure is
shown: with smaller type, or in a larger plot, the same names have more space. A name without space appears in the
legend only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calib.kernel.checks import Array

# Fractions of the plot's sides: a letter in the largest type (24 pixels on a projector, 12 on a phone), and a line
LETTER_SHARE, LINE_SHARE = 0.026, 0.07
ALONG = 60  # candidate points along a line
STARTS = 3  # a stroke can begin at every third point
REACH = (0.04, 0.08, 0.14)  # distances from a line to its name
TURNS = np.deg2rad([-150, -120, -60, -30, 30, 60, 120, 150, 0, 180])
FARTHEST_LINE = 0.12  # lines farther away than this do not matter


@dataclass(frozen=True)
class Label:
    """A name beside its line, in fractions of the plot's sides.

    Attributes
    ----------
    start, end
        Ends of the stroke from the line to the name, (x, y).
    left
        Whether the name ends at the stroke; else it begins there.
    box
        (x0, y0, x1, y1) of the name.
    """

    start: tuple[float, float]
    end: tuple[float, float]
    left: bool
    box: tuple[float, float, float, float]


def place_labels(
    lines: Mapping[str, Array], names: Mapping[str, str], marks: Sequence[Array] = ()
) -> dict[str, Label]:
    """Return the labels of the lines that have space for one; the first lines have priority.

    Parameters
    ----------
    lines
        (k, 2) points of each line, in [0, 1]; points with NaN are left out.
    names
        The name of each line.
    marks
        Further points (m, 2) that no name may cover.
    """
    paths = {key: _evenly_spaced(points) for key, points in lines.items()}
    taken = np.vstack([*paths.values(), *marks, np.empty((0, 2))])
    placed: dict[str, Label] = {}
    for key, path in paths.items():
        others = np.vstack([np.empty((0, 2)), *(paths[other] for other in paths if other != key)])
        found = _best(
            path, others, taken, len(names[key]) * LETTER_SHARE, [label.box for label in placed.values()]
        )
        if found is not None:
            placed[key] = found
    return placed


def _evenly_spaced(points: Array) -> Array:
    """Return (ALONG, 2) points at equal distances along a line, or none."""
    known = np.asarray(points, dtype=np.float64)
    known = known[np.isfinite(known).all(axis=1)]
    if len(known) < 2:
        return known
    way = np.r_[0.0, np.cumsum(np.hypot(*np.diff(known, axis=0).T))]
    at = np.linspace(0, way[-1], ALONG)
    return np.column_stack([np.interp(at, way, side) for side in known.T])


def _best(
    path: Array, others: Array, taken: Array, width: float, boxes: Sequence[tuple[float, ...]]
) -> Label | None:
    """Find the place around a line with a short stroke, far from other lines, that covers nothing."""
    starts = path[::STARTS]
    steps = np.array([(r * np.cos(t), r * np.sin(t)) for t in TURNS for r in REACH])
    start = np.repeat(starts, len(steps), axis=0)
    end = start + np.tile(steps, (len(starts), 1))
    left = end[:, 0] < start[:, 0]
    low = np.where(left, end[:, 0] - width, end[:, 0])
    box = np.column_stack([low, end[:, 1] - LINE_SHARE / 2, low + width, end[:, 1] + LINE_SHARE / 2])
    free = (box.min(axis=1) >= 0) & (box.max(axis=1) <= 1)
    for x0, y0, x1, y1 in boxes:
        free &= (box[:, 2] < x0) | (box[:, 0] > x1) | (box[:, 3] < y0) | (box[:, 1] > y1)
    x, y = taken.T[:, None, :]
    free &= ~((x > box[:, :1]) & (x < box[:, 2:3]) & (y > box[:, 1:2]) & (y < box[:, 3:])).any(axis=1)
    if not free.any():
        return None
    alone = np.minimum(np.repeat(_distance(starts, others), len(steps)), FARTHEST_LINE)
    start, end, left, box, alone = (each[free] for each in (start, end, left, box, alone))
    crossed = sum(_distance(start + part * (end - start), others) < 0.02 for part in (0.5, 1))
    cost = np.hypot(*(end - start).T) - 3 * alone + 0.2 * crossed
    i = int(np.argmin(cost))
    return Label(tuple(start[i]), tuple(end[i]), bool(left[i]), tuple(box[i]))


def _distance(points: Array, others: Array) -> Array:
    """Return (k,) distances of each point to the nearest of the others, or 1 without others."""
    if not len(others):
        return np.ones(len(points))
    x, y = points.T[:, :, None] - others.T[:, None, :]
    return np.sqrt((x * x + y * y).min(axis=1))
