"""Where pods come from, and registering them as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.pods.pod_manager import MIRROR_ANNOTATION, PodManager
from reflet.pods.pod_sources import (
    PodGone,
    PodNews,
    PodRegistrar,
    PodSeen,
    ServedPods,
    pods_of_node,
)
from reflet.testing.scripted_source import (
    After,
    Quiet,
    ScriptedSource,
    added,
    deleted,
    listing,
    modified,
)
from reflet.testing.virtual_time import VirtualClock
from tests.unit.managers.pods import pod

pytestmark = pytest.mark.virtual_time

A_MOMENT = 0.001


class Told:
    """Remembers which pods were registered and unregistered."""

    def __init__(self) -> None:
        self.words: list[tuple[str, str]] = []

    def register_pod(self, item: Pod) -> None:
        self.words.append(("register", item.metadata.uid))

    def unregister_pod(self, item: Pod) -> None:
        self.words.append(("unregister", item.metadata.uid))


class Script:
    """News as a list says."""

    def __init__(self, *news: PodNews) -> None:
        self._news = news
        self.closed = False

    async def news(self) -> AsyncGenerator[PodNews, None]:
        try:
            for item in self._news:
                yield item
        finally:
            self.closed = True


class OneSource:
    """A server that has one source for everything, and remembers for which namespace."""

    def __init__(self, source: ScriptedSource[Pod]) -> None:
        self._source = source
        self.namespaces: list[str] = []

    def resource(self, kind: type[Any], *, namespace: str) -> Any:
        self.namespaces.append(namespace)
        return self._source


async def told_by(*news: PodNews, pods: PodManager | None = None) -> list[tuple[str, str]]:
    told = Told()
    await PodRegistrar(Script(*news), [told], pods=pods).run()
    return told.words


async def test_pods_are_registered_while_they_are_there() -> None:
    words = await told_by(
        PodSeen(pod("a", uid="1")), PodSeen(pod("a", "x", uid="1")), PodGone(pod("a", uid="1"))
    )

    assert words == [("register", "1"), ("register", "1"), ("unregister", "1")]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
async def test_a_pod_that_has_ended_is_unregistered_once(phase: str) -> None:
    ended = pod("a", uid="1", phase=phase)
    words = await told_by(
        PodSeen(pod("a", uid="1", phase="Running")), PodSeen(ended), PodSeen(ended), PodGone(ended)
    )

    assert words == [("register", "1"), ("unregister", "1")]


async def test_a_pod_that_had_ended_before_is_never_registered() -> None:
    assert await told_by(PodSeen(pod("a", phase="Failed"))) == []


async def test_another_pod_of_the_same_name_ends_the_one_before() -> None:
    words = await told_by(
        PodSeen(pod("a", uid="1")), PodSeen(pod("a", uid="2")), PodGone(pod("a", uid="1"))
    )

    assert words == [("register", "1"), ("unregister", "1"), ("register", "2")]


async def test_a_mirror_is_booked_and_not_registered() -> None:
    books = PodManager()
    mirror = pod("a", uid="m", annotations={MIRROR_ANNOTATION: "h"})

    words = await told_by(PodSeen(mirror), PodSeen(pod("b", uid="1")), pods=books)

    assert words == [("register", "1")]
    assert (len(books.mirrors), len(books)) == (1, 1)
    await told_by(PodGone(mirror), pods=books)
    assert books.mirrors == ()


async def test_the_books_forget_a_pod_whose_end_was_missed() -> None:
    books = PodManager()

    await told_by(PodSeen(pod("a", uid="1")), PodSeen(pod("a", uid="2")), pods=books)

    assert (books.by_uid("1"), len(books)) == (None, 1)


async def test_a_registrar_that_is_stopped_closes_its_source() -> None:
    script = Script(PodSeen(pod("a", uid="1")))
    registrar = PodRegistrar(script, [])
    await registrar.run()

    assert script.closed
    assert [item.metadata.uid for item in registrar.registered] == ["1"]


async def test_pods_of_the_server_are_told_as_they_come_and_go() -> None:
    first, changed = pod("a", uid="1", version="1"), pod("a", "x", uid="1", version="3")
    source = ScriptedSource(
        lists=[listing("1", first)],
        watches=[
            [
                After(1),
                added(pod("b", uid="2")),
                After(1),
                modified(changed),
                After(1),
                deleted(changed),
                Quiet.HEALTHY,
            ]
        ],
    )
    server = OneSource(source)
    pods = pods_of_node(server, "worker-1", streaming=False, clock=VirtualClock())
    heard: list[PodNews] = []
    async with aclosing(pods.news()) as news, asyncio.timeout(60):
        async for item in news:
            heard.append(item)
            if isinstance(item, PodGone):
                break

    assert [(type(item).__name__, item.pod.metadata.uid) for item in heard] == [
        ("PodSeen", "1"),
        ("PodSeen", "2"),
        ("PodSeen", "1"),
        ("PodGone", "1"),
    ]
    assert server.namespaces == ["*"]
    assert str(source.asked[0].field_selector) == "spec.nodeName=worker-1"
    assert source.open_watches == 0


async def test_pods_can_be_chosen_by_namespace_and_label() -> None:
    source = ScriptedSource[Pod](lists=[listing("1", pod("a"))])
    server = OneSource(source)
    pods = ServedPods(
        server,
        namespace="shop",
        label_selector="app=web",
        streaming=False,
        clock=VirtualClock(),
    )
    async with aclosing(pods.news()) as news:
        await anext(news)

    assert server.namespaces == ["shop"]
    assert str(source.asked[0].label_selector) == "app=web"
