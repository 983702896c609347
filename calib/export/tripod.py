"""The checklist of TRIPOD+AI: which sections of a validation report answer which item, and what the author adds.

Item numbers are those of the checklist (Collins et al. 2024, *BMJ* 385:e078378, Table 2); the words are our own.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import pandas as pd

FIRST_PAGE = "First page"
SUMMARY = "Summary"
ROWS_ITEM = "Data and flow of rows"
SPLIT = "Model, split and calibrators"
OVERALL_ITEM = "Discrimination and overall performance"
CALIBRATION_ITEM = "Calibration"
DIFFERENCES_ITEM = "Differences from the uncalibrated model"
BENEFIT = "Net benefit and costs"
SUBGROUPS_ITEM = "Subgroups"
METHODS_ITEM = "Methods"
OPTIMISM_ITEM = "Optimism"
CENTRES_ITEM = "Centres"
SAMPLE_SIZE_ITEM = "Sample size"
CHOICES_ITEM = "What was excluded, imputed or chosen"
LIMITS_ITEM = "Limits"
SETTINGS_PART = "Settings"
REPORT_ITEM = "How this report was made"

ADD = "Not in this report: please add"


class Item(NamedTuple):
    """An item of the checklist: its number and subject, the sections that answer it, and what the author adds.

    ``trained`` marks an item that the report answers only if the model was trained here.
    """

    number: str
    asks: str
    places: tuple[str, ...] = ()
    add: str = ""
    trained: bool = False


ITEMS = {
    "Title, abstract and introduction": (
        Item("1", "Title", (FIRST_PAGE,), "the target population"),
        Item("2", "Abstract", (SUMMARY,), "a structured abstract"),
        Item("3a", "Context and reasons"),
        Item("3b", "Target population, intended use and users"),
        Item("3c", "Known inequalities between groups"),
        Item("4", "Objectives", (FIRST_PAGE,), "the objectives in full"),
    ),
    "Methods": (
        Item("5a", "Sources of the data", (FIRST_PAGE,), "how they were collected, and whom they represent"),
        Item("5b", "Dates of the data"),
        Item("6a–6c", "Setting, eligibility and treatments"),
        Item(
            "7",
            "Preparation and checks of the data",
            (ROWS_ITEM, CHOICES_ITEM),
            "how the data were prepared before this file was made",
        ),
        Item("8a", "Outcome", (FIRST_PAGE,), "definition, time horizon and assessment of the outcome"),
        Item("8b, 8c", "Assessors of the outcome, and their blinding"),
        Item("9a", "Choice of predictors", (CHOICES_ITEM,), "the reasons", trained=True),
        Item("9b, 9c", "Definition and measurement of predictors"),
        Item("10", "Sample size", (SAMPLE_SIZE_ITEM,), "how the sample size was planned"),
        Item("11", "Missing data", (ROWS_ITEM, CHOICES_ITEM)),
        Item("12a", "How rows were used", (ROWS_ITEM, SPLIT)),
        Item("12b", "Handling of predictors", (CHOICES_ITEM,), trained=True),
        Item(
            "12c",
            "Type of model, and how it was built and validated",
            (FIRST_PAGE, SPLIT, OPTIMISM_ITEM, SETTINGS_PART),
            trained=True,
        ),
        Item("12d", "Differences between clusters", (CENTRES_ITEM,)),
        Item(
            "12e",
            "Measures and plots of performance",
            (METHODS_ITEM, OVERALL_ITEM, CALIBRATION_ITEM, BENEFIT),
        ),
        Item("12f", "Updating of the model (recalibration)", (SPLIT,)),
        Item("12g", "How predictions were calculated", (SETTINGS_PART, REPORT_ITEM), trained=True),
        Item("13", "Methods for handling class imbalance"),
        Item("14", "Approaches to fairness"),
        Item("15", "Output and thresholds", (BENEFIT,), "the reasons for thresholds"),
        Item(
            "16",
            "Differences between training and test data",
            (ROWS_ITEM,),
            "setting, eligibility and predictors",
        ),
        Item("17", "Ethical approval"),
    ),
    "Open science, patients and the public": (
        Item("18a–18d", "Funding, conflicts of interest, protocol, registration"),
        Item(
            "18e",
            "Availability of the data",
            (SPLIT,),
            "where the data are available; the report contains only their digest",
        ),
        Item("18f", "Availability of the code", (REPORT_ITEM,)),
        Item("19", "Involvement of patients and the public"),
    ),
    "Results": (
        Item("20a", "Flow of participants and events", (ROWS_ITEM,), "follow-up"),
        Item("20b", "Characteristics of participants"),
        Item("20c", "Predictors compared with the training data"),
        Item("21", "Rows and events of each analysis", (ROWS_ITEM,)),
        Item("22", "The full model", (SETTINGS_PART, REPORT_ITEM), trained=True),
        Item(
            "23a",
            "Performance with intervals, including subgroups",
            (OVERALL_ITEM, CALIBRATION_ITEM, OPTIMISM_ITEM, BENEFIT, SUBGROUPS_ITEM),
        ),
        Item("23b", "Differences in performance between clusters", (CENTRES_ITEM,)),
        Item("24", "Results of updating", (DIFFERENCES_ITEM,)),
    ),
    "Discussion": (
        Item("25", "Interpretation", (SUMMARY,), "fairness, and previous studies"),
        Item("26", "Limitations", (LIMITS_ITEM,), "limits of the data collection"),
        Item("27a, 27b", "Handling of poor-quality input data, and the role of users"),
        Item("27c", "Next steps for research"),
    ),
}
"""Part of the checklist → its items."""


def answered(sections: Collection[str], trained: bool) -> dict[str, pd.DataFrame]:
    """Return a table of items for each part of the checklist, with the sections that answer each.

    Parameters
    ----------
    sections
        The headings in the report.
    trained
        Whether the model was trained here.
    """
    return {
        part: pd.DataFrame(
            [(item.number, item.asks, _where(item, sections, trained)) for item in items],
            columns=["Item", "Asks for", "Where"],
        )
        for part, items in ITEMS.items()
    }


def _where(item: Item, sections: Collection[str], trained: bool) -> str:
    there = [place for place in item.places if place in sections]
    if not there or (item.trained and not trained):
        return ADD
    return "; ".join(there) + (f" (you add {item.add})" if item.add else "")
