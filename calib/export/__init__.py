"""Exported files and the way back: CSV, HTML, pictures, reports, Recipes, Python source and calibrators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib.kernel import lazy

if TYPE_CHECKING:
    from calib.export.bundle import bundle
    from calib.export.calibrators import (
        calibrator_json,
        check_exportable,
        read_calibrator,
        saved_of,
        write_calibrator,
    )
    from calib.export.chromium import NoBrowser, can_draw, draw_files, find_chromium, print_pdf
    from calib.export.experiments import Run, experiment_html, run_experiment
    from calib.export.pages import standalone_html
    from calib.export.programs import (
        LANGUAGES,
        Language,
        check_written,
        write_javascript,
        write_onnx,
        write_program,
        write_python,
        write_sql,
    )
    from calib.export.recipes import read_recipes, write_recipes
    from calib.export.report import report_html
    from calib.export.saved import Applied, SavedCalibrator, number_columns
    from calib.export.source import WORD_SOURCES, chart_source, page_source, python_source, study_command
    from calib.export.studies import (
        drawings,
        latex_table,
        markdown_table,
        readable,
        study_archive,
        study_bundle,
        study_html,
    )
    from calib.export.tables import WRITERS, print_metrics, safe_csv, side_by_side_table
    from calib.export.titled import subtitle, titled

lazy.attach(__name__)


__all__ = [
    "LANGUAGES",
    "WORD_SOURCES",
    "WRITERS",
    "Applied",
    "Language",
    "NoBrowser",
    "Run",
    "SavedCalibrator",
    "bundle",
    "calibrator_json",
    "can_draw",
    "chart_source",
    "check_exportable",
    "check_written",
    "draw_files",
    "drawings",
    "experiment_html",
    "find_chromium",
    "latex_table",
    "markdown_table",
    "number_columns",
    "page_source",
    "print_metrics",
    "print_pdf",
    "python_source",
    "read_calibrator",
    "read_recipes",
    "readable",
    "report_html",
    "run_experiment",
    "safe_csv",
    "saved_of",
    "side_by_side_table",
    "standalone_html",
    "study_archive",
    "study_bundle",
    "study_command",
    "study_html",
    "subtitle",
    "titled",
    "write_calibrator",
    "write_javascript",
    "write_onnx",
    "write_program",
    "write_python",
    "write_recipes",
    "write_sql",
]
