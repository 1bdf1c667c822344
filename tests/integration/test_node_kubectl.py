"""What a stock kubectl shows of the agent's pods: one test a command."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflet.testing.pytest_plugin import RunningServer, running_server
from tests.node_scenes import NODE, PATIENCE, AgentProcess, agent_process, can_isolate, until

pytestmark = [
    pytest.mark.skipif(
        shutil.which("kubectl") is None and os.environ.get("CI") != "true",
        reason="kubectl is not installed",
    ),
    pytest.mark.time_limit(120),
]

PODS = f"""
apiVersion: v1
kind: Pod
metadata: {{name: web}}
spec:
  nodeName: {NODE}
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: none
    command: [sh, -c, 'echo one; echo two; exec sleep 600']
---
apiVersion: v1
kind: Pod
metadata: {{name: waiting}}
spec:
  nodeName: {NODE}
  containers:
  - name: main
    image: none
    command: [sleep, "600"]
    env:
    - {{name: COLOR, valueFrom: {{configMapKeyRef: {{name: settings, key: color}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: crash}}
spec:
  nodeName: {NODE}
  containers:
  - {{name: main, image: none, command: [sh, -c, 'echo boom; exit 1']}}
---
apiVersion: v1
kind: Pod
metadata: {{name: reads}}
spec:
  nodeName: {NODE}
  restartPolicy: Never
  containers:
  - name: main
    image: none
    stdin: true
    stdinOnce: true
    command: [sh, -c, 'echo ready; while read line; do echo got $line; done; echo end']
"""


class Kubectl:
    """kubectl with a home of its own, beside an agent that has four pods."""

    def __init__(self, server: RunningServer, home: Path, agent: AgentProcess) -> None:
        self.agent = agent
        self._environment = {
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(server.kubeconfig),
            "HOME": str(home),
            "KUBECACHEDIR": str(home / "cache"),
        }

    def __call__(self, *arguments: str, given: str = "") -> str:
        finished = subprocess.run(
            ["kubectl", *arguments],
            input=given,
            env=self._environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
        return finished.stdout

    def shows(self, words: str, *arguments: str) -> str:
        """What a command prints once it has these words in it."""

        async def look() -> str:
            await until(lambda: words in self(*arguments))
            return self(*arguments)

        return asyncio.run(look())


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    home = tmp_path_factory.mktemp("home")
    with running_server({}) as server, agent_process(server.kubeconfig, home) as agent:
        command = Kubectl(server, home, agent)
        command("apply", "-f", "-", given=PODS)
        command.shows("Running", "get", "pod", "web")
        yield command


def test_get_pods_shows_what_each_of_them_does(kubectl: Kubectl) -> None:
    kubectl.shows("CreateContainerConfigError", "get", "pods")
    lines = kubectl.shows("CrashLoopBackOff", "get", "pods").splitlines()

    shown = {line.split()[0]: line.split()[1:3] for line in lines[1:]}
    assert shown["web"] == ["1/1", "Running"]
    assert shown["waiting"] == ["0/1", "CreateContainerConfigError"]
    assert shown["crash"][0] == "0/1"


def test_get_nodes_shows_the_agent(kubectl: Kubectl) -> None:
    line = kubectl.shows(" Ready ", "get", "nodes", "-o", "wide").splitlines()[1]

    assert line.startswith(NODE)
    assert f"reflet-{'namespaces' if can_isolate() else 'processes'}://" in line


def test_describe_tells_the_reason_and_the_events(kubectl: Kubectl) -> None:
    kubectl.shows("CreateContainerConfigError", "get", "pods")
    text = kubectl.shows("Failed", "describe", "pod", "waiting")

    assert "Reason:       CreateContainerConfigError" in text
    assert 'Error: configmap "settings" not found' in text


def test_get_events_shows_what_happened(kubectl: Kubectl) -> None:
    text = kubectl.shows("BackOff", "get", "events")

    assert "Container started" in text
    assert "Back-off restarting failed container main in pod crash_default(" in text


def test_attach_talks_to_a_container_until_it_ends(kubectl: Kubectl) -> None:
    kubectl.shows("ready", "logs", "reads")

    assert kubectl("attach", "-i", "-q", "reads", given="one\n") == "got one\nend\n"


def test_logs_come_from_the_node(kubectl: Kubectl) -> None:
    kubectl.shows("two", "logs", "web")

    assert kubectl("logs", "web") == "one\ntwo\n"
    assert kubectl("logs", "web", "--tail=1") == "two\n"
    assert kubectl("logs", "web", "--timestamps").splitlines()[0].endswith("Z one")


def test_logs_of_the_life_before_can_be_read(kubectl: Kubectl) -> None:
    kubectl.shows("CrashLoopBackOff", "get", "pods", "crash")

    assert kubectl("logs", "crash", "--previous") == "boom\n"


def test_logs_can_be_followed(kubectl: Kubectl) -> None:
    with subprocess.Popen(
        ["kubectl", "logs", "-f", "web"], env=kubectl._environment, stdout=subprocess.PIPE
    ) as following:
        assert following.stdout is not None
        try:
            said = [following.stdout.readline() for _ in range(2)]
            with pytest.raises(subprocess.TimeoutExpired):
                following.wait(timeout=0.5)
        finally:
            following.kill()
        said += following.stdout

    assert said == [b"one\n", b"two\n"]


def test_delete_waits_for_the_end(kubectl: Kubectl) -> None:
    pod = PODS.partition("---")[0].replace("name: web", "name: short")
    kubectl("apply", "-f", "-", given=pod)
    kubectl.shows("Running", "get", "pod", "short")

    said = kubectl("delete", "pod", "short")
    left = kubectl("get", "pods")

    assert 'pod "short" deleted' in said
    assert "short" not in left


def test_exec_runs_a_command_and_returns_what_it_returned(kubectl: Kubectl) -> None:
    command = ("exec", "-i", "web", "--", "sh", "-c", "cat; exit 3")
    with pytest.raises(subprocess.CalledProcessError) as ended:
        kubectl(*command, given="hello")

    assert (ended.value.stdout, ended.value.returncode) == ("hello", 3)
