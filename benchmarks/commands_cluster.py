"""A cluster of a size: pods with references, and what they refer to, on a server of its own.

Owns: the server, the objects and how they get there.  Must not know what is measured.
"""

from __future__ import annotations

import base64
import json
import re
import ssl
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import yaml

from tests.real.api_connection import ApiConnection
from tests.real.binaries import BinariesMissing, find_binaries
from tests.real.kube_server import KubeServer

PATIENCE: Final = 60.0  # seconds for a server to start
WRITERS: Final = 4

# Of each hundred pods: what a cluster of services has beside them.
CONFIG_MAPS, SECRETS, DEPLOYMENTS = 30, 20, 5
CHANGED: Final = 10  # one of so many ConfigMaps changes after the pods were started
NAMESPACES: Final = 50
HASH: Final = "5d4f8c7b9"  # of the Deployments' templates
SHARED: Final = "shared"  # a Secret's name in every namespace

Document = dict[str, Any]

_READS: Final = re.compile(
    r'^apiserver_request_total\{[^}]*resource="[a-z][^}]*verb="(?:GET|LIST)"[^}]*\} (\S+)$',
    re.MULTILINE,
)


class Server(NamedTuple):
    """A server: its name, its kubeconfig, and how many reads it has answered, if it says so."""

    name: str
    kubeconfig: Path
    reads: Callable[[], int] | None = None


@contextmanager
def server(folder: Path) -> Iterator[Server]:
    """The real one where it is built, else our own."""
    path = folder / "config"
    try:
        binaries = find_binaries()
    except BinariesMissing:
        with _development_server(path):
            yield Server("reflet serve", path)
        return
    with KubeServer(binaries) as kube:
        yield Server("kube-apiserver", kube.write_kubeconfig(path), partial(_reads, kube))


def _reads(kube: KubeServer) -> int:
    """How many GET and LIST requests for objects the server has answered, of its own few too."""
    page = str(kube.request("GET", "/metrics").body)
    return sum(int(float(number)) for number in _READS.findall(page))


@contextmanager
def _development_server(path: Path) -> Iterator[None]:
    command = (sys.executable, "-m", "reflet", "serve", "--kubeconfig-out", str(path))
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen(command, stdout=output, stderr=output) as process,
    ):
        try:
            deadline = time.monotonic() + PATIENCE
            while not path.is_file():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("the server has not started")
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


class Filling:
    """Objects for more and more pods, until there are as many as are wanted."""

    def __init__(self, kubeconfig: Path) -> None:
        self._config = yaml.safe_load(kubeconfig.read_text())
        self._pods = 0

    def up_to(self, pods: int) -> None:
        """Create what is missing."""
        if not self._pods:
            self._create([namespace(number) for number in range(NAMESPACES)])
            self._create([_shared(number) for number in range(NAMESPACES)])
        for before, after, make in (
            (_share(self._pods, CONFIG_MAPS), _share(pods, CONFIG_MAPS), config_map),
            (_share(self._pods, SECRETS), _share(pods, SECRETS), secret),
            (_share(self._pods, DEPLOYMENTS), _share(pods, DEPLOYMENTS), deployment),
            (_share(self._pods, DEPLOYMENTS), _share(pods, DEPLOYMENTS), replica_set),
            (self._pods, pods, pod),
        ):
            self._create([make(number) for number in range(before, after)])
        changed = range(_share(self._pods, CONFIG_MAPS), _share(pods, CONFIG_MAPS), CHANGED)
        self._change([config_map(number) for number in changed])
        self._pods = pods

    def _create(self, documents: Sequence[Document]) -> None:
        self._write(documents, _create_one)

    def _change(self, documents: Sequence[Document]) -> None:
        self._write(documents, _change_one)

    def _write(
        self, documents: Sequence[Document], write: Callable[[ApiConnection, Document], None]
    ) -> None:
        parts = [documents[first::WRITERS] for first in range(WRITERS)]
        with ThreadPoolExecutor(WRITERS) as threads:
            for done in [threads.submit(self._write_one_by_one, part, write) for part in parts]:
                done.result()

    def _write_one_by_one(
        self, documents: Sequence[Document], write: Callable[[ApiConnection, Document], None]
    ) -> None:
        cluster = self._config["clusters"][0]["cluster"]
        address = urlsplit(cluster["server"])
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        token = self._config["users"][0]["user"]["token"]
        with ApiConnection(
            str(address.hostname),
            int(address.port or 443),
            tls=ssl.create_default_context(cadata=authority),
            token=token,
            timeout=PATIENCE,
        ) as connection:
            for document in documents:
                write(connection, document)


def _create_one(connection: ApiConnection, document: Document) -> None:
    path = _path(document)
    made = connection.create(path, document)
    if document["kind"] == "Pod":
        name, started = made["metadata"]["name"], made["metadata"]["creationTimestamp"]
        answer = connection.request("PUT", f"{path}/{name}/status", made | running(started))
        if answer.code != HTTPStatus.OK:
            raise RuntimeError(f"PUT {path}/{name}/status: {answer.code}, {answer.body}")


