"""CL and GL: three pictures, the identity in a title, and a setting whose sweep is there costs no fit."""

import importlib

import pytest

from calib.figures import FIGURES
from tests.pages.app import experiment, faults, query, settled, titles, verdicts


def learn(**settings):
    return experiment("cl_gl", **query({f"cl_gl.{key}": value for key, value in settings.items()}))


def test_it_asks_beside_two_groups_and_the_stack():
    at = learn(guess="ask")
    settled(at.button(key="guess_3").click().run())
    assert faults(at) == []
    losses, groups, stacked = titles(at)
    assert losses.startswith("Miscalibration costs this model ")
    assert any("CL 0" in caption.value for caption in at.main.caption), "the identity with its numbers"
    assert groups.startswith("2 groups; the costliest predicts ")
    assert len(groups) <= 55  # one line of a laptop
    assert stacked.startswith("The expected Brier score is lowest")
    assert verdicts(at)[0].startswith(":green-badge[")


def test_log_loss_of_pure_leaves_is_infinite_and_laplace_makes_it_finite():
    at = learn(guess="skip", n=200, loss="log")
    assert "costs this model ∞" in titles(at)[0]
    settled(at.selectbox(key="cl_gl.leaf").set_value("laplace").run())
    assert faults(at) == []
    assert "∞" not in titles(at)[0]


def test_after_the_stack_is_drawn_its_setting_moves_without_a_fit(monkeypatch):
    at = learn(guess="skip", n=200, covariances="unequal", depth=3)
    fits = []

    def fitted(*args, **kwargs):
        fits.append(args)
        raise AssertionError("a fit")

    monkeypatch.setattr(
        importlib.import_module("calib.experiments.shared.gaussian_plane"), "ProbabilityTree", fitted
    )
    settled(at.select_slider(key="cl_gl.depth").set_value(7).run())
    assert faults(at) == []
    assert fits == []
    assert len(titles(at)) == 3


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("cl_gl", "2 groups"),
        ("regret", "cross at"),
        ("constant", "Brier score"),
        ("log_loss", "Share of runs with finite log loss"),
        ("counterexample", "simplified p0"),
        ("theorem", "Mean error of P_Y"),
        ("compare", "log loss"),
    ],
)
def test_a_picture_in_words_describes_it_and_keeps_the_answer_back_until_it_is_given(key, answer):
    """A screen reader hears what is drawn; what answers the question, with the finding."""

    def heard(guess):
        at = experiment(key, **{f"{key}.guess": guess})
        return " ".join(chart.proto.alt for chart in at.get("plotly_chart"))

    before, after = heard("ask"), heard("1")
    assert answer not in before
    assert answer in after
    assert FIGURES[key].label in before
    assert len(before) > 100, "not only its name"
