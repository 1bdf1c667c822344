"""Which objects there are, or will be: in the files, in a cluster, made by others, or assumed."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final, final

from reflet.api import codec
from reflet.api.core.services import Service
from reflet.api.core.small_kinds import ServiceAccount
from reflet.api.core.workloads import Job
from reflet.api.unstructured import AnyObject
from reflet.apirules.schema.known_kinds import belongs_to_kubernetes, group_of
from reflet.errors import RefletError
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

_SECRET_FLAG: Final = re.compile(r"--?[a-z-]*secret(?:-?name)?(?:=(?P<name>.+))?")


@final
class ObjectRegister:
    """Answers whether an object exists, as far as that can be told, and who may use it.

    ``others`` are what a cluster was asked for: whether it has an object of a kind, namespace and
    name.
    """

    def __init__(
        self,
        subjects: Subjects,
        others: Mapping[tuple[str, str, str], bool | RefletError],
        assume: Assumptions,
        more: Tables,
    ) -> None:
        self._others = others
        self._assume = assume
        self._more = more
        self._kustomized = subjects.made
        self._documented = subjects.documented
        self._names: dict[tuple[str, str], list[str]] = {}
        self._loose: set[tuple[str, str]] = set()
        for subject in subjects.every:
            # A refused object is one that somebody meant to be there.
            self._names.setdefault((subject.kind, subject.namespace), []).append(subject.name)
            if subject.folder and (subject.is_changed or not subject.has_namespace):
                self._loose.add((subject.kind, subject.name))
        self._there = {(*where, name) for where, names in self._names.items() for name in names}
        self._everywhere = {(kind, name) for kind, _, name in self._there}
        # Definitions are large, and name and make nothing.
        self._documents = [
            (each, item)
            for each in subjects.every
            if each.kind != "CustomResourceDefinition" and (item := _as_any_object(each.object))
        ]
        jobs = [each.object for each in subjects.every if isinstance(each.object, Job)]
        self._told_to_jobs = {"Secret": {name for job in jobs for name in _secrets_named(job)}}
        self._made: list[NamedObject] | None = None
        self._creatable: dict[str, frozenset[str]] | None = None

    def exists(self, subject: Subject, kind: str, namespace: str, name: str) -> bool:
        """Tell whether there is what a pod names; cluster-wide objects have no namespace.

        In folders, an object that names no namespace gets that of whoever applies it.
        """
        key = (kind, namespace, name)
        # Of what could not be asked, nothing is said here.
        if key in self._there or self._others.get(key, False) is not False:
            return True
        if namespace and self.is_loosely_there(subject, kind, name):
            return True
        return self._documented.has(kind, name) or self._assume.has(*key)

    def is_loosely_there(self, subject: Subject, kind: str, name: str) -> bool:
        """Tell whether an object of another namespace may be meant for the pod's, or the pod's."""
        if not subject.folder:
            return False
        moves = subject.is_changed or not subject.has_namespace
        return (kind, name) in (self._everywhere if moves else self._loose)

    def is_certain(self, kind: str, namespace: str, name: str) -> bool:
        """Tell whether a cluster was asked, and does not have it."""
        return self._others.get((kind, namespace, name)) is False

    def names(self, kind: str, namespace: str) -> list[str]:
        """Return what the files have of a kind in a namespace."""
        return self._names.get((kind, namespace), [])

    def is_elsewhere(
        self, subject: Subject, kind: str, namespace: str, name: str, key: str = ""
    ) -> bool:
        """Tell whether a ConfigMap or Secret, or its key, is made by another system, or assumed."""
        if (kind, name) in self._kustomized or always_there(kind, namespace, name):
            return True
        if any(self._is_made(made, subject, kind, namespace, name) for made in self._makers()):
            return True
        if self._documented.has(kind, name) or name in self._created_by_programs(kind):
            return True
        return self._assume.has(kind, namespace, name, key)

    def _is_made(
        self, made: NamedObject, subject: Subject, kind: str, namespace: str, name: str
    ) -> bool:
        moves = subject.folder and (subject.is_changed or not subject.has_namespace)
        return made.matches(kind, made.namespace if moves else namespace, name)

    def _created_by_programs(self, kind: str) -> frozenset[str]:
        """Return the names that a Role grants to somebody who may also create such objects.

        Whoever asks for the right to read one Secret by name, and to create Secrets, makes it.  So
        does a Job that is told its name where somebody may create Secrets: ``--secret-name=db``.
        """
        if self._creatable is None:
            documents = [item for _, item in self._documents]
            self._creatable = {
                kind: frozenset(_created_under(kind, documents, self._told_to_jobs.get(kind, ())))
                for kind in ("ConfigMap", "Secret")
            }
        return self._creatable[kind]

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


def _created_under(
    kind: str, documents: Iterable[AnyObject], told_to_jobs: Iterable[str]
) -> Iterator[str]:
    plural = f"{kind.lower()}s"
    for item in documents:
        if item.kind not in {"Role", "ClusterRole"}:
            continue
        rules = [
            rule
            for rule in item.get("rules") or ()
            if isinstance(rule, Mapping) and {plural, "*"} & set(rule.get("resources") or ())
        ]
        verbs = {verb for rule in rules for verb in rule.get("verbs") or ()}
        if {"create", "*"} & verbs:
            for rule in rules:
                yield from (str(name) for name in rule.get("resourceNames") or ())
            yield from told_to_jobs


def _secrets_named(job: Job) -> Iterator[str]:
    """Yield the names in flags of a Job that are about Secrets."""
    spec = job.spec.template.spec
    for container in (*spec.init_containers, *spec.containers):
        for word, following in pairwise((*container.command, *container.args, "")):
            found = _SECRET_FLAG.fullmatch(word)
            if found is not None:
                yield found["name"] or following


def _as_any_object(found: Any) -> AnyObject | None:
    """Return what may name ConfigMaps and Secrets outside of pods, as the tables read it."""
    if isinstance(found, ServiceAccount | Service):
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
