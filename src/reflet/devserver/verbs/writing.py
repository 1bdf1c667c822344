"""The verbs create and update, and what every write goes through.

The order of the steps from a document to a stored object: who may write where, who manages which
field, what admission changes, which version is replaced, what the server adds, whether it is valid
and admitted, and whether it is a dry run.  Each step belongs to a module of its own.

Where admission has a say, a write waits for it, and others may write meanwhile: a new state is put
in the place of the very state that it was made from, or everything is done again from the present
one.  Otherwise nothing is awaited, and a write is atomic; ``at_once`` runs one like a function.

Upstream: apiserver/pkg/registry/generic/registry/store.go, Create and Update;
apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from reflet.apirules import refusals
from reflet.apirules.admission import prepare_create, prepare_update
from reflet.apirules.object_warnings import warnings_of
from reflet.apirules.strict_decoding import check_body
from reflet.apirules.validation.by_kind import validate_create, validate_update
from reflet.devserver.printing.answers import ObjectAnswer
from reflet.devserver.request.bodies import Body, read_object
from reflet.devserver.storage.stored import Key, Stored
from reflet.devserver.verbs.admitted_writing import AdmittedWriting, set_managed
from reflet.devserver.verbs.conversion import in_storage_version, in_version
from reflet.devserver.verbs.deleting import finish
from reflet.devserver.verbs.field_managers import FieldManager
from reflet.devserver.verbs.state import (
    DEFINITIONS,
    with_accepted_names,
)
from reflet.errors import AlreadyExists, ApiError, Cause

Document = dict[str, Any]
T = TypeVar("T")

SERVER: Final = "kube-apiserver"  # the name under which the server itself writes
MOST_GENERATED_NAMES: Final = 8  # names tried before a create by generateName gives up

# Kinds of which an update makes the object that is missing.
_CREATED_BY_UPDATE: Final = frozenset(
    {
        *("endpoints", "events", "limitranges", "services", "leases.coordination.k8s.io"),
        "runtimeclasses.node.k8s.io",
        *(
            f"{plural}.rbac.authorization.k8s.io"
            for plural in ("clusterrolebindings", "clusterroles", "rolebindings", "roles")
        ),
    }
)
# Kinds of which an update must say which version it replaces.
_VERSION_REQUIRED: Final = frozenset(
    {
        *("leases.coordination.k8s.io", "poddisruptionbudgets.policy"),
        *("apiservices.apiregistration.k8s.io", "runtimeclasses.node.k8s.io", DEFINITIONS),
        *(
            f"{plural}.storage.k8s.io"
            for plural in ("csidrivers", "csinodes", "csistoragecapacities", "volumeattachments")
        ),
        *(
            f"{plural}.admissionregistration.k8s.io"
            for plural in (
                *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
                *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
                *("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
            )
        ),
    }
)


class Overtaken(Exception):
    """Somebody else changed the object while this write waited for admission."""


def at_once(writing: Coroutine[Any, Any, T]) -> T:
    """Carry out a write that admission has no say in, and that therefore waits for nothing."""
    try:
        writing.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    writing.close()
    raise RuntimeError("a write that nobody admits has waited for something")


@dataclass(frozen=True, slots=True)
class Writing(AdmittedWriting):
    """One write: by whom, to which kind, where."""

    @property
    def ownership(self) -> FieldManager:
        """Who owns which field, as far as this write is concerned."""
        return FieldManager(self.kind, self.subresource, self.options.manager, self.state.now())

    def read(self, body: Body) -> Document:
        """Read the object in a body, or refuse it."""
        document = read_object(self.kind, body, self.state.kinds)
        return self.checked(document, raw=body.content)

    def checked(
        self, document: Any, *, raw: bytes = b"", complaints: tuple[str, ...] = ()
    ) -> Document:
        """Give a document in the kind's form; unknown fields are refused, warned of or nothing."""
        made, warnings = check_body(
            self.kind,
            document,
            kinds=self.state.kinds,
            field_validation=self.options.validation,
            raw=raw,
            more_complaints=complaints,
        )
        self.warn(warnings)
        return made

    # Create

    async def create(self, document: Document, *, managed: Any = None) -> ObjectAnswer:
        """Store a new object.  ``managed`` are its managers, if an apply found them already."""
        metadata = document.get("metadata") or {}
        self._check_namespace(metadata)
        self.restrict("CREATE", document, {})
        is_owned = managed is not None  # by apply, which names the object and looks at it once
        if managed is None:
            managed = self.ownership.after_create(document)
        document, managed = await self.mutated("CREATE", document, managed)
        metadata = document.get("metadata") or {}
        version = metadata.get("resourceVersion") or ""
        for _ in range(1 if metadata.get("name") else MOST_GENERATED_NAMES):
            made = self._made(document, managed, is_owned=is_owned)
            key = self.key(made["metadata"].get("name", ""))
            self.warn(validate_create(self.kind, made))
            self.warn(warnings_of(self.kind, made, is_new=True))
            await self.validated("CREATE", made)
            if _is_version(version) and not self.options.dry_run:
                raise refusals.unexpected(
                    "resourceVersion should not be set on objects to be created"
                )
            if self.state.storage.get(key) is None:
                break
        else:
            raise self._taken(key)
        if self.options.dry_run:
            shown = _with_version(made, version) if version else made
            return ObjectAnswer(self.kind, in_storage_version(self.kind, shown), code=201)
        if self.kind.storage_key == DEFINITIONS:
            made = self._established(made)
        return ObjectAnswer.of(
            self.kind, self.state.storage.create(key, in_storage_version(self.kind, made)), 201
        )

    def _taken(self, key: Key) -> ApiError:
        refusal = refusals.already_exists(self.kind.plural, key.name, group=self.kind.group)
        present = self.state.storage.get(key)
        if present is not None and "deletionTimestamp" in present.object["metadata"]:
            refusal.message = f"object is being deleted: {refusal.message}"
        return refusal

    def _made(self, document: Document, managed: Any, *, is_owned: bool) -> Document:
        made = prepare_create(
            self.kind,
            document,
            namespace=self.namespace,
            surroundings=self.state.surroundings(self.user),
            is_owned=is_owned,
        )
        set_managed(made, managed)
        return made

    def _established(self, made: Document) -> Document:
        """Let the server say of a definition that its names are accepted."""
        established = with_accepted_names(made, self.state)
        server = FieldManager(self.kind, "status", SERVER, self.state.now())
        set_managed(established, server.after_update(made, established, established))
        return self.ownership.unless_only_times_differ(made, established)

    def _check_namespace(self, metadata: Document) -> None:
        """Refuse to make anything in a namespace that is not there, or that is going."""
        if not self.kind.namespaced:
            return
        namespace = self.state.namespace(self.namespace)
        if namespace is None:
            raise refusals.not_found("namespaces", self.namespace)
        if "deletionTimestamp" in namespace["metadata"]:
            name = metadata.get("name") or ""
            raise refusals.namespace_terminating(
                self.kind.plural, name, self.namespace, group=self.kind.group
            )

    # Update

    async def update(self, document: Document) -> ObjectAnswer:
        """Replace an object by the one in the body of a PUT."""
        self.check_name(document)
        return await self.until_done(lambda stored: self._update(stored, document))

    async def until_done(self, write: Callable[[Stored | None], Coroutine[Any, Any, T]]) -> T:
        """Write on the present state, again and again until nobody else was quicker."""
        while True:
            try:
                return await write(self.state.storage.get(self.key()))
            except Overtaken:
                continue

    async def _update(self, stored: Stored | None, document: Document) -> ObjectAnswer:
        metadata = document.get("metadata") or {}
        if stored is None:
            return await self._create_by_update(document)
        uid = stored.object["metadata"].get("uid", "")
        if metadata.get("uid") and metadata["uid"] != uid:
            why = (
                f"StorageError: invalid object, Code: 4, Key: /registry/{self._registry_path()}, "
                f"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                f"precondition: {metadata['uid']}, UID in object meta: {uid}"
            )
            raise refusals.conflict(self.kind.plural, self.name, why, group=self.kind.group)
        return await self.replace(stored, document)

    def _registry_path(self) -> str:
        key = self.key()
        place = f"{self.kind.group}/{self.kind.plural}" if self.kind.custom else self.kind.plural
        return f"{place}/{key.path}"

    async def _create_by_update(self, document: Document) -> ObjectAnswer:
        if self.kind.storage_key not in _CREATED_BY_UPDATE or self.subresource:
            raise refusals.not_found(self.kind.plural, self.name, group=self.kind.group)
        metadata = {**document.get("metadata", {})}
        metadata.pop("resourceVersion", None)
        return await self.create_missing({**document, "metadata": metadata})

    async def create_missing(self, document: Document, *, managed: Any = None) -> ObjectAnswer:
        """Store a new object where a write found none; if there is one by now, that is another."""
        try:
            return await self.create(document, managed=managed)
        except AlreadyExists as error:
            if self.state.storage.get(self.key()) is None:
                raise  # admission gave it another name, and that one is taken
            raise Overtaken from error

    def check_name(self, document: Document) -> None:
        """Refuse an object that has another name, or namespace, than the URL."""
        metadata = document.get("metadata") or {}
        name = metadata.get("name")
        if not name:
            raise refusals.bad_request(
                f"the name of the object ({self.name} based on URL) was undeterminable: name must "
                "be provided"
            )
        if name != self.name:
            raise refusals.bad_request(
                f"the name of the object ({name}) does not match the name on the URL ({self.name})"
            )

    async def replace(
        self,
        stored: Stored,
        document: Document,
        *,
        managed: Any = None,
        code: int = 200,
        shown: Callable[[Document], Document] | None = None,
    ) -> ObjectAnswer:
        """Put a new state in the place of a stored one, if it is still the one that is meant.

        ``shown`` is how the validating side of admission sees objects, where that is not as they
        are; the mutating side has then seen this write already.
        """
        old = in_version(self.kind, stored.object)
        self.restrict("UPDATE", document, old)
        if shown is None and self.is_handled("UPDATE"):
            if managed is None:
                made = self._updated(old, document) if self.subresource else document
                managed = self.ownership.after_update(old, document, made)
            document, managed = await self.mutated("UPDATE", document, managed, old)
        self._check_version(stored, document)
        made = self._updated(old, document)
        if managed is None:
            managed = self.ownership.after_update(old, document, made)
        set_managed(made, managed)
        self.warn(validate_update(self.kind, old, made, subresource=self.subresource))
        self.warn(warnings_of(self.kind, made, subresource=self.subresource, old=old))
        made = self.ownership.unless_only_times_differ(old, made)
        await self.validated("UPDATE", _with_version(made, str(stored.revision)), old, shown)
        if self.state.storage.get(stored.key) is not stored:
            raise Overtaken
        if self.kind.storage_key == DEFINITIONS and not self.subresource:
            made = self._established(made)
        if self.options.dry_run:
            return ObjectAnswer(self.kind, in_storage_version(self.kind, made), code=code)
        if finish(self.state, self.kind, stored.key, made):
            return ObjectAnswer(
                self.kind, _with_version(in_storage_version(self.kind, made), str(stored.revision))
            )
        replaced = self.state.storage.replace(stored.key, in_storage_version(self.kind, made))
        return ObjectAnswer.of(self.kind, replaced, code)

    def _updated(self, old: Document, document: Document) -> Document:
        if self.subresource == "finalize":
            # Nothing but what holds the namespace can be changed in this way.
            finalizers = (document.get("spec") or {}).get("finalizers")
            spec = {**old.get("spec", {}), "finalizers": finalizers}
            return {
                **old,
                "metadata": {**old["metadata"]},
                "spec": {name: value for name, value in spec.items() if value},
            }
        return prepare_update(
            self.kind,
            old,
            document,
            namespace=self.namespace,
            subresource=self.subresource,
            surroundings=self.state.surroundings(),
        )

    def _check_version(self, stored: Stored, document: Document) -> None:
        version = (document.get("metadata") or {}).get("resourceVersion") or ""
        if version in {"", "0"}:
            if self.kind.custom is not None or self.kind.storage_key in _VERSION_REQUIRED:
                message = "Invalid value: 0: must be specified for an update"
                cause = Cause("FieldValueInvalid", message, "metadata.resourceVersion")
                raise refusals.invalid(self.kind.plural, self.name, [cause], group=self.kind.group)
            return
        if not (version.isascii() and version.isdecimal()):
            raise refusals.unexpected(f'strconv.ParseUint: parsing "{version}": invalid syntax')
        if version.lstrip("0") != str(stored.revision):
            raise refusals.modified(self.kind.plural, self.name, group=self.kind.group)


def _is_version(text: str) -> bool:
    """Whether it is a version of some object: a number, as Go reads an uint64, and not zero."""
    is_number = text.isascii() and text.isdecimal()
    # No more digits than there can be: reading thousands of them is an error in Python.
    return is_number and len(digits := text.lstrip("0")) <= 20 and 0 < int(digits or 0) < 2**64


def _with_version(document: Document, version: str) -> Document:
    return {**document, "metadata": {**document["metadata"], "resourceVersion": version}}
