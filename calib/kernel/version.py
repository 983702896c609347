"""The version of this package, for what it writes into files."""

__version__ = "0.1.0"
