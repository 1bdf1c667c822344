"""Lists and unknown kinds, about which kubectl asks OpenAPI 2, and custom kinds in between."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.kubectl_runner import NEEDS_KUBECTL, Kubectl
from tests.unit.devserver.object_scene import DEFINITION

pytestmark = NEEDS_KUBECTL


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def listing(*items: dict[str, Any], kind: str = "List", version: str = "v1") -> str:
    return json.dumps({"apiVersion": version, "kind": kind, "items": items})


def test_a_list_is_applied_changed_compared_and_deleted(kubectl: Kubectl) -> None:
    first = listing(config_map("a", x="1"), config_map("b", x="1"))
    second = listing(config_map("a", x="2"), config_map("b", x="1"))

    created = kubectl("apply", "-f", "-", given=first)
    difference = kubectl.run("diff", "-f", "-", given=second, code=1).stdout
    changed = kubectl("apply", "-f", "-", given=second)
    replaced = kubectl("replace", "-f", "-", given=first)
    deleted = kubectl("delete", "-f", "-", given=first)

    assert created == "configmap/a created\nconfigmap/b created\n"
    assert '-  x: "1"\n+  x: "2"\n' in difference
    assert changed == "configmap/a configured\nconfigmap/b unchanged\n"
    assert replaced == "configmap/a replaced\nconfigmap/b replaced\n"
    assert deleted.splitlines() == ['configmap "a" deleted', 'configmap "b" deleted']


def test_a_list_is_applied_by_the_server(kubectl: Kubectl) -> None:
    said = kubectl("apply", "--server-side", "-f", "-", given=listing(config_map("a")))

    assert said == "configmap/a serverside-applied\n"


@pytest.mark.parametrize("words", [("create",), ("apply",), ("apply", "--server-side")])
def test_lists_of_one_kind(kubectl: Kubectl, words: tuple[str, ...]) -> None:
    group = "rbac.authorization.k8s.io/v1"
    role = {"apiVersion": group, "kind": "Role", "metadata": {"name": "r"}, "rules": []}

    of_maps = listing(config_map("a"), config_map("b"), kind="ConfigMapList")
    kubectl(*words, "-f", "-", given=of_maps)
    kubectl(*words, "-f", "-", given=listing(role, kind="RoleList", version=group))

    assert kubectl("get", "cm,role", "-o", "name").split() == [
        "configmap/a",
        "configmap/b",
        "role.rbac.authorization.k8s.io/r",
    ]


def test_what_kubectl_printed_it_can_apply(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=listing(config_map("a", x="1"), config_map("b")))

    printed = kubectl("get", "cm", "a", "b", "-o", "yaml")

    assert "kind: List\n" in printed
    assert kubectl("apply", "-f", "-", given=printed).count("configured") == 2


def test_a_field_of_a_list_that_is_unknown_is_refused(kubectl: Kubectl) -> None:
    wrong = config_map("a") | {"dta": {}}

    said = kubectl.run(
        "create", "-f", "-", given=listing(wrong, kind="ConfigMapList"), code=1
    ).stderr

    assert (
        'ValidationError(ConfigMapList.items[0]): unknown field "dta" in '
        "io.k8s.api.core.v1.ConfigMap"
    ) in said


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("apply",), 1),
        (("apply", "--server-side"), 1),
        (("create",), 1),
        (("replace",), 1),
        (("diff",), 2),
    ],
)
def test_an_unknown_kind_is_named(kubectl: Kubectl, words: tuple[str, ...], code: int) -> None:
    given = json.dumps(config_map("x") | {"apiVersion": "y/v1", "kind": "X"})

    said = kubectl.run(*words, "-f", "-", given=given, code=code).stderr

    assert 'no matches for kind "X" in version "y/v1"\nensure CRDs are installed first' in said


def test_the_known_objects_of_a_list_are_applied(kubectl: Kubectl) -> None:
    given = listing(config_map("a"), config_map("x") | {"apiVersion": "y/v1", "kind": "X"})

    finished = kubectl.run("apply", "-f", "-", given=given, code=1)

    assert finished.stdout == "configmap/a created\n"
    assert 'no matches for kind "X" in version "y/v1"' in finished.stderr


def test_custom_objects_in_lists_are_known_as_soon_as_their_kind_is(kubectl: Kubectl) -> None:
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    version = {"apiVersion": "example.org/v1", "kind": "Gear"}
    gear = version | {"metadata": {"name": "one"}, "spec": {"size": 2}}
    larger = gear | {"spec": {"size": 4}}
    kubectl.run("apply", "-f", "-", given=listing(gear), code=1)
    kubectl("apply", "-f", "-", given=json.dumps(DEFINITION | kind))
    kubectl("wait", "crd/gears.example.org", "--for=condition=Established", "--timeout=10s")

    created = kubectl("apply", "-f", "-", given=listing(gear))
    of_its_kind = listing(larger, kind="GearList", version="example.org/v1")
    changed = kubectl("apply", "-f", "-", given=of_its_kind)

    assert created == "gear.example.org/one created\n"
    assert changed == "gear.example.org/one configured\n"
    assert kubectl.json("get", "gear", "one")["spec"]["size"] == 4
    kubectl("delete", "crd", "gears.example.org")
