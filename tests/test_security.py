"""What SECURITY.md promises and no other part's tests hold; and that the tests it names are there."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
from streamlit import config

from calib import Recipe
from calib.data import confined, limits, onnx_model
from calib.export import page_source, python_source
from calib.export.source import PAGE_BODIES
from calib.lessons import live_quiz as room
from calibration_explorer.__main__ import HERE_ALONE
from pages.ui import session_cache

ROOT = Path(__file__).parents[1]
SOURCES = [
    path for folder in ("calib", "pages", "calibration_explorer") for path in (ROOT / folder).rglob("*.py")
]
MODULES = {"cloudpickle", "dill", "shelve", "marshal", "yaml", "code", "pty"}
CALLS = {
    "eval",
    "query",
    "exec",
    "__import__",
    "system",
    "popen",
    "getoutput",
    "getstatusoutput",
    "read_pickle",
}
CALLS |= {"read_sql", "joblib.load", "np.load"}
BY_THEIR_NAME = {
    "builtins",
    "joblib",
    "os",
    "pickle",
    "subprocess",
}  # imported so alone: their calls are seen
SHELLS = {"sh", "bash", "/bin/sh", "/bin/bash", "cmd", "powershell"}
READING = {"load", "loads", "Unpickler"}  # of pickle, which may write: a key of what is drawn is made so
KEYWORDS = {"shell", "allow_pickle", "unsafe_allow_html", "unsafe_allow_javascript"}
NEVER_OFF = {"escape"}  # options that make text of markup


def called(node: ast.Call) -> set[str]:
    """The name that is called, with and without what stands before its last dot."""
    whole = ast.unparse(node.func)
    return {whole, whole.rpartition(".")[2] if whole.split(".")[0] != "re" else whole}


def _is_off(keyword: ast.keyword) -> bool:
    return isinstance(keyword.value, ast.Constant) and keyword.value.value is False


STYLES = {"rules", "sheet", "sheets", "map", "theme", "_variables"}  # in pages/ui/style.py


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
            if isinstance(node, ast.ImportFrom) or any(alias.asname for alias in node.names):
                found += sorted(BY_THEIR_NAME & set(names))
        elif isinstance(node, ast.Attribute) and node.attr == "style":  # pandas' Styler escapes no name
            found.append("style")
        elif isinstance(node, ast.List | ast.Tuple) and node.elts:
            found += sorted(SHELLS & {getattr(node.elts[0], "value", None)})
        elif isinstance(node, ast.Call):
            found += sorted(CALLS & called(node))
            found += sorted({f"pickle.{name}" for name in READING} & called(node))
            found += sorted(KEYWORDS & {each.arg for each in node.keywords if each.arg and not _is_off(each)})
            found += sorted(NEVER_OFF & {each.arg for each in node.keywords if each.arg and _is_off(each)})
            if "st.html" in called(node):
                parts = {part.id for part in ast.walk(node.args[0]) if isinstance(part, ast.Name)}
                # Of a theme's inks alone, and of the stylesheets
                found += sorted(name for name in parts - STYLES if not name.isupper())
    return found


BETWEEN_OUR_PROCESSES = {"calib/data/confined/apart.py": ["pickle.loads"]}
"""What a process of ours has just sent to the one that computes it, by a socket that they share with nobody."""


def test_no_code_is_made_of_data():
    assert len(SOURCES) > 200
    found = {
        path.relative_to(ROOT).as_posix(): suspicious(path.read_text(encoding="utf-8")) for path in SOURCES
    }
    assert {path: what for path, what in found.items() if what} == BETWEEN_OUR_PROCESSES


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import pickle\npickle.loads(content)", "pickle.loads"),
        ("from pickle import loads", "pickle"),
        ("import pickle as p\np.loads(content)", "pickle"),
        ("from os import system as run", "os"),
        ("from joblib import load", "joblib"),
        ("import dill", "dill"),
        ("eval(text)", "eval"),
        ("pd.read_pickle(file)", "read_pickle"),
        ("subprocess.run(text, shell=True)", "shell"),
        ("st.markdown(text, unsafe_allow_html=True)", "unsafe_allow_html"),
        ("st.html(f'<b>{name}</b>')", "name"),
        ("frame.style.to_html()", "style"),
        ("frame.to_html(escape=False)", "escape"),
        ("frame.eval(text)", "eval"),
        ("frame.query(text)", "query"),
        ("subprocess.getoutput(text)", "getoutput"),
        ("subprocess.run(['sh', '-c', text])", "sh"),
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


# Of a script or style: makes HTML, runs text, asks for something, keeps something.
FORBIDDEN = re.compile(
    r"(?:inner|outer|Adjacent)HTML|document\.write|ContextualFragment|DOMParser|\beval\(|\bFunction\(|"
    r"set(?:Timeout|Interval)\((?!\(\) =>)|\bfetch\(|XMLHttp|WebSocket|EventSource|sendBeacon|import[ (]|"
    r"\bImage\(|\.src\b|\burl\(|//(?!www\.w3\.org/2000/svg)\w+\.\w|localStorage|document\.cookie"
)


def scripts_of_pages() -> dict[str, str]:
    files = [path for path in (ROOT / "pages").rglob("*") if path.suffix in (".js", ".css", ".html", ".svg")]
    return {path.name: path.read_text(encoding="utf-8") for path in files}


def test_the_scripts_of_a_page_make_no_html_run_no_text_and_ask_for_nothing():
    texts = scripts_of_pages()
    seat = texts["seat.js"]  # only this may store something
    assert seat.count('"calibration-explorer-room"') == seat.count("setItem(") == 1, "one thing is stored"
    texts["seat.js"] = seat.replace("localStorage", "")
    # The story's frame shows the page's own data, and no address that somebody else could set
    assert "const file = URL.createObjectURL(new Blob([data.html]," in texts["story.js"]
    texts["story.js"] = texts["story.js"].replace(
        'frame.src = `${file}${data.at ? "#at=" + data.at : fragment()}`', ""
    )
    assert {"points.js", "play.js", "points.css", "copy.html", "page.css", "wordmark.svg"} <= set(texts)
    assert {name: found for name, text in texts.items() if (found := FORBIDDEN.findall(text))} == {}


@pytest.mark.parametrize(
    "script",
    [
        "e.innerHTML = text",
        "e.outerHTML = text",
        "new Image().src = address",
        "setTimeout(text, 1)",
        "fetch(address)",
        "navigator.sendBeacon(address, text)",
        "background: url(//example.org/x.png)",
        "@import 'x.css'",
    ],
)
def test_the_check_of_scripts_sees_what_it_should(script):
    assert FORBIDDEN.search(script)


def promises() -> dict[str, str]:
    """Each promise by the test that it names."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    return {
        test: promise for promise, test in re.findall(r"^\| (.*?) \| `(tests/.*?)` \|$", text, flags=re.M)
    }


