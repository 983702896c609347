"""The Run page: a study runs to its end, stops and goes on, with the rows of ``run_study`` into a file."""

import contextlib
import io
import re
import shlex
import threading

import pandas as pd
import pytest

from calib.__main__ import main
from calib.export import page_source, study_command
from calib.kernel.progress import Cancelled, Watch
from calib.recipe import Recipe
from calib.sources import digest
from calib.study import SHIPPED, Store, load_protocol, load_sets, run_study
from pages.ui.study import run
from tests.pages.app import (
    at_once,
    faults,
    go,
    headline,
    messages,
    page,
    settings_in_address,
    settled,
    working,
)
from tests.saying import assert_any_says, assert_says
from tests.study import small
from tests.study.openml import recorded, unreachable
from tests.waiting import until

STEM = "study_run"
CELLS = 2 * 3 * 2  # repeats, folds, fits
TOML = small.PROTOCOL.encode()


def csv(seed=0):
    return small.table(seed=seed).to_csv(index=False).encode()


def bring(at, key, *files):
    picker = at.file_uploader(key=key)
    named = [(name, content, "application/octet-stream") for name, content in files]
    picker.set_value(named if key == "run_files" else named[0])
    return at.run()


def small_study(**query):
    """The small protocol on one uploaded file, not started."""
    at = bring(page(STEM), "run_protocol_file", ("small.toml", TOML))
    at = bring(at, "run_files", ("one.csv", csv()))
    for name, value in query.items():
        at.number_input(key=f"run.{name}").set_value(value)
        at.run()
    return at


def press(at, key):
    return at.button(key=key).click().run()


def store_of(at):
    return at.session_state["study_run"].store


def whole(tmp_path, *options, names=("one",)):
    """(the rows of the same study by the command line, into a file; the protocol, the data files)."""
    protocol, paths = small.files(tmp_path, *names)
    path = tmp_path / "whole.sqlite"
    assert main(["study", str(protocol), "--data", *map(str, paths), "--store", str(path), *options]) == 0
    with Store(path) as store:
        return store.rows(), protocol, paths


def equal(rows, expected):
    pd.testing.assert_frame_equal(rows.drop(columns="fit_seconds"), expected.drop(columns="fit_seconds"))


def texts(at):
    return " ".join(
        one.value.replace("\\", "") for kind in (at.markdown, at.caption, at.success) for one in kind
    )


def test_a_study_runs_to_its_end_with_the_rows_of_the_command_line(tmp_path):
    at = small_study()
    assert faults(at) == []
    assert "12 runs, 12 model fits" in texts(at)
    assert_says(texts(at), "unknown", "first runs")
    at = settled(press(at, "start_study"))
    assert faults(at) == []
    assert headline(at) == {"Runs done": f"{CELLS} of {CELLS}", "Failed results": "0"}
    expected, *_ = whole(tmp_path)
    equal(store_of(at).rows(), expected)


def test_several_files_samples_and_a_shipped_protocol_are_counted_before_they_run():
    at = bring(page(STEM), "run_files", ("one.csv", csv(0)), ("two.csv", csv(1)))
    # Two fits serve ten setups: 2 sets × 10 × 10 × 2
    assert_says(texts(at), "2 data sets", "400 runs", "400 model fits")
    at.number_input(key="run.repeats").set_value(1)
    at.run()
    at.number_input(key="run.test_folds").set_value(5)
    at.run()
    assert "20 runs, 20 model fits" in texts(at)
    at.multiselect(key="run.setups").set_value(["RF-cal"])
    at.run()
    assert "10 runs, 10 model fits" in texts(at)
    at.selectbox(key="run.protocol").set_value("venn_abers_2014")
    at.run()
    assert faults(at) == []
    assert "run.test_folds" not in [one.key for one in at.number_input]  # random splits have none
    assert set(settings_in_address(at)) == {"run.protocol", "run.sets"}


