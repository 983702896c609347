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


def test_the_share_of_false_alarms_has_its_interval():
    """Wilson's by its formula: 38 of 100 models."""
    found = EXPERIMENTS["looking"].simulate()
    share = found.share("calm", "test")[-1]
    z, n = 1.959964, len(found.calm["test"])
    middle, half = share + z**2 / (2 * n), z * (share * (1 - share) / n + z**2 / (4 * n**2)) ** 0.5
    low, high = (100 * (middle + sign * half) / (1 + z**2 / n) for sign in (-1, 1))
    assert f"95 % interval {low:.0f} to {high:.0f} %" in FIGURES["looking"].prepare(found).title
