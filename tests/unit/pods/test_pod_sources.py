"""The pods of the API server that selectors choose, or that are bound to a node."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.pods.pod_sources import AllPodsSeen, PodGone, PodNews, ServedPods, pods_of_node
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


class OneSource:
    """A server that has one source for everything, and remembers for which namespace."""

    def __init__(self, source: ScriptedSource[Pod]) -> None:
        self._source = source
        self.namespaces: list[str] = []

    def resource(self, kind: type[Any], *, namespace: str) -> Any:
        self.namespaces.append(namespace)
        return self._source


def uid_of(news: PodNews | AllPodsSeen) -> str:
    return "" if isinstance(news, AllPodsSeen) else news.pod.metadata.uid


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
    heard: list[PodNews | AllPodsSeen] = []
    async with aclosing(pods.news()) as news, asyncio.timeout(60):
        async for item in news:
            heard.append(item)
            if isinstance(item, PodGone):
                break

    assert [(type(item).__name__, uid_of(item)) for item in heard] == [
        ("PodSeen", "1"),
        ("AllPodsSeen", ""),
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


async def test_a_server_without_pods_has_told_of_all_of_them() -> None:
    source = ScriptedSource[Pod](lists=[listing("1")], watches=[[Quiet.HEALTHY]])
    pods = pods_of_node(OneSource(source), "worker-1", streaming=False, clock=VirtualClock())

    async with aclosing(pods.news()) as news:
        assert await anext(news) == AllPodsSeen()
