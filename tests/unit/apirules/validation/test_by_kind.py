from __future__ import annotations

import copy
from typing import Any

import pytest

from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.validation.by_kind import validate_create, validate_update
from reflet.errors import Invalid
from tests.unit.devserver.object_scene import DEFINITION, created, kind_of, pod_body

CONFIG_MAPS = kind_of("configmaps")


def test_a_good_object_passes() -> None:
    validate_create(CONFIG_MAPS, created(CONFIG_MAPS, {"metadata": {"name": "x"}}))


def test_one_complaint_stands_alone() -> None:
    document = created(CONFIG_MAPS, {"metadata": {"name": "x"}, "data": {"..": ""}})

    with pytest.raises(Invalid) as caught:
        validate_create(CONFIG_MAPS, document)

    assert caught.value.message == (
        'ConfigMap "x" is invalid: data[..]: Invalid value: "..": must not be \'..\''
    )
    assert [cause.field for cause in caught.value.causes] == ["data[..]"]
    assert (caught.value.code, caught.value.kind, caught.value.name) == (422, "ConfigMap", "x")


def test_several_complaints_stand_in_brackets_metadata_first() -> None:
    kind = kind_of("deployments", "apps")

    with pytest.raises(Invalid) as caught:
        validate_create(kind, created(kind, {"metadata": {"name": "X_"}}))

    assert caught.value.message.startswith('Deployment.apps "X_" is invalid: [metadata.name: ')
    assert caught.value.group == "apps"
    assert [cause.field for cause in caught.value.causes] == [
        "metadata.name",
        "spec.selector",
        "spec.template.metadata.labels",
        "spec.template.spec.containers",
    ]


def test_an_events_own_rules_go_before_its_metadata() -> None:
    kind = kind_of("events")
    document = created(kind, {"metadata": {"name": "X_"}, "involvedObject": {"namespace": "o"}})

    with pytest.raises(Invalid) as caught:
        validate_create(kind, document)

    assert [cause.field for cause in caught.value.causes] == ["involvedObject.namespace"]


def test_the_same_complaint_of_an_update_is_said_once_and_listed_as_often_as_it_is_found() -> None:
    old = created(CONFIG_MAPS, {"metadata": {"name": "x"}})
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"a b": "c"}

    with pytest.raises(Invalid) as caught:
        validate_update(CONFIG_MAPS, old, new)

    assert caught.value.message.count("metadata.labels") == 1
    assert len(caught.value.causes) == 4


def test_a_status_update_does_not_look_at_the_spec() -> None:
    kind = kind_of("pods")
    old = created(kind, pod_body())
    new = copy.deepcopy(old)
    new["spec"]["containers"] = []

    validate_update(kind, old, new, subresource="status")
    with pytest.raises(Invalid, match=r"spec\.containers"):
        validate_update(kind, old, new)


def custom() -> tuple[Any, dict[str, Any]]:
    kinds = Kinds()
    kinds.add_custom(DEFINITION)
    kind = kind_of("gears", "example.org", kinds=kinds)
    body = {"apiVersion": "example.org/v1", "kind": "Gear", "metadata": {"name": "x"}}
    return kind, created(kind, body | {"spec": {"size": 0}}, kinds=kinds)


def test_a_custom_object_is_checked_by_its_definition() -> None:
    kind, document = custom()

    with pytest.raises(Invalid) as caught:
        validate_create(kind, document)

    assert caught.value.message == (
        'Gear.example.org "x" is invalid: spec.size: Invalid value: 0: spec.size in body should '
        "be greater than or equal to 1"
    )


def test_a_custom_status_is_checked_by_its_part_of_the_definition() -> None:
    kind, document = custom()
    good, bad = document | {"status": {"teeth": 3}}, document | {"status": {"teeth": "3"}}

    validate_update(kind, document, good, subresource="status")
    with pytest.raises(Invalid, match=r"status\.teeth: .*: teeth in body must be of type integer"):
        validate_update(kind, document, bad, subresource="status")


def test_a_budgets_own_rules_go_before_its_name_which_need_only_fit_into_a_url() -> None:
    kind = kind_of("poddisruptionbudgets", "policy")
    metadata = {"name": "Any_Name", "finalizers": ["short"]}
    validate_create(kind, created(kind, {"metadata": metadata}))

    body = {"metadata": {"name": "a%b"}, "spec": {"minAvailable": -1}}

    with pytest.raises(Invalid) as both:
        validate_create(kind, created(kind, body))
    with pytest.raises(Invalid) as name:
        validate_create(kind, created(kind, {"metadata": {"name": "a%b"}}))

    assert [cause.field for cause in both.value.causes] == ["spec.minAvailable"]
    assert [cause.field for cause in name.value.causes] == ["metadata.name"]