def test_a_run_that_was_cancelled_goes_on_with_what_is_missing_alone(tmp_path, monkeypatch):
    """The third cell waits until it was called off; it is kept, and no cell is computed twice."""
    computed, hold, real = [], threading.Event(), run.run_study

    def slow(protocol, sets, store, *, watch, **more):
        def report(share, doing):
            computed.append(doing)
            if len(computed) == 3:  # two cells are done
                hold.wait(60)
            watch.report(share, doing)

        return real(protocol, sets, store, watch=Watch(report, watch.cancel), **more)

    monkeypatch.setattr(run, "run_study", slow)
    at = press(small_study(), "start_study")
    assert working(at)
    until(lambda: len(computed) == 3, "two cells are done")
    at = press(at, "cancel_study")
    hold.set()
    assert any(text.startswith("Cancelled") for text in messages(at))
    until(lambda: not at.session_state["study_run"].alone.locked(), "the cell under way is done")
    at.run()
    before = store_of(at).rows()
    assert 0 < cells_of(before) < CELLS
    computed.clear()
    at = settled(press(at, "fit_again_study"))
    assert faults(at) == []
    assert len(computed) == 1 + CELLS - cells_of(before)
    expected, *_ = whole(tmp_path)
    after = store_of(at).rows()
    equal(after, expected)
    assert len(after.merge(before, how="inner", on=list(before.columns))) == len(before)  # fit_seconds too


def cells_of(rows):
    """Cells whose results are in the rows: Raw and VAP share one."""
    return len(rows[rows["setup"] != "VAP"])


def test_a_run_rests_while_another_page_is_open_and_changed_settings_call_it_off(monkeypatch):
    begun, hold, real = [], threading.Event(), run.run_study

    def slow(protocol, sets, store, *, watch, **more):
        def report(share, doing):
            hold.wait(60)
            watch.step(share, doing)

        begun.append(watch)
        return real(protocol, sets, store, watch=Watch(report, watch.cancel), **more)

    monkeypatch.setattr(run, "run_study", slow)
    at = press(small_study(), "start_study")
    until(lambda: len(begun) == 1, "it has begun")
    at = go(at, "study_results")
    assert begun[0].cancel.is_set()
    at = at.switch_page(f"pages/{STEM}.py").run()
    assert working(at)  # it goes on by itself
    hold.set()
    until(lambda: len(begun) == 2, "it goes on")
    hold.clear()
    at.number_input(key="run.repeats").set_value(1)
    at.run()
    assert begun[1].cancel.is_set()
    assert not working(at)
    hold.set()
    at = settled(press(at, "start_study"))
    assert faults(at) == []
    assert headline(at)["Runs done"] == "6 of 6"


def test_more_repeats_later_take_only_those_that_are_missing_and_their_time_is_measured():
    at = settled(press(small_study(repeats=1), "start_study"))
    first = store_of(at).rows()
    at.number_input(key="run.repeats").set_value(2)
    at.run()
    assert re.search(r"6 are done; the rest takes about .*, estimated from 6 runs in this session", texts(at))
    at = settled(press(at, "start_study"))
    rows = store_of(at).rows()
    assert len(rows) == 2 * len(first)
    pd.testing.assert_frame_equal(rows[rows["repeat"] == 0].reset_index(drop=True), first)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("small.toml", TOML.replace(b"brier", b"briar"), "small.toml: [metrics] keys"),
        ("small.toml", b"title = ", "small.toml is not TOML"),
        ("small.toml", b"\xff\xfe\x00", "small.toml is not UTF-8 text"),
        ("small.toml", b"", "small.toml: title is missing"),
    ],
)
def test_a_broken_protocol_is_refused_in_one_message(name, content, message):
    at = bring(page(STEM), "run_protocol_file", (name, content))
    assert not at.exception
    (said,) = messages(at)
    assert message in said
    assert settings_in_address(at) == {}


