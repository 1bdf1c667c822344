"""A sidecar in a scene: a development server, a web server that remembers, and a folder.

Owns: running a sidecar by a hurried clock inside the test, until it is at rest; faults between it
and the API server; what the folder holds.  Must not know what is expected.
"""

from __future__ import annotations

import asyncio
import base64
import http.client
import ssl
import stat
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from reflet.api.selectors.labels import LabelSelector
from reflet.client.client import Client
from reflet.runtime.clock import Clock
from reflet.sidecar.selected_objects import selected
from reflet.sidecar.sidecar import Sidecar
from reflet.sidecar.sidecar_settings import read_settings
from reflet.testing.pytest_plugin import RunningServer
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.connection import Connection
from reflet.transport.serving.http_answers import Question
from tests.faults.hurry import HurriedClock
from tests.integration.plain_client import TIMEOUT
from tests.integration.plain_client import Client as PlainClient
from tests.patience import Deadline
from tests.sidecar_surroundings import Document, FaultyTransport, WebTarget

PLURALS: Final = {"ConfigMap": "configmaps", "Secret": "secrets", "Namespace": "namespaces"}
REST: Final = 20.0  # seconds on a quiet machine in which a sidecar must come to rest


class _TlsClient(PlainClient):
    def __init__(self, server: RunningServer) -> None:
        super().__init__(server.url, server.token)
        self._context = ssl.create_default_context(cadata=server.ca_data.decode())

    def connect(self) -> http.client.HTTPConnection:
        address = self._address
        return http.client.HTTPSConnection(
            address.hostname or "", address.port, timeout=TIMEOUT, context=self._context
        )


