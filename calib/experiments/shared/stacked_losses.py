"""CL, GL and IL as stacked bars with different colours and patterns."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from calib.figures.theme import Theme, rgba
from calib.kernel.wording import number

STACKED_LOSSES = {
    "irreducible": "IL, irreducible",
    "grouping": "GL, grouping",
    "calibration": "CL, calibration",
}


def stacked_bars(names: list[str], terms: dict[str, np.ndarray], theme: Theme) -> list[go.Bar]:
    """Draw IL, GL and CL of every name, (k,) each, from below, with patterns. Infinite values have no height."""
    inks = {
        "irreducible": (theme.muted, ""),
        "grouping": (theme.grouping, "/"),
        "calibration": (theme.calibration, "."),
    }
    return [
        go.Bar(
            x=names,
            y=np.where(np.isfinite(terms[term]), terms[term], 0),
            name=STACKED_LOSSES[term],
            marker={
                "color": rgba(color, 0.45) if term == "irreducible" else color,
                "pattern": {
                    "shape": pattern,
                    "fillmode": "overlay",
                    "fgcolor": rgba(theme.paper, 0.45),
                    "size": 7,
                },
            },
            customdata=[number(value) for value in terms[term]],
            hovertemplate=f"{STACKED_LOSSES[term]}: %{{customdata}}<extra></extra>",
        )
        for term, (color, pattern) in inks.items()
    ]
