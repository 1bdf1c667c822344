"""What mechanisms report about themselves, and places to put it.

The ``Metrics`` protocol, the sink that drops everything, the sink that remembers everything for
tests, the guard around sinks of others, and ``MetricText``, which writes the text form that
Prometheus reads and needs no library.  Other monitoring systems are reached by an adapter that
has the three methods.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Iterator, Mapping
from typing import Final, Protocol, TypeAlias

logger = logging.getLogger(__name__)
_Series: TypeAlias = tuple[str, frozenset[tuple[str, str]]]
BUCKETS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0)
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_Labels = tuple[tuple[str, str], ...]


class Metrics(Protocol):
    """Where numbers go.

    Names are the full names under which people find the number (``reflet_watches_total``),
    labels are few and have few values.  The methods take no time worth mentioning, may be
    called from any thread, and raise nothing when called as described.  Where they do
    nevertheless, the number is dropped (see ``guarded``): reporting must not break what is
    reported.

    - *name*: name of the metric
    - *amount*: how much to add
    - *value*: the new value
    - *seconds*: the duration
    """

    def count(self, name: str, amount: float = 1, /, **labels: str) -> None:
        """Add ``amount``, which is not negative, to a counter."""
        ...

    def gauge(self, name: str, value: float, /, **labels: str) -> None:
        """Set a value that goes up and down."""
        ...

    def observe(self, name: str, seconds: float, /, **labels: str) -> None:
        """Add one duration to a histogram."""
        ...


class NoMetrics:
    """Drops everything: the default, so that mechanisms never ask whether metrics are on."""

    __slots__ = ()

    def count(self, name: str, amount: float = 1, /, **labels: str) -> None:
        """Drop it."""

    def gauge(self, name: str, value: float, /, **labels: str) -> None:
        """Drop it."""

    def observe(self, name: str, seconds: float, /, **labels: str) -> None:
        """Drop it."""


NO_METRICS: Final[Metrics] = NoMetrics()
"""Takes every number and keeps none."""


def guarded(metrics: Metrics) -> Metrics:
    """*metrics* that cannot break whoever reports; applied wherever they come from outside.

    The first failure of each metric is logged, the others are dropped.  What needs no guard, or
    has one, is given back as it is.
    """
    return metrics if isinstance(metrics, NoMetrics | _Guarded) else _Guarded(metrics)


class _Guarded:
    __slots__ = ("_failed", "_metrics")

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._failed: set[str] = set()

    def count(self, name: str, amount: float = 1, /, **labels: str) -> None:
        try:
            self._metrics.count(name, amount, **labels)
        except Exception as error:  # noqa: BLE001 - code of others; logged
            self._drop(name, error)

    def gauge(self, name: str, value: float, /, **labels: str) -> None:
        try:
            self._metrics.gauge(name, value, **labels)
        except Exception as error:  # noqa: BLE001 - code of others; logged
            self._drop(name, error)

    def observe(self, name: str, seconds: float, /, **labels: str) -> None:
        try:
            self._metrics.observe(name, seconds, **labels)
        except Exception as error:  # noqa: BLE001 - code of others; logged
            self._drop(name, error)

    def _drop(self, name: str, error: Exception) -> None:
        if name not in self._failed:
            self._failed.add(name)
            logger.error("%s is not reported: %r", name, error, exc_info=error)


class MemoryMetrics:
    """Remembers everything, for tests; what was never reported counts as zero or nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[_Series, float] = {}
        self._gauges: dict[_Series, float] = {}
        self._observations: dict[_Series, list[float]] = {}

    def count(self, name: str, amount: float = 1, /, **labels: str) -> None:
        """Add ``amount`` to the counter; a negative amount is a mistake of the caller."""
        if amount < 0:
            raise ValueError(f"counter {name} cannot go down by {-amount}")
        series = _series(name, labels)
        with self._lock:
            self._counters[series] = self._counters.get(series, 0) + amount

    def gauge(self, name: str, value: float, /, **labels: str) -> None:
        """Remember the latest value."""
        with self._lock:
            self._gauges[_series(name, labels)] = value

    def observe(self, name: str, seconds: float, /, **labels: str) -> None:
        """Remember one more duration."""
        with self._lock:
            self._observations.setdefault(_series(name, labels), []).append(seconds)

    def counted(self, name: str, /, **labels: str) -> float:
        """Return what the counter with exactly these labels has reached."""
        with self._lock:
            return self._counters.get(_series(name, labels), 0)

    def level(self, name: str, /, **labels: str) -> float | None:
        """Return the gauge's latest value, or None when it was never set."""
        with self._lock:
            return self._gauges.get(_series(name, labels))

    def observed(self, name: str, /, **labels: str) -> tuple[float, ...]:
        """Return the durations observed, in order."""
        with self._lock:
            return tuple(self._observations.get(_series(name, labels), ()))

    def names(self) -> frozenset[str]:
        """Return the names of everything reported so far."""
        with self._lock:
            return frozenset(
                name
                for reported in (self._counters, self._gauges, self._observations)
                for name, _ in reported
            )


def _series(name: str, labels: Mapping[str, str]) -> _Series:
    return name, frozenset(labels.items())


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
