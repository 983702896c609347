"""Address → Recipe → widgets, and back; one Recipe for all pages of a session."""

import pytest

from calib import Recipe
from calib.kernel.wording import brief, number
from pages.ui.text import plain
from tests.evaluated import evaluated
from tests.pages.app import bring, faults, go, headline, messages, page, settled, titles

QUICK = {"data": "sample:breast_cancer", "model": "naive_bayes"}


def test_an_address_sets_every_widget():
    at = page(
        data="sample:loans",
        model="gradient_boosting",
        params='{"max_iter":20,"learning_rate":0.3}',
        placement="split",
        calibration_size="0.4",
        test_size="0.25",
        seed="7",
        calibrators="platt,venn",
        bins="12",
        binning="quantile",
        band="consistency",
        **{"reliability.layout": "side"},
    )
    assert faults(at) == []
    assert at.selectbox(key="data").value == "sample:loans"
    assert at.selectbox(key="model").value == "gradient_boosting"
    assert at.number_input(key="params.max_iter").value == 20
    assert at.number_input(key="params.learning_rate").value == 0.3
    assert at.slider(key="calibration_size").value == 40
    assert at.slider(key="test_size").value == 25
    assert at.number_input(key="seed").value == 7
    assert at.multiselect(key="calibrators").value == ["platt", "venn"]
    assert at.slider(key="bins").value == 12
    assert [at.segmented_control(key=key).value for key in ("binning", "band", "reliability.layout")] == [
        "quantile",
        "consistency",
        "side",
    ]


def test_what_platt_is_fitted_on_is_said_and_can_be_changed():
    at = page(**QUICK)
    assert at.selectbox(key="options.platt.on").value == "auto"
    assert any(plain("Platt scaling is fitted on the log-odds") in caption.value for caption in at.caption)
    assert "options" not in at.query_params
    settled(at.selectbox(key="options.platt.on").set_value("score").run())
    assert any(
        plain("Platt scaling is fitted on the unchanged scores.") in caption.value for caption in at.caption
    )
    recipe = at.session_state["recipe"]
    assert recipe == Recipe.from_query(QUICK).replace(options={"platt.on": "score"})
    assert Recipe.from_query(at.query_params) == recipe
    at.multiselect(key="calibrators").set_value(["none", "beta"]).run()
    assert "options.platt.on" not in [box.key for box in at.selectbox]


def test_a_changed_widget_changes_the_recipe_and_its_numbers():
    at = page(**QUICK)
    at.slider(key="test_size").set_value(40).run()
    at.multiselect(key="calibrators").set_value(["none", "beta"]).run()
    recipe = at.session_state["recipe"]
    assert recipe == Recipe.from_query(QUICK).replace(test_size=0.4, calibrators=("none", "beta"))
    evaluation = evaluated(recipe)
    assert headline(at)["Brier score"].split(" → ")[0] == brief(evaluation.metrics.loc["none", "brier"])
    assert at.query_params["test_size"] == "0.4"


def test_the_options_of_the_chosen_calibrators_are_controls():
    at = page(**QUICK, calibrators="none,isotonic,ppa", options='{"isotonic.between":"nearest"}')
    assert faults(at) == []
    assert [expander.label for expander in at.sidebar.expander].count("Calibrator settings") == 1
    assert at.selectbox(key="options.isotonic.between").value == "nearest"
    assert at.toggle(key="options.isotonic.regularise").value is False
    assert "options.venn.taxonomy" not in [box.key for box in at.selectbox]
    at.selectbox(key="options.ppa.variant").set_value("sigmoid").run()
    at.toggle(key="options.isotonic.regularise").set_value(True).run()
    recipe = at.session_state["recipe"]
    assert recipe == Recipe.from_query(QUICK).replace(
        calibrators=("none", "isotonic", "ppa"),
        options={"isotonic.between": "nearest", "isotonic.regularise": True, "ppa.variant": "sigmoid"},
    )
    brier = evaluated(recipe).metrics.brier
    shown = next(frame.value for frame in at.dataframe if "Brier score" in frame.value)["Brier score"]
    assert [text.removesuffix(" ★") for text in shown] == [number(value) for value in brier]
    at.multiselect(key="calibrators").set_value(["none", "beta", "venn_abers"]).run()
    assert "Calibrator settings" not in [expander.label for expander in at.sidebar.expander]


