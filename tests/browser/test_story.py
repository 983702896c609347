"""The story in a browser, opened from disk without a network. Its numbers: tests/export/test_story.py."""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from scipy.stats import binom, poisson_binom

from calib.calibrators import CALIBRATORS
from calib.export.story import PEOPLE, story_html
from tests.browser.accessibility import AXE, GRAVE, RUN
from tests.browser.driver import DRAWN
from tests.sweep import sweep
from tests.waiting import LIMIT, until

DATA = json.loads(PEOPLE.read_text())
SIZES = {"desk": (1366, 768), "phone": (390, 844)}
TRUE = (1, 3, 6, 8, 9, 11, 12, 13, 16, 18, 19)  # statements, from 0


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> str:
    """The address of the file."""
    file = tmp_path_factory.mktemp("story") / "story.html"
    file.write_bytes(story_html())
    return f"file://{file}"


@pytest.fixture(scope="module")
def offline(chromium, file) -> Iterator[Callable[..., BrowserContext]]:
    """Return a function that gives the one browser context with these options, as of the suite's server."""

    opened: list[BrowserContext] = []

    @cache
    def context(**options) -> BrowserContext:
        opened.append(made := chromium.new_context(offline=True, **options))
        made.set_default_timeout(1000 * LIMIT)
        made.new_page().goto(file)
        return made

    yield context
    for one in opened:
        one.close()


@pytest.fixture
def reader(offline, file):
    """Return a function that opens the file without a network; the test fails if the page threw an error."""
    pages, errors, asked = [], [], []

    def open_(
        fragment: str = "", size: str = "desk", motion: str = "reduce", scheme="light", **options
    ) -> Page:
        context = offline(**options)
        context.pages[0].evaluate("localStorage.clear()")
        pages.append(page := context.new_page())
        page.set_viewport_size(dict(zip(("width", "height"), SIZES[size], strict=True)))
        page.emulate_media(reduced_motion=motion, color_scheme=scheme)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{file}#{fragment}")
        expect(page.locator(".stage canvas")).to_be_visible()
        return page

    yield open_
    for page in pages:
        page.close()
    assert errors == []
    assert all(url.startswith(("file://", "about:", "data:", "blob:")) for url in asked)


GUESSED = "bets=----------55--------&mark=60&money=6&done=kl"  # the bank's two questions and marks


def answer(page: Page, step: str, confidences: list[int]) -> None:
    for scale, percent in zip(page.locator(f"#step-{step} .scale").all(), confidences, strict=True):
        scale.get_by_role("button", name=f"{percent} %", exact=True).click()


def shown(page: Page, step: str) -> Locator:
    """The part of the text that is shown after the gesture."""
    return page.locator(f"#step-{step} .after").first


def at(page: Page, step: str) -> Locator:
    """Bring a step into view, as its link does."""
    page.evaluate("step => { location.hash = `at=${step}` }", step)
    here = page.locator(f"#step-{step}.now")
    expect(here).to_be_visible()
    page.evaluate(DRAWN)
    return here


def choose(page: Page, step: str, option: str) -> None:
    page.locator(f"#dock-{step}").get_by_role("radio", name=option).check()


def skip(page: Page, step: str) -> None:
    for pass_ in page.locator(f"#step-{step}").get_by_role("button", name="Skip this question").all():
        pass_.click()


def drag(page: Page, handle: Locator, across: float, up: float) -> None:
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + across, y - up, steps=3)
    page.mouse.up()


def state(page: Page) -> dict[str, str]:
    return page.evaluate("({ ...calibrationStory.state })")


@pytest.mark.parametrize("size", sweep(SIZES, "desk"))
def test_ten_answers_become_the_readers_own_diagram(reader, size):
    page = reader("at=ten", size)
    assert page.locator("[aria-pressed=true]").count() == 0  # a confidence has no default
    answer(page, "ten", [10, 90, 0, 60, 20, 50, 80, 30, 100, 70])
    for n, outcome in enumerate(page.locator("#step-ten .outcome").all()):
        expect(outcome).to_contain_text("True." if n in TRUE else "False.")
    expect(page.locator(".you summary")).to_have_text("You: 10 of 20")
    at(page, "own")
    sure = np.array([0.9, 0.9, 1, 0.6, 0.8, 0.8, 0.7, 1, 0.7])
    low, high = poisson_binom(sure).ppf([0.025, 0.975])
    finding = page.locator("#step-own .finding")
    expect(finding).to_contain_text(
        f"9 of 10 answers and were {100 * sure.mean():.0f}\u00a0% sure on average"
    )
    expect(finding).to_contain_text("9 of 9 were right")
    expect(finding).to_contain_text(f"usually get {low:.0f} to {high:.0f} right")
    assert page.locator(".stage circle.own").count() == 10
    page.locator("#step-ten .scale button").first.click(force=True)  # settled: nothing changes
    assert state(page)["bets"].startswith("1906258 3a7".replace(" ", ""))


def test_the_dots_stay_until_their_question_is_answered(reader):
    page = reader("at=ten&bets=-9------------------")
    for bets, own in (("-9------------------", 0), ("19------------------", 2)):
        page.evaluate("bets => calibrationStory.set('bets', bets)", bets)
        assert page.locator(".stage circle.own").count() == own
        assert (page.locator(".stage canvas").evaluate("one => one.style.opacity") == "1") == (own == 0)
    page.evaluate("calibrationStory.set('bets', '-9------------------')")
    expect(page.locator("#dock-ten .keys")).to_contain_text("until you have answered the first question")


CENTRES = "all => all.map(getComputedStyle).map(({ cx, cy }) => [parseFloat(cx), parseFloat(cy)])"