def test_an_updated_budgets_metadata_is_looked_at_once_an_ingresss_before_its_spec() -> None:
    found = {}
    for plural, group in (
        ("poddisruptionbudgets", "policy"),
        ("ingresses", "networking.k8s.io"),
    ):
        kind = kind_of(plural, group)
        old = created(kind, {"metadata": {"name": "x"}})
        new = copy.deepcopy(old)
        new["metadata"]["labels"] = {"a b": "c"}
        with pytest.raises(Invalid) as caught:
            validate_update(kind, old, new)
        found[plural] = [cause.field for cause in caught.value.causes]

    assert found["poddisruptionbudgets"] == ["metadata.labels"] * 2
    assert found["ingresses"] == [*["metadata.labels"] * 4, "spec"]


@pytest.mark.parametrize(
    ("plural", "group", "version", "status", "field"),
    [
        (
            "ingresses",
            "networking.k8s.io",
            "v1",
            {"loadBalancer": {"ingress": [{"ip": "x"}]}},
            "status.loadBalancer.ingress[0].ip",
        ),
        ("poddisruptionbudgets", "policy", "v1", {"expectedPods": -1}, "status.expectedPods"),
        ("resourcequotas", "", "v1", {"used": {"cpu": "-1"}}, "status.used[cpu]"),
        (
            "horizontalpodautoscalers",
            "autoscaling",
            "v2",
            {"desiredReplicas": -1},
            "status.desiredReplicas",
        ),
    ],
)
def test_a_status_has_rules_of_its_own(
    plural: str, group: str, version: str, status: dict[str, Any], field: str
) -> None:
    kind = kind_of(plural, group, version)
    old = created(kind, {"metadata": {"name": "x"}})

    with pytest.raises(Invalid) as caught:
        validate_update(kind, old, old | {"status": status}, subresource="status")

    assert [cause.field for cause in caught.value.causes] == [field]


CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
VOLUME = {
    "accessModes": ["ReadWriteOnce"],
    "capacity": {"storage": "1Gi"},
    "hostPath": {"path": "/", "type": ""},
}


@pytest.mark.parametrize(
    ("plural", "group", "body", "change", "fields"),
    [
        (
            "persistentvolumes",
            "",
            {"spec": VOLUME},
            {"spec": VOLUME | {"accessModes": [], "volumeMode": "Block"}},
            ["metadata.labels"] * 3
            + ["spec.accessModes", "metadata.labels", "spec.accessModes", "volumeMode"],
        ),
        (
            "persistentvolumeclaims",
            "",
            {"spec": CLAIM},
            {"spec": CLAIM | {"volumeMode": "Tape"}},
            ["metadata.labels"] * 4 + ["spec.volumeMode", "spec", "volumeMode"],
        ),
        (
            "storageclasses",
            "storage.k8s.io",
            {"provisioner": "a"},
            {"provisioner": ""},
            ["metadata.labels"] * 3 + ["provisioner", "metadata.labels", "provisioner"],
        ),
        (
            "priorityclasses",
            "scheduling.k8s.io",
            {"value": 1},
            {"value": 2_000_000_000},
            ["metadata.labels"] * 3 + ["value"],
        ),
        (
            "resourcequotas",
            "",
            {},
            {"spec": {"hard": {"foo/": "1"}, "scopes": ["Terminating"]}},
            ["metadata.labels"] * 3 + ["spec.hard[foo/]"] * 2 + ["spec.scopes"],
        ),
        (
            "limitranges",
            "",
            {},
            {"spec": {"limits": [{"type": "Node"}]}},
            ["metadata.labels"] * 3 + ["spec.limits[0].type"],
        ),
    ],
)
def test_some_updates_are_checked_in_an_order_of_their_own(
    plural: str, group: str, body: dict[str, Any], change: dict[str, Any], fields: list[str]
) -> None:
    kind = kind_of(plural, group)
    old = created(kind, {"metadata": {"name": "x"}} | body)
    new = copy.deepcopy(old) | change
    new["metadata"]["labels"] = {"a": "b c"}

    with pytest.raises(Invalid) as caught:
        validate_update(kind, old, new)

    assert [cause.field for cause in caught.value.causes] == fields
