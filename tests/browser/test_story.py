"""The story in a browser, opened from disk without a network. Its numbers: tests/export/test_story.py."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from calib.export.story import PEOPLE, story_html
from tests.browser.accessibility import AXE, GRAVE, RUN
from tests.browser.driver import DRAWN
from tests.waiting import LIMIT, until

DATA = json.loads(PEOPLE.read_text())
SIZES = {"desk": (1366, 768), "phone": (390, 844)}
TRUE = (1, 3, 6, 8, 9, 11, 12, 13, 14, 16, 18, 19)  # statements, from 0


@pytest.fixture
def reader(chromium, tmp_path):
    """Return a function that opens the file without a network; the test fails if the page threw an error."""
    file, contexts, errors, asked = tmp_path / "story.html", [], [], []
    file.write_bytes(story_html())

    def open_(fragment: str = "", size: str = "desk", motion: str = "reduce", **options) -> Page:
        width, height = SIZES[size]
        viewport = {"width": width, "height": height}
        contexts.append(
            chromium.new_context(viewport=viewport, reduced_motion=motion, offline=True, **options)
        )
        contexts[-1].set_default_timeout(1000 * LIMIT)
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"file://{file}#{fragment}")
        expect(page.locator(".stage canvas")).to_be_visible()
        return page

    yield open_
    for context in contexts:
        context.close()
    assert errors == []
    assert all(url.startswith(("file://", "about:", "data:", "blob:")) for url in asked)


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
    page.locator(f"#step-{step}").get_by_role("radio", name=option).check()


def drag(page: Page, handle: Locator, across: float, up: float) -> None:
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + across, y - up, steps=3)
    page.mouse.up()


def state(page: Page) -> dict[str, str]:
    return page.evaluate("({ ...calibrationStory.state })")


@pytest.mark.parametrize("size", SIZES)
def test_ten_answers_become_the_readers_own_diagram(reader, size):
    page = reader("at=ten", size)
    assert page.locator("[aria-pressed=true]").count() == 0  # a confidence has no default
    answer(page, "ten", [10, 90, 0, 60, 20, 50, 80, 30, 100, 70])
    for n, outcome in enumerate(page.locator("#step-ten .outcome").all()):
        expect(outcome).to_contain_text("It is true" if n in TRUE else "It is false")
    expect(page.locator(".you summary")).to_have_text("You: 10 of 20")
    said, came = [0.1, 0.9, 0, 0.6, 0.2, 0.5, 0.8, 0.3, 1, 0.7], [int(n in TRUE) for n in range(10)]
    at(page, "own")
    words = f"10 answers: {100 * np.mean(said):.0f} % expected on average, {100 * np.mean(came):.0f} % true."
    expect(page.locator("#step-own .finding")).to_contain_text(words.replace(" %", "\u00a0%"))
    assert page.locator(".stage circle.own").count() == 10
    page.locator("#step-ten .scale button").first.click(force=True)  # settled: nothing changes
    assert state(page)["bets"].startswith("1906258 3a7".replace(" ", ""))


@pytest.mark.parametrize(("size", "keyboard"), [("desk", False), ("phone", True)])
def test_a_mark_is_dragged_before_the_dots_drop(reader, size, keyboard):
    page = reader("at=seventy", size)
    mark = page.get_by_role("slider", name="Share of the 49 customers")
    expect(mark).to_have_attribute("aria-valuetext", "not placed yet")  # its place tells nothing
    expect(shown(page, "seventy")).to_be_hidden()
    answer(page, "seventy", [80])
    if keyboard:
        mark.focus()
        for key in ("PageUp", "PageUp", "PageUp", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        assert state(page)["mark"] == "29"
    else:
        drag(page, mark, 0, 400)
    expect(shown(page, "seventy")).to_contain_text("only 13 defaulted: 27\u00a0%")
    expect(page.locator("#step-seventy .outcome")).to_contain_text("You said 80\u00a0%. It is false")
    at(page, "money")
    expect(shown(page, "money")).to_be_hidden()
    low = page.get_by_role("slider", name="Share of the 618 customers")
    low.focus()
    page.keyboard.press("PageUp")
    page.keyboard.press("Enter")
    expect(shown(page, "money")).to_contain_text("There were 95 defaults: 15\u00a0%")
    expect(page.locator("#step-money .outcome")).to_contain_text("You did not answer. It is true")
    assert state(page)["done"] == "kl"
    assert page.locator(".stage circle.mark").count() == 5


@pytest.mark.parametrize("size", SIZES)
def test_other_customers_make_a_band_and_bins_make_noise(reader, size):
    page = reader("at=chance", size)
    answer(page, "chance", [30])
    press = page.get_by_role("button", name="Other customers", exact=True)
    for n in range(1, 21):
        press.click()
        expect(page.locator("#step-chance .count")).to_have_text(f"{n} of 20 sets")
    expect(page.locator("#step-chance .outcome")).to_contain_text("It is true")
    words = "In 20 sets, the mark near 70 % lies between 36 % and 62 %"
    expect(shown(page, "chance")).to_contain_text(words.replace(" %", "\u00a0%"))
    press.click()  # twenty are enough
    expect(page.locator("#step-chance .count")).to_have_text("20 of 20 sets")
    at(page, "right")
    for _ in range(20):
        page.get_by_role("button", name="Customers of a right model").click()
    assert page.locator(".stage rect.band").count() == 5
    assert page.locator(".stage circle.ghost").count() >= 95
    at(page, "bins")
    bins = page.locator("#step-bins input[type=range]")
    bins.focus()
    page.keyboard.press("End")
    expect(shown(page, "bins")).to_contain_text("70 bins: ECE 0.058")
    assert page.locator(".stage circle.mark").count() > 50  # all marks are drawn, thin ones thin
    assert page.locator(".stage circle.mark.thin").count() > 20
    page.keyboard.press("Home")
    expect(page.locator("#step-bins .outcome")).to_contain_text("It is true")  # stays settled
    assert page.locator(".stage circle.mark").count() == 2


@pytest.mark.parametrize("size", SIZES)
def test_predictions_are_dragged_to_the_diagonal_and_calibrators_do_it_too(reader, size):
    page = reader("at=repair", size)
    plot = page.evaluate("calibrationStory.stage.plot.width")
    fourth = page.get_by_role("slider", name="Mean risk of the 49 customers")
    drag(page, fourth, -0.43 * plot, 0)
    until(
        lambda: abs(float(fourth.get_attribute("aria-valuenow")) - 0.27) < 0.03, "the mark is at the diagonal"
    )
    first = page.get_by_role("slider", name="Mean risk of the 618 customers")
    first.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect(shown(page, "repair")).to_contain_text("You have built a calibrator")
    shifts = np.array([int(one) for one in state(page)["shifts"].split("_")]) / 100
    p, y = np.array(DATA["p"]), np.array(DATA["y"])
    moved = np.clip(p + shifts[np.minimum(4, np.floor(p * 5 + 1e-9).astype(int))], 0, 1)
    expect(page.locator("#step-repair .count")).to_contain_text(f"{((moved - y) ** 2).mean():.4f} now")
    at(page, "platt")
    answer(page, "platt", [90, 100])
    choose(page, "platt", "Platt scaling")
    expect(shown(page, "platt")).to_contain_text("0.1847 → 0.1583. A now has 39\u00a0%, B 31\u00a0%.")
    outcomes = page.locator("#step-platt .outcome")
    expect(outcomes.first).to_contain_text("It is true")
    expect(outcomes.last).to_contain_text("You said 100\u00a0%. It is false")
    choose(page, "platt", "Isotonic")
    expect(shown(page, "platt")).to_contain_text("0.1847 → 0.1581")
    choose(page, "platt", "No calibrator")
    at(page, "refused")
    expect(page.locator("#step-refused .finding")).to_contain_text("121 customers refused, 82 of whom paid")
    expect(page.get_by_role("radio", name="No calibrator").last).to_be_checked()
    choose(page, "refused", "Platt scaling")
    expect(page.locator("#step-refused .finding")).to_contain_text("6 customers refused, 2 of whom paid")
    page.get_by_role("slider", name="Risk above which").focus()
    page.keyboard.press("Home")
    expect(page.locator("#step-refused .finding")).to_contain_text("900 customers refused, 710 of whom paid")


@pytest.mark.parametrize("size", SIZES)
def test_a_tree_without_questions_is_calibrated_and_of_no_use(reader, size):
    page = reader("at=enough", size)
    expect(shown(page, "enough")).to_be_hidden()
    answer(page, "enough", [10, 60])
    page.locator("#step-enough input[type=range]").focus()
    for depth in range(7, -1, -1):
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#step-enough .slider output")).to_have_text(str(depth))
    expect(shown(page, "enough")).to_contain_text("says 21\u00a0% to everybody")
    expect(page.locator("#step-enough .bar output")).to_have_text(["0.0000", "0.0324"])
    expect(page.locator("#step-enough .outcome").first).to_contain_text("It is true")
    expect(page.locator("#step-enough .outcome").last).to_contain_text("It is false")
    at(page, "spread")
    assert page.locator(".stage circle.ring").count() == 1


@pytest.mark.parametrize(("size", "keyboard"), [("desk", False), ("phone", True)])
def test_a_box_finds_the_hidden_group_and_other_customers_confirm_it(reader, size, keyboard):
    page = reader("at=whom", size)
    answer(page, "whom", [40])
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
    expect(shown(page, "whom")).to_contain_text("Look for a group")
    expect(page.locator("#step-whom .outcome")).to_be_empty()
    if keyboard:
        box.focus()
        for key, times in (
            ("ArrowLeft", 20),
            ("Shift+ArrowLeft", 5),
            ("ArrowDown", 10),
            ("Shift+ArrowUp", 30),
        ):
            for _ in range(times):
                page.keyboard.press(key)
        page.keyboard.press("Enter")
    else:
        brush(0.005, 0.105, 0.005, 0.995)
    expect(shown(page, "whom")).to_contain_text("These are the ones")
    words = "114 customers: predicted 31 %, defaulted 46 %".replace(" %", "\u00a0%")
    expect(page.locator("#step-whom .finding").first).to_contain_text(words)
    expect(page.locator("#step-whom .outcome")).to_contain_text("You said 40\u00a0%. It is true")
    page.get_by_role("button", name="Ask other customers").click()
    expect(page.locator("#step-whom .finding").last).to_contain_text("this one does not")


@pytest.mark.parametrize("size", SIZES)
def test_weeks_tick_and_the_test_cries_wolf(reader, size):
    page = reader("at=still", size)
    week = page.locator("#step-still input[type=range]")
    week.focus()
    for n in range(1, 14):
        page.keyboard.press("ArrowRight")
        expect(page.locator("#step-still .slider output")).to_have_text(str(n))
    finding = page.locator("#step-still .finding")
    expect(finding).to_contain_text("first raised an alarm in week 13; the evidence has not reached 20")
    page.keyboard.press("End")
    expect(shown(page, "still")).to_contain_text("the test cried wolf")
    choose(page, "still", "From week 26 more default")
    expect(shown(page, "still")).to_contain_text("The evidence reached 20 in week 31")
    at(page, "years")
    answer(page, "years", [20])
    for years in (20, 40):
        page.get_by_role("button", name="Watch 20 other years").click()
        expect(shown(page, "years")).to_contain_text(f"In {years} years")
    expect(page.locator("#step-years .outcome")).to_contain_text("It is true")


def test_nothing_is_lost_on_reload_and_a_link_opens_the_same(reader):
    page = reader("at=ten")
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


def test_twenty_answers_end_in_a_picture_to_save(reader):
    page = reader("at=end&bets=1906258a37558a59728a&done=klmnopqrst")
    expect(page.locator("#step-end .finding")).to_contain_text("20 answers")
    expect(page.locator(".you summary")).to_have_text("You: 20 of 20")
    assert page.locator(".stage circle.own").count() == 20
    with page.expect_download() as download:
        page.locator("#step-end").get_by_text("Save the picture").click()
    assert download.value.suggested_filename == "how-sure-am-i.png"
    assert download.value.path().read_bytes()[1:4] == b"PNG"
    page.locator(".you summary").click()
    expect(page.locator(".you .panel")).to_contain_text("20 answers")
    page.keyboard.press("Escape")
    expect(page.locator(".you .panel")).to_be_hidden()


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
    "&depth=0&depths=80&brush=0_11_0_100&found=1&tried=2&again=1&week=50&weeks=50&kind=worse&years=20"
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
    page = reader(f"at=start&{acted}", size, color_scheme=scheme)
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
    tab.page.wait_for_url(re.compile("learn_story#at=repair"))
    story.get_by_role("slider", name="Mean risk of the 49").press("ArrowLeft")
    tab.page.wait_for_url(re.compile("shifts=0_0_0_-1_0"))
    tab.page.reload()
    expect(story.get_by_role("slider", name="Mean risk of the 49")).to_have_attribute("aria-valuenow", "0.69")
    with tab.page.expect_download() as download:
        tab.page.get_by_text("Download as one HTML file").click()
    assert download.value.path().read_bytes() == story_html()
    assert tab.faults() == []
