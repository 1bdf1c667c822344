from __future__ import annotations

import threading

import pytest

from reflet.runtime.metrics import NO_METRICS, MemoryMetrics, Metrics, NoMetrics, guarded


def test_counters_add_up_for_each_set_of_labels() -> None:
    metrics = MemoryMetrics()

    metrics.count("watches", resource="pods")
    metrics.count("watches", 2, resource="pods")
    metrics.count("watches", resource="secrets")

    assert metrics.counted("watches", resource="pods") == 3


def test_labels_count_in_any_order() -> None:
    metrics = MemoryMetrics()

    metrics.count("watches", resource="pods", ended="closed")

    assert metrics.counted("watches", ended="closed", resource="pods") == 1


def test_what_was_never_counted_is_zero() -> None:
    assert MemoryMetrics().counted("watches") == 0


def test_a_counter_never_goes_down() -> None:
    with pytest.raises(ValueError, match="watches"):
        MemoryMetrics().count("watches", -1)


def test_a_gauge_keeps_its_latest_value() -> None:
    metrics = MemoryMetrics()

    metrics.gauge("depth", 5, queue="a")
    metrics.gauge("depth", 3, queue="a")

    assert (metrics.level("depth", queue="a"), metrics.level("depth", queue="b")) == (3, None)


def test_observations_are_kept_in_order() -> None:
    metrics = MemoryMetrics()

    metrics.observe("lag", 0.5)
    metrics.observe("lag", 0.25)

    assert metrics.observed("lag") == (0.5, 0.25)


def test_a_label_may_be_called_name() -> None:
    metrics = MemoryMetrics()

    metrics.count("errors", 1, name="settings")

    assert metrics.counted("errors", name="settings") == 1


def test_everything_reported_is_named() -> None:
    metrics = MemoryMetrics()

    metrics.count("a")
    metrics.gauge("b", 1)
    metrics.observe("c", 1)

    assert metrics.names() == {"a", "b", "c"}


def test_threads_lose_no_count() -> None:
    metrics = MemoryMetrics()

    def count() -> None:
        for _ in range(1000):
            metrics.count("events")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert metrics.counted("events") == 4000


def test_no_metrics_takes_the_same_calls() -> None:
    metrics: Metrics = NO_METRICS

    metrics.count("a", 2, label="x")
    metrics.gauge("b", 1, label="x")
    metrics.observe("c", 1, label="x")

    assert isinstance(metrics, NoMetrics)


def test_guarded_metrics_get_what_is_reported() -> None:
    metrics = MemoryMetrics()

    guarded(metrics).count("a", 2, label="x")
    guarded(metrics).gauge("b", 3, label="x")
    guarded(metrics).observe("c", 4, label="x")

    assert metrics.counted("a", label="x") == 2
    assert metrics.level("b", label="x") == 3
    assert metrics.observed("c", label="x") == (4,)


class Failing:
    def count(self, name: str, amount: float = 1, /, **labels: str) -> None:
        raise OSError("the backend is away")

    gauge = observe = count


def test_guarded_metrics_that_fail_are_logged_once_for_each_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metrics = guarded(Failing())

    for _ in range(3):
        metrics.count("a")
        metrics.gauge("b", 1)
        metrics.observe("c", 1)

    assert [record.getMessage() for record in caplog.records] == [
        f"{name} is not reported: OSError('the backend is away')" for name in "abc"
    ]


def test_a_guard_is_put_where_there_is_none() -> None:
    metrics = guarded(MemoryMetrics())

    assert guarded(metrics) is metrics
    assert guarded(NO_METRICS) is NO_METRICS