@pytest.mark.parametrize("size", sweep(SIZES, "phone"))
def test_a_mark_is_the_mean_of_its_dots_which_one_line_explains(reader, size):
    page = reader("at=ten", size)
    key = page.locator("#dock-ten .keys")
    expect(key).to_be_hidden()
    answer_one = page.locator("#step-ten .scale").first.get_by_role("button", name="80 %")
    answer_one.click()
    expect(key).to_contain_text("Dot: one answer, at the top if true. Ring: the mean")
    expect(key).to_be_in_viewport(ratio=1)
    foot, x = page.evaluate("(({ px, py }) => [py(0), px(0.8)])(calibrationStory.stage)")
    for circle in (".stage .own", ".stage .mark"):  # the first statement is false
        np.testing.assert_allclose(page.locator(circle).evaluate_all(CENTRES), [[x, foot]], atol=0.1)
    page.locator("#step-ten .scale").nth(1).get_by_role("button", name="100 %").click()  # true
    dots = np.array(page.locator(".stage .own").evaluate_all(CENTRES))
    assert dots[:, 1].min() == pytest.approx(page.evaluate("calibrationStory.stage.py(1)"), abs=0.1)
    marks = page.locator(".stage .mark").evaluate_all(CENTRES)
    np.testing.assert_allclose(marks, [dots.mean(axis=0)], atol=0.1)


def test_the_phone_shows_what_a_reader_presses(reader):
    page = reader("at=start", "phone")
    expect(page.get_by_role("button", name="Begin", exact=True)).to_be_in_viewport(ratio=1)
    links = page.get_by_role("navigation").get_by_role("link")
    expect(links.nth(3)).to_have_accessible_name("Part 4: Repair")
    sizes = [link.bounding_box() for link in links.all()]
    assert min(min(box["width"], box["height"]) for box in sizes) >= 32
    assert page.locator(".you summary").bounding_box()["x"] >= sizes[-1]["x"] + sizes[-1]["width"]


@pytest.mark.parametrize("acted", sweep([False, True], True))
@pytest.mark.parametrize("size", SIZES)
def test_the_picture_has_one_height_and_its_controls_their_room(reader, size, acted):
    page, heights = reader(f"at=start&{ACTED if acted else 'bets=' + '5' * 20}&limit=20", size), set()
    for step in STEPS:
        at(page, step)
        stage, view, dock = (page.locator(f".{name}").bounding_box() for name in ("stage", "view", "docks"))
        heights.add(stage["height"])
        assert dock["y"] + dock["height"] <= view["y"] + view["height"] + 0.5, step
        labels = page.locator(".stage text.call").filter(has_text=re.compile("no loan|curve: new")).all()
        for label in labels:  # above the dots, and beside no other name
            place = "({ x, y }) => [x, y].map(one => one.baseVal[0].value)"
            (x, y), (left, up) = (
                one.evaluate(place) for one in (label, page.locator(".stage text.name").last)
            )
            assert y <= page.evaluate("calibrationStory.stage.plot.top") - 4
            assert y >= up + 14 or x > left + 130
    assert len(heights) == 1


VERDICTS = {
    "9191991911": [
        "0 of 10 were right: 0\u00a0%. Calibrated people with your probabilities usually get 7 to 10",
        "You were overconfident, by 90 points",
    ],
    "4646446466": ["You were underconfident, by 40 points"],
    "8282228288": ["Your number is within that range"],
    # 91 and 43 % are shown, so 48; the exact difference is 48.6
    "0000a42555": [
        "were 91\u00a0% sure on average. 3 of 7 were right: 43\u00a0%",
        "overconfident, by 48 points",
    ],
    "5555555555": ["You said 50\u00a0% in 10 answers, so no answer could be wrong"],
}


def put(page: Page, **values: str) -> None:
    """Give parts of the story's state these values, as a link does."""
    page.evaluate("values => Object.entries(values).forEach(one => calibrationStory.set(...one))", values)


def test_the_verdict_measures_the_readers_error(reader):
    page = reader(f"at=own&bets={'-' * 20}")
    for bets, verdicts in VERDICTS.items():
        put(page, bets=f"{bets}----------")
        for place in ("#step-own .finding", ".you .panel"):
            for verdict in verdicts:
                expect(page.locator(place)).to_contain_text(verdict)
        heights = page.locator(".stage rect.band").evaluate_all(
            "all => all.map(one => +one.getAttribute('height'))"
        )
        assert heights
        assert min(heights) >= 8  # a band of one value is still seen


def test_nothing_tells_an_answer_before_the_reader_gave_one(reader):
    """Controls are out of reach, and the bank's outcomes hidden, until the reader has guessed or skipped."""
    page = reader("at=start")
    for step in ("seventy", "money", "bins", "platt", "enough", "whom", "years"):
        at(page, step)
        assert page.locator(f"#dock-{step} :is(button, input):visible").count() == 0, step
        assert page.locator(".tools > *").count() == 0, step
    for step in ("chance", "right", "repair", "platt", "refused", "spread"):
        at(page, step)
        expect(page.locator(f"#step-{step}").get_by_text("Not yet")).to_be_visible()
        assert page.locator(".stage .mark").count() == 0, step
    at(page, "chance").get_by_role("button", name="Guess first").click()
    page.wait_for_url(re.compile("at=seventy"))
    assert page.evaluate(FOCUS)[0] == "step-seventy"
    at(page, "chance").get_by_role("button", name="Show them").click()
    expect(page.locator("#step-chance").get_by_text("Not yet")).to_be_hidden()
    assert page.evaluate(FOCUS)[0] == "step-chance"
    assert state(page)["at"] == "chance"
    assert page.locator(".stage circle.mark").count() == 5
    at(page, "seventy")
    expect(page.locator("#step-seventy .outcome")).to_contain_text("You skipped this question")
    expect(shown(page, "seventy")).to_contain_text("22 of the 49 defaulted")


