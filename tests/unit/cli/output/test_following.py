from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from reflet.api.resources import CONFIG_MAPS, Resource
from reflet.api.unstructured import AnyObject
from reflet.api.watch_events import EventType, WatchEvent
from reflet.cli.output.following import Following, find_patiently
from reflet.client.client import Client
from reflet.errors import (
    BadRequest,
    ConnectionRefused,
    Expired,
    Forbidden,
    InternalError,
    NotFound,
    ParseError,
    Unauthorized,
)
from reflet.informer.handlers.changes import Change
from reflet.informer.reflector.loop import ListFailed
from reflet.informer.reflector.reflector import Reflector
from reflet.store.deltas import Changed, Replaced, Resynced
from reflet.testing.scripted_source import ScriptedSource


class Words:
    """An output whose text is one word."""

    def changed(self, changes: Sequence[Change[AnyObject]]) -> Iterator[str]:
        for change in changes:
            yield f"{change.type} {change.object.metadata.name}\n"

    def synced(self, count: int) -> str:
        return f"SYNCED {count}\n"


class Scene:
    def __init__(self) -> None:
        self.written: list[str] = []
        self.said: list[str] = []
        self.following = Following(
            CONFIG_MAPS, Words(), write=self.written.append, say=self.said.append
        )

    @property
    def lines(self) -> list[str]:
        return "".join(self.written).splitlines()


def made(name: str, version: str = "1") -> AnyObject:
    metadata = {"name": name, "resourceVersion": version}
    return AnyObject.from_dict({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})


def listed(*items: AnyObject) -> Replaced[AnyObject]:
    return Replaced(items, "9")


def event(kind: EventType, item: AnyObject) -> Changed[AnyObject]:
    return Changed([WatchEvent(type=kind, object=item)])


def list_failed(cause: Exception) -> ListFailed:
    failure = ListFailed(f"failed to list: {cause}")
    failure.__cause__ = cause
    return failure


async def for_ever() -> None:
    await asyncio.get_running_loop().create_future()


async def test_what_is_there_comes_before_synced_and_changes_after() -> None:
    scene = Scene()

    scene.following.apply(listed(made("a"), made("b")))
    scene.following.apply(event("MODIFIED", made("a", "2")))
    scene.following.apply(event("DELETED", made("b", "3")))

    assert scene.lines == ["ADDED a", "ADDED b", "SYNCED 2", "UPDATED a", "DELETED b"]


async def test_nothing_is_repeated_and_no_deletion_lost_when_all_is_listed_again() -> None:
    scene = Scene()
    scene.following.apply(listed(made("same"), made("changed"), made("gone")))
    scene.written.clear()

    scene.following.apply(listed(made("same"), made("changed", "2"), made("new")))

    assert scene.lines == ["DELETED gone", "UPDATED changed", "ADDED new"]


async def test_an_event_that_is_told_again_is_not_printed_again() -> None:
    scene = Scene()
    scene.following.apply(listed(made("a", "5")))
    scene.written.clear()

    scene.following.apply(event("MODIFIED", made("a", "5")))
    scene.following.apply(Resynced())

    assert scene.lines == []


async def test_nothing_there_is_synced_too() -> None:
    scene = Scene()

    scene.following.apply(listed())

    assert scene.lines == ["SYNCED 0"]


async def test_the_end_of_the_output_ends_the_watch() -> None:
    scene = Scene()

    def broken(text: str) -> None:
        raise BrokenPipeError

    scene.following = Following(CONFIG_MAPS, Words(), write=broken, say=scene.said.append)
    scene.following.apply(listed(made("a")))
    scene.following.apply(event("ADDED", made("b")))

    with pytest.raises(BrokenPipeError):
        await scene.following.run(for_ever())


async def test_a_lost_server_is_said_once_and_its_return_too() -> None:
    scene = Scene()
    scene.following.apply(listed())
    refused = ConnectionRefused("https://server: connection refused")

    scene.following.connection_changed(refused)
    scene.following.failed(list_failed(refused))
    scene.following.connection_changed(None)

    assert scene.said == [
        "warning: lost the server: https://server: connection refused; trying again",
        "the server is back",
    ]


@pytest.mark.parametrize("error", [ConnectionRefused("refused"), Unauthorized("Unauthorized")])
async def test_a_server_that_cannot_be_used_yet_is_awaited(error: Exception) -> None:
    scene = Scene()

    scene.following.connection_changed(error)
    scene.following.failed(list_failed(error))

    assert scene.said == [f"warning: cannot watch yet: {error}; trying again"]


@pytest.mark.parametrize("error", [Forbidden("no"), BadRequest("what?"), ParseError("what?")])
async def test_what_the_server_will_never_give_ends_the_watch(error: Exception) -> None:
    scene = Scene()

    scene.following.connection_changed(error)
    scene.following.failed(list_failed(error))

    with pytest.raises(type(error)):
        await scene.following.run(for_ever())
    assert scene.said == []


async def test_a_resource_that_the_server_does_not_have_is_a_mistake_in_the_name() -> None:
    scene = Scene()

    scene.following.failed(list_failed(NotFound("404")))

    with pytest.raises(ParseError, match="the server has no configmaps"):
        await scene.following.run(for_ever())


async def test_what_was_seen_once_is_awaited_even_when_it_is_forbidden() -> None:
    scene = Scene()
    scene.following.apply(listed())

    scene.following.connection_changed(Forbidden("no"))

    assert scene.said == ["warning: lost the server: no; trying again"]


async def test_other_failures_are_said_once_and_lost_history_never() -> None:
    scene = Scene()
    scene.following.apply(listed())

    scene.following.failed(Expired("too old resource version"))
    scene.following.failed(list_failed(InternalError("etcd")))
    scene.following.failed(list_failed(InternalError("etcd")))

    assert scene.said == ["warning: failed to list: etcd; trying again"]


async def test_a_failure_of_our_own_is_raised() -> None:
    async def fails() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Scene().following.run(fails())


async def test_a_program_that_is_wrong_ends_the_watch_and_is_not_tried_again() -> None:
    scene = Scene()
    source = ScriptedSource[AnyObject](watches=[AttributeError("no such thing")])
    reflector = Reflector(
        source,
        scene.following,
        on_error=scene.following.failed,
        on_connection=scene.following.connection_changed,
    )

    with pytest.raises(AttributeError, match="no such thing"):
        await scene.following.run(reflector.run())

    assert scene.said == []


async def test_much_text_is_written_in_parts() -> None:
    scene = Scene()

    scene.following.apply(listed(*(made("n" * 200 + str(number)) for number in range(1000))))

    assert len(scene.written) > 3
    assert len(scene.lines) == 1001


class Server(Client):
    """Answers the question for its resources with one answer after the other."""

    def __init__(self, *answers: Exception | Resource) -> None:
        self.answers: list[Any] = list(answers)

    async def find(self, name: str) -> Resource:
        answer: Exception | Resource = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.virtual_time
async def test_a_name_is_asked_for_until_the_server_answers() -> None:
    refused = ConnectionRefused("refused")
    said: list[str] = []

    found = await find_patiently(Server(refused, refused, CONFIG_MAPS), "widgets", say=said.append)

    assert found is CONFIG_MAPS
    assert said == [
        "warning: cannot watch yet: refused; trying again",
        "the server is back",
    ]


@pytest.mark.parametrize("error", [Forbidden("no"), ParseError("there is no resource")])
async def test_an_answer_that_says_no_is_final(error: Exception) -> None:
    with pytest.raises(type(error)):
        await find_patiently(Server(error), "widgets", say=pytest.fail)
