"""The Venn–Abers page: its numbers are the evaluation's, every switch does its part, what cannot be shown is said."""

import io

import numpy as np
import pandas as pd
import pytest

from calib import Recipe
from calib.analysis.explain import position_of, widest_row
from calib.figures import FIGURES
from calib.kernel.wording import brief, briefly, change, number
from calib.metrics import interval_summary
from tests.evaluated import evaluated
from tests.intervals import joined
from tests.pages.app import COLOURS, bring, faults, go, headline, messages, page, settled, titles
from tests.saying import assert_any_says, assert_says

STEM = "explore_venn_abers"
QUICK = {"data": "sample:breast_cancer", "model": "naive_bayes"}
# Part of the page → its charts
PARTS = {
    "explained": ("explained",),
    "steps": ("step_curves", "width_by_score"),
    "held": ("interval_bins",),
    "kinds": ("widths", "interval_means"),
}
KINDS = QUICK | {"venn_abers.details": "kinds"}
METHODS = ("none", "venn", "venn_abers")


def expected(query, **changes):
    recipe = Recipe.from_query(query).replace(calibrators=METHODS, **changes)
    return evaluated(recipe)


def sentences(at):
    return [text.value.replace("\\", "") for text in at.main.markdown]


def means(at):
    """The table of what was promised and what was observed."""
    return next(frame.value for frame in at.dataframe if "Mean width" in frame.value)


def test_what_can_be_clicked_is_said_on_the_page_alone():
    at = page(STEM, **QUICK)
    (caption,) = [text.value for text in at.caption if "explain one of its rows" in text.value]
    record = FIGURES["pairs"].prepare(expected(QUICK), calibrator="venn_abers")
    assert "lick" in caption
    assert "lick" not in record.caption


@pytest.mark.parametrize(
    "query", [QUICK, QUICK | {"model": "svm", "merge": "square", "venn_abers.interval": "venn"}], ids=str
)
def test_the_numbers_on_the_page_are_those_of_evaluate(query):
    at = settled(page(STEM, **query))
    assert faults(at) == []
    evaluation = expected(query)
    method = query.get("venn_abers.interval", "venn_abers")
    predictions = evaluation.predictions[method]
    summary, table, shown = (
        interval_summary(evaluation.y, predictions.pairs),
        evaluation.metrics,
        headline(at),
    )
    name = {"venn": "Venn predictor", "venn_abers": "Venn–Abers"}[method]
    assert shown[f"Mean p0 to p1 · {name}"] == f"{brief(summary.lower)} to {brief(summary.upper)}"
    assert shown["Mean width"] == brief(summary.width)
    assert shown[f"Brier score · {name}"] == brief(table.loc[method, "brier"])
    assert shown[f"Log loss · {name}"] == brief(table.loc[method, "log_loss"])
    if "none" in evaluation.predictions:
        loss = {key: (evaluation.y - evaluation.predictions[key].p) ** 2 for key in ("none", method)}
        change_of_loss = loss[method] - loss["none"]
        low, high = joined(evaluation.y, change_of_loss)
        metric = next(each for each in at.metric if each.label == f"Brier score · {name}")
        assert metric.delta == change(change_of_loss.mean(), low, high, 2)
        assert COLOURS[metric.color] == ("green" if high < 0 else "red" if low > 0 else "gray")
    assert FIGURES["pairs"].prepare(evaluation, calibrator=method).title in titles(at)
    records = {
        "steps": FIGURES["step_curves"].prepare(evaluation),
        "held": FIGURES["interval_bins"].prepare(evaluation, calibrator=method),
    }
    for part, record in records.items():
        assert record.title in titles(opened(at, part))


def opened(at, part):
    return settled(at.segmented_control(key="venn_abers.details").set_value(part).run())


