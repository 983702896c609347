"""A figure that leaves the page says what it shows, and no word of it is cut off at the edge."""

import json
from html import unescape

import numpy as np
import pandas as pd
import pytest

from calib.export import chromium, titled
from calib.export.charts import charts
from calib.figures import FIGURES
from calib.kernel.wording import without_direction_marks
from calib.models import MODELS

LEAST = 2  # pixels between any word and the edge
# Each word of each picture, with its distances from the left, upper, right and lower edge, as the browser measures them
MEASURE = """<!doctype html><meta charset="utf-8"><style>svg {display: block}</style><body>%s<script>
const seen = svg => {
  const all = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0)
    .map(([words, b]) => [words, b.left - all.left, b.top - all.top, all.right - b.right, all.bottom - b.bottom]);
};
document.documentElement.replaceChildren(JSON.stringify([...document.querySelectorAll("body > svg")].map(seen)));
</script>"""


def measured(figures) -> list[list[list]]:
    pictures = [files["svg"].decode() for files in chromium.draw_files(figures, ["svg"])]
    shown = chromium._ask(MEASURE % "".join(pictures), 5 * len(pictures), "--dump-dom").decode()
    return json.loads(unescape(shown.partition("<html>")[2].rpartition("</html>")[0]))


def squeezed(text: str) -> str:
    """A line break takes the place of a space."""
    return "".join(text.split())


@pytest.mark.usefixtures("chromium")
def test_every_exported_chart_has_its_title_and_no_word_is_cut_off(evaluations):
    evaluation = evaluations["Naive Bayes"]
    held = charts(evaluation)
    figures = [titled(one.draw(), one.record.title, evaluation, FIGURES[one.key].label) for one in held]
    for one, texts in zip(held, measured(figures), strict=True):
        words = squeezed(" ".join(text for text, *_ in texts))
        below = [FIGURES[one.key].label, evaluation.dataset.name, MODELS[evaluation.recipe.model].label]
        for expected in (without_direction_marks(one.record.title), *below):
            assert squeezed(expected) in words, one.key
        for text, *distances in texts:
            assert min(distances) >= LEAST, (one.key, text, distances)


@pytest.mark.usefixtures("chromium")
def test_a_long_title_is_wrapped_and_markup_in_it_is_words(evaluations):
    title = "Wide Words WWWWW & <b>names</b> with 123 capitals OF EVERY KIND " * 4
    figure = charts(evaluations["Naive Bayes"])[0].draw()
    before = figure.layout.to_plotly_json()
    (texts,) = measured([titled(figure, title, label="A kind")])
    assert squeezed(title) in squeezed(" ".join(text for text, *_ in texts))
    assert min(min(distances) for _, *distances in texts) >= LEAST
    assert figure.layout.to_plotly_json() == before


@pytest.mark.usefixtures("chromium")
def test_a_legend_above_the_plot_is_below_the_title(evaluations):
    entry = FIGURES["compared"]
    record = entry.prepare(evaluations)
    (texts,) = measured([titled(entry.draw(record), record.title, evaluations, entry.label)])
    (kind,) = [one for one in texts if entry.label in one[0]]
    (legend,) = [one for one in texts if one[0] == "Platt scaling"]
    assert kind[4] > legend[4]  # distance of their lower edges from the picture's
    assert legend[2] > kind[2] + 60  # from the top: the title's block is one text


@pytest.mark.usefixtures("chromium")
def test_names_above_a_table_of_pairs_are_below_the_title():
    names = ["RF_large", "Random forest, out of bag", *"abcdefg"]
    entry = FIGURES["significance"]
    record = entry.prepare(pd.DataFrame(np.full((9, 9), 0.5), names, names))
    figure = titled(entry.draw(record), record.title, None, entry.label)
    (texts,) = measured([figure])
    (kind,) = [one for one in texts if entry.label in one[0]]
    above = min(top for text, _, top, *_ in texts if text in names)
    assert figure.layout.height - kind[4] < above
