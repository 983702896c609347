"""The lesson and the quizzes, which are written alike."""

from calib.lessons import LESSONS, QUIZZES

EVERY = {**QUIZZES, **LESSONS}
