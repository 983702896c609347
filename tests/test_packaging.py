"""What is declared is what is needed: requirements.txt and pyproject.toml agree, and the wheel is calib alone."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def required(name: str) -> dict[str, Requirement]:
    lines = [line.split("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    found = [Requirement(line) for line in lines if line and not line.startswith("-r")]
    return {requirement.name: requirement for requirement in found}


EVERY = sorted(
    [
        (path.name, requirement)
        for path in ROOT.glob("requirements*.txt")
        for requirement in required(path.name).values()
    ],
    key=str,
)


def test_calib_needs_what_the_dashboard_needs_less_streamlit():
    dashboard = required("requirements.txt")
    assert dashboard.pop("streamlit")
    assert dashboard.pop("cachetools")  # of the pages alone
    calib = {requirement.name: requirement for requirement in map(Requirement, PROJECT["dependencies"])}
    assert {name: str(r.specifier) for name, r in calib.items()} == {
        name: str(r.specifier) for name, r in dashboard.items()
    }


@pytest.mark.parametrize(("file", "requirement"), EVERY, ids=lambda value: str(value))
def test_every_range_has_both_ends(file, requirement):
    operators = {specifier.operator for specifier in requirement.specifier}
    assert ">=" in operators, f"{requirement} in {file}: from which version on is it tested?"
    assert operators & {"<", "=="}, f"{requirement} in {file} may break with any new release: give it an upper bound"


@pytest.mark.parametrize(
    "requirement", [r for file, r in EVERY if file in ("requirements.txt", "requirements-dev.txt")], ids=str
)
def test_the_installed_version_lies_in_its_range(requirement):
    assert importlib.metadata.version(requirement.name) in requirement.specifier


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    tmp_path = tmp_path_factory.mktemp("wheel")
    source = tmp_path / "source"
    shutil.copytree(ROOT / "calib", source / "calib", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("pages", "tests"):  # must be left out
        (source / folder).mkdir()
        (source / folder / "__init__.py").touch()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*build, "--wheel-dir", str(tmp_path), str(source)], check=True, capture_output=True)
    (found,) = tmp_path.glob("*.whl")
    return found


def test_the_wheel_holds_calib_with_its_data_files_and_nothing_else(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "calib").rglob("*") if path.is_file()}
    assert names == {name for name in files if "__pycache__" not in name}


def test_the_wheel_alone_makes_a_report(wheel, tmp_path):
    """Out of the project's folder, with the templates that the wheel brings."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    script = (
        "import calib; from calib.export import report_html\n"
        "data = calib.synthetic.GaussianPair(0, 1, 2, 1).sample(200, 0)\n"
        "recipe = calib.Recipe(model='naive_bayes', calibrators=('none', 'platt'))\n"
        "print(calib.__file__, len(report_html(calib.evaluate(recipe, data))))"
    )
    run = [sys.executable, "-c", f"import calib.synthetic; {script}"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    path, size = done.stdout.split()
    assert Path(path).is_relative_to(tmp_path)
    assert int(size) > 1_000_000  # Plotly is in it


@pytest.fixture
def tree(tmp_path):
    """The Makefile and its lists beside an interpreter that writes down what it is asked for, and answers 1 to "no"."""
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncase "$*" in *$(cat {tmp_path}/no)) exit 1; esac\n')
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
    assert "-m streamlit run app.py" in first
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
