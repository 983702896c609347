"""A chart as every page shows it: the figure, how to read it, and its downloads."""

from __future__ import annotations

import json
import pickle
import zlib
from collections.abc import Callable, Collection, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial, wraps
from hashlib import blake2b
from typing import Any, NamedTuple

import streamlit as st
from plotly.io.json import to_json_plotly

from calib.experiments.shared.findings import Finding
from calib.figures import FIGURES, MARKS, Theme
from calib.figures.base import FigureEntry, split_caption
from calib.figures.many import GREY, lines_of, recolour, without_grey_names
from calib.figures.narrowing import without_data
from calib.figures.projector import ABOVE_CAPTION, PROJECTED, for_projector
from calib.figures.theme import controls
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
    session_cache,
    state,
    style,
)
from pages.ui.posed_question import PosedQuestion, current_question
from pages.ui.ready_figure import ReadyFigure
from pages.ui.text import plain
from pages.ui.widget import show_widget

# Pixels of a chart that fits any projector's window; a higher one follows the window
LOW_CHART = 600
TOOLBAR = 30  # pixels at the right for the chart's toolbar, so that it lies beside the marks
MOVING = "Hover over a mark or tap it to read its numbers."
WAITS = "The result appears after you answer or skip the question."
MOST_BYTES_OF_RECORD = 1_000_000  # bytes of the largest record whose figure is cached
IN_A_ROOM = 2  # factor of the type size of a guess in presenter view, as of all other type there
KEPT_OWN_FIGURES = 50  # figures of uploaded data that a session caches: no other session can use them


class Picks(NamedTuple):
    """What to do with a list of the ``customdata`` of all marks that were clicked or selected by a box.

    A new ``version`` forgets the marks that were picked before.
    """

    then: Callable[[list], None]
    version: int = 0


@dataclass(frozen=True, kw_only=True)
class ChartOnPage:
    """A figure on its way to the page.

    Attributes
    ----------
    entry, record
        The figure, and what its ``prepare`` returned.
    key, widget
        Name of the chart on its page, and the key of its pictures.
    question
        What the page or the step of a lesson hides, and what it shows instead.
    role
        The place whose height it fits: "beside" a lesson's text, "first" of a page, "under" a question, or none.
    height
        In pixels; None leaves it to the figure.
    """

    entry: FigureEntry
    record: Any
    key: str
    widget: str
    question: PosedQuestion
    role: str = ""
    height: int | None = None

    @property
    def staged(self) -> bool:
        """Whether it is the chart of a lesson's step."""
        return self.role == "beside"

    @property
    def alone(self) -> bool:
        """Whether presenter view shows only the picture, with the step's words beside it."""
        return self.staged and state.presenter()

    @property
    def block(self) -> str:
        """The form of its panels on a phone: a strip keeps what is below near; a lesson has two columns of it."""
        return "strip" if self.role in ("beside", "under") else "panels"

    def drawn(self, panel: Any, grid: tuple[int, bool] | None = None) -> dict[str, Any]:
        """Return the figure of the record, or of one of its panels."""
        if panel is self.record and grid is None:
            return self._whole
        return _drawn(panel, current.theme(), self.entry.draw, self.height, grid)

    @cached_property
    def _whole(self) -> dict[str, Any]:
        """The figure of the record outside presenter view, which colours and picture both ask for."""
        return _drawn(self.record, current.theme(), self.entry.draw, self.height, None)

    def grey_lines(self) -> dict[str, tuple[str, bool]]:
        """Return the lines that a reader can choose to see in colour."""
        if not self.record.caption.endswith(GREY):
            return {}
        return lines_of(self.question.narrowed(self.drawn(self.record)))

    def in_words(self, panel: Any) -> str:
        """Return a picture's alt text; while its question is open, without the part that gives away the answer."""
        if not self.question.open:
            return self.question.renamed(panel.alt)
        finding = (panel.drawn or panel.alt) if isinstance(panel, Finding) else ""
        return f"{self.entry.label}. {finding}".strip()

    def shown(self, panel: Any, i: int, panels: int, grid: tuple[int, bool] | None) -> dict[str, Any]:
        """Return the figure of a panel as the question lets the reader see it, with the reader's guess."""
        content, question = self.drawn(panel, grid), self.question
        if question.empty:
            content = without_data(content, isinstance(panel, Finding), question.kept)
        elif question.ghost is not None and self.block == "strip":
            scale = 1 if grid is None else IN_A_ROOM
            content = placed_guess.with_ghost(content, question.ghost, current.theme(), i, panels, scale)
        if self.staged:
            content = without_grey_names(content)
        return question.narrowed(content) if self.block == "strip" else content


