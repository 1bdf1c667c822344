"""Requests to the API server with nothing but the standard library.

Owns: one TLS connection, the bearer token on it, and JSON in both directions.  Must not know
the package under test, whose faults it is there to reveal, nor any kind of object.
"""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said: the HTTP code, and the body decoded (text when it is not JSON)."""

    code: int
    body: Any

    @property
    def reason(self) -> str:
        """The ``reason`` of a Status, empty for anything else."""
        return str(self.body.get("reason", "")) if isinstance(self.body, dict) else ""


class ApiConnection:
    """One kept-alive connection as one identity; for one thread, one request at a time.

    Environment variables that name a proxy have no effect on it.
    """

    def __init__(
        self, host: str, port: int, *, tls: ssl.SSLContext, token: str = "", timeout: float = 10.0
    ) -> None:
        self._connection = http.client.HTTPSConnection(host, port, context=tls, timeout=timeout)
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = "application/json",
    ) -> Answer:
        """Send one request and return whatever the server answers, refusals included."""
        with closing(self._send(method, path, body, content_type)) as response:
            text = response.read()
            is_json = response.headers.get_content_type() == "application/json"
            return Answer(response.status, json.loads(text) if is_json else text.decode())

    def create(self, path: str, body: object) -> Any:
        """Create an object and return it as the server keeps it; a refusal is an error."""
        answer = self.request("POST", path, body)
        if answer.code != http.client.CREATED:
            raise RuntimeError(f"POST {path}: {answer.code}, {answer.body}")
        return answer.body

    def watch(self, path: str) -> Generator[Any, None, None]:
        """Yield the events of a watch, each decoded, until the server ends it.

        The watch is open when this returns.  Closing the generator closes the connection.
        """
        response = self._send("GET", path, None, "application/json")
        if response.status != http.client.OK:
            with closing(response):
                raise RuntimeError(f"GET {path}: {response.status}, {response.read().decode()}")
        return self._events(response)

    def _events(self, response: http.client.HTTPResponse) -> Generator[Any, None, None]:
        with closing(self), closing(response):
            for line in response:
                yield json.loads(line)

    def _send(
        self, method: str, path: str, body: object, content_type: str
    ) -> http.client.HTTPResponse:
        content = None if body is None else json.dumps(body).encode()
        headers = self._headers | ({} if content is None else {"Content-Type": content_type})
        self._connection.request(method, path, content, headers)
        return self._connection.getresponse()
