"""Compare and report: Recipes kept, laid side by side, taken to a file and back; calibrators applied again."""

import io
import json
import sqlite3
import threading
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from calib import Recipe
from calib.analysis.recommendation.advice import recommend
from calib.calibrators import VennAbers
from calib.export import (
    LANGUAGES,
    calibrator_json,
    read_calibrator,
    read_recipes,
    write_calibrator,
    write_recipes,
)
from calib.kernel.wording import number
from pages.ui import evaluations, jobs
from pages.ui.explore import compare
from tests.evaluated import evaluated
from tests.pages.app import faults, go, headline, jobs_of, messages, page, settled, table, titles
from tests.saying import assert_any_says, assert_says, says
from tests.waiting import LIMIT, until

QUICK = {"data": "sample:breast_cancer", "model": "naive_bayes"}


def keep(at, name=""):
    at.text_input(key="recipe_name").set_value(name)
    return settled(at.button(key="keep").click().run())


def bring(at, key, name, content):
    return settled(at.file_uploader(key=key).set_value((name, content, "application/octet-stream")).run())


def test_these_settings_stand_alone_when_nothing_is_kept():
    at = page("explore_compare", **QUICK)
    assert faults(at) == []
    recipe = at.session_state["recipe"]
    evaluation = evaluated(recipe)
    side = table(at, "Brier score")
    assert side["Brier score"].str.removesuffix(" ★").tolist() == [
        number(v) for v in evaluation.metrics["brier"]
    ]
    assert "Side by side" not in [m.label for m in at.multiselect]


def test_kept_settings_are_listed_as_their_controls_show_them():
    at = keep(page("explore_compare", **QUICK, calibrators="none,platt", seed="3"), "Mine")
    line = next(shown.value for shown in at.markdown if shown.value.startswith("**Mine**"))
    assert_says(
        line.replace("\\", ""),
        "Mine",
        "Model (Naive Bayes)",
        "Seed (3)",
        "Calibrators (Uncalibrated and Platt scaling)",
    )


def test_kept_recipes_lie_side_by_side_and_can_be_opened_and_forgotten():
    at = keep(page("explore_compare", **QUICK))
    assert at.session_state["recipe"] in at.session_state["kept_recipes"].values()
    at.selectbox(key="model").set_value("logistic_regression").run()
    at = keep(settled(at), "Second")
    assert list(at.session_state["kept_recipes"]) == ["Naive Bayes, held-out set", "Second"]
    side = table(at, "Brier score")
    assert set(side.iloc[:, 0]) == {"Second", "Naive Bayes, held-out set"}
    for name, recipe in at.session_state["kept_recipes"].items():
        metrics = evaluated(recipe).metrics
        found = side[side.iloc[:, 0] == name]["Brier score"].str.removesuffix(" ★")
        assert found.tolist() == [number(value) for value in metrics["brier"]]
    assert len(at.get("plotly_chart")) == 3
    settled(at.button(key="open_0").click().run())
    assert at.session_state["recipe"].model == "naive_bayes"
    assert at.query_params["model"] == "naive_bayes"
    settled(at.button(key="forget_0").click().run())
    assert list(at.session_state["kept_recipes"]) == ["Second"]
    assert faults(at) == []


def test_long_fits_of_many_rows_wait_for_a_click_beside_their_time_together(monkeypatch):
    asked = []
    monkeypatch.setattr(jobs, "UNASKED", 10.0)
    monkeypatch.setattr(evaluations, "FEWEST_ESTIMATED", 100)
    monkeypatch.setattr(
        evaluations, "expected_seconds", lambda recipe, *_, short: asked.append(recipe.model) or 7.0
    )
    at = keep(page("explore_compare", **QUICK))
    assert "start_compared" not in [button.key for button in at.button]  # 7 seconds begin at once
    at.button(key="forget_0").click().run()
    at.session_state["kept_recipes"] = {
        name: Recipe(**QUICK).replace(model=name) for name in ("decision_tree", "logistic_regression")
    }
    at = settled(at.run())
    assert sorted(asked) == ["decision_tree", "logistic_regression", "naive_bayes"]
    assert_any_says([text.value for text in at.markdown], "2 model fits", "1,138 rows", "14 seconds")
    assert not jobs_of(at, "compared")
    at = settled(at.button(key="start_compared").click().run())
    assert faults(at) == []
    assert {"decision_tree", "logistic_regression"} <= set(table(at, "Brier score").iloc[:, 0])
    assert len(asked) == 3


