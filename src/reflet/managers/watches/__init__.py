"""Streams that keep objects fresh: one for each object, or one for a namespace."""
