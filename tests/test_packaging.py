"""What is declared is what is needed: requirements.txt and pyproject.toml agree, and the wheel is all that runs."""

import http.client
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from packaging.requirements import Requirement

from calib.study.papers import models
from tests.browser.driver import free_port, served_by
from tests.saying import assert_says

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]


def required(name: str) -> dict[str, Requirement]:
    lines = [line.split("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    found = [Requirement(line) for line in lines if line and not line.startswith("-r")]
    return {requirement.name: requirement for requirement in found}


EXTRAS = {
    extra: [Requirement(line) for line in lines] for extra, lines in PROJECT["optional-dependencies"].items()
}
EVERY = sorted(
    [
        (path.name, requirement)
        for path in ROOT.glob("requirements*.txt")
        for requirement in required(path.name).values()
    ]
    + [(extra, requirement) for extra, needed in EXTRAS.items() for requirement in needed],
    key=str,
)


def test_the_wheel_needs_what_the_dashboard_needs():
    dashboard = required("requirements.txt")
    wheel = {requirement.name: requirement for requirement in map(Requirement, PROJECT["dependencies"])}
    assert {name: str(r.specifier) for name, r in wheel.items()} == {
        name: str(r.specifier) for name, r in dashboard.items()
    }


def test_developers_have_the_extras_in_the_same_ranges_except_the_largest():
    developers = required("requirements-dev.txt")
    for extra in EXTRAS.keys() - {"xgboost"}:  # 300 MB; a stand-in with its signature is tested
        for requirement in EXTRAS[extra]:
            assert str(developers[requirement.name].specifier) == str(requirement.specifier), extra


def test_messages_name_extras_that_exist():
    texts = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "calib").rglob("*.py"))
    named = set(re.findall(r"to_install\(['\"](\w+)['\"]\)", texts))
    assert named | {*models.EXTRAS.values()} == EXTRAS.keys()


def test_what_builds_the_wheel_is_what_the_tests_build_it_with():
    (backend,) = map(Requirement, PYPROJECT["build-system"]["requires"])
    assert {str(part) for part in backend.specifier} <= {
        str(part) for part in required("requirements-dev.txt")[backend.name].specifier
    }


@pytest.mark.parametrize(("file", "requirement"), EVERY, ids=lambda value: str(value))
def test_every_range_has_both_ends(file, requirement):
    operators = {specifier.operator for specifier in requirement.specifier}
    assert ">=" in operators, f"{requirement} in {file}: from which version on is it tested?"
    assert operators & {"<", "=="}, (
        f"{requirement} in {file} may break with any new release: give it an upper bound"
    )


@pytest.mark.parametrize(
    "requirement", [r for file, r in EVERY if file in ("requirements.txt", "requirements-dev.txt")], ids=str
)
def test_the_installed_version_lies_in_its_range(requirement):
    assert importlib.metadata.version(requirement.name) in requirement.specifier


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built of the source distribution, as an installation without a ready wheel does."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (source,) = folder.glob("*.tar.gz")
    command = ["pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir"]
    subprocess.run([sys.executable, "-m", *command, folder, source], check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def files_of(folder: str) -> set[str]:
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()}
    return {name for name in files if "__pycache__" not in name}


def test_the_wheel_holds_calib_the_pages_and_the_samples_and_nothing_else(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    app = {"app.py", ".streamlit/config.toml", *files_of("pages")}
    expected = (
        files_of("calib")
        | files_of("calibration_explorer")
        | {f"calib/{name}" for name in files_of("sample_data")}
    )
    assert names == expected | {f"calibration_explorer/{name}" for name in app}


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory) -> Path:
    """What ``pip install`` makes of the wheel, its commands among it."""
    folder = tmp_path_factory.mktemp("site")
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(folder),
    ]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    return folder


LOOK = """
import os, sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
import calib, calibration_explorer.__main__ as started

at = AppTest.from_file(str(started.APP), default_timeout=300).run()
print(Path(calib.__file__).parent, started.APP.parent, at.title[0].value, len(at.exception), sep="\\n")
print([name for name in ("duckdb", "jinja2", "segno", "sklearn.cluster") if name in sys.modules], flush=True)
os._exit(0)  # a thread of a library that still works would abort the end
"""


