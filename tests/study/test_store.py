"""The store gives back what was put in, bit by bit, and refuses second writers and files of another making."""

import contextlib
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.study import Store
from calib.study.cell import Result, pack
from calib.study.store import SCHEMA, distinct_failures, refusal
from tests.nobody import as_nobody


def result(data="one", setup="VAP", repeat=0, fold=0, seed=0, metrics=None, **more):
    metrics = {"brier": 0.1 + fold, "log_loss": math.inf} if metrics is None else metrics
    return Result(data, setup, repeat, fold, seed, "d" * 16, "r" * 16, metrics, **more)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def test_rows_come_back_as_they_were_in_the_protocol_s_order(path):
    with Store(path, write=True) as store:
        store.note_order(["VAP", "Raw"])
        for data in ("two", "one"):
            for fold in (1, 0):
                store.add([result(data, "Raw", fold=fold), result(data, "VAP", fold=fold, fit_seconds=0.5)])
        rows = store.rows()
    assert list(rows.columns) == [
        "data",
        "setup",
        "repeat",
        "fold",
        "seed",
        "brier",
        "log_loss",
        "fit_seconds",
    ]
    assert rows["data"].tolist() == ["one"] * 4 + ["two"] * 4
    assert rows["setup"].tolist() == ["VAP", "VAP", "Raw", "Raw"] * 2
    assert rows["fold"].tolist() == [0, 1] * 4
    assert rows["brier"].tolist() == [0.1, 1.1] * 4
    assert np.isposinf(rows["log_loss"]).all()
    assert rows["fit_seconds"].isna().sum() == 4
    with Store(path) as again:
        pd.testing.assert_frame_equal(again.rows(), rows)
        assert again.rows(sizes=True).columns[-3:].tolist() == ["n_train", "n_calibration", "n_test"]


def test_an_empty_store_has_empty_rows(path):
    with Store(path, write=True) as store:
        assert store.rows().columns.tolist() == ["data", "setup", "repeat", "fold", "seed", "fit_seconds"]
        assert len(store.failures()) == 0


def test_metrics_that_some_rows_lack_are_nan_there(path):
    with Store(path, write=True) as store:
        store.add([result(fold=0), result(fold=1, metrics={"brier": 0.3, "auc": 0.9})])
        rows = store.rows().set_index("fold")
    assert rows.loc[0, "brier"] == 0.1
    assert math.isnan(rows.loc[0, "auc"])
    assert math.isnan(rows.loc[1, "log_loss"])


def test_a_failure_is_kept_and_gives_way_to_its_repetition(path):
    with Store(path, write=True) as store:
        store.add([result(metrics={}, error="no", traceback="Traceback …"), result(fold=1)])
        assert store.rows()["fold"].tolist() == [1]
        assert store.failures()[["fold", "error", "traceback"]].to_numpy().tolist() == [
            [0, "no", "Traceback …"]
        ]
        assert [len(store.stored_keys(failed)) for failed in (None, True, False)] == [2, 1, 1]
        store.add([result()])
        assert len(store.failures()) == 0
        assert store.rows()["fold"].tolist() == [0, 1]


def test_predictions_of_all_folds_are_pooled_in_order(path):
    rng = np.random.default_rng(0)
    parts = {}
    with Store(path, write=True) as store:
        for repeat, fold in [(1, 0), (0, 1), (0, 0)]:
            y, p = rng.integers(0, 2, 5), rng.random(5)
            parts[repeat, fold] = y, p
            store.add([result(repeat=repeat, fold=fold, predictions=pack({"": Predictions(y, p)}))])
    with Store(path) as store:
        assert [(repeat, fold) for repeat, fold, _ in store.predictions("one", "VAP")] == [
            (0, 0),
            (0, 1),
            (1, 0),
        ]
        pooled = store.pooled("one", "VAP")
        np.testing.assert_array_equal(pooled.p, np.concatenate([parts[key][1] for key in sorted(parts)]))
        np.testing.assert_array_equal(pooled.y, np.concatenate([parts[key][0] for key in sorted(parts)]))
        assert len(store.pooled("one", "VAP", repeat=1).y) == 5
        by_repeat = store.repeats()
        assert list(by_repeat) == [("one", "VAP", 0), ("one", "VAP", 1)]
        np.testing.assert_array_equal(by_repeat["one", "VAP", 1].p, parts[1, 0][1])
        assert ("one", "Raw", 0) not in by_repeat
        with pytest.raises(InputError, match="no predictions .*'Raw' .*'one'"):
            store.pooled("one", "Raw")


