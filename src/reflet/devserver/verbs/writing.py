"""The verbs create and update, and what every write goes through.

The order of the steps from a document to a stored object: who may write where, which version is
replaced, what the server adds, whether it is valid, who manages which field, and whether it is a
dry run.  Each step belongs to a module of its own.

Upstream: apiserver/pkg/registry/generic/registry/store.go, Create and Update;
apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from reflet.apirules import refusals
from reflet.apirules.admission import prepare_create, prepare_update
from reflet.apirules.object_warnings import warnings_of
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.strict_decoding import check_body
from reflet.apirules.validation.by_kind import validate_create, validate_update
from reflet.devserver.authorization.node_restriction import AttemptedWrite, Operation
from reflet.devserver.printing.answers import ObjectAnswer
from reflet.devserver.request.authentication import UserInfo
from reflet.devserver.request.bodies import Body, read_object
from reflet.devserver.request.request_options import WriteOptions
from reflet.devserver.storage.stored import Key, Stored
from reflet.devserver.verbs.conversion import in_storage_version, in_version
from reflet.devserver.verbs.deleting import finish
from reflet.devserver.verbs.field_managers import FieldManager
from reflet.devserver.verbs.reading import key_of
from reflet.devserver.verbs.state import DEFINITIONS, State, with_accepted_names
from reflet.errors import ApiError, Cause

Document = dict[str, Any]

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


@dataclass(frozen=True, slots=True)
class Writing:
    """One write: by whom, to which kind, where.  ``warnings`` are sent along with the answer."""

    state: State
    kind: ServedKind
    namespace: str
    options: WriteOptions
    name: str = ""
    subresource: str = ""
    warnings: list[str] = field(default_factory=list)
    user: UserInfo | None = None

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
        self.warnings.extend(warnings)
        return made

    def key(self, name: str = "") -> Key:
        """Give the key of the object that is written."""
        return key_of(self.kind, self.namespace, name or self.name)

    def _admit(self, operation: Operation, document: Document, old: Document) -> None:
        if self.user is None:
            return  # the server itself writes
        name = self.name or (document.get("metadata") or {}).get("name") or ""
        place = (self.kind, name, self.namespace)
        self.state.admit(
            AttemptedWrite(operation, *place, document, old, self.subresource, self.user)
        )

    # Create

    def create(self, document: Document, *, managed: Any = None) -> ObjectAnswer:
        """Store a new object.  ``managed`` are its managers, if an apply found them already."""
        metadata = document.get("metadata") or {}
        self._check_namespace(metadata)
        self._admit("CREATE", document, {})
        for attempt in range(MOST_GENERATED_NAMES):
            made = self._made(document, managed)
            key = self.key(made["metadata"].get("name", ""))
            is_taken = self.state.storage.get(key) is not None
            was_generated = not metadata.get("name")
            if not (is_taken and was_generated) or attempt == MOST_GENERATED_NAMES - 1:
                break
        self.warnings.extend(validate_create(self.kind, made))
        self.warnings.extend(warnings_of(self.kind, made, is_new=True))
        if self.kind.storage_key == DEFINITIONS and not self.options.dry_run:
            made = self._established(made)
        version = metadata.get("resourceVersion") or ""
        if _is_version(version) and not self.options.dry_run:
            raise refusals.unexpected("resourceVersion should not be set on objects to be created")
        if is_taken:
            raise self._taken(key)
        if self.options.dry_run:
            shown = _with_version(made, version) if version else made
            return ObjectAnswer(self.kind, in_storage_version(self.kind, shown), code=201)
        return ObjectAnswer.of(
            self.kind, self.state.storage.create(key, in_storage_version(self.kind, made)), 201
        )

    def _taken(self, key: Key) -> ApiError:
        refusal = refusals.already_exists(self.kind.plural, key.name, group=self.kind.group)
        present = self.state.storage.get(key)
        if present is not None and "deletionTimestamp" in present.object["metadata"]:
            refusal.message = f"object is being deleted: {refusal.message}"
        return refusal

    def _made(self, document: Document, managed: Any) -> Document:
        made = prepare_create(
            self.kind,
            document,
            namespace=self.namespace,
            surroundings=self.state.surroundings(self.user),
        )
        if managed is None:
            managed = self.ownership.after_create(document)
        _set_managed(made, managed)
        return made

    def _established(self, made: Document) -> Document:
        """Let the server say of a definition that its names are accepted."""
        established = with_accepted_names(made, self.state)
        server = FieldManager(self.kind, "status", SERVER, self.state.now())
        _set_managed(established, server.after_update(made, established, established))
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

    def update(self, document: Document) -> ObjectAnswer:
        """Replace an object by the one in the body of a PUT."""
        self.check_name(document)
        metadata = document.get("metadata") or {}
        stored = self.state.storage.get(self.key())
        if stored is None:
            return self._create_by_update(document)
        uid = stored.object["metadata"].get("uid", "")
        if metadata.get("uid") and metadata["uid"] != uid:
            why = (
                f"StorageError: invalid object, Code: 4, Key: /registry/{self._registry_path()}, "
                f"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                f"precondition: {metadata['uid']}, UID in object meta: {uid}"
            )
            raise refusals.conflict(self.kind.plural, self.name, why, group=self.kind.group)
        return self.replace(stored, document)

    def _registry_path(self) -> str:
        key = self.key()
        place = f"{self.kind.group}/{self.kind.plural}" if self.kind.custom else self.kind.plural
        return f"{place}/{key.path}"

    def _create_by_update(self, document: Document) -> ObjectAnswer:
        if self.kind.storage_key not in _CREATED_BY_UPDATE or self.subresource:
            raise refusals.not_found(self.kind.plural, self.name, group=self.kind.group)
        metadata = {**document.get("metadata", {})}
        metadata.pop("resourceVersion", None)
        return self.create({**document, "metadata": metadata})

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

    def replace(
        self, stored: Stored, document: Document, *, managed: Any = None, code: int = 200
    ) -> ObjectAnswer:
        """Put a new state in the place of a stored one, if it is still the one that is meant."""
        old = in_version(self.kind, stored.object)
        self._admit("UPDATE", document, old)
        self._check_version(stored, document)
        made = self._updated(old, document)
        if managed is None:
            managed = self.ownership.after_update(old, document, made)
        _set_managed(made, managed)
        self.warnings.extend(validate_update(self.kind, old, made, subresource=self.subresource))
        self.warnings.extend(warnings_of(self.kind, made, subresource=self.subresource))
        made = self.ownership.unless_only_times_differ(old, made)
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


def _set_managed(made: Document, managed: Any) -> None:
    if managed:
        made["metadata"]["managedFields"] = managed
    else:
        made["metadata"].pop("managedFields", None)


def _with_version(document: Document, version: str) -> Document:
    return {**document, "metadata": {**document["metadata"], "resourceVersion": version}}
