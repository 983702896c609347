"""The guide and the API reference build without a warning, load nothing from elsewhere and hold every public name."""

import contextlib
import importlib
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calib.data import looks_like_predictions, prepare_predictions
from calib.kernel.records import Predictions
from calib.metrics import metric_table

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
    assert 'href="CONTRIBUTING.html"' in index
    assert 'href="api.html"' in index


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


def test_the_query_of_the_guide_makes_the_counts_that_give_the_rows_numbers(tmp_path):
    text = (ROOT / "docs" / "splits.md").read_text(encoding="utf-8")
    (query,) = re.findall("```sql\n(.*?)```", text, flags=re.S)
    rng = np.random.default_rng(0)
    score = rng.random(5000).round(3)
    rows = pd.DataFrame({"score": score, "label": (rng.random(5000) < score).astype(int)})
    with contextlib.closing(sqlite3.connect(tmp_path / "rows.db")) as connection:
        rows.to_sql("predictions", connection, index=False)
        counts = pd.read_sql(query, connection)
    assert looks_like_predictions(counts)
    one, many = (
        prepare_predictions(counts, "label", roles={"weight": "count"}),
        prepare_predictions(rows, "label"),
    )
    judged = {
        name: Predictions(data.y, data.X["score"].to_numpy(), weight=data.weight)
        for name, data in {"counts": one, "rows": many}.items()
    }
    table = metric_table(judged)
    np.testing.assert_allclose(table.loc["counts"], table.loc["rows"], rtol=0, atol=1e-9)


def test_the_guides_example_runs_and_its_table_is_that_of_the_optimism():
    text = (ROOT / "docs" / "splits.md").read_text(encoding="utf-8")
    (example,) = re.findall("```python\n(.*?)```", text, flags=re.S)
    *lines, last = example.strip().splitlines()
    names: dict = {}
    exec("\n".join(lines), names)
    table = eval(last, names)
    assert set(table["metric"]) == {"brier", "log_loss"}
    assert (table[table["metric"] == "brier"]["lower"] > 0).all()
