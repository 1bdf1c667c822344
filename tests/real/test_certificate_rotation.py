"""Certificates in files that are replaced under open watches, on a server that checks them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.options import WatchOptions
from reflet.cluster import Cluster, connect
from reflet.informer.handlers.changes import Change
from reflet.transport.http import cert_rotation
from tests.patience import Deadline
from tests.real.api_connection import ApiConnection
from tests.real.certificates import Authority, CertificateFiles
from tests.real.kube_server import HOST, SERVED_NAMES, KubeServer

MIRRORS: Final = 20
SPREAD: Final = 3.0  # seconds
PATIENCE: Final = 60.0
A_LOOK: Final = 0.05
CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"
POLICY: Final = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseComplete"],
    "rules": [
        {"level": "Metadata", "verbs": ["watch"], "resources": [{"resources": ["configmaps"]}]},
        {"level": "None"},
    ],
}

pytestmark = pytest.mark.time_limit(180)


class RotatingServer(KubeServer):
    """A server whose files a test replaces, and that notes by which certificate who watched."""

    def __init__(self, folder: Path) -> None:
        (folder / "policy").write_text(json.dumps(POLICY))
        self._audit_log = folder / "audit.log"
        flags = (f"--audit-policy-file={folder}/policy", f"--audit-log-path={self._audit_log}")
        super().__init__(api_server_flags=flags)

    def watches_by(self, certificate: Path) -> int:
        """How many watches of ConfigMaps were opened with this certificate."""
        der = ssl.PEM_cert_to_DER_cert(certificate.read_text())
        wanted = [f"X509SHA256={hashlib.sha256(der).hexdigest()}"]
        events = (json.loads(line) for line in self._audit_log.read_text().splitlines())
        return sum(event["user"].get("extra", {}).get(CREDENTIAL) == wanted for event in events)

    def trusts(self, pair: CertificateFiles) -> bool:
        """Whether a client certificate is accepted."""
        with self.connect(None, certificate=pair) as connection:
            return connection.request("GET", "/api/v1/namespaces").code == 200

    def is_vouched_for_by(self, authority: Authority) -> bool:
        """Whether the certificate that is served now is this authority's."""
        context = ssl.create_default_context(cadata=authority.pem.decode())
        try:
            with ApiConnection(HOST, self.port, tls=context) as connection:
                connection.request("GET", "/livez")
        except ssl.SSLCertVerificationError:
            return False
        return True


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Move streams over in less time than usual."""
    monkeypatch.setattr(cert_rotation, "SPREAD", SPREAD)


@pytest.fixture
def rotating(tmp_path: Path) -> Iterator[RotatingServer]:
    with RotatingServer(tmp_path) as server:
        yield server


class Scene:
    """A client by files, its mirrors and a plain watch, and a writer that is not ours."""

    def __init__(self, server: RotatingServer, folder: Path) -> None:
        self.server = server
        self.namespace = f"test-{secrets.token_hex(4)}"
        self.authority = folder / "ca.crt"
        self.authority.write_bytes(server.ca_file.read_bytes())
        self.pair = CertificateFiles(folder / "client.crt", folder / "client.key")
        self.issue(server.client_certificate("first", ["system:masters"]))
        self.config = folder / "config"
        self.config.write_text(json.dumps(self._kubeconfig()))
        self.written: list[str] = []
        self.heard: list[list[str]] = [[] for _ in range(MIRRORS)]  # by each mirror
        self.watched: list[str] = []

    def issue(self, pair: CertificateFiles) -> None:
        """Put a pair in the place of the one before: first the certificate, then the key."""
        self.pair.certificate_file.write_bytes(pair.certificate_file.read_bytes())
        self.pair.key_file.write_bytes(pair.key_file.read_bytes())

    def connections(self) -> set[str]:
        """The client's open connections."""
        return connections_to(self.server.port) - self._of_the_writer

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Scene]:
        """Write and read while the block lasts; then everybody must have heard of everything."""
        async with AsyncExitStack() as stack:
            writer = stack.enter_context(self.server.connect())
            writer.create("/api/v1/namespaces", {"metadata": {"name": self.namespace}})
            self._of_the_writer = connections_to(self.server.port)
            cluster = await stack.enter_async_context(connect(kubeconfig=str(self.config)))
            for heard in self.heard:
                mirror = await stack.enter_async_context(cluster.mirror(ConfigMap))
                mirror.add_handler(partial(_note, heard))
                await mirror.synced(timeout=PATIENCE)
            version = (await cluster.resource(ConfigMap).list()).metadata.resource_version
            tasks = await stack.enter_async_context(asyncio.TaskGroup())
            watching = tasks.create_task(self._watch(cluster, version), name="plain watch")
            using = tasks.create_task(self._use(cluster, writer), name="use")
            await until(lambda: len(self.watched) > 5)
            yield self
            using.cancel()
            everybody = (*self.heard, self.watched)
            await until(lambda: all(heard[-1] == self.written[-1] for heard in everybody))
            watching.cancel()
        for heard in everybody:
            assert heard == self.written

    async def _watch(self, cluster: Cluster, version: str) -> None:
        """Plain watches, each from where the last one ended."""
        items = cluster.resource(ConfigMap)
        while True:
            async with items.watch(WatchOptions(resource_version=version)) as watch:
                async for event in watch:
                    version = event.object.metadata.resource_version
                    self.watched.append(event.object.metadata.name)

    async def _use(self, cluster: Cluster, writer: ApiConnection) -> None:
        """Write, and have the client ask for what was written."""
        path = f"/api/v1/namespaces/{self.namespace}/configmaps"
        while True:
            name = f"number-{len(self.written)}"
            self.written.append(name)
            writer.create(path, {"metadata": {"name": name}})
            await cluster.resource(ConfigMap).get(name)
            await asyncio.sleep(A_LOOK)

    def _kubeconfig(self) -> dict[str, Any]:
        config = self.server.kubeconfig(certificate=self.pair, namespace=self.namespace)
        cluster = config["clusters"][0]["cluster"]
        del cluster["certificate-authority-data"]
        cluster["certificate-authority"] = str(self.authority)
        return config


