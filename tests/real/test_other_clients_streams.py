"""Other people's clients on pods: through a real API server, to an agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from tests.foreign_streams import UPPER, OfficialStreams, asyncio_exec
from tests.node_scenes import PATIENCE, declared, free_port
from tests.real.kube_server import KubeServer
from tests.real.stream_scenes import StreamScene

pytestmark = pytest.mark.time_limit(4 * PATIENCE)

NAMESPACE: Final = "other-clients"


@pytest.fixture(scope="module")
def scene(kube: KubeServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StreamScene]:
    with StreamScene(kube, tmp_path_factory.mktemp("node"), NAMESPACE).running() as scene:
        yield scene


def test_the_official_client_runs_a_command(scene: StreamScene) -> None:
    client = OfficialStreams(scene.config, namespace=NAMESPACE)
    script = "read line; echo got $line; echo wrong >&2; exit 3"

    assert client.exec("web", script, "it\n") == ("got it\n", "wrong\n", 3)


def test_the_official_client_attaches(scene: StreamScene) -> None:
    client = OfficialStreams(scene.config, namespace=NAMESPACE)
    script = "echo ready; while read line; do echo got $line; done"
    scene.create("reads", ["sh", "-c", script], stdin=True)
    scene.has_said("reads", "ready")

    assert client.attach("reads", "it\n", "got it\n") == "got it\n"


def test_the_official_client_forwards_several_ports_and_hears_of_one_that_is_not_there(
    scene: StreamScene,
) -> None:
    client = OfficialStreams(scene.config, namespace=NAMESPACE)
    port = free_port()
    scene.create("upper", ["python3", "-c", UPPER, str(port)], **declared(port))
    scene.has_said("upper", "listens")

    answers = client.port_forward("upper", port, 1, said=b"abc")

    assert answers[port] == (b"ABC", "")
    assert answers[1][0] == b""
    assert answers[1][1].startswith("error forwarding port 1 to pod upper, uid ")


async def test_kubernetes_asyncio_runs_a_command(scene: StreamScene) -> None:
    said = await asyncio_exec(scene.config, "web", "echo out; echo wrong >&2", namespace=NAMESPACE)

    assert sorted(said.splitlines()) == ["out", "wrong"]
