from __future__ import annotations

import asyncio
import errno
from collections import deque
from collections.abc import Sequence
from typing import Any, cast

import pytest

from reflet.api.core.pods import Pod
from reflet.client.client import Client
from reflet.errors import (
    Conflict,
    ConnectionRefused,
    CredentialsError,
    DecodeError,
    Forbidden,
    InternalError,
    ServiceUnavailable,
)
from reflet.node.pods.binding import PodBinder
from reflet.testing.scripted_source import After, Quiet, ScriptedSource, added, bookmark, deleted
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.pod_scenes import pod

pytestmark = pytest.mark.virtual_time


class Bindings:
    """A server of unbound pods that takes bindings; ``failures`` are raised first."""

    def __init__(self, *pods: Pod, later: Sequence[Any] = ()) -> None:
        self.source = ScriptedSource[Pod](
            watches=[
                [
                    *map(added, pods),
                    bookmark("1", ends_initial_events=True, kind=Pod),
                    *later,
                    Quiet.HEALTHY,
                ]
            ]
        )
        self.bound: list[tuple[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.failures: deque[Exception] = deque()
        self.refused = ""
        self.asked = 0

    def resource(self, kind: type[Pod] | str, *, namespace: str, raw: bool = False) -> Any:
        return self if kind == "pods" else self.source

    async def create(self, body: dict[str, Any], *, name: str, subresource: str) -> None:
        assert subresource == "binding"
        self.asked += 1
        if self.failures:
            raise self.failures.popleft()
        if name == self.refused:
            raise InternalError("a webhook is away", code=500)
        self.bound.append((name, body["target"]["name"]))
        self.bodies.append(body)


async def bind(server: Bindings, seconds: float = 5.0, **options: Any) -> None:
    binder = PodBinder(
        cast("Client", server), "worker-1", "app=web", clock=VirtualClock(), **options
    )
    task = asyncio.create_task(binder.run())
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.wait((task,))


def named(name: str, **fields: Any) -> Pod:
    metadata = {"name": name, "uid": f"uid of {name}", **fields.pop("metadata", {})}
    return pod(metadata=metadata, **fields)


async def test_an_unbound_pod_is_bound_to_the_node_and_to_no_other_life_of_it() -> None:
    server = Bindings(named("web"))

    await bind(server)

    assert server.bound == [("web", "worker-1")]
    assert server.bodies[0]["metadata"]["uid"] == "uid of web"


async def test_the_server_is_asked_for_unbound_pods_with_the_labels_only() -> None:
    server = Bindings()

    await bind(server)

    asked = server.source.asked[0]
    assert str(asked.label_selector) == "app=web"
    assert str(asked.field_selector) == "spec.nodeName="


async def test_pods_of_others_are_left_alone() -> None:
    server = Bindings(
        named("bound", nodeName="elsewhere"),
        named("leaving", metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"}),
        named("scheduled", schedulerName="fancy"),
        named("ours", schedulerName="default-scheduler"),
    )

    await bind(server)

    assert server.bound == [("ours", "worker-1")]


async def test_only_chosen_namespaces_are_served() -> None:
    server = Bindings(named("ours"), named("theirs", metadata={"namespace": "bank"}))

    await bind(server, namespaces=frozenset({"shop"}))

    assert server.bound == [("ours", "worker-1")]


@pytest.mark.parametrize(
    "failure",
    [
        ConnectionRefused("away"),
        ServiceUnavailable("not now", code=503),
        DecodeError("garbled"),
        CredentialsError("no token"),
        OSError(errno.EMFILE, "Too many open files"),
        Forbidden("the role is not bound yet", code=403),
    ],
)
async def test_a_pod_is_bound_when_the_server_is_back(failure: Exception) -> None:
    server = Bindings(named("one"), named("two"))
    server.failures.extend([failure] * 3)

    await bind(server, 120.0)

    assert sorted(name for name, _ in server.bound) == ["one", "two"]


async def test_a_pod_that_another_was_faster_with_is_left_to_them() -> None:
    server = Bindings(named("one"), named("two"))
    server.failures.append(Conflict("bound already", code=409))

    await bind(server, 120.0)

    assert [name for name, _ in server.bound] == ["two"]


async def test_a_pod_that_cannot_be_bound_holds_up_no_other() -> None:
    server = Bindings(named("one"), named("two"))
    server.refused = "one"

    await bind(server)

    assert [name for name, _ in server.bound] == ["two"]


async def test_a_pod_that_is_gone_is_not_bound_any_more() -> None:
    gone = named("one", metadata={"resourceVersion": "2"})
    server = Bindings(named("one"), later=[After(1.0), deleted(gone)])
    server.refused = "one"
    binding = asyncio.create_task(bind(server, 600.0))
    await asyncio.sleep(2.0)
    asked = server.asked

    await binding

    assert server.asked == asked
