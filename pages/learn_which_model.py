"""Learn · Which model: a forest, a support-vector machine and logistic regression against the true probabilities."""

from pages.ui import frame, growing, learn

recipe = frame.open_page("pages/learn_which_model.py")
learn.show(recipe, "which_model", below=growing.losses, fit=growing.models())
