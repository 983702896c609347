"""A chart as every page shows it: the figure, how to read it, and its downloads."""

from __future__ import annotations

import json
import pickle
import zlib
from collections.abc import Callable, Collection, Iterable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, wraps
from hashlib import blake2b
from typing import Any

import streamlit as st
from plotly.io.json import to_json_plotly

from calib.experiments.shared.findings import Finding
from calib.figures import FIGURES, MARKS, Theme
from calib.figures.base import FigureEntry, split_caption
from calib.figures.many import GREY, lines_of, recolour, without_grey_names
from calib.figures.projector import PROJECTED, for_projector
from calib.figures.theme import controls
from calib.figures.without_data import without_data
from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS
from pages.ui import (
    browser,
    current,
    downloads,
    headings,
    jobs,
    lesson_layout,
    placed_guess,
    server,
    session_cache,
    state,
    style,
)
from pages.ui.question import current_question
from pages.ui.ready_figure import ReadyFigure
from pages.ui.text import plain
from pages.ui.widget import show_widget

LOW = 600  # pixels of a chart that fits any projector's window; a higher one follows the window (frame.LARGE)
TOOLBAR = 30  # pixels at the right for the chart's toolbar, so that it lies beside the marks
MOVING = "Point at a mark or tap it to read its numbers."
WAITS = "The result appears once you answer or skip the question."
MOST_BYTES = 1_000_000  # bytes of the largest record whose figure is cached
IN_A_ROOM = 2  # factor of the type size of a guess in presenter view, as of all other type there
OWN = 50  # figures of uploaded data that a session caches: no other session can use them


def show(
    name: str,
    source,
    key: str | None = None,
    on_click: Callable[[Any], None] | None = None,
    on_pick: Callable[[list], None] | None = None,
    heading: str | None = None,
    hint: str = "",
    version: int = 0,
    height: int | None = None,
    sentence: Any = None,
    finding: str | None = None,
    first: bool = False,
    moving: Callable[[str], None] | None = None,
    **options,
) -> Any | None:
    """Draw FIGURES[name] from an Evaluation (or another source of its ``prepare``) with caption, alt text and
    downloads.

    Parameters
    ----------
    on_click
        Takes the ``customdata`` of a clicked mark.
    on_pick
        Takes a list of the ``customdata`` of all marks that were clicked or selected by a box.
    heading
        Small heading above the chart instead of the finding, for a chart among several.
    hint
        Says what can be done with the chart here; it is folded with how to read the chart.
    version
        A new version forgets the marks that were picked before.
    height
        In pixels.
    sentence
        Container of the finding, from ``headings.finding``, for the page's first picture, which fits the window. By
        default the finding is right above the chart.
    finding
        The page's own finding instead of the figure's title.
    first
        Whether it is the page's first picture under a question, which fits the window with its answers.
    moving
        Draws the picture by a script, given its alt text, in a lesson's step that asks for this.

    Returns
    -------
    Any or None
        The figure's record, or None if ``prepare`` refuses; the page then shows the reason.
    """
    entry, key = FIGURES[name], key or name
    with lesson_layout.on(key) as staged:
        if staged:
            options |= current_question().known()
        try:
            record = entry.prepare(source, **options)
        except InputError as error:
            st.info(plain(error))
            return None
        if current_question().open and isinstance(record, Finding):
            record = record.covered()
        # Presenter view has only the picture, with the step's words beside it
        alone = staged and state.presenter()
        if alone:
            pass
        elif heading is None:
            with nullcontext() if staged else sentence or nullcontext():
                finding_shown = (current_question().finding if staged else "") or finding or record.title
                headings.heading(entry.label if current_question().open else finding_shown)
        else:
            st.markdown(f"**{plain(heading)}**", help=plain(record.title))
        widget = f"chart_{key}_{version}" if version else f"chart_{key}"
        # On a phone panels form a strip, or two columns in a lesson, so that what is below stays near
        is_open = current_question().open
        strip = staged or first
        interaction = _interaction(key, widget, on_click, on_pick)
        if strip and is_open and entry.panels:  # seven buttons per panel would stand before the answers
            interaction["config"] |= {"displayModeBar": False}
        asked_lines = _asked_lines(key)
        lines = (
            lines_of(current_question().narrowed(_drawn(record, current.theme(), entry.draw, height, None)))
            if record.caption.endswith(GREY)
            else {}
        )
        if asked_lines & set(lines):
            entry = replace(entry, draw=_coloured(entry.draw, asked_lines & set(lines)))
        role = "beside" if staged else "first" if sentence is not None else "under" if first else ""
        block = "strip" if strip else "panels"
        moves = moving if staged and lesson_layout.has("moving") else None
        with st.container(key="moving") if moves else nullcontext():
            _pictures(entry, record, widget, height, interaction, block, role)
            if moves:
                moves(_in_words(entry, record))
        current_question().answers()
        with lesson_layout.on("under") if staged else nullcontext():  # on a phone, after "what to see"
            if lines and not (alone or current_question().open):
                _choose_lines(key, f"{block}_{widget}", lines, asked_lines)
            if heading is None:
                if current_question().open and not alone:
                    st.caption(plain(WAITS if staged else f"{WAITS} {hint}"))
                elif not alone:
                    caption(record.caption, key, MOVING if moves else hint)
            if not (alone or (staged and current_question().open)):
                downloads.chart(entry, record, source, options, key)
    return record


