"""A study taken along: tables as CSV, LaTeX and Markdown with every name escaped, one page, one ZIP."""

import csv
import io
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

from calib.calibrators import CALIBRATORS
from calib.export import drawings, latex_table, markdown_table, readable, study_bundle, study_html
from calib.metrics import METRICS
from calib.models import MODELS
from calib.study import PAPERS, as_rows, check_rows, summarise
from calib.study.tables import StudyTable, tables
from tests.saying import assert_says

PAPER = "rf_calibration_2025"
ODD = ["50%_a&b{c}", "[0, 1]*--`=|x", "<script>alert(1)</script>", r"back\slash~^#$"]


@pytest.fixture(scope="module")
def summary():
    return summarise(as_rows("forests_calibrated"), "brier")


@pytest.fixture(scope="module")
def odd():
    """Names that mean something to LaTeX, Markdown, HTML and spreadsheets."""
    values = np.random.default_rng(0).random((4, 4))
    lines = [(ODD[i], ODD[j], 0, 0, 0, values[i, j]) for i in range(4) for j in range(4)]
    return summarise(
        check_rows(pd.DataFrame(lines, columns=["data", "setup", "repeat", "fold", "seed", "brier"])), "brier"
    )


def unescaped(text):
    """LaTeX text as it is set."""
    names = {"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^"}
    names |= {"textless": "<", "textgreater": ">", "textbar": "|"}
    text = re.sub(r"\{([]*`[])\}", r"\1", text).replace("-{}-", "--")
    return re.sub(r"\\(?:([a-z]+)\{\}|([&%$#_{}]))", lambda m: names[m[1]] if m[1] else m[2], text)


def test_latex_has_every_cell_and_escapes_every_name(odd):
    table = tables(odd)[0]
    text = latex_table(table)
    assert r"\usepackage{booktabs,graphicx}" in text
    lines = [line.removesuffix(r" \\") for line in text.splitlines() if line.endswith(r"\\")]
    head, *rows = [re.split(r" & ", line) for line in lines]
    assert [unescaped(name) for name in head] == ["data", *ODD]
    for name, row in zip(table.frame.index, rows, strict=True):
        assert unescaped(row[0]) == name
        plain = [re.sub(r"^\\textbf\{(.*)\}$", r"\1", cell) for cell in row[1:]]
        assert plain == [text.removesuffix(" ★") for text in readable(table).loc[name]]
    bold = [[cell.startswith(r"\textbf") for cell in row[1:]] for row in rows]
    assert bold == table.marked.to_numpy().tolist()
    assert text.count(r"\midrule") == 2  # below the head and above the means
    assert text.count("{") == text.count("}")


def test_markdown_escapes_what_would_be_a_cell_or_a_tag(odd):
    text = markdown_table(tables(odd)[0])
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    assert not re.search(r"(?<!\\)[<>]", text)
    assert r"\<script\>" in text
    assert r"\[0, 1\]\*--\`=\|x" in text


def test_infinity_is_a_sign_in_every_form():
    found = {table.key: table for table in tables(summarise(as_rows("venn_abers"), "log_loss"))}
    assert r"$\infty$" in latex_table(found["means"])
    assert "∞" in markdown_table(found["means"])
    assert "inf" not in latex_table(found["means"]).replace("infty", "").replace("infinite", "")


def test_latex_of_tests_has_greek_letters_as_mathematics(summary):
    (table,) = [table for table in tables(summary) if table.key == "tests"]
    text = latex_table(table)
    assert r"$\chi^2$" in text
    assert r"$\alpha$" in text
    assert "−" not in text


def test_no_name_is_an_argument_of_the_line_before_it():
    """``\\\\`` takes ``[…]`` and ``*`` even from the next line: pdflatex then never ends."""
    frame = pd.DataFrame({"a": [0.5, 0.25]}, index=pd.Index(["[0, 1]", "*x"], name="data"))
    lines = latex_table(StudyTable("k", "T", frame, "N.")).splitlines()
    assert {"{[}0, 1{]} & 0.500 \\\\", "{*}x & 0.250 \\\\"} <= set(lines)


