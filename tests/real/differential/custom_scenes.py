"""Scenes about custom resources: definitions, and the objects that they define.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import definition, manifest
from tests.real.differential.script import (
    APPLY,
    JSON_PATCH,
    METADATA_LIST,
    STRATEGIC,
    TABLE,
    Edited,
    Scene,
    WaitUntilGone,
    WaitUntilServed,
    Watch,
    delete,
    get,
    patch,
    post,
    put,
    scene,
)

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DRY: Final = f"{DEFINITIONS}?dryRun=All"  # the names belong to other tests
GROUP: Final = "<ns>.example.org"  # of each scene its own: the real server is shared
GEARS: Final = f"/apis/{GROUP}/v1/namespaces/<ns>/gears"
KEPT: Final = {"made": ""}

SCHEMA: Final = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "required": ["teeth"],
            "properties": {
                "teeth": {"type": "integer", "minimum": 3, "maximum": 100},
                "material": {"type": "string", "enum": ["steel", "brass"], "default": "steel"},
                "maker": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
                "ratio": {"type": "number"},
                "replicas": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                "extra": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "port": {"x-kubernetes-int-or-string": True},
                "on": {"type": "boolean"},
                "notes": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        },
        "status": {
            "type": "object",
            "properties": {"turns": {"type": "integer"}, "replicas": {"type": "integer"}},
        },
    },
}
COLUMNS: Final = [
    {"name": "Teeth", "type": "integer", "jsonPath": ".spec.teeth"},
    {"name": "Material", "type": "string", "jsonPath": ".spec.material", "priority": 1},
    {"name": "Turns", "type": "integer", "jsonPath": ".status.turns", "description": "so far"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]


def gears(**version: Any) -> dict[str, Any]:
    return definition(
        name=f"gears.{GROUP}",
        group=GROUP,
        names={
            "plural": "gears",
            "singular": "gear",
            "kind": "Gear",
            "shortNames": ["gr"],
            "categories": ["all"],
        },
        version={
            "schema": {"openAPIV3Schema": SCHEMA},
            "subresources": {
                "status": {},
                "scale": {
                    "specReplicasPath": ".spec.replicas",
                    "statusReplicasPath": ".status.replicas",
                },
            },
            "additionalPrinterColumns": COLUMNS,
        }
        | version,
    )


def gear(name: str = "x", **spec: Any) -> dict[str, Any]:
    return manifest(f"{GROUP}/v1", "Gear", name=name, spec={"teeth": 12} | spec)


MADE: Final = (post(DEFINITIONS, gears(), view=lambda body: body["spec"]), WaitUntilServed(GEARS))


def custom_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield from _definitions()
    yield from _objects()


def _definitions() -> Iterator[Scene]:
    one = f"{DEFINITIONS}/gears.{GROUP}"
    yield scene(
        "definitions",
        post(
            DEFINITIONS,
            gears(),
            differs=dict.fromkeys(
                (
                    "body.metadata.managedFields.1",
                    "body.status.conditions",
                    "body.status.acceptedNames",
                ),
                "definitions-work-at-once",
            ),
        ),
        WaitUntilServed(GEARS),
        get(one),
        get(one, accept=TABLE),
        post(DEFINITIONS, gears()),
        get(f"/apis/{GROUP}"),
        get(f"/apis/{GROUP}/v1"),
        get(f"/apis/{GROUP}/v2"),
        get(f"/apis/{GROUP}/v1/nonsense"),
        patch(one, {"metadata": {"labels": {"a": "b"}}}),
        patch(one, {"spec": {"scope": "Cluster"}}),
        patch(one, {"spec": {"names": {"kind": "Wheel"}}}, view=_refusal),
        patch(one, {"spec": {"versions": []}}),
        post(GEARS, gear()),
        delete(
            one,
            differs=dict.fromkeys(
                ("body.metadata.finalizers", "body.status.conditions.2"),
                "definitions-work-at-once",
            ),
        ),
        WaitUntilGone(GEARS),
        WaitUntilGone(one),
        get(GEARS),
        get(one),
    )
    yield scene(
        "definitions with formats that nothing checks",
        post(DRY, _with_property(type="string", format="date-time")),
        post(DRY, _with_property(type="array", format="cidr", items={"type": "string"})),
        post(DRY, _with_property(type="integer", format="uint32")),
        post(DEFINITIONS, _with_property(type="string", format="old"), view=_refusal),
        WaitUntilServed(GEARS),
        patch(f"{one}?dryRun=All", _with_property(type="string", format="old")),
        patch(f"{one}?dryRun=All", _with_property(type="string", format="new")),
        delete(one, view=_refusal),
        WaitUntilGone(one),
    )
    yield scene(
        "definitions in groups of the community",
        *(post(DRY, _approved(text)) for text in ("", "yes", "unapproved, x", "https://x.y/1")),
    )
    yield scene(
        "definitions that cannot be",
        post(DRY, definition(name="wrong")),
        post(DRY, definition(scope="Galaxy")),
        post(DRY, definition(version={"schema": None})),
        post(DRY, definition(version={"storage": False})),
        post(DRY, definition(group="")),
        post(DRY, definition(names={"plural": "Gears"})),
        post(
            DRY,
            definition(
                version={"schema": {"openAPIV3Schema": {"type": "object", "properties": {"a": {}}}}}
            ),
        ),
        post(DRY, manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition")),
        post(DRY, definition(nonsense=True)),
    )


def _with_property(**schema: Any) -> dict[str, Any]:
    properties = {"type": "object", "properties": {"a": schema}}
    return gears(schema={"openAPIV3Schema": properties})


def _approved(text: str) -> dict[str, Any]:
    made = definition(name="gears.a.k8s.io", group="a.k8s.io")
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": text}
    return made


def _refusal(body: Any) -> Any:
    return {name: body.get(name) for name in ("code", "kind")}


def _objects() -> Iterator[Scene]:
    one = f"{GEARS}/x"
    yield scene(
        "custom objects",
        *MADE,
        post(GEARS, gear(), keep=KEPT),
        post(GEARS, gear()),
        get(one),
        get(f"{GEARS}/none"),
        get(GEARS),
        get(GEARS, accept=TABLE),
        get(GEARS, accept=METADATA_LIST),
        put(one, Edited("made", {"spec.teeth": 13}), keep=KEPT),
        put(one, Edited("made", {"metadata.labels": {"a": "b"}}), keep=KEPT),
        put(one, Edited("made", {"status": {"turns": 1}}), keep=KEPT),
        put(f"{one}/status", Edited("made", {"status": {"turns": 2}}), keep=KEPT),
        put(f"{one}/status", Edited("made", {"spec.teeth": 99}), keep=KEPT),
        put(one, Edited("made", {"metadata.resourceVersion": "1"})),
        put(one, gear()),
        patch(one, {"spec": {"ratio": 1.5}}),
        patch(one, [{"op": "add", "path": "/spec/maker", "value": "ann"}], JSON_PATCH),
        patch(one, {"spec": {"maker": "bob"}}, STRATEGIC),
        patch(
            f"{one}?fieldManager=ann",
            str(
                {
                    "apiVersion": f"{GROUP}/v1",
                    "kind": "Gear",
                    "metadata": {"name": "x"},
                    "spec": {"teeth": 12, "port": "http"},
                }
            ).encode(),
            APPLY,
        ),
        patch(
            f"{one}?fieldManager=ann&force=true",
            str(
                {
                    "apiVersion": f"{GROUP}/v1",
                    "kind": "Gear",
                    "metadata": {"name": "x"},
                    "spec": {"teeth": 14, "port": 80},
                }
            ).encode(),
            APPLY,
        ),
        get(f"{one}/scale"),
        patch(f"{one}/scale", {"spec": {"replicas": 3}}),
        get(f"{one}/nonsense"),
        get(f"{GEARS}?fieldSelector=metadata.name%3Dx", keep={"start": "metadata.resourceVersion"}),
        get(f"{GEARS}?fieldSelector=spec.teeth%3D12"),
        get(f"{GEARS}?labelSelector=a%3Db"),
        delete(one),
        Watch(f"{GEARS}?watch=true&resourceVersion=<start>", 1),
        post(GEARS, gear("y")),
        delete(GEARS),
        get(GEARS),
    )
    yield scene(
        "custom objects that break their schema",
        *MADE,
        post(GEARS, gear(teeth=2)),
        post(GEARS, gear(teeth=101)),
        post(GEARS, gear(teeth="12")),
        post(GEARS, gear(teeth=1.5)),
        post(GEARS, gear(material="wood")),
        post(GEARS, gear(maker="Ann Bell")),
        post(GEARS, gear(tags=["a", "b", "c"])),
        post(GEARS, gear(tags=[1])),
        post(GEARS, gear(on="yes")),
        post(GEARS, gear(notes={"a": 1})),
        post(GEARS, gear(port=[1])),
        post(GEARS, manifest(f"{GROUP}/v1", "Gear")),
        post(GEARS, manifest(f"{GROUP}/v1", "Gear", spec={})),
        post(GEARS, manifest(f"{GROUP}/v1", "Gear", spec=None)),
        post(GEARS, manifest(f"{GROUP}/v1", "Wheel", spec={})),
        post(GEARS, manifest(f"{GROUP}/v2", "Gear")),
        post(GEARS, {"metadata": {"name": "x"}, "spec": {"teeth": 12}}),
        post(GEARS, gear("UPPER")),
        post(GEARS, gear(odd=1)),
        post(f"{GEARS}?fieldValidation=Strict", gear("y", odd=1, extra={"any": {"thing": 1}})),
        post(f"{GEARS}?fieldValidation=Ignore", gear("y", odd=1, extra={"any": {"thing": 1}})),
        post(GEARS, b"{"),
        post(GEARS, b"[]"),
        patch(f"{GEARS}/y", {"spec": {"teeth": 1}}),
        patch(f"{GEARS}/y", {"spec": None}),
        patch(f"{GEARS}/y/status", {"status": {"turns": "many"}}),
        get(f"{GEARS}/y"),
    )
