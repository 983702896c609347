"""The tab Optimism of Reliability, and the view Centres of Groups, show the numbers of the package."""

import html

from calib import load_sample
from calib.analysis.centres import centres
from calib.analysis.optimism import leave_out_recipe, validate_recipe
from calib.sources import load
from tests.evaluated import evaluated
from tests.pages.app import faults, go, jobs_of, messages, page, settled
from tests.saying import assert_any_says

TRAINED = {
    "data": "synthetic:gaussian",
    "data_params": '{"n":120}',
    "model": "naive_bayes",
    "calibrators": "none",
    "reliability.details": "optimism",
    "reliability.resamples": "20",
}


def started(what, at):
    """Start this long computation if the page asks before it begins, and wait for it."""
    if starts := [each for each in at.button if each.key == f"start_{what}"]:
        starts[0].click().run()
        settled(at)
    return at


def test_the_tab_corrects_the_model_that_is_trained_here():
    at = started("optimism", page("explore_reliability", **TRAINED))
    assert faults(at) == []
    recipe = at.session_state["recipe"]
    made = validate_recipe(recipe, load(recipe), "none", 20)
    assert_any_says([each.value.replace("\\", "") for each in at.markdown], made.sentence)


def test_a_model_that_is_trained_here_can_leave_one_centre_out():
    given = {"data": "sample:loans", "model": "naive_bayes", "calibrators": "none", "groups.view": "centres"}
    at = started("left_out", page("explore_groups", **given, **{"reliability.group": "purpose"}))
    assert faults(at) == []
    made = leave_out_recipe(at.session_state["recipe"], load_sample("loans"), "none", "purpose")
    assert_any_says([each.value.replace("\\", "") for each in at.markdown], made.sentences[0])


def test_the_report_of_compare_has_what_this_session_has_computed(downloads):
    given = {"model": "naive_bayes", "calibrators": "none", "reliability.resamples": "20"}
    at = started(
        "optimism",
        page("explore_reliability", data="sample:loans", **given, **{"reliability.details": "optimism"}),
    )
    at.query_params.update({"groups.view": "centres", "reliability.group": "purpose"})
    at = started("left_out", go(at, "explore_groups"))
    go(at, "explore_compare")
    assert faults(at) == []
    text = html.unescape(downloads["Report (HTML)"]().decode())
    (optimism,), (left_out,) = jobs_of(at, "optimism"), jobs_of(at, "left_out")
    assert optimism.made.sentence in text
    evaluation = evaluated(at.session_state["recipe"])
    names = evaluation.column("purpose").astype(str).to_numpy()
    for made in (centres(evaluation, names), left_out.made):
        assert all(sentence in text for sentence in made.sentences)


def test_predictions_made_elsewhere_have_no_optimism():
    given = {"data": "sample:predictions", "content": "predictions", "calibrators": "none"}
    at = page("explore_reliability", **given, **{"reliability.details": "optimism"})
    assert faults(at) == []
    assert any("trained here" in text for text in messages(at))


def test_the_view_of_centres_pools_the_groups_of_a_column():
    given = {"data": "sample:hidden_group", "content": "predictions", "calibrators": "none"}
    at = page("explore_groups", **given, **{"groups.view": "centres", "reliability.group": "region"})
    assert faults(at) == []
    evaluation = evaluated(at.session_state["recipe"])
    made = centres(evaluation, evaluation.column("region").astype(str).to_numpy(), "none")
    texts = [each.value.replace("\\", "") for each in at.markdown]
    for sentence in made.sentences:
        assert_any_says(texts, sentence)
    assert len(at.get("plotly_chart")) == 2