def test_every_sign_of_our_own_words_is_one_that_latex_has(summary):
    """Beyond ASCII: dashes, quotes, § and Latin letters."""
    words = [text for metric in METRICS.values() for text in (metric.label, metric.help)]
    words += [rule.why for paper in PAPERS.values() for rule in paper.rules]
    words += [each.label for each in (*CALIBRATORS.values(), *MODELS.values())]
    for table in tables(summary, PAPER):
        words.append(latex_table(table))
    one = pd.DataFrame({"x": words}, index=pd.Index(range(len(words)), name="data"))
    text = latex_table(StudyTable("k", "T", one, "N."))
    assert not set(re.findall(r"[^\x00-\x7fÀ-ſ–—‘’“”…§]", text))


def test_what_is_longer_than_a_page_goes_over_pages_and_names_its_package(summary):
    found = {table.key: latex_table(table) for table in tables(summary, PAPER)}
    assert len(found["published"].splitlines()) > 100
    assert found["published"].startswith(r"% needs \usepackage{booktabs,longtable}")
    assert r"\endhead" in found["published"]
    for key in found.keys() - {"published"}:
        assert found[key].startswith(r"% needs \usepackage{booktabs,graphicx}")
        assert r"\resizebox" in found[key]


def test_the_page_has_every_table_and_chart_and_nothing_from_elsewhere(summary):
    html = study_html(summary, PAPER, "print('source')").decode()
    for table in tables(summary, PAPER):
        assert table.title.replace("'", "&#39;") in html
    for drawing in drawings(summary):
        assert drawing.chart().record.alt.replace("'", "&#39;").replace("<", "&lt;") in html
    assert html.count("plotly-graph-div") >= len(drawings(summary)) == 4
    markup = re.sub(r"<script.*?</script>", "", html, flags=re.S)
    assert not re.search(r'(src|href)="', markup)
    assert "print(&#39;source&#39;)" in html


def test_names_are_text_on_the_page(odd):
    html = study_html(odd).decode()
    assert "<script>alert(1)" not in html.replace("\\u003cscript", "")
    assert "&lt;script&gt;alert(1)" in html


def test_the_zip_holds_each_table_three_times_and_its_numbers_in_full(summary):
    archive = zipfile.ZipFile(io.BytesIO(study_bundle(summary, PAPER, "source")))
    names = set(archive.namelist())
    for table in tables(summary, PAPER):
        assert {f"tables/{table.key}.{form}" for form in ("csv", "tex", "md")} <= names
    assert {"study.html", "reproduce.py", "charts/critical_difference.csv", "charts/t_tests.csv"} <= names
    rows = list(csv.reader(io.StringIO(archive.read("tables/means.csv").decode("utf-8-sig"))))
    assert rows[0] == ["data", *summary.setups]
    assert [float(cell) for cell in rows[1][1:]] == summary.means.iloc[0].tolist()


def test_csv_is_safe_in_a_spreadsheet(odd):
    archive = zipfile.ZipFile(io.BytesIO(study_bundle(odd)))
    for name in archive.namelist():
        if name.endswith(".csv"):
            for row in csv.reader(io.StringIO(archive.read(name).decode("utf-8-sig"))):
                assert not any(cell.startswith("=") for cell in row), name


def test_where_setups_cannot_be_compared_the_page_says_why():
    summary = summarise(as_rows("forests_calibrated"), "brier", setups=["RF_d"])
    assert drawings(summary) == []
    assert_says(study_html(summary).decode(), "Ranks and tests", "at least 2 setups")


def test_a_table_without_marks_is_as_it_reads():
    frame = pd.DataFrame({"a_b": [0.5, np.nan]}, index=pd.Index(["x", "y"], name="data"))
    assert readable(StudyTable("k", "T", frame, "N."))["a_b"].tolist() == ["0.500", "–"]
