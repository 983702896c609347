"""A lesson in a real browser: by mouse, by arrow keys, by the back button, from its copied link."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments import chosen_experiment as experiment_of
from calib.export.lessons import lesson_card, lesson_handout
from calib.lessons import LESSONS
from calib.recipe import Recipe
from pages.ui.learn.lessons import chart_of
from tests.browser.driver import serving
from tests.browser.labels import TYPE, type_in_charts
from tests.browser.room import sizes
from tests.lessons.every import EVERY as EVERY_TOPIC
from tests.saying import assert_says
from tests.waiting import until

CHARTS = "stPlotlyChart"
(ONE,) = LESSONS.values()
PAGE = "learn_two_probabilities"
END = {"two_probabilities.experiment": "questions"}
FEW_TREES = {"tree_depth.n": "100", "tree_depth.trees": "10"}


def parameters(step):
    """The parameters of the page with this step."""
    return step.recipe.to_query() | {"lesson": step.place}


def onward(tab):
    """Press Next, whose name for a screen reader holds the sign of its key, too."""
    tab.by_key("lesson_next").get_by_role("button").click()
    return tab.settle()


def arrive(tab, lesson, number):
    """Wait for the step after a key or the back button: the browser answers those in its own time."""
    tab.by_key("lesson").get_by_text(f"Step {number} of {len(lesson.steps)}").wait_for()
    return shown(tab.settle(), lesson, number)


def shown(tab, lesson, number):
    """What is wrong with the step that should be open."""
    step = lesson.steps[number - 1]
    panel = tab.by_key("lesson")
    words = panel.inner_text() if panel.count() else ""
    missing = [
        text
        for text in (lesson.title, f"Step {number} of {len(lesson.steps)}", step.title)
        if text not in words
    ]
    pictures = tab.page.get_by_test_id(CHARTS).or_(tab.page.locator(".moving"))
    pictures.or_(tab.by_key("prediction")).filter(visible=True).first.wait_for()
    if not urlsplit(tab.page.url).path.endswith(step.page):
        missing.append(f"its page, {step.page}")
    return tab.faults() + missing


def test_a_lesson_is_begun_and_leads_on_to_another_page(tab):
    _walked(tab, ONE, 3)


def test_on_a_phone_the_next_step_begins_at_its_top(new_tab):
    lesson, down = ONE, "document.querySelector('.stMain').scrollTop"
    tab = new_tab(width=390).experiment("pooling", **parameters(lesson.steps[0]))
    tab.by_key("lesson_next").scroll_into_view_if_needed()
    assert tab.page.evaluate(down) > 0
    onward(tab)
    assert arrive(tab, lesson, 2) == []
    assert tab.page.evaluate(down) == 0


@pytest.mark.soak
def test_a_lesson_is_walked_to_its_end(tab):
    _walked(tab, ONE, len(ONE.steps))


def test_its_questions_are_answered_and_scored(tab):
    _answered(tab, ONE)


def _walked(tab, lesson, last):
    tab.open(PAGE).by_key("begin").get_by_role("button").click()
    for number in range(1, last):
        assert arrive(tab, lesson, number) == []
        onward(tab)
    assert arrive(tab, lesson, last) == []


def _answered(tab, lesson):
    """The three questions at the end, the score and the card."""
    tab.open(PAGE, **END)
    for number, question in enumerate(lesson.questions, start=1):
        box = tab.by_key(f"question_{number}")
        box.get_by_text("100 %", exact=True).click()
        tab.settle()
        tab.press(question.answers[question.right - 1], within=box)
        box.get_by_text("Correct.").wait_for()
    assert tab.headline() == {"Your score": "3 of 3"}
    tab.by_key("own_calibration").get_by_text("the Brier score is 0").first.wait_for()
    tab.by_key("card").get_by_text("Draw a summary card").click()
    tab.page.get_by_role("button", name="Summary card (HTML)").wait_for()


@pytest.mark.soak
def test_a_lesson_is_taken_by_the_keyboard_alone(tab):
    """Guess, how sure, next, three questions and the card; after an answer the keyboard is where it goes on."""
    lesson = ONE
    tab.open(PAGE, **parameters(lesson.steps[7]))
    tab.by_key("guess_1").get_by_role("button").focus()
    answer_by_keys(tab, chosen=1)
    tab.by_key("prediction").get_by_text("Not quite.").wait_for()
    until(
        lambda: has_focus(tab.by_key("answered_question").get_by_role("button")),
        "it is where the answer stands",
    )
    for number in range(9, len(lesson.steps) + 1):
        tab.page.keyboard.press("ArrowRight")
        assert arrive(tab, lesson, number) == []
    tab.page.keyboard.press("ArrowRight")
    tab.by_key("quiz_1_1").get_by_role("button").focus()
    for number, question in enumerate(lesson.questions, start=1):
        until(
            lambda n=number: has_focus(tab.by_key(f"quiz_{n}_1").get_by_role("button")), "the next question"
        )
        answer_by_keys(tab, question.right)
        tab.by_key(f"question_{number}").get_by_text("Correct.").wait_for()
    assert tab.headline() == {"Your score": "3 of 3"}
    until(lambda: has_focus(tab.by_key("card").get_by_role("switch")), "the card comes next")
    tab.page.keyboard.press("Space")
    tab.page.get_by_role("button", name="Summary card (HTML)").wait_for()


def test_a_verdict_is_read_out(tab):
    """It comes into a block that a screen reader listened to before."""
    tab.experiment("pooling", **{"pooling.guess": "ask"})
    asked = tab.by_key("prediction")
    assert asked.get_attribute("aria-live") == "polite"
    asked.evaluate("block => window.before = block")
    wrong = 2 if EXPERIMENTS["pooling"].right == 1 else 1
    tab.by_key(f"guess_{wrong}").get_by_role("button").press("Enter")
    asked.get_by_text("Not quite.").wait_for()
    assert asked.evaluate("block => block === window.before")
    assert asked.get_attribute("aria-live") == "polite"


@pytest.mark.parametrize(
    ("lesson", "number", "guess"),
    [("venn_abers", 1, {})],
)
def test_on_a_phone_buttons_and_sliders_are_in_sight_with_the_picture_that_they_move(
    new_tab, lesson, number, guess
):
    step = LESSONS[lesson].steps[number - 1]
    tab = new_tab(width=390).open(step.page, **parameters(step), **guess)
    if not guess:
        tab.by_key("answer_skip").get_by_role("button").click()
        tab.settle()
    first = (
        tab.page.locator(".st-key-step_player, .st-key-step_controls")
        .filter(visible=True)
        .first.bounding_box()
    )
    picture = tab.by_key("lesson").get_by_test_id(CHARTS).last.bounding_box()
    assert first["y"] < picture["y"]
    assert picture["y"] + picture["height"] - first["y"] < 844 - 60


def test_a_low_window_shows_a_steps_whole_chart(new_tab):
    tab = new_tab(width=1280)
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    step = ONE.steps[2]
    box = tab.open(step.page, **parameters(step)).page.locator(".st-key-lesson .moving").bounding_box()
    assert 720 * 0.6 < box["height"] < 720 - box["y"]


def test_a_question_asked_again_has_the_keyboard_at_its_first_answer(tab):
    tab.experiment("tree_depth", **FEW_TREES, **{"tree_depth.guess": "1"})
    buttons = tab.by_key("picture").locator('[class*="chart_tree_depth"] .modebar-btn')
    assert buttons.count()
    tab.by_key("answered_question").get_by_role("button").press("Enter")
    tab.by_key("ask_again").get_by_role("button").press("Enter")
    until(lambda: has_focus(tab.by_key("guess_1").get_by_role("button")), "it stands under the picture")
    until(lambda: buttons.count() == 0, "no button of a panel is between the question and its answers")


def answer_by_keys(tab, chosen):
    """From the first of the answers back to how sure one is: quite; and then the chosen one."""
    press = tab.page.keyboard.press
    sure = tab.page.locator("[role=radio]:focus")
    back = 0
    while not sure.count() and back < 12:
        press("Shift+Tab")
        back += 1
    for _ in range(4):
        press("ArrowRight")
    press("Enter")
    tab.settle()
    assert sure.inner_text() == "100 %"
    for _ in range(back + chosen - 1):
        press("Tab")
    press("Enter")
    tab.settle()


def has_focus(control) -> bool:
    return control.count() == 1 and control.evaluate("control => control === document.activeElement")


@pytest.mark.soak
def test_a_word_of_the_field_leads_to_its_entry_in_the_glossary(tab):
    tab.experiment("cl_gl", **{"cl_gl.guess": "skip", "cl_gl.n": "50"})
    link = tab.page.get_by_role("link", name="CL", exact=True).first
    assert_says(link.get_attribute("title"), "loss", "prediction", "group")
    with tab.page.context.expect_page() as opened:
        link.click()
    entry = opened.value.get_by_role("heading", name="Calibration loss (CL)")
    entry.wait_for()
    assert urlsplit(opened.value.url).fragment == entry.get_attribute("id") == "calibration-loss-cl"


@pytest.mark.soak
def test_a_step_is_the_first_request_of_a_fresh_server_from_its_copied_link(tab, new_tab):
    tab.open(PAGE, **parameters(ONE.steps[2]), guess="off")
    tab.page.get_by_test_id("stExpandSidebarButton").click()  # in a lesson the sidebar is closed at first
    tab.slide("bins", 4)
    seen = tab.headline(), tab.chart_titles()
    link = urlsplit(tab.link())
    with serving() as address:
        other = new_tab(address).open(link.path.strip("/"), **dict(parse_qsl(link.query)))
        assert shown(other, ONE, 3) == []
        assert (other.headline(), other.chart_titles()) == seen
        reset = other.press("Reset this step").recipe_query()
        assert reset == parameters(ONE.steps[2]) | {"guess": "off"}


def test_every_step_is_listed_and_leaving_gives_back_what_was_there(tab):
    tab.open(PAGE, bins="9").unfold("All 10 steps").by_key("step_4").get_by_role("button").click()
    assert arrive(tab, ONE, 4) == []
    assert tab.recipe_query() == parameters(ONE.steps[3])
    tab.press("Leave the lesson").by_key("lesson").wait_for(state="detached")
    assert tab.settle().recipe_query() == {"bins": "9"}
    assert urlsplit(tab.page.url).path == f"/{PAGE}"


@pytest.mark.soak
def test_the_back_button_leads_through_the_steps_and_out(tab):
    tab.open(PAGE, bins="9").unfold("All 10 steps").by_key("step_2").get_by_role("button").click()
    assert arrive(tab, ONE, 2) == []
    onward(tab)
    assert arrive(tab, ONE, 3) == []
    tab.page.go_back()
    assert arrive(tab, ONE, 2) == []
    tab.page.go_back()
    tab.by_key("begin").wait_for()
    tab.by_key("lesson").wait_for(state="detached")
    assert tab.settle().recipe_query() == {"bins": "9"}


@pytest.mark.soak
def test_presenting_hides_the_sidebar_and_obeys_the_arrow_keys(new_tab):
    lesson = ONE
    tab = new_tab(width=1280).open("explore_reliability", **parameters(lesson.steps[2]))
    size = "getComputedStyle(document.querySelector('.st-key-lesson_beside p')).fontSize"
    before = float(tab.page.evaluate(size).removesuffix("px"))
    tab.press("Present")
    assert not tab.page.get_by_test_id("stSidebar").is_visible()
    assert float(tab.page.evaluate(size).removesuffix("px")) > 1.1 * before
    tab.page.keyboard.press("ArrowRight")
    assert arrive(tab, lesson, 4) == []
    assert tab.recipe_query()["presenter"] == "true"
    tab.page.keyboard.press("ArrowLeft")
    assert arrive(tab, lesson, 3) == []
    assert not tab.page.get_by_test_id("stSidebar").is_visible()

    def highest():
        drawn = tab.page.get_by_test_id(CHARTS).locator(".main-svg").all()  # in the room's scale
        return max(part.bounding_box()["height"] for part in drawn)

    assert 600 < highest() <= 800, "a chart and its title fit a projector of 1920 by 1080"
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    until(lambda: highest() < 720, "no chart is higher than the window")
    tab.press("End presenting")
    assert tab.recipe_query() == parameters(lesson.steps[2])


DENSE = [("venn_abers", 8)]
EVERY = [(key, number) for key, of in LESSONS.items() for number in range(1, len(of.steps) + 1)]


@pytest.mark.parametrize(
    ("key", "number"),
    [*DENSE, *(pytest.param(*step, marks=pytest.mark.soak) for step in EVERY if step not in DENSE)],
)
def test_in_a_room_a_step_has_large_words_beside_a_large_picture_and_all_is_in_sight(new_tab, key, number):
    """On a projector of 1920 by 1080, and on one of 1280 by 720 all the same at two thirds of the size."""
    step = LESSONS[key].steps[number - 1]
    tab = new_tab(width=1920)
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    tab.open(step.page, **parameters(step), presenter="true", guess="off")
    _is_large(tab, 2 / 3)
    tab.page.set_viewport_size({"width": 1920, "height": 1080})
    tab.settle()
    _is_large(tab, 1)
    named = tab.by_key("lesson").locator(f'[class*="st-key-chart_{chart_of(step)}"]')
    chart = named.last.bounding_box()  # the last one of its panels
    drawer = tab.page.get_by_test_id("stSidebar")
    assert not drawer.is_visible(), "the drawer with the controls is closed at first"
    tab.page.get_by_test_id("stExpandSidebarButton").press("Enter")
    drawer.locator('[class*="st-key-"]').filter(visible=True).first.wait_for()
    assert drawer_opened(tab) <= chart["x"] or len(named.all()) > 1
    assert named.last.bounding_box() == chart, "the picture stays as it is"


ASKED = [
    (key, number)
    for key, number in EVERY
    if LESSONS[key].steps[number - 1].question is not None
    or LESSONS[key].steps[number - 1].page.startswith("learn_")
]


@pytest.mark.parametrize(
    ("key", "number"),
    [pytest.param(*step, marks=() if step == ASKED[0] else pytest.mark.soak) for step in ASKED],
)
def test_in_a_room_an_open_question_is_as_large_beside_its_picture(new_tab, key, number):
    """In the dark, as rooms are; nothing is below the window, not even the last answer."""
    step = LESSONS[key].steps[number - 1]
    tab = new_tab(width=1920, color_scheme="dark")
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    tab.open(step.page, **parameters(step), presenter="true")
    assert tab.page.locator('[class*="st-key-answers_"] button').filter(visible=True).count() >= 2
    _is_large(tab, 2 / 3)
    tab.page.set_viewport_size({"width": 1920, "height": 1080})
    tab.settle()
    _is_large(tab, 1)


LONGEST = ("venn_abers", 1)  # with a picture that is played
CHOSEN = [
    (key, number)
    for key, number in ASKED
    if (one := LESSONS[key].steps[number - 1].question) is None or one.kind in ("choice", "panel")
]


@pytest.mark.parametrize(
    ("key", "number"),
    [pytest.param(*step, marks=() if step == LONGEST else pytest.mark.soak) for step in CHOSEN],
)
def test_in_a_room_a_step_is_in_sight_to_its_end_after_a_wrong_guess(new_tab, key, number):
    """The reply to a wrong guess is the longest."""
    step = LESSONS[key].steps[number - 1]
    asked = step.question or experiment_of(dict(step.recipe.settings), step.page.removeprefix("learn_"))
    tab = new_tab(width=1920)
    tab.page.set_viewport_size({"width": 1920, "height": 1080})
    tab.open(step.page, **parameters(step), presenter="true")
    wrong = 2 if asked.right == 1 else 1
    tab.by_key(f"{'answer' if step.question else 'guess'}_{wrong}").get_by_role("button").click()
    tab.by_key("lesson").get_by_text("Not quite.").wait_for()
    tab.settle()
    assert sizes(tab).bottom <= 1081


def _is_large(tab, scale):
    """Check the sizes of the open step, of a window that is ``scale`` times as large as 1920 by 1080."""
    found = sizes(tab)
    assert found.plot >= 800 * scale
    assert all(side >= 799 * scale for side in found.squares)
    assert found.text >= 28 * scale - 0.1
    assert 0.29 <= found.share <= 0.32
    assert found.bottom <= 1080 * scale + 1
    assert found.besides == 0, "no caption, no menu and no small table"
    smallest, overlapping, cut = type_in_charts(tab, ".st-key-lesson")
    assert smallest >= 24, "before it is scaled with its picture"
    assert overlapping == cut == []


WITH_DRAWER = [
    "explore_venn_abers",
    "explore_trees",
    "explore_decide",
    "explore_out_of_bag",
    "explore_compare",
]


@pytest.mark.parametrize(
    "page", ["explore_reliability", *(pytest.param(page, marks=pytest.mark.soak) for page in WITH_DRAWER)]
)
def test_in_a_room_the_drawer_covers_all_words_beside_a_picture_and_leaves_it_as_it_is(new_tab, page):
    """On the pages of Explore as in a lesson; the picture is in sight with its numbers beside it."""
    tab = new_tab(width=1920)
    tab.page.set_viewport_size({"width": 1920, "height": 1080})
    tab.open(page, presenter="true")
    smallest, overlapping, cut = type_in_charts(tab)
    assert smallest >= 24
    assert overlapping == cut == []
    picture = tab.page.get_by_test_id(CHARTS).first
    chart, words = picture.bounding_box(), tab.page.get_by_role("heading", level=1).bounding_box()
    assert words["x"] + words["width"] < chart["x"]
    if page != "explore_trees":
        assert chart["y"] + chart["height"] <= 1080
    tab.page.get_by_test_id("stExpandSidebarButton").click()
    assert words["x"] + words["width"] <= drawer_opened(tab) <= chart["x"]
    assert picture.bounding_box() == chart


@pytest.mark.soak
@pytest.mark.parametrize("guess", ["ask", "1", "skip"])
@pytest.mark.parametrize("key", EXPERIMENTS)
def test_in_a_room_the_picture_of_a_learn_page_is_legible_and_in_sight_with_its_question(new_tab, key, guess):
    tab, page = new_tab(width=1920), EXPERIMENTS[key].page
    tab.page.set_viewport_size({"width": 1920, "height": 1080})
    chosen = Recipe(settings={f"{page}.experiment": key, f"{key}.guess": guess}).to_query()
    tab.open(EXPERIMENTS[key].script, **chosen, presenter="true")
    smallest, overlapping, cut = type_in_charts(tab)
    assert smallest >= 24
    assert overlapping == cut == []
    picture = tab.by_key("picture")
    panels = picture.locator('[class*="_panel_"]').all() or [picture.get_by_test_id(CHARTS).first]
    in_sight = [*panels, *(tab.by_key(name) for name in IN_SIGHT[guess])]
    for box in (part.bounding_box() for part in in_sight):
        assert box["y"] + box["height"] <= 1080
    if key != "finite":  # whose points are its only setting, and stand in the page
        chart = panels[0].bounding_box()
        tab.page.get_by_test_id("stExpandSidebarButton").click()
        assert drawer_opened(tab) <= chart["x"], "over the words beside the picture"
        assert panels[0].bounding_box() == chart


def drawer_opened(tab) -> float:
    """Where the drawer with the controls ends, once it stands still."""
    drawer, places = tab.page.get_by_test_id("stSidebar"), [-1.0]

    def still() -> bool:
        box = drawer.bounding_box()
        places.append(box["x"] + box["width"])
        return box["x"] == 0 and places[-1] == places[-2]

    until(still, "the drawer is open")
    return places[-1]


IN_SIGHT = {"ask": ("prediction", "answers_guess"), "1": ("prediction",), "skip": ()}
"""By what was answered, the parts of a Learn page that a room sees with its picture."""


# Points in print of the smallest type in any chart
PRINTED = """() => Math.min(...[...document.querySelectorAll(".js-plotly-plot svg text")].map(text => {
    let size = 0.75 * parseFloat(getComputedStyle(text).fontSize)
    for (let at = text.closest(".js-plotly-plot"); at; at = at.parentElement)
        size *= parseFloat(getComputedStyle(at).zoom) || 1
    return size
}))"""


# Put the drawings of a card, which are images, into the page; return the points in print of their smallest type
OPENED = """() => {
    for (const image of document.querySelectorAll("[role=img] img")) {
        const bytes = Uint8Array.from(atob(image.src.split(",")[1]), one => one.charCodeAt(0))
        const parsed = new DOMParser().parseFromString(new TextDecoder().decode(bytes), "image/svg+xml")
        const drawing = parsed.documentElement
        drawing.style.width = `${image.getBoundingClientRect().width}px`
        drawing.style.height = "auto"
        image.parentElement.classList.add("js-plotly-plot")
        image.parentElement.style.zoom = 1
        image.replaceWith(drawing)
    }
    const scale = ({ a, b }) => Math.hypot(a, b)
    return Math.min(...[...document.querySelectorAll("[role=img] svg text")].filter(text => text.textContent).map(
        text => 0.75 * parseFloat(getComputedStyle(text).fontSize) * scale(text.getScreenCTM())))
}"""


@pytest.mark.soak
@pytest.mark.parametrize("key", EVERY_TOPIC)
def test_what_a_card_prints_is_legible_and_as_wide_as_the_sheet(chromium, key):
    page = chromium.new_page(viewport={"width": 726, "height": 1000})
    page.set_content(lesson_card(EVERY_TOPIC[key]).decode())
    page.emulate_media(media="print")
    assert page.evaluate(OPENED) >= 6.5
    drawings, places = (page.locator(part) for part in ("[role=img] > svg", "[role=img]"))
    _, overlapping, cut = page.evaluate(TYPE, "body")
    assert overlapping == cut == []
    for drawing, place in zip(drawings.all(), places.all(), strict=True):
        assert drawing.bounding_box()["width"] <= place.bounding_box()["width"] + 1
    page.close()


@pytest.mark.soak
@pytest.mark.parametrize("key", EVERY_TOPIC)
def test_what_is_printed_of_a_lesson_is_legible_and_as_wide_as_the_sheet_whatever_the_window(chromium, key):
    page = chromium.new_page(viewport={"width": 1400, "height": 1000})
    page.set_content(lesson_handout(EVERY_TOPIC[key]).decode())
    charts, pictures = (page.locator(part) for part in (".js-plotly-plot", "[role=img]"))
    until(lambda: charts.locator(".main-svg").count() >= 3 * pictures.count(), "the pictures are drawn")
    page.set_viewport_size({"width": 688, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate(PRINTED) >= 6.5
    _, overlapping, cut = page.evaluate(TYPE, "body")
    assert overlapping == cut == []
    for chart, place in zip(charts.all(), pictures.all(), strict=True):
        assert chart.bounding_box()["width"] <= place.bounding_box()["width"] + 1
    page.close()


def test_a_reload_keeps_the_answers_and_a_question_asked_again_stays_open(tab):
    step = next(one for one in LESSONS["venn_abers"].steps if one.question and one.question.kind == "choice")
    tab.open(step.page, **step.recipe.to_query(), lesson=step.place).settle()
    tab.by_key("answer_1").get_by_role("button").click()
    again = tab.by_key("asked").get_by_role("button", name="Ask me again")
    again.wait_for()
    answered = tab.settle().by_key("asked").inner_text()  # without what the question had before
    tab.page.reload()
    again.wait_for()
    assert tab.settle().by_key("asked").inner_text() == answered
    again.click()
    tab.by_key("answer_1").wait_for()
    tab.settle()
    tab.page.reload()
    tab.by_key("answer_1").wait_for()
    tab.settle()
    assert not again.count()
