"""Studies: a paper's protocol, or your own, over many data sets; resumable, on one machine or a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib.kernel import lazy

if TYPE_CHECKING:
    from calib.study.data import load_sets
    from calib.study.grid import Cell, Extent, extent, study_cells
    from calib.study.papers.printed import (
        COMPARISONS,
        PAPERS,
        as_rows,
        likely_paper,
        published_values,
        with_published,
    )
    from calib.study.protocol import Protocol, Setup
    from calib.study.reading import SHIPPED, load_protocol, read_protocol
    from calib.study.rows import check_rows, measure, measured
    from calib.study.runner import StudyProgress, Summary, run_study, study_progress
    from calib.study.store import STORES, Store, distinct_failures
    from calib.study.summary import MetricSummary, pooled_predictions, pooled_values, summarise

lazy.attach(__name__)


__all__ = [
    "COMPARISONS",
    "PAPERS",
    "SHIPPED",
    "STORES",
    "Cell",
    "Extent",
    "MetricSummary",
    "Protocol",
    "Setup",
    "Store",
    "StudyProgress",
    "Summary",
    "as_rows",
    "check_rows",
    "distinct_failures",
    "extent",
    "likely_paper",
    "load_protocol",
    "load_sets",
    "measure",
    "measured",
    "pooled_predictions",
    "pooled_values",
    "published_values",
    "read_protocol",
    "run_study",
    "study_cells",
    "study_progress",
    "summarise",
    "with_published",
]
