"""A stock kubectl on a server on which everything plays: what it waits for happens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reflet.play import Play
from reflet.testing.pytest_plugin import RunningServer, running_server
from tests.integration.kubectl_runner import NEEDS_KUBECTL, Kubectl

pytestmark = NEEDS_KUBECTL

STATEFUL = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "postgres:1"}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
DAEMON = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "agent:1"}]}
"""
FAILING = """
apiVersion: batch/v1
kind: Job
metadata: {name: bad}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {reflet.dev/play: exit 3}}
    spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}
"""


@pytest.fixture
def shared_server() -> Iterator[RunningServer]:
    with running_server({"tls": False, "play": Play("all", nodes=2)}) as running:
        yield running


def web(kubectl: Kubectl, replicas: int = 3) -> None:
    kubectl("create", "deployment", "web", "--image=nginx:1", f"--replicas={replicas}")
    kubectl("rollout", "status", "deploy/web", "--timeout=30s")


def images(kubectl: Kubectl) -> set[str]:
    pods = kubectl.json("get", "pods", "-l", "app=web")["items"]
    return {each["spec"]["containers"][0]["image"] for each in pods}


def test_a_deployment_rolls_out_and_back(kubectl: Kubectl) -> None:
    web(kubectl)

    kubectl("set", "image", "deploy/web", "nginx=nginx:2")
    kubectl("rollout", "status", "deploy/web", "--timeout=30s")
    assert images(kubectl) == {"nginx:2"}
    kubectl("rollout", "undo", "deploy/web")
    kubectl("rollout", "status", "deploy/web", "--timeout=30s")

    assert images(kubectl) == {"nginx:1"}
    history = kubectl("rollout", "history", "deploy/web")
    assert [line.split()[0] for line in history.splitlines()[2:] if line] == ["2", "3"]


def test_a_deployment_is_scaled_and_its_pods_are_ready_on_all_nodes(kubectl: Kubectl) -> None:
    web(kubectl, 1)

    kubectl("scale", "deploy/web", "--replicas=4")
    kubectl("rollout", "status", "deploy/web", "--timeout=30s")
    kubectl("wait", "pod", "-l", "app=web", "--for=condition=ready", "--timeout=30s")

    pods = kubectl.json("get", "pods", "-l", "app=web")["items"]
    assert {each["spec"]["nodeName"] for each in pods} == {"play-0", "play-1"}


def test_a_service_has_the_addresses_of_its_pods(kubectl: Kubectl) -> None:
    web(kubectl)

    kubectl("expose", "deploy/web", "--port=80")
    ready = "jsonpath={.endpoints[2].conditions.ready}=true"
    selector = "kubernetes.io/service-name=web"
    kubectl("wait", "endpointslices", "-l", selector, "--for=create", "--timeout=30s")
    kubectl("wait", "endpointslices", "-l", selector, f"--for={ready}", "--timeout=30s")

    pods = kubectl.json("get", "pods", "-l", "app=web")["items"]
    (found,) = kubectl.json("get", "endpointslices", "-l", selector)["items"]
    addresses = {address for each in found["endpoints"] for address in each["addresses"]}
    assert addresses == {each["status"]["podIP"] for each in pods}


def test_jobs_complete_and_fail(kubectl: Kubectl) -> None:
    kubectl("create", "job", "good", "--image=busybox", "--", "true")
    kubectl("apply", "-f", "-", given=FAILING)

    kubectl("wait", "job/good", "--for=condition=complete", "--timeout=30s")
    kubectl("wait", "job/bad", "--for=condition=failed", "--timeout=30s")


def test_a_stateful_set_rolls_out_and_keeps_its_claims(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=STATEFUL)
    kubectl("rollout", "status", "sts/db", "--timeout=30s")

    kubectl("set", "image", "sts/db", "db=postgres:2")
    kubectl("rollout", "status", "sts/db", "--timeout=30s")

    image = "jsonpath={.spec.containers[0].image}"
    assert kubectl("get", "pod", "db-1", "-o", image) == "postgres:2"
    assert kubectl("get", "pvc", "-o", "name").split() == [
        "persistentvolumeclaim/data-db-0",
        "persistentvolumeclaim/data-db-1",
    ]


def test_a_daemon_set_has_a_pod_on_each_node_after_an_update_too(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=DAEMON)
    kubectl("rollout", "status", "ds/agent", "--timeout=30s")

    kubectl("set", "image", "ds/agent", "agent=agent:2")
    kubectl("rollout", "status", "ds/agent", "--timeout=30s")

    pods = kubectl.json("get", "pods", "-l", "app=agent")["items"]
    assert sorted(each["spec"]["nodeName"] for each in pods) == ["play-0", "play-1"]


def test_a_deployment_goes_with_everything_or_leaves_it(kubectl: Kubectl) -> None:
    web(kubectl)

    kubectl("delete", "deploy", "web", "--cascade=orphan", "--timeout=30s")
    kubectl("wait", "pod", "-l", "app=web", "--for=condition=ready", "--timeout=30s")
    left = kubectl("get", "rs", "-l", "app=web", "-o", "jsonpath={.items[*].metadata}")
    assert "ownerReferences" not in left
    kubectl("delete", "rs", "-l", "app=web", "--cascade=foreground", "--timeout=30s")

    assert kubectl("get", "pods", "-l", "app=web", "-o", "name") == ""


def test_a_namespace_goes_with_everything_in_it(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "all-of-it")
    kubectl("create", "deployment", "web", "--image=nginx", "-n", "all-of-it")
    kubectl("rollout", "status", "deploy/web", "-n", "all-of-it", "--timeout=30s")

    kubectl("delete", "namespace", "all-of-it", "--timeout=30s")

    assert kubectl("get", "pods", "-A", "-o", "jsonpath={.items[*].metadata.namespace}") == ""
