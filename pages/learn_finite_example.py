"""Learn · Finite example: a line of points, cut by hand, and what every way to cut it costs."""

from pages.ui import frame, learn, line

recipe = frame.open_page("pages/learn_finite_example.py")
learn.show(recipe, "finite_example", pictures=line.pictures, below=line.editor)
