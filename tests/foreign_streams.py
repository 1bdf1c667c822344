"""Commands, streams and ports of pods by other people's clients, each as its own users write it.

Owns: how each client is made, used and closed.  Must not know which server answers.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from tests.node_scenes import until

# Named at run time: their functions have no types that a checker could use.
official: Any = import_module("kubernetes.client")
official_config: Any = import_module("kubernetes.config")
official_stream: Any = import_module("kubernetes.stream")
asyncio_client: Any = import_module("kubernetes_asyncio.client")
asyncio_config: Any = import_module("kubernetes_asyncio.config")
asyncio_stream: Any = import_module("kubernetes_asyncio.stream")

PATIENCE: Final = 30.0  # seconds
UPPER: Final = """
import socket, sys, threading
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listens", flush=True)
def serve(connection):
    while data := connection.recv(65536):
        connection.sendall(data.upper())
    connection.close()
while True:
    threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()
"""
"""A pod that answers every piece with the same in capitals."""


class OfficialStreams:
    """The official client, with the kubeconfig at *config*."""

    def __init__(self, config: Path, *, namespace: str = "default") -> None:
        self._config = str(config)
        self._namespace = namespace

    def exec(self, pod: str, script: str, given: str = "") -> tuple[str, str, int]:
        """Run a script with this input, to its end; what it said on both, and returned."""
        with official_config.new_client_from_config(self._config) as api:
            running = official_stream.stream(
                official.CoreV1Api(api).connect_get_namespaced_pod_exec,
                *(pod, self._namespace),
                command=["sh", "-c", script],
                stdin=bool(given),
                stdout=True,
                stderr=True,
                tty=False,
                _preload_content=False,
            )
            if given:
                running.write_stdin(given)
            running.run_forever(timeout=PATIENCE)
            said = running.read_stdout(), running.read_stderr(), running.returncode
            running.sock.shutdown()  # which it forgets when the server ends first
            return said

    def attach(self, pod: str, given: str, until: str) -> str:
        """Write to a container, and give what it says from then on, until those words."""
        with official_config.new_client_from_config(self._config) as api:
            attached = official_stream.stream(
                official.CoreV1Api(api).connect_get_namespaced_pod_attach,
                *(pod, self._namespace),
                stdin=True,
                stdout=True,
                stderr=True,
                tty=False,
                _preload_content=False,
            )
            attached.write_stdin(given)
            said = ""
            while not said.endswith(until) and attached.is_open():
                said += attached.read_stdout(timeout=PATIENCE)
            attached.close()
            return said

    def port_forward(self, pod: str, *ports: int, said: bytes) -> dict[int, tuple[bytes, str]]:
        """Say the same to each port; what each answered, and what was wrong with it."""
        with official_config.new_client_from_config(self._config) as api:
            forwarded = official_stream.portforward(
                official.CoreV1Api(api).connect_get_namespaced_pod_portforward,
                *(pod, self._namespace),
                ports=",".join(map(str, ports)),
            )
            answers: dict[int, tuple[bytes, str]] = {}
            for port in ports:
                connection = forwarded.socket(port)
                connection.settimeout(PATIENCE)
                with suppress(BrokenPipeError):  # it is closed as soon as something is wrong
                    connection.sendall(said)
                answer = connection.recv(65536)
                answers[port] = answer, forwarded.error(port) or ""
                connection.close()
            for thread in threading.enumerate():
                if thread.name.startswith("Kubernetes port forward proxy"):
                    thread.join(PATIENCE)
            return answers


async def asyncio_exec(config: Path, pod: str, script: str, *, namespace: str = "default") -> str:
    """Run a script by kubernetes_asyncio; what it said on both outputs."""
    before = _sockets()
    configuration = asyncio_client.Configuration()
    await asyncio_config.load_kube_config(
        config_file=str(config), client_configuration=configuration
    )
    async with asyncio_stream.WsApiClient(configuration=configuration) as api:
        said: str = await asyncio_client.CoreV1Api(api).connect_get_namespaced_pod_exec(
            *(pod, namespace),
            command=["sh", "-c", script],
            stdin=False,
            stdout=True,
            stderr=True,
            tty=False,
        )
    # Its WebSocket is closed without waiting for the server's close_notify, and a loop that ends
    # before that comes leaves the socket open.
    await until(lambda: _sockets() <= before)
    return said


def _sockets() -> set[str]:
    """The sockets of this process."""
    found: set[str] = set()
    for each in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(str(each.readlink()))
    return {each for each in found if each.startswith("socket:")}
