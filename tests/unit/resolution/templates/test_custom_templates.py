"""Templates of pods in objects of kinds that are not known."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.unstructured import AnyObject
from reflet.errors import DecodeError
from reflet.resolution.templates.custom_templates import (
    custom_workload_of,
    guessed_resource,
    no_template,
)
from reflet.resolution.templates.templates import CustomWorkload

TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}


def item(spec: Any, *, api_version: str = "example.com/v1", kind: str = "Thing") -> AnyObject:
    metadata = {"name": "x", "namespace": "shop"}
    return AnyObject.from_dict(
        {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
    )


def found(spec: Any, **more: Any) -> CustomWorkload | None:
    return custom_workload_of(item(spec, **more), lambda template: template)


def paths(spec: Any) -> list[str]:
    workload = found(spec)
    return [] if workload is None else [placed.path for placed in workload.templates]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"template": TEMPLATE}, ["spec.template"]),
        (
            {"replicaSpecs": {"Master": {"template": TEMPLATE}, "Worker": {"template": TEMPLATE}}},
            ["spec.replicaSpecs.Master.template", "spec.replicaSpecs.Worker.template"],
        ),
        ({"groups": [{}, {"template": TEMPLATE}]}, ["spec.groups[1].template"]),
        (
            {"template": {"jobTemplate": {"spec": {"template": TEMPLATE}}}},
            ["spec.template.jobTemplate.spec.template"],
        ),
        ({"by.name": {"t": TEMPLATE}}, ['spec["by.name"].t']),
    ],
)
def test_a_template_is_found_by_its_shape(spec: Any, expected: list[str]) -> None:
    assert paths(spec) == expected


@pytest.mark.parametrize(
    "spec",
    [
        None,
        [],
        {"containers": [{"name": "c", "image": "i"}]},  # a pod's spec, and no template
        {"template": {"spec": {"containers": []}}},
        {"template": {"spec": {"containers": "c"}}},
        {"template": {"spec": {"containers": ["c"]}}},
        {"template": {"spec": {"containers": [{"name": "c"}]}}},  # an overlay
        {"values": {"template": TEMPLATE}},  # of a Helm chart
        {"base": {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": TEMPLATE}}},
    ],
)
def test_other_shapes_are_no_templates(spec: Any) -> None:
    assert found(spec) is None


def test_a_schema_shows_a_template_that_its_shape_does_not() -> None:
    spec = {"nodeSets": [{"podTemplate": {"spec": {"containers": [{"name": "c"}]}}}]}
    container: dict[str, Any] = {"properties": {"name": {}, "image": {}}}
    template = {"properties": {"spec": {"properties": {"containers": {"items": container}}}}}
    sets = {"items": {"properties": {"podTemplate": template}}}
    schema = {"properties": {"spec": {"properties": {"nodeSets": sets}}}}

    workload = custom_workload_of(item(spec), lambda template: template, schema=schema)

    assert workload is not None
    assert workload.template_path == "spec.nodeSets[0].podTemplate"


def test_a_workload_has_the_metadata_of_its_object() -> None:
    workload = found({"template": TEMPLATE})

    assert workload is not None
    assert (workload.kind, workload.metadata.name, workload.metadata.namespace) == (
        *("Thing", "x"),
        "shop",
    )
    assert workload.template.metadata.labels == {"a": "b"}


def test_knative_names_containers_that_have_no_name() -> None:
    one = {"template": {"spec": {"containers": [{"image": "i"}]}}}
    two = {"template": {"spec": {"containers": [{"image": "i"}, {"image": "j", "name": "own"}]}}}
    knative = {"api_version": "serving.knative.dev/v1", "kind": "Service"}

    names = [
        [container.name for container in workload.template.spec.containers]
        for spec in (one, two)
        if (workload := found(spec, **knative)) is not None
    ]
    other = found(one)

    assert names == [["user-container"], ["user-container-0", "own"]]
    assert other is not None
    assert other.template.spec.containers[0].name == ""


def test_one_template_that_cannot_be_read_is_told_beside_the_others() -> None:
    bad = {"spec": {"containers": [{"name": "c", "image": "i", "ports": "none"}]}}

    workload = found({"a": TEMPLATE, "b": bad})

    assert workload is not None
    assert [placed.path for placed in workload.templates] == ["spec.a"]
    (said,) = workload.unreadable
    assert said.startswith("the template at spec.b cannot be read: ")
    with pytest.raises(DecodeError, match=r"Thing x: the template at spec\.b cannot be read"):
        found({"b": bad})


def test_an_object_without_a_template_says_so() -> None:
    assert no_template(item({})) == "thing x has no pod template"
    assert no_template(item({"workloadRef": {"kind": "Deployment", "name": "web"}})) == (
        "thing x takes its pod template from deployment/web (spec.workloadRef): ask for that"
    )


@pytest.mark.parametrize(
    ("kind", "plural"),
    [("Rollout", "rollouts"), ("Canary", "canaries"), ("Redis", "redises")],
)
def test_a_plural_is_guessed_as_kubernetes_guesses(kind: str, plural: str) -> None:
    resource = guessed_resource("example.com/v1", kind)

    assert (resource.group, resource.version, resource.plural) == ("example.com", "v1", plural)
