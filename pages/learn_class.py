"""Learn · Live quiz: a room in which a teacher asks and students answer on their phones."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import live_quiz

if code := live_quiz.named():
    frame.open_alone(live_quiz.SCRIPT, f"Room {code}")
    live_quiz.show(code)
else:
    frame.open_page(live_quiz.SCRIPT)
    live_quiz.begin()
