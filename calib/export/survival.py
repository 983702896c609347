"""The validation report of risks by a horizon, in TRIPOD+AI's order, as one self-contained document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from itertools import count
from math import isnan

import pandas as pd

from calib.analysis.centres import Centres
from calib.analysis.survival.check import SURVIVAL_METRICS, SurvivalEvaluation
from calib.export import tripod
from calib.export.charts import Chart, with_numbers
from calib.export.clinical import POOLING, POOLING_REFERENCES, centres_section
from calib.export.pages import page, versions
from calib.figures import FIGURES, LIGHT, Theme
from calib.kernel.wording import MISSING, percent, two_decimals, with_interval
from calib.metrics import METRICS

VALUE_COLUMN = "Value [95 % interval]"
OVERALL_MEASURES, CALIBRATION = ("auc", "brier", "brier_skill"), SURVIVAL_METRICS[:6]

SURVIVAL_METHODS = (
    "Rows of known status at the horizon are weighted by the inverse probability of censoring (Graf et al. 1999; Gerds "
    "& Schumacher 2006). Observed risks are {estimate} estimates. Smooth curves, ICI, "
    "E50 and E90 use pseudo-values (Andersen & Perme 2010; Austin, Harrell & van Klaveren 2020). The AUC compares "
    "cumulative cases with dynamic controls (Uno et al. 2007; Blanche et al. 2013). All 95 % intervals "
    "allow for the estimation of the censoring."
)
REFERENCES = (
    "Andersen & Perme 2010, Statistical Methods in Medical Research 19",
    "Austin, Harrell & van Klaveren 2020, Statistics in Medicine 39",
    "Blanche, Dartigues & Jacqmin-Gadda 2013, Statistics in Medicine 32",
    "Gerds & Schumacher 2006, Biometrical Journal 48",
    "Graf, Schmoor, Sauerbrei & Schumacher 1999, Statistics in Medicine 18",
    "Uno, Cai, Tian & Wei 2007, Journal of the American Statistical Association 102",
)
SURVIVAL_LIMITS = (
    "Censoring must not depend on the risk; if there are censoring groups, this applies within each group. "
    "Otherwise the estimates in this report may be biased.",
    "The report does not say how the model was developed. Describe this, with the setting and dates of the data.",
)
PLACES_OF_PARTS = (
    tripod.FIRST_PAGE,
    tripod.SUMMARY,
    tripod.ROWS_ITEM,
    tripod.METHODS_ITEM,
    tripod.OVERALL_ITEM,
    tripod.CALIBRATION_ITEM,
    tripod.LIMITS_ITEM,
    tripod.REPORT_ITEM,
)


def survival_html(
    found: SurvivalEvaluation,
    centres: Centres | None = None,
    title: str = "Validation of predicted risks",
    source: str = "",
    theme: Theme = LIGHT,
) -> bytes:
    """Write verdict, flow of rows, methods, numbers with intervals, figures, centres and limits, without the data.

    Parameters
    ----------
    found
        Result of ``check_survival``.
    centres
        Result of ``centres(found.evaluation, …)``, if centres are reported.
    source
        Command or code that computes the numbers.

    Examples
    --------
    >>> from calib import check_survival
    >>> time, event = [1.0, 2, 3, 4, 5, 6] * 9, [1, 0, 1, 0, 1, 0] * 9
    >>> found = check_survival(time, event, [0.6, 0.5, 0.4, 0.3, 0.3, 0.2] * 9, horizon=4)
    >>> b"<h1>Relapses</h1>" in survival_html(found, title="Relapses")
    True
    """
    competing, numbers = bool((found.censoring.event == 2).any()), count(1)
    estimate = "Aalen–Johansen" if competing else "Kaplan–Meier"
    calibration = with_numbers([Chart("survival", FIGURES["survival"].prepare(found))], numbers)
    return page(
        "survival.html",
        title,
        theme,
        cover={"Horizon": f"{found.horizon:g}", "Date": f"{date.today():%d %B %Y}", "Author": "Not given"},
        verdict=found.verdict.sentence,
        flow=_flow(found),
        methods=[SURVIVAL_METHODS.format(estimate=estimate), *([POOLING] if centres else [])],
        references=sorted((*REFERENCES, *(POOLING_REFERENCES if centres else ()))),
        overall=formatted_survival(found, OVERALL_MEASURES, two_decimals),
        calibration=formatted_survival(found, CALIBRATION, two_decimals),
        charts_of=calibration,
        groups={name: formatted_bins(found, name) for name in found.evaluation.predictions},
        centres=centres and centres_section(centres, numbers),
        limits=SURVIVAL_LIMITS,
        checklist=tripod.answered({*PLACES_OF_PARTS, *([tripod.CENTRES_ITEM] if centres else [])}, False),
        source=source,
        versions=versions(),
    )


def formatted_survival(
    found: SurvivalEvaluation,
    metrics: Sequence[str] = SURVIVAL_METRICS,
    form: Callable[[float, float, float], str] = with_interval,
) -> pd.DataFrame:
    """Format one row per metric and one column per risk, with intervals where they are known."""
    columns = {
        VALUE_COLUMN if name == "none" else name: [form(*found.table(name).loc[metric]) for metric in metrics]
        for name in found.evaluation.predictions
    }
    return pd.DataFrame(columns, index=[METRICS[metric].label for metric in metrics])


def _flow(found: SurvivalEvaluation) -> pd.DataFrame:
    """Return the number of rows by their status at the horizon."""
    rows = found.censoring
    before = rows.time <= rows.horizon
    numbers = {
        "All rows": rows.n,
        "Event by the horizon": int((before & (rows.event == 1)).sum()),
        "Competing event by the horizon": int((before & (rows.event == 2)).sum()),
        "Censored before the horizon": int(rows.censored.sum()),
        "Estimated risk": percent(rows.risk),
    }
    return pd.DataFrame(
        {"Rows": [n if isinstance(n, str) else f"{n:,}" for n in numbers.values()]}, index=list(numbers)
    )


def formatted_bins(found: SurvivalEvaluation, name: str | None = None) -> pd.DataFrame:
    """Format one row per group of risk: rows, events, censored rows, predicted and observed risk."""
    lines = list(found.bins(key=name).itertuples())
    return pd.DataFrame(
        {
            "Rows": [f"{line.rows:,.0f}" for line in lines],
            "Events": [f"{line.events:,.0f}" for line in lines],
            "Censored": [f"{line.censored:,.0f}" for line in lines],
            "Predicted (%)": [f"{100 * line.risk:.1f}" for line in lines],
            "Observed (%) [95 % interval]": [
                MISSING
                if isnan(line.observed)
                else f"{100 * line.observed:.1f} [{100 * line.lower:.1f}, {100 * line.upper:.1f}]"
                for line in lines
            ],
        },
        index=range(1, len(lines) + 1),
    )
