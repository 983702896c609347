"""Every ink can be seen on its paper, and calibrators are told apart by readers with any colour vision."""

import inspect
import itertools
import math
import re

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.calibrators import CALIBRATORS
from calib.export.playground import STYLE
from calib.figures import FIGURES
from calib.figures.theme import (
    DARK,
    FIXED,
    LIGHT,
    MARKS,
    RESERVE,
    layout,
    legible,
    reserved,
    rgba,
)
from calib.kernel.wording import number
from calib.recipe import Recipe
from tests.figures.evaluations import evaluation

# What protanopes, deuteranopes and tritanopes see, on linear sRGB (Machado, Oliveira & Fernandes 2009,
# severity 1)
VISION = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
PAPERS = [key for key in FIXED if key != "auto"][:9]  # the methods of the four papers
XYZ = np.array(  # sRGB's primaries and white (IEC 61966-2-1)
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(color: str) -> np.ndarray:
    c = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(one: str, two: str) -> float:
    """WCAG 2.2's contrast ratio, from 1 to 21."""
    light, dark = sorted((float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(color: str, vision: np.ndarray) -> np.ndarray:
    xyz = XYZ @ np.clip(vision @ linear(color), 0, 1) / XYZ.sum(axis=1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one: str, two: str, vision: np.ndarray) -> float:
    """CIE 1976 colour difference: about 2.3 can just be noticed side by side."""
    return float(np.linalg.norm(lab(one, vision) - lab(two, vision)))


def test_the_yardsticks_measure_what_is_known():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    # The well-known grey just below 4.5
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)
    np.testing.assert_allclose(lab("#FFFFFF", np.eye(3)), [100, 0, 0], atol=0.01)
    np.testing.assert_allclose(lab("#FF0000", np.eye(3)), [53.24, 80.09, 67.20], atol=0.02)
    for name, vision in VISION.items():  # white and grey look alike to everyone
        np.testing.assert_allclose(vision.sum(axis=1), 1, atol=1e-5, err_msg=name)
    assert (
        difference("#FF0000", "#6E6A00", VISION["protanopia"])
        < difference("#FF0000", "#6E6A00", np.eye(3)) / 5
    )


def test_every_calibrator_has_a_mark_of_its_own():
    assert set(CALIBRATORS) <= set(MARKS)
    assert (
        len({mark.color for mark in MARKS.values()})
        == len({mark.symbol for mark in MARKS.values()})
        == len(MARKS)
    )


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("key", MARKS)
def test_marks_stand_out_from_the_paper(key, theme):
    assert contrast(theme.mark(key).color, theme.paper) >= 3


def mixed(color: str, opacity: float, paper: str) -> str:
    """The colour of a translucent one over the paper."""
    parts = (
        round(opacity * int(color[i : i + 2], 16) + (1 - opacity) * int(paper[i : i + 2], 16))
        for i in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02X}" for part in parts)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_uncalibrated_model_is_clear_on_both_papers_also_in_pale_marks_and_bars(theme):
    grey = theme.mark("none").color
    assert contrast(grey, theme.paper) >= 4.5
    pale = r"\.(marks|histogram) \w+ \{fill: var\(--calibrator\); fill-opacity: ([\d.]+)"
    opacities = re.findall(pale, STYLE.read_text())
    assert [part for part, _ in opacities] == ["marks", "histogram"]
    for part, opacity in opacities:
        assert contrast(mixed(grey, float(opacity), theme.paper), theme.paper) >= 3, part


OF_EVALUATIONS = [
    key
    for key, entry in FIGURES.items()
    if str(next(iter(inspect.signature(entry.prepare).parameters.values())).annotation) == "Evaluation"
    if key not in ("class_intervals", "class_pairs", "simplex")  # of three and more classes
]


@pytest.mark.parametrize("key", OF_EVALUATIONS)
def test_each_theme_draws_the_uncalibrated_model_in_its_own_grey(key):
    entry = FIGURES[key]
    record = entry.prepare(evaluation(calibrators=("none", "venn_abers")))
    for theme, other in ((LIGHT, DARK), (DARK, LIGHT)):
        written = entry.draw(record, theme).to_json().upper()
        assert other.uncalibrated not in written
        assert rgba(other.uncalibrated, 0.5).upper()[:-4] not in written


@pytest.mark.parametrize("mark", RESERVE, ids=lambda mark: mark.symbol)
def test_marks_in_reserve_stand_out_from_both_papers_and_from_all_others(mark):
    # Plotly knows them
    go.Scatter(marker={"symbol": [mark.symbol, f"{mark.symbol}-open"]}, line={"dash": mark.dash})
    for theme in (LIGHT, DARK):
        assert contrast(mark.color, theme.paper) >= 3
    others = [other for other in (*FIXED.values(), DARK.mark("none"), *RESERVE) if other is not mark]
    assert mark.symbol not in {other.symbol for other in others}
    for vision, least in (("usual", 12), ("protanopia", 8), ("deuteranopia", 8), ("tritanopia", 6.8)):
        assert min(difference(mark.color, other.color, VISION[vision]) for other in others) >= least


@given(st.sets(st.from_regex("[a-z][a-z0-9_]{0,8}", fullmatch=True), max_size=40))
def test_any_calibrators_from_outside_get_marks_of_their_own_that_stay(keys):
    marks = reserved(keys)
    assert marks == reserved(sorted(keys, reverse=True))
    assert len(set(marks.values())) == len(keys)
    first = sorted(keys)[: len(RESERVE)]
    assert len({marks[key].color for key in first}) == len({marks[key].symbol for key in first}) == len(first)
    assert all(reserved([key])[key] in RESERVE for key in first)


def test_a_registered_calibrator_has_a_mark_without_saying_so(monkeypatch):
    before = set(MARKS)
    monkeypatch.setattr(CALIBRATORS, "_held", {**CALIBRATORS, "mine": CALIBRATORS["platt"]})
    assert MARKS["mine"] in RESERVE
    assert list(MARKS)[: len(FIXED)] == list(FIXED)
    assert set(MARKS) == before | {"mine"}
    assert len(MARKS) == len(before) + 1
    assert MARKS["platt"] == FIXED["platt"]
    monkeypatch.undo()


def test_predictions_that_a_person_names_have_a_mark_each_that_stays():
    first, second = MARKS["their forest"], MARKS["their boosting"]
    assert first.color != second.color
    assert first.symbol != second.symbol
    assert MARKS["their forest"] == first


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_words_lines_and_classes_stand_out_from_the_paper(theme):
    assert contrast(theme.ink, theme.paper) >= 7
    assert contrast(theme.muted, theme.paper) >= 4.5
    for color in (theme.diagonal, theme.positive, theme.negative, theme.calibration, theme.grouping):
        assert contrast(color, theme.paper) >= 3
    assert contrast(theme.grid, theme.paper) < 2  # the grid stays behind


@pytest.mark.parametrize(
    ("vision", "least"), [("usual", 20), ("protanopia", 14), ("deuteranopia", 14), ("tritanopia", 12)]
)
def test_calibrators_and_classes_are_told_apart_by_readers_with_any_colour_vision(vision, least):
    for theme in (LIGHT, DARK):
        for a, b in itertools.combinations(MARKS, 2):
            papers = {a, b} <= set(PAPERS)  # fifteen colours cannot be as far apart as nine
            seen = difference(theme.mark(a).color, theme.mark(b).color, VISION[vision])
            assert seen >= least * (1 if papers else 0.55), (theme.name, a, b)
        assert difference(theme.positive, theme.negative, VISION[vision]) >= 3 * least
        assert difference(theme.calibration, theme.grouping, VISION[vision]) >= 2.5 * least
        for loss, other in itertools.product(
            (theme.calibration, theme.grouping), (theme.positive, theme.negative, theme.muted)
        ):
            assert difference(loss, other, VISION[vision]) >= least
        for loss, key in itertools.product((theme.calibration, theme.grouping), FIXED):
            assert difference(loss, theme.mark(key).color, VISION[vision]) >= 8, (theme.name, loss, key)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize(
    ("vision", "least"), [("usual", 25), ("protanopia", 15), ("deuteranopia", 15), ("tritanopia", 10)]
)
def test_the_colour_of_guesses_is_nothing_else(theme, vision, least):
    assert contrast(theme.guess, theme.paper) >= 4.5  # words have it, too
    data = (theme.ink, theme.positive, theme.negative, theme.calibration, theme.grouping, theme.diagonal)
    for color in (*data, *(theme.mark(key).color for key in MARKS)):
        assert difference(theme.guess, color, VISION[vision]) >= least, color


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize(
    ("vision", "least"), [("usual", 40), ("protanopia", 20), ("deuteranopia", 20), ("tritanopia", 20)]
)
def test_calibrators_that_are_on_by_default_differ_in_hue_marker_and_dash(theme, vision, least):
    marks = [theme.mark(key) for key in Recipe().calibrators]
    for one, two in itertools.combinations(marks, 2):
        assert difference(one.color, two.color, VISION[vision]) >= least, (one, two)
    assert len({mark.symbol for mark in marks}) == len({mark.dash for mark in marks}) == len(marks)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("key", MARKS)
def test_words_in_the_colour_of_a_mark_can_be_read(key, theme):
    assert contrast(legible(theme.mark(key).color, theme), theme.paper) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("vision", VISION)
def test_the_scale_grows_steadily_away_from_the_paper(theme, vision):
    lightness = [lab(color, VISION[vision])[0] for color in theme.scale]
    steps = np.diff(lightness) * (-1 if theme is LIGHT else 1)
    assert (steps > 8).all()


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_figure_takes_no_colour_from_the_default_template(theme):
    import plotly.io as pio
    import streamlit  # noqa: F401 – its import sets placeholders (#000001 …) as Plotly's default

    assert pio.templates.default == "streamlit"
    figure = go.Figure(go.Scatter(x=[0, 1], y=[0, 1]), layout=layout(theme))
    written = figure.to_json().lower()
    assert "#0000" not in written
    for ink in (theme.paper, theme.ink, theme.muted, theme.grid, theme.diagonal):
        assert ink.lower() in written


def test_the_two_themes_are_designed_apart():
    assert contrast(LIGHT.paper, DARK.paper) > 12
    assert LIGHT.paper != DARK.ink


@given(st.floats(0.01, 1e5))
def test_numbers_keep_three_significant_digits(value):
    text = number(value)
    assert float(text) == pytest.approx(value, rel=5.1e-3)
    assert len(text.replace(".", "").lstrip("0")) == max(3, len(str(round(value))))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (0, "0"),
        (-0.5, "−0.500"),
        (0.999, "0.999"),
        (0.9996, "1.00"),
        (1e-9, "1.00e−9"),
        (2e-6, "0.000002"),
        (99.96, "100"),
        (-0.9996, "−1.00"),
    ],
)
def test_numbers_for_people(value, text):
    assert number(value) == text


def test_translucent_colours():
    assert rgba("#0a0B0c", 0.25) == "rgba(10, 11, 12, 0.25)"
