"""Clip probabilities that lie outside [0, 1] by rounding."""

from __future__ import annotations

import numpy as np

from calib.kernel.wording import counted

# A value nearer to [0, 1] than this is a rounding error, also of single precision
ROUNDING_OF_PROBABILITY = 1e-6


def clip_rounding(values: np.ndarray) -> np.ndarray:
    """Return values of any shape, with those clipped to [0, 1] that lie outside by rounding, such as 1.0000001.

    >>> clip_rounding(np.array([-1e-17, 1.0000001, 1.7]))
    array([0. , 1. , 1.7])
    """
    with np.errstate(invalid="ignore"):
        off = ((values < 0) & (values >= -ROUNDING_OF_PROBABILITY)) | (
            (values > 1) & (values <= 1 + ROUNDING_OF_PROBABILITY)
        )
    return np.where(off, np.clip(values, 0, 1), values) if off.any() else values


def clipped_note(before: np.ndarray, after: np.ndarray, name: str) -> str:
    """Return a note on the number of clipped values, or ""."""
    off = int((before != after).sum() - np.isnan(before).sum())
    verb = "is" if off == 1 else "are"
    return (
        f"{name}: {counted(off, 'value')} slightly outside [0, 1] because of rounding {verb} clipped."
        if off
        else ""
    )
