from __future__ import annotations

import pytest

from reflet.errors import (
    ConnectionRefused,
    Forbidden,
    InternalError,
    TooManyRequests,
    TransportError,
)
from reflet.informer.reflector.endings import Ending
from reflet.informer.reflector.health import ServerHealth
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.runtime.metrics import MemoryMetrics
from reflet.testing.virtual_time import START, ManualClock

LAST_PROGRESS = "reflet_reflector_last_progress_timestamp_seconds"


class Scene:
    """A health with a clock, and what its follower was told."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.metrics = MemoryMetrics()
        self.told: list[Exception | None] = []
        self.health = ServerHealth(
            "test",
            clock=self.clock,
            metrics=ReflectorMetrics(self.metrics, "configmaps"),
            on_connection=self.told.append,
        )


def test_what_never_began_is_not_live() -> None:
    assert not Scene().health.is_live(1000, is_watching=False)


def test_what_has_just_begun_is_live_without_a_sign_of_life() -> None:
    scene = Scene()
    scene.health.begun()
    scene.clock.advance(60)

    assert scene.health.is_live(60, is_watching=False)
    assert not scene.health.is_live(59, is_watching=False)
    assert scene.health.last_progress is None


def test_signs_of_life_keep_it_live() -> None:
    scene = Scene()
    scene.health.begun()
    scene.clock.advance(500)
    scene.health.progressed()
    scene.clock.advance(60)

    assert scene.health.is_live(60, is_watching=False)
    assert scene.health.last_progress == 500


def test_the_time_of_the_last_sign_is_shown_at_most_once_a_second() -> None:
    scene = Scene()
    began = START.timestamp()

    scene.health.progressed()
    scene.clock.advance(0.5)
    scene.health.progressed()
    assert scene.metrics.level(LAST_PROGRESS, resource="configmaps") == began

    scene.clock.advance(0.5)
    scene.health.progressed()
    assert scene.metrics.level(LAST_PROGRESS, resource="configmaps") == began + 1


def test_losing_and_finding_the_server_is_told_once_each() -> None:
    scene = Scene()
    refused = ConnectionRefused("refused")

    connected = [scene.health.connected]
    scene.health.reached()
    connected.append(scene.health.connected)
    scene.health.failed(Ending.REFUSED, refused)
    scene.health.failed(Ending.REFUSED, ConnectionRefused("again"))
    connected.append(scene.health.connected)
    scene.health.reached()
    scene.health.reached()
    connected.append(scene.health.connected)

    assert scene.told == [refused, None]
    assert connected == [False, True, False, True]


@pytest.mark.parametrize(
    ("ending", "error", "refused", "lost"),
    [
        (Ending.REFUSED, ConnectionRefused("no"), False, True),
        (Ending.THROTTLED, TooManyRequests("no"), False, True),
        (Ending.BROKEN, TransportError("no"), False, True),
        (Ending.FAILED, Forbidden("no"), True, True),
        (Ending.FAILED, InternalError("no"), False, False),
        (Ending.EXPIRED, Forbidden("no"), True, False),
        (Ending.SINK_FAILED, ValueError("no"), False, False),
    ],
)
def test_only_a_server_that_does_not_serve_is_lost(
    ending: Ending, error: Exception, refused: bool, lost: bool
) -> None:
    scene = Scene()

    scene.health.failed(ending, error, refused=refused)

    assert scene.told == ([error] if lost else [])


@pytest.mark.parametrize(
    ("error", "level"), [(Forbidden("no"), "DEBUG"), (ConnectionRefused("no"), "WARNING")]
)
def test_an_expected_error_is_told_and_not_worth_a_warning(
    caplog: pytest.LogCaptureFixture, error: Exception, level: str
) -> None:
    told: list[Exception | None] = []
    health = ServerHealth(
        "test",
        clock=ManualClock(),
        metrics=ReflectorMetrics(MemoryMetrics(), "configmaps"),
        on_connection=told.append,
        expected_errors=(Forbidden,),
    )

    with caplog.at_level("DEBUG"):
        health.failed(Ending.FAILED, error, refused=True)

    assert [record.levelname for record in caplog.records] == [level]
    assert told == [error]


def test_a_follower_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail(error: Exception | None) -> None:
        raise ValueError("a follower's bug")

    metrics = ReflectorMetrics(MemoryMetrics(), "configmaps")
    health = ServerHealth("test", clock=ManualClock(), metrics=metrics, on_connection=fail)

    health.failed(Ending.REFUSED, ConnectionRefused("no"))

    assert "a follower's bug" in caplog.text


def test_nobody_needs_to_follow() -> None:
    metrics = ReflectorMetrics(MemoryMetrics(), "configmaps")
    health = ServerHealth("test", clock=ManualClock(), metrics=metrics, on_connection=None)

    health.failed(Ending.REFUSED, ConnectionRefused("no"))

    assert not health.connected
