"""The reliability diagram in a matplotlib axis: its artists hold the numbers of the figure's table."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.collections import PathCollection
from sklearn.isotonic import IsotonicRegression

from calib import check
from calib.figures import DARK, FIGURES, MARKS
from calib.kernel.checks import InputError

mpl.use("Agg")
RNG = np.random.default_rng(0)
P = RNG.random(800)
Y = (RNG.random(800) < P**2).astype(int)


@pytest.fixture
def axis():
    figure, axis = pyplot.subplots()
    yield axis
    pyplot.close(figure)


def marks_of(axis) -> np.ndarray:
    """All marks (m, 2), from left to right."""
    drawn = [np.asarray(each.get_offsets()) for each in axis.collections if isinstance(each, PathCollection)]
    return np.unique(np.concatenate(drawn), axis=0)


@pytest.mark.parametrize("bins", [5, 20])
def test_marks_are_the_mean_prediction_and_the_frequency_of_each_bin(axis, bins):
    assert check(Y, P).plot(axis, bins=bins, curve="binned", faint=True) is axis
    cell = np.minimum((P * bins).astype(int), bins - 1)
    expected = [(P[cell == b].mean(), Y[cell == b].mean()) for b in range(bins)]
    np.testing.assert_allclose(marks_of(axis), expected)


def test_the_band_is_the_figures(axis):
    result = check(Y, P)
    result.plot(axis, curve="binned", band="consistency", bins=10)
    table = FIGURES["reliability"].prepare(result, curve="binned", band="consistency", bins=10).to_frame()
    corners = axis.patches[0].get_xy()
    for name in ("band_lower", "band_upper"):
        for x, y in table[["mean_p", name]].to_numpy():
            assert np.isclose(corners, (x, y)).all(axis=1).any()


def test_steps_are_the_isotonic_regression(axis):
    result = check(Y, P)
    result.plot(axis, curve="corp")
    order = np.argsort(P)
    (line,) = [each for each in axis.lines if len(each.get_xdata()) == len(P)]
    np.testing.assert_allclose(line.get_xdata(), P[order])
    np.testing.assert_allclose(line.get_ydata(), IsotonicRegression().fit_transform(P, Y)[order], atol=1e-9)


def test_axes_in_log_odds_hold_log_odds_and_ticks_in_percent(axis):
    p = P * 0.4 + 0.001
    y = (RNG.random(800) < p).astype(int)
    check(y, p).plot(axis, curve="binned", bins=8, binning="quantile", axes="log_odds")
    means = np.sort(p).reshape(8, 100).mean(axis=1)
    np.testing.assert_allclose(marks_of(axis)[:, 0], np.log(means / (1 - means)))
    assert all(tick.get_text().endswith(" %") for tick in axis.get_xticklabels())


def test_names_are_shown_as_text_and_in_the_colours_of_the_figure(axis):
    names = {"_forest $x$": P, "boosting <b>": P**2}
    check(Y, names).plot(axis)
    legend = axis.get_legend()
    shown = [text.get_text().replace("\u200b", "").replace(r"\$", "$") for text in legend.get_texts()]
    assert shown == list(names)
    colours = [mpl.colors.to_hex(line.get_color()).upper() for line in legend.get_lines()]
    assert colours == [MARKS[name].color for name in names]
    axis.figure.canvas.draw()  # a formula or a name that is left out would fail here


def test_one_model_needs_no_legend_and_a_figure_of_its_own_is_square():
    axis = check(Y, P).plot(theme=DARK)
    assert axis.get_legend() is None
    assert axis.get_aspect() == 1
    width, height = axis.figure.get_size_inches()
    assert width == height
    pyplot.close(axis.figure)


def test_of_k_classes_one_class_or_the_confidence(axis):
    table = RNG.dirichlet([1, 1, 1], 500)
    label = [RNG.choice(3, p=row) for row in table]
    check(label, table).plot(axis, k=2, curve="binned", bins=4, faint=True)
    cell = np.minimum((table[:, 2] * 4).astype(int), 3)
    np.testing.assert_allclose(marks_of(axis)[:, 0], [table[cell == b, 2].mean() for b in range(4)])


def test_what_is_no_axis_or_no_option_is_refused_by_name(axis):
    with pytest.raises(InputError, match="ax must .*matplotlib Axes.*Figure"):
        check(Y, P).plot(axis.figure)
    with pytest.raises(InputError, match="colour"):
        check(Y, P).plot(axis, colour="red")


def test_without_matplotlib_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(InputError, match="matplotlib, which is not installed"):
        check(Y, P).plot()
