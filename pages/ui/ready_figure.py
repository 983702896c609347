"""Send a figure to the browser as it is, without copying or validating it."""

from __future__ import annotations

from typing import Any

from plotly.basedatatypes import BaseFigure


class ReadyFigure(BaseFigure):
    """Immutable figure given by its dictionary, which Plotly would otherwise check and copy on every display.

    Plotly's check also inspects numpy and pandas if they have begun to load; on a fresh server another session may
    still be loading them.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content

    def to_dict(self) -> dict[str, Any]:
        return self._content

    @property
    def height(self) -> float:
        return self._content["layout"].get("height", 0)

    @property
    def square_above(self) -> bool:
        """Whether the figure is a square diagram above a histogram."""
        axes = self._content["layout"]
        return "scaleanchor" in axes.get("yaxis", {}) and "yaxis2" in axes

    @property
    def has_legend(self) -> bool:
        """Whether a legend takes space below the axes."""
        return self._content["layout"].get("showlegend", True)
