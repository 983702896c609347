"""Read a file, list its problems, make a Dataset of it, and encode its columns as a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib.kernel import lazy

if TYPE_CHECKING:
    from calib.data.columns import Column, columns_like, inspect
    from calib.data.counting import COUNT, count_scores
    from calib.data.database import Connection, connection, connections, digest_of
    from calib.data.errors import DataError, ReadingQuestion, TooLargeError, TooManyRowsError
    from calib.data.folder import Folder, OpenTable
    from calib.data.join import FILE_PART, join_tables
    from calib.data.label import class_counts, guess_target, target_candidates, tidy_labels
    from calib.data.large_file import LargeFile, open_if_many, open_large
    from calib.data.large_query import LargeQuery, open_query
    from calib.data.matrix import Matrix, preprocessor
    from calib.data.predictions import prepare_predictions
    from calib.data.prepare import prepare
    from calib.data.read import TableFile, read_confined, read_table, unchanged
    from calib.data.relation import FrameRelation, Relation
    from calib.data.roles import PARTS, ROLES, may_count, weight_meaning
    from calib.data.samples import DEFAULT_SAMPLE, SAMPLES, Sample, fetch_openml, load_sample, sample_table
    from calib.data.sampling import Rest, draw_rows
    from calib.data.score_columns import evaluate_or_train, looks_like_predictions, score_columns
    from calib.data.summary import class_shares, summarise_columns
    from calib.data.table import LEARN_ROWS, WEIGHT_AS, Table, reading_of
    from calib.data.validate import validate

lazy.attach(__name__)


__all__ = [
    "COUNT",
    "DEFAULT_SAMPLE",
    "FILE_PART",
    "LEARN_ROWS",
    "PARTS",
    "ROLES",
    "SAMPLES",
    "WEIGHT_AS",
    "Column",
    "Connection",
    "DataError",
    "Folder",
    "FrameRelation",
    "LargeFile",
    "LargeQuery",
    "Matrix",
    "OpenTable",
    "ReadingQuestion",
    "Relation",
    "Rest",
    "Sample",
    "Table",
    "TableFile",
    "TooLargeError",
    "TooManyRowsError",
    "class_counts",
    "class_shares",
    "columns_like",
    "connection",
    "connections",
    "count_scores",
    "digest_of",
    "draw_rows",
    "evaluate_or_train",
    "fetch_openml",
    "guess_target",
    "inspect",
    "join_tables",
    "load_sample",
    "looks_like_predictions",
    "may_count",
    "open_if_many",
    "open_large",
    "open_query",
    "prepare",
    "prepare_predictions",
    "preprocessor",
    "read_confined",
    "read_table",
    "reading_of",
    "sample_table",
    "score_columns",
    "summarise_columns",
    "target_candidates",
    "tidy_labels",
    "unchanged",
    "validate",
    "weight_meaning",
]
