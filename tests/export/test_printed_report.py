"""A report as PDF: full pages, with every heading and caption on the page of what follows."""

import html
import re

import pytest

from calib import Recipe, evaluate
from calib.export import chromium, report_html
from calib.export.tripod import ITEMS
from calib.sources import load
from tests.export.printed import largest_gaps, scales, texts

pytestmark = pytest.mark.usefixtures("chromium")
EMPTY = 0.25
SMALLEST = 0.95  # of the size of type that the style asks for
FOOTER = re.compile(r"^(CalibrationExplorer)?\d+of\d+(CalibrationExplorer)?")


def solid(text: str) -> str:
    """Without markup and spaces."""
    return "".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


@pytest.mark.parametrize(
    "fields",
    [
        {"data": "sample:digits", "model": "naive_bayes"},
        {"data": "sample:loans", "model": "naive_bayes", "calibrators": ("none", "platt"), "base_rate": 0.05},
        pytest.param({"data": "sample:rare_faults"}, marks=pytest.mark.soak),
        pytest.param(
            {"data": "sample:breast_cancer", "model": "naive_bayes", "evaluation": "folds"},
            marks=pytest.mark.soak,
        ),
        pytest.param(
            {"data": "sample:customers", "cluster": "customer_id", "split": "cluster"}, marks=pytest.mark.soak
        ),
    ],
    ids=["usual", "base rate", "rare", "folds", "clusters"],
)
def test_pages_are_full_and_nothing_is_lost_or_parted(fields):
    recipe = Recipe(**fields)
    check_pages(report_html(evaluate(recipe, load(recipe))).decode())


def test_pages_of_a_comparison_are_full_too(evaluations):
    check_pages(report_html(evaluations).decode())


def check_pages(written: str) -> None:
    """Print a report and look at its pages."""
    content = chromium.print_pdf(written)
    gaps, pages = largest_gaps(content), [FOOTER.sub("", page) for page in texts(content)]
    assert len(gaps) == len(pages) > 6
    assert max(gaps[1:-1]) < EMPTY
    assert min(scales(content)) > SMALLEST
    body = written.partition("<body>")[2]
    headings = [
        solid(text) for text in re.findall(r"<(?:h[123]|caption)[^>]*>(.*?)</(?:h[123]|caption)>", body)
    ]
    assert not [heading for heading in headings if heading not in "".join(pages)]
    listed = {solid(place) for items in ITEMS.values() for item in items for place in item.places}
    ends = [page for page in pages for heading in set(headings) - listed if page.endswith(heading)]
    assert not ends


def test_an_empty_page_is_seen():
    """The measure itself: a line, four fifths of a page of nothing, a line."""
    style = "@page {size: A4; margin: 14mm 14mm 18mm} body {margin: 0} div {height: 212mm}"
    page = f"<style>{style}</style>one<div></div>two"
    (gap,) = largest_gaps(chromium.print_pdf(page))
    assert gap == pytest.approx(0.8, abs=0.02)
    assert texts(chromium.print_pdf(page)) == ["onetwo"]
