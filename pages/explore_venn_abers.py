"""Explore · Venn–Abers: an interval for each probability, its width, its validity, and how it is computed."""

import pages.ui.everything
from pages.ui import chart, frame, headings
from pages.ui.explore import venn_abers

recipe = frame.open_page("pages/explore_venn_abers.py")
evaluation = venn_abers.evaluation(recipe)
method, row = venn_abers.chosen_method(evaluation), venn_abers.chosen_row(evaluation)

place = headings.finding()
with place.picture:
    chart.show(
        "pairs",
        evaluation,
        calibrator=method,
        color=recipe.setting("venn_abers.color"),
        row=row,
        **recipe.stated_settings("reliability", "axes"),
        on_click=venn_abers.choose_row,
        sentence=place.sentence,
        hint="Click a mark to explain one of its rows.",
    )
with place.words:
    venn_abers.headline(evaluation)
    venn_abers.switches(recipe)
    venn_abers.number(recipe)

venn_abers.details(recipe, evaluation, row)
frame.notes(evaluation.notes)
