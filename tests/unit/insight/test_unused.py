"""An object is unused if nothing names it, and nobody keeps it for itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reflet.api import codec
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.core.workloads import Deployment, ReplicaSet
from reflet.api.meta import ObjectMeta, OwnerReference
from reflet.api.unstructured import AnyObject
from reflet.insight.unused import (
    StoredConfig,
    UnusedPart,
    UsersSeen,
    kept_by,
    stored_config,
    unused_parts,
)
from reflet.resolution.objects import ConfigKind


def config(name: str, kind: ConfigKind = "ConfigMap", **more: Any) -> StoredConfig:
    given = {"sizes": {"a": 1, "b": 2}, **more}
    return StoredConfig(kind=kind, namespace="shop", name=name, **given)


SETTINGS = config("settings")


def pod(container: dict[str, Any], phase: str = "Running", namespace: str = "shop") -> Pod:
    raw = {
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"containers": [{"name": "web", **container}]},
        "status": {"phase": phase},
    }
    return codec.decode(json.dumps(raw).encode(), Pod)


def key_of(name: str, key: str) -> dict[str, Any]:
    reference = {"configMapKeyRef": {"name": name, "key": key}}
    return {"env": [{"name": "A", "valueFrom": reference}]}


def whole(name: str) -> dict[str, Any]:
    return {"envFrom": [{"configMapRef": {"name": name}}]}


def seen(*users: Any, names: tuple[str, ...] = ("settings",)) -> UsersSeen:
    found = UsersSeen(names)
    for each in users:
        if isinstance(each, Pod):
            found.see_pod(each)
        elif isinstance(each, AnyObject):
            found.see_object(each)
        else:
            found.see_workload(each)
    return found


def parts(*objects: StoredConfig, by: UsersSeen) -> list[tuple[str, tuple[str, ...] | None]]:
    return [(each.object.name, each.keys) for each in unused_parts(objects, by)]


def any_object(kind: str, spec: Any, group: str = "example.com", **metadata: Any) -> AnyObject:
    return AnyObject.from_dict(
        {
            "apiVersion": f"{group}/v1",
            "kind": kind,
            "metadata": {"name": "it", "namespace": "shop", **metadata},
            "spec": spec,
        }
    )


def test_what_nothing_names_is_unused() -> None:
    (part,) = unused_parts([SETTINGS], seen(pod(whole("others"))))

    assert (part.keys, part.size, part.reason) == (None, 3, "nothing names it")


def test_what_a_pod_uses_whole_is_used() -> None:
    assert parts(SETTINGS, by=seen(pod(whole("settings")))) == []


def test_keys_that_nothing_uses_are_found_where_others_are_used() -> None:
    assert parts(SETTINGS, by=seen(pod(key_of("settings", "a")))) == [("settings", ("b",))]


def test_keys_of_several_users_add_up() -> None:
    users = seen(pod(key_of("settings", "a")), pod(key_of("settings", "b")))

    assert parts(SETTINGS, by=users) == []


def test_keys_of_a_secret_that_has_a_type_belong_together() -> None:
    tls = config("tls", "Secret", type="kubernetes.io/tls")
    reference = {"secretKeyRef": {"name": "tls", "key": "a"}}

    users = seen(pod({"env": [{"name": "A", "valueFrom": reference}]}))

    assert parts(tls, by=users) == []


def test_a_pod_of_another_namespace_uses_its_own() -> None:
    elsewhere = seen(pod(whole("settings"), namespace="other"), names=())

    assert parts(SETTINGS, by=elsewhere) == [("settings", None)]


def test_a_pod_that_has_ended_uses_nothing() -> None:
    assert parts(SETTINGS, by=seen(pod(whole("settings"), "Succeeded"))) == [("settings", None)]


def replica_set(replicas: int) -> ReplicaSet:
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}
    raw = {
        "metadata": {"name": "web-1", "namespace": "shop", "ownerReferences": [owner]},
        "spec": {
            "replicas": replicas,
            "template": {"spec": {"containers": [{"name": "web", **whole("settings")}]}},
        },
    }
    return codec.decode(json.dumps(raw).encode(), ReplicaSet)


def test_the_history_of_a_deployment_is_no_use_and_is_said() -> None:
    (part,) = unused_parts([SETTINGS], seen(replica_set(0)))

    assert part.reason == "only the history of Deployment web names it"
    assert parts(SETTINGS, by=seen(replica_set(1))) == []


def test_a_template_uses_before_there_is_a_pod() -> None:
    raw = {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"template": {"spec": {"containers": [{"name": "web", **whole("settings")}]}}},
    }
    deployment = codec.decode(json.dumps(raw).encode(), Deployment)

    assert parts(SETTINGS, by=seen(deployment)) == []


def test_an_ingress_uses_its_certificate() -> None:
    tls = config("tls", "Secret")
    ingress = any_object("Ingress", {"tls": [{"secretName": "tls"}]}, "networking.k8s.io")

    assert parts(tls, by=seen(ingress, names=())) == []


def test_a_custom_object_uses_all_of_what_stands_at_the_usual_places() -> None:
    widget = any_object("Widget", {"auth": {"secretKeyRef": {"name": "db", "key": "a"}}})

    assert parts(config("db", "Secret"), by=seen(widget, names=())) == []


@pytest.mark.parametrize(
    "user",
    [
        pod({"args": ["--config-map=shop/settings"]}),
        pod({"command": ["run", "settings"]}),
        pod({"env": [{"name": "NAME", "value": "settings"}]}),
        any_object("Widget", {"anything": ["x", {"deep": "settings"}]}),
        any_object("Widget", {}, annotations={"auth": "shop/settings"}),
    ],
)
def test_a_name_in_some_text_may_be_a_use(user: Any) -> None:
    (part,) = unused_parts([SETTINGS], seen(user))

    assert part.mentioned_by in {"pod web", "Widget it"}


@pytest.mark.parametrize("argument", ["--x=settings-2", "my-settings", "--settings=x", "-settings"])
def test_a_longer_name_is_another_one_and_a_flag_is_none(argument: str) -> None:
    (part,) = unused_parts([SETTINGS], seen(pod({"args": [argument]})))

    assert part.mentioned_by == ""


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (config("x", owner="Certificate web"), "Certificate web owns it"),
        (config("kube-root-ca.crt"), "the cluster makes it"),
        (config("sh.helm.release.v1.web.v1", "Secret"), "Helm keeps a release in it"),
        (
            config("x", "Secret", type="kubernetes.io/service-account-token"),
            "it is a token of a service account",
        ),
        (config("x", "Secret", type="bootstrap.kubernetes.io/token"), "nodes join with it"),
        (config("x", is_lock=True), "leaders are elected with it"),
    ],
)
def test_what_somebody_keeps_for_itself_is_never_unused(item: StoredConfig, why: str) -> None:
    assert kept_by(item, seen()) == why
    assert parts(item, by=seen()) == []


def test_what_an_object_makes_is_never_unused() -> None:
    maker = any_object("ExternalSecret", {}, "external-secrets.io")

    assert parts(config("it", "Secret"), by=seen(maker, names=())) == []


@pytest.mark.parametrize(
    ("value", "left"), [("1", ["settings"]), ("2", ["dashboards", "settings"])]
)
def test_what_a_sidecar_picks_up_by_its_labels_is_used(value: str, left: list[str]) -> None:
    variables = {"LABEL": "grafana_dashboard", "LABEL_VALUE": value, "FOLDER": "/tmp/dashboards"}
    sidecar = pod({"env": [{"name": name, "value": text} for name, text in variables.items()]})
    labelled = config("dashboards", labels={"grafana_dashboard": "1"})

    assert [name for name, _ in parts(labelled, SETTINGS, by=seen(sidecar))] == left


def test_what_is_kept_of_an_object_holds_no_value() -> None:
    owner = OwnerReference(kind="Certificate", name="web")
    metadata = ObjectMeta(name="tls", namespace="shop", owner_references=(owner,))
    item = stored_config(Secret(metadata=metadata, data={"k": b"geheim"}, type="Opaque"))
    lock = ObjectMeta(annotations={"control-plane.alpha.kubernetes.io/leader": "{}"})

    assert (item.sizes, item.owner, item.type) == ({"k": 6}, "Certificate web", "Opaque")
    assert "geheim" not in repr(item)
    assert stored_config(ConfigMap(metadata=lock)).is_lock


def test_the_size_is_of_what_is_unused() -> None:
    assert UnusedPart(object=SETTINGS, keys=("b",)).size == 2