def test_a_file_without_target_is_refused_in_one_message_and_the_others_are_taken():
    at = bring(page(STEM), "run_files", ("bad.csv", b"a,label\n1,x\n2,y\n"), ("one.csv", csv()))
    assert not at.exception
    (said,) = messages(at)
    assert "bad.csv: There is no column 'target'." in said
    assert settings_in_address(at) == {"run.sets": (f"upload:{digest(csv())}:one.csv",)}


def test_a_file_with_three_labels_is_refused_by_its_name():
    at = bring(page(STEM), "run_files", ("three.csv", b"a,target\n1,x\n2,y\n3,z\n" * 9))
    assert not at.exception
    (said,) = messages(at)
    assert said.startswith("three.csv: ")


def test_settings_stand_in_the_link_and_a_link_waits_for_its_files():
    at = small_study(repeats=1, test_folds=2)
    at.multiselect(key="run.setups").set_value(["Raw"])
    at.run()
    at.multiselect(key="run.metrics").set_value(["brier", "auc"])
    at.run()
    link = settings_in_address(at)
    assert link == {
        "run.protocol": f"upload:{digest(TOML)}",
        "run.protocol_file": "small.toml",
        "run.sets": (f"upload:{digest(csv())}:one.csv",),
        "run.setups": ("Raw",),
        "run.metrics": ("brier", "auc"),
        "run.repeats": 1,
        "run.test_folds": 2,
    }
    query = {
        name: ",".join(value) if isinstance(value, tuple) else str(value) for name, value in link.items()
    }
    other = at_once(STEM, **query)
    assert any("Upload small.toml again to continue" in text for text in messages(other))
    other = bring(other, "run_protocol_file", ("small.toml", TOML))
    assert any("Upload one.csv again to continue" in text for text in messages(other))
    other = bring(other, "run_files", ("one.csv", csv()))
    assert faults(other) == []
    assert settings_in_address(other) == link
    assert "2 runs, 2 model fits" in texts(other)
    other = settled(press(other, "start_study"))
    assert list(store_of(other).rows().columns) == [
        *("data", "setup", "repeat", "fold", "seed", "brier", "auc", "fit_seconds")
    ]


def test_the_downloaded_store_is_taken_on_by_the_command_line_and_back(tmp_path):
    at = settled(press(small_study(repeats=1), "start_study"))
    part = store_of(at).rows()
    path = tmp_path / "results.sqlite"
    path.write_bytes(store_of(at).content())
    protocol, paths = small.files(tmp_path, "one")
    assert main(["study", str(protocol), "--data", str(paths[0]), "--store", str(path)]) == 0
    with Store(path) as store:
        rows = store.rows()
        assert len(rows) == 2 * len(part)
        pd.testing.assert_frame_equal(rows[rows["repeat"] == 0].reset_index(drop=True), part)
    at = bring(small_study(), "run_store_file", ("results.sqlite", path.read_bytes()))
    assert faults(at) == []
    assert headline(at)["Runs done"] == f"{CELLS} of {CELLS}"
    pd.testing.assert_frame_equal(store_of(at).rows(), rows)


@pytest.mark.parametrize("content", [b"data,setup\n", b"SQLite format 3\0" + bytes(90)])
def test_what_is_no_store_is_refused_and_the_results_stay(content):
    at = settled(press(small_study(repeats=1), "start_study"))
    rows = store_of(at).rows()
    at = bring(at, "run_store_file", ("other.sqlite", content))
    assert not at.exception
    assert any("other.sqlite" in text for text in messages(at))
    pd.testing.assert_frame_equal(store_of(at).rows(), rows)


def test_results_open_on_results_without_an_upload():
    at = settled(press(small_study(repeats=1), "start_study"))
    means = store_of(at).rows().groupby("setup")["brier"].mean()
    at = settled(press(at, "run_open"))
    assert faults(at) == []
    assert_says(at.title[0].value, "method", "best", "many data sets")
    shown = next(frame.value for frame in at.dataframe if "VAP" in frame.value.columns)
    assert shown.loc["one", "VAP"].removesuffix(" ★") == f"{means['VAP']:.3f}"
    at = go(at, STEM)
    assert headline(at)["Runs done"] == "6 of 6"


