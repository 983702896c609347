"""The reliability diagram draws the numbers of ``calib.analysis.curves``, on fixed axes, and says what they come to."""

import re

import numpy as np
import pandas as pd
import pytest

from calib import check
from calib.analysis.curves import BAND_REPEATS, FEW_IN_BIN, binned_curve, corp_curve, histogram, smooth_curve
from calib.analysis.differences import differences
from calib.analysis.recommendation.advice import LEAVE, headline, recommend
from calib.analysis.selection import selected_rows
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures import DARK, FIGURES, LIGHT, MARKS
from calib.figures.many import COLOURED
from calib.figures.theme import legible
from calib.kernel.checks import InputError
from calib.kernel.wording import brief, counted, number
from calib.metrics import METRICS
from calib.metrics.confidence_intervals import confidence_interval
from tests.analysis.given import given_evaluation, jitter, known_truth
from tests.analysis.recommendation.test_rule import certain_and_wrong
from tests.figures.evaluations import evaluation
from tests.saying import assert_says

ENTRY = FIGURES["reliability"]
METHODS = ("none", "platt", "isotonic", "venn_abers")
KINDS = ("binned", "corp", "smoothed")
BANDS = ("none", "confidence", "consistency")


def case(**changes):
    return evaluation(**{"calibrators": METHODS, "n": 600} | changes)


def traces(figure, key):
    return [trace for trace in figure.data if trace.legendgroup == key]


def coordinates(trace):
    return np.column_stack([np.asarray(trace.x, dtype=float), np.asarray(trace.y, dtype=float)])


@pytest.mark.parametrize("binning", ["uniform", "quantile"])
@pytest.mark.parametrize("bins", [5, 20])
def test_its_numbers_are_those_of_the_binned_curve(bins, binning):
    evaluation = case(bins=bins, binning=binning)
    table = ENTRY.prepare(evaluation).to_frame()
    assert list(table["calibrator"].unique()) == list(METHODS)
    for key in METHODS:
        curve = binned_curve(evaluation.y, evaluation.predictions[key].p, bins=bins, strategy=binning)
        rows = table[table["calibrator"] == key]
        for name in ("mean_p", "observed", "count", "lower", "upper", "band_lower", "band_upper"):
            np.testing.assert_array_equal(rows[name], getattr(curve, name))


def test_its_steps_and_smooth_lines_are_those_of_the_curves():
    evaluation = case(curve="corp")
    table = ENTRY.prepare(evaluation).to_frame()
    expected = corp_curve(evaluation.y, evaluation.predictions["platt"].p)
    rows = table[table["calibrator"] == "platt"]
    np.testing.assert_array_equal(rows["p"], expected.p)
    np.testing.assert_array_equal(rows["recalibrated"], expected.recalibrated)
    evaluation = case(curve="smoothed")
    record = ENTRY.prepare(evaluation)
    np.testing.assert_array_equal(
        record.curves["platt"].smoothed,
        smooth_curve(evaluation.y, evaluation.predictions["platt"].p).smoothed,
    )


def test_every_bin_is_drawn_where_it_is_and_says_its_count():
    evaluation = case(bins=20)
    figure = ENTRY.draw(ENTRY.prepare(evaluation, faint=True))
    for key in METHODS:
        curve = binned_curve(evaluation.y, evaluation.predictions[key].p, bins=20)
        marks = [t for t in traces(figure, key) if t.customdata is not None and "markers" in t.mode]
        drawn = np.vstack([coordinates(trace) for trace in marks])
        filled = curve.count > 0
        expected = np.column_stack([curve.mean_p, curve.observed])[filled]
        np.testing.assert_allclose(drawn[np.argsort(drawn[:, 0])], expected[np.argsort(expected[:, 0])])
        counts = sorted(point[3] for trace in marks for point in trace.customdata)
        assert counts == sorted(curve.count[filled])