def test_one_refit_per_row_waits_for_a_click_beside_its_price(monkeypatch):
    """Together with fits of many rows, in one question."""
    monkeypatch.setattr(jobs, "UNASKED", 0.0)
    full = Recipe(**QUICK, placement="full", test_size=0.1)
    monkeypatch.setattr(evaluations, "expected_cost", lambda found, placement: (115, 50.0))
    at = page("explore_compare", **full.to_query())
    assert_any_says([text.value for text in at.markdown], "115 model fits", "50 seconds")
    assert not jobs_of(at, "compared")
    monkeypatch.setattr(evaluations, "FEWEST_ESTIMATED", 100)
    monkeypatch.setattr(evaluations, "expected_seconds", lambda recipe, *_, short: 7.0)
    at.session_state["kept_recipes"] = {"tree": Recipe(**QUICK).replace(model="decision_tree")}
    at = settled(at.run())
    (said,) = [text.value for text in at.markdown if "model fits" in text.value]
    assert_says(said, "Decision tree", "569 rows", "7 seconds")
    assert_says(said, "Full", "115 model fits", "50 seconds")
    assert not jobs_of(at, "compared")
    at = settled(at.button(key="start_compared").click().run())
    assert faults(at) == []
    assert "start_compared" not in [button.key for button in at.button]
    assert len(set(table(at, "Brier score").iloc[:, 0])) == 2


def test_a_refit_per_row_that_is_short_begins_at_once(monkeypatch):
    monkeypatch.setattr(jobs, "UNASKED", 60.0)
    monkeypatch.setattr(evaluations, "expected_cost", lambda found, placement: (115, 50.0))
    at = settled(page("explore_compare", **Recipe(**QUICK, placement="full", test_size=0.1).to_query()))
    assert faults(at) == []
    assert "Brier score" in table(at, "Brier score")


def test_kept_recipes_survive_a_change_of_page_and_reach_other_data():
    at = keep(page("explore_compare", **QUICK), "cancer")
    go(at, "explore_reliability")
    at.selectbox(key="data").set_value("sample:rare_faults").run()
    at = go(settled(at), "explore_compare")
    assert faults(at) == []
    assert set(table(at, "Brier score").iloc[:, 0]) == {
        at.text_input(key="recipe_name").placeholder,
        "cancer · Breast tumours: malignant or benign",
    }
    assert any("come from different test rows" in caption.value for caption in at.caption)


def test_a_recipe_that_cannot_be_used_is_named_and_the_others_stand():
    kept = {
        "gone": Recipe(data="upload:00ff00ff00ff00ff", target="y"),
        "no bagging": Recipe(**QUICK, placement="oob"),
        "nothing": Recipe(data="sample:breast_cancer", model="svm", calibrators=("beta",)),
    }
    at = bring(page("explore_compare", **QUICK), "recipe_file", "kept.json", write_recipes(kept).encode())
    assert list(at.session_state["kept_recipes"]) == list(kept)
    text = " ".join(messages(at))
    assert "**gone · upload:00ff00ff00ff00ff** cannot be shown" in text
    assert "Upload the file with the digest" in text
    assert "no bagging" in text
    assert "needs probabilities" in text
    assert set(table(at, "Brier score").iloc[:, 0]) == {at.text_input(key="recipe_name").placeholder}


