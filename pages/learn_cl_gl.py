"""Learn · CL and GL: the true posterior, the model's, the groups it makes, and what each of them costs."""

from pages.ui import frame, groups, learn

recipe = frame.open_page("pages/learn_cl_gl.py")
learn.show(recipe, "cl_gl", below=groups.along, point=groups.points())
