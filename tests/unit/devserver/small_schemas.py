"""Small schemas, made by hand, for the tests of patching.

Owns: a kind with one field of every sort that patching treats in its own way.
"""

from __future__ import annotations

from typing import Final

from reflet.apirules.schema.schemas import Schema, Structure

TEXT: Final = Schema("string")
NUMBER: Final = Schema("int64")
TEXTS: Final = Schema("map", values=TEXT)


def object_of(**fields: Schema) -> Schema:
    """An object with these fields."""
    return Schema("object", structure=Structure("", fields))


PORT: Final = object_of(
    number=NUMBER, protocol=Schema("string", default="TCP"), name=TEXT, host=TEXT
)
PORTS: Final = Schema(
    "list",
    items=PORT,
    list_type="map",
    list_map_keys=("number", "protocol"),
    patch_strategy="merge",
    patch_merge_key="number",
)
PART: Final = object_of(name=TEXT, size=NUMBER, labels=TEXTS, ports=PORTS)
PARTS: Final = Schema(
    "list",
    items=PART,
    list_type="map",
    list_map_keys=("name",),
    patch_strategy="merge",
    patch_merge_key="name",
)
TAGS: Final = Schema("list", items=TEXT, list_type="set", patch_strategy="merge")
STEPS: Final = Schema("list", items=TEXT, list_type="atomic")
WHOLE: Final = Schema("map", values=TEXT, map_type="atomic")
STRATEGY: Final = Schema(
    "object",
    structure=Structure("", {"type": TEXT, "rolling": TEXTS}),
    patch_strategy="retainKeys",
)
REPLACED: Final = Schema("object", structure=Structure("", {"a": TEXT}), patch_strategy="replace")

SPEC: Final = object_of(
    size=NUMBER,
    on=Schema("bool"),
    name=TEXT,
    parts=PARTS,
    tags=TAGS,
    steps=STEPS,
    whole=WHOLE,
    texts=TEXTS,
    strategy=STRATEGY,
    replaced=REPLACED,
    loose=Schema("anything", preserves_unknown=True),
)
METADATA: Final = object_of(
    name=TEXT,
    namespace=TEXT,
    uid=TEXT,
    labels=TEXTS,
    annotations=TEXTS,
    managedFields=Schema("list", items=Schema("anything"), list_type="atomic"),
)
KIND: Final = object_of(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=METADATA,
    spec=SPEC,
    status=object_of(phase=TEXT, message=TEXT),
)
