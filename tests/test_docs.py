"""The guide and the API reference build without a warning, load nothing from elsewhere and hold every public name."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "calib",
    "calib.calibrators",
    "calib.metrics",
    "calib.comparison",
    "calib.synthetic",
    "calib.export",
)


pytestmark = pytest.mark.soak  # the whole site is built, half a minute


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", f"{out}/trees"]
    done = subprocess.run([*command, str(ROOT / "docs"), str(out)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return out


def test_the_guide_and_the_reference_are_there(site):
    index = (site / "index.html").read_text(encoding="utf-8")
    assert "make run" in re.sub(r"<[^>]*>", "", index)
    for part in ("guide", "reference", "evidence", "project"):
        assert f'href="{part}.html"' in index


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(site, package):
    text = (site / "api.html").read_text(encoding="utf-8")
    shown = {found.rpartition(".")[2] for found in re.findall(r'id="(calib\.[\w.]+)"', text)}
    module = importlib.import_module(package)
    public = {name for name in module.__all__ if callable(getattr(module, name))}
    assert public <= shown


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(script|img|link)\b[^>]*(src|href)=\"(https?:)?//", text), page.name
