"""Calibration Explorer's engine: calibrators, placements, metrics, synthetic data and figures, without Streamlit."""

__version__ = "0.1.0"
