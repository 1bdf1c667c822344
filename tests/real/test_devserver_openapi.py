"""The OpenAPI documents say what the real server's say, in both forms."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from reflet.apirules.schema.kinds import Kinds
from reflet.devserver.http.openapi import OpenApi
from reflet.devserver.http.openapi_negotiation import OPENAPI_PROTOBUF
from reflet.devserver.http.openapi_protobuf import encode_openapi
from tests.patience import Deadline
from tests.real.devserver_objects import definition
from tests.real.kube_server import KubeServer
from tests.real.raw_requests import PATIENCE, send, wait_until_served


def test_the_structure_of_the_core_group_is_the_real_servers(kube: KubeServer) -> None:
    real = kube.request("GET", "/openapi/v3/api/v1").body["components"]["schemas"]

    ours = OpenApi(Kinds()).document_3("api/v1")["components"]["schemas"]

    # These two are about requests, not about objects, and ours say less.
    ours = {name: ours[name] for name in ours if not name.endswith(("Options", ".Status"))}
    different = [name for name in ours if _facts(ours[name]) != _facts(real[name])]
    assert different == []


def test_openapi_2_is_written_in_binary_as_by_the_real_server(kube: KubeServer) -> None:
    """Its own document in JSON becomes its own document in binary, byte for byte."""
    plain = send(kube, "GET", "/openapi/v2").content
    binary = send(kube, "GET", "/openapi/v2", accept=OPENAPI_PROTOBUF).content

    ours = encode_openapi(json.loads(plain))

    # Two spellings of the same YAML.
    binary = binary.replace(b"'*'\n", b'"*"\n')
    binary = binary.replace(b"version: v1\nkind: APIService\n", b"kind: APIService\nversion: v1\n")
    assert len(ours) > 1_000_000
    assert ours == binary


OPEN_GEAR: Final = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size", "maybe"],
            "example": {"a": 1},
            "externalDocs": {"url": "https://example.org"},
            "x-kubernetes-validations": [{"rule": "self.size > 0", "message": "too: small"}],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
                "maybe": {
                    "type": "object",
                    "nullable": True,
                    "properties": {"a": {"type": "string"}},
                },
                "list": {"type": "array", "nullable": True, "items": {"type": "string"}},
                "text": {"type": "string", "enum": ["y", "5", ""], "pattern": "^y$", "title": "T"},
                "port": {
                    "x-kubernetes-int-or-string": True,
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                },
                "any": {"x-kubernetes-preserve-unknown-fields": True},
                "open": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {"b": {"type": "string"}},
                },
                "embedded": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "properties": {"spec": {"type": "object"}},
                },
                "embeddedOpen": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
                "map": {
                    "type": "object",
                    "additionalProperties": {"type": "string", "nullable": True},
                },
                "mapOfAnything": {"type": "object", "additionalProperties": True},
                "keyed": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    "items": {
                        "type": "object",
                        "required": ["k"],
                        "properties": {"k": {"type": "string"}},
                        "oneOf": [{"required": ["k"]}],
                    },
                },
            },
        }
    },
}


@pytest.mark.parametrize(
    ("group", "schema"),
    [
        ("words.example.org", OPEN_GEAR),
        ("open.example.org", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
    ],
)
def test_a_custom_kind_is_described_as_by_the_real_server(
    kube: KubeServer, group: str, schema: dict[str, Any]
) -> None:
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    made = definition(
        name=f"gears.{group}", group=group, version={"schema": {"openAPIV3Schema": schema}}
    )
    stored = kube.request("POST", crds, made)
    assert stored.code == 201, stored.body
    name = ".".join([*reversed(group.split(".")), "v1.Gear"])
    wait_until_served(kube, f"/openapi/v3/apis/{group}/v1")
    kinds = Kinds()
    kinds.add_custom(stored.body)
    documents = OpenApi(kinds)

    newer = kube.request("GET", f"/openapi/v3/apis/{group}/v1").body
    older = _described(kube, name)

    ours = documents.document_2()
    assert _facts(ours["definitions"][name]) == _facts(older["definitions"][name])
    path = f"/apis/{group}/v1/namespaces/{{namespace}}/gears/{{name}}"
    consumed = [each["paths"][path]["patch"]["consumes"] for each in (ours, older)]
    assert sorted(consumed[0]) == sorted(consumed[1])
    ours = documents.document_3(f"apis/{group}/v1")["components"]["schemas"]
    for each in (name, f"{name}List"):
        assert _facts(ours[each]) == _facts(newer["components"]["schemas"][each])


def _described(kube: KubeServer, name: str) -> Any:
    """Ask until the document of everything, which is made in the background, has a kind."""
    deadline = Deadline(PATIENCE)
    while name not in (document := kube.request("GET", "/openapi/v2").body)["definitions"]:
        assert not deadline.passed
    return document


def _facts(schema: Any) -> Any:
    """Leave out what is ours, what is order, and what no client reads."""
    ignored = {"description", "x-kubernetes-unions", "default"}
    if isinstance(schema, dict):
        kept = {name: _facts(value) for name, value in schema.items() if name not in ignored}
        if isinstance(kept.get("required"), list):
            kept["required"] = sorted(kept["required"])
        if "properties" in schema:
            kept["properties"] = {n: _facts(v) for n, v in schema["properties"].items()}
        return kept
    return [_facts(value) for value in schema] if isinstance(schema, list) else schema
