"""The Data page proposes and asks: what it takes a table for, what it found wrong, and what a click does about it."""

import io

import numpy as np
import openpyxl
import pandas as pd
import pytest

from calib import Recipe, evaluate, sources
from calib.data import TableFile
from calib.kernel.progress import Watch
from calib.sources import digest, load
from pages.ui.text import plain
from tests.pages.app import bring, faults, go, headline, messages, page, press
from tests.saying import assert_any_says

RNG = np.random.default_rng(0)
N = 240
X = RNG.normal(size=N).round(3)
Y = np.where(X + RNG.normal(size=N) > 0, "yes", "no")
P = (1 / (1 + np.exp(-X))).round(4)


def csv(columns) -> bytes:
    return pd.DataFrame(columns).to_csv(index=False).encode()


def brought(columns, name="t.csv"):
    at = page("explore_data", model="naive_bayes")
    return bring(at, name, columns if isinstance(columns, bytes) else csv(columns))


def notes(at):
    """Return the notes on dropped, imputed and excluded data."""
    return [text.value for text in at.text]


def again(at, content, name="t.csv"):
    """The Dataset of the page's own link and the same file, without the page."""
    recipe = Recipe.from_query(dict(at.query_params))
    return load(recipe, {digest(content): TableFile(name, content)})


def test_scores_that_run_against_the_labels_are_said_on_every_page_and_turned_by_a_click_only():
    content = csv({"y": (Y == "no").astype(int), "model": P})
    at = brought(content)
    recipe = at.session_state["recipe"]
    assert (recipe.content, recipe.positive) == ("predictions", None)
    assert_any_says(questions(at), "in reverse", "AUC")
    go(at, "explore_reliability")
    assert any("ranks the classes in reverse" in text for text in questions(at))
    assert not at.metric  # nothing is evaluated before the answer
    press(at, "Score for '1', as currently read")
    assert headline_of(again(at, content)) == pytest.approx(((P - (Y == "no")) ** 2).mean())
    assert any("rank the classes in reverse" in text for text in messages(at))
    press(at, "Ask again")
    press(at, "Score for '0'")
    assert faults(at) == []
    assert at.session_state["recipe"].positive == "0"
    assert not any("in reverse" in text for text in messages(at))
    assert headline_of(again(at, content)) == pytest.approx(((P - (Y == "yes")) ** 2).mean())


def questions(at) -> list[str]:
    return [each.value.replace("\\", "") for each in at.markdown]


def headline_of(data):
    """The Brier score of the scores as they are, on all rows."""
    return float(((data.X.iloc[:, 0] - data.y) ** 2).mean())


BESIDE = {
    "y_true": (Y == "yes").astype(int),
    "model_a": P,
    "model_b": P**2,
    "sample_weight": RNG.random(N).round(3),
    "date": pd.date_range("2024-01-01", periods=N).astype(str),
    "hospital": RNG.choice(["north", "south"], N),
}


def test_columns_beside_predictions_are_no_scores_and_serve_as_groups():
    at = brought(BESIDE)
    assert at.session_state["recipe"].content == "predictions"
    assert at.multiselect(key="data_params.scores").value == ["model_a", "model_b"]
    assert_any_says(messages(at), "Not", "scores", "sample_weight, date and hospital")
    go(at, "explore_groups")
    at.segmented_control(key="groups.view").set_value("column").run()
    assert {"hospital", "sample_weight", "date"} <= set(at.selectbox(key="reliability.group").options)
    go(at, "explore_data")
    at.segmented_control(key="content").set_value("features").run()
    assert at.session_state["recipe"].content == "features"
    assert any("names like those of prediction" in text for text in messages(at))
    press(at, "Evaluate as predictions")
    at.multiselect(key="data_params.scores").set_value(["model_b", "sample_weight"]).run()
    assert list(again(at, csv(BESIDE)).X.columns) == ["model_b", "sample_weight"]


