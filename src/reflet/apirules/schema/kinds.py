"""The register of served kinds: the built-in ones, and those that definitions add.

Owns: finding a kind by a URL's parts or by a body's ``apiVersion`` and ``kind``, and what a
CustomResourceDefinition adds and takes away.  Must not know requests or storage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, final

from reflet.apirules.schema.builtin_kinds import builtin_kinds
from reflet.apirules.schema.custom_kinds import custom_kinds, version_rank
from reflet.apirules.schema.schemas import Schemas
from reflet.apirules.schema.served_kind import ServedKind


@final
class Kinds:
    """The kinds that are served now; changes when definitions come and go."""

    def __init__(self, schemas: Schemas | None = None) -> None:
        self.schemas = Schemas.recorded() if schemas is None else schemas
        self._by_resource: dict[tuple[str, str, str], ServedKind] = {}
        self._by_kind: dict[tuple[str, str], ServedKind] = {}
        self._custom: dict[str, tuple[ServedKind, ...]] = {}
        self._changes = 0
        for kind in builtin_kinds(self.schemas):
            self._add(kind)

    def __iter__(self) -> Iterator[ServedKind]:
        """Every kind in every version, in the order of discovery."""
        return iter(self._by_resource.values())

    @property
    def generation(self) -> int:
        """Grows with every change, for who keeps something made from the register."""
        return self._changes

    def by_resource(self, group: str, version: str, plural: str) -> ServedKind | None:
        """Find the kind that a URL means."""
        return self._by_resource.get((group, version, plural))

    def by_kind(self, api_version: str, kind: str) -> ServedKind | None:
        """Find the kind that a body says it is."""
        return self._by_kind.get((api_version, kind))

    def by_storage_key(self, storage_key: str) -> ServedKind | None:
        """Find the kind, in the version in which it is stored, that is kept under a key."""
        return next(
            (
                kind
                for kind in self
                if kind.storage_key == storage_key and kind.version == kind.storage_version
            ),
            None,
        )

    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """Give every group with its versions, the preferred version first."""
        versions: dict[str, list[str]] = {}
        for kind in self:
            known = versions.setdefault(kind.group, [])
            if kind.version not in known:
                known.append(kind.version)
        return {group: tuple(sorted(found, key=version_rank)) for group, found in versions.items()}

    def is_custom(self, group: str) -> bool:
        """Whether a group is there because of definitions alone."""
        return all(kind.custom is not None for kind in self if kind.group == group)

    def in_version(self, group: str, version: str) -> tuple[ServedKind, ...]:
        """Give the kinds of one group in one version."""
        return tuple(kind for kind in self if (kind.group, kind.version) == (group, version))

    def add_custom(self, definition: Mapping[str, Any]) -> tuple[ServedKind, ...]:
        """Serve what a stored CustomResourceDefinition defines, instead of what it did before."""
        name = str(definition["metadata"]["name"])
        self.remove_custom(name)
        added = custom_kinds(definition, self.schemas)
        self._custom[name] = added
        for kind in added:
            self._add(kind)
        return added

    def remove_custom(self, name: str) -> tuple[ServedKind, ...]:
        """Stop serving what the definition of that name defines, and return it."""
        removed = self._custom.pop(name, ())
        for kind in removed:
            del self._by_resource[kind.group, kind.version, kind.plural]
            del self._by_kind[kind.api_version, kind.kind]
        self._changes += 1
        return removed

    def _add(self, kind: ServedKind) -> None:
        self._by_resource[kind.group, kind.version, kind.plural] = kind
        self._by_kind[kind.api_version, kind.kind] = kind
        self._changes += 1