@pytest.mark.parametrize(("size", "keyboard"), [("desk", False), ("phone", True)])
def test_a_mark_is_dragged_before_the_dots_drop(reader, size, keyboard):
    page = reader("at=seventy", size)
    expect(shown(page, "seventy")).to_be_hidden()
    answer(page, "seventy", [80])
    mark = page.get_by_role("slider", name="Share of the 49 customers")
    expect(mark).to_have_attribute("aria-valuetext", "not placed yet")  # its place tells nothing
    if keyboard:
        mark.focus()
        for key in ("PageUp", "PageUp", "PageUp", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        assert state(page)["mark"] == "29"
        expect(shown(page, "seventy")).to_contain_text("Your 29\u00a0% was 16 points too low (8 customers)")
    else:
        drag(page, mark, -300, 400)  # over the text: it is not selected
        assert page.evaluate("getSelection().toString()") == ""
    expect(shown(page, "seventy")).to_contain_text("22 of the 49 defaulted: 45\u00a0%")
    expect(shown(page, "seventy")).to_contain_text("27 of them pay back: lending would have earned €5,000")
    expect(page.locator("#step-seventy .outcome")).to_contain_text(
        "False. 22 did: 45\u00a0%. You gave 80\u00a0% to something false: 80 points from 0\u00a0%."
    )
    at(page, "money")
    expect(shown(page, "money")).to_be_hidden()
    skip(page, "money")
    low = page.get_by_role("slider", name="Share of the 618 customers")
    low.focus()
    page.keyboard.press("PageUp")
    page.keyboard.press("Enter")
    expect(shown(page, "money")).to_contain_text(
        "89 of the 618 defaulted: 14\u00a0%. The bank is €55,000 short"
    )
    expect(shown(page, "money")).to_contain_text(
        "with your 10\u00a0% it would be €27,000 short"
    )  # 62 expected
    expect(page.locator("#step-money .outcome")).to_contain_text("True. 89 did. You skipped")
    assert state(page)["done"] == "kl"
    assert page.locator(".stage circle.mark").count() == 5


def test_an_answer_can_be_changed_until_its_outcome_is_shown(reader):
    page = reader("at=seventy")
    outcome = page.locator("#step-seventy .outcome")
    skip(page, "seventy")
    expect(outcome).to_have_text("Skipped (you can still answer). Now drag the mark in the picture.")
    assert page.evaluate(FOCUS)[0] == "step-seventy"  # although the button is gone
    for percent in (80, 20):
        answer(page, "seventy", [percent])
        expect(outcome).to_have_text("Noted (you can change it). Now drag the mark in the picture.")
    page.evaluate("calibrationStory.set('mark', '60')")
    expect(outcome).to_contain_text("You gave 20\u00a0%")
    page.locator("#step-seventy [aria-pressed=true]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(outcome).to_contain_text("This answer is locked")
    assert state(page)["bets"][10] == "2"


@pytest.mark.parametrize(
    ("given", "where", "now"),
    [
        ({}, "step-seventy", "seventy"),
        ({"bets": f"{'-' * 10}5{'-' * 9}"}, "tools", "seventy"),
        ({"bets": f"{'-' * 10}5{'-' * 9}", "mark": "60"}, "step-money", "money"),
        ({"bets": f"{'-' * 10}55{'-' * 8}", "mark": "60"}, "tools", "money"),
        ({"bets": f"{'-' * 10}55--5{'-' * 5}", "mark": "60", "money": "6"}, "step-platt", "platt"),
    ],
)
def test_guess_first_leads_to_the_first_open_question_or_mark(reader, given, where, now):
    page = reader(urlencode({"at": "refused", **given}))
    page.locator("#step-refused").get_by_role("button", name="Guess first").click()
    assert page.evaluate(FOCUS)[0] == where
    assert state(page)["at"] == now
    assert page.locator(".asked *:focus").count() == 0  # what is answered already is passed over


def test_the_focus_follows_the_picture_when_its_control_goes(reader):
    page = reader(f"at=chance&{GUESSED}")
    skip(page, "chance")
    page.get_by_role("button", name="Draw other customers").click()
    at(page, "platt")
    assert page.evaluate(FOCUS)[0] == "step-platt"


def test_begin_again_can_be_undone(reader):
    page = reader(f"at=end&{ACTED}", "phone")
    kept = state(page)
    page.get_by_role("button", name="Begin again").click()
    expect(page.locator(".you summary")).to_have_text("You: 0 of 20")
    assert page.evaluate(FOCUS)[0] == "step-start"
    back = page.get_by_role("button", name="Restore my answers")
    expect(back).to_be_in_viewport(ratio=1)
    back.click()
    expect(page.locator(".you summary")).to_have_text("You: 20 of 20")
    assert state(page) == kept
    assert page.evaluate(FOCUS)[0] == "step-end"


def test_a_click_on_a_mark_is_not_a_guess(reader):
    page = reader("at=seventy")
    answer(page, "seventy", [80])
    page.get_by_role("slider", name="Share of the 49 customers").click()
    assert state(page)["mark"] == ""


FOCUS = """() => { const at = document.activeElement
    return [at.closest('.step, .dock')?.id ?? at.closest('.tools, header')?.className ?? at.tagName, scrollY] }"""


def test_tab_goes_from_a_question_to_its_control_and_on(reader):
    """Questions, marks, buttons and sliders of parts 2 and 3 in their order, with Tab, arrows and Enter alone."""
    page = reader("at=bank&bets=1906258a37----------")
    steps = {}
    page.locator(".you summary").focus()
    for _ in range(15):
        page.keyboard.press("Tab")
        where, _ = page.evaluate(FOCUS)
        steps.setdefault(page.evaluate("calibrationStory.now()"), []).append(where)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
    assert steps == {
        "bank": ["step-bank"],
        "seventy": ["step-seventy", "tools"],
        "money": ["step-money", "tools"],
        "chance": ["step-chance", "dock-chance", "dock-chance"],
        "right": ["dock-right"] * 2,
        "bins": ["step-bins", "dock-bins"],
        "repair": ["tools"] * 3,
    }
    kept = state(page)
    assert kept["bets"].startswith("1906258a371111")
    names = ("mark", "money", "others", "right", "bins", "shifts")
    assert [kept[name] for name in names] == ["1", "1", "20", "20", "6", "1_1_1_0_0"]
    for _ in range(4):  # and back
        page.keyboard.press("Shift+Tab")
    assert page.evaluate(FOCUS)[0] == "step-bins"


@pytest.mark.parametrize("size", sweep(SIZES, "desk"))
def test_tab_in_the_bar_does_not_scroll(reader, size):
    page = reader("at=refused", size)
    page.locator("nav a").first.focus()
    before = page.evaluate("scrollY")
    assert before > 3000
    for _ in range(8):
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUS) == ["", before]


@pytest.mark.parametrize("size", sweep(SIZES, "phone"))
def test_other_customers_make_a_band_and_bins_make_noise(reader, size):
    page = reader(f"at=chance&{GUESSED}", size)
    answer(page, "chance", [30])
    press, every = (
        page.get_by_role("button", name=name, exact=True).first
        for name in ("Draw other customers", "Draw all 20")
    )
    for n in range(1, 21):
        press.click()
        expect(page.locator("#dock-chance .count")).to_contain_text(f"{n} of 20 sets")
        assert page.locator(".stage rect.range").count() == (5 if n > 1 else 0)
    expect(page.locator("#step-chance .outcome")).to_contain_text(
        "True. The highest of the twenty is at 62\u00a0%"
    )
    words = "In 20 sets, the mark near 70 % ranged from 36 % to 62 %"
    expect(page.locator("#dock-chance .result")).to_have_text(f"{words}.".replace(" %", "\u00a0%"))
    expect(shown(page, "chance")).to_contain_text(
        "(predicted 68.4\u00a0%, defaulted 61.8\u00a0%) is 6.6 points below the diagonal"
    )
    press.click(force=True)  # twenty are enough
    expect(page.locator("#dock-chance .count")).to_have_text("20 of 20 sets: that is enough")
    for one in (press, every):
        expect(one).to_have_attribute("aria-disabled", "true")
    at(page, "right")
    page.get_by_role("button", name="Draw from a perfect model").click()
    expect(shown(page, "right")).to_contain_text("4 of the bank’s 5 rings are outside")
    assert page.locator(".stage rect.band").count() == 5  # from the first set on
    page.locator("#dock-right").get_by_role("button", name="Draw all 20").click()
    assert state(page)["right"] == "20"
    assert page.locator(".stage circle.ghost").count() >= 95
    at(page, "bins")
    skip(page, "bins")
    bins = page.locator("#dock-bins input[type=range]")
    bins.focus()
    page.keyboard.press("End")
    expect(page.locator("#dock-bins .result")).to_contain_text("70 columns: ECE 0.066")
    assert page.locator(".stage circle.mark").count() > 50  # all marks are drawn, thin ones thin
    assert page.locator(".stage circle.mark.thin").count() > 20
    expect(page.locator("#dock-bins .result")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Home")
    expect(page.locator("#step-bins .outcome")).to_contain_text("True. It rises from 0.017 to 0.066")
    assert page.locator(".stage circle.mark").count() == 2


@pytest.mark.parametrize("size", sweep(SIZES, "desk"))
def test_predictions_are_dragged_to_the_diagonal_and_calibrators_do_it_too(reader, size):
    page = reader(f"at=repair&{GUESSED}", size)
    plot = page.evaluate("calibrationStory.stage.plot.width")
    fourth = page.get_by_role("slider", name="Mean risk of the 49 customers")
    drag(page, fourth, -0.25 * plot, 0)
    until(
        lambda: abs(float(fourth.get_attribute("aria-valuenow")) - 0.45) < 0.03, "the mark is at the diagonal"
    )
    expect(shown(page, "repair")).to_contain_text("Go on with the other marks")
    expect(shown(page, "repair")).to_contain_text(
        "Some customers of column 3 now have a higher risk than some of column 4"
    )
    third = page.get_by_role("slider", name="Mean risk of the 74 customers")
    third.focus()
    for _ in range(19):
        page.keyboard.press("ArrowLeft")
    expect(shown(page, "repair")).to_contain_text(
        "Some customers of column 2 now have a higher risk than some of column 3"
    )
    first = page.get_by_role("slider", name="Mean risk of the 618 customers")
    first.focus()
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    p, y = np.array(DATA["p"]), np.array(DATA["y"])
    bins = np.minimum(4, np.floor(p * 5 + 1e-9).astype(int))
    last = page.get_by_role("slider", name="Mean risk of the 33 customers")
    last.focus()
    for _ in range(28):
        page.keyboard.press("ArrowLeft")
    expect(shown(page, "repair")).to_contain_text("You have built a calibrator")
    shifts = np.array([int(one) for one in state(page)["shifts"].split("_")]) / 100
    moved = np.clip(p + shifts[bins], 0, 1)
    gaps = [sum(abs((q - y)[bins == k].sum()) for k in range(5)) / len(p) for q in (p, moved)]
    briers = [((q - y) ** 2).mean() for q in (p, moved)]
    expect(page.locator("#dock-repair .count")).to_have_text(
        f"ECE {gaps[0]:.3f} → {gaps[1]:.3f}, Brier score {briers[0]:.3f} → {briers[1]:.3f}"
    )
    far = f"from the diagonal, the ECE, is {gaps[1]:.3f}; at first it was {gaps[0]:.3f}"
    expect(shown(page, "repair")).to_contain_text(far)
    at(page, "platt")
    answer(page, "platt", [90, 100])
    choose(page, "platt", "Platt scaling")
    expect(shown(page, "platt")).to_contain_text(
        "0.167 → 0.153 (8\u00a0% lower). A has 39\u00a0%, B 31\u00a0%."
    )
    outcomes = page.locator("#step-platt .outcome")
    expect(outcomes.first).to_contain_text("False. It falls from 0.167 to 0.153")
    expect(outcomes.last).to_contain_text(
        "False. A stays above B: 39 and 31\u00a0%. You gave 100\u00a0% to something false: 100 points from 0\u00a0%."
    )
    expect(shown(page, "platt")).to_contain_text(
        f"Your own repair has a Brier score of {briers[1]:.3f}, Platt scaling 0.153"
    )
    expect(shown(page, "platt")).to_contain_text("has only 52 customers: with correct risks, chance gives 31")
    assert page.locator(".stage rect.band").count() == 4  # three marks and the key
    for axis in ("Predicted risk of default (curve: old risk)", "(curve: new risk)"):
        expect(page.locator(".stage svg").get_by_text(axis, exact=True)).to_be_visible()
    choose(page, "platt", "Isotonic")
    expect(shown(page, "platt")).to_contain_text("Isotonic regression: Brier score 0.167 → 0.155")
    choose(page, "platt", "No calibrator")
    expect(page.locator(".stage svg")).not_to_contain_text("curve")
    at(page, "refused")
    finding = page.locator("#step-refused .finding")
    expect(finding).to_contain_text("121 customers refused. 67 of them would have paid back")
    expect(page.get_by_role("radio", name="No calibrator").last).to_be_checked()
    choose(page, "refused", "Platt scaling")
    expect(finding).to_contain_text("6 customers refused. 1 of them would have paid back")
    assert page.locator(".stage path.map").count() == 0  # its picture has one meaning of each axis
    page.get_by_role("slider", name="Risk above which").focus()
    page.keyboard.press("Home")
    expect(finding).to_contain_text("900 customers refused. 710 of them would have paid back")


@pytest.mark.parametrize(
    ("fit", "limit", "size"), [("none", 50, "desk"), ("platt", 35, "phone"), ("isotonic", 50, "desk")]
)
def test_the_refused_customers_are_the_dots_right_of_the_line(reader, fit, limit, size):
    page = reader(f"at=refused&{GUESSED}&fit={fit}&limit={limit}".replace("55--------", "55--ss----"), size)
    dots = page.evaluate("""() => {
        const { spots, plot } = calibrationStory.stage
        return [...spots.x.slice(0, 900)].map(x => (x - plot.left) / plot.width)
    }""")
    line, shade = page.locator(".stage line.limit"), page.locator(".stage rect.refuse")
    assert line.get_attribute("x1") == shade.get_attribute("x")
    right = [y for x, y in zip(dots, DATA["y"], strict=True) if x > limit / 100]
    words = f"{len(right)} customers refused. {right.count(0)} of them would have paid back"
    expect(page.locator("#step-refused .finding")).to_contain_text(words)
    earned = sum(1 - 2 * y for x, y in zip(dots, DATA["y"], strict=True) if x <= limit / 100)
    name = {"platt": "Platt"}.get(fit, fit)
    expect(page.locator("#dock-refused .result")).to_contain_text(re.compile(rf"\b{name} {earned}\b"))
    if fit == "none":
        np.testing.assert_allclose(dots, DATA["p"], atol=1e-6)


@pytest.mark.parametrize("size", sweep(SIZES, "phone"))
def test_a_tree_without_questions_is_calibrated_and_of_no_use(reader, size):
    page = reader("at=enough", size)
    expect(shown(page, "enough")).to_be_hidden()
    answer(page, "enough", [10, 60])
    page.locator("#dock-enough input[type=range]").focus()
    for depth in range(7, -1, -1):
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#dock-enough .slider output")).to_have_text(str(depth))
    expect(shown(page, "enough")).to_contain_text("predicts 21\u00a0% for everybody")
    expect(shown(page, "enough")).to_contain_text("Grouping loss is smallest at depth 6")
    tree = DATA["trees"][8]
    risks = np.array(DATA["truth"])[np.array(tree["values"])[tree["leaf"]] == 0]
    words = f"{len(risks)} customers have exactly 0 %, with true risks from {100 * risks.min():.1f} % to"
    words = f"{words} {100 * risks.max():.0f} %"
    expect(shown(page, "enough")).to_contain_text(words.replace(" %", "\u00a0%"))
    expect(page.locator("#dock-enough .bar output")).to_have_text(["0.0000", "0.0324", "0.0324"])
    expect(page.locator("#step-enough .outcome").first).to_contain_text("True. It is 0.0000 with none")
    expect(page.locator("#step-enough .outcome").last).to_contain_text("False. Depth 3 has: 0.016")
    at(page, "spread")
    assert page.locator(".stage circle.ring").count() == 1


def test_a_drag_draws_again_only_what_it_changes(reader):
    page = reader(f"at=refused&{GUESSED}".replace("55--------", "55--ss----"))
    page.evaluate(DRAWN)
    frames, own = "calibrationStory.stage.frames", "document.querySelector('.thumb svg')"
    before = page.evaluate(f"window.own = {own}, {frames}")
    page.evaluate("calibrationStory.drag('limit', '30')")  # no dot moves, and no answer is another
    page.evaluate(DRAWN)
    expect(page.locator("#step-refused .finding")).to_contain_text("limit 30")
    assert page.evaluate(f"[{frames}, own === {own}]") == [before, True]
    page.evaluate("calibrationStory.drag('fit', 'platt')")
    until(lambda: page.evaluate(frames) > before, "the dots have moved")
    page.evaluate("calibrationStory.set('bets', '5' + calibrationStory.state.bets.slice(1))")
    assert not page.evaluate(f"own === {own}")


@pytest.mark.parametrize("size", sweep(SIZES, "phone"))
def test_one_bar_shows_both_losses(reader, size):
    page = reader("at=enough&bets=----------------55--", size)
    page.locator("#dock-enough input[type=range]").focus()
    bars = page.locator("#dock-enough .bar")
    for _ in range(9):
        widths = [
            [box["width"] for box in map(Locator.bounding_box, bar.locator("i").all())] for bar in bars.all()
        ]
        (calibration,), (grouping,), both = widths
        np.testing.assert_allclose(both, [calibration, grouping], atol=0.5)
        losses = [float(text) for text in bars.locator("output").all_inner_texts()]
        assert losses[2] == pytest.approx(losses[0] + losses[1], abs=1e-9)  # as they are shown
        np.testing.assert_allclose(
            np.array([calibration, grouping]) / sum(both), losses[:2] / np.sum(losses[:2]), atol=0.01
        )
        page.keyboard.press("ArrowLeft")
    # the whole of the largest sum still fits
    assert page.evaluate(
        "[...document.querySelectorAll('#dock-enough b')].every(b => b.scrollWidth <= b.clientWidth)"
    )


def test_a_limit_that_is_too_strict_or_too_lenient_is_explained(reader):
    page = reader(f"at=refused&fit=platt&{GUESSED}".replace("55--------", "55--ss----"))
    p, y = (np.array(DATA[name]) for name in "py")
    scores, labels = (np.array(DATA["calibration"][name]) for name in "py")
    platt = CALIBRATORS["platt"](on="log-odds").fit(scores, labels)
    everybody, step = (1 - 2 * y).sum(), page.locator("#step-refused")
    for limit in (20, 25, 27, 50, 60, 72, 99):
        put(page, limit=str(limit))
        earned = [(1 - 2 * y)[q <= limit / 100].sum() for q in (p, platt.predict(p))]
        (same,) = platt.predict(np.array([limit / 100]))
        words = f"Without a calibrator, a risk of {limit} % stands for {100 * same:.0f} % after Platt scaling"
        strict = limit < 50
        if (same > limit / 100 if strict else same < limit / 100) and earned[0] > earned[1]:
            expect(step).to_contain_text(f"This limit is too {'strict' if strict else 'lenient'}")
            expect(step).to_contain_text(words.replace(" %", "\u00a0%"))
        else:
            expect(step).not_to_contain_text("This limit is too")
        expect(step).to_contain_text(f"If it lent to everybody, the bank would earn €{everybody},000.")
        worse = step.get_by_text("the uncalibrated model is worse than no model")
        (expect(worse).to_be_visible if earned[0] < everybody else expect(worse).to_be_hidden)()


def failing_histories() -> list[tuple[str, float, float]]:
    """Payment history, mean repaired risk and share that defaulted, where chance alone does not give this share."""
    p, y, history = (np.array(DATA[name]) for name in ("p", "y", "history"))
    calibration = DATA["calibration"]
    scores, labels = (np.array(calibration[name]) for name in "py")
    q = CALIBRATORS["platt"](on="log-odds").fit(scores, labels).predict(p)
    found = []
    for number, name in enumerate(("paid well", "new", "late once", "late often")):
        inside = history == number
        risk, share, n = q[inside].mean(), y[inside].mean(), inside.sum()
        low, high = binom.ppf([0.025, 0.975], n, risk) / n
        if not low <= share <= high:
            found.append((name, risk, share))
    return found


def _touch(page: Page, begin: tuple[float, float], *way: tuple[float, float]) -> None:
    """One finger goes down, moves and goes up, as the browser's own gestures see it."""
    session = page.context.new_cdp_session(page)

    def send(kind: str, *points: tuple[float, float]) -> None:
        session.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]}
        )

    send("touchStart", begin)
    for to in way:
        send("touchMove", to)
    send("touchEnd")
    page.evaluate(DRAWN)


