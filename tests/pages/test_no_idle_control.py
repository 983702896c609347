"""No page grows a control that has no effect on it: another value of any that is shown changes what the page shows.

What a page shows is its figures, tables, numbers and words; a control itself is none of these. Each control
gets other values, one after the other, until something has changed.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any

import pytest
import streamlit as st
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Widget

from calib.experiments import EXPERIMENTS
from tests.pages.app import bring, faults, go, page, press, settled
from tests.pages.test_roles import TABLE
from tests.pages.test_study_results import as_csv, own_rows
from tests.pages.test_study_results import bring as bring_results
from tests.pages.test_study_run import small_study

QUICK = {"data": "sample:breast_cancer", "model": "naive_bayes"}
PREDICTIONS = {"data": "sample:predictions", "content": "predictions"}
LOANS = {
    "data": "sample:loans",
    "model": "naive_bayes",
    "calibrators": "none,platt",
    "groups.calibrator": "platt",
}
TREE = {"data": "sample:breast_cancer", "model": "decision_tree"}
COUNTS = {"data": "sample:counts", "content": "predictions", "weight": "count"}
IN_TIME = {"data": "sample:dated", "model": "naive_bayes", "time": "ordered", "split": "time"}
CUSTOMERS = {"data": "sample:customers", "model": "naive_bayes", "cluster": "customer_id", "split": "cluster"}
FOREST = TREE | {"model": "random_forest", "params": '{"n_estimators": 3}'}
FRACTIONS = {"weight": "mean_radius"}  # any numbers above 0, few of them whole
ALL = "none,platt,isotonic,beta,temperature,venn,venn_abers,ppa,offset,logistic,quadratic,spline,histogram"
DETAILS = ("rows", "models", "variability", "sample_size", "base_rate")
CASES: dict[str, tuple[str, dict[str, str]]] = {
    "costs": ("explore_decide", QUICK),
    "no calibration rows": ("explore_reliability", QUICK | {"placement": "none"}),
    "margins": ("explore_reliability", {"data": "sample:breast_cancer", "model": "svm"}),
    "all methods": ("explore_decide", QUICK | {"calibrators": ALL}),
    "folds": ("explore_reliability", QUICK | {"evaluation": "folds", "folds": "3"}),
    "cross-calibration": ("explore_reliability", QUICK | {"placement": "cv"}),
    "side by side": ("explore_reliability", QUICK | {"reliability.layout": "side"}),
    "CORP": ("explore_reliability", QUICK | {"curve": "corp", "band": "confidence"}),
    "rare": ("explore_reliability", QUICK | {"data": "sample:rare_faults", "reliability.axes": "log_odds"}),
    "equal numbers": ("explore_reliability", QUICK | {"data": "sample:rare_faults", "binning": "quantile"}),
    "in time": ("explore_reliability", IN_TIME),
    "customers": ("explore_reliability", CUSTOMERS),
    "counts": ("explore_reliability", COUNTS),
    "costs of counts": ("explore_decide", COUNTS),
    "scores": ("explore_reliability", PREDICTIONS),
    "pairs of scores": ("explore_venn_abers", PREDICTIONS),
    "pairs": ("explore_venn_abers", QUICK),
    "pairs of Venn": ("explore_venn_abers", QUICK | {"venn_abers.interval": "venn"}),
    "a tree's bags": ("explore_out_of_bag", TREE),
    "bags without pairs": ("explore_out_of_bag", TREE | FRACTIONS),
    "trees without pairs": ("explore_trees", FOREST | FRACTIONS),
    "groups": ("explore_groups", LOANS | {"groups.view": "column", "reliability.group": "work"}),
    "search": ("explore_groups", LOANS | {"groups.resamples": "99"}),
    "loss": ("explore_groups", LOANS | {"groups.view": "loss"}),
    "kept": ("explore_compare", QUICK),
    "kept scores": ("explore_compare", PREDICTIONS),
} | {name: ("explore_reliability", QUICK | {"reliability.details": name}) for name in DETAILS}
INTERVALS = ("steps", "held", "kinds")
CASES |= {
    f"pairs: {name}": ("explore_venn_abers", QUICK | {"venn_abers.details": name}) for name in INTERVALS
}
CASES |= {key: (one.script, {f"{one.page}.experiment": key}) for key, one in EXPERIMENTS.items()}
LONG = {
    "overlap": ("steps", "results", "repetitions", "n", "share"),
    "calibration_size": ("results", "repetitions", "sizes", "n_train", "n_test"),
}
OF_DATA = {
    "digits": {"data": "sample:digits"},
    "loans": {"data": "sample:loans"},
    "dates": IN_TIME,
    "who": CUSTOMERS,
    "predictions": PREDICTIONS,
    "a billion rows": COUNTS,
    "drawn": {"data": "synthetic:gaussian"},
}
CASES |= {f"data: {name}": ("explore_data", asked) for name, asked in OF_DATA.items()}
CASES |= {
    "data: parts": ("explore_data", {"model": "naive_bayes"}),
    "parts": ("explore_reliability", {"model": "naive_bayes"}),
    "published": ("study_results", {}),
    "own rows": ("study_results", {}),
    "run": ("study_run", {}),
}
PARTS = TABLE.to_csv(index=False).encode()


def by_parts(at: AppTest, stem: str) -> AppTest:
    """A table that fixes its parts, split as it says."""
    at = bring(go(at, "explore_data"), "parts.csv", PARTS)
    return go(press(at, "Split by this column"), stem)


def with_rows(at: AppTest, stem: str) -> AppTest:
    return bring_results(at, "rows.csv", as_csv(own_rows()))


def with_study(at: AppTest, stem: str) -> AppTest:
    return small_study()


BROUGHT = {"data: parts": by_parts, "parts": by_parts, "own rows": with_rows, "run": with_study}
"""What a case needs besides an address."""

ELSEWHERE = {
    "data": "another page's data",
    "presenter": "the room",
    "recipe_name": "a name to keep by",
    **{f"report.{name}": "the first page of the report" for name in ("title", "purpose", "author")},
    "groups.in_report": "the report",
    "run.metrics": "computed when the study runs",
    "own_model": "a place for a file opens",
    "judge_elsewhere": "a place for a file opens",
    "pooling.points": "points are dragged in the browser",
}
"""What changes more than a page, or nothing before it is used; so is how sure a reader is before the answer."""
ON_THESE_DATA = {
    ("counts", "options.isotonic.between"): "every test score is among the calibration scores",
    ("costs of counts", "options.isotonic.between"): "every test score is among the calibration scores",
    ("all methods", "options.ppa.variant"): "both leave probabilities that are as sure as these as they are",
}
"""What has an effect on other data."""
FOR_MINUTES = {(key, f"{key}.{name}") for key, names in LONG.items() for name in names}
FOR_MINUTES |= {(key, "seed") for key in LONG}
"""What begins a long computation."""


@pytest.fixture
def offered(monkeypatch) -> dict[str, list]:
    """By the key of each choice on the page, what can be chosen: AppTest knows the words alone."""
    options: dict[str, list] = {}

    def recording(widget):
        @functools.wraps(widget)
        def drawn(label, choices, *args, **more):
            options[more["key"].partition("__")[0]] = list(choices)
            return widget(label, choices, *args, **more)

        return drawn

    for name in ("selectbox", "segmented_control", "pills", "multiselect", "select_slider"):
        monkeypatch.setattr(st, name, recording(getattr(st, name)))
    return options


def shown(at: AppTest) -> list[bytes | str]:
    """Figures, tables, numbers and words; not the Python source, which tells every change of a Recipe."""
    found: list[bytes | str] = []
    for node in at.main:
        proto = getattr(node, "proto", None)
        if proto is None or isinstance(node, (Widget, Block)) or node.type in ("code", "bidi_component"):
            continue
        if node.type != "plotly_chart":
            found.append(proto.SerializeToString(deterministic=True))
            continue
        figure = json.loads(proto.spec)
        figure["layout"].pop("uirevision", None)  # what keeps a zoom: not to be seen
        found.append(json.dumps(figure, sort_keys=True))
    return found


def controls(at: AppTest) -> dict[str, Widget]:
    """By key, all that has a value of its own but what a download is to be."""
    return {
        node.key: node
        for node in at
        if isinstance(node, Widget)
        and node.key in at.session_state["widgets"]
        and not node.key.endswith(("_image", "_calibrator"))
    }


def others(widget: Any, offered: dict[str, list]) -> Iterator[Any]:
    """Other values of a control, those first that are likely to change something."""
    value = widget.value
    if widget.type in ("toggle", "checkbox"):
        yield not value
    elif isinstance(value, tuple):
        steps = offered.get(widget.key)
        middle = steps[len(steps) // 2] if steps else sum(value) / 2
        yield from ((value[0], middle), (middle, value[1]))
    elif widget.key in offered:
        choices = offered[widget.key]
        several = isinstance(value, list)
        yield from ([value[:-1]] if several and value else [])
        yield from ([*value, one] if several else one for one in choices if one != value)
    else:
        yield from _numbers(widget, value)


def _numbers(widget: Any, value: float | None) -> Iterator[float]:
    whole = isinstance(value, int) or getattr(widget.proto, "data_type", None) == NumberInput.INT
    low, high = widget.min, widget.max
    tried = (
        (1, 5, 0.1, 20)
        if value is None
        else (2 * value, value + (widget.step or 1), value / 2, low, high, 30)
    )
    for number in tried:
        if number is not None and (low is None or number >= low) and (high is None or number <= high):
            other = int(number) if whole else float(number)
            if other != value:
                yield other


@pytest.mark.soak
@pytest.mark.parametrize("case", CASES)
def test_every_control_of_a_page_changes_something_on_it(case, offered):
    stem, address_of = CASES[case]
    at = page(stem, **address_of)
    if case in BROUGHT:
        at = BROUGHT[case](at, stem)
    assert faults(at) == []
    address = dict(at.query_params)
    idle = []
    for key in controls(at):
        no_choice = len(offered.get(key, "ab")) < 2  # it says what is used, and a caption why nothing else
        known = key in ELSEWHERE or (case, key) in ON_THESE_DATA or (case, key) in FOR_MINUTES
        if known or key.startswith("sure_") or no_choice:
            continue
        before = shown(at)
        for value in others(controls(at)[key], offered):
            settled(controls(at)[key].set_value(value).run())
            changed = shown(at) != before
            at.query_params.clear()
            at.query_params.update(address)
            settled(at.run())
            if changed:
                break
        else:
            idle.append(key)
    assert idle == []
