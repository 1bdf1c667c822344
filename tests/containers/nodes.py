"""Nodes of a real API server that run pods in a private containerd: a real kubelet, and ours.

Owns: how they are configured and how long they live.  Must not know what is compared or measured.

::

    with KubeServer() as kube, Containerd() as runtime, Kubelet(kube, runtime, name="real"):
        ...     # a pod with nodeName: real runs
    with KubeServer() as kube, Containerd() as runtime, RefletNode(kube, runtime, name="ours"):
        ...     # and here on reflet node --runtime cri

A node has its own identity (``system:node:NAME``) and serving certificate, so logs, exec and
port-forward work through the API server.  It runs in the enclosure of the runtime: all cgroups and
mounts that it makes end with it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tests.containers.containerd import STOP_PATIENCE, Containerd, ContainerdFailed
from tests.containers.programs import ProgramsMissing
from tests.patience import Deadline
from tests.real.binaries import find_binaries
from tests.real.kube_server import KubeServer

POLL_INTERVAL: Final = 0.1  # seconds between two looks at a node that is starting


class Node(ABC):
    """A node from the start of the ``with`` block, when it is ready, to the end of it.

    ``process`` is its process id.  :meth:`kill` is ``kill -9``, :meth:`start` brings it back.
    """

    process: int

    def __init__(
        self,
        kube: KubeServer,
        runtime: Containerd,
        *,
        name: str,
        flags: Sequence[str] = (),
        patience: float = 60.0,
    ) -> None:
        self.name = name
        self.flags = flags
        self.folder = runtime.folder / name
        # A kubelet does not take a loopback address for its node's.
        self.address = str(runtime.gateway)
        self._kube = kube
        self._runtime = runtime
        self._patience = patience

    @abstractmethod
    def command(self) -> Sequence[str]:
        """What is started, ``flags`` last."""

    def __enter__(self) -> Self:
        self.folder.mkdir()
        self.serving = self._kube.node_certificate(self.address)
        identity = self._kube.client_certificate(f"system:node:{self.name}", ["system:nodes"])
        self.kubeconfig = self._kube.write_kubeconfig(
            self.folder / "kubeconfig", certificate=identity
        )
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._runtime.end(self.name, patience=STOP_PATIENCE)

    def start(self) -> None:
        """Start it, and return when the API server shows the node as ready."""
        self.process = self._runtime.run(self.name, self.command())
        try:
            self._wait_until_ready()
        except BaseException:
            self._runtime.end(self.name)
            raise

    def kill(self) -> None:
        """Kill it with -9; pods go on running."""
        os.kill(self.process, signal.SIGKILL)
        self._runtime.end(self.name)

    def log(self) -> str:
        """Return all that it has written."""
        return (self._runtime.folder / f"{self.name}.log").read_text(errors="replace")

    def _wait_until_ready(self) -> None:
        deadline = Deadline(self._patience)
        while not self._is_ready():
            if (code := self._runtime.exit_code(self.name)) is not None:
                log = self._runtime.log(self.name)
                raise ContainerdFailed(f"{self.name} ended with {code}\n{log}")
            if deadline.passed:
                log = self._runtime.log(self.name)
                raise ContainerdFailed(f"{self.name} is not ready in {self._patience:g} s\n{log}")
            time.sleep(POLL_INTERVAL)

    def _is_ready(self) -> bool:
        answer = self._kube.request("GET", f"/api/v1/nodes/{self.name}")
        if answer.code != HTTPStatus.OK:
            return False
        conditions = answer.body["status"].get("conditions", [])
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


class RefletNode(Node):
    """``reflet node --runtime cri``."""

    def command(self) -> Sequence[str]:
        """What a user would type."""
        return [
            *(sys.executable, "-m", "reflet", "node", "--run"),
            *("--runtime", "cri", "--runtime-endpoint", self._runtime.endpoint),
            *("--name", self.name, "--root", str(self.folder / "root")),
            *("--kubeconfig", str(self.kubeconfig), "--health-address", "127.0.0.1:0"),
            *("--node-address", self.address, "--secure-address", f"{self.address}:0"),
            *("--tls-cert-file", str(self.serving.certificate_file)),
            *("--tls-private-key-file", str(self.serving.key_file)),
            *("--client-ca-file", str(self._kube.client_ca_file)),
            *self.flags,
        ]


class Kubelet(Node):
    """A real kubelet, of the API server's version.

    Its configuration makes up for a test machine that is less than a node: cgroups v1 are accepted,
    and nobody is made harder to kill, is evicted, or gets chains of iptables.
    """

    def command(self) -> Sequence[str]:
        """The kubelet with a file of settings."""
        configuration = self.folder / "config.json"
        configuration.write_text(json.dumps(self._configuration()))
        return [
            str(find_kubelet()),
            f"--config={configuration}",
            f"--kubeconfig={self.kubeconfig}",
            f"--hostname-override={self.name}",
            f"--node-ip={self.address}",
            f"--root-dir={self.folder}/root",
            f"--cert-dir={self.folder}/certificates",
            "--v=2",
            *self.flags,
        ]

    def _configuration(self) -> dict[str, Any]:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "containerRuntimeEndpoint": self._runtime.endpoint,
            "cgroupDriver": "cgroupfs",
            "failCgroupV1": False,
            "failSwapOn": False,
            "oomScoreAdj": 0,
            "evictionHard": {"memory.available": "0%", "nodefs.available": "0%"},
            "enforceNodeAllocatable": [],
            "localStorageCapacityIsolation": False,
            "makeIPTablesUtilChains": False,
            "address": self.address,
            "port": free_port(self.address),
            "healthzPort": 0,
            "readOnlyPort": 0,
            "tlsCertFile": str(self.serving.certificate_file),
            "tlsPrivateKeyFile": str(self.serving.key_file),
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": False},
                "x509": {"clientCAFile": str(self._kube.client_ca_file)},
            },
            "authorization": {"mode": "AlwaysAllow"},
            "podLogsDir": f"{self.folder}/logs",
        }


def find_kubelet() -> Path:
    """Find the program beside the API server, which is of the same version."""
    program = find_binaries().kube_apiserver.parent / "kubelet"
    if not os.access(program, os.X_OK):
        raise ProgramsMissing(f"there is no {program}: `make kubelet` builds it, once")
    return program


def free_port(address: str) -> int:
    """Find a port of an address that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port
