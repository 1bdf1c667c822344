"""The objects of the controllers benchmark: a custom kind of about 1 KiB, with a status.

Owns: the definition of the kind, making and removing objects, and the writer that changes them at
a steady pace.  Must not know who reconciles.

As a child of its own (see ``measuring.Child``) it is the writer, the same for all contestants.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from benchmarks import wire_objects
from benchmarks.measuring import answer, first_line
from benchmarks.wire_clients import Target
from reflet.transport.interface import Transport

GROUP: Final = "bench.example.com"
API_VERSION: Final = f"{GROUP}/v1"
KIND: Final = "Widget"
PLURAL: Final = "widgets"
DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE_PATCH: Final = "application/merge-patch+json"

TEXT: Final = {"type": "string"}
DEFINITION: Final[dict[str, Any]] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{PLURAL}.{GROUP}"},
    "spec": {
        "group": GROUP,
        "names": {"kind": KIND, "plural": PLURAL},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {"payload": TEXT, "sequence": TEXT},
                            },
                            "status": {"type": "object", "properties": {"observed": TEXT}},
                        },
                    }
                },
            }
        ],
    },
}


def collection(namespace: str) -> str:
    """The path of the objects of a namespace."""
    return f"/apis/{API_VERSION}/namespaces/{namespace}/{PLURAL}"


def paths(namespace: str, count: int) -> list[str]:
    """The paths of the objects that ``create`` makes."""
    return [f"{collection(namespace)}/widget-{number:05}" for number in range(count)]


def widget(name: str, _sequence: str) -> dict[str, Any]:
    """One object; it has a sequence from its first change on."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name},
        "spec": {"payload": wire_objects.PAYLOAD},
    }


async def define(target: Target) -> None:
    """Install the kind, and return when it is served."""
    async with wire_objects.connected(target) as connection:
        await wire_objects.write(connection, "POST", DEFINITIONS, DEFINITION)
        async with asyncio.timeout(30):
            while True:
                try:
                    await wire_objects.write(connection, "GET", collection("default"), None)
                except RuntimeError:
                    await asyncio.sleep(0.1)
                else:
                    return


async def create(target: Target, namespace: str, count: int) -> None:
    """Make a namespace with objects in it."""
    await wire_objects.fill(target, namespace, paths(namespace, count), widget)


async def remove(target: Target, namespace: str) -> None:
    """Delete the objects of a namespace."""
    async with wire_objects.connected(target) as connection:
        await wire_objects.write(connection, "DELETE", collection(namespace), {})


async def change(connection: Transport, path: str, sequence: str, _sent: float) -> None:
    """Give an object its next sequence."""
    body = {"spec": {"sequence": sequence}}
    await wire_objects.write(connection, "PATCH", path, body, content_type=MERGE_PATCH)


def main() -> None:
    """Be the writer: write, then say when."""
    task = first_line()
    written = wire_objects.update(
        Target(**task["target"]),
        task["paths"],
        task["updates"],
        task["per_second"],
        at_once=task["at_once"],
        put=change,
    )
    answer({"moments": asyncio.run(written)})


if __name__ == "__main__":
    main()
