"""The version of this package, read by the build and by the User-Agent."""

__version__ = "0.1.0"
"""The version of this package."""
