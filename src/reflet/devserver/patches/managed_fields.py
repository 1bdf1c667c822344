"""The entries of ``metadata.managedFields``: the managers, their order, and how many there may be.

Who owns what after an update or an apply is decided in ``server_side_apply``.

Upstream: apimachinery/pkg/util/managedfields/internal/{managedfields,managedfieldsupdater}.go,
internal/capmanagers.go
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from reflet.devserver.patches.field_sets import FieldSet, decoded
from reflet.devserver.patches.json_values import same
from reflet.errors import DecodeError
from reflet.gotext import printing
from reflet.gotext.quoting import quoted

Operation = Literal["Apply", "Update"]

APPLY: Final = "Apply"
UPDATE: Final = "Update"
FIELDS_TYPE: Final = "FieldsV1"

NOBODY: Final = "unknown"  # the name of a manager that gives none
BEFORE_FIRST_APPLY: Final = "before-first-apply"
OLD_UPDATES: Final = "ancient-changes"
MOST_UPDATERS: Final = 10


class Manager(NamedTuple):
    """What tells one entry from another.

    Appliers are the same whatever version they use, so theirs is empty here.
    """

    name: str
    operation: str
    api_version: str
    subresource: str

    @property
    def rank(self) -> str:
        """Sort key of the real server's messages: the manager as JSON."""
        parts = {
            "manager": self.name,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "subresource": self.subresource,
        }
        inner = ",".join(
            f"{printing.json_text(name)}:{printing.json_text(value)}"
            for name, value in parts.items()
            if value
        )
        return f"{{{inner}}}"

    def __str__(self) -> str:
        text = quoted(self.name)
        if self.subresource:
            text += f" with subresource {quoted(self.subresource)}"
        return f"{text} using {self.api_version}" if self.operation == UPDATE else text


def manager_of(name: str, operation: Operation, api_version: str, subresource: str) -> Manager:
    """Name a manager that asks for something now."""
    version = "" if operation == APPLY else api_version
    return Manager(name or NOBODY, operation, version, subresource)


@dataclass(frozen=True, slots=True)
class Owned:
    """What a manager owns, in which version, and since when; the time may be missing."""

    fields: FieldSet
    api_version: str
    time: str = ""


Managers = dict[Manager, Owned]


def read_managers(entries: Any) -> Managers:
    """Read the entries of an object; DecodeError when they are not well formed."""
    managers: Managers = {}
    if entries is not None and not isinstance(entries, list):
        raise DecodeError("managed fields are a list")
    for index, entry in enumerate(entries or ()):
        if not isinstance(entry, Mapping):
            raise DecodeError(f"managed fields entry {index} is no object")
        manager, owned = _read_entry(index, entry)
        managers[manager] = owned
    return managers


def _read_entry(index: int, entry: Mapping[str, Any]) -> tuple[Manager, Owned]:
    name, operation, version, kind, subresource, time = (
        entry.get(part) or ""
        for part in ("manager", "operation", "apiVersion", "fieldsType", "subresource", "time")
    )
    if not all(isinstance(part, str) for part in (name, version, subresource, time)):
        raise DecodeError(f"managed fields entry {index} has a part that is no text")
    if operation not in (APPLY, UPDATE):
        raise DecodeError("operation must be `Apply` or `Update`")
    if not version:
        raise DecodeError("apiVersion must not be empty")
    if not kind:
        raise DecodeError(f"missing fieldsType in managed fields entry {index}")
    if kind != FIELDS_TYPE:
        raise DecodeError(f'invalid fieldsType "{kind}" in managed fields entry {index}')
    manager = Manager(name, operation, "" if operation == APPLY else version, subresource)
    return manager, Owned(decoded(entry.get("fieldsV1")), version, time)


def write_managers(managers: Managers) -> list[dict[str, Any]]:
    """Write the entries: appliers first, then by time, then by name."""
    ordered = sorted(
        managers.items(),
        key=lambda entry: (
            entry[0].operation,
            entry[1].time,
            entry[0].name,
            entry[1].api_version,
            entry[0].subresource,
        ),
    )
    return [_write_entry(manager, owned) for manager, owned in ordered]


def _write_entry(manager: Manager, owned: Owned) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": owned.api_version,
        "time": owned.time,
        "fieldsType": FIELDS_TYPE,
        "fieldsV1": owned.fields.encoded(),
        "subresource": manager.subresource,
    }
    return {name: value for name, value in entry.items() if value or name == "fieldsV1"}


def with_few_updaters(managers: Managers) -> Managers:
    """Merge the oldest updaters into one per version, until there are not too many."""
    updaters = sorted(
        (manager for manager in managers if manager.operation == UPDATE),
        key=lambda manager: (managers[manager].time, manager.rank),
    )
    few = dict(managers)
    left = len(updaters)
    oldest: dict[str, Manager] = {}
    for manager in updaters:
        if left <= MOST_UPDATERS:
            break
        owned = few[manager]
        first = oldest.setdefault(owned.api_version, manager)
        if first is manager:
            continue
        bucket = Manager(OLD_UPDATES, UPDATE, owned.api_version, "")
        if bucket not in few:
            few[bucket] = few.pop(first)
        fields = owned.fields.union(few[bucket].fields)
        few[bucket] = Owned(fields, owned.api_version, owned.time)
        del few[manager]
        left -= 1
    return few


# In objects


def managed_fields_of(document: Mapping[str, Any]) -> Any:
    """Give the entries of an object as they stand there, None when there are none."""
    metadata = document.get("metadata")
    return metadata.get("managedFields") if isinstance(metadata, Mapping) else None


def with_managed_fields(document: Mapping[str, Any], managers: Managers) -> dict[str, Any]:
    """Give the object with these entries in place of those it has."""
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        metadata = {}
    others = {name: value for name, value in metadata.items() if name != "managedFields"}
    if managers:
        others["managedFields"] = write_managers(managers)
    return {**document, "metadata": others}


def with_old_times(live: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the new object, or the live one when they differ in the times of managers only."""
    before, after = managed_fields_of(live), managed_fields_of(new)
    if not before or not after or _timeless(before) != _timeless(after):
        return new
    return live if same(with_managed_fields(live, {}), with_managed_fields(new, {})) else new


def _timeless(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: part for name, part in entry.items() if name != "time"} for entry in entries]
