"""The results of a study, brought as a file: read, compared, sent as a link, and taken along."""

import io
import zipfile

import pandas as pd
import pytest

from calib.kernel.wording import brief
from calib.study import as_rows, summarise
from calib.study.papers.printed import printed


def own_rows() -> pd.DataFrame:
    """The printed results on Laplace estimates, and a better method of one's own."""
    rows = as_rows("trees_laplace").drop(columns=["reliability"])
    own = rows[rows["setup"] == "LaP-VAP"].assign(setup="mine", brier=lambda table: table["brier"] - 0.01)
    return pd.concat([rows, own], ignore_index=True)


@pytest.mark.soak
def test_ones_own_results_are_compared_and_taken_along(tab):
    rows = own_rows()
    tab.open("study_results").upload("mine.csv", rows.to_csv(index=False).encode())
    summary = summarise(rows, "brier")
    assert tab.headline()["Best average rank"] == brief(summary.average_ranks["mine"])
    assert tab.page.get_by_test_id("stPlotlyChart").count() == 4
    assert tab.headline()["Compared"].startswith("88 of 100")  # german, spect and vote are other sets there
    archive = zipfile.ZipFile(io.BytesIO(tab.download(lambda: tab.press("All tables and diagrams (ZIP)"))))
    means = pd.read_csv(archive.open("tables/means.csv"), index_col=0, encoding="utf-8-sig")
    assert (
        means.loc["colic", "mine"]
        == rows[(rows["setup"] == "mine") & (rows["data"] == "colic")]["brier"].item()
    )
    latex = archive.read("tables/means.tex").decode()
    assert r"\toprule" in latex
    lines = printed("probability_trees_2019")
    value = lines[(lines["table"] == "5") & (lines["data"] == "Mean") & (lines["setup"] == "LaP-Tree")][
        "value"
    ].item()
    assert f"{means.loc['Mean', 'LaP-Tree']:.3f}" == f"{value:.3f}"
    tab.choose("results.metric", "AUC")
    assert tab.recipe_query()["results.metric"] == "auc"
    assert tab.faults() == []
