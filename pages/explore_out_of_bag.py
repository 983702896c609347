"""Explore · Out of bag: the ten setups of the 2019 paper on the current data, from two model fits."""

import pages.ui.everything
from pages.ui import evaluations, frame, headings
from pages.ui.explore import out_of_bag

recipe = frame.open_page("pages/explore_out_of_bag.py")
evaluations.needs_features(recipe, out_of_bag.FOREST_NEEDED)
evaluations.needs_rows(
    recipe,
    "Out-of-bag calibration draws a training row for each test row and uses only the trees that were not "
    "trained on that training row.",
)
if evaluations.shows_all_classes(recipe):
    out_of_bag.together(recipe)
recipe = evaluations.of_one_class(
    recipe, "The paper's setups are for two classes, so choose one class against the rest."
)
out_of_bag.needs_bagging(recipe)
setups = out_of_bag.evaluations(recipe)
table = out_of_bag.table(setups)
place = headings.finding()
with place.words:
    out_of_bag.headline(table)
    out_of_bag.as_published(recipe)
with place.picture:
    out_of_bag.picture(table, setups, place.sentence)
out_of_bag.numbers(table, setups)
out_of_bag.beside_the_paper(table)
out_of_bag.notes(setups)