def show(
    name: str,
    source,
    key: str | None = None,
    on_click: Callable[[Any], None] | None = None,
    picks: Picks | None = None,
    heading: str | None = None,
    hint: str = "",
    height: int | None = None,
    sentence: Any = None,
    finding: str | None = None,
    first: bool = False,
    **options,
) -> Any | None:
    """Draw FIGURES[name] from an Evaluation (or another source of its ``prepare``) with caption, alt text and
    downloads.

    Parameters
    ----------
    on_click
        Takes the ``customdata`` of a clicked mark.
    picks
        Takes several marks.
    heading
        Small heading above the chart instead of the finding, for a chart among several.
    hint
        Says what can be done with the chart here; it is folded with how to read the chart.
    height
        In pixels.
    sentence
        Container of the finding, from ``headings.finding``, for the page's first picture, which fits the window. By
        default the finding is right above the chart.
    finding
        The page's own finding instead of the figure's title.
    first
        Whether it is the page's first picture under a question, which fits the window with its answers.

    Returns
    -------
    Any or None
        The figure's record, or None if ``prepare`` refuses; the page then shows the reason.
    """
    entry, key, question = FIGURES[name], key or name, current_question()
    with lesson_layout.on(key) as staged:
        try:
            record = entry.prepare(source, **options)
        except InputError as error:
            st.info(plain(error))
            return None
        if question.open and isinstance(record, Finding):
            record = record.covered()
        role = "beside" if staged else "first" if sentence is not None else "under" if first else ""
        widget = f"chart_{key}_{picks.version}" if picks and picks.version else f"chart_{key}"
        chart = ChartOnPage(
            entry=entry, record=record, key=key, widget=widget, question=question, role=role, height=height
        )
        _title(chart, heading, None if staged else sentence, finding)
        lines, coloured = chart.grey_lines(), _asked_lines(key, question)
        if coloured & set(lines):
            chart = replace(chart, entry=replace(entry, draw=_coloured(entry.draw, coloured & set(lines))))
        moves = question.moving if staged and lesson_layout.has("moving") else None
        with st.container(key="moving") if moves else nullcontext():
            _pictures(chart, _interaction(chart, on_click, picks))
            if moves:
                moves()
        question.answers()
        with lesson_layout.on("under") if staged else nullcontext():  # on a phone, after "what to see"
            if not chart.alone:
                with st.container(horizontal=True, key=f"below_{key}"):
                    if heading is None:
                        with st.container():
                            _how_to_read(chart, MOVING if moves else hint)
                    if lines and not question.open:
                        _choose_lines(chart, lines, coloured)
                    if not (staged and question.open):
                        downloads.chart(chart.entry, record, source, options, key)
    return record


def _title(chart: ChartOnPage, heading: str | None, sentence: Any, finding: str | None) -> None:
    """Write the finding, or a small heading; while the question is open, only the topic."""
    if chart.alone:
        return
    if heading is not None:
        st.markdown(f"**{plain(heading)}**", help=plain(chart.record.title))
        return
    of_step = chart.question.finding if chart.staged else ""
    with sentence or nullcontext():
        headings.heading(
            chart.entry.label if chart.question.open else of_step or finding or chart.record.title
        )


def _how_to_read(chart: ChartOnPage, hint: str) -> None:
    """Write the caption; while the question is open, say once what the pictures wait for."""
    if chart.question.open:
        if chart.role:
            st.caption(plain(WAITS))
    else:
        caption(chart.record.caption, chart.key, hint)


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
    record = entry.prepare(source, **options)
    widget, question = "chart_picture", current_question()
    chart = ChartOnPage(
        entry=entry, record=record, key="picture", widget=widget, question=question, role="first"
    )
    _pictures(chart, {"config": {"displayModeBar": False}})


def _interaction(
    chart: ChartOnPage, on_click: Callable[[Any], None] | None, picks: Picks | None
) -> dict[str, Any]:
    """Return the interaction with the pictures of a chart as arguments of ``st.plotly_chart``."""
    image = st.session_state.get(f"{chart.key}_image", downloads.CAMERA[0])
    # The camera would save the picture without its title, unlike the files of the Download menu
    camera = ["toImage"] if downloads.draws() else []
    config = controls(*camera, *([] if picks else ["select2d"])) | {
        "toImageButtonOptions": {"format": image, "filename": chart.key, "scale": 2},
    }
    if chart.block == "strip" and chart.question.open and chart.entry.panels:
        config["displayModeBar"] = False  # seven buttons per panel would stand before the answers
    if picks:
        selected = _on_select(_picked, chart.widget, picks.then)
        return {"config": config, "on_select": selected, "selection_mode": ("points", "box")}
    if on_click is not None:
        return {"config": config, "on_select": _on_select(_clicked, chart.widget, on_click)}
    return {"config": config}


def _on_select(passed: Callable[[str], None], key: str, then: Callable[..., None]) -> Callable[[], None]:
    """Return a callback that holds no data, because Streamlit keeps the callbacks of all pictures of a session."""
    st.session_state.setdefault("then", {})[key] = then
    return partial(passed, key)


