"""Who may use an object: what was looked at, what exists, and who makes it."""

from __future__ import annotations

from typing import Any

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.api.unstructured import AnyObject
from reflet.insight.custom_workloads import workload_in
from reflet.insight.possible_users import Candidates, PossibleUsers, keys_by_object


def thing(api_version: str, kind: str, name: str = "x", **spec: Any) -> AnyObject:
    metadata = {"name": name, "namespace": "shop"}
    content = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
    return AnyObject.from_dict(content)


TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
ROLLOUT = thing("example.com/v1", "Rollout", template=TEMPLATE)
INGRESS = thing("networking.k8s.io/v1", "Ingress")
TILL = thing("shop.dev/v1", "Till")
EXTERNAL = thing("external-secrets.io/v1", "ExternalSecret", "database")


def users(*objects: AnyObject, **more: Any) -> PossibleUsers:
    workloads = tuple(found for item in objects if (found := workload_in(item)) is not None)
    candidates = Candidates(pods=(Pod(),), workloads=workloads, objects=objects)
    return PossibleUsers(candidates=candidates, namespace="shop", **more)


def test_a_custom_workload_is_counted_once() -> None:
    assert users(ROLLOUT, INGRESS).looked_at() == (1, 1, 1)


def test_kinds_without_a_row_are_counted_unless_they_are_workloads() -> None:
    found = users(ROLLOUT, INGRESS, TILL, thing("shop.dev/v1", "Till", "y"))

    assert dict(found.searched_by_name()) == {"Till": 2}


def test_namespaces_are_those_of_candidates_and_of_what_exists() -> None:
    found = users(INGRESS, keys_there={("Secret", "bank", "a"): ()})

    assert found.namespaces() == ("bank", "shop")


def test_who_makes_an_object_that_is_not_there() -> None:
    found = users(TILL, EXTERNAL)

    assert found.maker_of("Secret", "shop", "database") == "ExternalSecret database"
    assert found.maker_of("Secret", "other", "database") == ""
    assert found.maker_of("ConfigMap", "shop", "kube-root-ca.crt") == "the cluster"


def test_keys_are_told_and_no_value() -> None:
    metadata = ObjectMeta(name="a", namespace="shop")
    items: list[ConfigMap | Secret] = [
        ConfigMap(metadata=metadata, data={"b": "1", "a": "2"}),
        Secret(metadata=metadata, data={"key": b"geheim"}),
    ]

    assert keys_by_object(items) == {
        ("ConfigMap", "shop", "a"): ("a", "b"),
        ("Secret", "shop", "a"): ("key",),
    }
