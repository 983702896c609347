"""Draw the small pictures of the list of lessons, light and dark: ``python -m scripts.draw_thumbnails [LESSON …]``.

Each shows, without words, the picture of the lesson's last step on an Explore page, which the first question does not
ask about: pages/ui/thumbnails/LESSON-THEME.webp. Redraw them if a lesson ends with another picture.
"""

from __future__ import annotations

import io
import sys

import plotly.graph_objects as go
from PIL import Image

from calib.export.cards import picture
from calib.export.chromium import draw_files
from calib.figures import DARK, LIGHT
from calib.lessons import LESSONS, Lesson, Step
from pages.ui.learn.lessons import THUMBNAILS

WIDTH, HEIGHT = 256, 160  # pixels of a figure without its words; shown at half this size
AXIS = {"title": None, "showticklabels": False, "ticks": ""}
BARE = {"margin": dict.fromkeys("lrtb", 6), "showlegend": False, "title": None}


def stands_for(lesson: Lesson) -> Step:
    """Return the step whose picture represents the lesson."""
    return [step for step in lesson.steps if step.page.startswith("explore_")][-1]


def bare(figure: go.Figure) -> go.Figure:
    """Return the figure without words."""
    small = (
        go.Figure(figure).update_layout(**BARE, width=WIDTH, height=HEIGHT).update_coloraxes(showscale=False)
    )
    small.layout.annotations = ()
    small.update_xaxes(**AXIS, scaleanchor=None).update_yaxes(**AXIS, scaleanchor=None)
    for trace in small.data:
        if "text" in (getattr(trace, "mode", None) or ""):
            trace.mode = trace.mode.replace("+text", "").replace("text", "none")
    return small


def main(keys: list[str]) -> None:
    THUMBNAILS.mkdir(exist_ok=True)
    charts = {key: picture(stands_for(LESSONS[key])) for key in keys or LESSONS}
    wanted = [(key, theme) for key in charts for theme in (LIGHT, DARK)]
    drawn = draw_files([bare(charts[key].draw(theme)) for key, theme in wanted], ("png",))
    for (key, theme), files in zip(wanted, drawn, strict=True):
        image = Image.open(io.BytesIO(files["png"])).convert("RGB").resize((WIDTH, HEIGHT))
        image.save(THUMBNAILS / f"{key}-{theme.name}.webp", quality=60, method=6)


if __name__ == "__main__":
    main(sys.argv[1:])