def _pictures(chart: ChartOnPage, interaction: dict[str, Any]) -> None:
    """Draw the picture of a record, one per panel, so that a phone can arrange the panels in its own way."""
    entry, record, widget = chart.entry, chart.record, chart.widget
    panels, columns = (entry.panels(record), record.columns) if entry.panels else ([record], 1)
    if chart.staged and columns == len(panels) == 4:
        # Four panels per row are too narrow beside a lesson's text; two rows of two are lower
        panels, columns = [replace(panel, rows=2) for panel in panels], 2
    # One block of columns per row, so that a phone stacks the panels in reading order
    starts = range(0, len(panels), columns)
    with st.container(key=f"{chart.block}_{widget}"):
        places = [place for _ in starts for place in st.columns(columns)]
    grid = (len(starts), chart.staged) if state.presenter() else None
    shared = chart.staged and len(starts) > 1 and grid is None  # rows that share the window beside a text
    _let_data_come_in(chart)
    for i, panel in enumerate(panels):
        figure = ReadyFigure(chart.shown(panel, i, len(panels), grid))
        panel_key = f"{widget}_panel_{i}" if entry.panels else widget
        follows = f"beside_in_{len(starts)}" if shared else _follows(figure, chart.role, grid)
        with places[i], st.container(key=f"{follows}_{panel_key}") if follows else nullcontext():
            high = "stretch" if follows else "content"
            st.plotly_chart(
                figure, theme=None, key=panel_key, height=high, alt=chart.in_words(panel), **interaction
            )


def _let_data_come_in(chart: ChartOnPage) -> None:
    """Animate the data if the picture was empty the last time."""
    emptied = st.session_state.setdefault("emptied", set())
    if chart.question.empty:
        emptied.add(chart.widget)
    elif chart.widget in emptied:
        emptied.remove(chart.widget)
        style.add("arriving")


def _follows(figure: ReadyFigure, role: str, grid: tuple[int, bool] | None) -> str:
    """Return the prefix of the container's key by which the stylesheet fits a chart's height to the window, or ""."""
    fits = LOW_CHART < figure.height <= PROJECTED
    if grid is not None:
        rows, fills = grid
        return f"projected_in_{rows}" if fills and figure.height <= PROJECTED else "projected_page" * fits
    bare = figure.square_above and not figure.has_legend
    return "_".join([role] * bool(fits and role) + ["square"] * figure.square_above + ["bare"] * bare)


def _asked_lines(key: str, question: PosedQuestion) -> set[str]:
    """Return the lines wanted in colour: from the Recipe on Explore pages, else from this chart or the step."""
    if current.explores():
        return set(state.recipe().setting("reliability.lines"))
    return set(st.session_state.get(f"lines_{key}", ()))


def _choose_lines(chart: ChartOnPage, lines: dict[str, tuple[str, bool]], coloured: set[str]) -> None:
    """Let the reader choose the coloured lines, in the legend or below the chart."""
    key = chart.key
    here = coloured & set(lines) or {line for line, (_, on) in lines.items() if on}

    def choose(chosen: Iterable[str]) -> None:
        """Choose these lines; an empty choice restores the default."""
        ordered = tuple(line for line in lines if line in set(chosen))
        if current.explores():
            state.update(**{"reliability.lines": ordered})
        else:
            st.session_state[f"lines_{key}"] = ordered

    label, chosen = SETTINGS["reliability.lines"].label, [line for line in lines if line in here]
    with st.popover(label, key=f"choose_lines_{key}", help=SETTINGS["reliability.lines"].help):
        show_widget(
            st.pills,
            f"colour_{key}",
            chosen,
            choose,
            label,
            list(lines),
            format_func=lambda line: lines[line][0],
            selection_mode="multi",
            label_visibility="collapsed",
        )
    browser.hear_legend(key, f"{chart.block}_{chart.widget}", lambda line: choose(here ^ {line}))


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
    if content is None or len(content) > MOST_BYTES_OF_RECORD:
        return _figure(record, theme, draw, height, grid)
    inks = (theme.name, *MARKS)  # a plug-in calibrator may change the colours of others
    key = (blake2b(content).hexdigest(), inks, draw.__module__, draw.__qualname__, height, grid)
    keep = partial(jobs.cached, "figures", KEPT_OWN_FIGURES) if state.has_upload() else _figures()
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
    if grid:
        rows, fills = grid
        figure = for_projector(figure, rows, PROJECTED if fills else ABOVE_CAPTION, fills)
    return figure.to_dict()


def _clicked(key: str) -> None:
    """Pass the clicked mark's ``customdata`` on; a click beside the marks changes nothing."""
    if known := _known(key):
        first = known[0]
        # Arrays arrive as dictionaries from position to value
        mark = [first[i] for i in sorted(first, key=int)] if isinstance(first, dict) else first
        st.session_state["then"][key](mark)


def _picked(key: str) -> None:
    """Pass the ``customdata`` of all picked marks on, if any has some."""
    if known := _known(key):
        st.session_state["then"][key](known)


def _known(key: str) -> list[Any]:
    """Return the ``customdata`` of the chosen marks that have some."""
    return [point["customdata"] for point in st.session_state[key].selection.points if "customdata" in point]
