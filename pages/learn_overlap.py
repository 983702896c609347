"""Learn · Overlap: two classes pulled apart step by step, and where calibrating a forest helps."""

from pages.ui import frame
from pages.ui.learn import experiments, long_runs, overlap

recipe = frame.open_page("pages/learn_overlap.py")
experiments.show(recipe, "overlap", compute=long_runs.compute, below=overlap.steps_drawn)
