"""The checklist names every item of TRIPOD+AI once, and only sections that the report has."""

import html
import re

import pytest

from calib import Recipe, evaluate
from calib.export import report_html
from calib.export.tripod import ADD, FIRST_PAGE, ITEMS, answered
from calib.sources import load

# Collins et al. 2024, Table 2: 27 items, some in parts
PARTS = {3: 3, 5: 2, 6: 3, 8: 3, 9: 3, 12: 7, 18: 6, 20: 3, 23: 2, 27: 3}
NUMBERS = [
    f"{item}{letter}"
    for item in range(1, 28)
    for letter in ("abcdefg"[: PARTS[item]] if item in PARTS else [""])
]


def single(number: str) -> list[str]:
    """The items that an entry names, as "6a–6c" or "8b, 8c"."""
    if "–" in number:
        first, last = number.split("–")
        return NUMBERS[NUMBERS.index(first) : NUMBERS.index(last) + 1]
    return number.split(", ")


def test_every_item_of_the_checklist_is_there_once_in_order():
    found = [number for items in ITEMS.values() for item in items for number in single(item.number)]
    assert len(NUMBERS) == 52
    assert found == NUMBERS


@pytest.mark.parametrize(
    "fields",
    [
        {"model": "naive_bayes"},
        {"model": "naive_bayes", "calibrators": ("none",), "settings": {"reliability.group": "income"}},
        {"model": "svm", "calibrators": ("beta",)},
    ],
    ids=["usual", "subgroups", "no answer"],
)
def test_the_sections_named_are_in_the_report(fields):
    recipe = Recipe(data="sample:loans", **fields)
    text = report_html(evaluate(recipe, load(recipe))).decode()
    headings = set(map(html.unescape, re.findall(r"<h2>(.*?)</h2>", text)))
    listed = text.partition("<h2>Items of TRIPOD+AI</h2>")[2]
    cells = [html.unescape(cell) for cell in re.findall(r"<td>(.*?)</td>", listed)][2::3]
    assert len(cells) == sum(map(len, ITEMS.values()))
    places = [place for cell in cells if cell != ADD for place in cell.partition(" (you add")[0].split("; ")]
    assert set(places) <= headings | {FIRST_PAGE}
    assert ("Subgroups" in places) == ("settings" in fields)
    assert len(places) > 10


def test_a_report_on_a_model_from_elsewhere_leaves_its_training_to_the_author():
    sections = {place for items in ITEMS.values() for item in items for place in item.places}
    here, elsewhere = (
        {row.Item: row.Where for table in answered(sections, trained).values() for row in table.itertuples()}
        for trained in (True, False)
    )
    changed = {number for number in here if here[number] != elsewhere[number]}
    assert changed == {"9a", "12b", "12c", "12g", "22"}
    assert {elsewhere[number] for number in changed} == {ADD}
    assert here["6a–6c"] == here["17"] == ADD