def test_another_model_starts_from_its_own_defaults():
    at = page(data="sample:breast_cancer", model="decision_tree", params='{"max_depth":3}')
    at.selectbox(key="model").set_value("naive_bayes").run()
    assert at.session_state["recipe"].params == ()
    at.selectbox(key="model").set_value("decision_tree").run()
    assert at.number_input(key="params.max_depth").value is None


def test_a_setting_can_be_cleared_to_no_limit():
    at = page(data="sample:breast_cancer", model="decision_tree", params='{"max_depth":3}')
    at.button(key="empty_params.max_depth").click().run()
    assert faults(at) == []
    assert dict(at.session_state["recipe"].params)["max_depth"] is None
    assert at.number_input(key="params.max_depth").value is None


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"bins": "0"}, ["bins", "2 to 100"]),
        pytest.param({"bins": "many"}, ["bins", "many"], marks=pytest.mark.soak),
        pytest.param({"model": "oracle"}, ["model", "random_forest"], marks=pytest.mark.soak),
        pytest.param({"calibrators": "venn-abers"}, ["calibrators", "venn_abers"], marks=pytest.mark.soak),
        ({"colour": "red"}, ["colour", "fields are"]),
        ({"bins": ["20", "30"]}, ["bins", "once"]),
        pytest.param({"lesson": ["a", "b"]}, ["lesson", "once"], marks=pytest.mark.soak),
        pytest.param({"params": "{"}, ["params", "JSON"], marks=pytest.mark.soak),
        pytest.param({"params": '{"depth":3}'}, ["params", "depth"], marks=pytest.mark.soak),
        pytest.param({"seed": "-1"}, ["seed"], marks=pytest.mark.soak),
        pytest.param({"calibration_size": "nan"}, ["calibration_size"], marks=pytest.mark.soak),
    ],
)
def test_a_broken_address_gives_one_clear_message_and_a_page_that_works(query, words):
    at = page(**QUICK | query)
    assert faults(at) == []
    (message,) = [text for text in messages(at) if "link could not be followed" in text]
    assert all(word in message for word in words)
    assert len(at.get("plotly_chart")) == 1


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"data": "sample:nothing"}, ["sample", "digits"]),
        ({"data": "nowhere"}, ["data", "upload"]),
        ({"data": "upload:0123456789abcdef"}, ["0123456789abcdef", "Upload"]),
        ({"data": "sample:digits", "target": "no such column"}, ["no such column"]),
        ({"data": "sample:digits", "positive": "neither"}, ["neither"]),
        ({"data": "sample:digits", "exclude": "no such column"}, ["no such column"]),
        ({"data": "synthetic:gaussian", "data_params": '{"n":5}'}, ["n"]),
    ],
)
@pytest.mark.parametrize(
    "stem", ["explore_data", pytest.param("explore_reliability", marks=pytest.mark.soak)]
)
def test_an_address_of_data_that_are_not_there_says_so(stem, query, words):
    at = page(stem, **query)
    assert not at.exception
    said = [text for text in messages(at) if all(word in text for word in words)]
    assert len(said) >= 1, messages(at)


def test_an_address_of_a_score_column_that_is_not_there_says_so():
    at = page(data="sample:predictions", content="predictions", score="no such")
    assert not at.exception
    assert any("no such" in text and "naive_bayes" in text for text in messages(at))


def test_a_column_that_looks_like_an_identifier_can_be_used_all_the_same():
    at = page("explore_data", data="sample:loans")
    before = int(headline(at)["Features"])
    assert "loan_id" in at.multiselect(key="keep").options
    at.multiselect(key="keep").set_value(["loan_id"]).run()
    assert faults(at) == []
    assert int(headline(at)["Features"]) == before + 1


def test_the_positive_class_can_be_turned_round():
    at = page("explore_data", **QUICK)
    assert "Class 1: malignant" in headline(at)
    at.selectbox(key="positive").set_value("benign").run()
    assert "Class 1: benign" in headline(at)
    go(at, "explore_reliability")
    assert at.session_state["recipe"].positive == "benign"
    assert any("of them in class 'benign'" in caption.value for caption in at.caption)


def test_columns_left_out_are_not_used():
    at = page("explore_data", **QUICK)
    before = int(headline(at)["Features"])
    out = at.multiselect(key="exclude").options[:3]
    at.multiselect(key="exclude").set_value(out).run()
    assert int(headline(at)["Features"]) == before - 3
    go(at, "explore_reliability")
    recipe = at.session_state["recipe"]
    assert recipe.exclude == tuple(out)
    label = next(label for label in headline(at) if label.startswith("Brier"))
    evaluation = evaluated(recipe)
    assert set(headline(at)[label].split(" → ")) <= {brief(value) for value in evaluation.metrics["brier"]}


