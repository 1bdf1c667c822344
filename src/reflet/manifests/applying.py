"""Reads files as if they had been applied to an empty cluster.

What is given by name is applied together, so that a later document updates an earlier one.  Each
file of a folder is a set of its own: repositories hold overlays, environments and examples, and the
same object in two files is two variants and no conflict.  Whoever names it means the nearest one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, final

from msgspec import structs

from reflet.api import codec, field_path
from reflet.api.core.services import Service
from reflet.api.frozen import EMPTY
from reflet.api.meta import KubernetesObject
from reflet.api.unstructured import AnyObject
from reflet.api.yaml.text import PlacedValue
from reflet.apirules.schema.known_kinds import KindStanding, judged
from reflet.errors import ApiError, Cause, DecodeError
from reflet.insight.custom_workloads import workload_in
from reflet.manifests.acceptance import Accepting, KnownKinds, ObjectKey
from reflet.manifests.applied import AppliedManifests, AppliedObject, Duplicate, Refusal, Remark
from reflet.manifests.files import Sources, SourceText
from reflet.manifests.manifest_documents import (
    Because,
    DocumentReader,
    ManifestDocument,
    is_placeholder,
)
from reflet.resolution.templates.templates import WORKLOADS, Workload

if TYPE_CHECKING:
    from reflet.apirules.schema.served_kind import ServedKind

DEFAULT_NAMESPACE: Final = "default"


Claims = tuple[str, str]
"""The ``apiVersion`` and ``kind`` that an object says of itself."""


class ServerKinds(NamedTuple):
    """What a server says of kinds: definitions of custom ones, and those that it does not have."""

    definitions: tuple[dict[str, Any], ...] = ()
    absent: frozenset[Claims] = frozenset()


AskServer = Callable[[frozenset[Claims]], ServerKinds]
"""Is asked once, for the kinds that nothing is known of."""


def read_applied(
    sources: Sources | Sequence[str],
    *,
    namespace: str = DEFAULT_NAMESPACE,
    on_text: Callable[[SourceText], None] | None = None,
    ask_server: AskServer | None = None,
) -> AppliedManifests:
    """Read files, folders and ``-``, and what kustomize and Helm make, and take it for applied.

    ``namespace`` is that of objects which do not name one.  ``on_text`` is told every text that is
    read; ``ask_server`` is asked for kinds that nothing is known of.  Raises ConfigurationError for
    what cannot be read or rendered, and DecodeError, with file and line, for what is given by name
    and no manifest.
    """
    chosen = Sources.of(sources)
    reader = DocumentReader(chosen, namespace=namespace, on_text=on_text)
    reading = _Reading(namespace, reader, ask_server)
    for document in reader.documents():
        reading.take(document)
    return reading.result()


@final
class _Reading:
    """The objects so far, each with its place; a later one of the same set and name replaces."""

    def __init__(
        self, namespace: str, reader: DocumentReader, ask_server: AskServer | None
    ) -> None:
        self._ask_server = ask_server
        self._absent: frozenset[Claims] = frozenset()
        self._namespace = namespace
        self._reader = reader
        self._kinds = KnownKinds()
        self._together = Accepting(namespace, self._kinds)
        self._alone: tuple[str, Accepting] = ("", self._together)
        self._objects: dict[tuple[str, ObjectKey] | int, AppliedObject] = {}
        self._in_folders: dict[tuple[str, ObjectKey], AppliedObject] = {}
        self._later: list[ManifestDocument] = []
        self._refusals: list[Refusal] = []
        self._remarks: list[Remark] = []
        self._duplicates: list[Duplicate] = []
        self._repeated: list[Remark] = []
        self._unchecked: Counter[str] = Counter()

    def take(self, document: ManifestDocument) -> None:
        """Take a document of a built-in kind; others wait until all definitions were read."""
        placed = document.placed
        for each in placed.warnings:
            told = self._repeated if each.kind == "repeated key" else self._remarks
            told.append(Remark(f"{document.source}:{each.line}", each.message))
        name = _metadata(placed).get("name", "")
        # Nothing behind "name:" is a word that YAML takes for a comment: ##NAME##.
        if document.folder and (name is None or is_placeholder(name)):
            self._reader.skip(document, Because.TEMPLATE)
            return
        kind = self._kinds.of(placed.value)
        if kind is None or kind.custom is not None:
            self._later.append(document)
        else:
            self._accept(kind, document)

    def result(self) -> AppliedManifests:
        """Take what waited, and return everything."""
        self._learn_kinds()
        for document in self._later:
            variants = self._kinds.variants(
                document.placed.value, document.place, in_folder=bool(document.folder)
            )
            kind = next(variants, None)
            if kind is not None:
                self._accept(kind, document, variants)
            else:
                self._take_as_it_is(document)
        for key, item in self._objects.items():
            workload = self._workload_of(item)
            if workload is not None:
                self._objects[key] = structs.replace(item, workload=workload)
        self._refusals += [
            Refusal(f"{each.file}:{each.line}", "", "", each.file, each.message)
            for each in self._reader.unreadable
        ]
        return AppliedManifests(
            tuple(self._objects.values()),
            tuple(self._refusals),
            tuple(self._remarks),
            duplicates=tuple(self._duplicates),
            repeated_keys=tuple(self._repeated),
            skipped=tuple(self._reader.skipped),
            unchecked=dict(self._unchecked),
            made=frozenset(self._reader.made),
        )

    def _learn_kinds(self) -> None:
        unknown = frozenset(
            (str(value["apiVersion"]), str(value["kind"]))
            for value in (document.placed.value for document in self._later)
            if self._kinds.of(value) is None
        )
        if self._ask_server is None or not unknown:
            return
        answer = self._ask_server(unknown)
        self._absent = answer.absent
        for definition in answer.definitions:
            self._kinds.define(definition)

    def _workload_of(self, item: AppliedObject) -> Workload | None:
        """Return what makes pods: the object itself, or the templates of a custom resource."""
        found = item.object
        # Cheap to look for: what has no containers has no template.
        if isinstance(found, AnyObject) and b'"containers"' in found.to_json():
            try:
                return workload_in(found, self._kinds.schema_of(found, item.place, item.folder))
            except DecodeError as error:
                self._remarks.append(Remark(item.place, str(error)))
        return found if isinstance(found, WORKLOADS) else None

    def _accept(
        self,
        kind: ServedKind,
        document: ManifestDocument,
        others: Iterator[ServedKind] | None = None,
    ) -> None:
        """Take a document of a kind; it is refused when the other variants refuse it, too."""
        try:
            key, stored = self._accepted(kind, document, others or iter(()))
            made = cast("KubernetesObject", codec.decode_object(codec.encode(stored)))
        except (UnicodeEncodeError, RecursionError):
            self._refuse(document, "not valid Unicode text", kind=kind)
        except DecodeError as error:  # our own structs are stricter than the server in few places
            here = (Cause(message=str(error), field=error.path),)
            self._refuse(document, str(error), here, kind=kind)
        except ApiError as error:
            causes = error.causes or _located(document.placed, error.message)
            self._refuse(document, error.message, causes, kind=kind)
        else:
            if isinstance(made, AnyObject) and kind.kind == "CustomResourceDefinition":
                self._kinds.define(
                    stored,
                    document.place,
                    in_folder=bool(document.folder),
                    is_changed=document.is_changed,
                    data=made.to_json(),
                )
            if isinstance(made, Service) and not made.spec.cluster_ip and made.spec.ports:
                self._remark_no_address(document.place, made)
            self._keep(key, made, document)

    def _accepted(
        self, kind: ServedKind, document: ManifestDocument, others: Iterator[ServedKind]
    ) -> tuple[ObjectKey, dict[str, Any]]:
        accepting = self._accepting(document)
        try:
            return accepting.accept(kind, document.placed.value)
        except (ApiError, DecodeError) as refused:
            for other in others:
                with suppress(ApiError, DecodeError):
                    return accepting.accept(other, document.placed.value)
            raise refused from None

    def _accepting(self, document: ManifestDocument) -> Accepting:
        """Return the set that a document is of: everything that was named, or one file."""
        if not document.folder:
            return self._together
        if self._alone[0] != document.source:
            self._alone = (document.source, Accepting(self._namespace, self._kinds))
        return self._alone[1]

    def _keep(self, key: ObjectKey, made: KubernetesObject, document: ManifestDocument) -> None:
        item = AppliedObject(
            document.place,
            made,
            document.placed.line_of,
            document.folder,
            is_changed=document.is_changed,
            has_namespace=bool(_metadata(document.placed).get("namespace")),
        )
        if not made.metadata.name:
            # A name that is only begun never meets another.
            self._objects[len(self._objects)] = item
            return
        own_set = document.source if document.folder else ""
        earlier = self._objects.pop((own_set, key), None)
        if document.folder:
            earlier = self._in_folders.get((document.folder, key), earlier)
            self._in_folders[document.folder, key] = item
        if earlier is not None:
            self._duplicates.append(Duplicate(earlier, item))
        self._objects[own_set, key] = item

    def _take_as_it_is(self, document: ManifestDocument) -> None:
        """Take an object of which nothing is known here but what stands in it."""
        value = document.placed.value
        version, kind = str(value["apiVersion"]), str(value["kind"])
        judgement = judged(version, kind)
        if judgement.standing in {KindStanding.REMOVED, KindStanding.UNKNOWN}:
            field = "kind" if judgement.standing is KindStanding.UNKNOWN else "apiVersion"
            causes = (Cause(message=judgement.message, field=field),)
            self._refuse(document, judgement.message, causes, fix=judgement.fix)
            return
        if judgement.standing is KindStanding.SERVED:  # a list whose items are none
            said = "items: expected a list"
            self._refuse(document, said, (Cause(message=said, field="items"),))
            return
        if (version, kind) in self._absent:
            said = f'no matches for kind "{kind}" in version "{version}"'
            fix = "install its CustomResourceDefinition first"
            self._refuse(document, said, (Cause(message=said, field="kind"),), fix=fix)
            return
        metadata = _metadata(document.placed)
        if metadata and not metadata.get("namespace") and judgement.standing is KindStanding.CUSTOM:
            # Most kinds have one.
            value = {**value, "metadata": {**metadata, "namespace": self._namespace}}
        try:
            item = AnyObject.from_dict(value)
        except DecodeError as error:
            causes = (Cause(message=str(error), field=error.path),)
            self._refuse(document, str(error), causes)
            return
        except (UnicodeEncodeError, RecursionError):
            self._refuse(document, "not valid Unicode text")
            return
        self._unchecked[f"{kind} of {version}"] += 1
        key = (f"{kind}.{version}", item.metadata.namespace, item.metadata.name)
        self._keep(key, item, document)

    def _refuse(
        self,
        document: ManifestDocument,
        message: str,
        causes: tuple[Cause, ...] = (),
        *,
        kind: ServedKind | None = None,
        fix: str = "",
    ) -> None:
        placed = document.placed
        not_meant = _not_meant_as_it_is(document, causes)
        if not_meant is not None:
            self._reader.skip(document, not_meant)
            return
        metadata = _metadata(placed)
        name = metadata.get("name") or metadata.get("generateName") or ""
        in_namespace = kind is None or kind.namespaced
        namespace = (metadata.get("namespace") or self._namespace) if in_namespace else ""
        self._refusals.append(
            Refusal(
                document.place,
                str(placed.value["kind"]),
                str(namespace),
                str(name),
                message,
                causes,
                placed.line_of,
                fix,
                _texts(metadata.get("annotations")),
                None if kind is None else self._accepting(document).as_written(kind, placed.value),
            )
        )

    def _remark_no_address(self, place: str, service: Service) -> None:
        if service.spec.type == "ExternalName":
            return
        metadata = service.metadata
        self._remarks.append(
            Remark(
                place,
                f"Service {metadata.namespace}/{metadata.name} has no clusterIP here: "
                "the cluster will choose one, so its variables are left out",
            )
        )


_REQUIRED: Final = "FieldValueRequired"
_PATCH: Final = re.compile(r"patch(?!ed)|^overlays?$", re.IGNORECASE)


def _not_meant_as_it_is(document: ManifestDocument, causes: tuple[Cause, ...]) -> Because | None:
    """Return why a document of a folder is refused and still right: something is to come to it.

    A template has words to be replaced; kustomize gives what is missing and other names; a patch,
    by the name of its file or folder, is added to something else.
    """
    if not document.folder:
        return None
    value = document.placed.value
    if any(is_placeholder(_value_at(value, cause.field)) for cause in causes):
        return Because.TEMPLATE
    if document.is_changed and all(
        cause.type == _REQUIRED or "metadata" in cause.field for cause in causes
    ):
        return Because.KUSTOMIZE
    if any(map(_PATCH.search, Path(document.source).parts[-2:])):
        return Because.PATCH
    return None


def _metadata(placed: PlacedValue) -> Mapping[str, Any]:
    metadata = placed.value.get("metadata")
    return metadata if isinstance(metadata, dict) else EMPTY


def _texts(found: object) -> dict[str, str]:
    """Return what is text in a mapping of a document that may be anything."""
    pairs = found.items() if isinstance(found, dict) else ()
    return {key: value for key, value in pairs if isinstance(value, str)}


def _value_at(value: Any, path: str) -> Any:
    for step in field_path.steps(path):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


_GO_FIELD: Final = re.compile(r"Go struct field \w+\.(\S+) of type")


def _located(placed: PlacedValue, message: str) -> tuple[Cause, ...]:
    """Return what a server says while it decodes, with the field that our own decoder finds."""
    _, _, said = message.partition(": ")
    try:
        codec.decode_object(codec.encode(placed.value))
    except DecodeError as error:
        return (Cause(message=said or message, field=error.path),)
    except (UnicodeEncodeError, RecursionError):
        return ()
    found = _GO_FIELD.search(message)
    return (Cause(message=said or message, field=found[1] if found else ""),)
