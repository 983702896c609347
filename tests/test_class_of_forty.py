"""Forty phones and a projector at one server, each a session of its own over Streamlit's own protocol."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs

import pytest

from calib.experiments import EXPERIMENTS
from tests.browser.driver import serving
from tests.browser.reader import Reader, phone
from tests.saying import says

STUDENTS, ASKED = 40, EXPERIMENTS["pooling"]


@pytest.mark.soak
def test_forty_students_answer_and_each_is_met_at_the_reveal():
    with serving() as address, ThreadPoolExecutor(STUDENTS) as pool:
        chosen = {f"{ASKED.page}.experiment": ASKED.key}
        host = Reader(address, ASKED.script, **chosen).open().press("Start a live quiz")
        room = parse_qs(host.query)["room"][0]
        seats = [f"seat-of-student-{number:02}" for number in range(STUDENTS)]
        phones = list(pool.map(lambda seat: phone(address, room, seat), seats))
        assert all("You are in" in each.heard for each in phones)
        host.press("Begin")

        def answer(number: int) -> str:
            mine = phones[number].poll()
            for i in range(3):  # the last one counts
                mine.press(f"**{'ABC'[(number + i) % 3]}**")
            return mine.poll().heard

        assert all("Your answer is in" in heard for heard in pool.map(answer, range(STUDENTS)))
        assert f"{STUDENTS} of {STUDENTS} answered" in host.poll().heard
        host.press("Reveal")
        right = [number for number in range(STUDENTS) if (number + 2) % 3 == ASKED.right - 1]
        assert f"{len(right)} of {STUDENTS} answers right" in host.heard
        heard = list(pool.map(lambda each: each.poll().heard, phones))
        assert [number for number, said in enumerate(heard) if "Correct." in said] == right
        assert all(ASKED.why[ASKED.right - 1] in said for said in heard)
        again = phone(address, room, seats[0])
        assert again.heard == heard[0]
        host.press("Close and delete")
        assert all(says(each.poll().heard, "closed", "deleted") for each in phones)
        for each in (host, again, *phones):
            each.close()
