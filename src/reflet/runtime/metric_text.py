"""The agent's numbers, in the text form that Prometheus reads.

Is a ``Metrics`` that needs no library.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from typing import Final

BUCKETS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0)
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_Labels = tuple[tuple[str, str], ...]


class MetricText:
    """Keeps numbers and writes them down.  May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[str, dict[_Labels, float]] = {}
        self._gauges: dict[str, dict[_Labels, float]] = {}
        self._histograms: dict[str, dict[_Labels, list[float]]] = {}

    def count(self, name: str, amount: float = 1, /, **labels: str) -> None:
        """Add ``amount`` to a counter."""
        key = _key(labels)
        with self._lock:
            series = self._counters.setdefault(name, {})
            series[key] = series.get(key, 0.0) + amount

    def gauge(self, name: str, value: float, /, **labels: str) -> None:
        """Set a value that goes up and down."""
        with self._lock:
            self._gauges.setdefault(name, {})[_key(labels)] = value

    def observe(self, name: str, seconds: float, /, **labels: str) -> None:
        """Add one duration to a histogram."""
        key = _key(labels)
        with self._lock:
            series = self._histograms.setdefault(name, {})
            # The buckets, then the sum and the count.
            cells = series.setdefault(key, [0.0] * (len(BUCKETS) + 2))
            for index, limit in enumerate(BUCKETS):
                if seconds <= limit:
                    cells[index] += 1
            cells[-2] += seconds
            cells[-1] += 1

    def text(self) -> str:
        """Everything that was reported so far."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        for kind, values in (("counter", self._counters), ("gauge", self._gauges)):
            for name, series in sorted(values.items()):
                yield f"# TYPE {name} {kind}"
                for labels, value in sorted(series.items()):
                    yield f"{name}{_labels(labels)} {_number(value)}"
        for name, histogram in sorted(self._histograms.items()):
            yield f"# TYPE {name} histogram"
            for labels, cells in sorted(histogram.items()):
                for limit, value in zip(BUCKETS, cells, strict=False):
                    bucket = _labels((*labels, ("le", _number(limit))))
                    yield f"{name}_bucket{bucket} {_number(value)}"
                bucket = _labels((*labels, ("le", "+Inf")))
                yield f"{name}_bucket{bucket} {_number(cells[-1])}"
                yield f"{name}_sum{_labels(labels)} {_number(cells[-2])}"
                yield f"{name}_count{_labels(labels)} {_number(cells[-1])}"


def _key(labels: dict[str, str]) -> _Labels:
    return tuple(sorted(labels.items()))


def _labels(labels: _Labels) -> str:
    if not labels:
        return ""
    inner = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{inner}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) else repr(value)
