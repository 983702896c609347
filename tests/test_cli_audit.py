"""``python -m calib audit``: the same segments as ``audit``, in words and as a table."""

import json

import numpy as np
import pandas as pd
import pytest

from calib.__main__ import main
from calib.analysis.audit import audit
from calib.analysis.grouping import grouping_loss
from calib.kernel.wording import number
from tests.saying import assert_says


def table(shift, n=2000):
    rng = np.random.default_rng(4)
    region, age = rng.choice(["north", "south", "west"], n), rng.integers(20, 80, n)
    p = rng.uniform(0.1, 0.7, n)
    y = rng.random(n) < p + shift * (region == "west")
    return pd.DataFrame({"region": region, "age": age, "p": p, "target": y.astype(int)})


@pytest.fixture
def files(tmp_path):
    def write(frame, **changes):
        recipe = {"content": "predictions", "score": "p", "calibrators": ["none"]} | changes
        (tmp_path / "recipe.json").write_text(json.dumps(recipe))
        frame.to_csv(tmp_path / "data.csv", index=False)
        return [str(tmp_path / "recipe.json"), str(tmp_path / "data.csv")]

    return write


def test_it_prints_the_segments_of_the_audit_and_names_the_group(files, tmp_path, capsys):
    frame = table(0.3)
    assert main(["audit", *files(frame), "--resamples", "199", "--csv", str(tmp_path / "out.csv")]) == 0
    said = capsys.readouterr()
    assert "region = west: " in said.err
    assert "adjusted p = 0.005" in said.err
    gain = grouping_loss(frame["target"], frame["p"], frame[["region", "age"]])
    assert_says(said.err, "lower the Brier score", "at least", number(gain.lower))
    written = pd.read_csv(tmp_path / "out.csv")
    known = audit(
        frame["target"], frame["p"], frame[["region", "age"]], resamples=199, random_state=0
    ).segments
    assert list(written["segment"]) == list(known["segment"])
    np.testing.assert_allclose(written["statistic"], known["statistic"])


def test_right_probabilities_are_said_to_be_right_and_the_status_is_0(files, capsys):
    assert main(["audit", *files(table(0.0)), "--resamples", "199", "--depth", "1"]) == 0
    assert_says(capsys.readouterr().err, "No segment")


def test_columns_can_be_chosen(files, capsys):
    assert main(["audit", *files(table(0.2)), "--resamples", "19", "--columns", "age"]) == 0
    assert "region" not in capsys.readouterr().out


def test_weights_can_be_ignored(files, capsys):
    frame = table(0.2).assign(w=np.random.default_rng(0).gamma(1, size=2000))
    printed = []
    for options, changes in (([], {"weight": "w"}), (["--unweighted"], {"weight": "w"}), ([], {})):
        columns = ["--resamples", "19", "--columns", "region"]
        assert main(["audit", *files(frame, **changes), *columns, *options]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[1] == printed[2] != printed[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--depth", "9"], "depth"),
        (["--columns", "height"], "height"),
        (["--calibrator", "platt"], "calibrator"),
    ],
)
def test_what_it_cannot_do_is_said_by_name(files, capsys, options, message):
    assert main(["audit", *files(table(0.0)), *options]) == 2
    assert message in capsys.readouterr().err


def test_a_calibrator_that_is_off_for_all_rows_is_said_beside_the_segments(files, capsys):
    frame = table(0.0, 3000)
    frame["part"] = np.where(np.arange(3000) < 300, "calibrate", "test")
    frame.loc[frame["part"] == "calibrate", "target"] = frame["p"].to_numpy()[:300].round().astype(int)
    asked = files(frame, calibrators=["platt"], part="part", split="file")
    assert main(["audit", *asked, "--resamples", "19"]) == 0
    assert_says(capsys.readouterr().err, "logistic recalibration of all rows", "Platt scaling on 300 rows")
