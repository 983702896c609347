"""Learn · CL and GL: the true posterior, the model's posterior and its groups, and the loss of each."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import cl_gl, experiments

recipe = frame.open_page("pages/learn_cl_gl.py")
experiments.show(recipe, "cl_gl", cl_gl.variations())
