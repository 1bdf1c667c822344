"""No secret gets out when everything goes wrong: refusals, broken answers, mistakes in files."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reflet
from reflet.api.core.config import Secret
from reflet.devserver.faults import Action, Fault
from reflet.errors import RefletError
from reflet.testing.pytest_plugin import RunningServer
from tests import canary_scenes
from tests.canaries import canary
from tests.canary_scenes import FROM_FILES, Ears, kubeconfig, users
from tests.unit.cli.scripted_api import ScriptedApi, refusal

ears, shop, reflet_command = (
    canary_scenes.ears,
    canary_scenes.shop,
    canary_scenes.reflet_command,
)


@pytest.mark.parametrize("code", [401, 403, 404, 409, 429, 500, 503])
@pytest.mark.parametrize("user", ["token", "basic", "certificate"])
def test_a_refusal_tells_nothing_of_whom_it_refused(
    code: int,
    user: str,
    tmp_path: Path,
    ears: Ears,
    reflet_command: Callable[..., tuple[int, str, str]],
) -> None:
    secrets = "/api/v1/namespaces/default/secrets"
    answer = {**refusal(code, "", "no"), "details": {"retryAfterSeconds": 0}}
    api = ScriptedApi({secrets: answer, f"{secrets}/x": answer}, tables={secrets: answer})
    with api.serving():
        config = kubeconfig(tmp_path, api.url, users()[user])
        told = reflet_command("get", "secrets", "--kubeconfig", str(config))
        reflet_command("get", "secret", "x", "-o", "json", "--kubeconfig", str(config))

    assert told[0] != 0
    assert ears.leaks == []


@pytest.mark.parametrize(
    "body",
    [
        {"apiVersion": "v1", "kind": "Secret", "data": {"a": canary("b")}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": 3, "data": {"a": canary("b")}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": canary("name")}, "data": []},
        {"apiVersion": "v1", "kind": "SecretList", "items": [{"data": canary("b")}]},
        {"kind": "Table", "rows": [{"cells": canary("b")}]},
        {"data": canary("b")},
    ],
)
@pytest.mark.parametrize("code", [200, 500])
def test_an_answer_that_cannot_be_understood_is_not_repeated(
    body: dict[str, Any],
    code: int,
    ears: Ears,
    reflet_command: Callable[..., tuple[int, str, str]],
) -> None:
    secrets = "/api/v1/namespaces/default/secrets"
    answer = {**body, "code": code}
    documents = {secrets: answer, f"{secrets}/x": answer, "/api/v1": answer}
    with ScriptedApi(documents, tables=documents).serving() as api:
        for more in (("secrets",), ("secret", "x"), ("secrets", "-o", "json")):
            reflet_command("get", *more, "--server", api.url)

    assert ears.leaks == []


@pytest.mark.parametrize("action", [Action.CORRUPT, Action.TRUNCATE, Action.RESET, Action.DROP])
def test_a_broken_answer_is_not_repeated(
    action: Action,
    shop: RunningServer,
    ears: Ears,
    reflet_command: Callable[..., tuple[int, str, str]],
) -> None:
    for command in (("get", "secrets", "-o", "json"), ("env", "pod/web"), ("why", "pod/web")):
        shop.add_fault(Fault(action, resource="secrets", times=20))
        reflet_command(*command, "--kubeconfig", str(shop.kubeconfig))
        shop.call(shop.server.faults.clear)

    assert ears.leaks == []


@pytest.mark.parametrize(
    "user",
    [
        {"token": canary("a") + "\n" + canary("b")},
        {"token": 3, "password": canary("b")},
        {"client-key-data": canary("notbase64")},
        {"client-certificate-data": "QUJD", "client-key-data": "QUJD", "token": [canary("b")]},
        {"username": canary("b")},
        {"tokenFile": "/nowhere", "token": canary("b")},
        {"auth-provider": {"name": "x", "config": {"id-token": canary("b")}}},
        {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "sh",
                "interactiveMode": "Never",
                "args": ["-c", 'echo "{$TOKEN"'],
                "env": [{"name": "TOKEN", "value": canary("execenv")}],
            }
        },
        {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "sh",
                "interactiveMode": "Never",
                "args": ["-c", 'echo \'{"kind":"\'$TOKEN\'","status":{"token":3}}\''],
                "env": [{"name": "TOKEN", "value": canary("execenv")}],
            }
        },
    ],
)
def test_a_kubeconfig_with_a_mistake_is_not_repeated(
    user: dict[str, Any],
    tmp_path: Path,
    ears: Ears,
    reflet_command: Callable[..., tuple[int, str, str]],
) -> None:
    config = kubeconfig(tmp_path, "http://127.0.0.1:1", user)
    code, _, errors = reflet_command("get", "pods", "--kubeconfig", str(config))

    assert code != 0
    assert len(errors.splitlines()) >= 1
    assert ears.leaks == []


def test_a_proxy_s_password_is_not_told(
    tmp_path: Path, ears: Ears, reflet_command: Callable[..., tuple[int, str, str]]
) -> None:
    proxy = f"http://me:{canary('proxy')}@127.0.0.1:1"
    config = kubeconfig(tmp_path, "https://127.0.0.1:2", {}, **{"proxy-url": proxy})
    reflet_command("get", "pods", "--kubeconfig", str(config))

    assert ears.leaks == []


@pytest.mark.parametrize(
    "rest",
    [
        f"data: {{a: {canary('b')}}}\n",
        f"data: {canary('b')}\n",
        f"stringData: [{canary('b')}]\n",
        f"type: 3\nstringData: {{a: '{canary('b')}",
        f"stringData: {{a: 3, b: {canary('b')}}}\n",
        f"immutable: {canary('b')}\n",
    ],
)
def test_a_manifest_with_a_mistake_is_not_repeated(
    rest: str, tmp_path: Path, ears: Ears, reflet_command: Callable[..., tuple[int, str, str]]
) -> None:
    path = tmp_path / "mistake.yaml"
    path.write_text(f"kind: Secret\napiVersion: v1\nmetadata: {{name: x}}\n{rest}")
    for command in FROM_FILES:
        reflet_command(*command, "-f", str(path))
    reflet_command("serve", "--no-tls", "-f", str(path), "--port", "1", "--host", "192.0.2.1")

    assert ears.leaks == []


async def test_an_error_of_the_library_shows_no_secret(shop: RunningServer, ears: Ears) -> None:
    async with reflet.connect(kubeconfig=str(shop.kubeconfig)) as cluster:
        for action in (Action.CORRUPT, Action.TRUNCATE, Action.RESET):
            shop.add_fault(Fault(action, resource="secrets", times=20))
            for request in (
                lambda: cluster.resource(Secret).get("database"),
                lambda: cluster.resource(Secret).list(),
                lambda: cluster.resource("secrets", raw=True).list(),
            ):
                try:
                    await request()
                except RefletError as error:
                    ears.hear("".join(traceback.format_exception(error)), repr(error))
            shop.call(shop.server.faults.clear)

    assert len(ears.told) >= 9
    assert ears.leaks == []
