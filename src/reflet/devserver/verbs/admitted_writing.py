"""A write as far as admission is concerned: what it is to, who makes it, and what is asked of whom.

What becomes of it besides is writing.py's, or the verb's that acts on a body.

Upstream: apiserver/pkg/endpoints/handlers/{create,update,patch}.go;
apiserver/pkg/endpoints/handlers/fieldmanager/admission.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from reflet.apirules.admission import requested_object
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.admission.attributes import (
    NOBODY,
    Admission,
    AdmitsEverything,
    AdmittedTarget,
    Attributes,
    Operation,
)
from reflet.devserver.authorization.node_restriction import AttemptedWrite
from reflet.devserver.patches.managed_fields import managed_fields_of, read_managers
from reflet.devserver.request.authentication import UserInfo
from reflet.devserver.request.request_info import ApiRequest
from reflet.devserver.request.request_options import WriteOptions
from reflet.devserver.storage.stored import Key
from reflet.devserver.verbs.reading import key_of
from reflet.devserver.verbs.state import NAMESPACES, SERVICES, State
from reflet.errors import DecodeError

Document = dict[str, Any]

_WRONG_MANAGERS: Final = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an "
    "outdated mutating admission controller; please fix your requests"
)
_OPTIONS_OF: Final[Mapping[Operation, str]] = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions"}


@dataclass(frozen=True, slots=True)
class AdmittedWriting:
    """By whom something is written, to which kind, where.

    ``warnings`` are sent along with the answer.  ``body_kind`` is that of the body, where a
    subresource has one of its own.
    """

    state: State
    kind: ServedKind
    namespace: str
    options: WriteOptions
    name: str = ""
    subresource: str = ""
    warnings: list[str] = field(default_factory=list)
    user: UserInfo | None = None
    request: ApiRequest | None = None
    admission: Admission = field(default_factory=AdmitsEverything)
    body_kind: ServedKind | None = None

    def key(self, name: str = "") -> Key:
        """Give the key of the object that is written."""
        return key_of(self.kind, self.namespace, name or self.name)

    def warn(self, warnings: list[str]) -> None:
        """Send these warnings along, each once."""
        self.warnings.extend(text for text in warnings if text not in self.warnings)

    def is_handled(self, operation: Operation) -> bool:
        """Whether admission has a say in this write."""
        return self.admission.handles(AdmittedTarget(self.kind, self.subresource, operation))

    def restrict(self, operation: Operation, document: Document, old: Document) -> None:
        """Refuse what a node may not write, before anybody else is asked."""
        if self.user is None:
            return  # the server itself writes
        name = self.name or (document.get("metadata") or {}).get("name") or ""
        place = (self.kind, name, self.namespace)
        self.state.admit(
            AttemptedWrite(operation, *place, document, old, self.subresource, self.user)
        )

    def attributes(
        self, operation: Operation, document: Document, old: Document | None = None
    ) -> Attributes:
        """Give this write as admission sees it."""
        name = self.name or (document.get("metadata") or {}).get("name") or ""
        return Attributes(
            operation,
            self.kind,
            name,
            name if self.kind.storage_key == NAMESPACES else self.namespace,
            document,
            old,
            self.subresource,
            self.body_kind,
            options={
                "kind": _OPTIONS_OF[operation],
                "apiVersion": "meta.k8s.io/v1",
                **_given_options(self.request),
            },
            dry_run=self.options.dry_run,
            user=self.user or NOBODY,
            warnings=self.warnings,
        )

    async def mutated(
        self, operation: Operation, document: Document, managed: Any, old: Document | None = None
    ) -> tuple[Document, Any]:
        """Give what admission makes of a document, and of its managers."""
        if not self.is_handled(operation):
            return document, managed
        kind = self.body_kind or self.kind
        asked = requested_object(kind, document, namespace=self.namespace, is_new=old is None)
        set_managed(asked, managed)
        made = await self.admission.mutate(self.attributes(operation, asked, old)) or asked
        found = managed_fields_of(made)
        try:
            read_managers(found)
        except DecodeError as error:
            self.warn([f"{_WRONG_MANAGERS}: {error}"])
            return made, managed
        return made, found or []

    async def validated(
        self,
        operation: Operation,
        made: Document,
        old: Document | None = None,
        shown: Callable[[Document], Document] | None = None,
    ) -> None:
        """Let admission look at what will be stored; addresses in it are taken meanwhile."""
        if not self.is_handled(operation):
            return
        seen = made if shown is None else shown(made)
        before = old if shown is None or old is None else shown(old)
        addresses = self.state.addresses if self.kind.storage_key == SERVICES else None
        if addresses is not None:
            addresses.note(made)
        try:
            await self.admission.validate(self.attributes(operation, seen, before))
        finally:
            if addresses is not None:
                addresses.forget(made)
                present = self.state.storage.get(self.key(made["metadata"].get("name", "")))
                if present is not None:
                    addresses.note(present.object)


def _given_options(request: ApiRequest | None) -> Mapping[str, Any]:
    """Give the options of a write as the request says them, with nothing filled in."""
    if request is None:
        return {}
    given = {
        "dryRun": list(request.dry_run),
        "fieldManager": request.text("fieldManager"),
        "fieldValidation": request.text("fieldValidation"),
    }
    return {name: value for name, value in given.items() if value}


def set_managed(made: Document, managed: Any) -> None:
    """Put managers into an object, or take them away."""
    if managed:
        made["metadata"]["managedFields"] = managed
    else:
        made["metadata"].pop("managedFields", None)
