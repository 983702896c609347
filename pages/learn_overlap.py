"""Learn · Overlap: two classes pulled apart step by step, and where calibrating a forest helps."""

from calib.simulations import overlap
from pages.ui import forests, frame, learn

recipe = frame.open_page("pages/learn_overlap.py")
learn.show(recipe, "overlap", compute=forests.in_parts(overlap), below=forests.steps_drawn)
