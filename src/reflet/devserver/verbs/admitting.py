"""Admission of what writing.py does not write: deletes, and bodies that are acted on, not stored.

Upstream: apiserver/pkg/registry/rest/delete.go, AdmissionToValidateObjectDeleteFunc;
apiserver/pkg/endpoints/handlers/{create,delete}.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.admission.attributes import AdmittedTarget, Attributes
from reflet.devserver.request.authentication import UserInfo
from reflet.devserver.request.request_info import ApiRequest
from reflet.devserver.request.request_options import DeleteOptions
from reflet.devserver.storage.stored import Stored
from reflet.devserver.verbs.admitted_writing import AdmittedWriting
from reflet.devserver.verbs.conversion import in_version
from reflet.devserver.verbs.deleting import check_deletable
from reflet.devserver.verbs.field_managers import FieldManager
from reflet.devserver.verbs.reading import find
from reflet.devserver.verbs.state import NAMESPACES, State
from reflet.errors import NotFound

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Deletion:
    """A request to delete one object or, without a name, many; ``body`` has its options, if any."""

    state: State
    kind: ServedKind
    namespace: str
    options: DeleteOptions
    request: ApiRequest
    body: Document | None
    user: UserInfo
    warnings: list[str]
    name: str = ""

    async def admit(self, name: str) -> None:
        """Let admission look at an object that shall go.

        When it returns, the object is as admission has seen it.
        """
        admission, storage = self.state.admission, self.state.storage
        if not admission.handles(AdmittedTarget(self.kind, "", "DELETE")):
            return
        while True:
            stored = find(storage, self.kind, self.namespace, name)
            check_deletable(self.state, self.kind, stored, self.options, self.user)
            given = _given_options(self.request, self.body)
            if self.kind.storage_key == NAMESPACES:
                given.setdefault("preconditions", {"uid": stored.object["metadata"].get("uid")})
            attributes = Attributes(
                "DELETE",
                self.kind,
                self.name,
                self.name if self.kind.storage_key == NAMESPACES else self.namespace,
                None,
                in_version(self.kind, stored.object),
                options=given,
                dry_run=self.options.dry_run,
                user=self.user,
                warnings=self.warnings,
            )
            await admission.mutate(attributes)
            await admission.validate(attributes)
            if storage.get(stored.key) is stored:
                return

    async def admit_one_of_many(self, stored: Stored) -> None:
        """Let admission look at an object of a collection, if it is still there."""
        try:
            await self.admit(stored.key.name)
        except NotFound:
            return


def _given_options(request: ApiRequest, body: Document | None) -> Document:
    """Give the options of a delete as its body says them or, without one, its query."""
    given: Mapping[str, Any] = body or {
        "gracePeriodSeconds": request.integer("gracePeriodSeconds"),
        "propagationPolicy": request.text("propagationPolicy") or None,
        "orphanDependents": request.optional_flag("orphanDependents"),
        "dryRun": list(request.dry_run) or None,
    }
    said = {name: value for name, value in given.items() if value is not None}
    return {**said, "kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}


def _as_it_is(document: Document) -> Document:
    return document


async def admitted(
    writing: AdmittedWriting, document: Document, settle: Callable[[Document], Document] = _as_it_is
) -> Document:
    """Give a body that is acted on as admission wants it.

    ``settle`` checks and completes it, after it was mutated and before it is validated.
    """
    if not writing.is_handled("CREATE"):
        return settle(document)
    kind = writing.body_kind or writing.kind
    manager = FieldManager(kind, writing.subresource, writing.options.manager, writing.state.now())
    made, managed = await writing.mutated("CREATE", document, manager.after_create(document))
    if managed:
        made["metadata"]["managedFields"] = managed
    made = settle(made)
    await writing.validated("CREATE", made)
    return made
