"""Explore · Compare and report: Recipes kept under names, laid side by side, and everything to take along."""

import pages.ui.everything
from pages.ui import frame, headings, stage
from pages.ui.explore import compare

recipe = frame.open_page("pages/explore_compare.py")

with stage.words():
    compare.keep(recipe)
results = compare.results(compare.compared(recipe), recipe)
if results:
    compare.show(results, recipe)
    headings.part("Export")
    compare.everything(recipe, results)
    compare.calibrator(results)
headings.part("Use a saved calibrator")
compare.saved()
