"""Browsers open one link on a fresh server at once: every control shows the link's value, and the link stays."""

import json
from urllib.parse import urlencode

import pytest

from pages.ui import former
from pages.ui.current import PAGES
from pages.ui.widget import KEY_AND_NUMBER
from tests.browser.driver import started
from tests.waiting import LIMIT, until

# key → the words that are chosen, the tags, the numbers and the text that each control shows
SHOWN = """mark => Object.fromEntries([...document.querySelectorAll(`[class*="${mark}"]`)].map(control => {
    const key = [...control.classList].find(name => name.startsWith("st-key-")).slice(7).split(mark)[0]
    const all = (selector, read) => [...control.querySelectorAll(selector)].map(read)
    const words = all('[role=radio][aria-checked=true], button[aria-pressed=true], [data-selected], [data-tag],' +
        '[data-testid=stSliderThumbValue]', e => e.textContent.trim())
    const fields = all('input, textarea', e => e.type === 'checkbox' ? e.checked : e.value)
    return [key, [...new Set([...words, ...fields])]]
}))"""

MODEL = {
    "data": "sample:breast_cancer",
    "model": "decision_tree",
    "params": '{"criterion":"entropy","leaf":"laplace","max_depth":4,"min_samples_leaf":6}',
    "test_size": "0.4",
    "calibration_size": "0.25",
    "seed": "7",
}
MODEL_SHOWN = {
    "data": ["Breast tumours: malignant or benign"],
    "model": ["Decision tree"],
    "params-max_depth": ["4"],
    "params-criterion": ["entropy"],
    "params-leaf": ["Laplace"],
    "params-min_samples_leaf": ["6"],
    "test_size": ["40"],
    "seed": ["7"],
}
VARIED = ("params-max_depth", "params-leaf")  # by the page of trees itself
HELD = {"calibration_size": ["25"]}
BINS = {"bins": "37", "binning": "quantile"}
CURVE = {"curve": "corp", "band": "confidence"}
VIEW = ("37 bins", "binning equal count", "curve CORP", "band confidence")  # on the button of the view
VIEW_SHOWN = {"view": [*VIEW]}
CALIBRATORS = {"calibrators": "none,venn"}
CALIBRATORS_SHOWN = {"calibrators": ["Uncalibrated", "Venn predictor"]}


def learn(**settings) -> dict[str, str]:
    return {name.replace("__", "."): str(value) for name, value in sorted(settings.items())}


LINKS = {
    "explore_data": (
        {"data": "sample:loans", "positive": "paid", "exclude": "income", "keep": "loan_id"},
        {
            "data": ["Loans with gaps and categories"],
            "positive": ["paid"],
            "exclude": ["income"],
            "keep": ["loan_id"],
        },
    ),
    "explore_reliability": (
        MODEL
        | BINS
        | CURVE
        | CALIBRATORS
        | {"placement": "cv", "cv": "7", "reliability.layout": "side", "reliability.details": "rows"},
        MODEL_SHOWN
        | {"view": [*VIEW, "diagrams side by side"]}
        | CALIBRATORS_SHOWN
        | {
            "placement": ["Cross-calibration"],
            "cv": ["7"],
            "reliability-details": ["Selected rows"],
        },
    ),
    "explore_venn_abers": (
        MODEL
        | BINS
        | {
            "venn_abers.interval": "venn",
            "venn_abers.color": "width",
            "merge": "square",
            "venn_abers.beside": "train",
            "venn_abers.details": "kinds",
        },
        MODEL_SHOWN
        | HELD
        | {
            "venn_abers-details": ["Kinds of calibration data"],
            "venn_abers-interval": ["Venn predictor"],
            "venn_abers-color": ["Width"],
            "merge": ["Square loss"],
            "venn_abers-beside": ["Simplified"],
        },
    ),
    "explore_trees": (
        MODEL
        | BINS
        | CURVE
        | CALIBRATORS
        | {"trees.metric": "ece", "trees.growth": "forest", "trees.leaves": "laplace", "trees.depths": "2"},
        {key: said for key, said in MODEL_SHOWN.items() if key not in VARIED}
        | HELD
        | VIEW_SHOWN
        | CALIBRATORS_SHOWN
        | {
            "trees-metric": ["ECE"],
            "trees-growth": ["Forest, held out"],
            "trees-leaves": ["Laplace"],
            "trees-depths": ["2"],
        },
    ),
    "explore_out_of_bag": (MODEL | {"merge": "square"}, MODEL_SHOWN | HELD | {"merge": ["Square loss"]}),
    "explore_decide": (
        MODEL | {"calibrators": "none,venn", "decide.cost_false_alarm": "2.5", "decide.cost_miss": "9.0"},
        MODEL_SHOWN
        | HELD
        | CALIBRATORS_SHOWN
        | {"decide-cost_false_alarm": ["2.5"], "decide-cost_miss": ["9"]},
    ),
    "explore_groups": (MODEL | CALIBRATORS | {"groups.view": "loss"}, MODEL_SHOWN | HELD | CALIBRATORS_SHOWN),
    "explore_watch": (MODEL | CALIBRATORS, MODEL_SHOWN | HELD | CALIBRATORS_SHOWN),
    "explore_compare": (
        MODEL | BINS | CURVE | CALIBRATORS,
        MODEL_SHOWN | HELD | VIEW_SHOWN | CALIBRATORS_SHOWN,
    ),
    "learn_cl_gl": (
        learn(cl_gl__depth=3, cl_gl__loss="log"),
        {"cl_gl-depth": ["3"], "cl_gl-loss": ["Log loss"]},
    ),
    "learn_tree_depth": (
        learn(tree_depth__experiment="tree_count", tree_count__depth=3),
        {"labs-experiment": ["Number of trees"], "tree_count-depth": ["3"]},
    ),
    "learn_which_model": (
        learn(which_model__depth=3),
        {"which_model-depth": ["3"]},
    ),
    "learn_overlap": (
        learn(overlap__measure="ece"),
        {"overlap-measure": ["ECE"]},
    ),
    "learn_calibration_size": (
        learn(calibration_size__measure="ece"),
        {"calibration_size-measure": ["ECE"]},
    ),
    "learn_validity": (
        learn(
            theorem__objects=20,
            theorem__window=0.2,
            theorem__gap=1.1,
            theorem__draws=2000,
        ),
        {
            "theorem-objects": ["20"],
            "theorem-window": ["0.2"],
            "theorem-gap": ["1.1"],
            "theorem-draws": ["2,000"],
        },
    ),
    "learn_finite_example": (
        learn(finite__guess="skip", finite__line="1:0.2:0 | 2:0.7:1 3:0.9:1"),
        {"cuts": ["1 | 2"]},
    ),
    "learn_looking": (
        learn(looking__looks=10, looking__shift=1.0, looking__runs=50),
        {"looking-looks": ["10"], "looking-shift": ["1"]},
    ),
    "learn_fair_on_average": (
        learn(fair_on_average__depth=1, fair_on_average__shift=0.3),
        {"fair_on_average-depth": ["1"], "fair_on_average-shift": ["0.3"]},
    ),
    "learn_three_classes": (
        learn(three_classes__tilt=2.0, three_classes__sharpness=1.5),
        {"three_classes-tilt": ["2"], "three_classes-sharpness": ["1.5"]},
    ),
    "study_run": (
        {
            "run.protocol": "arena",
            "run.sets": "sample:digits,synthetic:gaussian",
            "run.setups": "random_forest/oob/venn_abers",
            "run.metrics": "brier,auc",
            "run.repeats": "3",
        },
        {
            "run-protocol": ["Arena: every calibrator on every base model"],
            "run-sets": ["Handwritten digits: odd or even", "Gaussian pair"],
            "run-setups": ["random_forest/oob/venn_abers"],
            "run-metrics": ["Brier score", "AUC"],
            "run-repeats": ["3"],
        },
    ),
    "learn_algorithms": (
        learn(pooling__guess="skip", pooling__points="1:0 2:1 3:0 4:1", pooling__step=1),
        {"pooling-points": ["1:0 2:1 3:0 4:1"], "pooling-step": ["1"]},
    ),
}
CROWDED = ("explore_reliability", "learn_tree_depth", "study_run")  # by six browsers, not two