def test_labels_spelt_several_ways_are_merged_by_a_click_that_a_link_carries():
    spelt = np.where(RNG.random(N) < 0.2, np.where(Y == "yes", "YES", " No"), Y).astype(object)
    spelt[:4] = "unknown"
    content = csv({"x": X, "target": spelt})
    at = brought(content)
    assert_any_says(messages(at), "5 labels", "3")
    press(at, "Merge spellings")
    three = ["no", "unknown", "yes"]
    assert list(at.selectbox(key="positive").options) == [
        "All 3 classes",
        *(f"{name} against the rest" for name in three),
    ]
    press(at, "Missing: exclude these rows")
    assert faults(at) == []
    assert set(at.selectbox(key="positive").options) == {"no", "yes"}
    assert {"Label 'YES' is treated as 'yes'.", "Label 'unknown' is treated as missing: 4 rows."} <= set(
        notes(at)
    )
    data = again(at, content)
    assert set(data.classes) == {"no", "yes"}
    assert data.n == N - 4
    np.testing.assert_array_equal(data.y, Y[4:] == data.classes[1])
    at.toggle(key="data_params.merge_labels").set_value(False).run()
    assert len(at.selectbox(key="positive").options) == 1 + 4


def test_words_for_yes_and_no_are_merged_by_a_click():
    spelt = np.where(RNG.random(N) < 0.2, np.where(Y == "yes", "y", "n"), Y)
    at = brought({"x": X, "sex": RNG.choice(["f", "m"], N), "readmitted": spelt})
    (pills,) = at.get("button_group")[-1:]
    assert pills.options == ["sex", "readmitted"]  # not guessed: sex is no more likely
    pills.set_value("readmitted").run()
    assert_any_says(messages(at), "4 labels", "2")
    assert not any("has 4 classes" in text for text in messages(at))
    press(at, "Merge spellings")
    assert set(at.selectbox(key="positive").options) == {"no", "yes"}
    assert not any("spellings of" in text for text in messages(at))


def test_the_next_step_is_above_the_problems_and_says_how_many_there_are():
    day = pd.date_range("2020-01-01", periods=N).astype(str)
    at = brought(
        {"code": [f"c{i}" for i in range(N)], "day": day, "x": np.where(X > 1, np.nan, X), "target": Y}
    )
    assert_any_says([caption.value for caption in at.caption], "1 warning below")
    kinds = ("button", "warning", "info", "metric")
    order = [getattr(element, "key", None) or element.type for element in at.main if element.type in kinds]
    assert order.index("see_diagram") < order.index("info") < order.index("metric")
    assert order[order.index("see_diagram") :].count("warning") == 1
    (features,) = [metric for metric in at.metric if metric.label == "Features"]
    assert (features.value, features.delta) == ("2", "of 3 columns")
    assert all(table.proto.placeholder == "–" for table in at.dataframe)  # instead of None
    at = page("explore_data", data="sample:breast_cancer")  # without a problem
    assert not any("Read first" in caption.value for caption in at.caption)
    (features,) = [metric for metric in at.metric if metric.label == "Features"]
    assert (features.value, features.delta) == ("30", "")


def test_a_remedy_of_several_columns_is_said_once():
    texts = {
        name: [f"{name} no. {i // k} of the ward" for i in range(N)] for name, k in (("note", 1), ("plan", 2))
    }
    at = brought({**texts, "x": X, "target": Y})
    (said,) = [text for text in stripped(at) if "note" in text]
    assert said.count("looks like free text") == 2
    assert said.count("Convert the text to numbers or categories.") == 1
    assert said.index("plan: The column looks like free text") < said.index(
        "In each of these cases: The column is excluded."
    )


def test_if_no_column_looks_like_a_label_the_page_says_so():
    at = brought({"x": X, "z": RNG.normal(size=N)})
    assert any("No column looks like a label" in text for text in messages(at)), messages(at)
    assert not any("Several columns" in text for text in messages(at))
    assert "likely_target" not in {group.key for group in at.get("button_group")}


def test_a_file_that_cannot_be_read_leaves_the_former_data_in_use_and_says_so():
    at = brought({"x": X, "target": Y}, "mine.csv")
    bring(at, "empty.csv", b"")
    assert any("empty.csv is empty" in text and "Still using: mine.csv." in text for text in messages(at))
    assert headline(at)["Rows"] == str(N)
    at = page("explore_data", data="upload:ff", file="old.csv")  # nothing is in use
    assert not any("Still using" in text for text in messages(bring(at, "empty.csv", b"")))


