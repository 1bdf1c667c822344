"""One stream: watched, polled or read once; what it says when it cannot be read."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from reflet.api.codec import Listing
from reflet.api.core.config import ConfigMap
from reflet.api.meta import ListMeta, ObjectMeta
from reflet.api.options import ListOptions
from reflet.errors import Expired, Forbidden, InternalError, NotFound, TransportError
from reflet.runtime.clock import SystemClock
from reflet.runtime.metrics import MemoryMetrics
from reflet.sidecar.object_streams import LONGEST_PAUSE, ObjectStream
from reflet.sidecar.selected_objects import SelectedObjects
from reflet.store.deltas import Delta, Replaced
from tests.unit.sidecar.scenes import settings

FORBIDDEN = Forbidden("configmaps is forbidden", code=403)


class Collection:
    """Refuses to stream and to watch; lists and gets as it is told."""

    gate = None

    def __init__(self, *answers: list[str] | Exception, watch: Exception | None = None) -> None:
        self.answers = list(answers)
        self.watch_refusal = watch or InternalError("no watches here", code=500)
        self.asked: list[str] = []

    def resource(self, kind: type, *, namespace: str) -> Collection:
        self.asked.append(f"{kind.__name__} in {namespace}")
        return self

    def _next(self) -> list[ConfigMap]:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return [
            ConfigMap(metadata=ObjectMeta(name=name, namespace="n", resource_version="1"))
            for name in answer
        ]

    async def page(self, options: ListOptions) -> Listing[Any]:
        self.asked.append("list")
        return Listing(items=tuple(self._next()), metadata=ListMeta(resource_version="1"))

    async def list(self, options: ListOptions) -> Listing[Any]:
        return await self.page(options)

    async def get(self, name: str) -> ConfigMap:
        self.asked.append(f"get {name}")
        return self._next()[0]

    def watch(self, options: object, *, silence: float | None) -> Any:
        self.asked.append("watch")
        raise self.watch_refusal


class Scene:
    """A stream and what it delivers."""

    def __init__(self, source: Collection, *, name: str = "", **variables: str) -> None:
        self.delivered: list[list[str]] = []
        self.news = 0
        self.stream = ObjectStream(
            SelectedObjects("configmap", "n", "" if name else "findme", name),
            settings(**variables),
            source,  # type: ignore[arg-type]  # a client by shape
            self._deliver,
            news=self._tell,
            clock=SystemClock(),
            metrics=MemoryMetrics(),
        )

    def _deliver(self, delta: Delta[Any]) -> None:
        assert isinstance(delta, Replaced)
        self.delivered.append([each.metadata.name for each in delta.items])

    def _tell(self) -> None:
        self.news += 1

    @contextmanager
    def running(self) -> Iterator[None]:
        task = asyncio.create_task(self.stream.run())
        try:
            yield
        finally:
            task.cancel()


@pytest.mark.virtual_time
async def test_polling_lists_every_sleep_time() -> None:
    source = Collection(["a"], ["a", "b"], ["b"])
    scene = Scene(source, METHOD="SLEEP", SLEEP_TIME="10")
    with scene.running():
        await asyncio.sleep(25)

    assert scene.delivered == [["a"], ["a", "b"], ["b"]]
    assert scene.stream.is_synced
    assert "watch" not in source.asked


@pytest.mark.virtual_time
async def test_a_refusal_is_said_once_and_backed_off_from(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = Collection(FORBIDDEN)
    scene = Scene(source, METHOD="SLEEP", ERROR_THROTTLE_SLEEP="7")
    with scene.running():
        await asyncio.sleep(6)
        assert source.asked.count("list") == 1
        await asyncio.sleep(600)

    assert scene.stream.is_settled
    assert not scene.stream.is_synced
    assert 5 < source.asked.count("list") < 20
    [line] = [record.getMessage() for record in caplog.records]
    assert line == (
        "configmaps in n cannot be read: configmaps is forbidden; it takes the right to list"
    )


@pytest.mark.virtual_time
async def test_a_stream_that_can_be_read_at_last_is_synced() -> None:
    scene = Scene(Collection(InternalError("oops", code=500), ["a"]), METHOD="SLEEP")
    synced = []
    with scene.running():
        await asyncio.sleep(1)
        assert scene.stream.is_settled
        synced.append(scene.stream.is_synced)
        await asyncio.sleep(60)
        synced.append(scene.stream.is_synced)

        assert synced == [False, True]
        assert scene.stream.is_live(120)
        assert not scene.stream.is_live(1)


@pytest.mark.virtual_time
async def test_what_may_be_listed_and_not_watched_is_listed_again_and_again() -> None:
    source = Collection(["a"], ["b"], watch=FORBIDDEN)
    scene = Scene(source)
    with scene.running():
        await asyncio.sleep(100)

    assert scene.delivered[:2] == [["a"], ["b"]]


@pytest.mark.virtual_time
async def test_a_named_object_that_may_not_be_watched_is_got() -> None:
    source = Collection(FORBIDDEN, ["x"], NotFound("gone", code=404), watch=FORBIDDEN)
    scene = Scene(source, name="x", SLEEP_TIME="10")
    with scene.running():
        await asyncio.sleep(15)

    assert source.asked == ["ConfigMap in n", "watch", "list", "get x", "get x"]
    assert scene.delivered == [["x"], []]
    assert scene.stream.is_synced


@pytest.mark.virtual_time
async def test_a_named_object_that_may_not_even_be_got_is_a_failure() -> None:
    scene = Scene(Collection(FORBIDDEN, watch=FORBIDDEN), name="x")
    with scene.running():
        await asyncio.sleep(1)

    assert scene.stream.failure is FORBIDDEN


@pytest.mark.virtual_time
async def test_a_named_object_whose_rights_come_late_is_watched_all_the_same() -> None:
    source = Collection(FORBIDDEN, FORBIDDEN, ["x"], watch=FORBIDDEN)
    scene = Scene(source, name="x", SLEEP_TIME="60", ERROR_THROTTLE_SLEEP="1")
    with scene.running():
        await asyncio.sleep(0.5)
        source.watch_refusal = InternalError("not now", code=500)
        await asyncio.sleep(5)

    assert scene.stream.is_synced
    assert "watch" in source.asked[source.asked.index("get x") + 1 :]


@pytest.mark.virtual_time
async def test_a_named_object_that_may_never_be_watched_is_got_though_its_rights_came_late() -> (
    None
):
    source = Collection(FORBIDDEN, FORBIDDEN, ["x"], FORBIDDEN, ["x"], watch=FORBIDDEN)
    scene = Scene(source, name="x", SLEEP_TIME="10", ERROR_THROTTLE_SLEEP="1")
    with scene.running():
        await asyncio.sleep(100)

    assert source.asked.count("watch") == 2
    assert source.asked.count("get x") > 9


async def test_reading_once_raises_what_the_server_says() -> None:
    with pytest.raises(Forbidden):
        await Scene(Collection(FORBIDDEN)).stream.read_once()
    with pytest.raises(TransportError):
        await Scene(Collection(TransportError("away"))).stream.read_once()


async def test_all_namespaces_are_one_stream() -> None:
    source = Collection(["a"])
    stream = ObjectStream(
        SelectedObjects("secret", None, "findme"),
        settings(),
        source,  # type: ignore[arg-type]  # a client by shape
        lambda _: None,
        news=lambda: None,
        clock=SystemClock(),
        metrics=MemoryMetrics(),
    )
    await stream.read_once()

    assert source.asked[0] == "Secret in *"


async def pauses_between_watches(refusal: Exception, seconds: float) -> dict[float, float]:
    """When a watch was asked for that is always refused so, and how long before the next one."""
    source = Collection(["a"], watch=refusal)
    moments: list[float] = []

    def watch(_options: object, *, silence: float | None) -> Any:
        moments.append(asyncio.get_running_loop().time() - began)
        raise source.watch_refusal

    source.watch = watch  # type: ignore[method-assign,assignment]  # only when matters
    began = asyncio.get_running_loop().time()
    with Scene(source, ERROR_THROTTLE_SLEEP="7").running():
        await asyncio.sleep(seconds)
    # A stream and the watch that takes its place are one try.
    return {a: b - a for a, b in itertools.pairwise(moments) if b - a > 0.5}


@pytest.mark.virtual_time
async def test_a_refused_watch_is_left_alone_for_the_throttle_at_least() -> None:
    pauses = await pauses_between_watches(InternalError("no watches here", code=500), 600)

    assert min(pauses.values()) > 6.99


@pytest.mark.virtual_time
async def test_a_version_that_has_expired_is_no_refusal() -> None:
    pauses = await pauses_between_watches(Expired("too old", code=410), 60)

    assert min(pauses.values()) < 2


@pytest.mark.virtual_time
async def test_a_server_that_keeps_restarting_is_never_left_alone_for_long() -> None:
    pauses = await pauses_between_watches(Expired("too old", code=410), 3600)

    assert max(pauses.values()) <= 2 * LONGEST_PAUSE