def caption(text: str, key: str, hint: str = "") -> None:
    """Write what the chart ``key`` shows in one sentence, and how to read it in a folded part."""
    drawn, how = split_caption(text.removesuffix(GREY))
    with st.container(gap=None):
        st.caption(plain(drawn))
        if how or hint:
            with st.expander("How to read", key=f"how_{key}", type="compact"):
                st.caption(plain(f"{how} {hint}".strip()))


def picture(name: str, source, draw: Callable, **options) -> None:
    """Draw FIGURES[name] alone, to be looked at: without finding, caption, toolbar and downloads.

    Parameters
    ----------
    draw
        Draws its record, as the entry's own ``draw`` does.
    """
    entry = replace(FIGURES[name], draw=draw)
    interaction = {"config": {"displayModeBar": False}}
    record = entry.prepare(source, **options)
    _pictures(entry, record, "chart_picture", None, interaction, "panels", "first")


def _interaction(
    key: str, widget: str, on_click: Callable[[Any], None] | None, on_pick: Callable[[list], None] | None
) -> dict[str, Any]:
    """Return the interaction with the pictures of a chart as arguments of ``st.plotly_chart``."""
    image = st.session_state.get(f"{key}_image", downloads.CAMERA[0])
    # The camera would save the picture without its title, unlike the files of the Download menu
    camera = ["toImage"] if downloads.draws() else []
    config = controls(*camera, *([] if on_pick else ["select2d"])) | {
        "toImageButtonOptions": {"format": image, "filename": key, "scale": 2},
    }
    if on_pick is not None:
        picked = partial(_picked, widget, on_pick)
        return {"config": config, "on_select": picked, "selection_mode": ("points", "box")}
    if on_click is not None:
        return {"config": config, "on_select": partial(_clicked, widget, on_click)}
    return {"config": config}


def _pictures(
    entry: FigureEntry,
    record: Any,
    widget: str,
    height: int | None,
    interaction: dict[str, Any],
    block: str,
    role: str,
) -> None:
    """Draw the picture of a record, one per panel, so that a phone can arrange the panels in its own way."""
    panels, columns = (entry.panels(record), record.columns) if entry.panels else ([record], 1)
    if role == "beside" and columns == len(panels) == 4:
        # Four panels per row are too narrow beside a lesson's text; two rows of two are lower
        panels, columns = [replace(panel, rows=2) for panel in panels], 2
    # One block of columns per row, so that a phone stacks the panels in reading order
    starts = range(0, len(panels), columns)
    with st.container(key=f"{block}_{widget}"):
        places = [place for _ in starts for place in st.columns(columns)]
    grid = (len(starts), role == "beside") if state.presenter() else None
    shared = role == "beside" and len(starts) > 1 and grid is None  # rows that share the window beside a text
    ghost = current_question().ghost if block == "strip" else None
    _let_data_come_in(widget)
    for i, panel in enumerate(panels):
        content = _drawn(panel, current.theme(), entry.draw, height, grid)
        if current_question().empty:
            content = without_data(content, isinstance(panel, Finding), current_question().kept)
        elif ghost is not None:
            scale = 1 if grid is None else IN_A_ROOM
            content = placed_guess.with_ghost(content, ghost, current.theme(), i, len(panels), scale)
        if role == "beside":
            content = without_grey_names(content)
        if block == "strip":
            content = current_question().narrowed(content)
        figure = ReadyFigure(content)
        panel_key = f"{widget}_panel_{i}" if entry.panels else widget
        follows = f"beside_in_{len(starts)}" if shared else _follows(figure, role, grid)
        with places[i], st.container(key=f"{follows}_{panel_key}") if follows else nullcontext():
            high = "stretch" if follows else "content"
            st.plotly_chart(
                figure, theme=None, key=panel_key, height=high, alt=_in_words(entry, panel), **interaction
            )
        server.forget_older(panel_key)


def _let_data_come_in(widget: str) -> None:
    """Animate the data if the picture was empty the last time."""
    emptied = st.session_state.setdefault("emptied", set())
    if current_question().empty:
        emptied.add(widget)
    elif widget in emptied:
        emptied.remove(widget)
        style.add("arriving")


def _follows(figure: ReadyFigure, role: str, grid: tuple[int, bool] | None) -> str:
    """Return the prefix of the container's key by which the stylesheet fits a chart's height to the window, or ""."""
    fits = LOW < figure.height <= PROJECTED
    if grid is not None:
        rows, fills = grid
        return f"projected_in_{rows}" if fills and figure.height <= PROJECTED else "projected_page" * fits
    bare = figure.square_above and not figure.has_legend
    return "_".join([role] * bool(fits and role) + ["square"] * figure.square_above + ["bare"] * bare)


