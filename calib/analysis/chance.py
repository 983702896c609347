"""The ECE of a calibrated model on the test rows of an evaluation, as a sentence to show beside every ECE."""

from __future__ import annotations

from calib.analysis.differences import reference_of
from calib.evaluate import Evaluation
from calib.kernel.wording import brief


def chance_sentence(evaluation: Evaluation) -> str:
    """State the ECE by chance for the model's own predictions; "" without predictions or with one cluster."""
    if not evaluation.predictions:
        return ""
    chance = evaluation.estimate("ece_chance", reference_of(evaluation.predictions)).value
    if chance != chance:
        return ""
    return f"{below_by_chance(evaluation, brief(chance))}."


def below_by_chance(evaluation: Evaluation, chance: str) -> str:
    """State the ECE by chance, as printed, as a clause."""
    return f"95 of 100 calibrated models would show an ECE below {chance} on these {evaluation.size_text}"
