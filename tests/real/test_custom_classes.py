"""Classes of one's own for custom resources, on a real server: written from its definition."""

import contextlib
import json
from typing import Any, Literal

import pytest

from reflet.adapters.pydantic_models import Model, ObjectModel
from reflet.api.frozen import Frozen, constant
from reflet.api.meta import ObjectMeta, TypedObject
from reflet.cluster import Cluster
from reflet.controllers import wait_for
from reflet.errors import AlreadyExists, Invalid, NotFound
from reflet.insight.custom_structs import classes_of
from reflet.insight.struct_source import source_of

SPEC = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1},
        "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        "since": {"type": "string", "format": "date-time"},
        "port": {"x-kubernetes-int-or-string": True},
        "rest": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gizmos.example.org"},
    "spec": {
        "group": "example.org",
        "names": {"kind": "Gizmo", "plural": "gizmos"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "required": ["spec"],
                        "properties": {"spec": SPEC},
                    }
                },
            }
        ],
    },
}
IDENTITY = {"apiVersion": "example.org/v1", "kind": "Gizmo"}


class GizmoSpec(Frozen, frozen=True, kw_only=True):
    size: int
    color: str = ""


class Gizmo(TypedObject, frozen=True, kw_only=True):
    api_version: Literal["example.org/v1"] = constant("example.org/v1")
    kind: Literal["Gizmo"] = constant("Gizmo")
    metadata: ObjectMeta = ObjectMeta()
    spec: GizmoSpec


class GizmoModelSpec(Model):
    size: int
    color: str | None = None


class GizmoModel(ObjectModel):
    api_version: Literal["example.org/v1"] = "example.org/v1"
    kind: Literal["Gizmo"] = "Gizmo"
    spec: GizmoModelSpec


def written() -> tuple[type[Any], type[Any]]:
    module: dict[str, Any] = {"__name__": "gizmos"}
    source = source_of(classes_of(DEFINITION), "gizmos.example.org")
    exec(compile(source, "gizmos.py", "exec", dont_inherit=True), module)
    return module["Gizmo"], module["GizmoSpec"]


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize(
    "classes",
    [(Gizmo, GizmoSpec), (GizmoModel, GizmoModelSpec), written()],
    ids=["struct", "pydantic", "written"],
)
async def test_objects_of_an_own_class_are_created_mirrored_and_applied(
    cluster: Cluster, classes: tuple[type[Any], type[Any]], streaming: bool
) -> None:
    kind, spec = classes
    async with cluster:
        await install(cluster)
        gizmos = cluster.resource(kind)
        async with cluster.mirror(kind, streaming=streaming) as mirror:
            await mirror.synced(timeout=30, fail_on=NotFound)
            await gizmos.create(kind(metadata=ObjectMeta(name="a"), spec=spec(size=1)))
            changes = mirror.changes()
            assert (await anext(changes)).object.spec.color == "red"

            applied = kind(metadata=ObjectMeta(name="a"), spec=spec(size=2, color="blue"))
            await gizmos.apply(applied, field_manager="me", force=True)

            changed = (await anext(changes)).object
            assert (changed.spec.size, changed.spec.color) == (2, "blue")
        with pytest.raises(Invalid):
            await gizmos.create(kind(metadata=ObjectMeta(name="b"), spec=spec(size=0)))


async def test_an_object_of_a_written_class_is_written_back_whole(cluster: Cluster) -> None:
    kind, _ = written()
    sent = {
        "size": 3,
        "color": "blue",
        "since": "2026-01-02T03:04:05Z",
        "port": "http",
        "rest": {"deep": [{"er": 1}]},
    }
    async with cluster:
        await install(cluster)
        await cluster.resource("gizmos.example.org").create(
            {**IDENTITY, "metadata": {"name": "a"}, "spec": sent}
        )

        await cluster.resource(kind).replace(await cluster.resource(kind).get("a"))

        raw = await cluster.resource("gizmos.example.org").get("a")
        assert json.loads(raw.to_json())["spec"] == sent


async def install(cluster: Cluster) -> None:
    """Install the definition, once for all tests, and wait until it is served."""
    definitions = cluster.resource("customresourcedefinitions")
    with contextlib.suppress(AlreadyExists):
        await definitions.create(DEFINITION)

    def is_served(found: Any) -> bool:
        # A definition that was made a moment ago has null in the place of conditions.
        conditions = found.content.get("status", {}).get("conditions") or ()
        return any((each["type"], each["status"]) == ("Established", "True") for each in conditions)

    await wait_for(definitions, "gizmos.example.org", is_served, timeout=30)
