"""Who is let in, with TLS and without: clients send no credentials over plain HTTP."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest

import reflet
from reflet.devserver.server import DevServer
from reflet.testing.pytest_plugin import RunningServer, running_server
from tests.integration.plain_client import Client

NAMESPACES = "/api/v1/namespaces"


def code_over_tls(server: RunningServer, headers: Mapping[str, str]) -> int:
    context = ssl.create_default_context(cadata=server.ca_data.decode())
    request = urllib.request.Request(server.url + NAMESPACES, headers=dict(headers))
    try:
        with urllib.request.urlopen(request, context=context, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code


def test_with_tls_everybody_needs_the_token() -> None:
    with running_server({"tls": True}) as server:
        codes = [
            code_over_tls(server, headers)
            for headers in (
                {},
                {"Authorization": "Bearer wrong"},
                {"Authorization": f"Bearer {server.token}"},
            )
        ]

    assert codes == [401, 401, 200]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, 200),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic eDp5"}, 401),
        ({"Origin": "https://example.com"}, 401),
        ({"Host": "rebound.example.com"}, 401),
    ],
    ids=["nothing", "a wrong token", "a password", "a web page", "a rebound name"],
)
def test_without_tls_whoever_shows_nothing_is_the_administrator(
    client: Client, headers: dict[str, str], code: int
) -> None:
    assert client.with_token("").get(NAMESPACES, **headers).code == code


@pytest.mark.parametrize("path", ["/version", "/livez", "/livez/ping", NAMESPACES])
def test_a_wrong_token_opens_no_page(client: Client, path: str) -> None:
    codes = [client.with_token(token).get(path).code for token in ("wrong", "\xff.\xff")]

    assert codes == [401, 401]


def test_a_web_page_with_the_token_is_let_in(client: Client) -> None:
    assert client.get(NAMESPACES, Origin="http://localhost:3000").code == 200


async def test_our_own_client_works_without_tls() -> None:
    async with (
        DevServer(tls=False) as server,
        reflet.connect(kubeconfig=str(server.kubeconfig_path)) as cluster,
    ):
        kube_system = await cluster.resource("namespaces").get("kube-system")

    assert kube_system.metadata.name == "kube-system"


@pytest.mark.skipif(
    shutil.which("kubectl") is None and os.environ.get("CI") != "true",
    reason="kubectl is not installed",
)
def test_kubectl_works_without_tls(server: RunningServer, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    finished = subprocess.run(
        ["kubectl", "create", "configmap", "settings", "--from-literal=color=blue"],
        env={**environment, "KUBECONFIG": str(server.kubeconfig)},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert (finished.stdout, finished.stderr) == ("configmap/settings created\n", "")


async def test_a_server_that_others_can_reach_needs_the_token_without_tls_too() -> None:
    # Nothing is started, so nothing listens to the world.
    assert DevServer(host="0.0.0.0", tls=False).needs_token
    assert not DevServer(tls=False).needs_token


def test_of_a_stranger_the_log_keeps_the_beginning_of_the_path(client: Client) -> None:
    path = "/api/v1/namespaces/" + "x" * 1000
    stranger = client.with_token("wrong")

    stranger.get(f"{path}?secret={'y' * 1000}", **{"User-Agent": "z" * 1000})
    client.get(path)

    unknown, known = client.get("/reflet.dev/requests").body["requests"]
    assert {name: said for name, said in unknown.items() if said} == {
        "method": "GET",
        "path": path[:256],
        "verb": "get",
    }
    assert known["path"] == path


@pytest.mark.parametrize(
    "request_text",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization Bearer hunter2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: hunter2\x00\r\n\r\n",
        b"GET /hunter2 HTTP/9\r\n\r\n",
        b"hunter2\r\n\r\n",
    ],
    ids=["a header without a colon", "a control character", "another version", "no request"],
)
def test_a_malformed_request_is_repeated_neither_in_the_answer_nor_in_the_log(
    client: Client, request_text: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with client.open_socket() as connection:
        connection.sendall(request_text)
        answer = b"".join(iter(lambda: connection.recv(4096), b""))

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split()[1] == b"400"
    assert body == b"400 Bad Request"
    assert caplog.text == ""
