"""Which Services get local ports, what the environment says then, and what is said about it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import pytest

from reflet.api.core.services import Service
from reflet.cluster import Cluster
from reflet.devserver.faults import Fault
from reflet.devserver.server import DevServer
from reflet.errors import ApiError, ConfigurationError
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.environment.variables import Environment
from reflet.resolution.objects import ObjectsInHand
from reflet.runtime.clock import SystemClock
from reflet.supervisor.container_configuration import ContainerConfiguration
from reflet.supervisor.service_forwards import (
    RETRY,
    ForwardChoice,
    ForwardedConfiguration,
    ServiceForwards,
    forwarded_configuration,
)
from reflet.transport.config.settings import ConnectionSettings
from tests.unit.supervisor.scenes import pod, resolved

SQL = {"port": 5432}
SERVICES: dict[str, dict[str, Any]] = {
    "db": {"selector": {"app": "db"}, "ports": [SQL]},
    "cache": {"selector": {"app": "cache"}, "ports": [SQL]},
    "kafka": {"selector": {"app": "kafka"}, "ports": [{"port": 9092}], "clusterIP": "None"},
    "names": {
        "selector": {"app": "names"},
        "ports": [
            {"name": "udp", "port": 5353, "protocol": "UDP"},
            {"name": "tcp", "port": 5353, "protocol": "TCP"},
        ],
    },
    "outside": {"type": "ExternalName", "externalName": "pay.example"},
    "plain": {"ports": [SQL]},
}


class Scene:
    """A server with Services, and forwards for a pod of the namespace ``shop``."""

    def __init__(self, server: DevServer, cluster: Cluster) -> None:
        self.server = server
        self.cluster = cluster
        self.said: list[str] = []

    def forwards(self, *texts: str, **options: Any) -> ServiceForwards:
        chosen = [ForwardChoice.parse(text) for text in texts]
        return ServiceForwards(
            self.cluster, "shop", every=not chosen, chosen=chosen, say=self.said.append, **options
        )


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    async with DevServer(tls=False) as server:
        settings = ConnectionSettings(server=server.url, qps=0)
        async with Cluster(settings) as cluster:
            await cluster.resource("namespaces").create({"metadata": {"name": "shop"}})
            services = cluster.resource("services", namespace="shop")
            for name, spec in SERVICES.items():
                await services.create({"metadata": {"name": name}, "spec": spec})
            yield Scene(server, cluster)


def environment(*services: Service, **values: str) -> Environment:
    container = {"env": [{"name": name, "value": value} for name, value in values.items()]}
    subject = pod(container, enableServiceLinks=True)
    return resolve_environment(subject, "main", ObjectsInHand(), services=services)


async def test_two_services_both_keep_their_port() -> None:
    async with scene() as shop, shop.forwards() as forwards:
        found = await forwards.applied_to(environment(DB="db:5432", CACHE="cache.shop.svc:5432"))

    (first, one), (second, other) = (value.split(":") for value in found.values.values())
    assert (one, other) == ("5432", "5432")
    assert first != second
    assert shop.said == [
        f"forwarding db.shop at {first}:5432 (DB)",
        f"forwarding cache.shop at {second}:5432 (CACHE)",
    ]


async def test_the_same_service_keeps_its_place_and_nothing_is_said_twice() -> None:
    async with scene() as shop, shop.forwards() as forwards:
        before = await forwards.applied_to(environment(DB="db:5432"))
        words = list(shop.said)
        after = await forwards.applied_to(environment(DB="db.shop:5432"))

    assert after.values == before.values
    assert shop.said == words


async def test_each_pod_of_a_headless_service_has_a_place_of_its_own() -> None:
    brokers = "kafka-0.kafka:9092,kafka-1.kafka.shop.svc:9999"
    async with scene() as shop, shop.forwards() as forwards:
        found = await forwards.applied_to(environment(BROKERS=brokers))

    first, second = (each.split(":") for each in found.values["BROKERS"].split(","))
    assert first[0] != second[0]
    assert (first[1], second[1]) == ("9092", "9999")
    assert "forwarding kafka-0.kafka.shop at" in shop.said[0]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            "outside:80",
            "note: Service outside.shop is not forwarded: it is another name for pay.example",
        ),
        ("plain:5432", "note: Service plain.shop is not forwarded: it selects no pods"),
        (
            "names:5353",
            "note: Service names.shop: 5353/UDP is not forwarded: port-forward carries TCP alone",
        ),
        ("nobody:80", "note: no variable names a Service, so nothing is forwarded"),
    ],
)
async def test_what_is_not_forwarded_is_said_once(value: str, said: str) -> None:
    async with scene() as shop, shop.forwards() as forwards:
        for _ in range(2):
            await forwards.applied_to(environment(SETTING=value))

    assert shop.said.count(said) == 1


async def test_services_that_links_alone_name_share_a_line() -> None:
    async with scene() as shop:
        services = (await shop.cluster.resource(Service, namespace="shop").list()).items
        everybodys = await shop.cluster.resource(Service, namespace="default").get("kubernetes")
        known = (*services, everybodys)
        async with shop.forwards(known=known) as forwards:
            found = await forwards.applied_to(environment(*known, DB="db:5432"))

    address = found.values["DB"].partition(":")[0]
    assert found.values["DB_SERVICE_HOST"] == address
    assert found.values["DB_PORT"] == f"tcp://{address}:5432"
    assert found.values["KUBERNETES_SERVICE_HOST"] == everybodys.spec.cluster_ip
    assert f"forwarding db.shop at {address}:5432 (DB)" in shop.said
    assert "forwarding what service links alone name: cache, names" in shop.said
    assert not any("kubernetes" in line for line in shop.said)


async def test_a_chosen_service_is_the_only_one() -> None:
    async with scene() as shop, shop.forwards("db") as forwards:
        found = await forwards.applied_to(environment(DB="db:5432", CACHE="cache:5432"))

    assert found.values["DB"] != "db:5432"
    assert found.values["CACHE"] == "cache:5432"


async def test_a_chosen_service_that_no_variable_names_is_forwarded_too() -> None:
    async with scene() as shop, shop.forwards("db:5432", "names:tcp") as forwards:
        await forwards.applied_to(environment())

    assert [line.partition(" at ")[0] for line in shop.said] == [
        "forwarding db.shop",
        "forwarding names.shop",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nobody", "--forward=nobody: there is no Service nobody in namespace shop"),
        ("db:80", "--forward=db:80: Service db.shop has no such TCP port; it has 5432"),
        ("names:udp", "--forward=names:udp: Service names.shop has no such TCP port; it has 5353"),
        ("plain", "--forward=plain: Service plain.shop cannot be forwarded: it selects no pods"),
    ],
)
async def test_a_choice_that_is_not_there_is_a_mistake(text: str, words: str) -> None:
    async with scene() as shop, shop.forwards("db", text) as forwards:
        with pytest.raises(ConfigurationError) as mistake:
            await forwards.applied_to(environment())

    assert str(mistake.value) == words


@pytest.mark.parametrize("text", ["db", "www.example"])
async def test_a_choice_that_may_not_be_read_is_not_said_to_be_missing(text: str) -> None:
    async with scene() as shop, shop.forwards(text) as forwards:
        shop.server.faults.add(Fault("status", status=403, path="*/services/*", times=9))
        with pytest.raises(ConfigurationError, match=f"^--forward={text}: .*forbidden"):
            await forwards.applied_to(environment())

    assert shop.said == []


async def test_choices_are_made_again_when_a_server_did_not_answer_for_one() -> None:
    async with scene() as shop, shop.forwards("db", "cache") as forwards:
        shop.server.faults.add(Fault("status", status=400, path="*/services/cache"))
        with pytest.raises(ApiError):
            await forwards.applied_to(environment())
        await forwards.applied_to(environment())

    said = [line.partition(" at ")[0] for line in shop.said]
    assert said == ["forwarding db.shop", "forwarding cache.shop"]


@pytest.mark.parametrize("text", ["", ":", "db:", "db:1:2", "-x", "10.0.0.1", "a.b.c.d.e"])
def test_a_choice_has_one_form(text: str) -> None:
    with pytest.raises(ConfigurationError, match="name a Service, as in --forward=db"):
        ForwardChoice.parse(text)


async def test_a_service_that_may_not_be_read_elsewhere_is_a_host_like_any_other() -> None:
    async with scene() as shop, shop.forwards() as forwards:
        shop.server.faults.add(
            Fault("status", status=403, path="*/namespaces/example/services/www")
        )
        found = await forwards.applied_to(environment(WWW="http://www.example"))

    assert found.values == {"WWW": "http://www.example"}
    assert shop.said == ["note: no variable names a Service, so nothing is forwarded"]


class OneConfiguration:
    """A source that gives one configuration, and no other."""

    def __init__(self, configuration: ContainerConfiguration) -> None:
        self._configuration = configuration

    async def configurations(self) -> AsyncIterator[ContainerConfiguration]:
        yield self._configuration


class HurriedClock(SystemClock):
    """Nobody waits; ``slept`` says for how long somebody would have."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float, /) -> None:
        self.slept.append(seconds)


