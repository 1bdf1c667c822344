"""A small image registry on loopback: the read half of the OCI distribution API, over plain HTTP.

Owns: what it serves, to whom, and a record of who asked for what.  Must not know the runtime that
pulls; :meth:`Containerd.trust` of :mod:`containerd` makes one ask here without TLS.

::

    with Registry() as registry:
        name = registry.push("shop/web:1", busybox_image(programs))     # 127.0.0.1:43121/shop/web:1
        registry.accounts = {"ada": "lovelace"}                         # from now on, 401 without
        registry.broken = HTTPStatus.SERVICE_UNAVAILABLE                # from now on, this
"""

from __future__ import annotations

import base64
import json
import re
import secrets
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Literal, Self

from tests.containers.images import MANIFEST, Image, digest_of

HOST: Final = "127.0.0.1"
PULL: Final = re.compile(r"/v2/(?P<repository>.+)/(?P<kind>manifests|blobs)/(?P<reference>[^/]+)")

Scheme = Literal["basic", "bearer"]


class Registry:
    """Images by repository and tag, for everyone or for accounts; ``requests`` says who asked."""

    def __init__(self, *, scheme: Scheme = "basic") -> None:
        self.scheme = scheme
        self.accounts: Mapping[str, str] = {}
        self.broken: HTTPStatus | None = None
        self.requests: list[str] = []  # "GET /v2/shop/web/manifests/1 200 ada"
        self._tokens: dict[str, str] = {}
        self._manifests: dict[tuple[str, str], bytes] = {}
        self._blobs: dict[str, bytes] = {}

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"serves": self})
        self._server = ThreadingHTTPServer((HOST, 0), handler)
        # close() waits for the connections: none of them is left to the next test.
        self._server.daemon_threads = False
        self.address = f"{HOST}:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def push(self, name: str, image: Image) -> str:
        """Serve an image as ``repository:tag`` and by its digest; return its whole name."""
        repository, _, tag = name.partition(":")
        for reference in (tag, image.digest):
            self._manifests[repository, reference] = image.manifest
        self._blobs.update(image.blobs)
        return f"{self.address}/{name}"

    def remove(self, name: str) -> None:
        """Serve a tag no longer."""
        repository, _, tag = name.partition(":")
        del self._manifests[repository, tag]

    def docker_config(self, user: str, password: str) -> bytes:
        """Write what a Secret of type ``kubernetes.io/dockerconfigjson`` holds for an account."""
        auth = base64.b64encode(f"{user}:{password}".encode()).decode()
        return json.dumps({"auths": {self.address: {"auth": auth}}}).encode()

    def user_of(self, authorization: str) -> str | None:
        """Say whose header it is: empty without accounts, None when it is nobody's."""
        if not self.accounts:
            return ""
        scheme, _, credentials = authorization.partition(" ")
        if scheme.lower() == "bearer":
            return self._tokens.get(credentials)
        return self._account(authorization) if self.scheme == "basic" else None

    def token_for(self, authorization: str) -> str | None:
        """Give out a token for an account's password."""
        user = self._account(authorization)
        if user is None:
            return None
        token = secrets.token_urlsafe()
        self._tokens[token] = user
        return token

    def challenge(self) -> str:
        """Say how to authenticate."""
        if self.scheme == "basic":
            return 'Basic realm="reflet"'
        return f'Bearer realm="http://{self.address}/token",service="{self.address}"'

    def find(self, path: str) -> tuple[str, bytes] | None:
        """Find what a path names: its media type and its bytes."""
        if (pull := PULL.fullmatch(path)) is None:
            return None
        if pull["kind"] == "blobs":
            blob = self._blobs.get(pull["reference"])
            return None if blob is None else ("application/octet-stream", blob)
        manifest = self._manifests.get((pull["repository"], pull["reference"]))
        return None if manifest is None else (MANIFEST, manifest)

    def _account(self, authorization: str) -> str | None:
        scheme, _, credentials = authorization.partition(" ")
        if scheme.lower() != "basic":
            return None
        user, _, password = base64.b64decode(credentials).decode().partition(":")
        return user if self.accounts.get(user) == password else None


class _Handler(BaseHTTPRequestHandler):
    """One request a connection: HTTP/1.0, so that no connection outlives the registry."""

    serves: Registry

    def do_GET(self) -> None:
        path, _, _ = self.path.partition("?")
        authorization = self.headers.get("Authorization", "")
        if self.serves.broken is not None:
            return self._refuse(self.serves.broken, "UNAVAILABLE", "broken on purpose")
        if path == "/token":
            token = self.serves.token_for(authorization)
            if token is None:
                return self._refuse(HTTPStatus.UNAUTHORIZED, "UNAUTHORIZED", "wrong password")
            answer = json.dumps({"token": token}).encode()
            return self._send(HTTPStatus.OK, answer, "application/json")
        user = self.serves.user_of(authorization)
        if user is None:
            return self._refuse(HTTPStatus.UNAUTHORIZED, "UNAUTHORIZED", "authentication required")
        if path == "/v2/":
            return self._send(HTTPStatus.OK, b"{}", "application/json", user=user)
        found = self.serves.find(path)
        if found is None:
            return self._refuse(HTTPStatus.NOT_FOUND, "NAME_UNKNOWN", f"{path} is not here")
        media_type, content = found
        return self._send(HTTPStatus.OK, content, media_type, user=user)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        # A client asks for a token the newer way first, and on this answer by GET.
        self._refuse(HTTPStatus.NOT_FOUND, "UNSUPPORTED", "tokens are for GET")

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Requests are in ``Registry.requests``, not on the terminal."""

    def _refuse(self, status: HTTPStatus, code: str, message: str) -> None:
        body = json.dumps({"errors": [{"code": code, "message": message}]}).encode()
        self._send(status, body, "application/json")

    def _send(self, status: HTTPStatus, content: bytes, media_type: str, *, user: str = "") -> None:
        self.serves.requests.append(f"{self.command} {self.path} {status.value} {user}".rstrip())
        self.send_response(status)
        if status == HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", self.serves.challenge())
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        if media_type == MANIFEST:
            self.send_header("Docker-Content-Digest", digest_of(content))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)