def shown(tab) -> dict[str, list[str]]:
    """What each control shows, and what the button of the view says."""
    view = tab.by_key("view").get_by_role("button").all_inner_texts()
    said = [text.partition(": ")[2].split("\n")[0].split(", ") for text in view]
    return tab.page.evaluate(SHOWN, KEY_AND_NUMBER) | {"view": [word for words in said for word in words]}


def differing(tab, expected) -> dict[str, object]:
    """What a control shows instead, or None where it is not there, of all that do not show what they should."""
    found = shown(tab)
    wrong = {
        key: found.get(key) for key, values in expected.items() if not set(values) <= set(found.get(key, ()))
    }
    faults = tab.faults()
    return wrong | ({"faults": faults} if faults else {})


def wait_for(tab, expected) -> None:
    """Until every control is there and says so: however slow the machine, no longer than a page may take."""
    until(
        lambda: tab.page.wait_for_timeout(100) or not differing(tab, expected),
        f"{tab.page.url} shows {expected}",
    )


@pytest.mark.soak  # one page and one browser: test_first_picture.py
@pytest.mark.parametrize("path", LINKS)
def test_several_browsers_at_once_see_the_links_values_and_the_link_stays(new_tab, path):
    query, expected = LINKS[path]
    with started() as address:
        tabs = [new_tab(address) for _ in range(6 if path in CROWDED else 2)]
        for tab in tabs:
            tab.page.goto(f"{address}/{path}?{urlencode(query)}", wait_until="commit")
        for tab in tabs:
            wait_for(tab, expected)
        for tab in tabs:
            tab.page.locator('.stApp[data-test-script-state="notRunning"]').wait_for(timeout=1000 * LIMIT)
            assert differing(tab, expected) == {}
            # It is in its frame
            assert tab.page.get_by_test_id("stTopNavSection").all_inner_texts() == list(PAGES)
            stays = former.in_use(json_free(query))
            assert stays.items() <= json_free(tab.recipe_query()).items()
            tab.page.goto("about:blank")  # the server goes before the tab


@pytest.mark.soak
def test_several_pages_of_a_fresh_server_may_be_the_first_at_once(new_tab):
    """Each began to load other modules than the next, and all but one of them broke."""
    with started() as address:
        opened = {path: new_tab(address) for path in list(LINKS)[:6]}
        for path, tab in opened.items():
            tab.page.goto(f"{address}/{path}?{urlencode(LINKS[path][0])}", wait_until="commit")
        for path, tab in opened.items():
            wait_for(tab, LINKS[path][1])
            tab.page.goto("about:blank")  # the server goes before the tab


def json_free(query: dict[str, str]) -> dict[str, object]:
    """Parameters whose JSON reads the same whatever its spaces."""
    return {name: json.loads(value) if value.startswith("{") else value for name, value in query.items()}


@pytest.mark.soak
def test_a_control_sends_nothing_but_what_is_chosen(new_tab):
    """One arrow key once wrote the lowest values of all other controls into the address."""
    query, expected = LINKS["explore_reliability"]
    with started() as address:
        tab = new_tab(address).open("explore_reliability", **query)
        wait_for(tab, expected)
        assert tab.slide("bins", 1).recipe_query() == query | {"bins": "38"}
