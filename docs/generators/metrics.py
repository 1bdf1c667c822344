"""The numbers that Reflet reports, from the table that gives them to Prometheus.

Owns: the table's form.  What kind a metric is follows from its name, by Prometheus' own
conventions, which ``tests/unit/adapters/test_prometheus.py`` holds the names to.
"""

from __future__ import annotations

from reflet.adapters.prometheus import BUCKETS, HELP


def markdown() -> str:
    """List every metric with its kind and meaning."""
    lines = ["| metric | kind | what it says |", "|---|---|---|"]
    lines += [f"| `{name}` | {kind(name)} | {text} |" for name, text in sorted(HELP.items())]
    buckets = ", ".join(f"{bucket:g}" for bucket in BUCKETS)
    return "\n".join([*lines, "", f"Histograms have buckets up to {buckets} seconds."])


def kind(name: str) -> str:
    """The kind of number that a name stands for."""
    if name.endswith("_total"):
        return "counter"
    if name.endswith(("_duration_seconds", "_interval_seconds")):
        return "histogram"
    return "gauge"
