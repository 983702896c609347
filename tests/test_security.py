"""What SECURITY.md promises and no other part's tests hold; and that the tests it names are there."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from calib import Recipe
from calib.export import page_source, python_source
from calib.export.source import PAGE_BODIES

ROOT = Path(__file__).parents[1]
SOURCES = [
    path for folder in ("calib", "pages", "calibration_explorer") for path in (ROOT / folder).rglob("*.py")
]
MODULES = {"cloudpickle", "dill", "shelve", "marshal", "yaml", "code"}
CALLS = {"eval", "exec", "__import__", "system", "popen", "read_pickle", "read_sql", "joblib.load", "np.load"}
READING = {"load", "loads", "Unpickler"}  # of pickle, which may write: a key of what is drawn is made so
KEYWORDS = {"shell", "allow_pickle", "unsafe_allow_html", "unsafe_allow_javascript"}


def called(node: ast.Call) -> set[str]:
    """The name that is called, with and without what stands before its last dot."""
    whole = ast.unparse(node.func)
    return {whole, whole.rpartition(".")[2] if whole.split(".")[0] != "re" else whole}


def suspicious(source: str) -> list[str]:
    """What could make code or HTML of data: imports, calls, options, and HTML with a variable in it."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
            )
            found += sorted(MODULES & {name.split(".")[0] for name in names})
            if isinstance(node, ast.ImportFrom) and node.module == "pickle":
                found += sorted(f"pickle.{alias.name}" for alias in node.names if alias.name in READING)
        elif isinstance(node, ast.Call):
            found += sorted(CALLS & called(node))
            found += sorted({f"pickle.{name}" for name in READING} & called(node))
            found += sorted(KEYWORDS & {keyword.arg for keyword in node.keywords if keyword.arg})
            if "st.html" in called(node):
                parts = {part.id for part in ast.walk(node.args[0]) if isinstance(part, ast.Name)}
                # Of a theme's inks alone, and of rules that are made of them
                found += sorted(name for name in parts - {"theme", "legible"} if not name.isupper())
    return found


def test_no_code_is_made_of_data():
    assert len(SOURCES) > 200
    found = {
        path.relative_to(ROOT).as_posix(): suspicious(path.read_text(encoding="utf-8")) for path in SOURCES
    }
    assert {path: what for path, what in found.items() if what} == {}


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import pickle\npickle.loads(content)", "pickle.loads"),
        ("from pickle import loads", "pickle.loads"),
        ("import dill", "dill"),
        ("eval(text)", "eval"),
        ("pd.read_pickle(file)", "read_pickle"),
        ("subprocess.run(text, shell=True)", "shell"),
        ("st.markdown(text, unsafe_allow_html=True)", "unsafe_allow_html"),
        ("st.html(f'<b>{name}</b>')", "name"),
        ("frame.eval(text)", "eval"),
    ],
)
def test_the_check_sees_what_it_should(source, what):
    assert what in suspicious(source)


NAMES = [
    "a'b",
    'a"b',
    '"""',
    "a\nraise SystemExit",
    "a\\",
    "{x}",
    "%s",
    "#",
    "\u2028x",
    "\x85y",
    "'); raise SystemExit #",
]


def shape(source: str, plain: dict[str, str]) -> str:
    """The program without regard to the strings in it; these must be all there, as they are."""
    tree = ast.parse(source)
    strings = [
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    for node in strings:
        for name, stands_for in plain.items():
            node.value = node.value.replace(name, stands_for)
    return ast.dump(tree)


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_changes_no_more_of_the_source_than_its_quotes(name):
    def sources(column: str, file: str) -> list[str]:
        recipe = Recipe(
            data="upload:00ff", target=column, positive=column, exclude=(column,), model="decision_tree"
        )
        files = {"00ff": file}
        pages = [page_source(page, recipe, files) for page in (*PAGE_BODIES, "reliability", "results", "run")]
        return [*pages, python_source(recipe, files), python_source({column: recipe, "b": recipe}, files)]

    for odd, plain in zip(sources(name, f"{name}.csv"), sources("PLAIN", "PLAIN.csv"), strict=True):
        assert shape(odd, {name: "PLAIN"}) == shape(plain, {})


def test_the_servers_settings():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["server"]["enableXsrfProtection"] is settings["server"]["enableCORS"] is True
    assert settings["server"]["address"] == "127.0.0.1"
    assert settings["server"]["maxUploadSize"] <= 400
    assert settings["browser"]["gatherUsageStats"] is False
    assert settings["client"]["showErrorDetails"] == "none"
    assert settings["logger"]["enableRich"] is False


def test_every_promise_names_a_test_that_is_there():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promises = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(promises) > 15
    for promise, named in promises:
        (test,) = re.findall("`(tests/.*?)`", named)
        file, *path = test.split("::")
        found = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        for name in path:
            inside = {
                node.name: node for node in found.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
            }
            assert name in inside, f"{promise.strip()}: {test} is not there"
            found = inside[name]
