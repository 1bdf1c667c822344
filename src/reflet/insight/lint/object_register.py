"""Which objects there are, or will be: in the files, in a cluster, made by others, or assumed."""

from collections.abc import Iterator, Mapping
from typing import Any, final

from reflet.api import codec
from reflet.api.core.small_kinds import ServiceAccount
from reflet.api.unstructured import AnyObject
from reflet.apirules.schema.known_kinds import belongs_to_kubernetes, group_of
from reflet.insight.lint.assumptions import Assumptions
from reflet.insight.lint.subjects import Subject, Subjects
from reflet.insight.reference_table import (
    NamedObject,
    Row,
    Tables,
    always_there,
    made_by,
    references_in,
)


@final
class ObjectRegister:
    """Answers whether an object exists, as far as that can be told, and who may use it.

    ``others`` are what a cluster was asked for: whether it has an object of a kind, namespace and
    name.
    """

    def __init__(
        self,
        subjects: Subjects,
        others: Mapping[tuple[str, str, str], bool],
        assume: Assumptions,
        more: Tables,
    ) -> None:
        self._others = others
        self._assume = assume
        self._more = more
        self._kustomized = subjects.made
        self._names: dict[tuple[str, str], list[str]] = {}
        for subject in subjects.every:
            # A refused object is one that somebody meant to be there.
            self._names.setdefault((subject.kind, subject.namespace), []).append(subject.name)
        self._there = {(*where, name) for where, names in self._names.items() for name in names}
        # Definitions are large, and name and make nothing.
        self._documents = [
            (each, item)
            for each in subjects.every
            if each.kind != "CustomResourceDefinition" and (item := _as_any_object(each.object))
        ]
        self._made: list[NamedObject] | None = None

    def exists(self, kind: str, namespace: str, name: str) -> bool:
        """Tell whether there is an object of a kind; cluster-wide ones have no namespace."""
        key = (kind, namespace, name)
        return key in self._there or self._others.get(key, False) or self._assume.has(*key)

    def names(self, kind: str, namespace: str) -> list[str]:
        """Return what the files have of a kind in a namespace."""
        return self._names.get((kind, namespace), [])

    def is_elsewhere(self, kind: str, namespace: str, name: str, key: str = "") -> bool:
        """Tell whether a ConfigMap or Secret, or its key, is made by another system, or assumed."""
        if (kind, name) in self._kustomized or always_there(kind, namespace, name):
            return True
        if any(made.matches(kind, namespace, name) for made in self._makers()):
            return True
        return self._assume.has(kind, namespace, name, key)

    def uses(self) -> Iterator[tuple[Subject, NamedObject]]:
        """Yield the ConfigMaps and Secrets that objects besides pods name."""
        for subject, item in self._documents:
            for rows in self._tables(self._more.references):
                yield from ((subject, named) for named in references_in(item.content, rows))

    def mentions(self) -> set[str]:
        """Return every text of custom resources: what none of the tables knows may be a name."""
        texts: set[str] = set()
        for _, item in self._documents:
            if not belongs_to_kubernetes(group_of(item.api_version)):
                _collect(item.content.get("spec"), texts)
        return texts

    def _makers(self) -> list[NamedObject]:
        if self._made is None:
            self._made = [
                made
                for _, item in self._documents
                for rows in self._tables(self._more.makers)
                for made in made_by(item.content, rows)
            ]
        return self._made

    @staticmethod
    def _tables(more: tuple[Row, ...]) -> tuple[tuple[Row, ...] | None, ...]:
        """Return the rows that are known, which are found by kind, and those that are not."""
        return (None, more) if more else (None,)


def _as_any_object(found: Any) -> AnyObject | None:
    """Return what may name ConfigMaps and Secrets outside of pods, as the tables read it."""
    if isinstance(found, ServiceAccount):
        return AnyObject(codec.encode(found))
    return found if isinstance(found, AnyObject) else None


def _collect(value: Any, texts: set[str]) -> None:
    if isinstance(value, str):
        texts.add(value)
    elif isinstance(value, Mapping):
        for inner in value.values():
            _collect(inner, texts)
    elif isinstance(value, tuple):
        for inner in value:
            _collect(inner, texts)