def test_what_breaks_in_the_middle_of_a_cell_leaves_nothing_of_it(path):
    class Broken(dict):
        def values(self):
            raise RuntimeError("the disk is full")

    with Store(path, write=True) as store:
        with pytest.raises(RuntimeError):
            store.add([result(fold=0), result(fold=1, metrics=Broken(brier=1.0))])
        assert len(store.rows()) == 0
        store.add([result(fold=2)])
        assert store.rows()["fold"].tolist() == [2]


def test_a_second_writer_is_refused_and_a_reader_is_not(path):
    with Store(path, write=True) as store:
        store.add([result()])
        program = (
            "import sys; from calib.study import Store\n"
            "print(len(Store(sys.argv[1]).rows()), flush=True)\n"
            "Store(sys.argv[1], write=True)"
        )
        run = [sys.executable, "-c", program, str(path)]
        done = subprocess.run(run, capture_output=True, text=True, cwd=Path(__file__).parents[2])
        assert done.stdout.strip() == "1"
        assert "Another process is writing to" in done.stderr
        assert done.returncode != 0
    with Store(path, write=True) as store:  # and free again
        store.add([result(fold=1)])
        assert len(store.rows()) == 2


def test_a_place_that_cannot_be_written_to_is_no_other_process(path):
    path.with_name(f"{path.name}-lock").mkdir()
    with pytest.raises(InputError, match="-lock cannot be written .*writable folder"):
        Store(path, write=True)


def made_by_others(path, application=0, schema=0):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE results (id)")
        db.execute(f"PRAGMA application_id = {application}")
        db.execute(f"PRAGMA user_version = {schema}")


@pytest.mark.parametrize("write", [True, False])
def test_what_is_no_store_of_this_schema_is_refused_and_left_as_it_is(path, write):
    from calib.study.store import APPLICATION

    cases = {
        "is an SQLite file, but not a results file": lambda: made_by_others(path),
        rf"another version of this program \(schema {SCHEMA - 1}": lambda: made_by_others(
            path, APPLICATION, SCHEMA - 1
        ),
        rf"another version of this program \(schema {SCHEMA + 1}": lambda: made_by_others(
            path, APPLICATION, SCHEMA + 1
        ),
        "is not a results file of a study": lambda: path.write_bytes(b"data,setup\none,VAP\n" * 200),
    }
    for message, make in cases.items():
        path.unlink(missing_ok=True)
        make()
        before = path.read_bytes()
        with pytest.raises(InputError, match=message):
            Store(path, write=write)
        assert path.read_bytes() == before


def test_a_folder_is_no_store_and_one_in_it_is_proposed(tmp_path):
    with pytest.raises(InputError, match="is a folder.*name of a file.*results.sqlite"):
        Store(tmp_path, write=True)
    assert not tmp_path.with_name(f"{tmp_path.name}-lock").exists()


def test_a_store_that_is_not_there_is_only_made_by_a_writer(path):
    with pytest.raises(InputError, match="Results file .* does not exist"):
        Store(path)
    assert not path.exists()
    with pytest.raises(InputError, match="there is no folder"):
        Store(path.parent / "nowhere" / "x.sqlite", write=True)


