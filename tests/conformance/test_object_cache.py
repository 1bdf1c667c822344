"""The recorded cases of the kubelet's cache of objects, each with a stream of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reflet.api.codec import Listing
from reflet.api.core.config import Secret
from reflet.api.meta import ObjectMeta
from reflet.api.options import GetOptions, ListOptions, WatchOptions
from reflet.api.watch_events import WatchEvent
from reflet.errors import MethodNotSupported, NotFound, RefletError
from reflet.managers.watch_based import IdleRule, WatchedObjects
from reflet.managers.watches.object_watch import StreamSettings
from reflet.managers.watches.streams import IndividualStreams
from reflet.testing.scripted_source import bookmark, listing
from reflet.testing.virtual_time import VirtualClock

pytestmark = pytest.mark.virtual_time

RECORDED = json.loads((Path(__file__).parent / "data" / "scenarios.json").read_text())
CASES = {case["test"]: case for case in RECORDED["object_cache"]["cases"]}

IDLE = IdleRule(longest=60.0, look_every=10.0**9)  # looked at when a case says so
A_MOMENT = 0.001  # virtual time moves only when nothing else can happen


def secret(name: str, version: str, *, immutable: bool = False) -> Secret:
    metadata = ObjectMeta(name=name, namespace="ns", resource_version=version)
    return Secret(metadata=metadata, immutable=immutable)


class Controlled:
    """A server whose list is given, and whose watch brings what a case says."""

    def __init__(self) -> None:
        self.listed: Listing[Secret] = listing("1")
        self.delay = 0.0
        self.only_watches = False
        self.requests: list[str] = []
        self.asked: list[ListOptions | WatchOptions] = []
        self.events: asyncio.Queue[WatchEvent[Secret]] = asyncio.Queue()

    def resource(self, kind: type[Any], *, namespace: str) -> Any:
        return self

    async def get(self, name: str, options: GetOptions, /) -> Secret:
        raise AssertionError("a cache that watches gets nothing")

    gate = None

    async def page(self, options: ListOptions, /) -> Listing[Secret]:
        self.requests.append("list")
        self.asked.append(options)
        await asyncio.sleep(self.delay)
        if self.only_watches:
            raise MethodNotSupported("no lists", code=405, reason="MethodNotAllowed")
        return self.listed

    @asynccontextmanager
    async def watch(
        self, options: WatchOptions, /, *, silence: float | None
    ) -> AsyncIterator[Controlled]:
        self.requests.append("watch")
        self.asked.append(options)
        yield self

    received_bytes = 0

    async def batches(self) -> AsyncIterator[Sequence[WatchEvent[Secret]]]:
        while True:
            yield [await self.events.get()]


class Stage:
    """A cache, its server and virtual time."""

    def __init__(self, *, streaming: bool = False) -> None:
        self.server = Controlled()
        settings = StreamSettings(
            server=self.server,
            kind=Secret,
            word="secret",
            clock=VirtualClock(),
            streaming=streaming,
        )
        self.cache = WatchedObjects(
            IndividualStreams(settings), word="secret", clock=VirtualClock(), idle=IDLE
        )

    async def got(self) -> str:
        """What a read of the object gives, as the cases write it."""
        try:
            found = await self.cache.get("ns", "name")
        except NotFound:
            return "NotFound"
        except RefletError as error:
            return str(error)
        return f"{found.metadata.name}@{found.metadata.resource_version}"

    @property
    def running(self) -> bool:
        return bool(self.cache.plan().streams)

    async def eventually(self, reached: Callable[[], bool]) -> None:
        await asyncio.sleep(A_MOMENT)
        assert reached()

    async def do(self, step: dict[str, Any]) -> None:
        """Do one step, and claim what it claims."""
        ((verb, what),) = step.items()
        match verb:
            case "list":
                items = [secret(*item.split("@")) for item in what["items"]]
                self.server.listed = listing(what["rv"], *items)
                self.server.delay = what.get("delay", 0.0)
            case "addReference":
                self.cache.add_reference(*what)
            case "deleteReference":
                self.cache.delete_reference(*what)
            case "watchEvent":
                kind, name, version = what
                await self.server.events.put(WatchEvent(type=kind, object=secret(name, version)))
            case "get" if what.startswith("error contains: "):
                text = what.removeprefix("error contains: ").removesuffix(" (after about 1 s)")
                assert text in await self.got()
            case "get":
                assert await self.got() == what
            case "eventuallyGet":
                await asyncio.sleep(A_MOMENT)
                assert await self.got() == what
            case "advance":
                await asyncio.sleep(what)
            case "recycleIdle":
                self.cache.stop_if_idle()
            case "repeat20":
                for number in range(20):
                    self.cache.add_reference("ns", "name", f"pod-{number}")
                    self.cache.delete_reference("ns", "name", f"pod-{number}")
            case "repeat3":
                for _ in range(3):
                    for inner in what:
                        await self.do(inner)
            case _:
                await self.claim(verb, what)

    async def claim(self, verb: str, what: Any) -> None:
        match verb:
            case "running":
                assert self.running is what
            case "synced":
                assert (self.cache.state_of("ns", "name") == "live") is what
            case "eventuallySynced":
                await self.eventually(lambda: self.cache.state_of("ns", "name") == "live")
            case "eventuallyRequests":
                await self.eventually(lambda: self.server.requests == what)
            case "requests":
                await asyncio.sleep(A_MOMENT)
                assert self.server.requests == what
            case _:
                pytest.fail(f"no such step: {verb}")


@pytest.mark.parametrize(
    "name",
    [
        "TestSecretCache",
        "TestSecretCacheMultipleRegistrations",
        "TestMaxIdleTimeStopsTheReflector",
        "TestReflectorNotStoppedOnSlowInitialization",
    ],
)
async def test_recorded(name: str) -> None:
    stage = Stage()
    async with stage.cache:
        for step in CASES[name]["steps"]:
            await stage.do(step)


@pytest.mark.parametrize("row", CASES["TestImmutableSecretStopsTheReflector"]["table"], ids=str)
async def test_immutable_secret_stops_the_reflector(row: dict[str, Any]) -> None:
    stage = Stage()
    initial, eventual = row["initial"], row["eventual"]
    items = [secret("name", initial["rv"], immutable=initial["immutable"])] if initial else []
    stage.server.listed = listing("100", *items)
    async with stage.cache:
        stage.cache.add_reference("ns", "name", "pod")
        first = await stage.got()
        running = [stage.running]
        if eventual is not None:
            item = secret("name", eventual["rv"], immutable=eventual["immutable"])
            await stage.server.events.put(
                WatchEvent(type="MODIFIED" if initial else "ADDED", object=item)
            )
            await stage.do({"eventuallyGet": f"name@{eventual['rv']}"})
            running.append(stage.running)

    assert first.removeprefix("name@") == row["firstGet"]
    assert running == [
        row[key] for key in ("runningAfterFirstGet", "runningAfterEventual") if key in row
    ]


@pytest.mark.parametrize(
    "row",
    CASES["TestRefMapHandlesReferencesCorrectly"]["table"],
    ids=lambda row: row["name"],
)
async def test_references_are_counted(row: dict[str, Any]) -> None:
    stage = Stage()
    counts = []
    async with stage.cache:
        for verb, namespace, name, referrer in row["ops"]:
            if verb == "add":
                stage.cache.add_reference(namespace, name, referrer)
            else:
                stage.cache.delete_reference(namespace, name, referrer)
            counts.append(stage.cache.references("ns1", "secret1"))

    assert counts == row["countForPod1AfterEach"]


async def test_watch_list_semantics_simple() -> None:
    stage = Stage(streaming=True)
    stage.server.only_watches = True
    await stage.server.events.put(bookmark("1", ends_initial_events=True, kind=Secret))
    async with stage.cache:
        stage.cache.add_reference("ns", "name", "pod")
        await stage.do(CASES["TestWatchListSemanticsSimple"]["steps"][-1])

        assert stage.server.requests == ["watch"]


async def test_unsupported_watch_list_semantics() -> None:
    stage = Stage(streaming=False)
    async with stage.cache:
        stage.cache.add_reference("ns", "name", "pod")
        await stage.do(CASES["TestUnSupportWatchListSemantics"]["steps"][-2])
        await stage.eventually(lambda: len(stage.server.requests) == 2)

        assert stage.server.requests == ["list", "watch"]
        assert not any(getattr(asked, "send_initial_events", None) for asked in stage.server.asked)


def test_every_recorded_case_is_played() -> None:
    assert set(CASES) == {
        "TestSecretCache",
        "TestSecretCacheMultipleRegistrations",
        "TestImmutableSecretStopsTheReflector",
        "TestMaxIdleTimeStopsTheReflector",
        "TestReflectorNotStoppedOnSlowInitialization",
        "TestRefMapHandlesReferencesCorrectly",
        "TestWatchListSemanticsSimple",
        "TestUnSupportWatchListSemantics",
    }
