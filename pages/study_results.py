"""Study · Results: compare setups over many data sets, with tests, beside the values that papers print."""

import pages.ui.everything
from pages.ui import frame, headings
from pages.ui.study import results

recipe = frame.open_page("pages/study_results.py")

found = results.opened(recipe)
summary, paper = results.choices(recipe, found)
place = headings.finding()
with place.words:
    results.headline(summary, found)
results.diagrams(summary, place)
results.numbers(summary, found)
results.one_data_set(recipe, summary, found)
results.tests(summary)
results.beside_the_paper(summary, paper, found)
results.everything(recipe, summary, paper)
