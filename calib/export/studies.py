"""Downloads of a study: every table as CSV, LaTeX and Markdown, and one interactive page of all of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from calib.export.charts import Chart
from calib.export.pages import page, versions
from calib.export.tables import safe_csv, zipped
from calib.figures import FIGURES, LIGHT, Theme
from calib.figures.metrics import BEST
from calib.kernel.wording import within_a_sentence
from calib.study.summary import MetricSummary, friedman_line
from calib.study.tables import MEAN, StudyTable, as_texts, tables

# In braces: after \\ the first three would be read as its arguments, and ?` as a ligature.
LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: f"{{{sign}}}" for sign in "[]*`"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
    **{"--": "-{}-", "\n": " ", "\r": " "},
    **{
        "∞": r"$\infty$",
        "−": "$-$",
        "χ²": r"$\chi^2$",
        "α": r"$\alpha$",
        "λ": r"$\lambda$",
        "σ": r"$\sigma$",
    },
    **{"★": r"$\star$", "²": "$^2$", "½": r"$\frac12$", "×": r"$\times$", "±": r"$\pm$", "·": r"$\cdot$"},
    **{"≤": r"$\leq$", "≥": r"$\geq$", "→": r"$\to$", "√": r"$\surd$", "Σ": r"$\Sigma$", "ε": r"$\epsilon$"},
}
LATEX_SIGNS = re.compile("|".join(re.escape(sign) for sign in sorted(LATEX, key=len, reverse=True)))
LATEX_NOTE = "names in non-Latin letters need XeLaTeX or LuaLaTeX"
A_PAGE, A_LINE = 45, 40  # rows per page, and letters per unwrapped column
MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~])")


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure of a summary: ``FIGURES[name].prepare(source, **options)``, with a key of its own."""

    key: str
    name: str
    source: Any
    options: Mapping[str, Any]

    def chart(self) -> Chart:
        return Chart(self.name, FIGURES[self.name].prepare(self.source, **self.options))


def drawings(summary: MetricSummary) -> list[Drawing]:
    """Return the figures of a summary; empty if its setups cannot be compared.

    Parameters
    ----------
    summary
        The result of ``summarise``.
    """
    if summary.uncompared is not None:
        return []
    ranks, alpha = summary.average_ranks, summary.alpha
    common = {"n": len(summary.compared), "what": within_a_sentence(summary.metric.label)}
    bars = {**common, "adjusted": summary.adjusted, "alpha": alpha}
    found = [
        Drawing("critical_difference", "critical_difference", ranks, bars),
        Drawing("win_rates", "win_rates", summary.win_rates, common),
    ]
    order = ranks.sort_values(kind="stable").index
    if summary.adjusted is not None:
        options = {"ranks": ranks, "alpha": alpha, "test": "Bergmann–Hommel"}
        found.append(Drawing("significance", "significance", summary.adjusted.loc[order, order], options))
    if len(summary.compared) < 2:  # no t-test
        return found
    note = "The p-values are not adjusted for the number of pairs."
    if summary.infinite:
        note += (
            " – without colour means that the values of at least one of the two methods are infinite on "
            "some data set."
        )
    options = {"alpha": alpha, "test": "one-sided paired t-tests", "note": note}
    found.append(Drawing("t_tests", "significance", summary.t_tests.loc[order, order], options))
    return found


def readable(table: StudyTable) -> pd.DataFrame:
    """Return the table for reading: three digits, and ★ at the best or significant values.

    Parameters
    ----------
    table
        One of ``tables(summary)``.
    """
    return _texts(table, str, lambda text: text + BEST)


def latex_table(table: StudyTable) -> str:
    r"""Return the table in LaTeX for a paper, with the package booktabs; the best or significant values are bold.

    Parameters
    ----------
    table
        One of ``tables(summary)``.

    Examples
    --------
    >>> frame = pd.DataFrame({"RF_d": [0.25]}, index=pd.Index(["kc1"], name="data"))
    >>> print(latex_table(StudyTable("means", "Brier score", frame, "Lower is better.")))
    % needs \usepackage{booktabs,graphicx}; names in non-Latin letters need XeLaTeX or LuaLaTeX
    \begin{table}
    \centering
    \caption{Brier score. Lower is better.}
    \label{tab:means}
    \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
    \begin{tabular}{lr}
    \toprule
    data & RF\_d \\
    \midrule
    kc1 & 0.250 \\
    \bottomrule
    \end{tabular}}
    \end{table}
    <BLANKLINE>
    """
    cells = _texts(table, _latex, lambda text: rf"\textbf{{{text}}}")
    names = [_latex(str(name)) for name in cells.index]
    lines = [
        " & ".join([name, *row]) + r" \\" for name, row in zip(names, cells.to_numpy().tolist(), strict=True)
    ]
    if MEAN in table.frame.index:
        lines.insert(table.frame.index.tolist().index(MEAN), r"\midrule")
    names = [_latex(str(name)) for name in (cells.index.name or "", *cells.columns)]
    head = [r"\toprule", " & ".join(names) + r" \\", r"\midrule"]
    caption = rf"\caption{{{_latex(table.title)}. {_latex(table.note)}}}"
    label = rf"\label{{tab:{table.key.replace('_', '-')}}}"
    set_ = _over_pages if len(lines) > A_PAGE else _on_a_page
    longest = [max((len(text) for text in cells[name]), default=0) for name in cells]
    # numbers are right-aligned, long text is wrapped
    columns = "l" + "".join(r"p{0.15\linewidth}" if n > A_LINE else "r" for n in longest)
    return "\n".join([*set_(caption, label, columns, head, lines), ""])