def test_bins_with_few_rows_are_faint_and_said_so():
    said = case(bins=50)
    record = ENTRY.prepare(said, faint=True)
    few = sum(int(((curve.count > 0) & (curve.count < FEW_IN_BIN)).sum()) for curve in record.bins.values())
    assert few > 0
    assert f"{counted(few, 'bin')} with fewer than {FEW_IN_BIN} rows" in record.caption
    figure = ENTRY.draw(record)
    for key in METHODS:
        for trace in traces(figure, key):
            if trace.customdata is not None and "markers" in trace.mode:
                sparse = {point[3] < FEW_IN_BIN for point in trace.customdata}
                assert len(sparse) == 1
                assert (trace.marker.opacity <= 0.4) == sparse.pop()
    assert "Faint marks" not in ENTRY.prepare(case(bins=2, n=600), faint=True).caption
    left_out = ENTRY.prepare(said)
    assert_says(left_out.caption, "Not drawn", counted(few, "bin"), f"fewer than {FEW_IN_BIN} rows")
    counts = [
        point[3]
        for trace in ENTRY.draw(left_out).data
        if trace.customdata is not None and "markers" in trace.mode
        for point in trace.customdata
    ]
    assert min(counts) >= FEW_IN_BIN
    pd.testing.assert_frame_equal(left_out.to_frame(), record.to_frame())


def test_a_curve_with_few_rows_in_every_bin_keeps_its_marks():
    y, truth, _, _ = known_truth(7, 60)
    assert ENTRY.prepare(given_evaluation(y, {"none": truth}, bins=50)).faint


@pytest.mark.parametrize("axes", ["probability", "log_odds"])
@pytest.mark.parametrize("kind", KINDS)
def test_lines_bear_their_names_and_no_name_lies_on_another_or_on_a_line(kind, axes):
    figure = ENTRY.draw(ENTRY.prepare(case(curve=kind, n=4000), axes=axes), DARK)
    low, high = figure.layout.xaxis.range
    boxes, lines = [], []
    for trace in figure.data:
        at = (coordinates(trace) - low) / (high - low) if trace.yaxis is None else np.empty((0, 2))
        if trace.mode != "lines+text":
            lines += [at] if trace.legendgroup and trace.fill != "toself" else []
            continue
        name, side = trace.text[1], trace.textposition
        assert name == label_of(trace.legendgroup)
        width, height = len(name) * 13 / 490, 28 / 490  # 24 pixels in a room, on a plot of 490
        x, y = at[1]
        boxes.append((x - width if side == "middle left" else x, y - height / 2, width, height))
    assert len(boxes) == COLOURED
    (corner,) = figure.layout.annotations
    corner_lines = corner.text.split("<br>")
    wide, high = max(map(len, corner_lines)) * 13 / 490, len(corner_lines) * 28 / 490
    assert not any(x + width > 1 - wide and y < high for x, y, width, _ in boxes)
    for i, (x, y, width, height) in enumerate(boxes):
        assert 0 <= x <= x + width <= 1
        assert 0 <= y <= y + height <= 1
        for u, v, other, tall in boxes[:i]:
            assert x + width < u or u + other < x or y + height < v or v + tall < y
        for points in lines:
            assert not ((points > (x, y)) & (points < (x + width, y + height))).all(axis=1).any()


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_view_is_drawn_on_the_same_axes_in_colours_of_its_own(kind, band, theme):
    figure = ENTRY.draw(ENTRY.prepare(case(curve=kind, band=band)), theme)
    assert figure.layout.xaxis.range == figure.layout.yaxis.range == (-0.02, 1.02)
    assert not figure.layout.xaxis.fixedrange  # zoom
    assert not figure.layout.yaxis.fixedrange
    assert figure.layout.yaxis.scaleanchor == "x"  # square
    assert figure.layout.template.layout.paper_bgcolor == theme.paper
    written = figure.to_json()
    assert "#0000" not in written
    assert len(written) < 2_000_000
    for key in METHODS:
        assert theme.mark(key).color in written
    inks = {c.upper() for c in re.findall(r"#[0-9a-fA-F]{6}", written)}
    marks = {theme.mark(key).color for key in MARKS}
    assert inks <= {legible(color, theme) for color in marks} | marks | {
        ink.upper() for ink in vars(theme).values() if isinstance(ink, str)
    }


