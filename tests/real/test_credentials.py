"""Credentials that change while a client runs, against a server that checks them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.cluster import Cluster, connect
from reflet.errors import Unauthorized
from tests.real.kube_server import KubeServer


def cluster_as(kube: KubeServer, tmp_path: Path, user: dict[str, Any]) -> Cluster:
    config = kube.kubeconfig()
    config["users"][0]["user"] = user
    path = tmp_path / "config"
    path.write_text(json.dumps(config))
    return connect(kubeconfig=str(path))


def plugin(tmp_path: Path, tokens: list[str], **status: str) -> Path:
    """An exec plugin that answers with the next token each time, and counts its runs."""
    (tmp_path / "tokens").write_text("".join(f"{token}\n" for token in tokens))
    extra = "".join(f', "{key}": "{value}"' for key, value in status.items())
    script = tmp_path / "get-token"
    script.write_text(
        "#!/bin/sh\n"
        f"cd {tmp_path}\n"
        "echo run >> runs\n"
        'token=$(sed -n "$(wc -l < runs)p" tokens)\n'
        "cat <<END\n"
        '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",'
        f' "status": {{"token": "$token"{extra}}}}}\n'
        "END\n"
    )
    script.chmod(0o700)
    return script


def runs(tmp_path: Path) -> int:
    return len((tmp_path / "runs").read_text().splitlines())


def exec_user(script: Path) -> dict[str, Any]:
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": str(script),
            "interactiveMode": "Never",
        }
    }


async def test_a_plugin_is_asked_once_for_many_requests(kube: KubeServer, tmp_path: Path) -> None:
    script = plugin(tmp_path, [kube.tokens["admin"]])

    async with cluster_as(kube, tmp_path, exec_user(script)) as cluster:
        for _ in range(3):
            await cluster.resource(ConfigMap).list()

    assert runs(tmp_path) == 1


async def test_a_refused_token_is_renewed_once(kube: KubeServer, tmp_path: Path) -> None:
    script = plugin(tmp_path, ["outdated", kube.tokens["admin"]])

    async with cluster_as(kube, tmp_path, exec_user(script)) as cluster:
        await cluster.resource(ConfigMap).list()

    assert runs(tmp_path) == 2


async def test_a_plugin_that_is_always_refused_is_not_asked_for_ever(
    kube: KubeServer, tmp_path: Path
) -> None:
    script = plugin(tmp_path, ["outdated", "outdated-too", "outdated-as-well"])

    async with cluster_as(kube, tmp_path, exec_user(script)) as cluster:
        with pytest.raises(Unauthorized):
            await cluster.resource(ConfigMap).list()

    assert runs(tmp_path) == 2


async def test_an_expired_answer_is_asked_for_again(kube: KubeServer, tmp_path: Path) -> None:
    admin = kube.tokens["admin"]
    script = plugin(tmp_path, [admin] * 9, expirationTimestamp="2020-01-01T00:00:00Z")

    async with cluster_as(kube, tmp_path, exec_user(script)) as cluster:
        await cluster.resource(ConfigMap).list()

    assert runs(tmp_path) > 1


async def test_a_rotated_token_file_is_read_again(kube: KubeServer, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("not-yet-valid")

    async with cluster_as(kube, tmp_path, {"tokenFile": str(token)}) as cluster:
        with pytest.raises(Unauthorized):
            await cluster.resource(ConfigMap).list()
        rotated = tmp_path / "rotated"
        rotated.write_text(kube.tokens["admin"])
        rotated.replace(token)

        await cluster.resource(ConfigMap).list()


async def test_a_client_certificate_says_who_we_are(kube: KubeServer, tmp_path: Path) -> None:
    files = kube.admin_certificate
    user = {"client-certificate": str(files.certificate_file), "client-key": str(files.key_file)}

    async with cluster_as(kube, tmp_path, user) as cluster:
        await cluster.resource(ConfigMap).list()


async def test_a_plugin_may_answer_with_a_certificate(kube: KubeServer, tmp_path: Path) -> None:
    files = kube.admin_certificate
    answer = {
        "kind": "ExecCredential",
        "apiVersion": "client.authentication.k8s.io/v1",
        "status": {
            "clientCertificateData": files.certificate_file.read_text(),
            "clientKeyData": files.key_file.read_text(),
        },
    }
    (tmp_path / "answer").write_text(json.dumps(answer))
    script = tmp_path / "get-certificate"
    script.write_text(f"#!/bin/sh\ncat {tmp_path}/answer\n")
    script.chmod(0o700)

    async with cluster_as(kube, tmp_path, exec_user(script)) as cluster:
        await cluster.resource(ConfigMap).list()


async def test_impersonation_is_checked_by_the_server(kube: KubeServer, tmp_path: Path) -> None:
    user = {"token": kube.tokens["admin"], "as": "jane", "as-groups": ["system:masters", "other"]}

    async with cluster_as(kube, tmp_path, user) as cluster:
        reviews = cluster.resource(await cluster.find("selfsubjectreviews.authentication.k8s.io"))
        review = await reviews.create(
            {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        )

    assert review.status["userInfo"]["username"] == "jane"
    assert {"system:masters", "other"} <= set(review.status["userInfo"]["groups"])
