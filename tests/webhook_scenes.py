"""A webhook that tests script: it listens with TLS, notes what it is asked, and answers as told.

Owns: its thread, its certificate, what it was asked.  Must not know who asks.
"""

from __future__ import annotations

import base64
import json
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from tests.real.certificates import Authority, CertificateFiles

HOST = "127.0.0.1"
SERVED_NAMES = (HOST, "localhost", "hooks.default.svc")
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Raw:
    """An answer that need not be a review."""

    content: bytes
    code: int = 200
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Asked:
    """One call: the path with its query, the headers, the review, and by which connection."""

    path: str
    headers: Mapping[str, str]
    review: Document
    connection: socket.socket

    @property
    def request(self) -> Document:
        found: Document = self.review["request"]
        return found


Reply = Callable[[Document], "Document | Raw"]


def allow(_: Document) -> Document:
    return {"allowed": True}


def deny(**status: Any) -> Reply:
    return lambda _: {"allowed": False, **({"status": status} if status else {})}


def patching(*operations: Document) -> Reply:
    patch = base64.b64encode(json.dumps(operations).encode()).decode()
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": patch}


@dataclass
class WebhookServer:
    """Answers ``/NAME`` by the reply of that name, and allows everything without one."""

    replies: dict[str, Reply] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    names: tuple[str, ...] = SERVED_NAMES
    keeps_connections: bool = False

    def __enter__(self) -> Self:
        self._closing = ExitStack()
        folder = Path(self._closing.enter_context(tempfile.TemporaryDirectory()))
        authority = Authority("webhook test authority")
        files = CertificateFiles(folder / "tls.crt", folder / "tls.key")
        authority.issue_server(files, hosts=self.names)
        self.ca_bundle = base64.b64encode(authority.pem).decode()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(files.certificate_file, files.key_file)
        server = _Server((HOST, 0), _handler(self))
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), name="webhooks")
        thread.start()
        self._closing.callback(server.server_close)
        self._closing.callback(thread.join)
        self._closing.callback(server.shutdown)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.close()

    def url(self, name: str) -> str:
        return f"https://{HOST}:{self.port}/{name}"

    def client_config(self, name: str) -> Document:
        return {"url": self.url(name), "caBundle": self.ca_bundle}

    def requests(self, name: str) -> list[Document]:
        """What the webhook of that name was asked, oldest first."""
        return [each.request for each in self.asked if each.path.partition("?")[0] == f"/{name}"]


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of callers that hang up, which some tests make them do."""


def _handler(hooks: WebhookServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if hooks.keeps_connections else "HTTP/1.0"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            review = json.loads(content)
            hooks.asked.append(Asked(self.path, dict(self.headers), review, self.connection))
            name = self.path.partition("?")[0].removeprefix("/")
            reply = hooks.replies.get(name, allow)(review["request"])
            if not isinstance(reply, Raw):
                response = {"uid": review["request"]["uid"], **reply}
                answer = {name: review[name] for name in ("apiVersion", "kind")}
                reply = Raw(json.dumps({**answer, "response": response}).encode())
            self.send_response(reply.code)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.content)))
            self.end_headers()
            self.wfile.write(reply.content)

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    return Handler


EVERYTHING: Document = {
    "operations": ["*"],
    "apiGroups": ["*"],
    "apiVersions": ["*"],
    "resources": ["*/*"],
}


def webhook(name: str, client_config: Document, **options: Any) -> Document:
    """Write a webhook down that sees everything unless ``options`` say otherwise."""
    return {
        "name": f"{name}.example.org",
        "clientConfig": client_config,
        "rules": [EVERYTHING],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **options,
    }


def configuration(name: str, *webhooks: Document) -> Document:
    return {"metadata": {"name": name}, "webhooks": list(webhooks)}


CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
MUTATING = f"{CONFIGURATIONS}/mutatingwebhookconfigurations"
VALIDATING = f"{CONFIGURATIONS}/validatingwebhookconfigurations"


CONFIG_MAPS_ONLY: Document = {
    "operations": ["*"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
}


class Creates(Protocol):
    """A client that makes objects, and fails if it cannot."""

    def create(self, path: str, body: object, /) -> Any: ...


def install(client: Creates, path: str, where: Document, name: str = "one", **options: Any) -> None:
    """Make a configuration with one webhook, which sees ConfigMaps unless ``options`` differ."""
    usual = {"rules": [CONFIG_MAPS_ONLY]}
    client.create(path, configuration(name, webhook(name, where, **(usual | options))))


def config_map(name: str = "c") -> Document:
    return {"metadata": {"name": name}, "data": {"key": "value"}}
