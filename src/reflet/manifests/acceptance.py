"""What the API server would store for a document, or the words in which it refuses it.

The steps are those of ``apirules``, in the server's order.  Nothing is made up: addresses, times,
names and identities that only a server gives stay empty.  Objects that were dumped from a server
keep their identity and, pods and nodes, their status.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, cast, final

import msgspec

from reflet.api import codec
from reflet.api.meta import KubernetesObject
from reflet.api.unstructured import AnyObject
from reflet.apirules.admission import Surroundings, prepare_create, prepare_update
from reflet.apirules.schema.kinds import Kinds, custom_kinds
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.service_allocation import ServiceAddresses
from reflet.apirules.strict_decoding import cannot_be_handled, check_body
from reflet.apirules.validation.by_kind import validate_create, validate_update
from reflet.errors import ApiError, Cause, DecodeError
from reflet.resolution.references.placed_objects import nearness

Document = dict[str, Any]
ObjectKey = tuple[str, str, str]
"""Storage key, namespace and name."""

_IDENTITY: Final = (
    *("uid", "resourceVersion", "creationTimestamp", "generation"),
    *("deletionTimestamp", "deletionGracePeriodSeconds"),
)
_ADDRESSES: Final = ("clusterIP", "clusterIPs")
_KEEP_STATUS: Final = frozenset({"pods", "nodes"})
_MADE_UP: Final = "00000000-0000-0000-0000-000000000000"
_ANY_ADDRESS: Final = {False: "0.0.0.0/0", True: "::/0"}  # which one is the cluster's affair
_LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)


class _Definition(NamedTuple):
    place: str
    in_folder: bool
    is_changed: bool
    data: bytes


@final
class KnownKinds:
    """The built-in kinds, and those that CustomResourceDefinitions among the files define.

    Repositories hold several versions of one definition: an object means the nearest one.  What a
    definition says is worked out when an object of its kind turns up, which most never do.
    """

    def __init__(self) -> None:
        self._kinds = Kinds()
        self._definitions: dict[tuple[str, str], list[_Definition]] = {}
        self._custom: dict[bytes, tuple[ServedKind, ...]] = {}

    @property
    def register(self) -> Kinds:
        """The built-in kinds."""
        return self._kinds

    def of(
        self, document: Document, place: str = "", *, in_folder: bool = False
    ) -> ServedKind | None:
        """Return the kind that a document says it is, or ``None`` for one that is not known."""
        return next(self.variants(document, place, in_folder=in_folder), None)

    def variants(
        self, document: Document, place: str = "", *, in_folder: bool = False
    ) -> Iterator[ServedKind]:
        """Yield the kind as every definition says that is equally near, the last one first.

        What was named together, or is not from files, has one; in a folder there may be several.
        """
        claims = str(document.get("apiVersion")), str(document.get("kind"))
        nearest = _nearest(self._definitions.get(claims, []), place, in_folder=in_folder)
        if nearest:
            # The same definition lies about in many files.
            for data in dict.fromkeys(each.data for each in reversed(nearest)):
                yield from (
                    kind
                    for kind in self._defined_by(data)
                    if (kind.api_version, kind.kind) == claims
                )
            return
        kind = self._kinds.by_kind(*claims)
        if kind is not None and kind.is_stored:
            yield kind

    def schema_of(self, item: AnyObject, place: str, folder: str) -> Mapping[str, Any] | None:
        """Return the OpenAPI schema of a kind that a definition among the files defines."""
        claims = {"apiVersion": item.api_version, "kind": item.kind}
        found = self.of(claims, place, in_folder=bool(folder))
        return None if found is None or found.custom is None else found.custom.open_api

    def define(
        self,
        definition: Document,
        place: str = "",
        *,
        in_folder: bool = False,
        is_changed: bool = False,
        data: bytes | None = None,
    ) -> None:
        """Note a CustomResourceDefinition that a server would have, and where it stands.

        ``data`` is its JSON, where somebody has it already.  Of several that are named together
        the last one counts.
        """
        spec = definition["spec"]
        found = _Definition(place, in_folder, is_changed, data or msgspec.json.encode(definition))
        for version in spec["versions"]:
            if version.get("served"):
                claims = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
                others = self._definitions.get(claims, [])
                kept = [each for each in others if each.in_folder or in_folder]
                self._definitions[claims] = [*kept, found]

    def _defined_by(self, data: bytes) -> tuple[ServedKind, ...]:
        known = self._custom.get(data)
        if known is None:
            known = custom_kinds(msgspec.json.decode(data), self._kinds.schemas)
            self._custom[data] = known
        return known


def _nearest(found: list[_Definition], place: str, *, in_folder: bool) -> list[_Definition]:
    if len(found) < 2:
        return found
    if not in_folder:
        together = [each for each in found if not each.in_folder]
        if together:
            return together
    # What kustomize changes is not yet what anybody applies.
    ranks = [(nearness(each.place, place)[0], not each.is_changed) for each in found]
    best = max(ranks)
    return [each for each, rank in zip(found, ranks, strict=True) if rank == best]


@final
class Accepting:
    """Takes documents one after the other, as a server would that was empty before.

    An object that comes twice is updated by the later one, under the rules for updates.
    """

    def __init__(self, namespace: str, kinds: KnownKinds | None = None) -> None:
        self._namespace = namespace
        self._kinds = KnownKinds() if kinds is None else kinds
        self._stored: dict[ObjectKey, bytes] = {}
        self._addresses = {
            later: ServiceAddresses(_ANY_ADDRESS[later], of_any_cluster=True)
            for later in (False, True)
        }

    def kind_of(self, document: Document) -> ServedKind | None:
        """Return the kind that a document says it is, or ``None`` for one that is not known."""
        return self._kinds.of(document)

    def accept(self, kind: ServedKind, document: Document) -> tuple[ObjectKey, Document]:
        """Return what the server would store, and under which key.

        Raises ApiError with the server's words for what it would refuse: BadRequest for what is not
        an object of the kind at all.
        """
        decoded = self._decoded(kind, document)
        given: Document = decoded.get("metadata") or {}
        namespace = (given.get("namespace") or self._namespace) if kind.namespaced else ""
        key = (kind.storage_key, namespace, given.get("name") or given.get("generateName") or "")
        before = self._stored.get(key) if given.get("name") else None
        old: Document | None = None if before is None else msgspec.json.decode(before)
        outside = self._outside(decoded)
        if old is None:
            made = prepare_create(kind, decoded, namespace=namespace, surroundings=outside)
            validate_create(kind, _as_created(made, given))
        else:
            anonymous = _without_identity(decoded)
            made = prepare_update(kind, old, anonymous, namespace=namespace, surroundings=outside)
            validate_update(kind, old, made)
        _keep_what_was_given(kind, made, decoded)
        if kind.storage_key == "services":
            self._settle_service(made, decoded, old)
        # As bytes: what hundreds of definitions hold would fill the memory as documents.
        self._stored[key] = msgspec.json.encode(made)
        return key, _without_inventions(made, given)

    def as_written(self, kind: ServedKind, document: Document) -> KubernetesObject | None:
        """Return a document that was refused as an object, without what the server does not know.

        Defaults are given where that is possible.  ``None`` for what cannot be read at all.
        """
        try:
            made, _ = check_body(
                kind, document, kinds=self._kinds.register, field_validation="Ignore"
            )
            given: Document = made.get("metadata") or {}
            namespace = (given.get("namespace") or self._namespace) if kind.namespaced else ""
            made = {**made, "metadata": {**given, "namespace": namespace}}
            with suppress(ApiError):
                made = prepare_create(
                    kind, made, namespace=namespace, surroundings=self._outside(made)
                )
            return cast(
                "KubernetesObject",
                codec.decode_object(codec.encode(_without_inventions(made, given))),
            )
        except (ApiError, DecodeError, UnicodeEncodeError, RecursionError):
            return None

    def _decoded(self, kind: ServedKind, document: Document) -> Document:
        decoded, complaints = check_body(
            kind, document, kinds=self._kinds.register, field_validation="Warn"
        )
        if complaints:
            causes = tuple(Cause("", complaint, _place_of(complaint)) for complaint in complaints)
            said = f"strict decoding error: {', '.join(complaints)}"
            error = cannot_be_handled(kind, kind.api_version, kind.kind, said)
            error.causes = causes
            raise error
        return decoded

    def _outside(self, decoded: Document) -> Surroundings:
        uid = (decoded.get("metadata") or {}).get("uid") or _MADE_UP
        return Surroundings(
            now=_LONG_AGO,
            new_uid=lambda: uid,
            chance=lambda _: 0,
            addresses=self._addresses[_is_of_later_family(decoded)],
        )

    def _settle_service(self, made: Document, decoded: Document, old: Document | None) -> None:
        """Take back addresses and ports that were only chosen, and note those that are wanted."""
        given, before = decoded.get("spec") or {}, {} if old is None else old["spec"]
        spec = made["spec"]
        if not any(wish.get(name) for wish in (given, before) for name in _ADDRESSES):
            for name in _ADDRESSES:
                spec.pop(name, None)
        wanted = {port.get("nodePort") for port in given.get("ports") or ()}
        wanted |= {port.get("nodePort") for port in before.get("ports") or ()}
        for port in spec.get("ports") or ():
            if port.get("nodePort") not in wanted:
                port.pop("nodePort", None)
        for addresses in self._addresses.values():
            if old is not None:
                addresses.forget(old)
            addresses.note(made)


def _is_of_later_family(decoded: Document) -> bool:
    spec = decoded.get("spec")
    if not isinstance(spec, dict):
        return False
    families = spec.get("ipFamilies")
    asks_first = isinstance(families, list) and families[:1] == ["IPv6"]
    return asks_first or ":" in str(spec.get("clusterIP"))


def _place_of(complaint: str) -> str:
    """Return the field that a complaint names: ``unknown field "spec.replica"``."""
    _, quote, rest = complaint.partition('"')
    return rest.removesuffix('"') if quote else ""


def _as_created(made: Document, given: Document) -> Document:
    """Return the object as its creator sent it: nobody creates pods with ephemeral containers."""
    spec = made.get("spec")
    if not given.get("uid") or not isinstance(spec, dict) or "ephemeralContainers" not in spec:
        return made
    created = {name: value for name, value in spec.items() if name != "ephemeralContainers"}
    return {**made, "spec": created}


def _without_identity(decoded: Document) -> Document:
    metadata = decoded.get("metadata") or {}
    anonymous = {name: value for name, value in metadata.items() if name not in _IDENTITY}
    return {**decoded, "metadata": anonymous}


def _keep_what_was_given(kind: ServedKind, made: Document, decoded: Document) -> None:
    given = decoded.get("metadata") or {}
    metadata = made["metadata"]
    metadata.update({name: given[name] for name in _IDENTITY if given.get(name)})
    if kind.storage_key in _KEEP_STATUS and decoded.get("status"):
        made["status"] = decoded["status"]


def _without_inventions(made: Document, given: Document) -> Document:
    """Return the object without a name, identity or time that only a server can give."""
    metadata = dict(made["metadata"])
    if not given.get("name"):
        metadata.pop("name", None)
    if metadata.get("uid") == _MADE_UP:
        del metadata["uid"]
    if metadata.get("creationTimestamp") == "1970-01-01T00:00:00Z":
        del metadata["creationTimestamp"]
    result = {**made, "metadata": metadata}
    if made["kind"] == "Job":
        template = made["spec"]["template"]
        labels = template["metadata"].get("labels", {})
        known = {label: value for label, value in labels.items() if value != _MADE_UP}
        known_template = {**template, "metadata": {**template["metadata"], "labels": known}}
        result["spec"] = {**made["spec"], "template": known_template}
    return result