def test_another_label_column_forgets_the_positive_class():
    at = page("explore_data", data="sample:loans", positive="paid")
    at.selectbox(key="target").set_value(at.selectbox(key="target").options[0]).run()
    assert at.session_state["recipe"].positive is None
    assert not at.exception


def test_everything_is_kept_over_a_change_of_page():
    at = page(**QUICK)
    at.slider(key="bins").set_value(11).run()
    at.segmented_control(key="band").set_value("confidence").run()
    seen, recipe = titles(at), at.session_state["recipe"]
    go(at, "explore_data")
    assert at.session_state["recipe"] == recipe
    go(at, "explore_reliability")
    assert (titles(at), at.session_state["recipe"]) == (seen, recipe)
    assert at.slider(key="bins").value == 11


def test_a_view_change_calls_neither_fit_nor_calibrate_and_a_calibrator_change_no_fit(monkeypatch):
    from pages.ui import evaluations

    calls = []
    for name in ("fit", "calibrate"):
        real = getattr(evaluations, name)
        monkeypatch.setattr(
            evaluations, name, lambda *a, real=real, name=name: calls.append(name) or real(*a)
        )
    at = page(**QUICK)
    assert calls == ["fit", "calibrate"]
    at.slider(key="bins").set_value(11).run()
    at.segmented_control(key="binning").set_value("quantile").run()
    at.segmented_control(key="reliability.layout").set_value("side").run()
    assert calls == ["fit", "calibrate"]
    at.multiselect(key="calibrators").set_value(["none", "beta"]).run()
    assert calls == ["fit", "calibrate", "calibrate"]
    go(at, "explore_data")
    go(at, "explore_reliability")
    assert calls == ["fit", "calibrate", "calibrate"]


def test_an_upload_opens_with_its_label_chosen_and_a_second_one_replaces_it():
    at = page("explore_data")
    bring(
        at,
        "one.csv",
        b"x,w,target\n" + b"".join(b"%d,%d,%s\n" % (i % 17, i % 5, b"ab"[i % 2 :][:1]) for i in range(99)),
    )
    assert faults(at) == []
    assert at.session_state["recipe"].target == "target"
    assert headline(at)["Rows"] == "99"
    bring(at, "two.csv", b"label,score\n" + b"".join(b"%d,0.%02d\n" % (i % 2, i) for i in range(10, 90)))
    assert at.session_state["recipe"].content == "predictions"
    assert headline(at)["Rows"] == "80"
    options = at.selectbox(key="data").options
    assert {"one.csv", "two.csv"} <= set(options)


def test_python_source_runs_and_gives_the_numbers_of_the_page():
    at = page(**QUICK, bins="9")
    source = next(code.value for code in at.code if "evaluate(" in code.value)
    printed = []
    exec(source, {"print": printed.append})
    recipe = at.session_state["recipe"]
    assert printed[0] == evaluated(recipe).metrics.round(4).to_string()


@pytest.mark.parametrize(
    ("stem", "shown"),
    [
        ("explore_data", ""),
        ("explore_venn_abers", "model placement base_rate reliability.axes"),
        ("explore_out_of_bag", "model base_rate"),
        ("explore_decide", "model placement calibrators base_rate"),
        ("explore_compare", "model placement calibrators base_rate bins binning reliability.axes curve band"),
        (
            "explore_reliability",
            "model placement calibrators base_rate bins binning reliability.axes curve band reliability.layout",
        ),
    ],
)
def test_the_sidebar_holds_what_changes_something_on_the_page_and_the_rest_is_kept(stem, shown):
    every = {"model", "placement", "calibrators", "base_rate", "bins", "binning", "curve", "band"}
    every |= {"reliability.axes", "reliability.layout"}
    chosen = {
        "calibrators": "none,platt,venn_abers",
        "bins": "11",
        "band": "confidence",
        "model": "bagged_trees",
    }
    query = chosen | {"data": "sample:breast_cancer", "params": '{"n_estimators":5}'}
    at = page(stem, **query)
    assert {element.key for element in at.sidebar if getattr(element, "key", None)} & every == set(
        shown.split()
    )
    at = go(at, "explore_reliability")
    assert at.slider(key="bins").value == 11
    assert at.multiselect(key="calibrators").value == ["none", "platt", "venn_abers"]
    assert at.session_state["recipe"].to_query() == Recipe.from_query(query).to_query()
