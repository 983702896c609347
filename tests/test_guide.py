"""What README and docs say is so: links lead somewhere, code and commands are ours, formats and pages are all there."""

import contextlib
import importlib.util
import math
import re
import shlex
import sqlite3
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import yaml

import calib
from calib import Recipe
from calib.__main__ import _parser
from calib.analysis.recommendation.advice import TRIED_ON_CLASSES
from calib.analysis.recommendation.rule import METHODS_WITH_PRIOR, START_OF_CLASSES
from calib.calibrators import CALIBRATORS, name_of
from calib.data import connections, looks_like_predictions, prepare_predictions
from calib.export.calibrators import MAP_PER_FOLD, OF_K
from calib.kernel.records import Predictions
from calib.metrics import metric_table
from calib.study import store
from calib.study.reading import read_protocol
from calibration_explorer.__main__ import arguments
from pages.ui.current import PAGES
from scripts import write_docs
from tests.saying import assert_says

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FILES = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), ROOT / "sample_data" / "README.md"]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in FILES}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.M | re.S)
STEMS = [Path(page.script).stem for pages in PAGES.values() for page in pages]


def blocks(language: str) -> list[tuple[str, str]]:
    """(file, text) of every block of code in this language."""
    return [
        (name, body) for name, text in TEXTS.items() for kind, body in BLOCK.findall(text) if kind == language
    ]


# --- links
# ----------------------------------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """Of the headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", text), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_to_what_is_there(name):
    prose = re.sub(r"`[^`\n]*`", "", BLOCK.sub("", TEXTS[name]))
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            assert target.startswith("https://"), f"{target}: only https"
            continue
        path, _, anchor = target.partition("#")
        found = (ROOT / name).parent / path if path else ROOT / name
        assert found.exists(), f"{target} is not there"
        assert not anchor or anchor in anchors(found.read_text(encoding="utf-8")), (
            f"{target} has no such heading"
        )


# --- code
# -----------------------------------------------------------------------------------------------------------


ELSEWHERE = {  # what runs these blocks of Python, SQL and JavaScript, where more is needed than running them
    "docs/adding.md": "tests/calibrators/test_register.py",
    "docs/command_line.md": "tests/test_cli_watch.py",
    "docs/databases.md": "tests/data/test_database.py",
    "docs/export.md": "tests/export/programs/test_guide.py",
    "docs/file_formats.md": "tests/test_guide.py::test_the_tables_of_a_store_are_those_of_the_guide",
}
CHECKED = {"", "json", "toml", "text"}  # the first are commands, the last what they print


def test_no_block_of_code_goes_unchecked():
    run = {(name, "python") for name, _ in blocks("python")} | {("docs/splits.md", "sql")}
    there = {(name, kind) for name, text in TEXTS.items() for kind, _ in BLOCK.findall(text)}
    assert {name for name, kind in there - run if kind not in CHECKED} <= ELSEWHERE.keys()
    assert all((ROOT / test.partition("::")[0]).exists() for test in ELSEWHERE.values())


@pytest.mark.parametrize("file", sorted({name for name, _ in blocks("python")} - ELSEWHERE.keys()))
def test_python_runs_as_it_stands(file, monkeypatch, capsys):
    """Block after block, as in a notebook; pictures are drawn and not shown, and printed numbers are the document's."""
    shown: list[go.Figure] = []
    monkeypatch.setattr(go.Figure, "show", lambda figure: shown.append(figure))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict = {}
    for name, source in blocks("python"):
        if name == file:
            exec(compile(source, file, "exec"), names)
    assert len(shown) == sum(source.count(".show()") for name, source in blocks("python") if name == file)
    printed = [text for name, text in blocks("text") if name == file]
    assert numbers("".join(printed)) == numbers(capsys.readouterr().out)


def numbers(text: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d+)?", text)


def test_the_table_of_the_example_for_splits_is_that_of_the_optimism():
    (source,) = (source for name, source in blocks("python") if name == "docs/splits.md")
    *lines, last = source.strip().splitlines()
    names: dict = {}
    exec("\n".join(lines), names)
    table = eval(last, names)
    assert set(table["metric"]) == {"brier", "log_loss"}
    assert (table[table["metric"] == "brier"]["lower"] > 0).all()


