"""Records the structure of the kinds that the development server serves, from the real thing.

    python -m tools.record_schemas

starts a real kube-apiserver (`make kube` builds it), reads its OpenAPI documents, runs
tools/go_types for what only the Go types know, and writes
src/reflet/apirules/data/schemas.json: names, types, defaults, list keys, numbers of the binary
encoding.  Facts only: no description is taken over; ours are in data/descriptions.json.  Run it
again when the real server changes; the same server gives the same bytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.real.kube_server import KubeServer

ROOT: Final = Path(__file__).parent.parent
TARGET: Final = ROOT / "src/reflet/apirules/data/schemas.json"
GO_TYPES: Final = ROOT / "tools/go_types"

DOCUMENTS: Final = (
    "api/v1",
    "apis/apps/v1",
    "apis/batch/v1",
    "apis/coordination.k8s.io/v1",
    "apis/events.k8s.io/v1",
    "apis/discovery.k8s.io/v1",
    "apis/networking.k8s.io/v1",
    "apis/policy/v1",
    "apis/rbac.authorization.k8s.io/v1",
    "apis/autoscaling/v1",
    "apis/autoscaling/v2",
    "apis/storage.k8s.io/v1",
    "apis/scheduling.k8s.io/v1",
    "apis/authentication.k8s.io/v1",
    "apis/authorization.k8s.io/v1",
    "apis/apiextensions.k8s.io/v1",
    "apis/admissionregistration.k8s.io/v1",
    "apis/apiregistration.k8s.io/v1",
    "apis/certificates.k8s.io/v1",
    "apis/flowcontrol.apiserver.k8s.io/v1",
    "apis/node.k8s.io/v1",
    "apis/resource.k8s.io/v1",
)
# What the server says about a property, and how it is called in the recording.
PROPERTY_FACTS: Final = {
    "x-kubernetes-list-type": "listType",
    "x-kubernetes-list-map-keys": "listMapKeys",
    "x-kubernetes-map-type": "mapType",
    "default": "default",
    "enum": "enum",
}

Facts = dict[str, Any]


def main() -> None:
    """Record everything anew."""
    with KubeServer() as kube:
        version = kube.request("GET", "/version").body["gitVersion"]
        definitions: Facts = {}
        for path in DOCUMENTS:
            document = kube.request("GET", f"/openapi/v3/{path}").body
            definitions |= document["components"]["schemas"]
    go = subprocess.run(
        ["go", "run", "."],  # noqa: S607 - whichever go the developer uses
        cwd=GO_TYPES,
        check=True,
        capture_output=True,
        text=True,
    )
    types = recorded(json.loads(go.stdout), definitions)
    lines = ",\n".join(f"{json.dumps(name)}:{compact(types[name])}" for name in sorted(types))
    TARGET.write_text(f'{{"source":"kube-apiserver {version}","types":{{\n{lines}\n}}}}\n')
    sys.stdout.write(f"{len(types)} types in {TARGET.relative_to(ROOT)}\n")


def recorded(go_types: Mapping[str, list[Facts]], definitions: Mapping[str, Facts]) -> Facts:
    """Join what the Go types and the OpenAPI documents know, by type."""
    embedded_in = {
        field["shape"]["type"]: outer
        for outer, fields in go_types.items()
        for field in fields
        if field.get("embedded")
    }
    types: Facts = {}
    for name, fields in go_types.items():
        definition = definitions.get(name) or definitions.get(embedded_in.get(name, ""), {})
        properties = definition.get("properties", {})
        entry: Facts = {
            "fields": [recorded_field(field, properties.get(field["name"], {})) for field in fields]
        }
        if name in definitions:
            if required := definition.get("required"):
                entry["required"] = required
            if map_type := definition.get("x-kubernetes-map-type"):
                entry["mapType"] = map_type
        types[name] = entry
    return types


def recorded_field(go: Facts, openapi: Facts) -> Facts:
    """Join what is known of one field; whatever is usual is left out."""
    facts: Facts = {"name": go["name"], **recorded_shape(go["shape"])}
    if go["go"] != facts["kind"]:
        facts["go"] = go["go"]
    if go.get("embedded"):
        facts["embedded"] = go["embedded"]
    if go.get("pointer"):
        facts["pointer"] = True
    if go.get("omitZero"):
        facts["omit"] = "zero"
    elif not go.get("omitEmpty"):
        facts["omit"] = "never"
    if wire := go.get("wire"):
        facts["number"] = int(wire.split(",")[1])
    for fact in ("patchStrategy", "patchMergeKey"):
        if go.get(fact):
            facts[fact] = go[fact]
    for source, target in PROPERTY_FACTS.items():
        if source in openapi:
            facts[target] = openapi[source]
    inner = openapi.get("additionalProperties") or openapi.get("items") or {}
    if isinstance(inner, dict) and "enum" in inner:
        facts["of"]["enum"] = inner["enum"]
    return facts


def recorded_shape(shape: Facts) -> Facts:
    """Describe what a field, a list or a map holds."""
    facts: Facts = {"kind": shape["kind"]}
    if "type" in shape:
        facts["type"] = shape["type"]
    if "of" in shape:
        facts["of"] = recorded_shape(shape["of"])
        if shape["go"] != facts["of"]["kind"]:
            facts["of"]["go"] = shape["go"]
    return facts


def compact(value: object) -> str:
    """Write JSON without spaces, on one line."""
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    main()