def test_the_axis_of_a_confidence_is_named_so():
    p = np.linspace(0.05, 0.9, 60)
    found = check(np.arange(60) % 3, np.column_stack([p, (1 - p) / 3, 2 * (1 - p) / 3]))
    for key in ("reliability", "smooth_calibration", "distribution"):
        drawn = [FIGURES[key].draw(FIGURES[key].prepare(found.of(k))) for k in ("top", 0)]
        titles = [figure.layout.xaxis.title.text for figure in drawn]
        assert titles == ["Confidence", "Predicted probability"]


def test_each_calibrator_stands_once_in_the_legend_with_its_own_marker():
    figure = ENTRY.draw(ENTRY.prepare(case()))
    shown = [trace for trace in figure.data if trace.showlegend is not False]
    assert [trace.name for trace in shown] == [
        "Uncalibrated",
        "Platt scaling",
        "Isotonic regression",
        "Venn–Abers",
    ]
    assert [trace.marker.symbol for trace in shown] == [MARKS[key].symbol for key in METHODS]


def test_the_title_is_the_finding():
    evaluation = case()
    brier, ece = evaluation.metrics["brier"], evaluation.metrics["ece"]
    better = differences(evaluation, ("brier",)).table.query("upper < 0").set_index("calibrator")["value"]
    title = ENTRY.prepare(evaluation).title
    best = recommend(evaluation).choice
    if best in better.index:
        assert f"from {brief(brier['none'])} to {brief(brier[best])}" in title
        assert (
            f"from {brief(ece['none'])} to {brief(ece[best])}" in title or "no clear change in ECE" in title
        )
    else:
        assert title == headline(evaluation)
    alone = ENTRY.prepare(evaluation, calibrators=["none"]).title
    assert brief(brier["none"]) in alone


def test_the_corner_has_slope_and_o_e_with_their_intervals_and_the_rows():
    evaluation = case()
    record = ENTRY.prepare(evaluation)
    y, p = evaluation.y, evaluation.predictions["none"].p
    for line, key in zip(record.corner, ("slope", "observed_expected"), strict=False):
        numbers = [float(each.replace("−", "-")) for each in re.findall(r"−?\d[\d.]*", line)]
        expected = METRICS[key].function(y, p), *confidence_interval(key, y, p)
        assert numbers == pytest.approx(expected, rel=0.01)
    assert record.corner[-1] == f"n = {len(y):,}"
    assert [a.text for a in ENTRY.draw(record).layout.annotations] == ["<br>".join(record.corner)]


def test_the_title_agrees_with_the_recommendation_where_only_the_log_loss_speaks_for_it():
    y, truth, _, rng = known_truth(7, 600)
    evaluation = given_evaluation(
        y, {"none": certain_and_wrong(truth, y), "platt": jitter(truth, rng, 0.01), "beta": truth[::-1]}
    )
    assert recommend(evaluation).answer == "Use Platt scaling."
    assert_says(ENTRY.prepare(evaluation).title, "Platt scaling", "log loss finite")
    assert ENTRY.prepare(
        given_evaluation(y[:18], {"none": truth[:18], "platt": truth[:18] / 2})
    ).title.startswith("Too few rows")


@pytest.mark.parametrize(
    ("seed", "rows", "shift", "noise", "answer", "title"),
    [
        (
            5,
            1500,
            0.03,
            0.035,
            "Use Platt scaling.",
            "Platt scaling changes the Brier score ",
        ),
        (5, 1500, 0.10, 0.035, "Use Platt scaling.", "Platt scaling lowers the Brier score "),
        (5, 300, 0.06, 0.04, "Use Platt scaling.", "Platt scaling changes the Brier score "),
        (3, 1500, 0.0, 0.035, LEAVE, "No sign of miscalibration in 1,500 rows"),
    ],
)
def test_the_title_says_what_the_advice_beside_it_says(seed, rows, shift, noise, answer, title):
    y, truth, said, rng = known_truth(seed, rows, lambda p: np.clip(p + shift, 0.02, 0.98))
    found = given_evaluation(y, {"none": said, "platt": jitter(truth, rng, noise)})
    assert recommend(found).answer == answer
    assert ENTRY.prepare(found).title.startswith(title)


