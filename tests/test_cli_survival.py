"""``python -m calib survival``: its numbers are those of ``check_survival``, and its refusals are messages."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from calib import check_survival
from calib.__main__ import main
from calib.analysis.centres import centres
from calib.kernel.wording import two_decimals
from tests.saying import assert_says


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    hazard, end = rng.exponential(0.1, 300), rng.uniform(1, 10, 300)
    time = rng.exponential(1 / hazard)
    happened = np.where(time <= end, "dead", "alive")
    frame = pd.DataFrame({"years": np.minimum(time, end), "status": happened, "cox": 1 - np.exp(-5 * hazard)})
    frame["forest"], frame["centre"] = frame["cox"] ** 2, np.repeat(["a", "b", "c"], 100)
    path = tmp_path / "followed.csv"
    frame.to_csv(path, index=False)
    return path, frame


OPTIONS = ["--time", "years", "--event", "status", "--risk", "cox,forest", "--horizon", "5"]
CODES = ["--cause", "dead", "--censored", "alive"]


def test_it_prints_the_numbers_and_writes_the_bins(table, capsys, tmp_path):
    path, frame = table
    bins = tmp_path / "bins.csv"
    assert main(["survival", str(path), *OPTIONS, *CODES, "--bins", "4", "--csv", str(bins)]) == 0
    risks = {name: frame[name] for name in ("cox", "forest")}
    found = check_survival(frame["years"], frame["status"], risks, 5, cause="dead", censored="alive")
    printed = capsys.readouterr()
    assert_says(printed.out, "AUC", found.estimate("auc", "cox").text())
    assert_says(printed.err, "of 300 rows were censored before 5")
    written = pd.read_csv(bins)
    assert_allclose(
        written.loc[written["model"] == "forest", "observed"], found.bins(4, "forest")["observed"]
    )


def test_the_report_has_the_verdict_the_numbers_and_the_centres(table, tmp_path):
    path, frame = table
    report = tmp_path / "report.html"
    given = ["survival", str(path), *OPTIONS, *CODES, "--centre", "centre", "--html", str(report)]
    assert main(given) == 0
    text = html.unescape(report.read_text(encoding="utf-8"))
    risks = {name: frame[name] for name in ("cox", "forest")}
    found = check_survival(frame["years"], frame["status"], risks, 5, cause="dead", censored="alive")
    made = centres(found.evaluation, frame["centre"].to_numpy()[found.known["row"]])
    for said in (found.verdict.sentence, two_decimals(*found.table("forest").loc["slope"]), *made.sentences):
        assert said in text
    assert text.index("Summary</h2>") < text.index("Methods</h2>") < text.index("Calibration</h2>")
    assert text.index("Calibration</h2>") < text.index("Centres</h2>") < text.index("Items of TRIPOD+AI")
    assert all(f"Figure {i}. " in text for i in (1, 2, 3))
    assert re.search(r"<td>23b</td>\s*<td>[^<]*</td>\s*<td>Centres</td>", text)
    assert "Nagashima, Noma & Furukawa (2019)" in text
    assert "Kaplan–Meier" in text
    assert "Aalen–Johansen" not in text


def test_survival_probabilities_are_turned_into_risks(table, capsys):
    path, frame = table
    frame.assign(cox=1 - frame["cox"], forest=1 - frame["forest"]).to_csv(path, index=False)
    assert main(["survival", str(path), *OPTIONS, *CODES, "--survival", "--censoring-groups", "centre"]) == 0
    assert "ranks worse" not in capsys.readouterr().err


BAD = {
    "negative times": (
        {"years": lambda x: x - 1},
        [],
        ("time must not be negative", "position", "Measure the time from"),
    ),
    "events after the horizon only": ({"years": lambda x: x + 5}, [], ("no event by 5", "later horizon")),
    "everybody censored": ({"status": lambda x: "alive"}, [], ("Every row is censored", "--cause")),
    "risks above 1": ({"cox": lambda x: 100 * x}, [], ("must lie in [0, 1]", "Divide percentages by 100")),
    "one centre": (
        {"centre": lambda x: "a"},
        ["--centre", "centre"],
        ("one centre, 'a'", "at least two centres"),
    ),
    "centres with one class": (
        {"centre": lambda x: [f"{i}" for i in range(300)]},
        ["--centre", "centre"],
        ("0 centres of 204", "only one class", "Merge small centres"),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_message_with_the_remedy(table, tmp_path, capsys, case):
    changes, more, facts = BAD[case]
    path, frame = table
    frame.assign(**{name: change(frame[name]) for name, change in changes.items()}).to_csv(path, index=False)
    report = tmp_path / "report.html"
    assert main(["survival", str(path), *OPTIONS, *CODES, *more, "--html", str(report)]) == 2
    told = capsys.readouterr().err
    assert_says(told, *facts)
    assert "Traceback" not in told
    assert not report.exists()


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        (OPTIONS, ("event contains", "dead", "--cause", '--censored ("" if nobody was censored)')),
        ([*OPTIONS, *CODES, "--weight", "kilos"], ("There is no column 'kilos'", "years")),
        ([*OPTIONS[:-1], "50", *CODES], ("followed up to 50", "at most")),
        ([*OPTIONS, *CODES, "--time", "status"], ("time must be numbers",)),
    ],
)
def test_refusals_are_messages(table, capsys, options, facts):
    assert main(["survival", str(table[0]), *options]) == 2
    assert_says(capsys.readouterr().err, *facts)
