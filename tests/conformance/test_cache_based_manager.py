"""The recorded cases of the kubelet's manager that counts references."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import Secret
from reflet.api.core.nodes import Node
from reflet.api.meta import ObjectMeta
from reflet.api.options import GetOptions
from reflet.errors import Expired, NotRegistered, RefletError
from reflet.managers.registry import PodRegistry
from reflet.managers.ttl import ExpiringObjects, ttl_from
from reflet.resolution.references.references import secret_names
from reflet.testing.virtual_time import ManualClock
from tests.unit.managers.pods import pod

RECORDED = json.loads((Path(__file__).parent / "data" / "scenarios.json").read_text())
CASES = {case["test"]: case for case in RECORDED["cache_based_manager"]["cases"]}


class Server:
    """Has every Secret that it is asked for, and counts; or fails with *failure*."""

    def __init__(self, failure: RefletError | None = None) -> None:
        self.fetched: list[str] = []
        self._failure = failure

    def resource(self, kind: type[Any], *, namespace: str) -> Any:
        return self

    async def get(self, name: str, options: GetOptions, /) -> Secret:
        self.fetched.append(name)
        await asyncio.sleep(0)
        if self._failure is not None:
            raise self._failure
        return Secret(metadata=ObjectMeta(name=name, resource_version="1"))

    def take_fetched(self) -> list[str]:
        taken, self.fetched = self.fetched, []
        return taken


class Stage:
    """A manager on a store that expires."""

    def __init__(self, *, ttl: float = 60.0, failure: RefletError | None = None) -> None:
        self.server = Server(failure)
        self.clock = ManualClock()
        self.asked_ttl: float | None = None
        self.store = ExpiringObjects(
            self.server,
            Secret,
            word="secret",
            clock=self.clock,
            default_ttl=ttl,
            ttl=lambda: self.asked_ttl,
        )
        self.pods = PodRegistry(self.store, secret_names)

    def do(self, verb: str, name: str, secrets: list[str], uid: str = "") -> None:
        item = pod(name, secrets=secrets, namespace="ns1", uid=uid)
        if verb == "register":
            self.pods.register(item)
        else:
            self.pods.unregister(item)

    def counts(self, *names: str) -> dict[str, int]:
        return {name: self.store.references("ns1", name) for name in names}


def test_register_idempotence() -> None:
    case = CASES["TestRegisterIdempotence"]
    stage = Stage()

    seen = []
    for verb, key, _ in case["steps"]:
        stage.do(verb, key.removeprefix("ns1/"), case["secretsOfEveryPod"])
        seen.append(stage.counts("s1"))

    assert seen == [counts for _, _, counts in case["steps"]]


async def test_cache_invalidation() -> None:
    stage = Stage(ttl=CASES["TestCacheInvalidation"]["ttlSeconds"])
    for step in CASES["TestCacheInvalidation"]["steps"]:
        if "register" in step:
            stage.do("register", *step["register"])
            continue
        for name in step["gets"]:
            await stage.store.get("ns1", name)
        fetched = stage.server.take_fetched()

        assert len(fetched) == step["fetches"]
        assert fetched == step.get("fetched", step["gets"])


def test_cache_refcounts() -> None:
    case = CASES["TestCacheRefcounts"]
    stage = Stage()
    for verb, name, secrets in case["steps"]:
        stage.do(verb, name, secrets)

    assert stage.counts(*case["expectRefs"]) == case["expectRefs"]


def test_pods_of_one_name_and_different_uids_are_different_pods() -> None:
    stage = Stage()
    for verb, key, secrets, counts in CASES["TestCacheRefcounts (same name, different uid)"][
        "steps"
    ]:
        name, uid = key.split("/")
        stage.do(verb, name, secrets, uid)

        assert stage.counts(*counts) == counts


async def test_custom_ttl() -> None:
    case = CASES["TestCustomTTL"]
    stage = Stage(ttl=case["defaultTTLSeconds"])
    stage.store.add_reference("ns1", "s1", "pod")
    for verb, what in case["steps"]:
        match verb:
            case "get":
                await stage.store.get("ns1", "s1")
                assert len(stage.server.take_fetched()) == what
            case "ttl":
                stage.asked_ttl = what
            case _:
                stage.clock.advance(what)


@pytest.mark.parametrize("row", CASES["TestParseNodeAnnotation"]["table"], ids=str)
def test_parse_node_annotation(row: dict[str, Any]) -> None:
    name = CASES["TestParseNodeAnnotation"]["annotation"]

    def node() -> Node | None:
        if row.get("node") == "lookup error":
            raise RefletError("no such node")
        annotations = {name: row["value"]} if "value" in row else row.get("annotations") or {}
        return Node(metadata=ObjectMeta(annotations=annotations))

    assert ttl_from(node)() == (row["seconds"] if row["set"] else None)


async def test_secret_store() -> None:
    case = CASES["TestSecretStore"]
    stage = Stage()
    for verb, key in case["refs"]:
        namespace, name = key.split("/")
        change = stage.store.add_reference if verb == "add" else stage.store.delete_reference
        change(namespace, name, "pod")
    from_references = stage.server.take_fetched()
    registered: dict[str, bool] = {}
    for key in case["registered"]:
        try:
            await stage.store.get(*key.split("/"))
            registered[key] = True
        except NotRegistered:
            registered[key] = False

    assert len(from_references) == case["fetchesFromRefs"]
    assert len(stage.server.fetched) == case["fetches"]
    assert registered == case["registered"]


@pytest.mark.parametrize(
    "name", ["TestSecretStoreGetAlwaysRefresh", "TestSecretStoreGetNeverRefresh"]
)
async def test_parallel_gets(name: str) -> None:
    case = CASES[name]
    stage = Stage(ttl=case["ttlSeconds"])
    for number in range(case["objects"]):
        stage.store.add_reference(f"ns{number}", f"name{number}", "pod")

    async with asyncio.TaskGroup() as tasks:
        for number in range(case["parallelGets"]):
            which = number % case["objects"]
            tasks.create_task(stage.store.get(f"ns{which}", f"name{which}"))

    assert len(stage.server.fetched) == case["fetches"]


async def test_resource_content_expired() -> None:
    stage = Stage(failure=Expired("too old", code=410, reason="Expired"))
    stage.do("register", "name1", ["s1"])

    with pytest.raises(Expired):
        await stage.store.get("ns1", "s1")


def test_every_recorded_case_is_played() -> None:
    assert set(CASES) == {
        "TestRegisterIdempotence",
        "TestCacheInvalidation",
        "TestCacheRefcounts",
        "TestCacheRefcounts (same name, different uid)",
        "TestCustomTTL",
        "TestParseNodeAnnotation",
        "TestSecretStore",
        "TestSecretStoreGetAlwaysRefresh",
        "TestSecretStoreGetNeverRefresh",
        "TestResourceContentExpired",
    }