def assert_every_part_has_its_charts(at):
    for part, charts in PARTS.items():
        at = opened(at, part)
        assert faults(at) == []
        assert len(at.get("plotly_chart")) == 1 + len(charts)  # the pairs are always there
        assert (part == "explained") != (at.query_params.get("venn_abers.details") == part)


def test_only_the_part_that_is_open_is_shown_and_a_click_on_a_mark_opens_the_explanation():
    from pages.ui.explore import venn_abers

    at = settled(page(STEM, **QUICK))
    assert_every_part_has_its_charts(at)
    assert at.session_state["recipe"].setting("venn_abers.details") == "kinds"
    row = int(expected(QUICK).dataset.X.index[expected(QUICK).rows[3]]) + 1
    at.number_input(key="venn_abers.row").set_value(row).run()
    assert at.session_state["recipe"].setting("venn_abers.details") == "explained"
    assert venn_abers.FIGURE_OF_FOLD == {"venn_abers.details": "explained"}


def test_placements_stand_side_by_side_with_the_numbers_of_their_own_fits():
    at = settled(page(STEM, **KINDS))
    table = means(at)
    for placement, kind in (("split", "inductive"), ("cv", "cross"), ("train", "simplified")):
        evaluation = expected(QUICK, placement=placement)
        for method, name in (("venn", "Venn predictor"), ("venn_abers", "Venn–Abers")):
            summary = interval_summary(evaluation.y, evaluation.predictions[method].pairs)
            line = table.loc[f"{name}, {kind}"]
            assert line["Mean p0 to mean p1"] == f"[{number(summary.lower)}, {number(summary.upper)}]"
            assert line["Observed class 1"] == number(evaluation.y.mean())
    assert len(table) == 6


def test_another_placement_is_one_press_away_and_the_link_holds_it():
    at = settled(page(STEM, **KINDS))

    at.button_group(key="venn_abers.beside").set_value(["train"]).run()
    assert at.session_state["recipe"].setting("venn_abers.beside") == ("train",)
    assert at.query_params["venn_abers.beside"] == "train"
    assert list(means(settled(at)).index) == [
        "Venn–Abers, inductive",
        "Venn–Abers, simplified",
        "Venn predictor, inductive",
        "Venn predictor, simplified",
    ]


@pytest.mark.soak  # of a link to it: test_every_source.py
def test_the_full_placement_says_its_price_first_and_runs_when_asked():
    """Two fits a test row: cheap enough here to run at once; dear where fits are slow."""
    query = KINDS | {"model": "decision_tree", "test_size": "0.05", "venn_abers.beside": "full"}
    at = settled(page(STEM, **query))
    assert "Venn–Abers, full" in means(at).index


def test_dear_work_waits_for_a_press(monkeypatch):
    from pages.ui import jobs

    monkeypatch.setattr(jobs, "UNASKED", 0.0)
    at = page(STEM, **KINDS | {"test_size": "0.05", "venn_abers.beside": "full,train"})
    assert list(means(at).index) == ["Venn–Abers, inductive", "Venn predictor, inductive"]
    rows = len(expected(QUICK, test_size=0.05).y)
    assert any(
        f"Full: {2 * rows + 1:,} model fits take about" in text.replace("**", "") for text in sentences(at)
    )
    at.button(key="start_beside_full").click().run()
    assert "Venn–Abers, full" in means(settled(at)).index
    assert "Venn–Abers, simplified" not in means(at).index


