"""Learn · Validity: what Venn predictors promise, by drawing where the truth is known."""

from pages.ui import frame, learn

recipe = frame.open_page("pages/learn_validity.py")
learn.show(recipe, "validity")
