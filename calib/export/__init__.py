"""What leaves the house, and what comes back: CSV, HTML, reports, calibrators."""

from calib.export.calibrators import calibrator_json, check_exportable, read_calibrator, write_calibrator
from calib.export.pages import report_html, standalone_html
from calib.export.saved import Applied, SavedCalibrator, number_columns
from calib.export.tables import safe_csv

__all__ = [
    "Applied",
    "SavedCalibrator",
    "calibrator_json",
    "check_exportable",
    "number_columns",
    "read_calibrator",
    "report_html",
    "safe_csv",
    "standalone_html",
    "write_calibrator",
]
