"""Learn · Fair on average: what a search through all groups finds by chance, and when it finds a hidden group."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import experiments

recipe = frame.open_page("pages/learn_fair_on_average.py")
experiments.show(recipe, "fair_on_average")
