"""Scenes of strategic merge patches.

Owns the script only; what a scene is says scenes.py.
"""

from __future__ import annotations

from typing import Any, Final

from tests.conformance.recorder.scenes import (
    STRATEGIC,
    Request,
    Scene,
    config_map,
    container,
    create,
    deployment,
    empty_volume,
    pod,
    port,
    service,
    strategic,
)

SETTINGS: Final = create(
    config_map(metadata={"labels": {"app": "shop"}}, data={"color": "red", "size": "9"})
)
TWO_CONTAINERS: Final = create(
    deployment(
        container(
            "web",
            env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
            ports=[port(80, name="http"), port(443, name="https")],
            command=["run", "fast"],
            volumeMounts=[{"name": "one", "mountPath": "/one"}],
        ),
        container("log"),
        template={
            "volumes": [empty_volume("one"), empty_volume("two")],
            "tolerations": [{"key": "a", "operator": "Exists"}],
        },
    )
)
OWNED: Final = create(
    config_map(
        metadata={
            "finalizers": ["ex.test/a", "ex.test/b", "ex.test/c"],
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u-1"},
                {"apiVersion": "v1", "kind": "Pod", "name": "q", "uid": "u-2"},
            ],
        }
    )
)
TWO_PORTS: Final = create(
    service(
        {"name": "http", "port": 80, "protocol": "TCP", "targetPort": 80},
        {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
    )
)


def on_pods(name: str, spec: Any) -> Scene:
    """A patch of the pod template of a deployment with two containers."""
    patch = strategic({"spec": {"template": {"spec": spec}}})
    return Scene(f"strategic: {name}", "Deployment", (TWO_CONTAINERS,), patch)


def on_spec(name: str, spec: Any) -> Scene:
    """A patch of the spec of a deployment."""
    return Scene(f"strategic: {name}", "Deployment", (TWO_CONTAINERS,), strategic({"spec": spec}))


def on_metadata(name: str, metadata: Any) -> Scene:
    """A patch of the metadata of a ConfigMap with owners and finalizers."""
    return Scene(f"strategic: {name}", "ConfigMap", (OWNED,), strategic({"metadata": metadata}))


def on_settings(name: str, patch: Any) -> Scene:
    """A patch of a ConfigMap."""
    return Scene(f"strategic: {name}", "ConfigMap", (SETTINGS,), strategic(patch))


def on_ports(name: str, spec: Any) -> Scene:
    """A patch of a service with two ports."""
    return Scene(f"strategic: {name}", "Service", (TWO_PORTS,), strategic({"spec": spec}))


def owner(uid: str, **fields: Any) -> dict[str, Any]:
    """An owner reference."""
    return {"apiVersion": "v1", "kind": "Pod", "name": uid, "uid": uid, **fields}


LISTS: Final = (
    on_pods("a container by name", {"containers": [{"name": "log", "image": "log:2"}]}),
    on_pods("a new container goes first", {"containers": [container("new")]}),
    on_pods(
        "two containers in another order",
        {"containers": [{"name": "log", "image": "l"}, {"name": "web", "image": "w"}]},
    ),
    on_pods(
        "new, known and new containers",
        {"containers": [container("x"), {"name": "web", "image": "w"}, container("y")]},
    ),
    on_pods("a container deleted", {"containers": [{"name": "log", "$patch": "delete"}]}),
    on_pods(
        "a container deleted that is not there",
        {"containers": [{"name": "no", "$patch": "delete"}]},
    ),
    on_pods(
        "one deleted, one changed",
        {"containers": [{"name": "log", "$patch": "delete"}, {"name": "web", "image": "w"}]},
    ),
    on_pods("all containers replaced", {"containers": [container("new"), {"$patch": "replace"}]}),
    on_pods(
        "entries that ask to be a replacement are lost",
        {
            "containers": [
                {"name": "web", "env": [{"name": "C", "value": "3", "$patch": "replace"}]}
            ]
        },
    ),
    on_pods("a container without a name", {"containers": [{"image": "log:2"}]}),
    on_pods("a deletion without a name", {"containers": [{"$patch": "delete"}]}),
    on_pods("an unknown directive", {"containers": [{"name": "web", "$patch": "melt"}]}),
    on_pods("a merge directive", {"containers": [{"name": "web", "$patch": "merge"}]}),
    on_pods(
        "env by name",
        {"containers": [{"name": "web", "env": [{"name": "B", "value": "3"}, {"name": "C"}]}]},
    ),
    on_pods(
        "an env entry turned from a value to a source",
        {
            "containers": [
                {
                    "name": "web",
                    "env": [
                        {
                            "name": "A",
                            "value": None,
                            "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}},
                        }
                    ],
                }
            ]
        },
    ),
    on_pods("env deleted", {"containers": [{"name": "web", "env": None}]}),
    on_pods("a command is replaced", {"containers": [{"name": "web", "command": ["stop"]}]}),
    on_pods("the command emptied", {"containers": [{"name": "web", "command": []}]}),
    on_pods(
        "ports by number",
        {"containers": [{"name": "web", "ports": [{"containerPort": 80, "name": "plain"}]}]},
    ),
    on_pods(
        "a port added",
        {"containers": [{"name": "web", "ports": [port(90, name="more")]}]},
    ),
    on_pods(
        "a mount by its path",
        {"containers": [{"name": "web", "volumeMounts": [{"mountPath": "/one", "name": "two"}]}]},
    ),
    on_pods("tolerations are replaced", {"tolerations": [{"key": "b", "operator": "Exists"}]}),
    on_pods("volumes added by name", {"volumes": [empty_volume("three")]}),
    on_pods(
        "another source for a volume",
        {
            "volumes": [
                {
                    "name": "one",
                    "$retainKeys": ["name", "hostPath"],
                    "hostPath": {"path": "/tmp", "type": ""},
                }
            ]
        },
    ),
    on_pods("a node selector where none was", {"nodeSelector": {"disk": "fast", "gone": None}}),
    on_pods(
        "resources",
        {"containers": [{"name": "web", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}]},
    ),
    on_ports("a service's port by number", {"ports": [{"port": 80, "targetPort": 8080}]}),
    on_ports("a service's port deleted", {"ports": [{"port": 53, "$patch": "delete"}]}),
    on_metadata("a finalizer added", {"finalizers": ["ex.test/d"]}),
    on_metadata("finalizers given again", {"finalizers": ["ex.test/c", "ex.test/a"]}),
    on_metadata(
        "a finalizer deleted", {"$deleteFromPrimitiveList/finalizers": ["ex.test/b", "none"]}
    ),
    on_metadata(
        "a finalizer deleted and one added",
        {"$deleteFromPrimitiveList/finalizers": ["ex.test/b"], "finalizers": ["ex.test/d"]},
    ),
    on_metadata("owners by uid", {"ownerReferences": [owner("u-2", controller=True)]}),
    on_metadata("an owner deleted", {"ownerReferences": [{"uid": "u-1", "$patch": "delete"}]}),
    on_metadata("a deletion list that is a text", {"$deleteFromPrimitiveList/finalizers": "x"}),
    on_metadata("a deletion list without a field", {"$deleteFromPrimitiveList": ["x"]}),
)

ORDERS: Final = (
    on_pods(
        "an order for containers",
        {
            "$setElementOrder/containers": [{"name": "log"}, {"name": "web"}],
            "containers": [{"name": "web", "image": "w"}],
        },
    ),
    on_pods(
        "an order without a change",
        {"$setElementOrder/containers": [{"name": "log"}, {"name": "web"}]},
    ),
    on_pods(
        "an order with a new and an unmentioned container",
        {
            "$setElementOrder/containers": [{"name": "new"}, {"name": "log"}],
            "containers": [container("new")],
        },
    ),
    on_pods(
        "an order and a deletion",
        {
            "$setElementOrder/containers": [{"name": "web"}],
            "containers": [{"name": "log", "$patch": "delete"}],
        },
    ),
    on_pods(
        "an order that lacks what is patched",
        {
            "$setElementOrder/containers": [{"name": "log"}],
            "containers": [{"name": "web", "image": "w"}],
        },
    ),
    on_pods("an order that is a text", {"$setElementOrder/containers": "log"}),
    on_pods("an order without a field", {"$setElementOrder": [{"name": "log"}]}),
    on_pods("an order without names", {"$setElementOrder/containers": [{"image": "log"}]}),
    on_pods(
        "an order for a list that is not there",
        {
            "$setElementOrder/initContainers": [{"name": "setup"}],
            "initContainers": [container("setup")],
        },
    ),
    on_metadata(
        "an order for finalizers",
        {
            "$setElementOrder/finalizers": ["ex.test/c", "ex.test/d", "ex.test/a"],
            "finalizers": ["ex.test/d"],
        },
    ),
    on_metadata(
        "an order and a deletion of finalizers",
        {
            "$setElementOrder/finalizers": ["ex.test/c", "ex.test/a"],
            "$deleteFromPrimitiveList/finalizers": ["ex.test/b"],
        },
    ),
)

MAPS: Final = (
    on_settings("keys added and replaced", {"data": {"color": "blue", "new": "1"}}),
    on_settings("null deletes a key", {"data": {"color": None}}),
    on_settings("null deletes a map", {"data": None}),
    on_settings("null of what is missing", {"data": {"none": None}, "binaryData": None}),
    on_settings("a map replaced", {"data": {"$patch": "replace", "only": "1"}}),
    on_settings("a map deleted", {"data": {"$patch": "delete"}}),
    on_settings("an unknown directive in a map", {"data": {"$patch": "melt"}}),
    on_settings("a directive that is a number", {"data": {"$patch": 1}}),
    on_settings("directives in something new", {"metadata": {"annotations": {"$patch": "delete"}}}),
    on_settings("an empty patch", {}),
    on_spec(
        "a strategy that retains keys",
        {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}},
    ),
    on_spec(
        "a strategy that retains what it does not name",
        {"strategy": {"$retainKeys": ["rollingUpdate"], "type": "Recreate"}},
    ),
    on_spec("a strategy that retains a text", {"strategy": {"$retainKeys": "type"}}),
    on_spec("replicas", {"replicas": 3}),
    on_spec("a label of the template", {"template": {"metadata": {"labels": {"tier": "web"}}}}),
    on_settings("null is a patch", "null"),
    on_settings("a list is no patch", "[]"),
    on_settings("a text is no patch", '"text"'),
    on_settings("not JSON", "{data: 1}"),
    on_settings("half a body", '{"data": {"a"'),
    Scene(
        "strategic: the status",
        "Pod",
        (create(pod()),),
        strategic(
            {
                "status": {
                    "conditions": [
                        {
                            "type": "Ready",
                            "status": "True",
                            "lastProbeTime": None,
                            "lastTransitionTime": "2026-01-01T00:00:00Z",
                        }
                    ]
                }
            },
            subresource="status",
        ),
    ),
    Scene(
        "strategic: one condition of two",
        "Pod",
        (
            create(pod()),
            strategic(
                {
                    "status": {
                        "conditions": [
                            {"type": "Ready", "status": "True"},
                            {"type": "Initialized", "status": "True"},
                        ]
                    }
                },
                "first",
                subresource="status",
            ),
        ),
        strategic(
            {"status": {"conditions": [{"type": "Ready", "status": "False"}], "phase": "Running"}},
            subresource="status",
        ),
    ),
    Scene(
        "strategic: spec by the way of the status",
        "Deployment",
        (TWO_CONTAINERS,),
        strategic({"spec": {"replicas": 5}, "status": {"replicas": 1}}, subresource="status"),
    ),
    Scene(
        "strategic: duplicate keys",
        "ConfigMap",
        (SETTINGS,),
        Request(STRATEGIC, '{"data": {"a": "1", "a": "2"}}'),
    ),
)

SCENES: Final = (*LISTS, *ORDERS, *MAPS)
