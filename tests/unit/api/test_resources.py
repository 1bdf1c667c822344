import sys
from subprocess import run

import pytest

from reflet.api.resources import (
    BUILT_IN,
    CONFIG_MAPS,
    DEPLOYMENTS,
    EVENTS,
    GROUPED_EVENTS,
    NAMESPACES,
    NODES,
    PODS,
    Resource,
    find,
    find_kind,
)
from reflet.errors import ParseError

PUMPS = Resource(
    group="example.com",
    version="v1beta1",
    plural="pumps",
    kind="Pump",
    singular="pump",
    short_names=("pu",),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("configmaps", CONFIG_MAPS),
        ("configmap", CONFIG_MAPS),
        ("cm", CONFIG_MAPS),
        ("ConfigMap", CONFIG_MAPS),
        ("CONFIGMAPS", CONFIG_MAPS),
        (" cm ", CONFIG_MAPS),
        ("configmaps.v1", CONFIG_MAPS),
        ("configmaps.v1.", CONFIG_MAPS),
        ("deploy", DEPLOYMENTS),
        ("deployments.apps", DEPLOYMENTS),
        ("deployment.v1.apps", DEPLOYMENTS),
        ("ev", EVENTS),
        ("events", EVENTS),
        ("events.events.k8s.io", GROUPED_EVENTS),
        ("ns", NAMESPACES),
    ],
)
def test_a_resource_is_found_by_what_people_type(text: str, expected: Resource) -> None:
    assert find(text) == expected


def test_a_custom_resource_is_found_among_those_given() -> None:
    assert find("pu", [PUMPS]) == PUMPS
    assert find("pumps.v1beta1.example.com", [*BUILT_IN, PUMPS]) == PUMPS


def test_an_unknown_name_gets_suggestions() -> None:
    with pytest.raises(ParseError, match=r"no resource 'confgmap'; did you mean configmaps\?"):
        find("confgmap")


@pytest.mark.parametrize("text", ["", "qqqqqqq", "deployments.wrong.group", "a\nb"])
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        find(text)


def test_a_resource_is_found_by_what_its_objects_say() -> None:
    assert find_kind("apps/v1", "Deployment") == DEPLOYMENTS
    assert find_kind("example.com/v1beta1", "Pump", [PUMPS]) == PUMPS
    assert find_kind("apps/v1", "Pump") is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (PODS.path(), "/api/v1/pods"),
        (PODS.path("shop"), "/api/v1/namespaces/shop/pods"),
        (PODS.path("shop", "web"), "/api/v1/namespaces/shop/pods/web"),
        (PODS.path("shop", "web", "status"), "/api/v1/namespaces/shop/pods/web/status"),
        (NODES.path(name="n1"), "/api/v1/nodes/n1"),
        (NAMESPACES.path(name="shop"), "/api/v1/namespaces/shop"),
        (DEPLOYMENTS.path("shop", "d"), "/apis/apps/v1/namespaces/shop/deployments/d"),
        (PUMPS.path("shop"), "/apis/example.com/v1beta1/namespaces/shop/pumps"),
        (PODS.path("shop", "a b?ü"), "/api/v1/namespaces/shop/pods/a%20b%3F%C3%BC"),
        (NODES.path(name="system:n"), "/api/v1/nodes/system:n"),
    ],
)
def test_paths_are_the_servers(path: str, expected: str) -> None:
    assert path == expected


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a%b", "\ud800"])
def test_names_that_cannot_be_part_of_a_path_are_refused(name: str) -> None:
    with pytest.raises(ParseError):
        PODS.path("shop", name)
    with pytest.raises(ParseError):
        PODS.path(name)


def test_what_has_no_namespace_gets_none() -> None:
    with pytest.raises(ParseError, match="nodes have no namespace"):
        NODES.path("shop")


def test_one_object_needs_its_namespace() -> None:
    with pytest.raises(ParseError, match="namespace of pods 'web' is missing"):
        PODS.path(name="web")


def test_a_part_needs_its_object() -> None:
    with pytest.raises(ParseError, match="name is missing"):
        PODS.path("shop", subresource="status")


def test_every_built_in_resource_is_found_by_each_of_its_full_names() -> None:
    for resource in BUILT_IN:
        assert find(f"{resource.plural}.{resource.version}.{resource.group}") == resource
        assert find_kind(resource.api_version, resource.kind) == resource


def test_the_catalogue_does_not_import_structs() -> None:
    script = "import sys, reflet.api.resources; print('reflet.api.meta' in sys.modules)"

    done = run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
