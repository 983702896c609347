"""Who is it wrong for? An audit of all segments of a table with an error rate that holds after the search."""

from calib.analysis.audit.search import ALPHA, Audit, audit

__all__ = ["ALPHA", "Audit", "audit"]
