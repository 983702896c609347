"""The steps of the Dockerfile run as they are where no Docker is: without root, with packages that are there."""

import json
import os
import re
import shutil
import subprocess
import sysconfig
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.browser.driver import free_port, served_by

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.*)$", DOCKERFILE, flags=re.M)


def test_the_image_runs_scripts_that_are_there_and_not_as_root():
    scripts = set(re.findall(r"deploy/\w+\.sh", DOCKERFILE))
    assert scripts == {path.relative_to(ROOT).as_posix() for path in (ROOT / "deploy").glob("*.sh")}
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)
    assert "healthy.sh" in instructions("HEALTHCHECK")[0]
    assert "start.sh" in instructions("CMD")[0]
    assert DOCKERFILE.index("\nUSER explorer") < DOCKERFILE.index("\nCMD")
    assert instructions("USER") == ["explorer"]


def test_proxy_and_dashboard_agree_on_path_port_and_size():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    prefix = services["proxy"]["environment"]["PATH_PREFIX"]
    assert services["explorer"]["environment"]["STREAMLIT_SERVER_BASE_URL_PATH"] == prefix
    assert "ports" not in services["explorer"]  # by the proxy only
    caddy = (ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
    assert f"reverse_proxy explorer:{instructions('EXPOSE')[0]}" in caddy
    assert caddy.count("{") == caddy.count("}")
    limit = int(re.search(r"maxUploadSize = (\d+)", (ROOT / ".streamlit" / "config.toml").read_text())[1])
    assert limit < int(re.search(r"max_size (\d+)MB", caddy)[1]) < 1.1 * limit


def test_the_container_of_developers_does_what_make_does():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert container["postAttachCommand"]["dashboard"] == "make run"
    assert container["updateContentCommand"] == "make .venv/.can-develop"
    assert container["onCreateCommand"].removeprefix("sudo ") in DOCKERFILE


def test_the_systems_packages_are_those_of_ci(tmp_path):
    """apt-get is asked for them, by whom only says what it is asked."""
    said = tmp_path / "said"
    apt = tmp_path / "apt-get"
    apt.write_text(f'#!/bin/sh\necho "$@" >> {said}\n')
    apt.chmod(0o755)
    subprocess.run(
        [ROOT / "deploy" / "system.sh"], env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, check=True
    )
    update, install = said.read_text().splitlines()
    assert update == "update -qq"
    packages = (ROOT / "packages.txt").read_text().split()
    assert install.split()[-len(packages) :] == packages
    assert " ".join(packages) in (ROOT / ".ci" / "run").read_text()


def context(folder: Path) -> Path:
    """What Docker sees of this folder: what .dockerignore does not leave out."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "**" in lines
    for name in (line[1:] for line in lines if line.startswith("!")):
        whole = (ROOT / name).is_dir()
        (shutil.copytree if whole else shutil.copy)(ROOT / name, folder / name)
    there = [f"{name}=={version(name)} --hash=sha256:{'0' * 64}" for name in locked()]
    (folder / "deploy" / "requirements.lock").write_text("\n".join(there))  # what is there, as below
    return folder


def locked() -> dict[str, str]:
    """Return package → version of the lock file."""
    text = (ROOT / "deploy" / "requirements.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE))


def test_the_lock_holds_all_that_the_dashboard_needs_in_the_tested_ranges_with_hashes():
    found, text = locked(), (ROOT / "deploy" / "requirements.lock").read_text(encoding="utf-8")
    names = {canonicalize_name(name) for name in found}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    stated = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for each in map(Requirement, stated):
        assert each.specifier.contains(found[each.name]), each
    for name in found:  # and what these need, in turn
        needed = [Requirement(each) for each in requires(name) or []]
        named = {one.name for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})}
        assert {canonicalize_name(one) for one in named} <= names, name
    for block in re.split(r"\n(?=[\w.-]+==)", text.partition("\n")[2].strip()):
        assert re.fullmatch(r"[\w.-]+==\S+(?: \\\n    --hash=sha256:[0-9a-f]{64})+", block), block[:80]


# --- the Dockerfile, step by step
# ----------------------------------------------------------------------------------------------------------


INSTEAD = {  # of what needs root or the network; tests above say what apt-get is asked for
    "apt-get": "exit 0",
    "useradd": 'for name; do :; done; mkdir -p "$IMAGE/home/$name"',
}
THERE = {  # packages come from where the tests have them
    "PYTHONPATH": sysconfig.get_path("purelib"),
    "PIP_NO_INDEX": "1",
    "PIP_NO_DEPS": "1",
    "PIP_NO_BUILD_ISOLATION": "0",  # which is how pip spells that there is none
}


def steps() -> list[tuple[str, str]]:
    """(instruction, what it says), in the Dockerfile's order."""
    whole = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", DOCKERFILE, flags=re.M))
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in whole.splitlines() if line.strip()]


class Image:
    """What the Dockerfile says, done below a folder that stands for /."""

    def __init__(self, root: Path, context: Path) -> None:
        self.root, self.context, self.place = root, context, root
        self.environment = os.environ | THERE | {"IMAGE": str(root), "PATH": self._path()}
        self.start: list[str] = []
        self.check: list[str] = []
        for name, words in steps():
            self._do(name, re.sub(r"(?<![\w.:/])/(?=opt|home|var)", f"{root}/", words))

    def _path(self) -> str:
        programs = self.root / "instead"
        programs.mkdir(parents=True)
        for name, script in INSTEAD.items():
            (programs / name).write_text(f"#!/bin/sh\n{script}\n")
            (programs / name).chmod(0o755)
        return f"{programs}:{os.environ['PATH']}"

    def _do(self, name: str, words: str) -> None:
        match name:
            case "FROM":
                assert re.fullmatch(r"python:3\.\d+-slim", words), "an image with Python and apt-get"
            case "WORKDIR":
                self.place = self.root / words
                self.place.mkdir(parents=True, exist_ok=True)
            case "COPY":
                self._copy(*words.split())
            case "RUN":
                subprocess.run(["sh", "-c", words], cwd=self.place, env=self.environment, check=True)
            case "ENV":
                self.environment |= dict(pair.split("=", 1) for pair in words.split())
            case "USER":
                self.environment["HOME"] = str(self.root / "home" / words)
                assert (self.root / "home" / words).is_dir(), "an account of its own was made"
            case "HEALTHCHECK":
                self.check = json.loads(words.partition(" CMD ")[2])
            case "CMD":
                self.start = json.loads(words)
            case _:
                assert name == "EXPOSE", f"{name}: how is this step tested?"

    def _copy(self, source: str, target: str) -> None:
        found = self.context / source
        if found.is_dir():
            shutil.copytree(found, self.place / target, dirs_exist_ok=True)
        else:
            shutil.copy(found, self.place / target)


def test_each_step_of_the_dockerfile_ends_in_a_dashboard_that_is_healthy(tmp_path):
    (tmp_path / "context").mkdir()
    image = Image(tmp_path / "image", context(tmp_path / "context"))
    port = str(free_port())
    settings = {"STREAMLIT_SERVER_PORT": port, "STREAMLIT_SERVER_BASE_URL_PATH": "course"}  # as compose.yaml
    environment = image.environment | settings
    assert subprocess.run(image.check, env=environment, capture_output=True).returncode != 0
    address = f"http://127.0.0.1:{port}/course"
    with served_by(image.start, address, env=environment, cwd=image.place):
        assert subprocess.run(image.check, env=environment).returncode == 0
    assert not list(image.root.glob("opt/source/**/build"))
