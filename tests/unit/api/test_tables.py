"""Tables as the server sends them."""

from __future__ import annotations

from reflet.api.codec import decode
from reflet.api.tables import Table

SENT = b"""{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},
"columnDefinitions":[{"name":"Name","type":"string","format":"name","priority":0},
{"name":"Data","type":"integer"},{"name":"Node","type":"string","priority":1}],
"rows":[{"cells":["a",2,null],"object":{"kind":"PartialObjectMetadata",
"metadata":{"name":"a","namespace":"shop"}}}]}"""


def test_columns_cells_and_objects_are_kept() -> None:
    table = decode(SENT, Table)

    assert [(column.name, column.priority) for column in table.column_definitions] == [
        ("Name", 0),
        ("Data", 0),
        ("Node", 1),
    ]
    assert table.rows[0].cells == ("a", 2, None)
    assert table.rows[0].object.metadata.namespace == "shop"
    assert table.metadata.resource_version == "7"
