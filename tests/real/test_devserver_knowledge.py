"""What the development server knows of kinds, bodies and custom objects is what the real does."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from reflet.apirules.schema.decoding import decode
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.protobuf import MEDIA_TYPE, decode_protobuf
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.http import discovery_documents
from tests.real.devserver_objects import Case, config_map, definition, pod
from tests.real.devserver_side import DevServerSide, comparable
from tests.real.good_cluster_objects import ONLY_TRIED
from tests.real.good_objects import good_objects
from tests.real.kube_server import KubeServer
from tests.real.raw_requests import send, wait_until_served

BUILT_IN: Final = list(Kinds())
# The real server keeps these in a version that it does not serve, or not yet by itself.
KEPT_IN_ANOTHER_VERSION: Final = frozenset(
    {"CustomResourceDefinition", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}
)


@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.qualified_resource)
def test_a_kind_is_discovered_as_on_the_real_server(kube: KubeServer, kind: ServedKind) -> None:
    base = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    real = {each["name"]: each for each in kube.request("GET", base).body["resources"]}

    document = discovery_documents.resource_list(Kinds(), kind.group, kind.version)

    assert document is not None
    for each in document["resources"]:
        if each["kind"] in KEPT_IN_ANOTHER_VERSION:
            each.pop("storageVersionHash", None)
            real[each["name"]].pop("storageVersionHash", None)
        assert each == real[each["name"]]


def test_groups_are_discovered_in_the_real_servers_order(kube: KubeServer) -> None:
    real = [each["name"] for each in kube.request("GET", "/apis").body["groups"]]

    ours = [each["name"] for each in discovery_documents.group_list(Kinds())["groups"]]

    assert ours == [name for name in real if name in ours]


# Definitions hold JSON of many types, and a claim inside a stateful set has no kind in the binary
# form; kubectl sends neither.
WITHOUT_BINARY_FORM: Final = ("definition", "stateful set", *ONLY_TRIED)
WITH_BINARY_FORM: Final = [
    case for case in good_objects() if not case[0].endswith(WITHOUT_BINARY_FORM)
]


@pytest.mark.parametrize("case", WITH_BINARY_FORM, ids=lambda case: case[0])
def test_the_binary_form_says_what_the_json_form_says(
    kube: KubeServer, namespace: str, case: Case
) -> None:
    _, path, body = case
    body = json.loads(json.dumps(body).replace("{namespace}", namespace))
    path = path.replace("{namespace}", namespace)
    stored = kube.request("POST", path, body).body
    side = DevServerSide()
    kind, _ = side.kind_of(path)

    answer = send(kube, "GET", f"{path}/{stored['metadata']['name']}", accept=MEDIA_TYPE)

    assert decode(kind.schema, decode_protobuf(answer.content, side.kinds), []) == stored


FIELDS: Final[list[dict[str, Any]]] = [
    {"data": {"a": 1}},
    {"data": []},
    {"data": {"a": {}}},
    {"metadata": {"name": 5}},
    {"metadata": {"labels": {"a": 1}}},
    {"metadata": {"creationTimestamp": "yesterday"}},
    {"metadata": {"creationTimestamp": "2020-13-01T00:00:00Z"}},
    {"metadata": {"creationTimestamp": 4}},
    {"metadata": {"generation": 1.5}},
    {"metadata": {"ownerReferences": {}}},
    {"immutable": "yes"},
    {"binaryData": {"a": "***"}},
    {"binaryData": {"a": "YQ"}},
    {"unknown": 1, "Data": {}},
]
BODIES: Final[list[bytes]] = [
    *(json.dumps(config_map(**fields)).encode() for fields in FIELDS),
    b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","name":"y"},"dat":1}',
    b'{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}',
    b'{"apiVersion":"v1","kind":"Nope"}',
    b'{"apiVersion":"v2","kind":"ConfigMap"}',
    b'{"apiVersion":"apps/v1","kind":"ConfigMap"}',
    b'{"apiVersion":"a/b/c","kind":"ConfigMap"}',
    b'{"apiVersion":5,"kind":"ConfigMap"}',
    b'{"apiVersion":"v1","kind":"ConfigMapList","items":[]}',
    *(b"[]", b"5", b'"x"', b"null", b"", b"{", b'{"a":}', b"nope", b'{"a":1} x', b'{"a":tru}'),
]


@pytest.mark.parametrize("raw", BODIES, ids=lambda raw: raw.decode()[:60] or "empty")
def test_a_body_is_read_or_refused_as_by_the_real_server(
    kube: KubeServer, namespace: str, raw: bytes
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"

    real = send(kube, "POST", f"{path}?dryRun=All&fieldValidation=Strict", raw)
    ours = DevServerSide().create(path, raw, validation="Strict")

    assert ours.code == real.code
    assert ours.body.get("message") == json.loads(real.content).get("message")


PODS: Final[list[dict[str, Any]]] = [
    pod({"name": 1}),
    pod({"name": "a", "resources": {"limits": {"cpu": "abc"}}}),
    pod({"name": "a", "ports": [{"containerPort": "80"}]}),
    pod({"name": "a", "ports": [{"containerPort": 99999999999}]}),
    pod({"name": "a", "livenessProbe": {"httpGet": {"port": True}}}),
    pod(volumes=[{"name": "v", "secret": 5}]),
    pod(volumes=[{"name": "v", "secret": {"secretName": 5}}]),
    pod(volumes=[{"name": "v", "bogus": {}}], bar=1),
    pod(terminationGracePeriodSeconds="5"),
    pod(restartPolicy=5),
    pod(containers={}),
    pod(containers=["x"]),
    pod({"name": "a", "image": "i", "env": [{"nam": "x"}], "foo": 1}),
]


@pytest.mark.parametrize("body", PODS, ids=lambda body: json.dumps(body["spec"])[:60])
def test_a_pod_of_wrong_types_is_refused_as_by_the_real_server(
    kube: KubeServer, namespace: str, body: dict[str, Any]
) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"

    real = kube.request("POST", f"{path}?dryRun=All&fieldValidation=Strict", body)
    ours = DevServerSide().create(path, body, validation="Strict")

    assert (ours.code, ours.body["message"]) == (real.code, real.body["message"])


GEAR_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
                "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
                "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5, "minLength": 2},
                "parts": {
                    "type": "array",
                    "maxItems": 2,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["id"],
                    "items": {
                        "type": "object",
                        "required": ["id"],
                        "properties": {
                            "id": {"type": "string"},
                            "n": {"x-kubernetes-int-or-string": True},
                        },
                    },
                },
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "ratio": {"type": "number"},
                "on": {"type": "boolean"},
                "when": {"type": "string", "format": "date-time"},
                "any": {"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 1}]},
                "one": {"type": "integer", "oneOf": [{"minimum": 1}, {"maximum": 10}]},
                "none": {"type": "integer", "oneOf": [{"minimum": 10}, {"maximum": 1}]},
                "no": {"type": "integer", "not": {"minimum": 1}},
                "all": {"type": "integer", "allOf": [{"maximum": 1}]},
                "step": {"type": "integer", "multipleOf": 5},
                "few": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "set": {
                    "type": "array",
                    "x-kubernetes-list-type": "set",
                    "items": {"type": "string"},
                },
                "some": {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 1,
                    "additionalProperties": {"type": "string"},
                },
            },
        },
        "status": {"type": "object", "properties": {"teeth": {"type": "integer"}}},
    },
}
GEAR_SPECS: Final[list[dict[str, Any]]] = [
    {},
    {"size": 2.0, "ratio": 1, "free": {"a": {"b": [1]}}},
    {"size": None, "color": None, "name": None},
    {"sizee": 1, "foo": {}},
    {"size": "1"},
    {"size": 1.5},
    {"size": 11},
    {"size": 0},
    {"color": "green"},
    {"name": "ABC"},
    {"name": "abcdef"},
    {"name": "a"},
    {"parts": [{"id": "a"}, {"id": "a"}]},
    {"parts": [{"id": "a"}, {"id": "b"}, {"id": "c"}]},
    {"parts": [{}]},
    {"parts": [{"id": "a", "n": 1.5}]},
    {"labels": {"a": 1}},
    {"ratio": "x"},
    {"on": "yes"},
    {"when": "yesterday"},
    {"when": "2020-01-01T00:00:00Z"},
    {"any": 3},
    {"one": 5},
    {"none": 5},
    {"no": 5},
    {"all": 5},
    {"step": 7},
    {"few": []},
    {"few": [None]},
    {"set": ["a", "a"]},
    {"some": {}},
    {"some": {"a": "1", "b": "2"}},
]
GEARS: Final[list[dict[str, Any]]] = [
    *({"spec": spec} for spec in GEAR_SPECS),
    {"spec": None, "status": {"teeth": 4}},
    {"metadata": {"name": "UP"}},
    {"metadata": {"name": 5}},
    {"metadata": {"labels": {"a": 1}}},
    {"metadata": "x"},
    {"metadata": None},
    {"kind": "Wheel"},
    {"apiVersion": "example.net/v2beta1"},
]


@pytest.fixture(scope="module")
def gears(kube: KubeServer) -> dict[str, Any]:
    """Define a kind on the real server, and wait until it is served."""
    body = definition(
        name="gears.example.net",
        group="example.net",
        version={"schema": {"openAPIV3Schema": GEAR_SCHEMA}, "subresources": {"status": {}}},
    )
    anything = {"openAPIV3Schema": {"type": "object"}}
    beta = {"name": "v2beta1", "served": True, "storage": False, "schema": anything}
    body["spec"]["versions"].append(beta)
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    made: dict[str, Any] = kube.request("POST", path, body).body
    for version in ("v1", "v2beta1"):
        wait_until_served(kube, f"/apis/example.net/{version}/gears")
    return made


@pytest.mark.parametrize("fields", GEARS, ids=lambda fields: json.dumps(fields)[:60])
def test_a_custom_object_is_made_or_refused_as_by_the_real_server(
    kube: KubeServer, namespace: str, gears: dict[str, Any], fields: dict[str, Any]
) -> None:
    path = f"/apis/example.net/v1/namespaces/{namespace}/gears"
    body = {"apiVersion": "example.net/v1", "kind": "Gear", "metadata": {"name": "x"}} | fields
    side = DevServerSide()
    side.kinds.add_custom(gears)

    real = kube.request("POST", f"{path}?dryRun=All&fieldValidation=Strict", body)
    ours = side.create(path, body, validation="Strict")

    assert ours.code == real.code, real.body
    assert comparable(ours.body) == comparable(real.body)


def test_a_custom_kind_is_discovered_as_on_the_real_server(
    kube: KubeServer, gears: dict[str, Any]
) -> None:
    kinds = Kinds()
    kinds.add_custom(gears)

    assert (
        discovery_documents.group(kinds, "example.net")
        == kube.request("GET", "/apis/example.net").body
    )
    for version in ("v1", "v2beta1"):
        real = kube.request("GET", f"/apis/example.net/{version}").body
        assert discovery_documents.resource_list(kinds, "example.net", version) == real