def test_the_query_for_counts_gives_the_rows_numbers():
    (query,) = (query for name, query in blocks("sql") if name == "docs/splits.md")
    rng = np.random.default_rng(0)
    score = 1 / (1 + np.exp(-rng.normal(-1, 3, 40_000)))
    rows = pd.DataFrame({"score": score, "label": (rng.random(len(score)) < score).astype(int)})
    counts = counted_by(query, rows)
    assert len(counts) < 4_000
    assert looks_like_predictions(counts)
    both = {
        "counts": prepare_predictions(counts, "label", roles={"weight": "count"}),
        "rows": prepare_predictions(rows, "label"),
    }
    table = metric_table(
        {
            name: Predictions(data.y, data.X["score"].to_numpy(), weight=data.weight)
            for name, data in both.items()
        }
    )
    table = table.drop(columns="group_entropy")  # of the groups of equal scores, which rounding makes
    np.testing.assert_allclose(table.loc["counts"], table.loc["rows"], rtol=0, atol=2e-3)
    for label, loss in {
        "brier": lambda p, y: (p - y) ** 2,
        "log_loss": lambda p, y: -np.log(np.where(y == 1, p, 1 - p)),
    }.items():
        ours = np.average(loss(counts["score"], counts["label"]), weights=counts["count"])
        assert ours == pytest.approx(loss(rows["score"], rows["label"]).mean(), abs=2e-5), label