def test_predictions_are_suggested_to_be_kept_under_the_name_of_their_file():
    at = bring(
        page("explore_data", **QUICK), "file", "mine.csv", b"y,score\n" + 20 * b"0,0.2\n1,0.8\n1,0.2\n"
    )
    assert go(at, "explore_compare").text_input(key="recipe_name").placeholder == "Scores, mine.csv"


def test_of_several_score_columns_the_one_in_use_names_the_settings():
    rows = 20 * b"0,0.2,0.3\n1,0.8,0.9\n1,0.2,0.4\n"
    at = bring(page("explore_data", **QUICK), "file", "mine.csv", b"y,p_old,p_new\n" + rows)
    at = go(at, "explore_compare")
    assert at.text_input(key="recipe_name").placeholder == "p_old, mine.csv"
    assert list(keep(at).session_state["kept_recipes"]) == ["p_old, mine.csv"]


def test_a_file_of_recipes_comes_back_as_it_was():
    at = keep(page("explore_compare", **QUICK, bins="9"), "kept")
    content = write_recipes(at.session_state["kept_recipes"])
    other = bring(page("explore_compare", **QUICK), "recipe_file", "kept.json", content.encode())
    assert other.session_state["kept_recipes"] == read_recipes(content) == at.session_state["kept_recipes"]
    one = bring(page("explore_compare", **QUICK), "recipe_file", "alone.json", b'{"model": "naive_bayes"}')
    assert one.session_state["kept_recipes"] == {"alone": Recipe(model="naive_bayes")}


def test_a_bad_file_of_recipes_gives_one_sentence_and_changes_nothing():
    at = bring(keep(page("explore_compare", **QUICK), "kept"), "recipe_file", "bad.json", b"nonsense")
    assert len(at.warning) == 1
    assert list(at.session_state["kept_recipes"]) == ["kept"]
    assert not at.exception


def test_the_source_on_the_page_gives_the_numbers_on_the_page():
    at = keep(page("explore_compare", **QUICK), "kept")
    source = next(code.value for code in at.code if code.value.count("evaluations[name]"))
    names = {"print": lambda *args, **kwargs: None}
    exec(source, names)
    brier = names["evaluations"]["kept"].metrics["brier"]
    assert table(at, "Brier score")["Brier score"].str.removesuffix(" ★").tolist() == list(map(number, brier))


def test_another_metric_draws_another_chart():
    at = page("explore_compare", **QUICK)
    before = titles(at)
    at.segmented_control(key="compared.metric").set_value("auc").run()
    assert titles(at) != before
    assert any("AUC" in title for title in titles(at))


def test_what_cannot_be_kept_as_json_says_why():
    at = page("explore_compare", **QUICK, evaluation="folds", folds="2")
    assert any("one per fold" in caption.value for caption in at.caption)
    assert faults(at) == []


SCORES = [0.05, 0.4, 0.4, 0.6, 0.95]


@pytest.fixture
def saved():
    fitted = VennAbers().fit([0.1, 0.2, 0.4, 0.6, 0.8, 0.9], [0, 0, 1, 0, 1, 1])
    calibration = {"rows": 6, "lowest": 0.1, "highest": 0.9}
    return write_calibrator(fitted, classes=("no", "*yes*"), calibration=calibration, made={"data": "mine"})


def test_a_saved_calibrator_is_applied_to_a_new_file(saved):
    at = bring(page("explore_compare", **QUICK), "calibrator_file", "venn_abers.json", saved.encode())
    text = " ".join(markdown.value for markdown in at.markdown).replace("\\", "")
    assert "*yes*" in text
    frame = pd.DataFrame({"id": list("abcde"), "score": SCORES, "other": range(5)})
    at = bring(at, "scores_file", "new.csv", frame.to_csv(index=False).encode())
    at.selectbox(key="score_column").set_value("score").run()
    assert faults(at) == []
    shown = table(at, "p")
    expected = read_calibrator(saved).predict(np.array(SCORES))
    np.testing.assert_array_equal(shown["p0"], expected.p0)
    np.testing.assert_array_equal(shown["p"], expected.p)
    assert list(shown.columns) == ["id", "score", "other", "p0", "p1", "p"]
    outside = "2 of 5 scores lie outside the range of calibration scores (0.1 to 0.9). Their probabilities are clamped."
    assert outside in messages(at)
    go(at, "explore_reliability")
    at = go(at, "explore_compare")
    assert "p0" in table(at, "p").columns  # kept, though the file pickers are empty again