def test_a_finger_scrolls_past_the_picture_and_draws_sideways_or_with_two_taps(reader):
    page = reader(f"at=whom&bets={'5' * 20}", "phone", has_touch=True)
    expect(page.locator("#dock-whom .task")).to_contain_text("Drag sideways, or tap two corners")
    left, top, wide, high = page.get_by_role("application").bounding_box().values()

    def spot(x: float, y: float) -> tuple[float, float]:
        return left + x * wide, top + (1 - y) * high

    def sides() -> list[float]:
        return [int(one) / 100 for one in state(page)["brush"].split("_")]

    before = page.evaluate("scrollY")
    _touch(page, spot(0.5, 0.2), *(spot(0.5, 0.2 + k / 20) for k in range(1, 13)))
    until(lambda: page.evaluate("scrollY") > before + 50, "the page scrolled")
    assert state(page)["brush"] == ""
    at(page, "whom")
    _touch(page, spot(0.2, 0.2), *(spot(0.2 + k / 20, 0.2) for k in range(1, 6)), spot(0.5, 0.9))
    np.testing.assert_allclose(sides(), [0.2, 0.5, 0.2, 0.9], atol=0.02)
    assert state(page)["tried"] == "1"
    page.touchscreen.tap(*spot(0.3, 0.4))
    expect(page.locator("#dock-whom .task")).to_have_text("Now tap the opposite corner.")
    assert page.locator(".stage circle.box").count() == 1
    assert state(page)["tried"] == "1"
    page.touchscreen.tap(*spot(0.1, 0.7))
    np.testing.assert_allclose(sides(), [0.1, 0.3, 0.4, 0.7], atol=0.02)
    assert state(page)["tried"] == "2"
    kept = state(page)["brush"]
    at(page, "whom")
    _touch(page, spot(0.5, 0.2), *(spot(0.5, 0.2 + k / 20) for k in range(1, 13)))  # what was drawn stays
    assert (state(page)["brush"], state(page)["tried"]) == (kept, "2")


