"""``python -m calib watch``: exit statuses, retries, and the way from the alarm to the applied correction."""

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import types
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from calib.__main__ import main
from calib.analysis.watch import watch
from calib.analysis.watch.table import MOST_TIMES
from tests.saying import assert_says

ROOT = Path(__file__).parents[1]


def table(shift, n=1500, slope=1.0):
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1, n)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n) // 30, unit="D")
    label = np.where(rng.random(n) < expit(slope * x + shift), "yes", "no")
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


def test_days_one_by_one_equal_one_pass_and_no_table_counts_twice(files, tmp_path, capsys):
    frame = table(0.4)
    state, statuses = tmp_path / "watch.state", []
    days = [frame[first : first + 150] for first in range(0, 1500, 150)]
    for rows in days:
        for _ in range(2):  # a retry exits as the first run did
            statuses.append(main(["watch", *files(rows, "today.csv"), "--state", str(state), "--json"]))
            daily = json.loads(capsys.readouterr().out)
    assert [name for name, _ in itertools.groupby(statuses)] == [0, 3, 4]
    assert statuses.count(3) == 2
    assert daily["read"] == {
        "new": 0, "known": 150, "completed": 0, "corrected": 0, "outdated": 0, "repeated": 0
    }  # fmt: skip
    assert main(["watch", *files(frame), "--state", str(tmp_path / "whole.state"), "--json"]) == 3
    whole = json.loads(capsys.readouterr().out)
    different = {"read", "status", "exit_status", "correction"}
    assert {name: whole[name] for name in whole if name not in different} == {
        name: daily[name] for name in daily if name not in different
    }
    assert whole["correction"]["intercept"] == daily["correction"]["intercept"]

    old = state.read_bytes()
    assert main(["watch", *files(days[0], "today.csv"), "--state", str(state)]) == 4
    assert "150 rows were read before" in capsys.readouterr().out
    assert state.read_bytes() == old


def test_late_and_corrected_labels_are_told(files, tmp_path, capsys):
    frame = table(0.0, 300).assign(id=range(300))
    late = frame.copy()
    late.loc[240:, "outcome"] = None
    options = ["--state", str(tmp_path / "watch.state"), "--key", "id"]
    assert main(["watch", *files(late), *options]) == 0
    assert_says(capsys.readouterr().out, "300 new rows", "240 rows count", "60 rows wait for labels")
    frame.loc[10, "outcome"] = "no" if frame.loc[10, "outcome"] == "yes" else "yes"
    assert main(["watch", *files(frame), *options]) == 0
    said = capsys.readouterr().out
    assert_says(
        said,
        "Labels that were missing before were added to 60 rows",
        "The label of 1 row has changed",
        "300 rows count",
    )
    assert main(["watch", *files(frame.drop(columns="id")), *options]) == 2
    assert "key: column 'id' was not found" in capsys.readouterr().err
    assert main(["watch", *files(frame), *options[:2]]) == 2
    assert_says(capsys.readouterr().err, "was started with", "--key id")


@pytest.mark.parametrize("suffix", ["json", "sql", "py", "js", "onnx"])
def test_the_correction_is_written_in_every_language(files, tmp_path, capsys, suffix):
    path = tmp_path / f"correction.{suffix}"
    assert main(["watch", *files(table(0.0)), "--correction", str(path)]) == 0
    assert "was not written" in capsys.readouterr().err
    assert not path.exists()
    assert main(["watch", *files(table(0.8)), "--correction", str(path)]) == 3
    assert main(["watch", *files(table(0.8)), "--json"]) == 3
    said = json.loads(capsys.readouterr().out.splitlines()[-1])["correction"]
    assert len(path.read_bytes()) > 100
    if suffix == "json":
        assert json.loads(path.read_text()) == said["calibrator"]
        assert said["calibrator"]["map"]["coefficients"] == [said["intercept"]["estimate"], 1]
        assert_says(" ".join(said["calibrator"]["notes"]), f"{said['intercept']['low']:.4f}")
    if suffix in ("sql", "py"):
        text = path.read_text()
        assert text == said["sql" if suffix == "sql" else "python"]
        assert_says(text, f"{said['intercept']['low']:.4f}", f"{said['intercept']['high']:.4f}")
    if suffix == "sql":
        rows = duckdb.sql(f"SELECT score, {text} FROM (VALUES (0.2), (0.7)) AS scores(score)").fetchall()
        for score, p in rows:
            assert p == pytest.approx(expit(logit(float(score)) + said["intercept"]["estimate"]))
    assert main(["watch", *files(table(0.8)), "--correction", str(tmp_path / "correction.txt")]) == 2
    assert ".sql" in capsys.readouterr().err


