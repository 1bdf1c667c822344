"""Objects as tables, which is how kubectl asks for what it prints.

Upstream: pkg/printers/tablegenerator.go; pkg/printers/storage/storage.go
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, Literal

from reflet.apirules.refusals import bad_request
from reflet.apirules.schema.served_kind import PrinterColumn, ServedKind
from reflet.devserver.printing.cluster_printers import CLUSTER_TABLES
from reflet.devserver.printing.columns import AGE, COLUMNS, NAME, NAMED_ONLY, Column, column
from reflet.devserver.printing.further_printers import FURTHER_TABLES, TableOf
from reflet.devserver.printing.json_paths import first_at
from reflet.devserver.printing.printers import PRINTERS, created, name_of, named_only
from reflet.gotext.durations import age, moment_of

Document = dict[str, Any]
IncludeObject = Literal["Metadata", "Object", "None"]

META_VERSION: Final = "meta.k8s.io/v1"

_COMPLETED: Final[Mapping[str, str]] = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def include_object(text: str) -> IncludeObject:
    """Read the parameter that says what rows carry beside their cells."""
    match text:
        case "" | "Metadata":
            return "Metadata"
        case "Object" | "None":
            return text
        case _:
            raise bad_request(
                f'Unable to convert to Table as requested: includeObject: Invalid value: "{text}"'
                ": must be 'Metadata', 'Object', 'None', or empty"
            )


def table(
    kind: ServedKind,
    objects: Iterable[Document],
    metadata: Document,
    *,
    now: datetime,
    include: IncludeObject = "Metadata",
    with_columns: bool = True,
) -> Document:
    """Make the Table of some objects.

    ``with_columns=False`` leaves out the headings, which a watch sends only once.
    """
    return {
        "kind": "Table",
        "apiVersion": META_VERSION,
        "metadata": metadata,
        "columnDefinitions": list(columns_of(kind)) if with_columns else None,
        "rows": [_row(kind, each, now, include) for each in objects],
    }


def columns_of(kind: ServedKind) -> tuple[Column, ...]:
    """Give the headings of a kind's table."""
    if kind.custom is None:
        further = _further(kind)
        return COLUMNS.get(kind.storage_key, NAMED_ONLY) if further is None else further.columns
    if not kind.custom.printer_columns:
        return (NAME, AGE)
    return (NAME, *map(_custom_column, kind.custom.printer_columns))


def cells_of(kind: ServedKind, obj: Document, now: datetime) -> list[Any]:
    """Give the cells of one object, in the order of the headings."""
    if kind.custom is None:
        further = _further(kind)
        if further is not None:
            return further.cells(obj, now)
        return PRINTERS.get(kind.storage_key, named_only)(obj, now)
    if not kind.custom.printer_columns:
        return [name_of(obj), created(obj, now)]
    return [
        name_of(obj),
        *(_custom_cell(each, obj, now) for each in kind.custom.printer_columns),
    ]


def _further(kind: ServedKind) -> TableOf | None:
    return FURTHER_TABLES.get(kind.storage_key) or CLUSTER_TABLES.get(kind.storage_key)


def partial(obj: Document) -> Document:
    """Give an object's metadata alone."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": META_VERSION,
        "metadata": obj.get("metadata", {}),
    }


def _row(kind: ServedKind, obj: Document, now: datetime, include: IncludeObject) -> Document:
    row: Document = {"cells": cells_of(kind, obj, now)}
    if kind.storage_key == "pods":
        phase = obj.get("status", {}).get("phase", "")
        if phase in _COMPLETED:
            message = _COMPLETED[phase]
            condition = {"type": "Completed", "status": "True", "reason": phase}
            row["conditions"] = [{**condition, "message": message}]
    match include:
        case "Object":
            row["object"] = obj
        case "Metadata":
            row["object"] = partial(obj)
        case "None":
            row["object"] = None
    return row


def _custom_column(printer: PrinterColumn) -> Column:
    return column(
        printer.name,
        printer.type,
        form=printer.format,
        text=printer.description,
        priority=printer.priority,
    )


def _custom_cell(printer: PrinterColumn, obj: Document, now: datetime) -> Any:
    value = first_at(obj, printer.json_path)
    if value is None:
        return None
    match printer.type:
        case "date":
            return age(value, now) if moment_of(value) is not None else "<invalid>"
        case "string":
            return value if isinstance(value, str) else _text(value)
        case "integer":
            return int(value) if isinstance(value, int | float) else None
        case "number":
            return value if isinstance(value, int | float) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case _:
            return None


def _text(value: Any) -> str:
    import json  # noqa: PLC0415 - only columns of lists and objects need it

    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, separators=(",", ":"))
