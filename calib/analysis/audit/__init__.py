"""Audit of all segments of a table, with an error rate that allows for the search."""

from calib.analysis.audit.search import ALPHA, Audit, audit

__all__ = ["ALPHA", "Audit", "audit"]