def test_the_words_for_the_blind_name_every_ece():
    evaluation = case()
    alt = ENTRY.prepare(evaluation).alt
    for key in METHODS:
        assert f"ECE {number(evaluation.metrics.loc[key, 'ece'])}" in alt
    assert f"{len(evaluation.y)} test rows" in alt


def test_only_the_calibrators_asked_for_are_drawn():
    record = ENTRY.prepare(case(), calibrators=["none", "isotonic", "beta"])
    assert list(record.curves) == ["none", "isotonic"]  # beta is not in this evaluation


def test_a_hundred_thousand_rows_stay_a_small_figure():
    predicted = case(n=100_000)
    for kind in KINDS:
        view = predicted.with_view(predicted.recipe.replace(curve=kind, band="confidence"))
        assert len(ENTRY.draw(ENTRY.prepare(view)).to_json()) < 510_000


def test_no_calibrator_gives_an_empty_diagram_with_its_axes():
    record = ENTRY.prepare(case(), calibrators=["beta"])
    assert_says(record.title, "None", "chosen calibrators")
    assert record.to_frame().empty
    assert ENTRY.draw(record).layout.xaxis.range == (-0.02, 1.02)


# --- bands, and rows picked
# -----------------------------------------------------------------------------------------


def viewed(**view):
    e = evaluation(calibrators=METHODS)
    return e.with_view(e.recipe.replace(**view))


def lines_of(figure, key):
    return [t for t in traces(figure, key) if t.mode == "lines" and t.yaxis is None]


def drawn(e, **options):
    record = ENTRY.prepare(e, **options)
    return record, ENTRY.draw(record)


def test_the_strong_line_stops_at_bins_with_few_rows_and_these_are_numbered_where_there_is_room():
    e = viewed(curve="binned", bins=40)
    record, figure = drawn(e, calibrators=("none", "platt"), faint=True)
    curves = [binned_curve(e.y, e.predictions[key].p, bins=40) for key in ("none", "platt")]
    few = [(c.count > 0) & (c.count < FEW_IN_BIN) for c in curves]
    assert f"{counted(int(sum(map(np.sum, few))), 'bin')} with fewer than {FEW_IN_BIN} rows" in record.caption
    for key, curve, thin in zip(("none", "platt"), curves, few, strict=True):
        faint = next(t for t in traces(figure, key) if t.mode == "markers+text")
        assert list(faint.text) == [str(n) for n in curve.count[thin]]
        assert faint.marker.opacity < 0.5
        (line,) = [t for t in lines_of(figure, key) if t.line.width > 2 and np.isnan(t.y).any()]
        np.testing.assert_array_equal(
            np.isnan(line.y), curve.count < FEW_IN_BIN
        )  # the strong line stops there


def test_smoothed_lines_and_the_bins_beside_them_are_those_of_the_curves():
    e = viewed(curve="smoothed")
    record, figure = drawn(e)
    for key, predictions in e.predictions.items():
        curve = smooth_curve(e.y, predictions.p)
        faint, thin, strong = (line for line in lines_of(figure, key) if line.fill is None)
        np.testing.assert_allclose(faint.x, curve.p[curve.count >= FEW_IN_BIN])
        np.testing.assert_allclose(faint.y, curve.smoothed[curve.count >= FEW_IN_BIN])
        counts, edges = np.histogram(predictions.p, record.histograms[key].edges)
        near = counts[np.clip(np.searchsorted(edges, curve.p, "right") - 1, 0, len(counts) - 1)]
        for line, least in ((thin, 1), (strong, FEW_IN_BIN)):  # little ink where there are few rows
            hidden = (near < least) | (curve.count < FEW_IN_BIN)
            np.testing.assert_allclose(line.y, np.where(hidden, np.nan, curve.smoothed))
        assert faint.line.width <= thin.line.width < strong.line.width
        alphas = [float(line.line.color.rpartition(",")[2].rstrip(")")) for line in (faint, thin, strong)]
        assert alphas == sorted(set(alphas))
        lines = record.to_frame().query("calibrator == @key")
        bins = binned_curve(e.y, predictions.p, bins=10)
        filled = bins.count > 0
        np.testing.assert_array_equal(lines["count"], bins.count)
        expected = np.interp(bins.mean_p[filled], curve.p, curve.smoothed)
        np.testing.assert_allclose(lines["smoothed"][filled], expected)


