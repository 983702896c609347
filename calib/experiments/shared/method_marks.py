"""Marks of the six methods that the validity experiments compare."""

from __future__ import annotations

from dataclasses import replace

from calib.figures.theme import Mark, Theme

CALIBRATOR_OF_METHOD = {"dir": "isotonic", "simplified": "venn_abers", "full": "venn_abers"}
OPEN = {"dir": ("diamond-open", "dot"), "simplified": ("star-open", "dash")}


def method_mark(method: str, theme: Theme) -> Mark:
    """Return the mark of one of SIX_METHODS: the calibrator's own, open if it reuses the training scores."""
    mark = theme.mark(CALIBRATOR_OF_METHOD.get(method, method))
    if method not in OPEN:
        return mark
    symbol, dash = OPEN[method]
    return replace(mark, symbol=symbol, dash=dash)
