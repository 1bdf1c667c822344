"""Reflet: the configuration that Kubernetes would give a pod, for any process, kept fresh."""

from reflet._version import __version__

__all__ = ["__version__"]