@pytest.mark.soak
def test_many_rows_are_read_whole(path):
    """100 000 rows; how fast is for the benchmarks."""
    keys = [f"m{k}" for k in range(12)]
    values = np.random.default_rng(0).random((100_000, 12))
    with Store(path, write=True) as store:
        store.add(
            result(
                f"data{i % 50}", f"setup{i // 50 % 20}", i // 1000, 0, i, dict(zip(keys, row, strict=True))
            )
            for i, row in enumerate(values)
        )
        rows = store.rows()
    assert len(rows) == 100_000
    np.testing.assert_array_equal(rows.sort_values("seed")[keys].to_numpy(), values)


def test_notes_are_counted(path):
    with Store(path, write=True) as store:
        store.add([result(fold=fold, notes=("b",) if fold else ("a", "b")) for fold in range(3)])
        assert store.notes().to_dict() == {"b": 3, "a": 1}


def test_a_store_is_read_from_its_bytes(path):
    with Store(path, write=True) as store:
        store.add([result(predictions=pack({"": Predictions(np.array([0, 1]), np.array([0.2, 0.9]))}))])
        rows = store.rows()
    uploaded = Store.of_bytes(path.read_bytes(), "results.sqlite")
    pd.testing.assert_frame_equal(uploaded.rows(), rows)
    assert uploaded.pooled("one", "VAP").p.tolist() == [0.2, 0.9]
    for content in (b"data,setup\none,VAP\n" * 99, b"", b"SQLite format 3\0" + bytes(2000)):
        with pytest.raises(InputError, match="results.sqlite .*not a results file"):
            Store.of_bytes(content, "results.sqlite")
    path.unlink()
    made_by_others(path)
    with pytest.raises(InputError, match="SQLite file.*not a results file"):
        Store.of_bytes(path.read_bytes(), "other.sqlite")


@pytest.mark.parametrize(
    ("table", "value", "says"),
    [
        ("predictions SET content", zlib.compress(b"\n" + bytes(2**20)), "more than 1,000,000 bytes"),
        ("predictions SET content", b"other", "incorrect header"),
        (
            "predictions SET content",
            pack({"": Predictions(np.array([0, 1]), np.array([0.2, 9.0]))}),
            "are invalid",
        ),
        ("results SET metrics", b"1234567", "element size"),
        ("metric_sets SET keys", "brier", "Expecting value"),
    ],
)
def test_what_is_damaged_in_a_store_is_told_in_one_message(table, value, says, monkeypatch):
    monkeypatch.setattr("calib.study.cell.MOST_BYTES_OF_FOLD", 10**6)
    store = Store.in_memory()
    store.add([result(predictions=pack({"": Predictions(np.array([0, 1]), np.array([0.2, 0.9]))}))])
    store._db.execute(f"UPDATE {table} = ?", (value,))
    uploaded = Store.of_bytes(store.content(), "results.sqlite")
    with pytest.raises(InputError, match=f"results.sqlite is damaged .*{says}.*backup"):
        (uploaded.rows(), uploaded.pooled("one", "VAP"))


def test_a_store_in_memory_sorts_in_memory():
    """By default what is large is sorted in a file of /var/tmp."""
    made = Store.in_memory()
    for store in (made, Store.of_bytes(made.content(), "results.sqlite")):
        assert store._db.execute("PRAGMA temp_store").fetchone() == (2,)  # MEMORY


def test_a_store_in_memory_is_added_to_and_its_bytes_are_a_file_that_goes_on(path):
    """In memory → a file → memory again, each adding a row; no file is made beside those written here."""
    store = Store.in_memory()
    store.add([result(fold=0, predictions=pack({"": Predictions(np.array([0, 1]), np.array([0.2, 0.9]))}))])
    assert list(path.parent.iterdir()) == []
    path.write_bytes(store.content())
    with Store(path, write=True) as file:
        file.add([result(fold=1)])
    store = Store.of_bytes(path.read_bytes(), "results.sqlite")
    store.add([result(fold=2)])
    assert store.rows()["fold"].tolist() == [0, 1, 2]
    assert Store.of_bytes(store.content(), "again.sqlite").pooled("one", "VAP").p.tolist() == [0.2, 0.9]
    with Store(path) as file:
        assert file.rows()["fold"].tolist() == [0, 1]


