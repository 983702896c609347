"""Studies: data sets × setups × folds, and what their results say."""

from calib.study.published import COMPARISONS, PAPERS, as_rows, beside, likely_paper, published_values
from calib.study.rows import check_rows, measure, measured
from calib.study.summary import MetricSummary, pooled_predictions, pooled_values, summarise

__all__ = [
    "COMPARISONS",
    "PAPERS",
    "MetricSummary",
    "as_rows",
    "beside",
    "check_rows",
    "likely_paper",
    "measure",
    "measured",
    "pooled_predictions",
    "pooled_values",
    "published_values",
    "summarise",
]