def test_the_installed_pages_open_on_the_first_diagram(site, tmp_path):
    """Out of the project's folder, beside another package called pages."""
    (tmp_path / "other" / "pages").mkdir(parents=True)
    (tmp_path / "other" / "pages" / "__init__.py").touch()
    environment = os.environ | {"PYTHONPATH": f"{site}:{tmp_path / 'other'}"}
    done = subprocess.run(
        [sys.executable, "-c", LOOK], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    calib, app, title, faults, unused = done.stdout.splitlines()
    assert (Path(calib), Path(app)) == (site / "calib", site / "calibration_explorer")
    assert_says(title, "probabilities", "right")
    assert faults == "0"
    assert unused == "[]", "the first page does not use it"


STARTS = {
    "by options": (
        (
            *("--address", "127.0.0.1", "--port", "{port}", "--path-prefix", "/course/"),
            *("--host", "a.example", "--host", "b.example"),
        ),
        {},
    ),
    "by environment": (
        (),
        {
            "STREAMLIT_SERVER_ADDRESS": "127.0.0.1",
            "STREAMLIT_SERVER_PORT": "{port}",
            "STREAMLIT_SERVER_BASE_URL_PATH": "course",
            "STREAMLIT_SERVER_ALLOWED_HOSTS": "a.example b.example 127.0.0.1",
        },
    ),
}


def connected(address: str, host: str) -> bool:
    """Tell whether a page of this host gets the WebSocket by which all data come."""
    place = urlsplit(address)
    browser = http.client.HTTPConnection(place.netloc)
    headers = {"Host": host, "Origin": f"http://{host}", "Connection": "Upgrade", "Upgrade": "websocket"}
    key = {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    browser.request("GET", f"{place.path}/_stcore/stream", headers=headers | key)
    status = browser.getresponse().status
    browser.close()
    assert status in (101, 403)
    return status == 101


@pytest.mark.parametrize("how", [pytest.param("by options", marks=pytest.mark.soak), "by environment"])
def test_the_command_starts_the_dashboard_with_its_own_settings(site, how, tmp_path):
    """Wherever it is started, and where no one's own settings are."""
    port = str(free_port())
    options, environment = STARTS[how]
    command = [
        sys.executable,
        str(site / "bin" / "calibration-explorer"),
        *(o.format(port=port) for o in options),
    ]
    environment = {name: value.format(port=port) for name, value in environment.items()}
    address = f"http://127.0.0.1:{port}/course"
    told = {
        "cwd": tmp_path,
        "env": os.environ | {"PYTHONPATH": str(site), "HOME": str(tmp_path)} | environment,
    }
    with (tmp_path / "said").open("w") as output, served_by(command, address, output, **told):
        alien = urllib.request.Request(f"{address}/_stcore/upload_file/a/b", data=b"x", method="PUT")
        # Without the token that only our own page has
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(alien)
        hosts = (
            "a.example",
            f"b.example:{port}",
            f"127.0.0.1:{port}",
            "evil.example",
            "a.example.evil.example",
        )
        assert [connected(address, host) for host in hosts] == [True, True, True, False, False]
    said = (tmp_path / "said").read_text()
    assert f"{address}\n" in said
    assert "usage statistics" not in said  # Streamlit's remark where config.toml was not read


def test_the_installed_command_makes_a_report_of_an_installed_sample(site, tmp_path):
    """Out of the project's folder, with the templates that the wheel brings."""
    (tmp_path / "recipe.json").write_text('{"model": "naive_bayes", "calibrators": ["none", "platt"]}')
    sample = site / "calib" / "sample_data" / "breast_cancer.csv.gz"
    run = [
        sys.executable,
        str(site / "bin" / "calib"),
        "evaluate",
        "recipe.json",
        str(sample),
        "--html",
        "report.html",
    ]
    done = subprocess.run(
        run, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(site)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "brier" in done.stdout.lower()
    assert (tmp_path / "report.html").stat().st_size > 1_000_000  # Plotly is in it


@pytest.fixture
def tree(tmp_path):
    """The Makefile and its lists beside an interpreter that writes down what it is asked for, and answers 1 to "no"."""
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncase "$*" in *$(cat {tmp_path}/no)) exit 1; esac\n'
    )
    python.chmod(0o755)
    (tmp_path / "no").write_text("nothing at all")
    return tmp_path


def asked(tree: Path, target: str) -> str:
    """What ``make target`` asks of the interpreter."""
    (tree / "asked").write_text("")
    subprocess.run(["make", target], cwd=tree, check=True, capture_output=True)
    return (tree / "asked").read_text()


RUNNING, DEVELOPING = "-r requirements.txt\n", "-r requirements-dev.txt\n"


def test_running_installs_what_running_needs_and_developing_the_rest_once(tree):
    first = asked(tree, "run")
    assert RUNNING in first
    assert DEVELOPING not in first
    assert "-m calibration_explorer --address 127.0.0.1" in first
    assert "pip install" not in asked(tree, "run")
    then = asked(tree, "lint")
    assert RUNNING not in then
    assert DEVELOPING in then
    assert "pip install" not in asked(tree, "lint") + asked(tree, "run")


@pytest.mark.parametrize("missing", ["requirements.txt", "requirements-dev.txt"])
def test_what_is_missing_is_installed_again(tree, missing):
    asked(tree, "lint")
    (tree / "no").write_text(f" {missing}")  # to whether it is sound
    with pytest.raises(subprocess.CalledProcessError):  # the interpreter refuses to install it, too
        asked(tree, "lint")
    assert f"-r {missing}\n" in (tree / "asked").read_text()
    (tree / "no").write_text("nothing at all")
    assert DEVELOPING in asked(tree, "lint")


def test_a_list_that_changed_is_installed_again(tree):
    asked(tree, "lint")
    later = (tree / ".venv" / ".can-develop").stat().st_mtime + 10
    os.utime(tree / "requirements.txt", (later, later))
    assert RUNNING in asked(tree, "run")


def test_versions_agree():
    import calib

    assert PROJECT["version"] == calib.__version__
    assert f"## [{calib.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
