from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import ObjectMeta
from reflet.api.watch_events import WatchEvent
from reflet.informer.reflector.delivery import of_expected_kind, of_known_types
from reflet.testing.scripted_source import added, bookmark, deleted

ANY = ConfigMap(metadata=ObjectMeta(name="a", resource_version="7"))
EXPECTED = ("v1", "ConfigMap")


def test_objects_of_another_kind_are_skipped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    other: WatchEvent[Any] = added(Secret(metadata=ObjectMeta(name="s")))
    events = [added(ANY), other, bookmark("8", kind=Secret), bookmark("9")]

    assert of_expected_kind(events, EXPECTED, "test") == [added(ANY), bookmark("9")]
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]


def test_events_of_known_types_are_passed_on_as_they_are() -> None:
    events = [added(ANY), deleted(ANY)]

    assert of_known_types(events, "test") is events


def test_an_event_of_an_unknown_type_only_moves_the_version() -> None:
    strange: WatchEvent[Any] = WatchEvent(type="FOO", object=ANY)  # type: ignore[arg-type]  # on purpose

    told = of_known_types([added(ANY), strange], "test")

    assert [event.type for event in told] == ["ADDED", "BOOKMARK"]
    assert told[1].object is ANY