def banded(record):
    """Chance is drawn for the person's own model alone, what is known for both that are drawn strong."""
    return record.leading[:1] if record.band == "consistency" else record.leading


@pytest.mark.parametrize("band", ["none", "consistency", "confidence"])
def test_steps_are_the_isotonic_fit_with_its_band(band):
    e = viewed(curve="corp", band=band)
    record, figure = drawn(e)
    for key, predictions in e.predictions.items():
        curve = corp_curve(e.y, predictions.p, band=band, repeats=BAND_REPEATS, random_state=e.recipe.seed)
        lines = record.to_frame().query("calibrator == @key")
        for name in ("p", "recalibrated", "count", "lower", "upper"):
            np.testing.assert_allclose(lines[name], getattr(curve, name))
        shapes = [t for t in figure.data if t.legendgroup == key and t.fill == "toself"]
        assert len(shapes) == (band != "none" and key in banded(record))
        if shapes:
            np.testing.assert_allclose(shapes[0].y, np.r_[curve.upper, curve.lower[::-1]])


@pytest.mark.parametrize("curve", ["binned", "smoothed"])
@pytest.mark.parametrize("band", ["consistency", "confidence"])
def test_bands_are_the_numbers_of_the_curves_and_translucent(curve, band):
    e = viewed(curve=curve, band=band)
    record, figure = drawn(e)
    for key in banded(record):
        known = record.curves[key]
        (shape,) = [t for t in figure.data if t.legendgroup == key and t.fill == "toself"]
        names = ("band_upper", "band_lower") if band == "consistency" else ("upper", "lower")
        rows = known.count >= FEW_IN_BIN
        upper, lower = (getattr(known, name)[rows] for name in names)
        x = (known.p if curve == "smoothed" else known.mean_p)[rows]
        expected = sorted(zip([*x, *x], [*upper, *lower], strict=True))
        found = sorted(point for point in zip(shape.x, shape.y, strict=True) if np.isfinite(point).all())
        np.testing.assert_allclose(found, expected)
        assert 0 < float(re.fullmatch(r"rgba\(.*, ([\d.]+)\)", shape.fillcolor).group(1)) < 0.3


def test_a_smooth_band_has_no_ink_where_there_are_no_rows():
    """Half of the rows near 0, half near 1: the curve passes between them, its band does not."""
    rng = np.random.default_rng(0)
    p = np.r_[rng.uniform(0, 0.05, 200), rng.uniform(0.95, 1, 200)]
    e = Evaluation.from_predictions((rng.random(400) < p).astype(int), p)
    record, figure = drawn(e.with_view(e.recipe.replace(curve="smoothed", band="consistency", bins=20)))
    (shape,) = [t for t in figure.data if t.fill == "toself"]
    assert np.isnan(shape.x).sum() == 1  # two shapes
    assert not ((shape.x > 0.05) & (shape.x < 0.95)).any()
    (key,) = record.curves
    line = next(t for t in lines_of(figure, key) if t.fill is None)
    assert not np.isnan(line.y).any()  # one line from end to end


def test_the_histogram_counts_every_row_and_the_rows_picked():
    e, selection = viewed(), ("platt:0.2:0.6",)
    _, figure = drawn(e, selection=selection)
    rows = selected_rows(e, selection)
    assert rows.size
    for key, predictions in e.predictions.items():
        whole, picked = (t for t in figure.data if t.legendgroup == key and t.yaxis == "y2")
        np.testing.assert_array_equal(whole.y[:-1], histogram(e.y, predictions.p, bins=10).count)
        np.testing.assert_array_equal(picked.y[:-1], histogram(e.y[rows], predictions.p[rows], bins=10).count)


