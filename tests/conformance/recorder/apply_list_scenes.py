"""Scenes of server-side apply: lists and maps inside an object, and who owns their items."""

from __future__ import annotations

from typing import Final

from tests.conformance.recorder.apply_builders import just_containers, scene, template
from tests.conformance.recorder.scenes import (
    apply,
    container,
    deployment,
    merge,
    pod,
    port,
    service,
    strategic,
    whole,
)

TEMPLATE: Final = template(container("web", env=[{"name": "A", "value": "1"}]))
APPLIED_DEPLOYMENT: Final = apply(deployment(container("web", env=[{"name": "A", "value": "1"}])))

LISTS: Final = (
    scene("creates a pod", apply(pod(container(ports=[{"containerPort": 80}]))), kind="Pod"),
    scene(
        "creates a pod in few words",
        apply(just_containers({"name": "web", "image": "web:1", "imagePullPolicy": "Always"})),
        kind="Pod",
    ),
    scene("creates a deployment", apply(deployment()), kind="Deployment"),
    scene(
        "an image of another applier",
        APPLIED_DEPLOYMENT,
        apply(template({"name": "web", "image": "web:2"}), "other"),
        kind="Deployment",
    ),
    scene(
        "an image by force",
        APPLIED_DEPLOYMENT,
        apply(template({"name": "web", "image": "web:2"}), "other", force=True),
        kind="Deployment",
    ),
    scene(
        "a sidecar of another applier",
        APPLIED_DEPLOYMENT,
        apply(template(container("log")), "other"),
        kind="Deployment",
    ),
    scene(
        "a sidecar given up",
        APPLIED_DEPLOYMENT,
        apply(template(container("log")), "other"),
        apply(whole("apps/v1", "Deployment", {}), "other"),
        kind="Deployment",
    ),
    scene(
        "env of another applier",
        APPLIED_DEPLOYMENT,
        apply(template({"name": "web", "env": [{"name": "B", "value": "2"}]}), "other"),
        kind="Deployment",
    ),
    scene(
        "an env entry in front of the others",
        APPLIED_DEPLOYMENT,
        apply(
            deployment(
                container("web", env=[{"name": "Z", "value": "0"}, {"name": "A", "value": "1"}])
            )
        ),
        kind="Deployment",
    ),
    scene(
        "an env entry given up",
        APPLIED_DEPLOYMENT,
        apply(deployment(container("web"))),
        kind="Deployment",
    ),
    scene(
        "an env entry given up while another has one",
        APPLIED_DEPLOYMENT,
        apply(template({"name": "web", "env": [{"name": "B", "value": "2"}]}), "other"),
        apply(deployment(container("web"))),
        kind="Deployment",
    ),
    scene(
        "the same port for two protocols",
        apply(deployment(container("web", ports=[port(53), port(53, protocol="UDP")]))),
        apply(deployment(container("web", ports=[port(53)]))),
        kind="Deployment",
    ),
    scene(
        "a list without its key",
        APPLIED_DEPLOYMENT,
        apply(template({"image": "x"}), "other"),
        kind="Deployment",
    ),
    scene(
        "the same key twice",
        APPLIED_DEPLOYMENT,
        apply(template(container("web"), container("web")), "other"),
        kind="Deployment",
    ),
    scene(
        "an atomic list",
        apply(deployment(container("web", command=["a", "b"]))),
        apply(template({"name": "web", "command": ["c"]}), "other"),
        kind="Deployment",
    ),
    scene(
        "an atomic list by force",
        apply(deployment(container("web", command=["a", "b"]))),
        apply(template({"name": "web", "command": ["c"]}), "other", force=True),
        kind="Deployment",
    ),
    scene(
        "an atomic list given up",
        apply(deployment(container("web", command=["a", "b"]))),
        apply(deployment(container("web"))),
        kind="Deployment",
    ),
    scene(
        "tolerations are atomic",
        apply(deployment(template={"tolerations": [{"key": "a", "operator": "Exists"}]})),
        apply(deployment(template={"tolerations": [{"key": "b", "operator": "Exists"}]}), "other"),
        kind="Deployment",
    ),
    scene(
        "a selector is atomic",
        APPLIED_DEPLOYMENT,
        apply(
            whole("apps/v1", "Deployment", {"spec": {"selector": {"matchLabels": {"app": "no"}}}}),
            "other",
        ),
        kind="Deployment",
    ),
    scene(
        "containers reordered",
        apply(deployment(container("a"), container("b"), container("c"))),
        apply(deployment(container("c"), container("a"), container("b"))),
        kind="Deployment",
    ),
    scene(
        "resources",
        APPLIED_DEPLOYMENT,
        apply(template({"name": "web", "resources": {"limits": {"cpu": "1"}}}), "other"),
        kind="Deployment",
    ),
    scene(
        "replicas after a scaler",
        APPLIED_DEPLOYMENT,
        merge({"spec": {"replicas": 3}}, "scaler"),
        APPLIED_DEPLOYMENT,
        kind="Deployment",
    ),
    scene(
        "ports of a service",
        apply(service({"name": "a", "port": 1, "protocol": "TCP", "targetPort": 1})),
        apply(
            whole(
                "v1",
                "Service",
                {"spec": {"ports": [{"name": "b", "port": 2, "protocol": "TCP", "targetPort": 2}]}},
            ),
            "other",
        ),
        kind="Service",
    ),
    scene(
        "a strategic patch of an applied container",
        APPLIED_DEPLOYMENT,
        strategic(
            {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:3"}]}}}}
        ),
        kind="Deployment",
    ),
)
