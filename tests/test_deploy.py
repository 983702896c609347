"""The steps of the Dockerfile run as they are where no Docker is: without root, with packages that are there."""

import json
import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
import yaml

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
    return folder


@pytest.mark.soak
def test_what_the_image_installs_starts_and_is_healthy(tmp_path):
    (tmp_path / "source").mkdir()
    source, installed = context(tmp_path / "source"), tmp_path / "calibration"
    there = {"PYTHONPATH": sysconfig.get_path("purelib"), "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1"}
    there |= {"PIP_NO_BUILD_ISOLATION": "0"}  # which is how pip spells that there is none
    port = str(free_port())
    settings = {
        "STREAMLIT_SERVER_PORT": port,
        "STREAMLIT_SERVER_BASE_URL_PATH": "course",
        "HOME": str(tmp_path),
    }
    environment = os.environ | there | settings

    def step(script: str) -> list[str]:
        return [str(source / "deploy" / script), str(installed)]

    subprocess.run(step("install.sh"), env=environment, cwd=tmp_path, check=True)
    assert (installed / "bin" / "calib").exists()
    assert subprocess.run(step("healthy.sh"), env=environment, capture_output=True).returncode != 0
    with served_by(step("start.sh"), f"http://127.0.0.1:{port}/course", env=environment, cwd=tmp_path):
        assert subprocess.run(step("healthy.sh"), env=environment).returncode == 0
    assert not list(source.rglob("build"))