def counted_by(query, rows):
    """What the query makes of the rows, in SQLite with the functions that it may have been built without."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("LN", 1, math.log)
        connection.create_function("EXP", 1, math.exp)
        rows.to_sql("predictions", connection, index=False)
        return pd.read_sql(query, connection)


@pytest.mark.parametrize(
    ("score", "label"),
    [
        *(
            (p, y)
            for p in (5e-324, 1e-310, 1e-300, 1e-20, 4e-4, 0.9996, 1 - 1e-12, 1 - 2**-53)
            for y in (0, 1)
        ),
        (0.0, 0),
        (1.0, 1),
    ],
)
def test_the_query_for_counts_makes_no_certainty_and_keeps_those_there_are(score, label):
    (query,) = (query for name, query in blocks("sql") if name == "docs/splits.md")
    counts = counted_by(query, pd.DataFrame({"score": [score], "label": [label]}))
    (made,) = counts["score"]
    assert (made in (0, 1)) == (score in (0, 1))

    def loss(p):
        return -(math.log(p) if label else math.log1p(-p)) if 0 < p < 1 else float(p != label)

    assert loss(made) == pytest.approx(loss(score), rel=5e-3, abs=5e-3)


@pytest.mark.parametrize(("file", "text"), blocks("json"))
def test_json_is_a_recipe(file, text):
    assert Recipe.from_json(text) != Recipe()


@pytest.mark.parametrize(("file", "text"), blocks("toml"))
def test_toml_is_a_protocol_or_an_entry_point_or_names_databases(file, text, tmp_path):
    values = tomllib.loads(text)
    if "connections" in values:
        (tmp_path / "secrets.toml").write_text(text, encoding="utf-8")
        assert connections((str(tmp_path / "secrets.toml"),)).keys() == values["connections"].keys()
    elif "project" not in values:
        assert read_protocol(text, "block.toml").setups


COMMAND = r"python -m calib |calibration-explorer\b|make |python -m (?:scripts|benchmarks)"


def shell(text: str) -> list[str]:
    """Lines of blocks without a language, fenced or indented."""
    fenced = [body for kind, body in BLOCK.findall(text) if not kind]
    indented = re.findall(r"(?:^ {4} *\S.*\n)+", BLOCK.sub("", text), re.M)
    joined = "\n".join(fenced + indented).replace("\\\n", " ")
    return [line.strip() for line in joined.splitlines() if line.strip()]


def commands(text: str) -> list[str]:
    """Commands of ours in such lines, and in code within sentences."""
    within = re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))
    return [line.strip() for line in shell(text) + within if re.match(COMMAND, line.strip())]


TARGETS = set(re.findall(r"^([\w ]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
NAMED_ONLY = ("…", "PROTOCOL")  # stand for what is to be filled in
SEEN = sorted(
    (name, command)
    for name, text in TEXTS.items()
    for command in set(commands(text))
    if not any(word in command for word in NAMED_ONLY)
)


@pytest.mark.parametrize(("file", "command"), SEEN)
def test_commands_are_understood(file, command):
    words = shlex.split(re.split(r" [>|;&]", command)[0].partition("  #")[0])
    if words[0] == "make":
        assert words[1] in TARGETS
    elif words[0] == "calibration-explorer":
        arguments(words[1:])
    elif words[2] == "calib":
        if len(words) > 4:  # with what it is asked to do, not only named
            _parser().parse_args(words[3:])
    else:
        script = importlib.util.find_spec(words[2])
        assert script
        if script.origin is None:  # a folder
            script = importlib.util.find_spec(f"{words[2]}.__main__")
        source = Path(script.origin).read_text(encoding="utf-8") if script.origin else ""
        assert all(f'"{word}"' in source for word in words[3:] if word.startswith("--"))


OTHERS = r"python3 -m venv |\.venv/bin/(pip|python -m streamlit) |pip |(SITE=\S+ )?docker compose "


def test_other_lines_of_a_shell_name_files_that_are_there():
    lines = [line for name in ("README.md", "docs/deployment.md") for line in shell(TEXTS[name])]
    lines = [line for line in lines if not re.match(COMMAND, line)]
    ours = [
        path for line in lines for path in re.findall(r"(?:^| )(deploy/[\w.]+|[\w-]+\.txt|app\.py)", line)
    ]
    assert len(ours) >= 4
    assert all((ROOT / path).exists() for path in ours)
    assert [line for line in lines if not re.match(OTHERS, line) and "deploy/" not in line] == []


def test_there_are_commands_and_code_to_be_checked():
    assert len(SEEN) > 20
    assert min(map(len, map(blocks, ("python", "json", "toml")))) > 0


# --- pages, pictures, formats
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("stem", STEMS)
def test_every_page_of_the_app_has_one_in_the_guide(stem):
    text = TEXTS[f"docs/pages/{stem}.md"]
    assert re.findall("^## (.*)$", text, flags=re.M) == [
        "What it answers",
        "How to read it",
        "What it cannot say",
    ]
    assert f"../pictures/{stem}.webp" in text
    (page,) = (page for pages in PAGES.values() for page in pages if Path(page.script).stem == stem)
    assert text.splitlines()[0].endswith(f": {page.name}")


def test_what_the_guide_says_of_work_that_waits_or_stops_are_the_apps_words():
    (section,) = re.findall("## Progress, waiting.*", TEXTS["docs/pages.md"], re.S)
    cells = "\n".join(re.findall(r"^\| (.*?) \|", section, re.M)).replace("Streamlit's own “Connecting”", "")
    quoted = [*re.findall("“(.*?)”", cells), *re.findall(r"\*(.*?)\*", cells)]
    said = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "pages" / "ui").rglob("*.py"))
    parts = [part.strip() for words in quoted for part in re.split("…|, 2nd ", words) if part]
    assert len(parts) > 12
    assert [part for part in parts if part not in said] == []


@pytest.mark.whole_registry
def test_pictures_are_small_and_none_is_left_over():
    pictures = {path.stem: path.stat().st_size for path in (DOCS / "pictures").iterdir()}
    assert set(pictures) == {"start", *STEMS}
    assert {path.stem for path in (DOCS / "pages").iterdir()} == set(STEMS)
    assert sum(pictures.values()) < 1.5e6
    assert min(pictures.values()) > 10_000  # an empty page takes three


@pytest.mark.whole_registry
@pytest.mark.parametrize("part", write_docs.PARTS)
def test_what_the_code_holds_stands_in_the_guide_as_it_is(part):
    file, _ = write_docs.PARTS[part]
    now = (DOCS / file).read_text(encoding="utf-8")
    assert now == write_docs.written(part), f"run python -m scripts.write_docs: docs/{file} is out of date"


def test_the_tables_of_a_store_are_those_of_the_guide():
    assert store.TABLES_OF_STORE.strip() in TEXTS["docs/file_formats.md"]
    assert f"0x{store.APPLICATION:X}" in TEXTS["docs/file_formats.md"]
    assert f"the schema's number, {store.SCHEMA}." in TEXTS["docs/file_formats.md"]


@pytest.mark.whole_registry
def test_the_kinds_of_a_calibrators_map_are_those_of_the_guide():
    table = TEXTS["docs/file_formats.md"].split("| kind |")[1].split("\n\n")[0]
    kinds = {method.kind for method in CALIBRATORS.values()} | {MAP_PER_FOLD}
    assert set(re.findall(r"^\| `(\w+)` \|", table, flags=re.M)) == kinds
    of_k = TEXTS["docs/file_formats.md"].split("| map of K classes |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", of_k, flags=re.M)) == set(OF_K)


def results(heading: str) -> pd.DataFrame:
    """The first table under a heading of docs/results.md, by method."""
    section = TEXTS["docs/results.md"].partition(f"\n## {heading}")[2].partition("\n## ")[0]
    first = re.search(r"(?:^\|.*\|\n)+", section, re.M)[0]
    lines = [[cell.strip(" *") for cell in line[1:-1].split("|")] for line in first.splitlines()]
    return pd.DataFrame(lines[2:], columns=lines[0]).set_index(lines[0][0])


def number(cell: str) -> float:
    return float(re.match(r"[\d.]+", cell)[0])


LOSSES = ["regret in Brier score", "regret in log loss"]


@pytest.fixture(scope="module")
def arena() -> pd.DataFrame:
    return results("The arena")


@pytest.fixture(scope="module")
def always() -> pd.DataFrame:
    """What each method loses if it is always used, by the method's key."""
    table = results("Which calibrator should I use here?")
    return pd.DataFrame(
        {key: table.loc[f"always {name_of(key)}"] for key in ("platt", "none", "venn_abers", "isotonic")}
    ).T


