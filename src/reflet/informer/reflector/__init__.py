"""Keeps a sink equal to a remote collection: list, watch, and start over."""
