"""Model comparison: two rows of panels with their numbers; a model joins in without the others being fitted again."""

import importlib

from tests.pages.app import experiment, faults, query, settled, titles, verdicts
from tests.saying import assert_says


def learn(**settings):
    return experiment(
        "which_model", **query({f"which_model.{key}": value for key, value in settings.items()})
    )


def numbers(at):
    (table,) = at.main.dataframe
    return table.value


def test_it_asks_and_the_svm_comes_out():
    at = learn(guess="ask")
    settled(at.button(key="guess_1").click().run())
    assert faults(at) == []
    assert titles(at)[0].startswith("Equal covariances: logistic regression comes closest")
    assert "Unequal covariances: SVM with Platt" in titles(at)[0]
    assert_says(verdicts(at)[0], "answer", "support-vector machine with Platt scaling")
    assert sum(chart.key.startswith("chart_which_model") for chart in at.get("plotly_chart")) == 6


def test_the_numbers_stand_beside_and_add_up():
    table = numbers(learn(guess="skip", n=100, trees=10))
    assert list(table.columns) == ["TCE", "Bias²", "Scatter", "CL", "GL", "IL", "Expected Brier"]
    first = ("Forest", "SVM with Platt scaling", "Logistic regression")
    assert list(table.index)[:3] == [f"{name}, equal covariances" for name in first]
    values = table.astype(float)
    assert abs(values["Bias²"] + values["Scatter"] - values["TCE"]).max() < 2e-4  # of rounded numbers
    assert abs(values["TCE"] + values["IL"] - values["Expected Brier"]).max() < 2e-3


def test_a_fourth_model_is_the_only_one_fitted_and_a_view_fits_none(monkeypatch):
    at = learn(guess="skip", n=100, trees=10)
    module = importlib.import_module("pages.ui.learn.variations")
    fit_one, fitted = module.fit_one, []

    def counting(*what, watch):
        fitted.append(what[3])
        return fit_one(*what, watch=watch)

    monkeypatch.setattr(module, "fit_one", counting)
    settled(at.segmented_control(key="which_model.cloud").set_value("density").run())
    assert faults(at) == []
    assert fitted == []
    settled(at.selectbox(key="which_model.other").set_value("nearest_neighbours").run())
    assert faults(at) == []
    assert fitted == ["nearest_neighbours"] * 2
    assert len(at.get("plotly_chart")) == 8
    assert "Nearest neighbours, unequal covariances" in numbers(at).index
    settled(at.selectbox(key="which_model.calibrator").set_value("isotonic").run())
    assert fitted == ["nearest_neighbours"] * 4
    assert "Nearest neighbours, Isotonic, equal covariances" in numbers(at).index