@pytest.mark.parametrize(("size", "keyboard"), [("desk", False), ("phone", True)])
def test_a_box_finds_the_hidden_group_and_other_customers_confirm_it(reader, size, keyboard):
    page = reader("at=whom", size)
    answer(page, "whom", [40])
    again = page.get_by_role("button", name="Test on others")
    again.click()
    expect(page.locator("#dock-whom .task")).to_have_text("First draw a box over the dots. Then test it.")
    box = page.get_by_role("application", name="Box over a group")
    around = box.bounding_box()

    def brush(left: float, right: float, low: float, high: float) -> None:
        x = [around["x"] + share * around["width"] for share in (left, right)]
        y = [around["y"] + (1 - share) * around["height"] for share in (low, high)]
        page.mouse.move(x[0], y[0])
        page.mouse.down()
        page.mouse.move(x[1], y[1], steps=3)
        page.mouse.up()

    brush(0.5, 0.8, 0.02, 0.2)  # not the group
    expect(shown(page, "whom")).to_contain_text("too high; we look for at least 10 points too low")
    brush(0.005, 0.105, 0.005, 0.6)  # a part of the group
    expect(shown(page, "whom")).to_contain_text("we look for more than 100")
    expect(page.locator("#step-whom .outcome")).to_have_text("Noted. Now draw a box in the picture.")
    if keyboard:
        box.focus()
        for key, times in (
            ("Shift+ArrowRight", 3),
            ("Shift+ArrowLeft", 3),
            ("ArrowDown", 2),
            ("Shift+ArrowUp", 30),
        ):
            for _ in range(times):
                page.keyboard.press(key)
        page.keyboard.press("Enter")
    else:
        brush(0.005, 0.105, 0.005, 0.995)
    expect(shown(page, "whom")).to_contain_text(
        "You found it: the risk of these 114 customers is 13.3 points too low"
    )
    expect(shown(page, "whom")).to_contain_text("exactly the 114 customers who did not state their income")
    words = "114 customers: predicted 31.4 %, defaulted 44.7 %".replace(" %", "\u00a0%")
    expect(page.locator("#step-whom .finding").first).to_contain_text(words)
    expect(page.locator("#step-whom .outcome")).to_contain_text(
        "You gave 40\u00a0% to something true: 60 points from 100\u00a0%."
    )
    failed = [
        f"for “{name}” it predicts {100 * p:.1f}\u00a0%, and {100 * y:.1f}\u00a0% defaulted"
        for name, p, y in failing_histories()
    ]
    assert len(failed) == 2
    expect(page.locator("#step-whom .after").last).to_contain_text(
        f"It is not the only group: {'; '.join(failed)}."
    )
    again.click()
    expect(page.locator("#dock-whom .result")).to_contain_text("The gap is there again")
    words = "a gap of 13.3 points. Among other customers, it is 11.7 points"
    expect(page.locator("#step-whom")).to_contain_text(words)
    expect(page.locator("#dock-whom .result")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(
    ("box", "words"),
    [
        (
            "0_60_25_100",
            "these 267 customers is 11.7 points too low. The box holds 66 of the 114 customers who did not",
        ),
        (
            "0_50_50_100",
            "these 101 customers is 22.0 points too low. The box holds 44 of the 114",
        ),  # the fewest
        ("22_52_25_100", "None of them belong to the 114"),
    ],
)
def test_any_box_with_a_large_clear_gap_is_right(reader, box, words):
    page = reader("at=whom")
    answer(page, "whom", [70])
    page.evaluate("box => calibrationStory.set('brush', box)", box)
    page.get_by_role("application", name="Box over a group").press("Enter")
    expect(shown(page, "whom")).to_contain_text("You found it")
    expect(shown(page, "whom")).to_contain_text(words)
    expect(page.locator("#step-whom .outcome")).to_contain_text("True.")


@pytest.mark.parametrize("size", sweep(SIZES, "desk"))
def test_weeks_tick_and_the_test_cries_wolf(reader, size):
    page = reader("at=still", size)
    week = page.locator("#dock-still input[type=range]")
    week.focus()
    for n in range(1, 14):
        page.keyboard.press("ArrowRight")
        expect(page.locator("#dock-still .slider output")).to_have_text(str(n))
    finding = page.locator("#step-still .finding")
    expect(finding).to_contain_text("first alarm in week 13")
    expect(finding).to_contain_text("20 would be an alarm")
    page.keyboard.press("End")
    expect(shown(page, "still")).to_contain_text("The alarm in week 13 was false")
    choose(page, "still", "Risks rise in week 26")
    expect(shown(page, "still")).to_contain_text("the evidence noticed after 6 weeks, in week 31")
    expect(shown(page, "still")).to_contain_text(
        "After the change the test was quicker, with an alarm in week 26"
    )
    expect(page.locator(".stage text.call")).to_contain_text("off the scale: over a million")
    at(page, "years")
    assert page.locator(".stage circle.next").count() == 200  # places of the years to come
    answer(page, "years", [20])
    for years in (20, 40):
        page.get_by_role("button", name="Watch 20 other years").click()
        expect(shown(page, "years")).to_contain_text(f"In {years} years")
    expect(page.locator("#step-years .outcome")).to_contain_text("True. It did so in 6 of the first 20 years")


def test_a_year_that_plays_can_be_paused(reader):
    page = reader("at=still")
    page.get_by_role("button", name="Play").click()
    until(lambda: int(state(page)["week"]) >= 2, "two weeks have passed")
    page.get_by_role("button", name="Pause").click()
    here = state(page)["week"]
    page.get_by_role("button", name="Play").click()
    until(lambda: int(state(page)["week"]) > int(here), "it goes on")
    page.evaluate("calibrationStory.set('week', '49')")
    expect(page.locator("#dock-still .slider output")).to_have_text("50")
    expect(page.get_by_role("button", name="Play")).to_be_visible()  # at the end


def test_nothing_is_lost_on_reload_and_a_link_opens_the_same(reader):
    page = reader(f"at=ten&{GUESSED}")
    answer(page, "ten", [10, 90, 0, 60, 20, 50, 80, 30, 100, 70])
    at(page, "repair")
    page.get_by_role("slider", name="Mean risk of the 33 customers").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile("at=repair.*shifts=0_0_0_0_-1"))
    kept, address = state(page), page.url
    page.reload()
    assert state(page) == kept
    expect(page.locator("#step-repair.now")).to_be_visible()
    page.goto("about:blank")
    page.goto(address.partition("#")[0])  # without the fragment: from the browser's storage
    assert state(page) == kept
    page.goto("about:blank")
    page.goto(
        f"{address.partition('#')[0]}#at=whom&bets=<b>&bins=999&depth=3"
    )  # what is not valid is left out
    assert {**state(page), "at": "whom"} == {
        **state(page),
        "bets": "-" * 20,
        "bins": "5",
        "depth": "3",
        "at": "whom",
    }