def test_cells_that_fail_are_listed_with_their_reason_and_can_be_tried_again():
    """The protocol's one setup needs probabilities, which the column "a" of the file does not hold."""
    lines = small.FAILING.replace(', "width"', "").splitlines()
    raw = "\n".join(line for line in lines if '"VAP"' not in line and '"Forest"' not in line)
    at = bring(page(STEM), "run_protocol_file", ("small.toml", raw.encode()))
    at = bring(at, "run_files", ("one.csv", small.table().to_csv(index=False).encode()))
    at = settled(press(at, "start_study"))
    assert faults(at) == []
    assert headline(at)["Failed results"] == "6"
    (failed,) = [frame.value for frame in at.dataframe if "error" in frame.value.columns]
    assert failed["error"].str.startswith("The uncalibrated model needs probabilities").all()
    assert "run_open" not in [button.key for button in at.button]  # there is nothing to compare
    at = settled(press(at, "run_retry"))
    assert faults(at) == []
    assert headline(at)["Failed results"] == "6"


def test_a_set_too_small_for_the_folds_is_refused_before_anything_is_run():
    few = small.table().assign(target=["yes"] * 2 + ["no"] * 88).to_csv(index=False).encode()
    at = bring(page(STEM), "run_protocol_file", ("small.toml", TOML))
    at = settled(press(bring(at, "run_files", ("few.csv", few)), "start_study"))
    (said,) = [text for text in messages(at) if "The minority class has 2 rows" in text]
    assert_says(said, "few:", "minority class", "2 rows", "3 folds", "fewer folds")
    assert len(store_of(at).stored_keys()) == 0


def test_other_folds_are_not_mixed_with_what_is_there_and_the_remedy_is_at_hand():
    at = settled(press(small_study(repeats=1), "start_study"))
    at.number_input(key="run.test_folds").set_value(2)
    at = settled(press(at.run(), "start_study"))
    assert_any_says(messages(at), "protocol or the folds have changed")
    at = settled(press(press(at, "run_discard"), "start_study"))
    assert faults(at) == []
    assert headline(at)["Runs done"] == "4 of 4"


def test_what_is_too_much_for_the_browser_goes_to_the_command_line():
    at = page(STEM, **{"run.repeats": "1000"})
    assert any("at most 2,000 runs" in text for text in messages(at))
    assert "start_study" not in [button.key for button in at.button]


def test_a_changed_file_takes_the_place_of_the_one_of_its_name_and_results_are_not_mixed():
    at = settled(press(small_study(repeats=1), "start_study"))
    at = bring(at, "run_files", ("one.csv", csv(7)))
    assert settings_in_address(at)["run.sets"] == (f"upload:{digest(csv(7))}:one.csv",)
    assert_any_says(messages(at), "one.csv differs")
    at = settled(press(at, "start_study"))
    assert any("the data have changed since" in text for text in messages(at))


@pytest.mark.parametrize(
    "name", ["upload:x", "/etc/hostname", "openml:/etc/hostname", "sample:nothing", "app.py"]
)
def test_no_link_reads_a_file_of_the_server(name):
    at = page(STEM, **{"run.sets": name})
    said = (f"Data set {name!r} does not exist", "Upload", "number of an OpenML data set")
    assert any(part in text for text in messages(at) for part in said)
    assert "start_study" not in [button.key for button in at.button]


