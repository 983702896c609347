"""Learn · Lessons: guided sequences over the pages, a few steps each."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import lessons

lessons.opened(frame.open_page("pages/learn_lessons.py"))
