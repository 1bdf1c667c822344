"""Asks the real API server how it patches, and writes the answers down for the tests.

Run from the root of the repository, with a real kube-apiserver at hand (``make kube``)::

    python -m tests.conformance.recorder.record_patches

Owns the file that it writes, ``tests/conformance/data/patches.json``.  Must not know the package
under test.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from tests.conformance.recorder import apply_scenes, plain_patch_scenes, strategic_scenes
from tests.conformance.recorder.scenes import NAME, WIDGET_DEFINITION, Request, Scene
from tests.real.kube_server import KubeServer

DATA: Final = Path(__file__).parents[1] / "data"
FOLDERS: Final = {
    "ConfigMap": "/api/v1/namespaces/default/configmaps",
    "Pod": "/api/v1/namespaces/default/pods",
    "Service": "/api/v1/namespaces/default/services",
    "Deployment": "/apis/apps/v1/namespaces/default/deployments",
    "Widget": "/apis/example.test/v1/namespaces/default/widgets",
}
DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

SCENES: Final[tuple[Scene, ...]] = (
    *plain_patch_scenes.JSON_SCENES,
    *plain_patch_scenes.MERGE_SCENES,
    *plain_patch_scenes.WRITE_SCENES,
    *strategic_scenes.SCENES,
    *apply_scenes.SCENES,
)


class Server:
    """The real server, asked with bodies that need not be JSON."""

    def __init__(self, kube: KubeServer) -> None:
        tls = ssl.create_default_context(cafile=str(kube.ca_file))
        self._connection = http.client.HTTPSConnection("127.0.0.1", kube.port, context=tls)
        self._headers = {
            "Authorization": f"Bearer {kube.tokens['admin']}",
            "Accept": "application/json",
        }

    def ask(
        self, method: str, path: str, body: str | None = None, content_type: str = ""
    ) -> tuple[int, Any]:
        """Send one request, and return the code and the body of the answer."""
        headers = self._headers | ({"Content-Type": content_type} if content_type else {})
        content = None if body is None else body.encode()
        self._connection.request(method, path, content, headers)
        response = self._connection.getresponse()
        answer = response.read()
        if response.headers.get_content_type() == "text/plain" and not answer.startswith(b"{"):
            return response.status, answer.decode()
        return response.status, json.loads(answer)

    def send(self, kind: str, name: str, request: Request) -> tuple[int, Any]:
        """Send a request of a scene."""
        path = FOLDERS[kind]
        if request.method != "POST":
            path += f"/{name}"
        if request.subresource:
            path += f"/{request.subresource}"
        options = {"fieldManager": request.manager}
        if request.force is not None:
            options["force"] = str(request.force).lower()
        body = request.body.replace(NAME, name)
        return self.ask(request.method, f"{path}?{urlencode(options)}", body, request.content_type)

    def find(self, kind: str, name: str) -> Any:
        """Return an object, or nothing when it does not exist."""
        code, answer = self.ask("GET", f"{FOLDERS[kind]}/{name}")
        return answer if code == http.client.OK else None

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


def record(server: Server) -> Iterator[dict[str, Any]]:
    """Play every scene and yield its record."""
    stage = [(scene, f"scene-{number}") for number, scene in enumerate(SCENES)]
    for scene, name in stage:
        for request in scene.before:
            code, answer = server.send(scene.kind, name, request)
            if code >= http.client.BAD_REQUEST:
                raise RuntimeError(f"{scene.name}: {code} {answer}")
    # Times are written in whole seconds: now a new time differs from every old one.
    time.sleep(1.1)
    for scene, name in stage:
        before = server.find(scene.kind, name)
        code, answer = server.send(scene.kind, name, scene.request)
        yield {
            "name": scene.name,
            "kind": scene.kind,
            "live": before,
            "request": {
                "method": scene.request.method,
                "content_type": scene.request.content_type,
                "manager": scene.request.manager,
                "force": bool(scene.request.force),
                "subresource": scene.request.subresource,
                "body": scene.request.body.replace(NAME, name),
            },
            "code": code,
            "answer": answer,
        }


def shortened(record: dict[str, Any]) -> str:
    """Write a record in one line."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Start a server, play the scenes, and write the file."""
    with KubeServer() as kube:
        server = Server(kube)
        try:
            server.ask("POST", DEFINITIONS, json.dumps(WIDGET_DEFINITION), "application/json")
            wait_for_widgets(server)
            lines = [shortened(scene) for scene in record(server)]
        finally:
            server.close()
    (DATA / "patches.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


def wait_for_widgets(server: Server) -> None:
    """Wait until the custom resource is served."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        code, _ = server.ask("GET", FOLDERS["Widget"])
        if code == http.client.OK:
            return
        time.sleep(0.1)
    raise RuntimeError("the custom resource is not served")


if __name__ == "__main__":
    main()