def test_files_that_are_none_are_refused_each_in_its_place(saved):
    at = bring(page("explore_compare", **QUICK), "calibrator_file", "x.json", b"{}")
    assert any("is not a calibrator file" in text for text in messages(at))
    bad = json.loads(saved) | {"version": 99}
    at = bring(at, "calibrator_file", "x.json", json.dumps(bad).encode())
    assert any("version must be one of 1" in text for text in messages(at))
    at = bring(at, "calibrator_file", "good.json", saved.encode())
    at = bring(at, "scores_file", "photo.csv", b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert any("photo.csv" in text for text in messages(at))
    at = bring(at, "scores_file", "alone.csv", b"score\n0.15\n0.5\n")  # no label is asked for here
    np.testing.assert_array_equal(
        table(at, "p")["p"], read_calibrator(saved).predict(np.array([0.15, 0.5])).p
    )
    at = bring(at, "scores_file", "words.csv", b"a,b\nx,y\nz,w\n")
    assert any("needs 1 score column" in text for text in messages(at))
    assert not at.exception
    assert headline(at) == {}


NEW = ("new.csv", b"score\n0.1\n0.2\n0.3\n")


@pytest.fixture
def applied(saved, monkeypatch):
    """A saved calibrator applied to old.csv, where every file counts as a large one."""
    monkeypatch.setattr("pages.ui.uploads.LARGE_UPLOAD", 10)
    at = bring(page("explore_compare", **QUICK), "calibrator_file", "venn_abers.json", saved.encode())
    return bring(at, "scores_file", "old.csv", b"score\n0.15\n0.5\n")


@pytest.fixture
def reading(applied, monkeypatch):
    """The same page while new.csv is read, which does not end; and the job."""
    begun, read = threading.Event(), compare.read_confined

    def slowly(content, name, fewest, watch):
        begun.set()
        assert watch.cancel.wait(LIMIT)
        return read(content, name, fewest=fewest)

    monkeypatch.setattr(compare, "read_confined", slowly)
    at = applied.file_uploader(key="scores_file").set_value((*NEW, "text/csv")).run()
    assert begun.wait(LIMIT)
    (job,) = jobs_of(at, "reading_scores_file")
    yield at, job
    job.cancel()


CANCELLED = ("new.csv", "cancelled", "Still using: old.csv")


def test_a_large_table_whose_reading_is_cancelled_is_not_used(reading):
    at, job = reading
    before = table(at, "p")
    assert len(before) == 2  # while the new one is read
    assert any(caption.value == r"Still using\: old\.csv\." for caption in at.caption)
    at = at.button(key="cancel_reading_scores_file").click().run()
    assert_any_says(messages(at), *CANCELLED)
    until(job.future.done, "the reading ends")
    assert job.made is None
    at = settled(at.run())
    assert_any_says(messages(at), *CANCELLED)
    assert jobs_of(at, "reading_scores_file") == []
    pd.testing.assert_frame_equal(table(at, "p"), before)


def test_a_cancelled_file_that_is_taken_away_leaves_the_table_and_no_message(reading):
    at, _ = reading
    before = table(at, "p")
    at.button(key="cancel_reading_scores_file").click().run()
    at = at.file_uploader(key="scores_file").set_value(None).run()
    assert not any(says(text, *CANCELLED) for text in messages(at))
    pd.testing.assert_frame_equal(table(at, "p"), before)


def test_a_file_that_is_no_table_changes_nothing(applied):
    before = table(applied, "p")
    at = bring(applied, "scores_file", "photo.csv", b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert_any_says(messages(at), "photo.csv", "image", "Still using: old.csv")
    pd.testing.assert_frame_equal(table(at, "p"), before)


def test_another_table_takes_the_place_of_the_one_before_and_none_leaves_none(applied):
    at = bring(applied, "scores_file", *NEW)
    assert len(table(at, "p")) == 3
    at = at.file_uploader(key="scores_file").set_value(None).run()
    assert "p" not in {name for frame in at.dataframe for name in frame.value.columns}
    assert faults(at) == []


def test_cross_calibration_asks_for_a_column_for_each_fold():
    recipe = Recipe(**QUICK, placement="cv", cv=2, calibrators=("venn_abers",))
    content = calibrator_json(evaluated(recipe), "venn_abers")
    at = bring(page("explore_compare", **QUICK), "calibrator_file", "cross.json", content.encode())
    frame = pd.DataFrame({"fold1": [0.2, 0.9], "fold2": [0.3, 0.8]})
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    at = bring(at, "scores_file", "new.parquet", buffer.getvalue())
    assert at.multiselect(key="score_columns").value == ["fold1", "fold2"]
    expected = read_calibrator(content).predict(frame.to_numpy())
    np.testing.assert_array_equal(table(at, "p")["p"], expected.p)
    at.multiselect(key="score_columns").set_value(["fold1"]).run()
    assert any("needs 2 score column" in text for text in messages(at))


def test_the_first_page_of_the_report_is_asked_for_and_travels_in_the_link(downloads):
    at = page("explore_compare", **QUICK)
    at.text_input(key="report.title").set_value("Spring <b>audit</b>").run()
    at.text_input(key="report.author").set_value("A. Bo").run()
    at = settled(at)
    assert at.query_params["report.title"] == "Spring <b>audit</b>"
    report = downloads["Report (HTML)"]().decode()
    assert "<h1>Spring &lt;b&gt;audit&lt;/b&gt;</h1>" in report
    assert "<dd>A. Bo</dd>" in report
    assert "found no problem" in report
    assert "report_html(evaluations)" in downloads["Python source"]()
    at = keep(at, "kept")
    at.text_input(key="report.title").set_value("").run()
    assert "report.title" not in settled(at).query_params
    assert set(table(at, "Brier score").iloc[:, 0]) == {"kept"}  # its settings are still these


def test_a_chart_s_download_preselects_the_recommended_calibrator(downloads):
    at = page("explore_reliability", **QUICK)
    evaluation = evaluated(at.session_state["recipe"])
    saved = json.loads(downloads["Calibrator (JSON)"]())
    assert saved["method"] == recommend(evaluation).choice
    assert {language.label for language in LANGUAGES.values()} <= set(downloads)


def test_a_calibrator_stands_beside_its_json_in_every_language_and_rank_says_why_not(downloads):
    recipe = page("explore_compare", **QUICK).session_state["recipe"]
    assert {"Calibrator (JSON)", "SQL", "ONNX", "Python", "JavaScript"} <= set(downloads)
    evaluation = evaluated(recipe)
    choice = recommend(evaluation).choice
    assert choice != list(evaluation.calibrators)[-1]  # what is preselected is the advice, not the last
    expected = evaluation.predictions[choice]
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE TABLE t (score REAL)")
        base.executemany("INSERT INTO t VALUES (?)", evaluation.scores[:, None].tolist())
        answers = base.execute(f"SELECT {downloads['SQL']().decode()} FROM t ORDER BY rowid").fetchall()
    np.testing.assert_array_equal(np.ravel(answers), expected.p)
    at = page(
        "explore_compare", data="sample:breast_cancer", params='{"n_estimators": 5}', calibrators="none,rank"
    )
    assert any("Rank calibration needs every tree's score" in caption.value for caption in at.caption)
    assert "SQL" not in {button.label for button in at.get("download_button")}
    assert faults(at) == []
