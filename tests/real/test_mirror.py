"""The mirror on a real API server: it follows, survives restarts and compaction, and agrees."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import itertools
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.api.resources import Resource
from reflet.cluster import Cluster, settings_from
from reflet.informer.shared_informer import SharedInformer
from reflet.runtime.backoff import Backoff
from reflet.transport.config.kubeconfig import Overrides
from tests.mirror_scenes import COLOUR_CHOICES, CONFIG_MAPS, WIDGET_DEFINITION, WIDGETS
from tests.real.api_connection import ApiConnection
from tests.real.kube_server import NOT_YET, KubeServer
from tests.witnesses import Reader, State, Witness, differences, indexers, is_behind, troubles

PATIENCE: Final = 60.0  # seconds for everybody to agree
LOOK_EVERY: Final = 0.05  # seconds
NAMES: Final = tuple("abcdefgh")
MERGE_PATCH: Final = "application/merge-patch+json"


@pytest.fixture(params=[True, False], ids=["streaming", "listing"])
def streaming(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def widgets(kube: KubeServer) -> Resource:
    """A custom resource, once the server serves it."""
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    made = kube.request("POST", definitions, WIDGET_DEFINITION)
    assert made.code in {201, 409}, made
    kube._wait_until("widgets are served", lambda: kube.request("GET", WIDGETS.path()).code == 200)
    return WIDGETS


class Refused(Exception):
    """The server did not write what it was asked to."""


@dataclass
class Served:
    """One namespace of one resource on the real server, written by a client that is not ours."""

    kube: KubeServer
    namespace: str
    resource: Resource = CONFIG_MAPS

    def __post_init__(self) -> None:
        self._numbers = itertools.count()

    @property
    def path(self) -> str:
        return self.resource.path(namespace=self.namespace)

    def put(self, *names: str, connection: ApiConnection | None = None) -> None:
        """Create objects, or change them."""
        for name in names:
            number = next(self._numbers)
            colours = COLOUR_CHOICES[number % len(COLOUR_CHOICES)]
            document = {
                "apiVersion": self.resource.api_version,
                "kind": self.resource.kind,
                "metadata": {"name": name, "labels": {"colours": colours}},
                "data" if self.resource is CONFIG_MAPS else "spec": {"number": str(number)},
            }
            self._send("PATCH", f"{self.path}/{name}", document, connection)

    def delete(self, *names: str, connection: ApiConnection | None = None) -> None:
        """Delete objects; nothing happens where there is none."""
        for name in names:
            self._send("DELETE", f"{self.path}/{name}", None, connection)

    def states(self, selector: str = "") -> dict[str, State]:
        """Everything by key, straight from the database."""
        listed = self.kube.request("GET", f"{self.path}?labelSelector={selector}").body
        return {
            f"{self.namespace}/{item['metadata']['name']}": State.of_document(item)
            for item in listed["items"]
        }

    def _send(self, method: str, path: str, body: object, connection: ApiConnection | None) -> None:
        with ExitStack() as stack:
            if connection is None:
                connection = stack.enter_context(self.kube.connect())
            answer = connection.request(method, path, body, content_type=MERGE_PATCH)
            if method == "PATCH" and answer.code == 404:
                answer = connection.request("POST", self.path, body)
        if answer.code not in {200, 201, 404}:
            raise Refused(f"{method} {path}: {answer}")


@dataclass
class Mirrored:
    """An informer of a namespace, and everybody who watches it."""

    informer: SharedInformer[Any]
    reader: Reader[Any]
    served: Served
    selector: str = ""
    witnesses: list[Witness[Any]] = field(default_factory=list)

    def joins(self, name: str) -> Witness[Any]:
        witness: Witness[Any] = Witness(name)
        self.witnesses.append(witness)
        self.informer.add_handler(witness, name=name)
        return witness

    async def agrees(self) -> None:
        """Return as soon as everybody agrees with the server; nobody may write meanwhile."""
        states = await asyncio.to_thread(self.served.states, self.selector)
        store = self.informer.store
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while is_behind(store, self.witnesses, states) and loop.time() - begun < PATIENCE:  # noqa: ASYNC110 - nobody tells when all have heard
            await asyncio.sleep(LOOK_EVERY)
        assert differences(store, self.witnesses, states) == []
        assert troubles(self.reader, self.witnesses) == []


@asynccontextmanager
async def mirrored(
    served: Served, folder: Path, *, label_selector: str = "", **options: Any
) -> AsyncIterator[Mirrored]:
    served.kube.write_kubeconfig(folder / "config", namespace=served.namespace)
    settings = settings_from(Overrides(kubeconfig=str(folder / "config")))
    async with Cluster(dataclasses.replace(settings, qps=0)) as cluster:
        informer: SharedInformer[Any] = SharedInformer(
            cluster.resource(served.resource),
            name=served.resource.full_name,
            indexers=indexers(),
            label_selector=label_selector,
            on_error=lambda error: None,
            **{"backoff": Backoff(first=0.1, ceiling=1.0), **options},
        )
        made = Mirrored(informer, Reader(informer.store), served, label_selector)
        made.joins("early")
        with made.reader:
            async with informer:
                await informer.wait_synced(timeout=PATIENCE)
                yield made
        assert made.reader.looks > 0


async def test_it_fills_and_follows(
    kube: KubeServer, namespace: str, tmp_path: Path, streaming: bool
) -> None:
    served = Served(kube, namespace)
    served.put("a", "b", "c")

    async with mirrored(served, tmp_path, streaming=streaming) as mirror:
        await mirror.agrees()
        served.put("b", "d")
        served.delete("a", "c")
        served.put("c")
        await mirror.agrees()

        assert mirror.witnesses[0].told_of(f"{namespace}/a") == ["ADDED", "DELETED"]
        assert mirror.witnesses[0].told_of(f"{namespace}/c") == ["ADDED", "DELETED", "ADDED"]
        assert await consistent(mirror)


async def test_a_late_handler_is_told_the_present_state_first(
    kube: KubeServer, namespace: str, tmp_path: Path
) -> None:
    served = Served(kube, namespace)
    served.put("a", "b")

    async with mirrored(served, tmp_path) as mirror:
        served.delete("a")
        await mirror.agrees()
        late = mirror.joins("late")
        served.put("b", "c")
        await mirror.agrees()

        assert late.told_of(f"{namespace}/a") == []
        assert late.told_of(f"{namespace}/b") == ["ADDED", "UPDATED"]
        assert [change.initial for change in late.told] == [True, False, False]


async def test_what_no_longer_matches_a_selector_is_gone(
    kube: KubeServer, namespace: str, tmp_path: Path, streaming: bool
) -> None:
    served = Served(kube, namespace)
    served.put("a", "b", "c", "d", "e")

    options: dict[str, Any] = {"label_selector": "colours=red", "streaming": streaming}
    async with mirrored(served, tmp_path, **options) as mirror:
        await mirror.agrees()
        assert mirror.informer.store.keys() == [f"{namespace}/a"]
        served.put("e", "a")  # red, then red and blue
        await mirror.agrees()

        assert mirror.informer.store.keys() == [f"{namespace}/e"]
        assert mirror.witnesses[0].told_of(f"{namespace}/a") == ["ADDED", "DELETED"]


async def test_custom_resources_are_mirrored_too(
    kube: KubeServer, namespace: str, tmp_path: Path, widgets: Resource, streaming: bool
) -> None:
    served = Served(kube, namespace, widgets)
    served.put("a", "b")

    async with mirrored(served, tmp_path, streaming=streaming) as mirror:
        served.put("b", "c")
        served.delete("a")
        await mirror.agrees()

        assert {item.kind for item in mirror.informer.store.objects()} == {"Widget"}
        assert await consistent(mirror)


async def test_a_compaction_and_a_restart_lead_to_a_list_that_shows_what_was_missed(
    kube: KubeServer, namespace: str, tmp_path: Path, streaming: bool
) -> None:
    served = Served(kube, namespace)
    served.put("a", "b", "c")

    async with mirrored(served, tmp_path, streaming=streaming) as mirror:
        await mirror.agrees()
        await asyncio.to_thread(restart_unseen, served)
        await mirror.agrees()

        deletions = [change for change in mirror.witnesses[0].told if change.type == "DELETED"]
        assert [(change.key, change.stale) for change in deletions] == [(f"{namespace}/a", True)]
        assert await consistent(mirror)


def restart_unseen(served: Served) -> None:
    """Change things while nobody can watch, and let the history be gone when they can again."""
    kube = served.kube
    path = f"/registry/configmaps/{served.namespace}/a"
    with kube.outage(patience=0):
        key = base64.b64encode(path.encode()).decode()
        gone = kube._ask_etcd("/v3/kv/deleterange", {"key": key})
        assert gone["deleted"] == "1"
        kube.compact()
    served.put("b", "d")


@pytest.mark.time_limit(120)
async def test_a_server_that_restarts_twice_under_load(
    kube: KubeServer, namespace: str, tmp_path: Path, streaming: bool
) -> None:
    served = Served(kube, namespace)
    served.put(*NAMES)

    async with mirrored(served, tmp_path, streaming=streaming) as mirror:
        writer = Writer(served)
        with writer:
            for _ in range(2):
                before = writer.writes
                await asyncio.to_thread(writer.has_written, before + 50)
                await asyncio.to_thread(kube.restart_apiserver, patience=0)
            await asyncio.to_thread(writer.has_written, writer.writes + 50)
        await mirror.agrees()

        assert writer.failures > 0  # it did not wait for the restarts
        assert await consistent(mirror)


class Writer:
    """A thread that goes on creating, changing and deleting whatever happens to the server."""

    def __init__(self, served: Served) -> None:
        self.writes = 0
        self.failures = 0
        self._served = served
        self._over = threading.Event()
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._write, name="writer")

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def has_written(self, count: int) -> None:
        """Wait until so much has been written."""
        with self._news:
            assert self._news.wait_for(lambda: self.writes >= count, timeout=PATIENCE)

    def _write(self) -> None:
        numbers = itertools.count()
        while not self._over.is_set():
            try:
                with self._served.kube.connect() as connection:
                    self._write_until_it_breaks(connection, numbers)
            except (*NOT_YET, Refused, ValueError):
                self.failures += 1  # the server is away, or not quite back
                self._over.wait(LOOK_EVERY)

    def _write_until_it_breaks(
        self, connection: ApiConnection, numbers: itertools.count[int]
    ) -> None:
        while not self._over.is_set():
            number = next(numbers)
            change: Callable[..., None] = self._served.put
            if number % 4 == 3:
                change = self._served.delete
            change(NAMES[number % 7 % len(NAMES)], connection=connection)
            with self._news:
                self.writes += 1
                self._news.notify_all()


@pytest.mark.time_limit(120)
async def test_five_thousand_objects_are_all_there(
    kube: KubeServer, namespace: str, tmp_path: Path, streaming: bool
) -> None:
    served = Served(kube, namespace)
    names = [f"object-{number:04}" for number in range(5000)]
    await asyncio.to_thread(create_quickly, served, names)

    async with mirrored(served, tmp_path, streaming=streaming) as mirror:
        assert len(mirror.informer.store) == len(names)
        served.delete(*names[:3])
        served.put(*names[3:6])
        await mirror.agrees()

        assert await consistent(mirror)


def create_quickly(served: Served, names: list[str]) -> None:
    """Create many objects over a few connections at once."""

    def create(some: list[str]) -> None:
        with served.kube.connect() as connection:
            for name in some:
                body = {"metadata": {"name": name}, "data": {"number": name}}
                connection.create(served.path, body)

    threads = [threading.Thread(target=create, args=(names[part::4],)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def consistent(mirror: Mirrored) -> bool:
    """Whether the mirror's own check agrees as well."""
    reflector = mirror.informer.reflector
    assert reflector is not None
    return bool(await reflector.check_consistency())
