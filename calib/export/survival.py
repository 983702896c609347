"""The validation report of risks by a horizon, in TRIPOD+AI's order, as one self-contained document."""

from __future__ import annotations

from datetime import date
from typing import Any

import pandas as pd

from calib.analysis.centres import Centres
from calib.analysis.survival.check import SURVIVAL_METRICS, SurvivalEvaluation
from calib.export.charts import Chart
from calib.export.pages import page, versions
from calib.figures import FIGURES, LIGHT, Theme
from calib.kernel.wording import percent, with_interval
from calib.metrics import METRICS

METHODS = (
    "Rows of known status at the horizon are weighted by the inverse probability of censoring (Graf et al. 1999; Gerds "
    "& Schumacher 2006). Observed risks are {estimate} estimates. Smooth curves, ICI, "
    "E50 and E90 use pseudo-values (Andersen & Perme 2010; Austin, Harrell & van Klaveren 2020). The AUC compares "
    "cumulative cases with dynamic controls (Uno et al. 2007; Blanche et al. 2013). All 95 % intervals count that the "
    "censoring is estimated."
)
POOLING = (
    " Centres are pooled by random effects (REML, Hartung–Knapp). The interval of a new centre follows Higgins, "
    "Thompson & Spiegelhalter (2009)."
)
LIMITS = (
    "Censoring must not depend on the risk, within groups of censoring if there are any. Otherwise all numbers are "
    "biased.",
    "E50 and E90 have no intervals.",
    "The report does not say how the model was developed. Add this, with the setting and dates of the data.",
)
FEW_CENTRES = "In simulations with 5 or 10 centres, the interval for a new centre covered 90 % of new slopes."


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
    competing = bool((found.censoring.event == 2).any())
    estimate = "Aalen–Johansen" if competing else "Kaplan–Meier"
    return page(
        "survival.html",
        title,
        theme,
        cover={"Horizon": f"{found.horizon:g}", "Date": f"{date.today():%d %B %Y}", "Author": "Not given"},
        verdict=found.verdict.sentence,
        flow=_flow(found),
        methods=METHODS.format(estimate=estimate) + (POOLING if centres else ""),
        performance=formatted_survival(found),
        charts=[_chart("survival", found)],
        groups={name: _groups(found, name) for name in found.evaluation.predictions},
        centres=centres
        and {
            "sentences": centres.sentences,
            "charts": [_chart(key, centres) for key in ("centres", "centre_curves")],
        },
        limits=(*LIMITS, *([FEW_CENTRES] if centres else [])),
        source=source,
        versions=versions(),
    )


def formatted_survival(found: SurvivalEvaluation) -> pd.DataFrame:
    """Format one row per metric and one column per risk, with intervals where they are known."""
    columns = {
        name: [with_interval(*found.table(name).loc[metric]) for metric in SURVIVAL_METRICS]
        for name in found.evaluation.predictions
    }
    return pd.DataFrame(columns, index=[METRICS[metric].label for metric in SURVIVAL_METRICS])


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


def _groups(found: SurvivalEvaluation, name: str) -> pd.DataFrame:
    lines = list(found.bins(key=name).itertuples())
    return pd.DataFrame(
        {
            "Rows": [f"{line.rows:,.0f}" for line in lines],
            "Predicted": [percent(line.risk) for line in lines],
            "Observed [95 % interval]": [
                with_interval(line.observed, line.lower, line.upper) for line in lines
            ],
        }
    )


def _chart(key: str, source: Any) -> Chart:
    return Chart(key, FIGURES[key].prepare(source))
