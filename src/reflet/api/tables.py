"""Tables that the server makes for people: the columns of ``kubectl get``.

Upstream: apimachinery/pkg/apis/meta/v1/types.go, Table
"""

from typing import Any, Final

from reflet.api.frozen import Frozen
from reflet.api.meta import ListMeta, ObjectMeta

TABLES: Final = "application/json;as=Table;v=v1;g=meta.k8s.io"
"""The content type that asks for a table; a server that makes none answers NotAcceptable."""


class TableColumn(Frozen, frozen=True, kw_only=True):
    """One column; a ``priority`` above 0 is for wide output only."""

    name: str
    type: str = ""
    format: str = ""
    description: str = ""
    priority: int = 0


class TableObject(Frozen, frozen=True, kw_only=True):
    """What a row tells of its object."""

    metadata: ObjectMeta = ObjectMeta()


class TableRow(Frozen, frozen=True, kw_only=True):
    """One object: a cell for each column."""

    cells: tuple[Any, ...] = ()
    object: TableObject = TableObject()


class Table(Frozen, frozen=True, kw_only=True):
    """Rows of cells under columns."""

    kind: str = ""
    metadata: ListMeta = ListMeta()
    column_definitions: tuple[TableColumn, ...] = ()
    rows: tuple[TableRow, ...] = ()
