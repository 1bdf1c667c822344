"""Requests to a development server with nothing but the standard library.

Owns: one connection for each request or watch.  Must not know the package's own clients, which
would share their mistakes with the server.
"""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}
APPLY_PATCH = {"Content-Type": "application/apply-patch+yaml"}
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}

TIMEOUT: Final = 60.0  # seconds; a test has no more on a quiet machine


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> Any:
        return json.loads(self.content)

    @property
    def reason(self) -> str:
        return str(self.body.get("reason", ""))

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))


class Client:
    """Talks to one server as its administrator, or with another token."""

    def __init__(self, url: str, token: str) -> None:
        self._address = urlsplit(url)
        self._token = token

    def with_token(self, token: str) -> Client:
        return Client(self._address.geturl(), token)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(
            self._address.hostname or "", self._address.port, timeout=TIMEOUT
        )

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        with closing(self.connect()) as connection:
            self._send(connection, method, path, body, headers)
            response = connection.getresponse()
            content = response.read()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, content, names)

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, None, headers)

    def create(self, path: str, body: object) -> Any:
        answer = self.request("POST", path, body)
        assert answer.code == 201, answer.content
        return answer.body

    @contextmanager
    def watch(self, path: str, **headers: str) -> Iterator[Watch]:
        with closing(self.connect()) as connection:
            self._send(connection, "GET", path, None, headers)
            response = connection.getresponse()
            with closing(response):
                assert response.status == 200, response.read()
                yield Watch(response)

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: object,
        headers: Mapping[str, str] | None,
    ) -> None:
        sent = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        content: bytes | None = None
        if isinstance(body, bytes):
            content = body
        elif body is not None:
            content = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        connection.request(method, path, content, {**sent, **(headers or {})})

    def open_socket(self) -> socket.socket:
        return socket.create_connection(
            (self._address.hostname or "", self._address.port or 0), timeout=TIMEOUT
        )


class Watch:
    """The events of a watch, one after the other."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response

    def line(self) -> bytes:
        return self._response.readline()

    def event(self) -> Any:
        return json.loads(self.line())

    def kinds_and_names(self, count: int) -> list[tuple[str, str]]:
        events = [self.event() for _ in range(count)]
        return [(each["type"], each["object"]["metadata"].get("name", "")) for each in events]

    def rest(self) -> bytes:
        return self._response.read()


def config_map(name: str, data: Mapping[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **metadata},
    }
    if data is not None:
        made["data"] = dict(data)
    return made


def pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "example"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": containers, **spec},
    }
