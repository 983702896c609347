"""The walk from an uploaded file to the picture that CONTRIBUTING describes is the one that the program takes."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, check, sources
from calib.data import read_table
from calib.evaluate import calibrate, fit
from calib.figures import FIGURES

ROOT = Path(__file__).parents[1]
WALK = (
    (ROOT / "CONTRIBUTING.md")
    .read_text(encoding="utf-8")
    .split("## From an uploaded file")[1]
    .split("\n## ")[0]
)
LINES = re.findall(r"^\d\. \*\*(\w+)\.\*\* (.*)$", WALK, re.M)
ELSEWHERE = {
    "prepare_predictions",
    "view",
    "at_base_rate",
}  # of other tables, of K classes, at another base rate
ON_PAGES = {"diagram", "chart.show"}


def hops(text: str) -> list[str]:
    return [name for name in re.findall(r"`([\w.]+)`", text) if name not in ELSEWHERE]


def called(run) -> list[str]:
    """Names of our functions in the order of their first calls."""
    names: dict[str, None] = {}

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and f"{ROOT}/calib/" in code.co_filename:
            names.setdefault(
                code.co_qualname if code.co_name in ("fit", "score", "predict", "calibrate") else code.co_name
            )

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return list(names)


def test_the_walk_has_the_hops_and_forms_that_it_says():
    forms, said = len(LINES), re.search(r"\((\d+) hops, (\d+) forms", WALK)
    distinct = {name for _, text in LINES for name in hops(text) if name != "Placement"}
    assert (len(distinct), forms) == tuple(map(int, said.groups()))
    assert len(distinct) <= 35
    assert forms <= 8


@pytest.mark.parametrize("scores", [False, True], ids=["features", "scores"])
def test_the_functions_of_the_walk_are_called_in_its_order(scores):
    rng = np.random.default_rng(0)
    p = rng.random(300)
    frame = pd.DataFrame(
        {"target": np.where(rng.random(300) < p, "yes", "no"), "p": p, "b": rng.normal(size=300)}
    )
    fields = {"content": "predictions", "model": "given"} if scores else {"model": "naive_bayes"}
    recipe = Recipe(data="upload:t", file="t.csv", target="target", calibrators=("none", "platt"), **fields)

    def run() -> None:
        table = read_table(frame.to_csv(index=False).encode(), "t.csv")
        fitted = fit(recipe, sources.load(recipe, {"t": table}))
        found = calibrate(recipe, fitted).with_view(recipe.replace(bins=7))
        entry = FIGURES["reliability"]
        entry.draw(entry.prepare(found))

    names = called(run)
    for form, text in LINES[1:]:
        walked = [name for name in hops(text) if name not in ON_PAGES and not name.endswith(".py")]
        if form == "Dataset" and scores:
            walked[-1] = "prepare_predictions"
        places = [names.index(name) for name in walked]
        assert places == sorted(places), (form, walked)


def test_check_passes_through_few_functions_from_its_call_to_the_evaluation():
    rng = np.random.default_rng(0)
    p = rng.random(50)
    y = rng.random(50) < p
    check(y, p)  # the first call also imports
    names = [name for name in called(lambda: check(y, p)) if not name.startswith("<")]  # comprehensions
    assert names[0] == "check"
    assert "evaluated_on_all_rows" in names
    assert len(names) <= 17, names