def _change_one(connection: ApiConnection, document: Document) -> None:
    path = f"{_path(document)}/{document['metadata']['name']}"
    answer = connection.request(
        "PATCH", path, {"data": {"KEY_0": "another"}}, content_type="application/merge-patch+json"
    )
    if answer.code != HTTPStatus.OK:
        raise RuntimeError(f"PATCH {path}: {answer.code}, {answer.body}")


def running(started: str) -> Document:
    """What a kubelet reports of a pod that runs."""
    container = {
        "name": "web",
        "image": "registry.example.com/shop/web:1.27.3",
        "imageID": "registry.example.com/shop/web@sha256:" + "0" * 64,
        "containerID": "containerd://" + "0" * 64,
        "ready": True,
        "started": True,
        "restartCount": 0,
        "state": {"running": {"startedAt": started}},
    }
    return {"status": {"phase": "Running", "startTime": started, "containerStatuses": [container]}}


def deployments_file(folder: Path, pods: int) -> Path:
    """The Deployments of the cluster, as ``kubectl get deploy -A -o json`` would write them."""
    path = folder / f"deployments-{pods}.json"
    items = [deployment(number) for number in range(_share(pods, DEPLOYMENTS))]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=4))
    return path


def namespace(number: int) -> Document:
    """A namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _namespace(number)}}


def config_map(number: int) -> Document:
    """A ConfigMap with ten keys."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(f"settings-{number}", number),
        "data": {f"KEY_{key}": f"value {key} of settings {number}" for key in range(10)},
    }


def secret(number: int) -> Document:
    """A Secret with three keys."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": _metadata(f"password-{number}", number),
        "stringData": {f"key-{key}": f"{number}-{key}" * 8 for key in range(3)},
    }


def _shared(number: int) -> Document:
    return {**secret(number), "metadata": _metadata(SHARED, number)}


def deployment(number: int) -> Document:
    """A Deployment whose pods refer to four objects of their own and one that all share."""
    labels = {"app": f"web-{number}"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(f"web-{number}", number),
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _pod_spec(number, number)},
        },
    }


def replica_set(number: int) -> Document:
    """The ReplicaSet of a Deployment."""
    made = deployment(number)
    owners = [_owner("apps/v1", "Deployment", f"web-{number}")]
    metadata = {**_metadata(f"web-{number}-{HASH}", number), "ownerReferences": owners}
    return {**made, "kind": "ReplicaSet", "metadata": metadata}


def pod(number: int) -> Document:
    """A pod of one of the Deployments' making, as far as its references go."""
    maker = number // (100 // DEPLOYMENTS)
    metadata = _metadata(f"web-{maker}-{HASH}-{number}", maker)
    labels = {"app": f"web-{maker}", "number": str(number), "pod-template-hash": HASH}
    owners = [_owner("apps/v1", "ReplicaSet", f"web-{maker}-{HASH}")]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "labels": labels, "ownerReferences": owners},
        "spec": _pod_spec(maker, number),
    }


def _pod_spec(maker: int, number: int) -> Document:
    # Objects of the same namespace: numbers that differ by a multiple of the namespaces.
    block, place = divmod(maker, NAMESPACES)
    first, second = (place + NAMESPACES * (2 * block + which) for which in (0, 1))
    container = {
        "name": "web",
        "image": "registry.example.com/shop/web:1.27.3",
        "args": ["--listen", "0.0.0.0:8080", f"--number={number}"],
        "ports": [{"name": "http", "containerPort": 8080}],
        "envFrom": [{"configMapRef": {"name": f"settings-{first}"}}],
        "env": [
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "PASSWORD", "valueFrom": _key(f"password-{first}", "key-0")},
            {"name": "SHARED", "valueFrom": _key(SHARED, "key-1")},
            *({"name": f"PLAIN_{each}", "value": f"value {each}"} for each in range(5)),
        ],
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"memory": "256Mi"},
        },
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 5},
        "volumeMounts": [
            {"name": "settings", "mountPath": "/etc/settings"},
            {"name": "password", "mountPath": "/etc/password", "readOnly": True},
        ],
    }
    return {
        "automountServiceAccountToken": False,
        "containers": [container],
        "volumes": [
            {"name": "settings", "configMap": {"name": f"settings-{second}"}},
            {"name": "password", "secret": {"secretName": f"password-{second}"}},
        ],
    }


def _owner(version: str, kind: str, name: str) -> Document:
    return {
        "apiVersion": version,
        "kind": kind,
        "name": name,
        # Nobody collects garbage here, so that any will do.
        "uid": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{kind}.{name}")),
        "controller": True,
    }


def _key(name: str, key: str) -> Document:
    return {"secretKeyRef": {"name": name, "key": key}}


def _metadata(name: str, number: int) -> Document:
    return {"name": name, "namespace": _namespace(number)}


def _namespace(number: int) -> str:
    return f"shop-{number % NAMESPACES}"


def _share(pods: int, of_hundred: int) -> int:
    return pods * of_hundred // 100


def _path(document: Mapping[str, Any]) -> str:
    kind, metadata = document["kind"], document["metadata"]
    if kind == "Namespace":
        return "/api/v1/namespaces"
    root = "/api/v1" if document["apiVersion"] == "v1" else f"/apis/{document['apiVersion']}"
    return f"{root}/namespaces/{metadata['namespace']}/{kind.lower()}s"