@pytest.mark.parametrize(
    "more",
    [
        "CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results; END",
        "CREATE VIEW v AS SELECT * FROM results",
        "DROP TABLE setups",
    ],
)
def test_an_upload_with_other_tables_than_ours_is_refused(path, more):
    with Store(path, write=True) as store:
        store.add([result()])
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(more)
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with pytest.raises(InputError, match="or was changed by another program"):
        Store.of_bytes(path.read_bytes(), "results.sqlite")


def test_bytes_taken_while_another_thread_adds_hold_whole_cells():
    store, taken = Store.in_memory(), []
    cell = [result(setup=f"s{k}") for k in range(50)]

    def add():
        for fold in range(20):
            store.add([replace(one, fold=fold) for one in cell])

    writer = threading.Thread(target=add)
    writer.start()
    while writer.is_alive():
        taken.append(store.content())
    writer.join()
    some = taken[:: 1 + len(taken) // 30]
    assert {len(Store.of_bytes(one, "x").rows()) % 50 for one in (*some, store.content())} == {0}


def test_failures_of_one_set_and_reason_are_one_kind():
    lines = [
        ("one", "A", 0, 0, "few"),
        ("one", "B", 0, 1, "few"),
        ("two", "A", 0, 0, "few"),
        ("one", "A", 0, 2, "none"),
    ]
    kinds = distinct_failures(pd.DataFrame(lines, columns=["data", "setup", "repeat", "fold", "error"]))
    assert kinds["results"].tolist() == [2, 1, 1]
    assert kinds["setup"].tolist() == ["A", "A", "A"]
    assert distinct_failures(pd.DataFrame(columns=["data", "error"])).empty


def test_a_full_disk_is_said_and_the_results_before_it_are_kept(path):
    with Store(path, write=True) as store:
        store.add([result("one")])
        store._db.execute("PRAGMA max_page_count = 12")  # SQLite's own limit of the file
        with pytest.raises(sqlite3.OperationalError, match="full") as error:
            store.add(result(f"set {number}", predictions=bytes(50_000)) for number in range(100))
        assert str(refusal(path, error.value)).startswith(
            f"The disk with {path} is full. Saved results are kept."
        )
    with Store(path) as store:
        assert "one" in set(store.rows()["data"])


def test_a_damaged_store_is_said_and_nothing_is_called_safe(path):
    with Store(path, write=True) as store:
        store.add([result(f"set {number}", fold=fold) for number in range(200) for fold in range(5)])
    content = bytearray(path.read_bytes())
    content[4_096:-4_096] = b"\xff" * (len(content) - 8_192)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"is damaged \(.*\)\. Use a backup copy"), Store(path) as store:
        store.rows()
    with pytest.raises((InputError, sqlite3.DatabaseError)) as error, Store(path, write=True) as store:
        store.add([result()])
    said = error.value if isinstance(error.value, InputError) else refusal(path, error.value)
    assert "is damaged" in str(said)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_store_in_a_folder_that_only_can_be_read_is_read():
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "results.sqlite")
        with Store(path, write=True) as store:
            store.add([result()])
        Path(f"{path}-lock").unlink()
        path.chmod(0o444)
        path.parent.chmod(0o555)
        assert as_nobody(lambda: Store(path).rows()["data"].tolist()) == ["one"]
        assert sorted(os.listdir(name)) == ["results.sqlite"]
        path.chmod(0)
        assert "cannot be opened" in as_nobody(lambda: Store(path).rows()["data"].tolist())
        path.parent.chmod(0o755)