class SidecarScene:
    """One sidecar after the other, with one server, one target and one folder."""

    def __init__(
        self,
        server: RunningServer,
        target: WebTarget,
        root: Path,
        environ: Mapping[str, str],
        *,
        connection: ConnectionSettings | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.api = _TlsClient(server) if server.ca_data else PlainClient(server.url, server.token)
        self.target = target
        self.root = root
        self.folder = root / "folder"
        variables = {"LABEL": "findme", "FOLDER": str(self.folder), **environ}
        self.settings = read_settings(variables)
        self.clock = clock or HurriedClock()
        self._connection = connection or ConnectionSettings(server=server.url, namespace="default")
        self.faults: FaultyTransport | None = None
        self.sidecar: Sidecar | None = None
        self._written: dict[tuple[str, str, str], Document | None] = {}

    # What happens to the cluster

    def put(self, *documents: Document) -> None:
        """Create or replace objects."""
        for document in documents:
            path = _collection(document)
            name = document["metadata"]["name"]
            found = self.api.get(f"{path}/{name}")
            if found.code == 404:
                made = self.api.create(path, document)
            else:
                meta = {
                    **document["metadata"],
                    "resourceVersion": found.body["metadata"]["resourceVersion"],
                }
                answer = self.api.request("PUT", f"{path}/{name}", {**document, "metadata": meta})
                assert answer.code == 200, answer.content
                made = answer.body
            self._written[_key(document)] = made

    def delete(self, *documents: Document) -> None:
        """Delete objects."""
        for document in documents:
            name = document["metadata"]["name"]
            answer = self.api.request("DELETE", f"{_collection(document)}/{name}")
            assert answer.code == 200, answer.content
            self._written[_key(document)] = None

    # The life of a sidecar

    @asynccontextmanager
    async def running(
        self, faults: list[Document] | None = None
    ) -> AsyncIterator[asyncio.Task[None]]:
        """A sidecar that runs until the block is left."""
        transport = FaultyTransport(Connection(self._connection, clock=self.clock))
        transport.faults = [dict(each) for each in faults or ()]
        self.faults = transport
        async with Client(transport, namespace="default") as client:
            self.sidecar = Sidecar(self.settings, client, namespace="default", clock=self.clock)
            task = asyncio.create_task(self.sidecar.run(), name="sidecar")
            try:
                yield task
            finally:
                task.cancel()
                await asyncio.wait((task,))

    async def rest(self, task: asyncio.Task[None]) -> None:
        """Wait until the sidecar knows all that was written, and has nothing left to do."""
        await self.until(task, self._is_at_rest)

    async def until(self, task: asyncio.Task[None], is_so: Callable[[], bool]) -> None:
        """Wait until something is so, or the sidecar has ended."""
        deadline = Deadline(REST)
        while not task.done() and not is_so():
            assert not deadline.passed, "it did not happen in time"
            await asyncio.sleep(0.005)

    def _is_at_rest(self) -> bool:
        assert self.sidecar is not None
        return self.sidecar.is_at_rest and self._knows_all()

    def _knows_all(self) -> bool:
        """Whether every stream has seen the newest state of each object that it selects."""
        assert self.sidecar is not None
        for rank, stream in enumerate(selected(self.settings, "default")):
            known = {
                (each.namespace, each.name): version
                for each, version in self.sidecar._inbox._versions[rank].items()
            }
            for (kind, namespace, name), document in self._written.items():
                if kind.lower() != stream.kind or stream.namespace not in {None, namespace}:
                    continue
                if stream.name and stream.name != name:
                    continue
                labels = {} if document is None else document["metadata"].get("labels", {})
                selector = LabelSelector.parse(stream.label_selector)
                is_selected = document is not None and selector.matches(labels)
                version = document["metadata"]["resourceVersion"] if document else ""
                if known.get((namespace, name)) != (version if is_selected else None):
                    return False
        return True

    # What can be seen

    def tree(self) -> dict[str, tuple[str, str | None]]:
        """Every visible file and folder below the root: its mode, and what it holds."""
        return tree_of(self.root)

    def files(self) -> dict[str, str]:
        """What every visible file of the folder holds, as text."""
        return {
            path.removeprefix("folder/"): content or ""
            for path, (_, content) in self.tree().items()
            if not path.endswith("/")
        }

    async def healthz(self) -> tuple[int, str]:
        """What /healthz answers."""
        assert self.sidecar is not None
        answer = await self.sidecar.pages.answer(Question(("healthz",), {}, {}, target="/healthz"))
        assert isinstance(answer.body, bytes)
        return answer.status, answer.body.decode()


def tree_of(root: Path) -> dict[str, tuple[str, str | None]]:
    """Every visible file and folder: its mode, and what it holds, in base64 if it is no text."""
    found: dict[str, tuple[str, str | None]] = {}
    for path in sorted(root.rglob("*")):
        relative = str(path.relative_to(root))
        if any(part.startswith(".") for part in relative.split("/")):
            continue
        mode = oct(stat.S_IMODE(path.lstat().st_mode))
        if path.is_dir():
            found[f"{relative}/"] = (mode, None)
            continue
        data = path.read_bytes()
        try:
            found[relative] = (mode, data.decode())
        except UnicodeDecodeError:
            found[relative] = (mode, base64.b64encode(data).decode())
    return found


def config_map(
    name: str,
    data: Mapping[str, str] | None = None,
    *,
    namespace: str = "default",
    folder: str | None = None,
    **more: Any,
) -> Document:
    """A ConfigMap with the label that sidecars look for."""
    annotations = {} if folder is None else {"k8s-sidecar-target-directory": folder}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"findme": "yes"},
            "annotations": annotations,
        },
        "data": dict(data or {}),
        **more,
    }


def secret(name: str, data: Mapping[str, bytes], *, namespace: str = "default") -> Document:
    """A Secret with the label that sidecars look for."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace, "labels": {"findme": "yes"}},
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }


@contextmanager
def script(folder: Path, text: str = "", *, mode: int = 0o755, code: int = 0) -> Iterator[Path]:
    """A script that notes each run in ``script.log`` beside it."""
    path = folder / "script.sh"
    path.write_text(text or f'#!/bin/sh\necho ran >> "{folder}/script.log"\nexit {code}\n')
    path.chmod(mode)
    yield path


def runs_of(folder: Path) -> int:
    """How often the script ran."""
    log = folder / "script.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def _collection(document: Document) -> str:
    if document["kind"] == "Namespace":
        return "/api/v1/namespaces"
    namespace = document["metadata"].get("namespace", "default")
    return f"/api/v1/namespaces/{namespace}/{PLURALS[document['kind']]}"


def _key(document: Document) -> tuple[str, str, str]:
    meta = document["metadata"]
    return document["kind"], meta.get("namespace", "default"), meta["name"]


def port_of(url: str) -> int:
    """The port of an address."""
    return urlsplit(url).port or 0
