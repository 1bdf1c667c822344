"""An agent behind a real server with two pods, for those who talk to them: clients and kubectl."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final, Self

import reflet
from reflet.cluster import Cluster
from tests.node_scenes import PATIENCE, agent_process, declared, free_port, pod_document, until
from tests.real.kube_server import HOST, KubeServer

ECHO: Final = """
import socket, sys, threading
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listens", flush=True)
def serve(connection):
    data = b""
    while piece := connection.recv(65536):
        data += piece
    connection.sendall(data[::-1])
    connection.close()
while True:
    threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()
"""


class StreamScene:
    """An agent behind a real server, and two pods: one that sleeps, one that listens.

    While it is ``running``, it has a namespace of its own on the server *kube*.
    """

    def __init__(self, kube: KubeServer, folder: Path, namespace: str) -> None:
        self._kube = kube
        self._folder = folder
        self.namespace = namespace
        self.config = kube.write_kubeconfig(folder / "admin.config", namespace=namespace)
        self.restricted = kube.write_kubeconfig(
            folder / "restricted.config", "restricted", namespace=namespace
        )
        self.port = free_port()  # where the second pod listens
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "KUBECONFIG": str(self.config),
        }

    @contextmanager
    def running(self) -> Iterator[Self]:
        kube, folder = self._kube, self._folder
        with kube.connect() as connection:
            connection.create("/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        serving = kube.node_certificate(HOST)
        identity = kube.write_kubeconfig(folder / "node.config", "node", namespace=self.namespace)
        flags = (
            f"--namespace={self.namespace}",
            f"--tls-cert-file={serving.certificate_file}",
            f"--tls-private-key-file={serving.key_file}",
            f"--client-ca-file={kube.client_ca_file}",
            f"--secure-address={HOST}:0",
        )
        with agent_process(identity, folder, *flags) as agent:
            ports = declared(1, self.port)
            self.create("web", ["sh", "-c", "echo one; echo two; exec sleep 600"], **ports)
            self.create("echo", ["python3", "-c", ECHO, str(self.port)], **ports)
            asyncio.run(until(lambda: "logs over TLS at" in agent.said))
            self.has_said("web", "two")
            self.has_said("echo", "listens")
            yield self
            self.kubectl("delete", "pods", "--all")

    def create(self, name: str, command: Sequence[str], **container: Any) -> None:
        """Make a pod with one container."""
        document = pod_document(name, command, container=container, restartPolicy="Never")
        made = self.kubectl("apply", "-f", "-", given=json.dumps(document))
        assert made.returncode == 0, made.stderr

    def has_said(self, pod: str, words: str) -> None:
        """Return once these words are in the pod's log."""
        asyncio.run(until(lambda: words in self.kubectl("logs", pod).stdout))

    def kubectl(
        self, *arguments: str, given: str = "", **settings: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["kubectl", *arguments],
            input=given,
            env=self.environment | settings,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    def started(
        self, *arguments: str, environment: dict[str, str] | None = None, **settings: Any
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["kubectl", *arguments],
            env=self.environment | (environment or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **settings,
        )

    @asynccontextmanager
    async def cluster(self) -> AsyncIterator[Cluster]:
        async with reflet.connect(kubeconfig=str(self.config)) as cluster:
            yield cluster
