"""Learn · Lessons: guided sequences over the pages, a few steps each."""

from pages.ui import frame, lesson

frame.open_page("pages/learn_lessons.py")
lesson.listed()
