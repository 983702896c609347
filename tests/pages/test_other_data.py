"""Other data clear what the last ones left; each Explore page names its data; no card shows infinity alone."""

import numpy as np
import pandas as pd
import pytest

from calib.analysis import depth
from calib.kernel.progress import Cancelled
from calib.kernel.wording import number
from calib.metrics import log_loss_clipped
from calib.recipe import Recipe
from pages.ui import current, evaluations, jobs
from tests.evaluated import of_address
from tests.pages.app import at_once, bring, faults, go, headline, page, working
from tests.sweep import sweep
from tests.waiting import LIMIT

FOREST = {"model": "random_forest", "params": '{"n_estimators": 5}'}
NAME = "Data: **Breast tumours: malignant or benign**"
TREE = {"data": "sample:breast_cancer", "model": "decision_tree", "calibrators": "none,platt,venn_abers"}
FITTED = [one.script for one in current.PAGES["Explore"] if one.key not in ("data", "survival")]  # no model


def csv(rows, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    label = np.where(rng.random(rows) < 1 / (1 + np.exp(-2 * x[:, 0])), "ill", "well")
    return pd.DataFrame(x, columns=list("abc")).assign(label=label).to_csv(index=False).encode()


def said(at):
    """All that stands in the page but its sidebar."""
    kinds = ("title", "header", "subheader", "markdown", "caption", "info", "warning", "error", "metric")
    texts = [str(element.value) for kind in kinds for element in getattr(at.main, kind)]
    return " ".join(texts).replace("\\", "")


def results(at):
    return sum(len(at.main.get(kind)) for kind in ("metric", "plotly_chart", "arrow_data_frame"))


def hold_fits(monkeypatch):
    """Let no model be fitted from now on: fits wait until they are cancelled."""

    def held(recipe, data, watch):
        watch.cancel.wait(LIMIT)
        raise Cancelled("held")

    for module in (evaluations, depth):
        monkeypatch.setattr(module, "fit", held)


@pytest.mark.parametrize(
    "script", sweep(FITTED, "pages/explore_reliability.py", "pages/explore_out_of_bag.py")
)
def test_while_the_model_of_other_data_is_fitted_nothing_of_the_last_is_there(script, monkeypatch):
    monkeypatch.setattr(jobs, "SECONDS_WITHOUT_PROGRESS", 0.0)
    stem = script.removeprefix("pages/").removesuffix(".py")
    grows = stem in ("explore_out_of_bag", "explore_trees")
    at = page("explore_data", **FOREST if grows else {"model": "naive_bayes"})
    go(bring(at, "first.csv", csv(300, 0)), stem)
    assert "Data: **first.csv**" in said(at)
    assert results(at) > 0
    hold_fits(monkeypatch)
    at.switch_page("pages/explore_data.py").run()
    bring(at, "second.csv", csv(400, 1))
    at.selectbox(key="data")  # the sidebar names it as well
    at.session_state["recipe"] = at.session_state["recipe"].replace(model="large_forest")
    at.switch_page(script).run()
    assert working(at)
    assert "Data: **second.csv**" in said(at)
    assert "first.csv" not in said(at)
    assert "90 test rows" not in said(at)
    assert results(at) == 0


@pytest.mark.parametrize("stem", ["explore_reliability", "explore_out_of_bag", "explore_compare"])
def test_while_another_model_of_the_same_data_is_fitted_the_last_results_stay(stem, monkeypatch):
    few = {"data": "sample:digits", "model": "large_forest", "params": '{"n_estimators": 5}'}
    at = page(stem, **few)
    before = results(at)
    monkeypatch.setattr(jobs, "SECONDS_WITHOUT_PROGRESS", 0.0)
    hold_fits(monkeypatch)
    at.session_state["recipe"] = at.session_state["recipe"].replace(params={"n_estimators": 6})
    at.session_state["changed"] = True
    at.run()
    assert working(at)
    assert any("st-key-results" in element.proto.body for element in at.get("html"))
    assert 0 < results(at) <= before
    assert "report_html" not in [button.key for button in at.button]


def test_what_was_picked_of_one_data_set_is_not_picked_of_the_next():
    picked = {
        "reliability.selection": "none:0.2:0.9",
        "reliability.group": "mean radius",
        "venn_abers.row": "7",
        "trees.row": "9",
        "trees.node": "2",
    }
    at = page("explore_reliability", data="sample:breast_cancer", model="naive_bayes", **picked)
    assert at.session_state["recipe"].setting("venn_abers.row") == 7
    at.selectbox(key="data").set_value("sample:rare_faults").run()
    recipe = at.session_state["recipe"]
    assert [recipe.setting(name) or None for name in picked] == [None] * len(picked)
    assert not set(picked) & set(at.query_params)


@pytest.mark.parametrize("query", sweep([{}, {"presenter": "true"}], {}))
def test_every_explore_page_names_its_data_beside_the_title(query):
    for one in current.PAGES["Explore"]:
        at = at_once(
            one.script.removeprefix("pages/").removesuffix(".py"),
            data="sample:breast_cancer",
            **FOREST,
            **query,
        )
        assert NAME in [element.value.replace("\\", "") for element in at.main.caption], one.script
        assert at.main.title[0].value == current.question(one, Recipe())


def test_infinite_log_loss_stands_in_a_card_with_the_clipped_one():
    evaluation = of_address(**TREE)
    losses = {key: log_loss_clipped(each.y, each.p) for key, each in evaluation.predictions.items()}
    for stem, label in (("explore_reliability", "Log loss"), ("explore_venn_abers", None)):
        at = page(stem, **TREE)
        assert faults(at) == []
        assert not any("∞" in (metric.delta or "") for metric in at.metric)
        if label is None:
            key, card = "venn_abers", next(m for m in at.metric if m.label.startswith("Log loss"))
        else:
            card = next(m for m in at.metric if m.label == label)
            assert headline(at)[label].startswith(f"∞ (clipped: {number(losses['none'])}) → ")
            key = "platt" if number(losses["platt"], 2) in card.value.split("→")[1] else "venn_abers"
        assert card.delta == f"clipped: {number(losses[key] - losses['none'])}"
