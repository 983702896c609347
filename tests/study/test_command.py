"""``python -m calib study``: rows as a CSV, clear refusals, and a run that survives being killed."""

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calib.__main__ import main
from calib.study import Store, summarise
from tests.saying import assert_says

from .small import FAILING, PROTOCOL, files

ROOT = Path(__file__).parents[2]


def command(folder, *more, data=("one",), protocol="small.toml"):
    paths = [str(folder / f"{name}.csv") for name in data]
    return [
        "study",
        str(folder / protocol),
        "--data",
        *paths,
        "--store",
        str(folder / "results.sqlite"),
        *map(str, more),
    ]


STRUCK = """
import os, signal, sys
from calib.__main__ import main
from calib.study import Store, summarise

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what a shell runs in the background
add, held = Store._add, []

def struck(store, one):  # in the middle of a transaction
    add(store, one)
    held.append(one)
    if len(held) == 8:
        os.kill(os.getpid(), {signal})

Store._add = struck
sys.exit(main(sys.argv[1:]))
"""


def start(folder, *more, struck_by=None, **options):
    """A run of its own; ``struck_by`` : the signal that meets it while it writes its eighth row."""
    begin = ["-m", "calib"] if struck_by is None else ["-c", STRUCK.format(signal=int(struck_by))]
    run = [sys.executable, *begin, *command(folder, *more, **options)]
    with (folder / "out.txt").open("w") as out, (folder / "err.txt").open("w") as err:
        return subprocess.Popen(run, cwd=ROOT, stdout=out, stderr=err)


def end(folder, run):
    """What a run wrote on standard error; workers that outlive it for a moment are not waited for."""
    run.wait()
    return (folder / "err.txt").read_text(encoding="utf-8")


def rows_there(folder):
    try:
        with Store(folder / "results.sqlite") as store:
            return store.rows()
    except Exception:  # not there yet, or only half made
        return pd.DataFrame()


def numbers(rows):
    return rows.drop(columns="fit_seconds")


def test_the_rows_are_written_as_csv(tmp_path, capsys):
    files(tmp_path, "one", "jEdit_4.0")
    given = ("--csv", tmp_path / "rows.csv", "--report", tmp_path / "study.zip")
    assert main(command(tmp_path, *given, data=("one", "jEdit_4.0"))) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "100% 24 of 24 runs" in printed.err
    assert "saved: 36 results in " in printed.err
    assert "or give" not in printed.err  # what was given is not offered
    rows = pd.read_csv(tmp_path / "rows.csv")
    columns = [
        "data",
        "setup",
        "repeat",
        "fold",
        "seed",
        "accuracy",
        "brier",
        "log_loss",
        "reliability",
        "width",
    ]
    assert rows.columns.tolist() == [*columns, "fit_seconds"]
    assert (tmp_path / "rows.csv").read_bytes().startswith(b"data,setup")
    assert len(rows) == 2 * 3 * 2 * 3
    assert set(rows["data"]) == {"one", "jEdit_4.0"}
    assert list(dict.fromkeys(rows["setup"])) == ["Raw", "VAP", "Forest"]
    with Store(tmp_path / "results.sqlite") as store:  # all digits, and infinite losses, are in the file
        pd.testing.assert_frame_equal(rows, store.rows(), check_exact=True, check_dtype=False)
        predictions = store.repeats()
        for metric in columns[5:]:  # what the page shows, those of pooled folds included
            expected = summarise(rows, metric, predictions=predictions).means
            found = pd.read_csv(archive_of(tmp_path).open(f"{metric}/tables/means.csv"), index_col=0)
            np.testing.assert_allclose(found.loc[expected.index, expected.columns].astype(float), expected)
            assert f"{metric}/study.html" in archive_of(tmp_path).namelist()


def archive_of(folder):
    return zipfile.ZipFile(folder / "study.zip")


@pytest.mark.parametrize(
    ("how", "jobs"),
    [
        (signal.SIGKILL, 1),
        pytest.param(signal.SIGKILL, 2, marks=pytest.mark.soak),
        pytest.param(signal.SIGINT, 2, marks=pytest.mark.soak),
    ],
)
def test_a_run_that_is_killed_goes_on_with_what_is_missing(tmp_path, how, jobs):
    """The second run asks for three repeats more than the first one left."""
    files(tmp_path)
    run = start(tmp_path, "--jobs", jobs, "--repeats", 20, struck_by=how)
    err = end(tmp_path, run)
    first = rows_there(tmp_path)
    assert 0 < len(first) < 20 * 9, err
    if how == signal.SIGINT:
        assert run.returncode == 130
        assert_says(err, "stopped", "saved", "run the same command again")
        assert "Traceback" not in err
    repeats = int(first["repeat"].max()) + 4
    assert main(command(tmp_path, "--jobs", jobs, "--repeats", repeats)) == 0
    rows = rows_there(tmp_path)
    kept = rows.merge(first, on=["data", "setup", "repeat", "fold", "seed"], suffixes=("", "_first"))
    assert len(kept) == len(first) < len(rows) == repeats * 9
    assert (kept["fit_seconds"] == kept["fit_seconds_first"]).all()  # not computed again
    assert main([*command(tmp_path, "--repeats", repeats), "--store", str(tmp_path / "whole.sqlite")]) == 0
    with Store(tmp_path / "whole.sqlite") as store:
        pd.testing.assert_frame_equal(numbers(rows), numbers(store.rows()), check_exact=True)


