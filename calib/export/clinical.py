"""Sections that the validation reports share: the correction for optimism, and centres."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from calib.analysis.centres import Centres
from calib.analysis.optimism import INNER, Validation
from calib.export.charts import Chart, with_numbers
from calib.figures import FIGURES
from calib.figures.optimism import formatted_validation
from calib.kernel.wording import brief_percent, counted, two_decimals
from calib.metrics import METRICS

POOLING = (
    "Centres are pooled by random effects (REML, Viechtbauer 2005; Hartung & Knapp 2001). The interval for a new "
    "centre follows Nagashima, Noma & Furukawa (2019)."
)
POOLING_REFERENCES = (
    "Hartung & Knapp 2001, Statistics in Medicine 20",
    "Nagashima, Noma & Furukawa 2019, Statistical Methods in Medical Research 28",
    "Viechtbauer 2005, Journal of Educational and Behavioral Statistics 30",
)
CORRECTION = (
    "All steps of the model were repeated in {resamples} (Harrell, Lee & Mark 1996, Statistics in Medicine 15). The "
    "mean optimism was subtracted. Intervals come from a double bootstrap: {inner} resamples of each resample (Noma et "
    "al. 2021, Statistics in Medicine 40)."
)


def centres_section(found: Centres, numbers: Iterator[int]) -> dict[str, Any]:
    """Return the sentences, the table of pooled values, and the numbered figures of centres."""
    charts = [Chart(key, FIGURES[key].prepare(found)) for key in ("centres", "centre_curves")]
    return {
        "sentences": found.sentences,
        "table": formatted_pooled(found),
        "charts": with_numbers(charts, numbers),
    }


def formatted_pooled(found: Centres) -> pd.DataFrame:
    """Format one row per measure: its mean over centres, what to expect in a new centre, and the heterogeneity."""
    lines = found.pooled.values()
    return pd.DataFrame(
        {
            "Mean [95 % interval]": [two_decimals(one.value, one.low, one.high) for one in lines],
            "Prediction interval": [
                f"{two_decimals(one.new_low)} to {two_decimals(one.new_high)}" for one in lines
            ],
            "τ": [two_decimals(one.tau) for one in lines],
            "I²": [brief_percent(one.i_squared) for one in lines],
            "Centres": [one.centres for one in lines],
        },
        index=[METRICS[key].label for key in found.pooled],
    )


def optimism_section(found: Validation, numbers: Iterator[int]) -> dict[str, Any]:
    """Return the sentence, the methods, the table and the numbered figure of a correction for optimism."""
    return {
        "sentence": found.sentence,
        "methods": CORRECTION.format(resamples=counted(len(found.train), "bootstrap resample"), inner=INNER),
        "table": formatted_validation(found, two_decimals),
        "charts": with_numbers([Chart("optimism", FIGURES["optimism"].prepare(found))], numbers),
    }