def rings(figure):
    return {t.legendgroup: list(t.x) for t in figure.data if t.marker.symbol == "circle-open"}


def test_the_marks_whose_rows_are_picked_have_a_ring():
    e = viewed()
    _, figure = drawn(e, selection=("platt:0.2:0.4", "none:0.6:0.8"), faint=True)
    expected = {}
    for key, low, high in (("platt", 0.2, 0.4), ("none", 0.6, 0.8)):
        curve = binned_curve(e.y, e.predictions[key].p, bins=10)
        inside = (curve.edges[:-1] >= low - 1e-9) & (curve.edges[1:] <= high + 1e-9) & (curve.count > 0)
        expected[key] = list(curve.mean_p[inside])
    assert rings(figure) == expected
    assert rings(drawn(viewed())[1]) == {}


def test_a_diagram_beside_marks_the_same_rows_and_rings_nothing():
    e = viewed()
    picked = e.rows[selected_rows(e, ("platt:0.2:0.6",))]
    _, figure = drawn(e, picked=picked)
    assert rings(figure) == {}
    for key in METHODS:
        assert sum(t.y[:-1].sum() for t in figure.data if t.legendgroup == key and t.yaxis == "y2") == len(
            e.y
        ) + len(picked)


def test_every_click_knows_its_calibrator_and_range():
    for curve in ("binned", "smoothed", "corp"):
        _, figure = drawn(viewed(curve=curve))
        for trace in figure.data:
            for x, known in zip(
                trace.x, trace.customdata if trace.customdata is not None else (), strict=False
            ):
                key, low, high, count = known[:4]
                assert key == trace.legendgroup
                assert 0 <= low <= x <= high <= 1
                assert count > 0


def test_the_title_tells_the_finding_and_its_curves_are_strong():
    e = viewed()
    record, figure = drawn(e)
    table = e.metrics
    found = recommend(e)
    best = found.choice if found.choice in METHODS[1:] else table["brier"].drop("none").idxmin()
    assert record.leading == ("none", best)
    widths = {key: max(t.line.width for t in lines_of(figure, key)) for key in METHODS}
    assert min(widths["none"], widths[best]) > max(
        widths[key] for key in METHODS if key not in ("none", best)
    )
    assert record.title == headline(e)


def test_a_curve_is_worked_out_once_for_all_views(monkeypatch):
    import calib.analysis.curves as module

    e = viewed(bins=13)
    ENTRY.prepare(e)
    monkeypatch.setattr(module, "smooth_curve", None)
    monkeypatch.setattr(module, "binned_curve", None)
    ENTRY.prepare(e.with_view(e.recipe.replace(band="confidence")), selection=("none:0:0.5",))
    with pytest.raises(TypeError):
        ENTRY.prepare(e.with_view(e.recipe.replace(bins=14)))


@pytest.mark.parametrize(
    "view",
    [{"bins": 7}, {"binning": "quantile"}, {"curve": "corp", "band": "confidence"}, {"curve": "binned"}],
)
def test_a_view_given_explicitly_is_that_of_a_recipe(view):
    e = viewed()
    given, own = ENTRY.prepare(e, **view), ENTRY.prepare(viewed(**view))
    pd.testing.assert_frame_equal(given.to_frame(), own.to_frame())
    assert (given.title, given.caption, given.alt) == (own.title, own.caption, own.alt)
    with pytest.raises(InputError, match="bins must be"):
        ENTRY.prepare(e, bins=1)


def test_of_many_curves_the_strong_ones_carry_the_band():
    many = ("none", "platt", "isotonic", "beta", "venn_abers", "logistic")
    record = ENTRY.prepare(evaluation(calibrators=many), band="confidence")
    banded = [trace.legendgroup for trace in ENTRY.draw(record).data if trace.fill == "toself"]
    assert banded == [key for key in many if key in record.leading]
