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


LONG = "Wide Words WWWWW & <b>names</b> with 123 capitals OF EVERY KIND " * 4
PAIRS = ["RF_large", "Random forest, out of bag", *"abcdefg"]


@pytest.fixture(scope="module")
def held(evaluations):
    return charts(evaluations["Naive Bayes"])


@pytest.fixture(scope="module")
def figures(evaluations, held):
    """By name: every chart of an evaluation, and figures with much above their plot."""
    evaluation = evaluations["Naive Bayes"]
    compared, significance = FIGURES["compared"], FIGURES["significance"]
    made = compared.prepare(evaluations)
    of_pairs = significance.prepare(pd.DataFrame(np.full((9, 9), 0.5), PAIRS, PAIRS))
    return {
        one.key: titled(one.draw(), one.record.title, evaluation, FIGURES[one.key].label) for one in held
    } | {
        "long": titled(held[0].draw(), LONG, label="A kind"),
        "compared": titled(compared.draw(made), made.title, evaluations, compared.label),
        "table of pairs": titled(significance.draw(of_pairs), of_pairs.title, None, significance.label),
    }


@pytest.fixture(scope="module")
def texts(chromium, figures):
    """By name: the words of a figure with their distances from its edges, all measured in one browser."""
    return dict(zip(figures, measured(list(figures.values())), strict=True))


def test_every_exported_chart_has_its_title_and_no_word_is_cut_off(evaluations, held, texts):
    evaluation = evaluations["Naive Bayes"]
    for one in held:
        words = squeezed(" ".join(text for text, *_ in texts[one.key]))
        below = [FIGURES[one.key].label, evaluation.dataset.name, MODELS[evaluation.recipe.model].label]
        for expected in (without_direction_marks(one.record.title), *below):
            assert squeezed(expected) in words, one.key
        for text, *distances in texts[one.key]:
            assert min(distances) >= LEAST, (one.key, text, distances)


def test_a_long_title_is_wrapped_and_markup_in_it_is_words(texts):
    assert squeezed(LONG) in squeezed(" ".join(text for text, *_ in texts["long"]))
    assert min(min(distances) for _, *distances in texts["long"]) >= LEAST


def test_a_title_leaves_the_figure_as_it_is(held):
    figure = held[0].draw()
    before = figure.layout.to_plotly_json()
    titled(figure, LONG, label="A kind")
    assert figure.layout.to_plotly_json() == before


def test_a_legend_above_the_plot_is_below_the_title(texts):
    (kind,) = [one for one in texts["compared"] if FIGURES["compared"].label in one[0]]
    (legend,) = [one for one in texts["compared"] if one[0] == "Platt scaling"]
    assert kind[4] > legend[4]  # distance of their lower edges from the picture's
    assert legend[2] > kind[2] + 60  # from the top: the title's block is one text


def test_names_above_a_table_of_pairs_are_below_the_title(figures, texts):
    (kind,) = [one for one in texts["table of pairs"] if FIGURES["significance"].label in one[0]]
    above = min(top for text, _, top, *_ in texts["table of pairs"] if text in PAIRS)
    assert figures["table of pairs"].layout.height - kind[4] < above