def test_repeated_keys_become_clusters_and_columns_that_give_the_label_away_are_left_out_by_a_click():
    content = csv({"customer_id": RNG.integers(0, 80, N), "x": X, "after": Y == "yes", "target": Y})
    at = brought(content)
    assert_any_says(stripped(at), "customer_id", "identifier", "repeated values")
    assert_any_says(stripped(at), "after", "separates the classes", "AUC 1.00")
    press(at, "Split by cluster")
    press(at, "Exclude")
    recipe = at.session_state["recipe"]
    assert (recipe.exclude, recipe.cluster, recipe.split) == (("after",), "customer_id", "cluster")
    assert at.selectbox(key="cluster").value == "customer_id"
    data = again(at, content)
    assert list(data.X.columns) == ["x"]
    assert len(np.unique(data.cluster)) == pd.read_csv(io.BytesIO(content))["customer_id"].nunique()
    assert not any("looks like" in text or "separates the classes" in text for text in stripped(at))


def test_repeated_rows_are_left_out_by_a_click_that_a_link_carries():
    rows = {"x": np.r_[X, X[:30]], "target": np.r_[Y, Y[:30]]}
    content = csv(rows)
    at = brought(content)
    copies = int(pd.read_csv(io.BytesIO(content)).duplicated().sum())
    assert_any_says(stripped(at), f"{copies} of {len(rows['x'])} rows", "copies of an earlier row")
    press(at, "Remove repeated rows")
    assert dict(at.session_state["recipe"].data_params) == {"drop_repeated": True}
    assert again(at, content).n == len(rows["x"]) - copies
    assert not any("copies of an earlier row" in text for text in stripped(at))
    assert_any_says(notes(at), "Excluded", "copies of an earlier row", f"{copies} rows")
    at.toggle(key="data_params.drop_repeated").set_value(False).run()
    assert again(at, content).n == len(rows["x"])
    assert faults(at) == []


def stripped(at):
    return [text.replace("**", "") for text in messages(at)]


def test_of_several_possible_labels_the_page_asks():
    colic = {
        "surgery": RNG.choice(["no", "yes"], N),
        "outcome": RNG.choice([1, 2, 3], N),
        "lesion": Y,
        "pulse": X,
    }
    at = brought(colic)
    assert at.session_state["recipe"].target is None
    assert not at.metric
    assert any("Several columns could be the label" in text for text in messages(at))
    (pills,) = at.get("button_group")[-1:]
    assert pills.options == ["outcome", "surgery", "lesion"]
    pills.set_value("lesion").run()
    assert faults(at) == []
    assert at.session_state["recipe"].target == "lesion"
    assert headline(at)["Rows"] == str(N)


def test_the_header_below_a_title_is_proposed_shown_and_chosen():
    content = b"Customers of 2020\n\n" + csv({"x": X, "target": Y})
    at = brought(content)
    assert at.number_input(key="data_params.header").value == 3
    assert dict(at.session_state["recipe"].data_params) == {"header": 3}
    assert any("in line 3" in note for note in notes(at))
    assert " 3  x,target" in at.code[-1].value or any("3  x,target" in code.value for code in at.code)
    assert again(at, content).n == N
    at.number_input(key="data_params.header").set_value(4).run()
    assert not at.exception
    assert at.session_state["recipe"].target is None
    at.number_input(key="data_params.header").set_value(3).run()
    at.selectbox(key="target").set_value("target").run()
    assert headline(at)["Rows"] == str(N)