def _note(heard: list[str], change: Change[ConfigMap]) -> None:
    heard.append(change.object.metadata.name)


async def test_a_client_pair_and_the_authority_of_clients_rotate(
    rotating: RotatingServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stage, authority = Scene(rotating, tmp_path), Authority("another client authority")
    old = rotating.client_certificate("first", ["system:masters"])
    new = CertificateFiles(tmp_path / "new.crt", tmp_path / "new.key")
    authority.issue_client(new, user="second", groups=["system:masters"])
    with caplog.at_level(logging.WARNING):
        async with stage.open():
            before = stage.connections()
            both = rotating.client_ca_file.read_bytes() + authority.pem
            rotating.client_ca_file.write_bytes(both)
            await until(lambda: rotating.trusts(new))
            stage.issue(new)
            await until(lambda: not stage.connections() & before)
            rotating.client_ca_file.write_bytes(authority.pem)
            await until(lambda: not rotating.trusts(old))
            after = stage.connections()

    assert (len(before), len(after)) == (1, 1)
    assert rotating.watches_by(new.certificate_file) == MIRRORS + 1
    assert caplog.messages == []


async def test_the_authority_of_the_server_rotates(
    rotating: RotatingServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stage, authority = Scene(rotating, tmp_path), Authority("another server authority")
    with caplog.at_level(logging.WARNING):
        async with stage.open():
            first = stage.connections()
            stage.authority.write_bytes(stage.authority.read_bytes() + authority.pem)
            await until(lambda: not stage.connections() & first)
            authority.issue_server(rotating.serving, hosts=SERVED_NAMES)
            await until(lambda: rotating.is_vouched_for_by(authority))
            second = stage.connections()
            stage.authority.write_bytes(authority.pem)
            await until(lambda: not stage.connections() & second)
            third = stage.connections()

    assert (len(first), len(second), len(third)) == (1, 1, 1)
    assert caplog.messages == []


async def until(reached: Callable[[], object]) -> None:
    deadline = Deadline(PATIENCE)
    while not await asyncio.to_thread(reached):
        assert not deadline.passed, "it did not happen in time"
        await asyncio.sleep(A_LOOK)


def connections_to(port: int) -> set[str]:
    """The open connections of this process to a port of this machine."""
    own = {_inode(entry) for entry in Path("/proc/self/fd").iterdir()}
    found = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        local, remote, state, inode = *fields[1:4], fields[9]
        if int(remote.partition(":")[2], 16) == port and state == "01" and inode in own:
            found.add(local)
    return found


def _inode(entry: Path) -> str:
    try:
        return str(entry.readlink()).removeprefix("socket:[").removesuffix("]")
    except OSError:
        return ""  # closed meanwhile