def test_openml_sets_are_fetched_by_their_numbers_and_run_as_on_the_command_line(tmp_path, monkeypatch):
    made = pd.DataFrame({"x": [i % 17 / 4 for i in range(60)], "class": ["good", "bad", "good"] * 20})
    recorded(tmp_path, monkeypatch, 40, made)
    at = small_study(repeats=1)
    at.text_input(key="run_openml_numbers").set_value(" 40, ")
    at = settled(press(at, "FormSubmitter:run_openml-Fetch"))
    assert settings_in_address(at)["run.sets"] == (f"upload:{digest(csv())}:one.csv", "openml:40")
    at = settled(press(at, "start_study"))
    path, files = small.files(tmp_path, "one")
    protocol = load_protocol(path)
    sets = load_sets([*map(str, files), "openml:40"], protocol.data)
    with Store(tmp_path / "expected.sqlite", write=True) as store:
        run_study(protocol, sets, store, repeats=1)
        equal(store.rows(), store_of(at).rows())
    at.number_input(key="run.repeats").set_value(2)
    assert re.search(r"the rest takes about .*, estimated from .* in this session", texts(at.run()))


def test_without_a_network_the_page_says_so_and_tries_again_when_asked_again(tmp_path, monkeypatch):
    unreachable(tmp_path, monkeypatch)
    at = settled(page(STEM, **{"run.sets": "openml:40"}))
    assert any("openml:40: OpenML could not be reached" in text for text in messages(at))
    assert "start_study" not in [button.key for button in at.button]
    made = pd.DataFrame({"x": [i % 7 / 4 for i in range(30)], "class": ["good", "bad"] * 15})
    recorded(tmp_path, monkeypatch, 40, made)
    at.text_input(key="run_openml_numbers").set_value("40")
    at = settled(press(at, "FormSubmitter:run_openml-Fetch"))
    assert not messages(at)
    assert "start_study" in [button.key for button in at.button]


def test_the_command_shown_gives_the_rows(tmp_path, monkeypatch):
    at = settled(press(small_study(repeats=1), "start_study"))
    (command,) = [block.value for block in at.code if block.value.startswith("python -m calib study")]
    small.files(tmp_path, "one")
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)[3:]) == 0
    rows = pd.read_csv(tmp_path / "rows.csv")
    equal(rows, store_of(at).rows())


def test_the_command_names_all_that_differs_from_the_protocol():
    settings = {"run.setups": ("RF-cal", "a b"), "run.metrics": ("brier", "auc"), "run.test_folds": 3}
    assert study_command(Recipe(settings=settings)) == (
        "python -m calib study venn_forests_2019 --data sample:breast_cancer --setups RF-cal 'a b' "
        "--metrics brier,auc --folds 3 --store results.sqlite --csv rows.csv"
    )


def test_the_python_shown_gives_the_rows(tmp_path, monkeypatch):
    small.files(tmp_path, "one")
    monkeypatch.chdir(tmp_path)
    settings = {
        **{
            "run.protocol": "upload:0011",
            "run.protocol_file": "small.toml",
            "run.sets": ("upload:22:one.csv",),
        },
        **{"run.repeats": 1, "run.metrics": ("brier",)},
    }
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(page_source("run", Recipe(settings=settings)), {})
    protocol = load_protocol("small.toml").measuring(["brier"])
    store = Store.in_memory()
    run_study(protocol, load_sets(["one.csv"], protocol.data), store, repeats=1)
    expected = store.rows().round(4)
    assert [line.split()[-2] for line in printed.getvalue().splitlines()[1:]] == [
        f"{v:.4f}" for v in expected["brier"]
    ]


def test_shipped_protocols_open_with_their_titles():
    for key in SHIPPED:
        sets = load_protocol(key).data.sets[:1] or ("sample:breast_cancer",)
        at = page(STEM, **{"run.protocol": key, "run.repeats": "1", "run.sets": sets})
        assert faults(at) == []
        assert at.selectbox(key="run.protocol").value == key
    assert load_protocol("arena").title in at.selectbox(key="run.protocol").options


def test_work_called_off_in_its_turn_leaves_the_store_alone():
    """The next waits for the cell under way; called off while it waits, it ends."""
    running = run.Running()
    watch = Watch()
    watch.cancel.set()
    with running.alone, pytest.raises(Cancelled):
        run.compute(running, None, watch)