WRITTEN = """() => { const made = CanvasRenderingContext2D.prototype, { fillText } = made
    window.written = []
    made.fillText = function (text, ...rest) { written.push(text); fillText.call(this, text, ...rest) } }"""


def test_twenty_answers_end_in_a_picture_to_save(reader):
    page = reader("at=end&bets=1906258a37558a59728a&done=klmnopqrst")
    page.evaluate(WRITTEN)
    expect(page.locator("#step-end .finding")).to_contain_text("20 answers")
    expect(page.locator(".you summary")).to_have_text("You: 20 of 20")
    assert page.locator(".stage circle.own").count() == 20
    with page.expect_download() as download:
        page.locator("#step-end").get_by_text("Save the picture").click()
    assert download.value.suggested_filename == "how-sure-am-i.png"
    assert download.value.path().read_bytes()[1:4] == b"PNG"
    *_, band, right, address = page.evaluate("written")
    assert (band, right) == ("Grey band: where 95 of 100 marks fall", "if my probabilities are right")
    assert address == ""  # a file has none to share
    page.locator(".you summary").click()
    expect(page.locator(".you .panel")).to_contain_text("20 answers")
    page.keyboard.press("Escape")
    expect(page.locator(".you .panel")).to_be_hidden()


def test_the_end_compares_early_and_late_answers_and_the_model(reader):
    bets, truth = "1906258a37558a59728a", np.isin(np.arange(20), TRUE)
    page = reader(f"at=end&bets={bets}&done=klmnopqrst&mark=60&money=6")
    said = np.array([int(one, 11) / 10 for one in bets])

    def measured(p, y):
        sides = p != 0.5
        return 100 * np.maximum(p, 1 - p)[sides].mean(), 100 * ((p > 0.5) == y)[sides].mean()

    halves = [*measured(said[:10], truth[:10]), *measured(said[10:], truth[10:])]
    words = (
        "In the first ten questions you were {:.0f} % sure, and {:.0f} % of your answers were right;"
        " in the later ones, {:.0f} % and {:.0f} %."
    )
    end = page.locator("#step-end")
    expect(end).to_contain_text(words.format(*halves).replace(" %", "\u00a0%"))
    sure, right = (round(one) for one in measured(np.array(DATA["p"]), np.array(DATA["y"]) == 1))
    mine = [round(one) for one in measured(said, truth)]
    words = f"model was {sure} % sure, and {right} % of its predictions were right".replace(" %", "\u00a0%")
    expect(end).to_contain_text(words)
    gap = f"It was overconfident by {sure - right} points. Your gap of {mine[0] - mine[1]} points may be chance."
    expect(end).to_contain_text(gap)
    page = reader("at=end&bets=9191991911----------")
    expect(page.locator("#step-end")).not_to_contain_text("In the first ten")  # no later ones
    expect(page.locator("#step-end")).not_to_contain_text(
        "Measured in the same way"
    )  # it would tell an answer
    page.evaluate("calibrationStory.set('money', 'x')")
    expect(page.locator("#step-end")).to_contain_text("You were overconfident by 90 points.")