async def test_a_server_that_does_not_answer_is_asked_again() -> None:
    subject, clock = pod({"env": [{"name": "DB", "value": "db:5432"}]}), HurriedClock()
    async with scene() as shop:
        shop.server.faults.add(Fault("status", status=400, path="*/services/db"))
        opening = forwarded_configuration(
            nullcontext(OneConfiguration(resolved(subject))),
            shop.forwards(),
            say=shop.said.append,
            clock=clock,
        )
        async with opening as source:
            found = [each async for each in source.configurations()]

    assert found[0].environment.values["DB"].startswith("127.")
    assert shop.said[0].startswith("warning: the Services cannot be read: ")
    assert clock.slept == [RETRY]


class Configurations:
    """Gives configurations whose variable says which is which."""

    def __init__(self, *values: str) -> None:
        self._values = values

    async def configurations(self) -> AsyncIterator[ContainerConfiguration]:
        for value in self._values:
            yield resolved(pod({"env": [{"name": "WHICH", "value": value}]}))


class PickyForwards:
    """Finds no port for what is bad."""

    async def applied_to(self, found: Environment) -> Environment:
        if found.values["WHICH"] == "bad":
            raise ConfigurationError("--forward: no local port for Service db.shop")
        return found


def forwarded_values(*values: str, said: list[str]) -> AsyncIterator[ContainerConfiguration]:
    forwards: Any = PickyForwards()
    source = ForwardedConfiguration(
        Configurations(*values), forwards, say=said.append, clock=SystemClock()
    )
    return source.configurations()


async def test_a_change_that_cannot_be_forwarded_is_told_and_the_next_one_counts() -> None:
    said: list[str] = []

    found = [each async for each in forwarded_values("good", "bad", "better", said=said)]

    assert [each.environment.values["WHICH"] for each in found] == ["good", "better"]
    assert said == [
        "warning: --forward: no local port for Service db.shop; the process keeps what it has"
    ]


async def test_what_cannot_be_forwarded_at_the_start_is_the_callers() -> None:
    with pytest.raises(ConfigurationError, match="no local port"):
        await anext(forwarded_values("bad", "good", said=[]))
