"""A class in real browsers: the projector and two phones, one of which is loaded again in the middle."""

from calib.experiments import EXPERIMENTS
from tests.waiting import until

ASKED = EXPERIMENTS["pooling"]


def press(tab, key):
    """A button whose name ends with its key on the keyboard."""
    tab.by_key(key).get_by_role("button").click()
    return tab


def test_two_phones_follow_the_projector_from_the_code_to_the_reveal(new_tab):
    host = new_tab(width=1920).open("learn_class")
    host.choose("room_about", f"One question: {ASKED.name}")
    host.by_key("room_open").get_by_role("button").press("Enter")
    host.by_key("room_code").wait_for()
    code = host.by_key("room_code").inner_text().strip()
    host.by_key("room_qr").locator("img").wait_for()
    phone, other = new_tab(width=390).open("learn_class", room=code), new_tab(width=390).open("learn_class")
    other.page.get_by_label("Code", exact=True).fill(code.lower())
    other.press("Join").page.get_by_text("You are in").wait_for()
    host.page.get_by_text("2 phones joined").wait_for()
    assert host.page.evaluate("() => document.activeElement === document.body"), (
        "no key closes the room at once"
    )
    host.page.keyboard.press("ArrowRight")
    for tab, answer in ((phone, ASKED.answers[0]), (other, ASKED.answers[1])):
        tab.page.get_by_role("button", name=answer).click()
        tab.page.get_by_text("Your answer is in").wait_for()
        assert tab.by_key("phone").get_attribute("aria-live") == "polite", "question and verdict are read out"
        widths = "elements => elements.map(element => element.scrollWidth)"
        assert tab.page.locator("html, .stMain").evaluate_all(widths) == [390, 390]
    phone.page.reload()
    phone.page.get_by_text("Your answer is in").wait_for()
    host.page.get_by_text("2 of 2 answered").wait_for()
    assert host.by_key("counted").get_attribute("aria-live") == "polite", "how many have answered is read out"
    heights = "buttons => buttons.map(button => button.getBoundingClientRect().height)"
    answers = phone.by_key("room_answers").get_by_role("button")  # which the page draws anew now and then
    until(lambda: min(answers.evaluate_all(heights), default=0) >= 48, "the answers are as high as a thumb")
    host.page.keyboard.press("ArrowRight")
    host.page.get_by_text("1 of 2 answers right").wait_for()
    phone.page.get_by_text("Correct.").wait_for()
    other.page.get_by_text(ASKED.why[1]).wait_for()
    sizes = "texts => texts.map(text => parseFloat(getComputedStyle(text).fontSize))"
    assert min(host.by_key("chart_ballots").locator("svg text").evaluate_all(sizes)) >= 24
    press(host, "room_close")
    for tab in (host, phone, other):
        tab.page.get_by_text(f"Room {code} is closed, and its data are deleted.").wait_for()
