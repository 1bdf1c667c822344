"""One Service at local ports: which pod a connection goes to, and what is said when it fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

import pytest

from reflet.client.pod_tunnel import PodTunnel
from reflet.cluster import Cluster
from reflet.devserver.faults import Fault
from reflet.devserver.server import DevServer
from reflet.errors import TransportError
from reflet.runtime.clock import SystemClock
from reflet.supervisor.service_forward import FRESH, ServiceForward
from reflet.supervisor.service_mentions import ServiceName
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.upgrades.byte_streams import SocketBytes
from tests.crowds import harm_done

SERVICE = {"selector": {"app": "db"}, "ports": [{"port": 5432, "targetPort": 15432}]}
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


class Tunnel(PodTunnel):
    """Answers with the name of its pod; *away* and *complaint* are how it fails."""

    def __init__(self, pods: Pods, name: str) -> None:
        self._pods = pods
        self._name = name

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        self._pods.left.append(self._name)

    async def open(self) -> None:
        if self._name in self._pods.away:
            raise TransportError(f"no way to {self._name}")

    async def carry(self, local: SocketBytes, port: int) -> None:
        if self._pods.complaint:
            raise TransportError(self._pods.complaint)
        await local.write(f"{self._name}:{port}".encode())
        await local.finish()


class Pods(Cluster):
    """A cluster whose pods answer without a node."""

    def __init__(self, settings: ConnectionSettings) -> None:
        super().__init__(settings)
        self.away: set[str] = set()
        self.complaint = ""
        self.left: list[str] = []

    def tunnel(self, name: str, *, namespace: str | None = None) -> PodTunnel:
        assert namespace == "default"
        return Tunnel(self, name)


class MovedClock(SystemClock):
    """The clock of the system, and what a test adds to it."""

    def __init__(self) -> None:
        self.later = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.later


class Scene:
    def __init__(self, server: DevServer, cluster: Pods) -> None:
        self.server = server
        self.cluster = cluster
        self.said: list[str] = []
        self.clock = MovedClock()
        self.forward = ServiceForward(
            cluster, ServiceName("default", "db"), say=self.said.append, clock=self.clock
        )

    async def asked(self) -> str:
        place = self.forward.place
        reader, writer = await asyncio.open_connection(place.address, place.ports[5432])
        try:
            return (await reader.read()).decode()
        except ConnectionResetError:
            return "reset"
        finally:
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    async def asked_until(self, *answers: str) -> str:
        """What is answered once the watch has brought what the test did."""
        while (answer := await self.asked()) not in answers:
            pass
        return answer


async def create_pod(cluster: Cluster, name: str, status: Any = READY) -> None:
    container = {"name": "main", "image": "none"}
    pods = cluster.resource("pods")
    await pods.create(
        {"metadata": {"name": name, "labels": {"app": "db"}}, "spec": {"containers": [container]}}
    )
    await pods.patch(name, {"status": status}, subresource="status")


@asynccontextmanager
async def scene(pods: Sequence[str] = (), **service: Any) -> AsyncIterator[Scene]:
    async with (
        DevServer(tls=False) as server,
        Pods(ConnectionSettings(server=server.url, qps=0)) as cluster,
    ):
        spec = {**SERVICE, **service}
        await cluster.resource("services").create({"metadata": {"name": "db"}, "spec": spec})
        for name in pods:
            await create_pod(cluster, name)
        made = Scene(server, cluster)
        async with made.forward:
            await made.forward.listen([5432])
            yield made


async def test_a_connection_goes_to_a_ready_pod_and_the_next_one_to_the_same() -> None:
    async with scene(["b", "a"]) as db:
        answers = [await db.asked() for _ in range(3)]

    assert answers == ["a:15432"] * 3
    assert db.cluster.left == ["a"]


async def test_the_pods_are_asked_for_once_and_not_before_the_first_connection() -> None:
    async with scene(["a"]) as db:
        before = db.server.requests.count(verb="list", resource="pods")
        for _ in range(3):
            await db.asked()

        assert (before, db.server.requests.count(verb="get", resource="services")) == (0, 1)


async def test_a_pod_to_which_there_is_no_way_is_passed_over() -> None:
    async with scene(["a", "b"]) as db:
        db.cluster.away.add("a")

        assert await db.asked() == "b:15432"
    assert db.said == []


async def test_a_pod_that_is_gone_makes_room_for_another() -> None:
    async with scene(["a", "b"]) as db:
        first = await db.asked()
        await db.cluster.resource("pods").delete("a")

        assert (first, await db.asked_until("b:15432")) == ("a:15432", "b:15432")


async def test_a_failure_is_said_once_until_a_connection_works() -> None:
    async with scene(["a"]) as db:
        db.cluster.complaint = "dial tcp4 127.0.0.1:15432: connect: connection refused"
        failed = [await db.asked() for _ in range(2)]
        db.cluster.complaint = ""
        answer = await db.asked()
        db.cluster.complaint = "connection refused"
        await db.asked()

    line = (
        "warning: a connection to db.default:5432 was not forwarded: nothing listens at port 15432 "
        "of pod a"
    )
    assert (failed, answer, db.said) == (["reset", "reset"], "a:15432", [line, line])


async def test_a_service_that_was_changed_is_read_again_after_a_failure() -> None:
    async with scene(["a"]) as db:
        db.cluster.complaint = "nobody"
        await db.asked()
        db.cluster.complaint = ""
        ports = [{"port": 5432, "targetPort": 25432}]
        await db.cluster.resource("services").patch("db", {"spec": {"ports": ports}})
        db.clock.later = FRESH

        assert await db.asked() == "a:25432"


async def test_a_refusal_of_the_server_is_said_in_its_words() -> None:
    async with scene(["a"]) as db:
        db.server.faults.add(Fault("status", status=403, verb="list", resource="pods", times=9))
        db.server.faults.add(Fault("status", status=403, verb="watch", resource="pods", times=9))
        answer = await db.asked()

    assert answer == "reset"
    assert "was not forwarded: " in db.said[0]


async def test_another_port_is_taken_on_the_same_address() -> None:
    async with scene(["a"]) as db:
        before = db.forward.place
        await db.forward.listen([5432, 9187])
        after = db.forward.place

    assert after.address == before.address
    assert [*after.ports] == [5432, 9187]


async def test_nobody_listens_when_it_is_over() -> None:
    async with scene() as db:
        pass

    with pytest.raises(ConnectionRefusedError):
        await db.asked()


@pytest.mark.parametrize("rounds", range(6))
async def test_whoever_comes_while_it_ends_does_no_harm(rounds: int) -> None:
    def place(db: Scene) -> tuple[str, int]:
        return db.forward.place.address, db.forward.place.ports[5432]

    assert await harm_done(scene(), place, rounds=rounds) == []
