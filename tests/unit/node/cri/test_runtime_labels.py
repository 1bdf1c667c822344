from __future__ import annotations

from reflet.node.cri.runtime_labels import (
    container_annotations,
    container_labels,
    grace_in,
    sandbox_labels,
)
from tests.unit.node.pod_scenes import container, only, pod

IDENTITY = {
    "io.kubernetes.pod.name": "web",
    "io.kubernetes.pod.namespace": "shop",
    "io.kubernetes.pod.uid": "u1",
}


def test_a_sandbox_has_the_labels_of_its_pod_and_says_whose_it_is() -> None:
    of = pod(metadata={"labels": {"app": "web"}})

    told = sandbox_labels(of, "worker-1")

    assert told == {"app": "web", "reflet.dev/node": "worker-1"} | IDENTITY


def test_a_container_says_which_it_is() -> None:
    of = pod()

    told = container_labels(of, only(of), "worker-1")

    name = {"io.kubernetes.container.name": "main", "reflet.dev/node": "worker-1"}
    assert told == IDENTITY | name


def test_what_another_agent_has_to_know_is_in_annotations() -> None:
    of = pod(
        container(
            terminationMessagePath="/last",
            terminationMessagePolicy="File",
            lifecycle={"preStop": {"exec": {"command": ["bye"]}}},
            ports=[{"containerPort": 80}],
        ),
        metadata={"deletionGracePeriodSeconds": 3},
        terminationGracePeriodSeconds=30,
    )

    told = container_annotations(of, only(of), fingerprint="abc", restarts=2)

    assert told == {
        "io.kubernetes.container.hash": "abc",
        "io.kubernetes.container.restartCount": "2",
        "io.kubernetes.container.terminationMessagePath": "/last",
        "io.kubernetes.container.terminationMessagePolicy": "File",
        "io.kubernetes.container.preStopHandler": '{"exec":{"command":["bye"]}}',
        "io.kubernetes.container.ports": '[{"containerPort":80}]',
        "io.kubernetes.pod.deletionGracePeriod": "3",
        "io.kubernetes.pod.terminationGracePeriod": "30",
    }
    assert grace_in(told) == 30


def test_a_grace_period_that_nobody_wrote_is_unknown() -> None:
    assert grace_in({}) is None
    assert grace_in({"io.kubernetes.pod.terminationGracePeriod": "soon"}) is None
