"""``kubectl logs`` through a real API server, from the agent's port with TLS."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.kubectl_calls import KubectlCalls
from tests.node_scenes import NODE, PATIENCE, agent_process, pod_document, until
from tests.real.certificates import CertificateFiles
from tests.real.kube_server import HOST, KubeServer

pytestmark = pytest.mark.time_limit(4 * PATIENCE)

NAMESPACE: Final = "node-logs"
COUNT: Final = "i=0; while :; do i=$((i+1)); echo line $i; sleep 0.1; done"


def pod(name: str, script: str, **spec: Any) -> str:
    """A pod that runs a script, as kubectl takes it."""
    return json.dumps(pod_document(name, ["sh", "-c", script], **spec))


class Scene(KubectlCalls):
    """An agent with a node's identity and certificate, its pods, and kubectl."""

    def __init__(self, kube: KubeServer, folder: Path, serving: CertificateFiles) -> None:
        self.kube = kube
        self.folder = folder
        self.serving = serving
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "KUBECONFIG": str(kube.write_kubeconfig(folder / "admin.config", namespace=NAMESPACE)),
        }

    def shows(self, words: str, *arguments: str) -> None:
        """Return once a command prints these words."""
        asyncio.run(until(lambda: words in self.called(*arguments).stdout))

    @property
    def port(self) -> int:
        """Where the server asks for logs, as the Node tells it."""
        node = json.loads(self.kubectl("get", "node", NODE, "-o=json"))
        return int(node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"])

    def page(self, path: str, **shown: Any) -> tuple[int, str]:
        """A page of the agent's, asked for directly."""
        context = ssl.create_default_context(cafile=str(self.kube.folder / "node-ca.crt"))
        certificate: CertificateFiles | None = shown.get("certificate")
        if certificate is not None:
            context.load_cert_chain(certificate.certificate_file, certificate.key_file)
        headers = {"Authorization": f"Bearer {shown['token']}"} if "token" in shown else {}
        request = urllib.request.Request(f"https://{HOST}:{self.port}/{path}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=10, context=context) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


@pytest.fixture(scope="module")
def scene(kube: KubeServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("node")
    with kube.connect() as connection:
        connection.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    serving = kube.node_certificate(HOST)
    scene = Scene(kube, folder, serving)
    identity = kube.write_kubeconfig(folder / "node.config", "node", namespace=NAMESPACE)
    flags = (
        f"--namespace={NAMESPACE}",
        f"--tls-cert-file={serving.certificate_file}",
        f"--tls-private-key-file={serving.key_file}",
        f"--client-ca-file={kube.client_ca_file}",
        f"--secure-address={HOST}:0",
    )
    with agent_process(identity, folder, *flags) as agent:
        for name, script in (
            ("web", "echo one; echo two; exec sleep 600"),
            ("crash", "echo boom; exit 1"),
            ("talking", COUNT),
        ):
            scene.kubectl("apply", "-f", "-", given=pod(name, script))
        asyncio.run(until(lambda: "logs over TLS at" in agent.said))
        scene.shows("Running", "get", "pod", "web")
        scene.shows("Running", "get", "pod", "talking")
        yield scene
        scene.kubectl("delete", "pods", "--all")


def test_logs_are_fetched_by_the_real_server(scene: Scene) -> None:
    scene.shows("two", "logs", "web")

    assert scene.kubectl("logs", "web") == "one\ntwo\n"
    assert scene.kubectl("logs", "web", "--tail=1") == "two\n"
    assert scene.kubectl("logs", "web", "--limit-bytes=3") == "one"
    assert scene.kubectl("logs", "web", "--timestamps").splitlines()[0].endswith("Z one")


def test_logs_of_the_life_before_can_be_read(scene: Scene) -> None:
    scene.shows("CrashLoopBackOff", "get", "pods", "crash")

    assert scene.kubectl("logs", "crash", "--previous") == "boom\n"


def test_a_life_that_never_was_has_no_log(scene: Scene) -> None:
    failed = scene.called("logs", "web", "--previous")

    assert failed.returncode == 1
    assert 'previous terminated container "main" in pod "web" not found' in failed.stderr


def test_logs_are_followed_while_they_are_written(scene: Scene) -> None:
    with scene.followed("logs", "-f", "talking", "--tail=1") as following:
        try:
            assert following.stdout is not None
            numbers = [int(following.stdout.readline().split()[1]) for _ in range(15)]
        finally:
            following.kill()

    assert numbers == list(range(numbers[0], numbers[0] + 15))


def test_following_ends_with_the_container(scene: Scene) -> None:
    short = pod("short", "echo a; sleep 2; echo b", restartPolicy="Never")
    scene.kubectl("apply", "-f", "-", given=short)
    scene.shows("Running", "get", "pod", "short")

    assert scene.kubectl("logs", "-f", "short") == "a\nb\n"


@pytest.mark.parametrize(
    ("path", "status"), [("metrics", 200), ("pods", 200), ("readyz", 200), ("nothing", 404)]
)
def test_whoever_may_everything_reads_every_page(scene: Scene, path: str, status: int) -> None:
    assert scene.page(path, certificate=scene.kube.admin_certificate)[0] == status


def test_a_user_of_the_cluster_without_the_right_reads_nothing(scene: Scene) -> None:
    stranger = scene.kube.client_certificate("somebody")
    log = f"containerLogs/{NAMESPACE}/web/main"

    assert scene.page(log, certificate=stranger) == (
        403,
        f"somebody may not get nodes/proxy of {NODE}\n",
    )
    assert scene.page(log, token=scene.kube.tokens["restricted"])[0] == 403
    assert scene.page(log, token=scene.kube.tokens["admin"]) == (200, "one\ntwo\n")
    assert scene.page(log)[0] == 401


def test_the_right_to_numbers_alone_opens_numbers_alone(scene: Scene) -> None:
    for what in (
        ("clusterrole", "node-numbers", "--verb=get", "--resource=nodes/metrics"),
        ("clusterrolebinding", "node-numbers", "--clusterrole=node-numbers", "--user=monitor"),
    ):
        scene.kubectl("create", *what)
    monitor = scene.kube.client_certificate("monitor")
    # The server takes rules in a moment later, and a refusal holds for a minute: ask it first.
    scene.shows("yes", "auth", "can-i", "get", "nodes", "--subresource=metrics", "--as=monitor")

    answers = [scene.page(path, certificate=monitor)[0] for path in ("metrics", "pods", "livez")]

    assert answers == [200, 403, 403]


def test_a_certificate_that_is_renewed_is_shown_to_the_server(scene: Scene) -> None:
    renewed = scene.kube.node_certificate(HOST)
    scene.serving.certificate_file.write_bytes(renewed.certificate_file.read_bytes())
    scene.serving.key_file.write_bytes(renewed.key_file.read_bytes())

    assert scene.kubectl("logs", "web") == "one\ntwo\n"
    assert ssl.get_server_certificate((HOST, scene.port)) == renewed.certificate_file.read_text()


def test_a_node_whose_certificate_the_server_does_not_trust_is_not_asked(scene: Scene) -> None:
    elsewhere = scene.kube.node_certificate("198.51.100.1")
    before = scene.serving.certificate_file.read_bytes(), scene.serving.key_file.read_bytes()
    scene.serving.certificate_file.write_bytes(elsewhere.certificate_file.read_bytes())
    scene.serving.key_file.write_bytes(elsewhere.key_file.read_bytes())
    try:
        failed = scene.called("logs", "web")
    finally:
        scene.serving.certificate_file.write_bytes(before[0])
        scene.serving.key_file.write_bytes(before[1])

    assert "certificate is valid for 198.51.100.1, not 127.0.0.1" in failed.stderr
