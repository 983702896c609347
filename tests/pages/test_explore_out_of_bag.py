"""The Out of bag page: ten setups by two fits, numbers by evaluate and by hand, what to choose where it cannot be."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from calib import Recipe, evaluate
from calib.figures import FIGURES, formatted_setups
from calib.kernel.wording import brief_percent, listed, with_interval
from calib.models import MODELS
from calib.sources import load
from calib.study.papers.ten_setups import AS_PUBLISHED, SETUP_NAMES, setup_recipes, setup_table
from pages.ui.explore import out_of_bag
from tests.pages.app import bring, faults, go, headline, jobs_of, messages, page, settled, titles
from tests.saying import assert_any_says, says

STEM = "explore_out_of_bag"
GAUSSIAN = {"data": "synthetic:gaussian", "data_params": '{"n":200}'}
SMALL = GAUSSIAN | {"params": '{"n_estimators":20}'}


def expected(**query):
    recipe = Recipe.from_query(SMALL | query)
    return setup_table({key: evaluate(one, load(recipe)) for key, one in setup_recipes(recipe).items()})


def shown(at):
    return next(frame.value for frame in at.dataframe if "Brier score" in frame.value)


@pytest.mark.parametrize("query", [{}, {"merge": "midpoint", "evaluation": "folds", "folds": "3"}], ids=str)
def test_the_table_is_that_of_ten_evaluations(query):
    at = page(STEM, **(SMALL | query))
    assert faults(at) == []
    table = expected(**query)
    pd.testing.assert_frame_equal(shown(at), formatted_setups(table))
    assert FIGURES["setups"].prepare(table).title in titles(at)
    found = headline(at)
    assert table["brier"].idxmin() in found["Lowest Brier score"]
    for label, column in {
        "Mean estimate closest to accuracy": "Estimate − accuracy",
        "Lowest reliability (100 bins)": "Reliability (100 bins)",
        "Lowest Brier score": "Brier score",
        "Highest accuracy": "Accuracy",
    }.items():
        starred = shown(at).index[shown(at)[column].str.endswith("★")]
        assert found[label] == listed(list(starred), 2)


def test_numbers_of_a_leader_have_their_interval_and_those_that_share_the_place_are_counted(monkeypatch):
    table = expected()
    table["accuracy"] = np.append(np.full(9, 0.9), 0.9 - 1e-6)  # nine lead, all read alike
    monkeypatch.setattr(out_of_bag, "setup_table", lambda _: table)
    at = page(STEM, **SMALL)
    accuracy, brier, reliability = (
        next(metric for metric in at.metric if metric.label.startswith(label))
        for label in ("Highest accuracy", "Lowest Brier", "Lowest reliability")
    )
    assert accuracy.value == f"{table.index[0]} and 8 others"
    low, high = (brief_percent(table[f"accuracy_{end}"].iloc[0]) for end in ("low", "high"))
    assert accuracy.delta == f"90 % [{low}, {high}]"
    line = table.loc[table.brier.idxmin()]
    assert brier.delta == with_interval(line.brier, line.brier_low, line.brier_high, digits=2)
    assert "[" not in reliability.delta


def test_with_few_rows_no_setup_is_named_the_best():
    at = page(STEM, **(SMALL | {"data_params": '{"n":40}'}))
    assert faults(at) == []
    assert_any_says(titles(at), "Too few rows")


@pytest.mark.parametrize("on", ["score", "log-odds"])
def test_it_says_what_platt_is_fitted_on(on):
    query = {} if on == "score" else {"options": '{"platt.on":"log-odds"}'}
    said = " ".join(caption.value for caption in page(STEM, **(SMALL | query)).caption)
    assert says(said, "Platt scaling is fitted to probabilities") == (on == "score")
    assert says(said, "Platt scaling on log-odds") == (on == "log-odds")


def test_raw_held_out_numbers_are_scikit_learns():
    at = page(STEM, **SMALL)
    data = load(Recipe.from_query(SMALL))
    X, y = data.X.to_numpy(), data.y
    train, test = map(np.sort, train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0))
    own, _ = train_test_split(np.arange(len(train)), test_size=1 / 3, stratify=y[train], random_state=0)
    forest = RandomForestClassifier(20, random_state=0).fit(X[train[own]], y[train[own]])
    p = forest.predict_proba(X[test])[:, 1]
    row = shown(at).loc["RF-cal"]
    hits = ((p > 0.5) == y[test]).mean()
    assert row["Accuracy"].removesuffix(" ★") == f"{100 * hits:.1f} %"
    gap = np.maximum(p, 1 - p).mean() - hits
    assert row["Estimate − accuracy"].removesuffix(" ★") == f"{100 * gap:+.1f} %".replace("-", "−")


def test_two_fits_serve_ten_setups_and_the_merge_rule_needs_none(monkeypatch):
    from pages.ui import evaluations

    fits, real = [], evaluations.fit
    monkeypatch.setattr(evaluations, "fit", lambda *args: fits.append(args[0].placement) or real(*args))
    at = page(STEM, **SMALL)
    assert sorted(fits) == ["oob", "split"]
    before = shown(at)
    settled(at.segmented_control(key="merge").set_value("square").run())
    assert len(fits) == 2
    assert not shown(at).equals(before)
    go(at, "explore_reliability")  # the page of the held-out placement finds its fit
    assert len(fits) == 2


def test_long_fits_of_many_rows_wait_for_a_click_beside_their_time(monkeypatch):
    from pages.ui import evaluations, jobs

    monkeypatch.setattr(jobs, "UNASKED", 10.0)
    monkeypatch.setattr(evaluations, "FEWEST_ESTIMATED", 100)
    monkeypatch.setattr(evaluations, "expected_seconds", lambda *_, short: 100.0)
    at = page(STEM, **SMALL, seed="11")
    assert_any_says([text.value for text in at.markdown], "2 model fits", "400 rows", "3 minutes")
    assert not jobs_of(at, "fits")
    at = settled(at.button(key="start_fits").click().run())
    assert (len(shown(at)), faults(at)) == (10, [])


def test_the_papers_settings_are_a_press_away_and_named_until_then(monkeypatch):
    from pages.ui import evaluations

    at = page(STEM, **SMALL)
    assert any("20 trees instead of 300" in text.value for text in at.caption)
    # 300 trees would still grow in the next tests
    monkeypatch.setattr(evaluations, "fit", lambda *args: None)
    at.button(key="as_published").click()
    at.run()
    recipe = at.session_state["recipe"]
    assert all(
        dict(getattr(recipe, name)) == value if isinstance(value, dict) else getattr(recipe, name) == value
        for name, value in AS_PUBLISHED.items()
    )
    assert recipe.data == SMALL["data"]


@pytest.mark.soak
def test_a_model_without_bagging_shows_five_setups_and_a_button_that_chooses_a_forest():
    at = page(STEM, **GAUSSIAN, model="naive_bayes")
    (said,) = [text for text in messages(at) if "has no out-of-bag rows" in text]
    assert all(model.label in said for model in MODELS.values() if model.bagged)  # by their names in the menu
    assert list(shown(at).index) == ["Raw-cal", *list(SETUP_NAMES.values())[2::2]]
    assert not any("of the paper's" in title for title in titles(at))
    settled(at.button(key="use_forest").click().run())
    assert at.session_state["recipe"].model == "random_forest"
    assert list(shown(at).index) == list(SETUP_NAMES.values())
    assert_any_says(titles(at), "of the paper's 6 results")


def test_margins_leave_the_raw_setup_out_by_name():
    at = page(STEM, **GAUSSIAN, model="svm")
    assert faults(at) == []
    assert not {"RF-cal", "Raw-cal"} & set(shown(at).index)
    assert any("Uncalibrated is not shown" in text.replace("*", "") for text in messages(at))


def test_predictions_made_elsewhere_have_no_trees_and_the_page_says_why():
    at = page(STEM, data="sample:predictions", content="predictions")
    assert any("without their model" in text for text in messages(at))
    assert not at.get("plotly_chart")


def test_rows_too_few_for_a_split_are_refused_with_the_remedy():
    at = go(bring(page("explore_data"), "four.csv", b"a,target\n1,x\n2,y\n3,x\n4,x\n"), STEM)
    assert any("minority class has 1 row" in text for text in messages(at))
    assert not at.exception


@pytest.mark.soak
def test_the_source_of_the_page_gives_its_numbers(monkeypatch):
    import plotly.graph_objects as go_

    monkeypatch.setattr(go_.Figure, "show", lambda self: None)
    at = page(STEM, **SMALL)
    printed = []
    exec(next(code.value for code in at.code if "setup_table" in code.value), {"print": printed.append})
    assert printed[0] == expected().round(4).to_string()
