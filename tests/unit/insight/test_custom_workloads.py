"""Custom resources as what makes pods."""

from __future__ import annotations

from typing import Any

from reflet.api import codec
from reflet.api.core.pods import Pod
from reflet.api.core.workloads import Deployment
from reflet.api.unstructured import AnyObject
from reflet.insight.custom_workloads import pod_made_by, workload_in
from reflet.manifests.acceptance import Accepting
from reflet.resolution.templates.templates import pod_of

SPEC: dict[str, Any] = {
    "selector": {"matchLabels": {"a": "b"}},
    "template": {
        "metadata": {"labels": {"a": "b"}},
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "ports": [{"containerPort": 80}],
                    "resources": {"limits": {"cpu": "1"}},
                    "env": [
                        {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
                    ],
                }
            ],
            "volumes": [{"name": "v", "secret": {"secretName": "s"}}, {"name": "e"}],
        },
    },
}


def rollout(**more: Any) -> AnyObject:
    metadata = {"name": "x", "namespace": "shop"}
    content = {"kind": "Rollout", "apiVersion": "argoproj.io/v1alpha1", "metadata": metadata}
    return AnyObject.from_dict({**content, "spec": SPEC, **more})


def test_a_rollout_makes_the_pod_that_a_deployment_of_the_same_template_makes() -> None:
    metadata = {"name": "x", "namespace": "shop"}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": SPEC}
    accepting = Accepting("shop")
    kind = accepting.kind_of(deployment)
    assert kind is not None
    _, stored = accepting.accept(kind, deployment)

    workload = workload_in(rollout())

    assert workload is not None
    assert pod_of(workload) == pod_of(codec.decode(codec.encode(stored), Deployment))


def test_kinds_of_kubernetes_are_no_custom_workloads() -> None:
    assert workload_in(rollout(apiVersion="apps/v2")) is None


def test_the_pod_of_whatever_was_read() -> None:
    pod = pod_made_by(rollout())

    assert pod is not None
    assert pod.metadata.generate_name == "x-"
    assert pod_made_by(Pod()) == Pod()
    assert pod_made_by(rollout(spec={})) is None
    assert pod_made_by("text") is None
