"""Explore · Compare and report: keep Recipes under names, compare them side by side, and export everything."""

import pages.ui.everything
from pages.ui import frame, headings, jobs
from pages.ui.explore import compare

recipe = frame.open_page("pages/explore_compare.py")

place = headings.finding()
with place.words:
    chosen = compare.compared(recipe)
with place.picture:
    with jobs.place_of_progress():
        results = compare.results(chosen, recipe)
    if results:
        compare.picture(results, recipe, place.sentence)
with place.words:
    if results:
        compare.metric(results, recipe)
    compare.keep(recipe)
if results:
    compare.numbers(results)
    headings.part("Export")
    compare.everything(recipe, results)
    compare.calibrator(results)
headings.part("Use a saved calibrator")
compare.saved()
