"""An experiment without its page: its pictures, and a page that stands alone."""

import re
from html import unescape

import pytest

from calib.experiments import EXPERIMENTS
from calib.export import experiment_html, run_experiment
from calib.figures import FIGURES
from calib.kernel.checks import InputError


def test_a_run_holds_every_picture_of_all_simulations():
    settings = {"n": 50, "against": "leaf", "leaf": "laplace", "loss": "log"}
    run = run_experiment("cl_gl", settings, 5)
    assert [chart.key for chart in run.charts] == ["cl_gl", "cl_gl_groups", "cl_gl_sweep"]
    sweep = EXPERIMENTS["cl_gl"].simulate("cl_gl_sweep", random_state=5, n=50, against="leaf")
    assert (
        run.charts[2].record.to_frame().equals(FIGURES["cl_gl_sweep"].prepare(sweep, loss="log").to_frame())
    )
    assert run.values == EXPERIMENTS["cl_gl"].values({}) | settings


def test_the_html_stands_alone_and_says_with_what_it_was_made():
    page = experiment_html(run_experiment("theorem", {"draws": 500, "predictor": "venn"}, 8)).decode()
    own = re.sub(r"<script>.*?</script>", "", page, count=1, flags=re.DOTALL)  # without Plotly's own source
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", own)
    assert own.count("Plotly.newPlot") == len(EXPERIMENTS["theorem"].figures)
    for text in ("Predictor: Venn, two categories", "Draws: 500", "Seed: 8"):
        assert f"<li>{text}</li>" in own
    assert "experiment.simulate(random_state=8, predictor='venn'" in unescape(own)
    assert (
        "Depth: no limit" in experiment_html(run_experiment("cl_gl", {"n": 50, "against": "leaf"})).decode()
    )
    assert "Seed" not in experiment_html(run_experiment("pooling")).decode()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing",), "The experiment must be one of 'cl_gl'"),
        (("theorem", {"draws": 3}), "draws must be one of 500"),
        (("theorem", {"drawn": 3}), "no setting 'drawn'; its settings are predictor"),
        (("theorem", {}, -1), "seed must be a whole number from 0"),
        (("theorem", {}, 0.5), "seed must be a whole number"),
    ],
)
def test_what_cannot_be_is_refused_by_name(arguments, words):
    with pytest.raises(InputError, match=words):
        run_experiment(*arguments)


@pytest.mark.parametrize("key", ["finite", "pooling", "theorem"])
def test_nothing_on_paper_asks_for_a_click(key):
    """Settings and their help apart: only the pictures are there, and no control."""
    page = experiment_html(run_experiment(key, {"draws": 500} if key == "theorem" else {})).decode()
    own = re.sub(r"<script>.*?</script>", "", page, count=1, flags=re.DOTALL)
    assert not re.search(r"\b[Cc]lick (a|to|any)\b|\bto mend\b", own)