def test_a_sheet_is_chosen():
    book = openpyxl.Workbook()
    for title, sign in (("first", 1), ("second", -1)):
        sheet = book.create_sheet(title)
        sheet.append(["All our customers"])
        sheet.append(["x", "target"])
        for x, y in zip(X, Y, strict=True):
            sheet.append([sign * float(x), str(y)])
    content = io.BytesIO()
    book.save(content)
    at = brought(content.getvalue(), "t.xlsx")
    assert dict(at.session_state["recipe"].data_params) == {"header": 2, "sheet": "first"}
    assert at.selectbox(key="data_params.sheet").label == "The workbook has 2 sheets. Use the sheet"
    at.selectbox(key="data_params.sheet").set_value("second").run()
    at.selectbox(key="target").set_value("target").run()
    assert faults(at) == []
    np.testing.assert_allclose(again(at, content.getvalue(), "t.xlsx").X["x"], -X)


@pytest.mark.parametrize("label", ["digit", "y_true"])
def test_the_label_is_proposed_before_pixels_and_identifiers(label):
    pixels = {f"pixel_{i}_0": RNG.integers(0, 2 if i == 3 else 17, N) for i in range(5)}
    at = brought({"id": RNG.integers(0, 2, N), **pixels, label: RNG.integers(0, 2, N)})
    assert at.session_state["recipe"].target == label


def test_a_single_class_is_named():
    at = brought({"label": ["no"] * N, "p": P})
    assert_any_says(messages(at), "only the label 'no'")


def test_a_score_beside_other_columns_is_evaluated_or_a_feature_only_after_an_answer():
    content = csv({"score": P, "country": RNG.choice(["de", "fr", "uk"], N), "amount": X, "fraud": Y})
    at = brought(content)
    assert_any_says(questions(at), "'score' may be predictions to evaluate, or a feature")
    go(at, "explore_reliability")
    assert_any_says(questions(at), "'score' may be predictions to evaluate, or a feature")
    assert not at.metric
    press(at, "Train a model")
    assert set(again(at, content).X) == {"score", "country", "amount"}
    assert at.metric
    at = brought(content)
    press(at, "Evaluate 'score'")
    assert headline_of(again(at, content)) == pytest.approx(((P - (Y == "yes")) ** 2).mean())


def test_hard_classes_are_evaluated_as_certain_after_a_click():
    content = csv({"actual": (Y == "yes").astype(int), "predicted": (P > 0.5).astype(int)})
    at = brought(content)
    at.segmented_control(key="content").set_value("predictions").run()
    press(at, "Evaluate as 0 % and 100 %")
    assert headline_of(again(at, content)) == pytest.approx(((P > 0.5) != (Y == "yes")).mean())


def test_certain_scores_that_stand_for_missing_ones_are_excluded_by_a_click():
    scores = np.where(np.arange(N) < 3, [0.0], P)
    content = csv({"label": (Y == "yes").astype(int), "p": scores})
    at = brought(content)
    wrong = (Y[:3] == "yes").sum()
    assert_any_says(messages(at), f"3 of {N} probabilities are exactly 0 or 1; {wrong} of these")
    press(at, "Exclude these rows")
    np.testing.assert_allclose(again(at, content).X["p"], P[3:])


def test_every_imputed_column_is_named_with_its_gaps():
    gaps = RNG.random((N, 3)) < [0.1, 0.2, 0.3]
    columns = {
        "x": pd.Series(X).mask(gaps[:, 0]),
        "when": pd.date_range("2024-01-01", periods=N)
        .to_series()
        .astype(str)
        .reset_index(drop=True)
        .mask(gaps[:, 1]),
        "town": pd.Series(RNG.choice(["Ulm", "Bonn"], N)).mask(gaps[:, 2]),
        "target": Y,
    }
    at = brought(columns)
    said = " ".join(notes(at))
    for name, count in zip(("x", "when", "town"), gaps.sum(axis=0), strict=True):
        assert f"{name} ({count} gaps)" in said
    assert "training median" in said
    assert "separate level" in said


def test_rows_are_numbered_from_1_below_the_header():
    days = pd.Series(pd.date_range("2024-01-01", periods=N).astype(str))
    at = brought({"x": X, "day": days, "time": days + " 12:30", "target": Y})
    first = at.dataframe[-1].value
    assert list(first.index[:3]) == [1, 2, 3]
    assert str(first["day"].iloc[1]) == "2024-01-02"  # no midnight
    assert str(first["time"].iloc[1]) == "2024-01-02 12:30:00"
    at = brought({"x": X, "target": Y})
    evaluation = evaluate(Recipe(model="naive_bayes", seed=3), again(at, csv({"x": X, "target": Y})))
    table = evaluation.frame()
    np.testing.assert_array_equal(table["y"], (evaluation.dataset.classes[1] == Y)[table["row"] - 1])


