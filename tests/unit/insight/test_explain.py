"""An explanation knows what was seen, what was shadowed, and when a change is seen."""

from __future__ import annotations

import json
from typing import Any

from reflet.api import codec
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.insight.explain import ExplainedPod, Follows, explain
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs

META = ObjectMeta(name="settings", namespace="shop")
SETTINGS = ConfigMap(metadata=META, data={"a": "1", "b": "2"})
FROZEN = ConfigMap(metadata=META, data={"a": "1"}, immutable=True)
DATABASE = Secret(metadata=ObjectMeta(name="database", namespace="shop"), data={"k": b"geheim"})


def explained(
    container: dict[str, Any],
    *,
    volumes: tuple[dict[str, Any], ...] = (),
    settings: ConfigMap = SETTINGS,
) -> ExplainedPod:
    raw = {
        "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
        "spec": {
            "enableServiceLinks": False,
            "containers": [{"name": "web", **container}],
            "volumes": volumes,
        },
    }
    pod = codec.decode(json.dumps(raw).encode(), Pod)
    objects = ObjectsInHand([settings, DATABASE])
    return explain(PodInputs(pod=pod, objects=objects, services=()))


def config_volume(name: str = "config") -> dict[str, Any]:
    return {"name": name, "configMap": {"name": "settings", "defaultMode": 0o644}}


def test_an_expansion_shows_what_it_saw_and_not_what_was_set_later() -> None:
    env = [
        {"name": "A", "value": "first"},
        {"name": "B", "value": "$(A)-$(NOPE)"},
        {"name": "A", "value": "second"},
    ]

    (container,) = explained({"env": env}).containers

    expansions = {each.variable.name: each.expansions for each in container.variables}["B"]
    assert [
        (each.name, each.assignment.value if each.assignment else None) for each in expansions
    ] == [("A", "first"), ("NOPE", None)]


def test_variables_need_a_restart() -> None:
    source = {"configMapKeyRef": {"name": "settings", "key": "a"}}

    (container,) = explained({"env": [{"name": "A", "valueFrom": source}]}).containers

    assert [each.follows for each in container.variables] == [Follows.RESTART]


def test_what_comes_from_an_immutable_object_is_told() -> None:
    pod = explained(
        {
            "envFrom": [{"configMapRef": {"name": "settings"}}],
            "volumeMounts": [{"name": "config", "mountPath": "/etc/c"}],
        },
        volumes=(config_volume(),),
        settings=FROZEN,
    )

    assert [each.immutable for each in pod.containers[0].variables] == [True]
    (file,) = pod.volumes[0].files
    assert (file.immutable, file.sights[0].follows) == (True, Follows.NEVER)


def test_files_follow_changes_except_by_sub_path() -> None:
    mounts = [
        {"name": "config", "mountPath": "/etc/shop/"},
        {"name": "config", "mountPath": "/etc/a.conf", "subPath": "a"},
    ]

    (volume,) = explained({"volumeMounts": mounts}, volumes=(config_volume(),)).volumes

    assert {
        file.path: [(sight.path, sight.follows, sight.sub_path) for sight in file.sights]
        for file in volume.files
    } == {
        "a": [("/etc/shop/a", Follows.LIVE, ""), ("/etc/a.conf", Follows.NEVER, "a")],
        "b": [("/etc/shop/b", Follows.LIVE, "")],
    }


def test_a_folder_may_be_mounted_by_sub_path_from_a_variable() -> None:
    volume = config_volume()
    volume["configMap"]["items"] = [{"key": "a", "path": "blue/deep/a"}]
    mounts = [{"name": "config", "mountPath": "/etc/c", "subPathExpr": "$(COLOUR)"}]

    (shown,) = explained(
        {"env": [{"name": "COLOUR", "value": "blue"}], "volumeMounts": mounts}, volumes=(volume,)
    ).volumes

    assert [sight.path for sight in shown.files[0].sights] == ["/etc/c/deep/a"]


def test_a_sub_path_that_cannot_be_told_shows_nothing() -> None:
    mounts = [{"name": "config", "mountPath": "/etc/c", "subPathExpr": "$(NOPE)"}]

    (volume,) = explained({"volumeMounts": mounts}, volumes=(config_volume(),)).volumes

    assert [file.sights for file in volume.files] == [(), ()]


def test_labels_in_files_follow_changes_and_the_name_cannot_change() -> None:
    items = [
        {"path": path, "fieldRef": {"fieldPath": f"metadata.{path}"}} for path in ("labels", "name")
    ]
    volume = {"name": "pod", "downwardAPI": {"items": items, "defaultMode": 0o644}}
    mounts = [{"name": "pod", "mountPath": "/etc/pod"}]

    (shown,) = explained({"volumeMounts": mounts}, volumes=(volume,)).volumes

    assert {file.path: file.sights[0].follows for file in shown.files} == {
        "labels": Follows.LIVE,
        "name": Follows.NEVER,
    }


def test_no_representation_shows_the_value_of_a_secret() -> None:
    pod = explained(
        {"envFrom": [{"secretRef": {"name": "database"}}]},
        volumes=({"name": "keys", "secret": {"secretName": "database", "defaultMode": 256}},),
    )

    assert "geheim" not in repr(pod)
