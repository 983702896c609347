"""What README and docs say is so: links lead somewhere, code and commands are ours, formats and pages are all there."""

import ast
import dataclasses
import importlib.util
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

import calib
from calib import Recipe
from calib.__main__ import _parser
from calib.calibrators import CALIBRATORS
from calib.export.calibrators import FOLDS
from calib.study import store
from calib.study.reading import read_protocol
from calibration_explorer.__main__ import arguments
from pages.ui.frame import PAGES

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


def loaded(module: str, name: str) -> bool:
    """Whether ``from module import name`` would do."""
    there = importlib.import_module(module)
    return hasattr(there, name) or importlib.util.find_spec(f"{module}.{name}") is not None


@pytest.mark.parametrize(("file", "source"), blocks("python"))
def test_python_is_python_and_imports_what_there_is(file, source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            assert all(loaded(node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            assert all(importlib.util.find_spec(alias.name) for alias in node.names)


@pytest.mark.parametrize(("file", "text"), blocks("json"))
def test_json_is_a_recipe(file, text):
    assert Recipe.from_json(text) != Recipe()


@pytest.mark.parametrize(("file", "text"), blocks("toml"))
def test_toml_is_a_protocol_or_an_entry_point(file, text):
    values = tomllib.loads(text)
    if "project" not in values:
        assert read_protocol(text, "block.toml").setups


COMMAND = r"python -m calib |calibration-explorer |make |python -m (?:scripts|benchmarks)"


def commands(text: str) -> list[str]:
    """Commands of ours in blocks without a language and in code within lines."""
    shells = [body for kind, body in BLOCK.findall(text) if not kind]
    lines = "\n".join(shells).replace("\\\n", " ").splitlines()
    within = re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))
    return [line.strip() for line in lines + within if re.match(COMMAND, line.strip())]


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
        assert importlib.util.find_spec(words[2])


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
    assert f"- [{page.name}](pages/{stem}.md): {page.question}" in TEXTS["docs/guide.md"]
    assert text.splitlines()[0].endswith(f": {page.name}")


def test_pictures_are_small_and_none_is_left_over():
    pictures = {path.stem: path.stat().st_size for path in (DOCS / "pictures").iterdir()}
    assert set(pictures) == set(STEMS)
    assert {path.stem for path in (DOCS / "pages").iterdir()} == set(STEMS)
    assert sum(pictures.values()) < 1.5e6
    assert min(pictures.values()) > 10_000  # an empty page takes three


def test_the_fields_of_a_recipe_are_those_of_the_guide():
    rows = re.findall(
        r"^\| `(\w+)` \| (fit|calibrate|view) \| `(.*?)` \| (.*?) \|$", TEXTS["docs/file_formats.md"], re.M
    )
    whole = json.loads(Recipe().to_json())
    fields = [
        (f.name, f.metadata["part"], whole[f.name], f.metadata["help"]) for f in dataclasses.fields(Recipe)
    ]
    assert [(name, part, json.loads(default), help) for name, part, default, help in rows] == fields


def test_the_tables_of_a_store_are_those_of_the_guide():
    assert store.TABLES.strip() in TEXTS["docs/file_formats.md"]
    assert f"0x{store.APPLICATION:X}" in TEXTS["docs/file_formats.md"]
    assert f"the schema's number, {store.SCHEMA}." in TEXTS["docs/file_formats.md"]


def test_the_kinds_of_a_calibrators_map_are_those_of_the_guide():
    table = TEXTS["docs/file_formats.md"].split("| kind |")[1].split("\n\n")[0]
    kinds = {method.kind for method in CALIBRATORS.values()} | {FOLDS}
    assert set(re.findall(r"^\| `(\w+)` \|", table, flags=re.M)) == kinds


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == calib.__version__
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert len(citation["references"]) == 4
