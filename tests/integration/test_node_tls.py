"""The agent's port with TLS: whom it answers, and that its files may change."""

from __future__ import annotations

import asyncio
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.nodes import Node
from reflet.api.core.small_kinds import ServiceAccount
from reflet.node.options import SecurePort
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import fetched, scene_on
from tests.node_scenes import NODE, PATIENCE, Scene, agent_process, is_running, pod_document, until
from tests.real.certificates import Authority, CertificateFiles

pytestmark = pytest.mark.time_limit(3 * PATIENCE)

LOGS = "containerLogs/default/web/main"
HELLO = ("sh", "-c", "echo hello; exec sleep 60")


class Stage:
    """The files of an agent's port, and clients of all sorts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._nodes, self._clients = Authority("nodes"), Authority("clients")
        self.files = CertificateFiles(folder / "node.crt", folder / "node.key")
        self._nodes.issue_server(self.files, hosts=["127.0.0.1"])
        self.client_ca = folder / "clients.crt"
        self.client_ca.write_bytes(self._clients.pem)
        self.port = SecurePort(
            certificate=self.files.certificate_file,
            key=self.files.key_file,
            client_ca=self.client_ca,
            place=("127.0.0.1", 0),
        )

    def renew(self) -> None:
        """Give the node a certificate of another authority."""
        self._nodes = Authority("other nodes")
        self._nodes.issue_server(self.files, hosts=["127.0.0.1"])

    def client(self, *groups: str, user: str = "") -> ssl.SSLContext:
        """A client that trusts the node, and shows a certificate if it is a user."""
        return self._client(self._clients if user else None, user, groups)

    def stranger(self) -> ssl.SSLContext:
        """A client whose certificate comes from nobody whom the agent trusts."""
        return self._client(Authority("clients"), "eve", ["system:masters"])

    def _client(self, authority: Authority | None, user: str, groups: Any) -> ssl.SSLContext:
        context = ssl.create_default_context(cadata=self._nodes.pem.decode())
        if authority is not None:
            files = CertificateFiles(self._folder / "client.crt", self._folder / "client.key")
            authority.issue_client(files, user=user, groups=groups)
            context.load_cert_chain(files.certificate_file, files.key_file)
        return context


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@asynccontextmanager
async def secure_scene(server: RunningServer, root: Path, stage: Stage) -> AsyncIterator[Scene]:
    """An agent with TLS, and a pod that has said hello."""
    async with scene_on(server, root, secure=stage.port) as scene:
        await scene.pods.create(pod_document("web", HELLO))
        pod = await scene.pod("web", is_running)
        await until(lambda: scene.log(pod))
        yield scene


async def asked(url: str, context: ssl.SSLContext, token: str = "") -> tuple[int, str]:
    """The status and the text of a page."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}

    def ask() -> tuple[int, str]:
        request = urllib.request.Request(url, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=10, context=context) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    return await asyncio.to_thread(ask)


async def test_a_client_certificate_opens_what_its_groups_may_read(
    server: RunningServer, tmp_path: Path, stage: Stage
) -> None:
    async with secure_scene(server, tmp_path, stage) as scene:
        url = scene.agent.secure_url
        admin, nobody = stage.client("system:masters", user="ann"), stage.client(user="bob")
        pages = [await asked(f"{url}/{page}", admin) for page in (LOGS, "metrics", "livez")]
        refused = [await asked(f"{url}/{page}", nobody) for page in (LOGS, "metrics", "livez")]

    assert pages[0] == (200, "hello\n")
    assert [status for status, _ in pages] == [200] * 3
    assert refused == [
        (403, f"bob may not get nodes/proxy of {NODE}\n"),
        (403, f"bob may not get nodes/metrics of {NODE}\n"),
        (403, f"bob may not get nodes/healthz or nodes/proxy of {NODE}\n"),
    ]


async def test_a_certificate_of_somebody_else_is_refused_at_the_handshake(
    server: RunningServer, tmp_path: Path, stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async with secure_scene(server, tmp_path, stage) as scene:
        url = f"{scene.agent.secure_url}/{LOGS}"
        with pytest.raises(OSError, match=r"closed|reset|UNKNOWN_CA|EOF"):
            await asked(url, stage.stranger())
        others = await asked(url, stage.client("system:masters", user="ann"))

    assert "a client's certificate is not accepted: " in caplog.text
    assert others == (200, "hello\n")


async def test_a_token_is_as_good_as_a_certificate(
    server: RunningServer, tmp_path: Path, stage: Stage
) -> None:
    async with secure_scene(server, tmp_path, stage) as scene:
        url = f"{scene.agent.secure_url}/{LOGS}"
        accounts = scene.cluster.resource(ServiceAccount, namespace="default")
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader"}}
        await accounts.create(account)
        token = await token_of(server, "reader")
        answers = [await asked(url, stage.client(), each) for each in (token, "nonsense", "")]

    assert answers[0] == (200, "hello\n")
    assert [status for status, _ in answers[1:]] == [401, 401]


async def token_of(server: RunningServer, account: str) -> str:
    url = f"{server.url}/api/v1/namespaces/default/serviceaccounts/{account}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}

    def ask() -> str:
        request = urllib.request.Request(
            url, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return str(json.load(answer)["status"]["token"])

    return await asyncio.to_thread(ask)


async def test_the_plain_port_keeps_to_health_and_the_node_tells_the_other(
    server: RunningServer, tmp_path: Path, stage: Stage
) -> None:
    async with secure_scene(server, tmp_path, stage) as scene:
        logs = await fetched(f"{scene.agent.health_url}/{LOGS}")
        health = await fetched(f"{scene.agent.health_url}/livez")
        node = await scene.cluster.resource(Node).get(NODE)
        port = int(scene.agent.secure_url.rpartition(":")[2])

    assert logs == (404, f"this is answered over TLS, at port {port}\n")
    assert health == (200, "ok\n")
    assert node.status.daemon_endpoints.kubelet_endpoint.port == port


async def test_a_new_certificate_is_shown_without_a_restart(
    server: RunningServer, tmp_path: Path, stage: Stage
) -> None:
    async with secure_scene(server, tmp_path, stage) as scene:
        url = f"{scene.agent.secure_url}/{LOGS}"
        stage.renew()
        answer = await asked(url, stage.client("system:masters", user="ann"))

    assert answer == (200, "hello\n")


def test_the_command_says_where_it_answers(
    server: RunningServer, tmp_path: Path, stage: Stage
) -> None:
    flags = (
        f"--tls-cert-file={stage.port.certificate}",
        f"--tls-private-key-file={stage.port.key}",
        "--secure-address=127.0.0.1:0",
    )
    with agent_process(server.kubeconfig, tmp_path, *flags) as agent:
        asyncio.run(until(lambda: "logs over TLS at https://127.0.0.1:" in agent.said))

        assert "health at http://127.0.0.1:" in agent.said