ENDS = (
    ("1906258a37558a59728s", "klmnopqrst", "19 of your 20 answers count. You skipped 1 question."),
    (
        "1906258a37558a59s28-",
        "klmnopqr",
        "17 of your 20 answers count. You skipped 1 question. Still open: parts 6 and 7.",
    ),
    ("1906258a37----------", "", "10 of your 20 answers count. Still open: parts 2, 3, 4, 5, 6 and 7."),
)


def test_the_end_says_which_answers_do_not_count(reader):
    page = reader("at=end")
    for bets, done, words in ENDS:
        put(page, bets=bets, done=done)
        expect(page.locator("#step-end .hint").first).to_contain_text(words)
        assert ("An answer counts once" in page.locator("#step-end").inner_text()) == ("open" in words)


STEPS = (
    *(
        "start",
        "ten",
        "own",
        "bank",
        "seventy",
        "money",
        "chance",
        "right",
        "bins",
        "repair",
        "platt",
        "refused",
    ),
    *("enough", "spread", "whom", "still", "years", "end"),
)
ACTED = (
    "bets=1906258a37558a59728a&done=klmnopqrst&mark=60&money=6&others=20&right=20&bins=70&shifts=9_5_-17_-43_-41&fit=platt"
    "&depth=0&depths=803&brush=0_11_0_100&found=1&tried=2&again=1&week=50&weeks=50&kind=worse&years=20"
)