def test_a_row_by_its_number_is_explained_in_words_and_the_others_are_refused():
    at = page(STEM, **QUICK)
    evaluation = expected(QUICK)
    widest = widest_row(evaluation)
    assert any(f"Row {widest} (" in title for title in titles(at))
    row = int(evaluation.dataset.X.index[evaluation.rows[3]]) + 1
    at.number_input(key="venn_abers.row").set_value(row).run()
    assert at.query_params["venn_abers.row"] == str(row)
    predictions = evaluation.predictions["venn_abers"]
    ends = f"p0 = {brief(predictions.p0[3])}", f"p1 = {brief(predictions.p1[3])}"
    assert_any_says(titles(at), f"Row {row} (", *ends)
    words = [text for text in sentences(at) if text.startswith(("With label", "Merged"))]
    assert len(words) == 3
    assert words[0].endswith(f"= {number(predictions.p0[3])}.")
    assert words[1].endswith(f"= {number(predictions.p1[3])}.")
    assert words[2].endswith(f"p = {number(predictions.p[3])}.")
    trained = next(
        r for r in evaluation.dataset.X.index if r not in evaluation.dataset.X.index[evaluation.rows]
    )
    at.number_input(key="venn_abers.row").set_value(int(trained) + 1).run()
    assert faults(at) == []
    assert any(f"Row {trained + 1} is not among" in text for text in messages(at))
    assert any(f"Row {widest} (" in title for title in titles(at))
    at.button(key="empty_venn_abers.row").click().run()
    assert messages(at) == []


def test_the_row_and_its_numbers_are_those_of_the_method_shown():
    query = QUICK | {"venn_abers.interval": "venn"}
    at, evaluation = page(STEM, **query), expected(query)
    row = widest_row(evaluation, "venn")
    assert row != widest_row(evaluation)
    assert any(f"Row {row} (" in title for title in titles(at))
    pair, place = evaluation.predictions["venn"], position_of(evaluation, row)
    p0, p1, p = briefly(*(float(values[place]) for values in (pair.p0, pair.p1, pair.p)))
    (caption,) = [text.value for text in at.caption if f"gives row {row}" in text.value]
    assert caption.startswith("The Venn predictor gives")
    assert_says(caption, f"p0 = {p0}", f"p1 = {p1}", f"p = {p}", "Venn–Abers")
    assert not any("gives row" in text.value for text in page(STEM, **QUICK).caption)


def test_the_table_of_rows_lists_the_widest_first():
    at = page(STEM, **QUICK)
    evaluation = expected(QUICK)
    table = next(frame.value for frame in at.dataframe if "width" in frame.value)
    assert table["row"].iloc[0] == widest_row(evaluation)
    np.testing.assert_allclose(
        table["width"].to_numpy(), np.sort(evaluation.predictions["venn_abers"].width)[::-1][:500]
    )


def test_switches_redraw_and_merging_calibrates_but_nothing_is_fitted_again(monkeypatch):
    from pages.ui import evaluations

    calls = []
    for name in ("fit", "calibrate"):
        whole = getattr(evaluations, name)
        monkeypatch.setattr(
            evaluations,
            name,
            lambda *args, whole=whole, name=name, **more: calls.append(name) or whole(*args, **more),
        )
    at = settled(page(STEM, **QUICK))
    before = len(calls)
    for key, value in (
        ("venn_abers.color", "width"),
        ("venn_abers.color", "score"),
        ("venn_abers.interval", "venn"),
    ):
        at.segmented_control(key=key).set_value(value).run()
        assert faults(at) == []
    at.number_input(key="venn_abers.row").set_value(
        int(expected(QUICK).dataset.X.index[expected(QUICK).rows[0]]) + 1
    ).run()
    opened(at, "held").slider(key="bins").set_value(7).run()
    assert len(calls) == before
    at.segmented_control(key="merge").set_value("square").run()
    assert set(calls[before:]) == {"calibrate"}
    evaluation = expected(QUICK, merge="square")
    assert headline(at)["Brier score · Venn predictor"] == brief(evaluation.metrics.loc["venn", "brier"])


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"placement": "cv", "cv": "3"}, "fold 1 of 3"),
        (
            {"placement": "oob", "model": "random_forest", "params": '{"n_estimators":10}'},
            "were not trained on one",
        ),
        ({"placement": "train"}, "same rows as the model"),
        ({"placement": "full", "model": "decision_tree", "test_size": "0.05"}, "was refitted"),
        ({"evaluation": "folds", "folds": "3"}, "The model gives the score"),
        ({"model": "svm"}, "The model gives the score −"),
    ],
    ids=str,
)
def test_every_placement_has_its_page(query, words):
    at = settled(page(STEM, **QUICK | {"venn_abers.beside": "[]"} | query))
    assert faults(at) == []
    assert any(words in text for text in sentences(at))
    opened(at, "steps")
    curves = [text for text in messages(at) if "no step curves" in text]
    assert bool(curves) == (query.get("placement") == "full")