def test_an_impossible_label_is_said(files, capsys):
    frame = table(0.0)
    frame.loc[[700, 900], "p"], frame.loc[[700, 900], "outcome"] = [0.0, 1.0], ["yes", "no"]
    assert main(["watch", *files(frame)]) == 3
    said = capsys.readouterr().out
    assert_says(
        said,
        "For 1 row the model predicted 0 %, but the event happened; for 1 row the model predicted 100 %, "
        "but the event did not happen",
        "2024-01-24",
    )
    assert "Evidence against calibration: infinite" in said
    assert main(["watch", *files(frame), "--json"]) == 3
    record = json.loads(capsys.readouterr().out)
    assert record["evidence"] == "Infinity"
    assert (record["impossible"]["happened"], record["impossible"]["failed"]) == (1, 1)


@pytest.mark.parametrize(("shift", "slope"), [(0.8, 1.0), (0.0, 0.4), (0.0, 1.0)])
def test_the_record_has_every_number_of_the_text(files, capsys, shift, slope):
    frame = table(shift, slope=slope)
    frame.loc[1490:, "outcome"] = None
    frame.loc[0, "p"], frame.loc[0, "outcome"] = 0.0, "no"
    main(["watch", *files(frame)])
    said = capsys.readouterr().out.partition("To write the correction")[0]
    assert said.isascii()
    main(["watch", *files(frame), "--json"])
    record = json.loads(capsys.readouterr().out)
    if record["correction"]:
        for name in ("json", "sql", "python"):
            record["correction"].pop(name, None)
    known = list(numbers_in(record))
    constants = {"95", "0.000001", "1"}  # the level of an interval, the clip, and its other end
    if f"more than {MOST_TIMES:,} times" in said:
        assert record["log10_evidence"] > np.log10(MOST_TIMES)
        constants.add(f"{MOST_TIMES:,}")
    for text in {*re.findall(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?", said)} - constants:
        value = float(text.rstrip(".,").replace(",", ""))
        if "e" in text:  # a power of ten
            assert round(record["log10_evidence"]) == round(np.log10(value))
            continue
        digits = len(text.rstrip(".,").partition(".")[2])
        assert any(abs(each - value) <= 0.51 * 10.0**-digits for each in known), text


def numbers_in(record):
    if isinstance(record, dict | list):
        for each in record.values() if isinstance(record, dict) else record:
            yield from numbers_in(each)
    elif isinstance(record, int | float):
        yield float(record)
    elif isinstance(record, str):
        yield from map(float, re.findall(r"-?\d+(?:\.\d+)?", record))


def test_the_guide_leads_from_the_alarm_to_the_applied_correction(files, tmp_path, capsys, monkeypatch):
    """The crontab and the Airflow task as they stand: alarm, correction, recalibrated predictions, restart, calm."""
    monkeypatch.chdir(tmp_path)
    frame = table(0.8, 4500).assign(id=range(4500))
    days = [frame[first : first + 150] for first in range(0, 4500, 150)]
    crontab, correct, apply, restart = shell()
    statuses = []
    for rows in days[:10]:
        files(rows, "today.csv")
        statuses.append(main(words(crontab)))
    assert statuses == [3] + 9 * [4]
    commands = re.findall(r"To write the correction as JSON \(or .sql, .py\): (.*)", capsys.readouterr().out)
    assert main(words(commands[-1])) == 4  # nothing new, so the status stays
    written = Path("correction.json").read_text()
    assert main(words(correct)) == 4
    assert Path("correction.json").read_text() == written
    assert main(words(apply)) == 0
    assert Path("correction.py").exists()
    names = {}
    exec(Path("correction.py").read_text(), names)
    fitted = json.loads(Path("correction.json").read_text())["map"]["coefficients"][0]
    began = len(statuses)
    for i, rows in enumerate(days[began:]):
        corrected = rows.assign(p=[names["calibrate"](p) for p in rows["p"]])
        np.testing.assert_allclose(corrected["p"], expit(logit(rows["p"]) + fitted))
        files(corrected, "today.csv")
        statuses.append(main(words(restart if i == 0 else crontab)))
    assert set(statuses[began:]) == {0}
    assert len(statuses) > began + 12


class Failed(Exception):
    """Stands for Airflow's exception of a task that is not retried."""


def in_this_process(command, **options):
    """Run a command of the package without the seconds that a process of its own needs to import it."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        status = main(command[3:])
    return subprocess.CompletedProcess(command, status, out.getvalue(), err.getvalue())


@pytest.mark.parametrize("end", ["calm", "alarm", "rejected"])
def test_the_airflow_task_of_the_guide_fails_on_a_new_alarm_only(files, tmp_path, monkeypatch, end):
    """Executed as it stands, with stubs of Airflow's decorators: they call the function.

    The alarm comes from a process of its own, as there.
    """
    monkeypatch.chdir(tmp_path)
    frame = table(0.8 if end == "alarm" else 0.0).assign(id=range(1500))
    files(frame if end != "rejected" else frame.drop(columns="id"), "today.csv")
    ran = []

    def decorator(**options):
        return lambda function: lambda: ran.append(function()) or ran[-1]

    sdk = types.SimpleNamespace(dag=decorator, task=decorator)
    stubs = {
        "airflow": None,
        "airflow.sdk": sdk,
        "airflow.exceptions": types.SimpleNamespace(AirflowFailException=Failed),
    }
    for name, stub in stubs.items():
        monkeypatch.setitem(sys.modules, name, stub or types.ModuleType(name))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    text = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n(.*?)^```$", text, flags=re.M | re.S)
    if end == "alarm":
        with pytest.raises(Failed, match=r"New alarm\."):
            exec(source, {})
    monkeypatch.setattr(subprocess, "run", in_this_process)
    if end == "calm":
        exec(source, {})
        assert "No alarm" in ran[0]
        return
    with pytest.raises(Failed if end == "alarm" else RuntimeError) as failed:  # the same table again
        exec(source, {})
    assert end == "alarm" or "id" in str(failed.value)


def shell():
    """Commands of the guide's part on jobs, as they stand; a line of a crontab begins with its times."""
    text = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    part = text.partition("### A job for every day")[2].partition("## The playground")[0]
    return [each for each in re.findall(r"python -m calib [^\n]*", part) if '"' not in each or "mail" in each]


def words(command):
    """Arguments of a command, without what a shell would do with its output."""
    command = command.partition(" > ")[0]
    assert command.startswith("python -m calib ")
    return shlex.split(command.removeprefix("python -m calib "))


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
    assert "690 rows count." in said


def test_refusals_name_the_field(files, capsys):
    for changes, word in (
        ({"score": None}, "score"),
        ({"positive": None}, "positive"),
        ({"time": "when"}, "time"),
    ):
        assert main(["watch", *files(table(0.0), **changes)]) == 2
        assert word in capsys.readouterr().err