@pytest.fixture(scope="module")
def which_calibrator() -> str:
    return TEXTS["README.md"].partition("## Which calibrator, when")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def reasons(which_calibrator) -> list[list[str]]:
    """The numbers of each row's last cell."""
    cells = re.findall(r"^\| .* \| .* \| (.*) \|$", which_calibrator, re.M)[1:]
    return [re.findall(r"\d[\d.]*\d", why) for why in cells]


@pytest.fixture(scope="module")
def by_size() -> dict[str, pd.DataFrame]:
    """Mean regrets by method and size, for log loss and Brier score."""
    part = TEXTS["docs/results.md"].partition("## The arena by size")[2].partition("\n## ")[0]
    found = {}
    for loss, text in zip(LOSSES[::-1], re.findall(r"(?:^\|.*\|\n)+", part, re.M), strict=False):
        head, _, *lines = [line[1:-1].split("|") for line in text.splitlines()]
        cells = [[float(cell.split()[0]) for cell in line[1:]] for line in lines]
        found[loss] = pd.DataFrame(
            cells, [line[0].strip() for line in lines], [name.split()[0] for name in head[1:]]
        )
    return found


def test_automatic_calibration_loses_least_at_every_size(reasons, by_size):
    for table in by_size.values():
        assert set(table.idxmin()) == {CALIBRATORS["auto"].label}
        assert table.shape == (15, 6)
    assert reasons[0] == ["15", "56", "50", "15", "000"]


def test_of_the_other_methods_platt_scaling_and_then_venn_abers_lose_least(reasons, by_size):
    others = by_size["regret in log loss"].drop(CALIBRATORS["auto"].label).idxmin()
    assert (
        [size for size, name in others.items() if name == "Platt scaling"] == reasons[1][1:] == ["50", "150"]
    )
    assert set(others[["500", "1,500", "5,000", "15,000"]]) == {"Venn–Abers"}
    assert (reasons[1][0], reasons[2]) == ("14", ["14", "500"])


def test_the_recommendation_begins_with_the_methods_of_the_readme(which_calibrator):
    assert_says(which_calibrator, "starts from", *map(name_of, METHODS_WITH_PRIOR))


def test_venn_abers_has_no_infinite_loss_and_isotonic_regression_is_warned_of_with_its(reasons, always):
    assert number(always.loc["venn_abers", "infinite"]) == 0
    assert reasons[3] == [always.loc["isotonic", "infinite"].rstrip(" %"), "430"]


@pytest.mark.parametrize("words", ["430 tables", "1035", "1074"])
def test_what_was_compared_stands_in_the_readme_and_in_the_results(which_calibrator, words):
    assert words in which_calibrator
    assert words in TEXTS["docs/results.md"]


def test_the_advice_for_more_classes_says_what_the_results_say():
    arena, tables = (
        results("The arena of three or more classes"),
        results("Which calibrator for three or more"),
    )
    said = re.findall(r"0\.\d{4}", TRIED_ON_CLASSES)
    kinds = ["the advice", f"always {name_of(START_OF_CLASSES[0])}"]
    assert said == [tables.loc[kind, "regret in Brier score"] for kind in kinds]
    assert "348 cases from 18 data sets" in TRIED_ON_CLASSES
    wins = arena.filter(regex="log-loss|CalArena|84|20 vision").map(lambda cell: number(cell) if cell else 0)
    assert set(wins.idxmax()) == {"Structured matrix scaling"}
    assert arena["regret in Brier score"].map(number).idxmin() == "Dirichlet calibration"


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == calib.__version__
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert len(citation["references"]) == 4