def _in_words(entry: FigureEntry, panel: Any) -> str:
    """Return a picture's alt text; while its question is open, without the part that gives away the answer."""
    if not current_question().open:
        return current_question().renamed(panel.alt)
    finding = (panel.drawn or panel.alt) if isinstance(panel, Finding) else ""
    return f"{entry.label}. {finding}".strip()


def _asked_lines(key: str) -> set[str]:
    """Return the lines wanted in colour: from the Recipe on Explore pages, else from this chart or the step."""
    if current.explores():
        return set(state.recipe().setting("reliability.lines"))
    return set(st.session_state.get(f"lines_{key}", current_question().picture.get("lines", ())))


def _choose_lines(key: str, place: str, lines: dict[str, tuple[str, bool]], coloured: set[str]) -> None:
    """Let the reader choose the coloured lines, in the legend or below the chart."""
    here = coloured & set(lines) or {line for line, (_, on) in lines.items() if on}

    def choose(chosen: Iterable[str]) -> None:
        """Choose these lines; an empty choice restores the default."""
        ordered = tuple(line for line in lines if line in set(chosen))
        if current.explores():
            state.update(**{"reliability.lines": ordered})
        else:
            st.session_state[f"lines_{key}"] = ordered

    help = SETTINGS["reliability.lines"].help
    names, options = (
        {line: name for line, (name, _) in lines.items()},
        {"selection_mode": "multi", "help": help},
    )
    chosen = [line for line in lines if line in here]
    label = SETTINGS["reliability.lines"].label
    show_widget(
        st.pills,
        f"colour_{key}",
        chosen,
        choose,
        label,
        list(lines),
        format_func=names.__getitem__,
        **options,
    )
    browser.hear_legend(key, place, lambda line: choose(here ^ {line}))


def _coloured(draw: Callable, lines: Collection[str]) -> Callable:
    """Return ``draw`` with these lines in colour, under its own name in the cache of figures."""

    @wraps(draw)
    def drawn(record: Any, theme: Theme) -> Any:
        return recolour(draw(record, theme), lines, theme)

    drawn.__qualname__ += f" with {sorted(lines)}"
    return drawn


def _drawn(
    record: Any, theme: Theme, draw: Callable, height: int | None, grid: tuple[int, bool] | None
) -> dict[str, Any]:
    """Return the figure of a record from the cache, shared by all sessions.

    ``grid`` is the number of rows of pictures in presenter view, with whether they fill the page; else None. Figures
    of very many rows, and of records that cannot be pickled, are not cached.
    """
    try:
        content = pickle.dumps(record)
    except (pickle.PicklingError, AttributeError, TypeError):
        content = None
    if content is None or len(content) > MOST_BYTES:
        return _figure(record, theme, draw, height, grid)
    inks = (theme.name, *MARKS)  # a plug-in calibrator may change the colours of others
    key = (blake2b(content).hexdigest(), inks, draw.__module__, draw.__qualname__, height, grid)
    keep = partial(jobs.cached, "figures", OWN) if state.has_upload() else _figures()
    return json.loads(zlib.decompress(keep(key, lambda: _packed(_figure(record, theme, draw, height, grid)))))


def _packed(figure: dict[str, Any]) -> bytes:
    """Return the figure as compressed JSON: its many small lists and numbers take seven times as much memory."""
    return zlib.compress(to_json_plotly(figure).encode(), level=1)


@st.cache_resource(show_spinner=False)
def _figures() -> Callable[[tuple, Callable[[], bytes]], bytes]:
    """Return the cache of figures that all sessions share."""
    return session_cache.for_all(lambda key, make: make(), key=lambda key, make: key)


def _figure(
    record: Any, theme: Theme, draw: Callable, height: int | None, grid: tuple[int, bool] | None
) -> dict[str, Any]:
    figure = draw(record, theme)
    if height is not None:
        figure.update_layout(height=height)
    if not grid and figure.layout.yaxis.constraintoward is None:  # a square diagram leaves room anyway
        figure.update_layout(margin_r=max(TOOLBAR, figure.layout.margin.r or 0))
    return (for_projector(figure, rows=grid[0], fills=grid[1]) if grid else figure).to_dict()


def _clicked(key: str, then: Callable[[Any], None]) -> None:
    """Pass the clicked mark's ``customdata`` on; a click beside the marks changes nothing."""
    if known := _known(key):
        first = known[0]
        # Arrays arrive as dictionaries from position to value
        then([first[i] for i in sorted(first, key=int)] if isinstance(first, dict) else first)


def _picked(key: str, then: Callable[[list], None]) -> None:
    """Pass the ``customdata`` of all picked marks on, if any has some."""
    if known := _known(key):
        then(known)


def _known(key: str) -> list[Any]:
    """Return the ``customdata`` of the chosen marks that have some."""
    return [point["customdata"] for point in st.session_state[key].selection.points if "customdata" in point]
