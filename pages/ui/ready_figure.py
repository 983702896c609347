"""A figure that is sent as it is: neither copied nor looked into."""

from __future__ import annotations

from typing import Any

from plotly.basedatatypes import BaseFigure


class ReadyFigure(BaseFigure):
    """A figure as its dictionary, which Plotly would check and copy whenever it is shown. Nobody may change it.

    To check it Plotly also asks what numpy and pandas are, where something has begun to load them: on a fresh server
    another session may not be done with that.
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
        """Whether it is a square diagram above a histogram."""
        axes = self._content["layout"]
        return "scaleanchor" in axes.get("yaxis", {}) and "yaxis2" in axes

    @property
    def has_legend(self) -> bool:
        """Whether a legend takes room below the axes."""
        return self._content["layout"].get("showlegend", True)