WORDS = {"two": 2, "three": 3, "four": 4}
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
BOUNDS = {
    "test_a_graph_that_asks_for_more_memory": [onnx_model.MOST_MEMORY >> 30],
    "test_a_graph_that_computes_for_longer": [onnx_model.LONGEST_RUN, onnx_model.ROWS_AT_ONCE],
    "test_rooms_and_places_are_bounded": [room.MOST_ROOMS, room.MOST_SEATS],
    "test_a_silent_room_closes": [room.SILENCE / 3600] * 2,  # three to three and a quarter hours
    "test_a_closed_session_is_emptied": [config.get_option("server.disconnectedSessionTTL") / 60],
    "test_of_a_code_out_of_any_address": [room.LENGTH],
    "test_the_servers_settings": [limits.UPLOAD_LIMIT // 10**6],
    "test_a_session_holds_to_its_bound": [
        session_cache.OF_SESSION // 10**6,
        session_cache.OF_UPLOADS // 10**6,
    ],
}


@pytest.mark.parametrize("test", BOUNDS)
def test_the_bounds_that_are_promised_are_those_of_the_code(test):
    (promise,) = (promise for named, promise in promises().items() if f"::{test}" in named)
    found = re.findall(rf"\b(?:{'|'.join(WORDS)})\b|\d[\d,]*", promise)
    assert [WORDS.get(word) or int(word.replace(",", "")) for word in found] == BOUNDS[test]


def test_the_limits_of_a_file_are_those_of_the_code():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8").partition("## Limits of a file")[2]
    listed = [line.replace(",", "") for line in text.split("\n\n")[2].split("\n- ")]
    found = [[int(number) for number in re.findall(r"\d+", line)] for line in listed]
    spare, always = limits.SPARE // 10**6, limits.ALWAYS // 10**6
    assert found == [
        [150, spare, always, limits.MOST_EXPANSION, limits.UPLOAD_LIMIT // 10**6],
        [spare, limits.PER_UNPACKED * always],
        [limits.LARGE_FILE // 10**6],
        [limits.LEAST_SECONDS],
        [],
    ]
    assert (limits.PER_UNPACKED, limits.PER_TEXT, confined.WALL) == (4, 10, 6)
    assert limits.BYTES_PER_SECOND == 10**6


def test_no_page_reads_a_table_in_the_servers_process():
    for path in (ROOT / "pages").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "read_table", path
                given = {word.arg: word.value for word in node.keywords}
                assert node.func.id != "TableFile" or given["confined"].value is True, path


def test_the_servers_settings():
    assert SETTINGS["server"]["enableXsrfProtection"] is SETTINGS["server"]["enableCORS"] is True
    assert SETTINGS["server"]["address"] == "127.0.0.1"
    assert set(SETTINGS["server"]["allowedHosts"]) == set(HERE_ALONE) == {"localhost", "127.0.0.1", "::1"}
    assert SETTINGS["server"]["maxUploadSize"] * 10**6 == limits.UPLOAD_LIMIT  # as the browser counts
    assert SETTINGS["browser"]["gatherUsageStats"] is False
    assert SETTINGS["client"]["showErrorDetails"] == "none"
    assert SETTINGS["logger"]["enableRich"] is False


def test_no_session_watches_the_sources():
    """It would take the server seconds of processor time for each session that begins."""
    assert SETTINGS["server"]["fileWatcherType"] == "none"


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