def _on_a_page(caption: str, label: str, columns: str, head: list[str], lines: list[str]) -> list[str]:
    """Return a table that is shrunk if it is wider than the text."""
    shrunk = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    return [
        rf"% needs \usepackage{{booktabs,graphicx}}; {LATEX_NOTE}",
        *(r"\begin{table}", r"\centering", caption, label, shrunk, rf"\begin{{tabular}}{{{columns}}}"),
        *(*head, *lines, r"\bottomrule", r"\end{tabular}}", r"\end{table}"),
    ]


def _over_pages(caption: str, label: str, columns: str, head: list[str], lines: list[str]) -> list[str]:
    """Return a table that continues over pages, with its head on every page."""
    return [
        rf"% needs \usepackage{{booktabs,longtable}}; {LATEX_NOTE}",
        *(r"\begingroup", r"\tiny", r"\setlength{\tabcolsep}{3pt}"),
        *(rf"\begin{{longtable}}{{{columns}}}", caption + label + r" \\", *head, r"\endfirsthead"),
        *(*head, r"\endhead", *lines, r"\bottomrule", r"\end{longtable}", r"\endgroup"),
    ]


def markdown_table(table: StudyTable) -> str:
    """Return the table in Markdown with its title and note; the best or significant values are bold.

    Parameters
    ----------
    table
        One of ``tables(summary)``.

    Examples
    --------
    >>> frame = pd.DataFrame({"RF_d": [0.25]}, index=pd.Index(["kc1"], name="data"))
    >>> print(markdown_table(StudyTable("means", "Brier score", frame, "Lower is better.")))
    **Brier score.** Lower is better.
    <BLANKLINE>
    | data | RF\\_d |
    | --- | ---: |
    | kc1 | 0.250 |
    <BLANKLINE>
    """
    cells = _texts(table, _markdown, lambda text: f"**{text}**")
    head = [_markdown(str(name)) for name in (cells.index.name or "", *cells.columns)]
    names = [_markdown(str(name)) for name in cells.index]
    rows = [[name, *row] for name, row in zip(names, cells.to_numpy().tolist(), strict=True)]
    rule = ["---", *["---:"] * cells.shape[1]]
    lines = ["| " + " | ".join(row) + " |" for row in (head, rule, *rows)]
    return "\n".join([f"**{_markdown(table.title)}.** {_markdown(table.note)}", "", *lines, ""])


def _latex(text: str) -> str:
    return LATEX_SIGNS.sub(lambda found: LATEX[found[0]], text)


def _markdown(text: str) -> str:
    return MARKDOWN.sub(r"\\\1", re.sub(r"[\r\n]+", " ", text))


def _texts(table: StudyTable, escape: Callable[[str], str], mark: Callable[[str], str]) -> pd.DataFrame:
    """Return every cell as escaped text; ``mark`` formats the marked ones."""
    cells = as_texts(table.frame)
    marked = table.marked.to_numpy() if table.marked is not None else np.zeros(cells.shape, dtype=bool)
    texts = [
        [mark(escape(text)) if best and text else escape(text) for text, best in zip(row, bests, strict=True)]
        for row, bests in zip(cells.tolist(), marked.tolist(), strict=True)
    ]
    return pd.DataFrame(texts, index=table.frame.index, columns=table.frame.columns)


def study_html(
    summary: MetricSummary, paper: str | None = None, source: str = "", theme: Theme = LIGHT
) -> bytes:
    """Return diagrams and tables of a summary as one page that opens without a network.

    Parameters
    ----------
    paper
        A key of ``calib.study.PAPERS`` whose published values are shown beside the computed ones.
    source
        Python that gives the same numbers.
    """
    return page(
        "study.html",
        f"{summary.metric.label} · Calibration Explorer",
        theme,
        name=f"{summary.metric.label} of {len(summary.setups)} setups on {len(summary.means)} data sets",
        notes=[*summary.notes, *filter(None, [summary.uncompared])],
        tests="" if summary.uncompared else friedman_line(summary),
        charts=[drawing.chart() for drawing in drawings(summary)],
        tables=[(table, readable(table)) for table in tables(summary, paper)],
        source=source,
        versions=versions(),
    )


def study_bundle(
    summary: MetricSummary, paper: str | None = None, source: str = "", theme: Theme = LIGHT
) -> bytes:
    """Return a ZIP of the page, every table as CSV, LaTeX and Markdown, and every diagram's numbers as CSV.

    Parameters
    ----------
    paper, source
        As for ``study_html``.
    """
    return zipped(_files(summary, paper, source, theme))


def study_archive(summaries: Iterable[MetricSummary], paper: str | None = None) -> bytes:
    """Return the bundles of several metrics as one ZIP, with a folder per metric key.

    Parameters
    ----------
    paper
        As for ``study_html``.
    """
    return zipped(
        (f"{summary.metric.key}/{name}", content)
        for summary in summaries
        for name, content in _files(summary, paper, "", LIGHT)
    )


def _files(
    summary: MetricSummary, paper: str | None, source: str, theme: Theme
) -> Iterator[tuple[str, str | bytes]]:
    yield "study.html", study_html(summary, paper, source, theme)
    for table in tables(summary, paper):
        yield f"tables/{table.key}.csv", safe_csv(table.frame, index=True)
        yield f"tables/{table.key}.tex", latex_table(table)
        yield f"tables/{table.key}.md", markdown_table(table)
    for drawing in drawings(summary):
        yield f"charts/{drawing.key}.csv", safe_csv(drawing.chart().record.to_frame())
    if source:
        yield "reproduce.py", source
