"""Marks of the six methods that the validity experiments compare."""

from __future__ import annotations

from calib.figures.theme import MARKS, Mark

METHOD_MARKS = {
    "none": MARKS["none"],
    "dir": Mark(MARKS["isotonic"].color, "diamond-open", "dot"),
    "isotonic": MARKS["isotonic"],
    "platt": MARKS["platt"],
    "simplified": Mark(MARKS["venn_abers"].color, "star-open", "dash"),
    "full": MARKS["venn_abers"],
}
"""Marks of METHODS: the calibrator's own mark, open if it reuses the training scores."""