def test_a_second_process_on_the_same_store_is_refused(tmp_path, capsys):
    files(tmp_path)
    with Store(tmp_path / "results.sqlite", write=True):
        assert main(command(tmp_path)) == 2
    assert "error: Another process is writing to" in capsys.readouterr().err


def test_a_failing_cell_is_told_and_the_exit_status_says_so(tmp_path, capsys):
    files(tmp_path, text=FAILING)
    assert main(command(tmp_path, "--csv", tmp_path / "rows.csv")) == 1
    err = capsys.readouterr().err
    assert err.count("The uncalibrated model needs probabilities") == 1
    assert_says(err, "error: one, Raw, repeat 0, fold 0", "5 more results", "needs probabilities")
    assert_says(err, "6 results failed", "tracebacks")
    assert "--retry-failed" in err
    assert len(pd.read_csv(tmp_path / "rows.csv")) == 12
    assert main(command(tmp_path, "--setups", "VAP", "Forest")) == 0
    assert main(command(tmp_path, "--retry-failed")) == 1


def test_setups_repeats_and_folds_are_chosen(tmp_path, capsys):
    files(tmp_path)
    more = ["--setups", "VAP", "--repeats", 1, "--folds", 4, "--csv", tmp_path / "rows.csv"]
    assert main(command(tmp_path, *more)) == 0
    rows = pd.read_csv(tmp_path / "rows.csv")
    assert rows[["setup", "repeat", "fold"]].to_numpy().tolist() == [["VAP", 0, k] for k in range(4)]


def test_setups_that_are_run_only_when_asked_for_are_said(tmp_path, capsys):
    files(tmp_path, text=PROTOCOL.replace('source = "made"', 'source = "made"\ndefault = ["Raw"]'))
    assert main(command(tmp_path, "--csv", tmp_path / "rows.csv")) == 0
    assert_says(capsys.readouterr().err, "1 of the 3 setups", "small")
    assert set(pd.read_csv(tmp_path / "rows.csv")["setup"]) == {"Raw"}
    assert main(command(tmp_path, "--setups", "all", "--csv", tmp_path / "rows.csv")) == 0
    assert set(pd.read_csv(tmp_path / "rows.csv")["setup"]) == {"Raw", "VAP", "Forest"}


def test_a_protocol_may_name_its_own_data_beside_it(tmp_path):
    protocol, _ = files(tmp_path)
    protocol.write_text(PROTOCOL.replace("[data]", '[data]\nsets = ["one.csv"]'), encoding="utf-8")
    assert main(["study", str(protocol), "--store", str(tmp_path / "results.sqlite"), "--repeats", "1"]) == 0
    assert set(rows_there(tmp_path)["data"]) == {"one"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--data", "nowhere.csv"], "error: nowhere.csv cannot be opened"),
        (["--setups", "Row"], "--setups: small has no setup 'Row'. Choose from Raw, VAP, Forest"),
        (["--repeats", "0"], "--repeats must be a whole number from 1"),
        (["--folds", "1"], "--folds must be a whole number from 2"),
        (["--jobs", "0"], "--jobs must be a whole number from 1"),
        (["--store", "nowhere/results.sqlite"], "there is no folder nowhere"),
        (["--csv", "nowhere/rows.csv"], "there is no folder nowhere"),
        (["--backend", "dask"], "needs the address of the scheduler"),
    ],
)
def test_what_is_wrong_is_one_clear_sentence(tmp_path, capsys, change, said):
    files(tmp_path)
    assert main(command(tmp_path, *change)) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert said in err
    assert "Traceback" not in err


def test_without_data_it_is_said_how_to_name_some(tmp_path, capsys):
    files(tmp_path)
    assert main(["study", "venn_forests_2019", "--store", str(tmp_path / "results.sqlite")]) == 2
    assert_says(capsys.readouterr().err, "--data", "missing", "label column 'target'")
    assert main(["study", "venn_forest", "--store", str(tmp_path / "results.sqlite")]) == 2
    assert_says(capsys.readouterr().err, "PROTOCOL", "TOML file", "venn_forests_2019")


def test_a_shipped_protocol_runs_by_its_name(tmp_path, capsys):
    files(tmp_path)
    run = [
        "study",
        "probability_trees_2019",
        "--data",
        str(tmp_path / "one.csv"),
        "--store",
        str(tmp_path / "s.sqlite"),
    ]
    assert main([*run, "--repeats", "1", "--folds", "2", "--csv", str(tmp_path / "rows.csv")]) == 0
    rows = pd.read_csv(tmp_path / "rows.csv")
    assert len(rows) == 8 * 2
    assert {"log_loss_base2", "accuracy_gap", "label_lower"} <= set(rows.columns)
    assert os.path.exists(tmp_path / "s.sqlite")


def test_other_metrics_than_the_protocols_are_asked_for_and_a_misspelt_one_is_refused(tmp_path, capsys):
    files(tmp_path)
    assert main([*command(tmp_path, "--repeats", 1), "--metrics", "auc,brier"]) == 0
    with Store(tmp_path / "results.sqlite") as store:
        assert [name for name in store.rows().columns if name in ("auc", "brier", "accuracy")] == [
            "auc",
            "brier",
        ]
    assert main([*command(tmp_path), "--metrics", "briar"]) == 2
    assert "--metrics" in capsys.readouterr().err
