from __future__ import annotations

import ast
import logging
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

import reflet
from reflet.adapters.prometheus import HELP, PrometheusMetrics
from reflet.errors import ConfigurationError
from reflet.informer.reflector.endings import Ending
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.runtime.metrics import Metrics

LISTS = "reflet_reflector_lists_total"
DURATION = "reflet_reflector_watch_duration_seconds"
NAME = re.compile(r"reflet_[a-z_]+")


def reported_names() -> Iterator[str]:
    """The names of all numbers that the package reports: each is the first argument of a call."""
    for path in sorted(Path(reflet.__file__).parent.rglob("*.py")):
        if path.parent.name == "testing":
            continue  # its fixtures have such names too
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(args=[ast.Constant(value=str(name)), *_]) if NAME.fullmatch(name):
                    yield name
                case _:
                    pass


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def test_it_is_a_metrics(registry: CollectorRegistry) -> None:
    metrics: Metrics = PrometheusMetrics(registry)

    metrics.count("reflet_things_total")

    assert registry.get_sample_value("reflet_things_total") == 1


def test_counters_add_up_by_label(registry: CollectorRegistry) -> None:
    metrics = PrometheusMetrics(registry)

    metrics.count(LISTS, resource="configmaps", result="synced")
    metrics.count(LISTS, 2, result="synced", resource="configmaps")
    metrics.count(LISTS, resource="configmaps", result="failed")

    labels = {"resource": "configmaps", "result": "synced"}
    assert registry.get_sample_value(LISTS, labels) == 3


def test_gauges_keep_the_latest(registry: CollectorRegistry) -> None:
    metrics = PrometheusMetrics(registry)

    metrics.gauge("reflet_handler_waiting", 7, handler="h")
    metrics.gauge("reflet_handler_waiting", 3, handler="h")

    assert registry.get_sample_value("reflet_handler_waiting", {"handler": "h"}) == 3


def test_a_watch_of_seven_minutes_falls_between_two_buckets(registry: CollectorRegistry) -> None:
    metrics = PrometheusMetrics(registry)

    metrics.observe(DURATION, 420.0, resource="pods")

    def below(limit: str) -> float | None:
        return registry.get_sample_value(f"{DURATION}_bucket", {"resource": "pods", "le": limit})

    assert (below("300.0"), below("600.0")) == (0, 1)


def test_every_number_that_is_reported_has_its_help_and_no_other() -> None:
    names = set(reported_names())

    assert {"without help": names - HELP.keys(), "never reported": HELP.keys() - names} == {
        "without help": set(),
        "never reported": set(),
    }


def test_every_number_of_a_reflector_is_shown_with_its_help(registry: CollectorRegistry) -> None:
    numbers = ReflectorMetrics(PrometheusMetrics(registry), "configmaps")

    numbers.listed(Ending.SYNCED, items=3)
    numbers.streamed_list(Ending.FAILED)
    numbers.watch_refused(Ending.REFUSED)
    numbers.watch_ended(Ending.CLOSED, lasted=400)
    numbers.events(5)
    numbers.received(1024)
    numbers.sink_failed("Changed")
    numbers.delayed()
    numbers.progressed(1.5e9)

    text = generate_latest(registry).decode()
    assert 'reflet_reflector_lists_total{resource="configmaps",result="synced"} 1.0' in text
    assert 'reflet_reflector_watches_total{end="closed",resource="configmaps"} 1.0' in text
    assert "# HELP reflet_reflector_received_bytes_total Bytes that watches brought." in text
    assert 'last_progress_timestamp_seconds{resource="configmaps"} 1.5e+09' in text


def test_another_prefix_takes_the_place_of_ours(registry: CollectorRegistry) -> None:
    PrometheusMetrics(registry, prefix="shop_mirror").count(LISTS)

    assert registry.get_sample_value("shop_mirror_reflector_lists_total") == 1


@pytest.mark.parametrize("kind", ["other labels", "another kind", "going down"])
def test_a_number_that_does_not_fit_is_dropped_and_logged_once(
    registry: CollectorRegistry, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    metrics = PrometheusMetrics(registry)
    metrics.count(LISTS, resource="configmaps")

    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            match kind:
                case "other labels":
                    metrics.count(LISTS, result="synced")
                case "another kind":
                    metrics.gauge(LISTS, 3)
                case _:
                    metrics.count(LISTS, -1, resource="configmaps")

    assert len(caplog.messages) == 1
    assert LISTS in caplog.text
    assert registry.get_sample_value(LISTS, {"resource": "configmaps"}) == 1


def test_threads_that_begin_at_once_share_one_metric(registry: CollectorRegistry) -> None:
    metrics = PrometheusMetrics(registry)
    begin = threading.Barrier(8)

    def report() -> None:
        begin.wait()
        metrics.count(LISTS, resource="pods")

    threads = [threading.Thread(target=report) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert registry.get_sample_value(LISTS, {"resource": "pods"}) == 8


def test_without_its_package_it_says_which_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)

    with pytest.raises(ConfigurationError, match=r"install reflet\[prometheus\]"):
        PrometheusMetrics()
