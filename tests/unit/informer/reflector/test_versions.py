from __future__ import annotations

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.informer.reflector.versions import StreamPosition, VersionCursor
from reflet.testing.scripted_source import added, bookmark, deleted, modified


def config_map(version: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name="a", resource_version=version))


def test_the_first_list_takes_whatever_is_cached_and_the_first_stream_the_newest() -> None:
    cursor = VersionCursor()

    assert (cursor.list_version, cursor.watch_list_version) == ("0", "")


def test_later_lists_ask_for_what_is_known() -> None:
    cursor = VersionCursor()
    cursor.synced("7")

    assert (cursor.list_version, cursor.watch_list_version) == ("7", "7")


def test_a_version_that_the_server_does_not_have_is_not_asked_for() -> None:
    cursor = VersionCursor()
    cursor.synced("7")
    cursor.forget()

    assert (cursor.list_version, cursor.watch_list_version) == ("", "")
    assert cursor.last == "7"


def test_an_answered_list_makes_the_version_available_again() -> None:
    cursor = VersionCursor()
    cursor.forget()
    cursor.listed("", paginated=False)

    assert not cursor.unavailable


def test_an_answered_streaming_list_makes_the_version_available_again() -> None:
    cursor = VersionCursor()
    cursor.forget()
    cursor.streamed()

    assert not cursor.unavailable


@pytest.mark.parametrize(("version", "size"), [("", 500), ("0", 500), ("7", 0)])
def test_a_list_at_a_version_has_no_limit_so_that_the_cache_answers(
    version: str, size: int
) -> None:
    assert VersionCursor().page_size(version) == size


def test_a_page_size_that_is_asked_for_is_always_used() -> None:
    assert VersionCursor(page_size=20).page_size("7") == 20


@pytest.mark.parametrize(
    ("asked", "paginated", "size"), [("0", True, 500), ("0", False, 0), ("", True, 0)]
)
def test_a_server_that_pages_although_it_could_use_its_cache_is_asked_for_pages(
    asked: str, paginated: bool, size: int
) -> None:
    cursor = VersionCursor()
    cursor.listed(asked, paginated=paginated)

    assert cursor.page_size("7") == size


def test_that_a_server_pages_is_never_forgotten() -> None:
    cursor = VersionCursor()
    cursor.listed("0", paginated=True)
    cursor.listed("7", paginated=False)

    assert cursor.paginated


def test_a_stream_from_a_version_is_where_its_last_event_is() -> None:
    position = StreamPosition("5")

    assert position.after([added(config_map("6")), added(config_map("9"))]) == "9"


@pytest.mark.parametrize("opened_at", ["", "0"])
def test_the_initial_objects_of_a_plain_watch_say_nothing_about_how_far_it_is(
    opened_at: str,
) -> None:
    position = StreamPosition(opened_at)

    assert position.after([added(config_map("9")), added(config_map("3"))]) == ""


@pytest.mark.parametrize(
    "event", [modified(config_map("4")), deleted(config_map("4")), bookmark("4")]
)
def test_any_other_event_ends_the_initial_objects_for_good(event: object) -> None:
    position = StreamPosition("0")

    assert position.after([added(config_map("3")), event, added(config_map("8"))]) == "8"  # type: ignore[list-item]  # one of three
    assert position.after([added(config_map("11"))]) == "11"
