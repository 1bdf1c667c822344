"""A node with real containers on a real API server, and what its users do with kubectl.

Owns: pods of the test image, and kubectl against the server.  Must not know what a test claims.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import time
from collections.abc import Callable
from typing import Any, Final, Self

from tests.containers.containerd import BUSYBOX, Containerd
from tests.containers.nodes import RefletNode
from tests.containers.terminals import Terminal
from tests.kubectl_calls import KubectlCalls
from tests.patience import Deadline
from tests.real.kube_server import KubeServer

PATIENCE: Final = 60.0  # seconds
LOOK_EVERY: Final = 0.1
SLEEP: Final = ("sleep", "100000")


def container(*command: str, name: str = "main", **fields: Any) -> dict[str, Any]:
    """A container of the test image."""
    return {"name": name, "image": BUSYBOX, "command": [*command]} | fields


def pod(name: str, *containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A pod, to be bound to the node that it is applied for."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "containers": [*containers] or [container(*SLEEP)],
            "terminationGracePeriodSeconds": 5,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
        }
        | spec,
    }


def new_namespace(kube: KubeServer) -> str:
    """Make a namespace, and return its name."""
    name = f"test-{secrets.token_hex(4)}"
    with kube.connect() as connection:
        connection.create("/api/v1/namespaces", {"metadata": {"name": name}})
    return name


class ContainerNode(KubectlCalls, RefletNode):
    """``reflet node --runtime cri``, and kubectl for *namespace*."""

    def __init__(self, kube: KubeServer, runtime: Containerd, namespace: str) -> None:
        name = f"node-{secrets.token_hex(4)}"  # several may share a runtime
        super().__init__(kube, runtime, name=name, flags=("--namespace", namespace))
        self.kube = kube
        self.runtime = runtime
        self.namespace = namespace
        self.root = self.folder / "root"

    def __enter__(self) -> Self:
        super().__enter__()
        config = self.kube.write_kubeconfig(self.folder / "admin.config", namespace=self.namespace)
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "KUBECONFIG": str(config),
        }
        return self

    def stop(self) -> None:
        """Have the agent end, and its pods with it."""
        os.kill(self.process, signal.SIGTERM)
        self.until(lambda: self.runtime.exit_code(self.name) is not None, "the agent ends")

    def apply(self, document: dict[str, Any]) -> None:
        """Apply an object; a pod is bound to this node."""
        if document["kind"] == "Pod":
            document["spec"]["nodeName"] = self.name
        self.kubectl("apply", "-f", "-", given=json.dumps(document))

    def bind(self, name: str) -> None:
        """Bind a pod that has no node yet to this one, as a scheduler does."""
        target = {"apiVersion": "v1", "kind": "Node", "name": self.name}
        with self.kube.connect() as connection:
            path = f"/api/v1/namespaces/{self.namespace}/pods/{name}/binding"
            connection.create(path, {"metadata": {"name": name}, "target": target})

    def status(self, name: str) -> dict[str, Any]:
        """The status of a pod; empty when it is gone."""
        done = self.called("get", "pod", name, "-o=json", "--ignore-not-found")
        found: dict[str, Any] = json.loads(done.stdout)["status"] if done.stdout else {}
        return found

    def state(self, name: str, container: int = 0) -> dict[str, Any]:
        """The state of a container; empty when it has none yet."""
        statuses = self.status(name).get("containerStatuses", [])
        state: dict[str, Any] = statuses[container]["state"] if statuses else {}
        return state

    def events(self, name: str) -> list[tuple[str, str]]:
        """Reasons and messages of a pod's events, from the first."""
        selector = f"--field-selector=involvedObject.name={name}"
        document = json.loads(self.kubectl("get", "events", selector, "-o=json"))
        items = sorted(document["items"], key=lambda each: each["firstTimestamp"] or "")
        return [(each["reason"], each["message"]) for each in items]

    def terminal(self, *arguments: str, rows: int, columns: int, websockets: str) -> Terminal:
        """Kubectl in a terminal; *websockets* is ``false`` for SPDY, as before 1.31."""
        settings = {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": websockets}
        return Terminal(
            ["kubectl", *arguments], {**self._environment, **settings}, rows=rows, columns=columns
        )

    def running(self, document: dict[str, Any]) -> str:
        """Apply a pod, and return its name once all its containers run."""
        self.apply(document)
        name: str = document["metadata"]["name"]
        self.until(lambda: self.status(name).get("phase") == "Running", f"{name} runs")
        return name

    def delete(self, *names: str) -> None:
        """Delete pods, and return once they are gone."""
        self.kubectl("delete", "pod", *names, "--ignore-not-found")

    def until(self, reached: Callable[[], bool], what: str) -> None:
        """Wait until it is so; fails with what the agent said."""
        deadline = Deadline(PATIENCE)
        while not reached():
            assert not deadline.passed, f"not in time: {what}\n{self.log()[-3000:]}"
            time.sleep(LOOK_EVERY)
