"""``python -m calib watch``: exit status 3 on an alarm, and the state from day to day equals one pass."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from calib.__main__ import main
from calib.analysis.watch import watch


def table(shift, n=1500):
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1, n)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n) // 30, unit="D")
    label = np.where(rng.random(n) < expit(x + shift), "yes", "no")
    return pd.DataFrame({"day": day.strftime("%Y-%m-%d"), "p": expit(x), "outcome": label})


RECIPE = {"target": "outcome", "positive": "yes", "score": "p", "time": "day"}


@pytest.fixture
def files(tmp_path):
    def write(frame, name="data.csv", **changes):
        (tmp_path / "recipe.json").write_text(json.dumps(RECIPE | changes))
        frame.to_csv(tmp_path / name, index=False)
        return [str(tmp_path / "recipe.json"), str(tmp_path / name)]

    return write


@pytest.mark.parametrize(("shift", "status"), [(0.0, 0), (0.8, 3)])
def test_the_exit_status_tells_of_an_alarm(files, capsys, shift, status):
    assert main(["watch", *files(table(shift)), "--json"]) == status
    said = json.loads(capsys.readouterr().out)
    frame = table(shift)
    found = watch(frame["outcome"] == "yes", frame["p"], pd.to_datetime(frame["day"]).to_numpy())
    assert said["rows"] == 1500
    assert said["evidence"] == pytest.approx(found.now, rel=1e-9)
    assert said["alarm"] == (None if found.alarm is None else frame["day"][found.alarm])
    assert said["since"] == (None if found.since is None else frame["day"][found.since])


def test_days_one_by_one_equal_one_pass(files, tmp_path, capsys):
    frame = table(0.8)
    state = tmp_path / "state.json"
    for _, rows in frame.groupby("day"):
        status = main(["watch", *files(rows, "today.csv"), "--state", str(state), "--json"])
        daily = json.loads(capsys.readouterr().out)
    assert status == 3
    whole = tmp_path / "whole.json"
    main(["watch", *files(frame), "--state", str(whole), "--json"])
    assert json.loads(capsys.readouterr().out) == daily
    assert whole.read_text() == state.read_text()

    old = state.read_text()
    assert main(["watch", *files(frame[:30], "today.csv"), "--state", str(state)]) == 2  # read before
    assert "read before" in capsys.readouterr().err
    assert state.read_text() == old


@pytest.mark.parametrize("shown", [None, "b"])
def test_classes_are_watched_by_their_confidence_or_one_by_one(tmp_path, capsys, shown):
    rng = np.random.default_rng(1)
    P = rng.dirichlet([1, 1, 1], 900).round(3)
    P[:, 2] = 1 - P[:, 0] - P[:, 1]
    y = (rng.random((900, 1)) >= P.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    frame = pd.DataFrame(P, columns=["p_a", "p_b", "p_c"]).assign(outcome=np.array(["a", "b", "c"])[y])
    frame.loc[890:, "outcome"] = None
    frame.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "recipe.json").write_text(json.dumps({"target": "outcome", "view_class": shown}))
    main(["watch", str(tmp_path / "recipe.json"), str(tmp_path / "data.csv"), "--json"])
    said = json.loads(capsys.readouterr().out)
    k = P.argmax(axis=1) if shown is None else np.full(900, 1)
    known = np.arange(890)
    found = watch((y == k)[known], P[np.arange(900), k][known])
    assert said["rows"] == 890
    assert said["evidence"] == pytest.approx(found.now, rel=1e-6)


def test_rows_without_labels_wait(files, capsys):
    frame = table(0.0)
    frame.loc[700, "outcome"] = None
    assert main(["watch", *files(frame)]) == 0
    said = capsys.readouterr().out
    assert "810 rows wait for labels" in said
    assert "690 rows." in said


def test_refusals_name_the_field(files, capsys):
    for changes, word in (
        ({"score": None}, "score"),
        ({"positive": None}, "positive"),
        ({"time": "when"}, "time"),
    ):
        assert main(["watch", *files(table(0.0), **changes)]) == 2
        assert word in capsys.readouterr().err