def test_folds_are_chosen_one_by_one():
    at = settled(page(STEM, **QUICK | {"placement": "cv", "cv": "3", "venn_abers.beside": "[]"}))
    at.segmented_control(key="venn_abers.fold").set_value(2).run()
    assert any("fold 2 of 3" in text for text in sentences(at))


def test_predictions_brought_from_elsewhere_show_all_but_other_placements():
    at = page(STEM, data="sample:predictions", content="predictions")
    assert faults(at) == []
    assert_every_part_has_its_charts(at)
    assert any("without their model" in text for text in messages(at))
    assert list(means(at).index) == ["Venn–Abers, inductive", "Venn predictor, inductive"]


def test_without_calibration_scores_the_page_says_what_to_choose():
    at = page(STEM, **QUICK | {"placement": "none"})
    assert faults(at) == []
    assert any("Choose placement='split'" in text for text in messages(at))
    assert len(at.get("plotly_chart")) == 0


@pytest.mark.soak
def test_the_page_before_leaves_nothing_behind():
    """A picture of another page, shown dimmed while a fit runs, may lack the interval methods."""
    at = page("explore_reliability", **QUICK | {"calibrators": "none,platt"})
    at.selectbox(key="model").set_value("random_forest")
    at = go(at, STEM)
    assert faults(at) == []
    assert "Mean width" in headline(at)
    assert at.session_state["recipe"].calibrators == ("none", "platt")


def test_one_class_of_calibration_rows_and_tiny_sets_are_answered():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"label": [0, 1] * 6, "score": rng.random(12).round(2)})
    at = page("explore_data")
    bring(at, "tiny.csv", frame.to_csv(index=False).encode())
    assert at.session_state["recipe"].content == "predictions"
    assert faults(go(at, STEM)) == []
    assert_every_part_has_its_charts(at)


@pytest.mark.soak
def test_a_hundred_thousand_predictions_are_drawn_small():
    rng = np.random.default_rng(0)
    score = rng.random(334_000)
    frame = pd.DataFrame({"label": (rng.random(334_000) < score).astype(int), "score": score})
    file = io.BytesIO()
    frame.to_parquet(file)
    at = page("explore_data")
    bring(at, "big.parquet", file.getvalue())
    go(at, STEM)
    assert faults(at) == []
    for value in ("width", "score", "label"):
        at.segmented_control(key="venn_abers.color").set_value(value).run()
        assert faults(at) == []
    assert any("100,200 test rows" in caption.value for caption in at.caption)
    assert all(len(chart.proto.spec) < 2e6 for chart in at.get("plotly_chart"))


def test_full_can_be_called_off_and_started_again(monkeypatch):
    from pages.ui import jobs

    monkeypatch.setattr(jobs, "UNASKED", 0.0)
    at = page(STEM, **KINDS | {"model": "random_forest", "venn_abers.beside": "full"})
    at.button(key="start_beside_full").click().run()
    at.button(key="cancel_beside_full").click().run()
    assert faults(at) == []
    assert any(text.startswith("Cancelled.") for text in messages(at))
    assert list(means(at).index) == ["Venn–Abers, inductive", "Venn predictor, inductive"]
    at.button(key="fit_again_beside_full").click().run()  # the price was agreed to before
    assert not any(text.startswith("Cancelled.") for text in messages(at))
    at.button(key="cancel_beside_full").click().run()
