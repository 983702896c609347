"""The frame of every page on a laptop: a line of question, one of finding, and the picture, in Explore all of it."""

import pytest

from pages.ui import current
from pages.ui.explore.survival import RELAPSES
from tests.sweep import sweep

WIDTH, HEIGHT = 1366, 768
CANCER = {"data": "sample:breast_cancer"}
RARE = {"data": "sample:rare_faults"}  # 4.7 % positives
FEW_TREES = {"params": '{"n_estimators":2}'}
# Pages without a chart of Plotly
WORDS = {
    "explore_data",
    "learn_story",
    "learn_labs",
    "learn_two_probabilities",
    "learn_class",
    "learn_glossary",
}
# Page and settings, beside which every page is opened with the settings that it begins with
BESIDE = [
    (
        "explore_trees",
        CANCER | FEW_TREES,
    ),  # forests of every depth, without being asked: three rows of panels
    ("explore_out_of_bag", RARE | FEW_TREES),
    ("explore_reliability", RARE),
    ("explore_compare", RARE),
]
QUICK = {  # where the first settings would compute for long, wait for a press or have nothing to show
    "explore_groups": {"data": "sample:hidden_group", "content": "predictions", "calibrators": "none"},
    "explore_survival": RELAPSES,
    "explore_trees": CANCER | FEW_TREES,
    "explore_out_of_bag": CANCER | FEW_TREES,
}
PATHS = [
    page.script.removeprefix("pages/").removesuffix(".py")
    for page in (*current.PAGES["Explore"], *current.PAGES["Learn"])
]
CASES = [
    *((path, QUICK.get(path, CANCER if path.startswith("explore") else {})) for path in PATHS),
    *(case for case in BESIDE if case != ("explore_trees", QUICK["explore_trees"])),
]
NAMES = [f"{path} {query.get('data', '')}".strip() for path, query in CASES]
# Lines of an element's text
LINES = """element => {
    const range = document.createRange()
    range.selectNodeContents(element)
    return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size
}"""
BOX = "element => { const {top, bottom} = element.getBoundingClientRect(); return [top, bottom] }"
# Pixels by which a page is wider than its place
TOO_WIDE = """() => [document.documentElement, document.querySelector(".stMain")]
    .map(part => part.scrollWidth - part.clientWidth)"""


def seen(box) -> float:
    """The share of a height that the first screen shows."""
    top, bottom = box
    return max(0.0, min(bottom, HEIGHT) - top) / (bottom - top)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        pytest.param(*case, id=name, marks=getattr(kept, "marks", ()))
        for case, name, kept in zip(
            CASES,
            NAMES,
            sweep(NAMES, "explore_compare sample:breast_cancer"),
            strict=True,
        )
    ],
)
def test_question_and_finding_are_one_line_and_the_picture_is_seen(new_tab, path, query):
    tab = new_tab(width=WIDTH)
    tab.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    tab.open(path, **query)
    main = tab.page.get_by_test_id("stMain")
    (question,) = main.locator("h1").all()
    assert question.evaluate(LINES) == 1, question.inner_text()
    assert tab.page.evaluate(TOO_WIDE) == [0, 0]
    charts = main.get_by_test_id("stPlotlyChart")
    assert (charts.count() == 0) == (path in WORDS)
    if path in WORDS:
        return
    first = charts.first.evaluate(BOX)
    explores = path.startswith("explore")
    assert seen(first) >= (1 if explores else 0.75), first
    for finding in main.locator("h2").all():  # those above the picture
        if finding.evaluate(BOX)[1] <= first[0] + 1:
            assert finding.evaluate(LINES) == 1, finding.inner_text()
    numbers = [number.evaluate(BOX)[1] for number in main.get_by_test_id("stMetric").all()]
    assert all(bottom > first[0] for bottom in numbers), "numbers stand beside the picture or below it"
    kinds = ".stTextInput, .stSlider, .stButtonGroup, .stSelectbox, .stMultiSelect, .stNumberInput"
    boxes = [control.evaluate(BOX)[1] for control in main.locator(kinds).filter(visible=True).all()]
    alone = explores and path != "explore_groups"  # whose parts are chosen above them
    assert not alone or all(bottom > first[0] for bottom in boxes), "no control stands above it"
    beside = tab.page.get_by_test_id("stSidebar").locator(kinds).filter(visible=True).all()
    boxes += [control.evaluate(BOX)[1] for control in beside]
    assert not explores or min(boxes) <= HEIGHT, "a control is in sight with it"
