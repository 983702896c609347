"""Name and version of the distribution; the name that is imported, calib, belongs to another project on PyPI."""

__version__ = "0.1.0"
DISTRIBUTION_NAME = "calibration-explorer"


def to_install(extra: str) -> str:
    """Return the command that installs what an extra of pyproject.toml needs.

    >>> to_install("onnx")
    'pip install "calibration-explorer[onnx]"'
    """
    return f'pip install "{DISTRIBUTION_NAME}[{extra}]"'
