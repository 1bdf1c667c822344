"""Requests to the real server whose bodies, or answers, are not JSON.

Owns: one request with bytes in both directions, and waiting for an answer.  Must not know what
the bytes mean.
"""

from __future__ import annotations

import http.client
import ssl
from contextlib import closing
from dataclasses import dataclass

from tests.patience import Deadline
from tests.real.kube_server import HOST, KubeServer

PATIENCE = 30.0  # seconds until something that happens by itself must have happened


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """The code, the content type and the body."""

    code: int
    content_type: str
    content: bytes


def send(
    kube: KubeServer,
    method: str,
    path: str,
    content: bytes | None = None,
    *,
    content_type: str = "application/json",
    accept: str = "application/json",
) -> RawAnswer:
    """Send one request as the administrator."""
    tls = ssl.create_default_context(cafile=str(kube.ca_file))
    headers = {
        "Accept": accept,
        "Authorization": f"Bearer {kube.tokens['admin']}",
        **({} if content is None else {"Content-Type": content_type}),
    }
    connection = http.client.HTTPSConnection(HOST, kube.port, context=tls, timeout=10)
    with closing(connection):
        connection.request(method, path, content, headers)
        response = connection.getresponse()
        return RawAnswer(response.status, response.headers.get_content_type(), response.read())


def wait_until_served(kube: KubeServer, path: str) -> None:
    """Ask until a path is served."""
    deadline = Deadline(PATIENCE)
    while kube.request("GET", path).code != http.client.OK:
        if deadline.passed:
            raise TimeoutError(f"not served within {PATIENCE:g} s: {path}")
