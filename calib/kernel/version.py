"""Version of this package, written into files."""

__version__ = "0.1.0"