NO_TABLES = {
    "empty.csv": (b"", "empty"),
    "header.csv": (b"a,b,c\n", "no rows"),
    "photo.csv": (b"\x89PNG\r\n\x1a\n" + bytes(200), "image"),
    "model.pkl": (b"\x80\x04\x95" + bytes(50), "pickle"),
    "table.csv": (b"\x80\x05\x95" + b"a,b\n1,2\n" * 9, "pickle"),
    "broken.parquet": (b"PAR1" + bytes(40), "Parquet"),
    "page.csv": (b"<!doctype html><html><body>no</body></html>", "web page"),
}


def test_a_file_that_is_no_table_gives_one_message_and_nothing_is_lost():
    at = page("explore_data", data="sample:breast_cancer", bins="7")
    before = at.session_state["recipe"], headline(at)
    for name, (content, words) in NO_TABLES.items():
        bring(at, name, content)
        (said,) = [text for text in messages(at) if text.startswith(name)]
        assert words in said
        assert not at.exception
        assert (at.session_state["recipe"], headline(at)) == before


def test_a_file_is_read_in_the_background(monkeypatch):
    began = []
    monkeypatch.setattr(
        "pages.ui.uploads.in_background", lambda what, call, _: began.append(what) or call(Watch())
    )
    at = bring(page("explore_data"), "*t*.csv", b"a,y\n" + b"1,0\n2,1\n" * 20)
    assert began == ["Reading *t*.csv"]
    assert not faults(at)


@pytest.fixture
def loaded(monkeypatch):
    """The Recipes whose tables are loaded."""
    found, load_table = [], sources.load_table
    monkeypatch.setattr(
        sources, "load_table", lambda recipe, files: found.append(recipe) or load_table(recipe, files)
    )
    return found


def test_a_table_is_loaded_once_for_its_problems_and_its_dataset(loaded):
    brought({"y": Y, "x": X})
    assert len(loaded) == 2  # the sample that a new page begins with, and the file


def test_a_table_is_loaded_once_if_a_link_leaves_labels_out_and_they_can_be_taken_back(loaded):
    link = Recipe(data="sample:all_digits", model="naive_bayes", data_params={"drop_labels": ("8", "9")})
    at = page("explore_data", **link.to_query())
    assert len(loaded) == 1
    left_out = at.multiselect(key="data_params.drop_labels")
    assert (left_out.value, left_out.options) == (["8", "9"], [str(digit) for digit in range(10)])


KINDS = np.repeat(["a", "b", "c", "d", "e"], [90, 80, 55, 8, 7])
OF_KINDS = {"x": X, "z": RNG.normal(size=N).round(3), "target": KINDS}


def metrics(at):
    return {metric.label: metric.value for metric in at.metric}


def test_three_and_more_classes_are_taken_together():
    content = csv(OF_KINDS)
    at = brought(content)
    assert faults(at) == []
    assert at.selectbox(key="positive").value == ""
    assert at.selectbox(key="positive").options[0] == "All 5 classes"
    assert again(at, content).joint


def test_the_balance_of_all_classes_is_shown_with_the_largest_and_the_smallest():
    at = brought(OF_KINDS)
    assert metrics(at)["Classes"] == "5"
    assert metrics(at)["Largest class: a"] == "37.5 %"
    assert metrics(at)["Smallest class: e"].startswith("2.92 %")
    balance = next(frame.value for frame in at.dataframe if "share" in frame.value)
    assert balance.values.tolist() == [
        [name, rows, rows / N] for name, rows in zip("abcde", (90, 80, 55, 8, 7), strict=True)
    ]


def test_one_of_many_classes_can_be_chosen_against_the_rest_and_all_again():
    content = csv(OF_KINDS)
    at = brought(content)
    at.selectbox(key="positive").set_value("b").run()
    assert at.session_state["recipe"].positive == "b"
    assert again(at, content).classes == ("not b", "b")
    assert not any("share" in frame.value for frame in at.dataframe)
    press(at, "All classes together")
    assert at.session_state["recipe"].positive is None
    assert again(at, content).joint


