"""What leaves the house: CSV, HTML, reports."""

from calib.export.pages import report_html, standalone_html
from calib.export.tables import safe_csv

__all__ = ["report_html", "safe_csv", "standalone_html"]
