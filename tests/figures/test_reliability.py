"""The reliability diagram draws the numbers of ``calib.curves``, on fixed axes, and says what they come to."""

import re

import numpy as np
import pytest

from calib.curves import binned_curve, corp_curve, smooth_curve
from calib.figures import DARK, FIGURES, LIGHT, MARKS, number
from calib.figures.reliability import FEW
from tests.figures.evaluations import evaluation

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
    said = case(bins=bins, binning=binning)
    table = ENTRY.prepare(said).to_frame()
    assert list(table["calibrator"].unique()) == list(METHODS)
    for key in METHODS:
        curve = binned_curve(said.y, said.predictions[key].p, bins=bins, strategy=binning)
        rows = table[table["calibrator"] == key]
        for name in ("mean_p", "observed", "count", "lower", "upper", "band_lower", "band_upper"):
            np.testing.assert_array_equal(rows[name], getattr(curve, name))


def test_its_steps_and_smooth_lines_are_those_of_the_curves():
    said = case(curve="corp")
    table = ENTRY.prepare(said).to_frame()
    expected = corp_curve(said.y, said.predictions["platt"].p)
    rows = table[table["calibrator"] == "platt"]
    np.testing.assert_array_equal(rows["p"], expected.p)
    np.testing.assert_array_equal(rows["recalibrated"], expected.recalibrated)
    said = case(curve="smoothed")
    record = ENTRY.prepare(said)
    np.testing.assert_array_equal(
        record.curves["platt"].smoothed, smooth_curve(said.y, said.predictions["platt"].p).smoothed
    )


def test_every_bin_is_drawn_where_it_is_and_says_its_count():
    said = case(bins=20)
    figure = ENTRY.draw(ENTRY.prepare(said))
    for key in METHODS:
        curve = binned_curve(said.y, said.predictions[key].p, bins=20)
        marks = [t for t in traces(figure, key) if t.customdata is not None and "markers" in t.mode]
        drawn = np.vstack([coordinates(trace) for trace in marks])
        filled = curve.count > 0
        expected = np.column_stack([curve.mean_p, curve.observed])[filled]
        np.testing.assert_allclose(drawn[np.argsort(drawn[:, 0])], expected[np.argsort(expected[:, 0])])
        counts = sorted(point[3] for trace in marks for point in trace.customdata)
        assert counts == sorted(curve.count[filled])


def test_bins_with_few_rows_are_faint_and_said_so():
    said = case(bins=50)
    record = ENTRY.prepare(said)
    few = sum(int(((curve.count > 0) & (curve.count < FEW)).sum()) for curve in record.bins.values())
    assert few > 0
    assert f"{few} bin(s) with fewer than {FEW} rows" in record.caption
    figure = ENTRY.draw(record)
    for key in METHODS:
        for trace in traces(figure, key):
            if trace.customdata is not None and "markers" in trace.mode:
                sparse = {point[3] < FEW for point in trace.customdata}
                assert len(sparse) == 1
                assert (trace.marker.opacity <= 0.4) == sparse.pop()
    assert "Faint marks" not in ENTRY.prepare(case(bins=2, n=600)).caption


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_view_is_drawn_on_the_same_axes_in_colours_of_its_own(kind, band, theme):
    figure = ENTRY.draw(ENTRY.prepare(case(curve=kind, band=band)), theme)
    assert figure.layout.xaxis.range == figure.layout.yaxis.range == (-0.02, 1.02)
    assert figure.layout.xaxis.fixedrange
    assert figure.layout.yaxis.fixedrange
    assert figure.layout.yaxis.scaleanchor == "x"  # square
    assert figure.layout.template.layout.paper_bgcolor == theme.paper
    written = figure.to_json()
    assert "#0000" not in written
    assert len(written) < 2_000_000
    for key in METHODS:
        assert MARKS[key].color in written
    inks = {c.upper() for c in re.findall(r"#[0-9a-fA-F]{6}", written)}
    assert inks <= {ink.upper() for ink in vars(theme).values() if isinstance(ink, str)} | {
        mark.color.upper() for mark in MARKS.values()
    }


def test_each_calibrator_stands_once_in_the_legend_with_its_own_marker():
    figure = ENTRY.draw(ENTRY.prepare(case()))
    shown = [trace for trace in figure.data if trace.showlegend is not False]
    assert [trace.name for trace in shown] == ["Uncalibrated", "Platt", "Isotonic", "Venn–Abers"]
    assert [trace.marker.symbol for trace in shown] == [MARKS[key].symbol for key in METHODS]


def test_the_title_is_the_finding():
    said = case()
    brier, ece = said.metrics["brier"], said.metrics["ece"]
    best = brier.drop("none").idxmin()
    title = ENTRY.prepare(said).title
    if brier[best] < brier["none"]:
        assert f"from {number(brier['none'])} to {number(brier[best])}" in title
        assert f"from {number(ece['none'])} to {number(ece[best])}" in title
    else:
        assert title == f"No calibrator lowers the Brier score of {number(brier['none'])} here"
    alone = ENTRY.prepare(said, calibrators=["none"]).title
    assert alone == f"Uncalibrated: Brier score {number(brier['none'])}, ECE {number(ece['none'])}"


def test_the_words_for_the_blind_name_every_ece():
    said = case()
    alt = ENTRY.prepare(said).alt
    for key in METHODS:
        assert f"ECE {number(said.metrics.loc[key, 'ece'])}" in alt
    assert f"{len(said.y)} test rows" in alt


def test_only_the_calibrators_asked_for_are_drawn():
    record = ENTRY.prepare(case(), calibrators=["none", "isotonic", "beta"])
    assert list(record.curves) == ["none", "isotonic"]  # beta is not in this evaluation


def test_a_hundred_thousand_rows_stay_a_small_figure():
    said = case(n=100_000)
    for kind in KINDS:
        view = said.with_view(said.recipe.replace(curve=kind, band="confidence"))
        assert len(ENTRY.draw(ENTRY.prepare(view)).to_json()) < 500_000


def test_no_calibrator_gives_an_empty_diagram_with_its_axes():
    record = ENTRY.prepare(case(), calibrators=["beta"])
    assert record.title == "No calibrator can answer here"
    assert record.to_frame().empty
    assert ENTRY.draw(record).layout.xaxis.range == (-0.02, 1.02)