@pytest.mark.parametrize(
    ("action", "names", "rows"),
    [
        ("Exclude small classes", ("a", "b", "c"), N - 15),
        ("Merge 'e' and 'd' into 'other'", ("a", "b", "c", "other"), N),
    ],
)
def test_small_classes_are_excluded_or_merged_by_a_click_that_a_link_carries(action, names, rows):
    content = csv(OF_KINDS)
    at = brought(content)
    at.session_state["recipe"] = at.session_state["recipe"].replace(view_class="e")
    at.run()
    assert_any_says(messages(at), "2 of 5 classes", "fewer than 10 rows", "'d' (8) and 'e' (7)")
    press(at, action)
    assert faults(at) == []
    assert at.session_state["recipe"].view_class is None  # which is no class any more
    assert not any("fewer than 10" in text for text in messages(at))
    data = again(at, content)
    assert (data.names, data.n) == (names, rows)
    option = "drop" if "Exclude" in action else "join"
    control = at.multiselect(key=f"data_params.{option}_labels")
    assert sorted(control.value) == ["d", "e"]
    control.set_value([]).run()
    assert again(at, content).names == ("a", "b", "c", "d", "e")


OF_THREE = RNG.dirichlet([1, 1, 1], N).round(4)
ANIMALS = np.array(["cat", "dog", "fox"])
LABEL = ANIMALS[[RNG.choice(3, p=row / row.sum()) for row in OF_THREE]]


def test_predictions_of_three_classes_are_taken_together_and_their_sums_are_corrected_by_a_click():
    columns = {"label": LABEL, **{f"net_{name}": OF_THREE[:, k] for k, name in enumerate(ANIMALS)}}
    columns["net_cat"] = np.where(np.arange(N) % 50 == 7, 0.1, 1) * columns["net_cat"]
    content = csv(columns)
    at = brought(content)
    assert at.session_state["recipe"].content == "predictions"
    assert at.selectbox(key="positive").options[0] == "All 3 classes"
    assert_any_says(questions(at), "not sum to 1", "5 of 240 rows", "rows 8, 58, 108")
    press(at, "Divide each row by its sum")
    assert faults(at) == []
    data = again(at, content)
    assert data.columns == {"net": ("net_cat", "net_dog", "net_fox")}
    assert np.abs(data.X.sum(axis=1) - 1).max() < 1e-12
    assert at.selectbox(key="data_params.scores_as").value == "shares"
    at.selectbox(key="data_params.scores_as").set_value("").run()
    assert any("do not sum to 1" in text for text in questions(at))
    at.selectbox(key="positive").set_value("dog").run()  # which needs no sums
    assert faults(at) == []
    assert list(again(at, content).X) == ["net_dog"]


def test_a_column_of_logits_is_read_as_such_by_a_click():
    content = csv({"y": (Y == "yes").astype(int), "margin": X})
    at = brought(content)
    assert at.session_state["recipe"].content == "predictions"
    press(at, "These are logits")
    assert faults(at) == []
    np.testing.assert_allclose(again(at, content).X["margin"], 1 / (1 + np.exp(-X)))


def test_an_archive_of_a_hundred_classes_shows_its_models_and_not_a_hundred_names():
    file = io.BytesIO()
    labels = RNG.permutation(np.arange(4000) % 100)
    np.savez(
        file, y=labels, forest=RNG.dirichlet(np.ones(100), 4000), net_logits=RNG.normal(size=(4000, 100))
    )
    at = brought(file.getvalue(), "net.npz")
    assert faults(at) == []
    assert at.selectbox(key="positive").options[0] == "All 100 classes"
    shown = plain("forest: 'forest_0' … 'forest_99' and net: 'net_logits_0' … 'net_logits_99'")
    assert any(shown in each.value for each in at.caption)
    assert "data_params.scores" not in [each.key for each in at.multiselect]
    assert metrics(at)["Score columns"] == "200"
