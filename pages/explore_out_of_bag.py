"""Explore · Out of bag: the ten setups of the 2019 paper on the data at hand, two fits for all of them."""

from pages.ui import chart, frame, setups

recipe = frame.open_page("pages/explore_out_of_bag.py")
setups.needs_features(recipe)
setups.needs_bagging(recipe)
setups.as_published(recipe)

evaluations = setups.evaluations(recipe)
table = setups.table(evaluations)
setups.headline(table)
chart.show("setups", table)
setups.numbers(table, evaluations)
setups.beside_the_paper(table)
setups.notes(evaluations)
