"""The line of the test is dashed, and no marks of fifty weeks hide its dashes."""

from calib.experiments import EXPERIMENTS
from calib.figures import FIGURES


def test_the_dashes_of_fifty_weeks_can_be_seen():
    experiment = EXPERIMENTS["looking"]
    found = experiment.simulate(
        random_state=0, **experiment.numbers(experiment.values({"looking.models": 50}))
    )
    drawn = FIGURES["looking"].draw(FIGURES["looking"].prepare(found))
    dashed = [one for one in drawn.data if one.line.dash == "dash"]
    assert len(dashed) == 2
    assert {one.mode for one in dashed} == {"lines"}
