"""The report of a model that is judged on another file, opened without a network."""

import numpy as np
import pandas as pd
import pytest

from calib.data import TableFile
from calib.evaluate import evaluate
from calib.export import report_html
from calib.metrics.confidence_intervals import confidence_interval
from calib.recipe import Recipe
from calib.sources import digest, load, with_test_file
from tests.browser import files
from tests.export.test_reports import SECTIONS


def table(n: int, seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(4)
    label = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * x)), "yes", "no")
    return files.as_csv(pd.DataFrame({"x": x, "z": rng.normal(size=n).round(4), "outcome": label}))


@pytest.mark.soak
def test_the_report_of_a_model_judged_on_another_file_stands_alone(new_tab, tmp_path):
    old, new = table(400, 0), table(150, 1)
    mine, other = (f"upload:{digest(content)}" for content in (old, new))
    recipe = Recipe(
        **{"data": mine, "target": "outcome", "model": "naive_bayes"} | with_test_file(other, "new.csv"),
        calibrators=("none", "platt", "venn_abers"),
    )
    uploads = {digest(c): TableFile(n, c) for n, c in (("old.csv", old), ("new.csv", new))}
    evaluation = evaluate(recipe, load(recipe, uploads))
    (tmp_path / "report.html").write_bytes(report_html(evaluation))
    alone = new_tab(fresh=True, offline=True)
    alone.page.goto((tmp_path / "report.html").as_uri())
    alone.page.wait_for_function("document.querySelectorAll('.js-plotly-plot .main-svg').length > 20")
    assert [heading.inner_text() for heading in alone.page.locator("h2").all()] == SECTIONS
    text = alone.page.inner_text("body")
    assert "150 test rows" in text
    assert "evaluated on new" in text
    predictions = evaluation.predictions["platt"]
    low, high = confidence_interval("auc", predictions.y, predictions.p)
    auc = evaluation.measured(["auc"]).loc["platt", "auc"]
    assert f"{auc:.2f} [{low:.2f}, {high:.2f}]" in text
    assert alone.errors == []