@pytest.mark.parametrize(
    ("size", "scheme", "acted"),
    [
        ("desk", "light", ACTED),
        *(
            pytest.param(size, scheme, acted, marks=pytest.mark.soak)
            for size in SIZES
            for scheme in ("light", "dark")
            for acted in ("", ACTED)
            if (size, scheme, acted) != ("desk", "light", ACTED)
        ),
    ],
    ids=lambda value: {"": "before", ACTED: "after"}.get(value, value),
)
def test_axe_finds_no_barrier_and_nothing_sticks_out(reader, size, scheme, acted):
    page = reader(f"at=start&{acted}", size, scheme=scheme)
    page.evaluate(AXE)
    for step in STEPS:
        at(page, step)
        assert page.evaluate(RUN, [list(GRAVE), []]) == [], step
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), step
        expect(page.locator(".stage svg")).to_have_attribute("aria-label", re.compile(r"\w+\. \w+"))


@pytest.mark.parametrize(("motion", "least", "most"), [("no-preference", 8, 1000), ("reduce", 1, 6)])
def test_dots_glide_unless_the_reader_asked_for_less_motion(reader, motion, least, most):
    page = reader("at=bank", motion=motion)
    frames = "calibrationStory.stage.frames"
    page.evaluate(DRAWN)
    before = page.evaluate(frames)
    page.evaluate("calibrationStory.set('mark', '20')")
    at(page, "seventy")
    until(lambda: page.evaluate(frames) - before >= least, "the picture is drawn")
    assert page.evaluate(frames) - before <= most


def test_the_page_shows_the_file_in_its_colours_and_keeps_its_address(new_tab):
    tab = new_tab(color_scheme="dark").open("learn_story")
    story = tab.page.frame_locator("iframe")
    expect(story.locator("html.dark h1")).to_have_text("How sure are you?")
    story.locator("nav a").nth(3).click()
    story.get_by_role("button", name="Show them").and_(story.locator("#step-repair button")).click()
    tab.page.wait_for_url(re.compile("learn_story#at=repair"))
    story.get_by_role("slider", name="Mean risk of the 49").press("ArrowLeft")
    tab.page.wait_for_url(re.compile("shifts=0_0_0_-1_0"))
    tab.page.reload()
    expect(story.get_by_role("slider", name="Mean risk of the 49")).to_have_attribute("aria-valuenow", "0.69")
    story.locator(":root").evaluate(WRITTEN)
    story.locator(".you summary").click()
    story.locator(".you").get_by_text("Save the picture").click()
    address = tab.page.url.partition("#")[0].partition("//")[2]
    assert story.locator(":root").evaluate("() => written.at(-1)") == address
    with tab.page.expect_download() as download:
        tab.page.get_by_text("Download as one HTML file").click()
    assert download.value.path().read_bytes() == story_html()
    assert tab.faults() == []


@pytest.mark.parametrize(
    "query", [{"lesson": "fair_on_average:3", "bins": "7"}, {"lesson": "still_calibrated"}]
)
def test_a_link_to_a_lesson_that_became_a_part_opens_this_part(new_tab, query):
    tab = new_tab().open()  # only a server that has run app.py once knows this address
    tab.page.goto(f"{tab.address}/learn_fair_on_average?{urlencode(query)}")
    part = "whom" if "fair" in query["lesson"] else "still"
    tab.page.wait_for_url(re.compile(f"learn_story.*#at={part}"))
    expect(tab.page.frame_locator("iframe").locator(f"#step-{part}.now")).to_be_visible()
    assert tab.faults() == []
