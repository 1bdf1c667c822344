"""Who manages which field after a write: ``managedFields``, for each kind and subresource.

Server-side apply itself is ``patches/server_side_apply.py``; here it meets the kinds: what a
write's target is, what "the object before the server adds anything" means for it, and which
fields a write cannot change and so cannot come to own.

Upstream: apimachinery/pkg/util/managedfields/internal/fieldmanager.go;
pkg/registry/*/*/strategy.go, GetResetFields
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from reflet.apirules.admission import clone
from reflet.apirules.cluster_strategies import CERTIFICATE_REQUESTS, STATUS_WITHOUT_METADATA
from reflet.apirules.defaults.by_type import fill_custom_defaults, fill_defaults
from reflet.apirules.schema.decoding import empty_object
from reflet.apirules.schema.schemas import Structure
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.patches.field_sets import EMPTY, FieldSet
from reflet.devserver.patches.managed_fields import managed_fields_of, with_old_times
from reflet.devserver.patches.server_side_apply import ApplyTarget, apply, track_update
from reflet.gotext.times import time_text

Document = dict[str, Any]

_NOT_FOR_NEW_OBJECTS: Final = ("deletionTimestamp", "deletionGracePeriodSeconds")
_STATUS: Final = FieldSet.of([("f:status",)])
_SPEC: Final = FieldSet.of([("f:spec",)])
# Kinds with a status of their own, all of which are written in two parts.
_IN_TWO_PARTS: Final = frozenset(
    {
        *("namespaces", "nodes", "pods", "services"),
        *("daemonsets.apps", "deployments.apps", "replicasets.apps", "statefulsets.apps"),
        *("cronjobs.batch", "jobs.batch"),
        *("persistentvolumeclaims", "persistentvolumes", "replicationcontrollers"),
        *("resourcequotas", "ingresses.networking.k8s.io", "poddisruptionbudgets.policy"),
        "horizontalpodautoscalers.autoscaling",
        "customresourcedefinitions.apiextensions.k8s.io",
        *STATUS_WITHOUT_METADATA,
    }
)
_METADATA_AND_SPEC: Final = FieldSet.of([("f:metadata",), ("f:spec",)])
_BESIDES_STATUS: Final = MappingProxyType(
    {
        **dict.fromkeys(STATUS_WITHOUT_METADATA, _METADATA_AND_SPEC),
        "pods": FieldSet.of(
            [
                ("f:spec",),
                ("f:metadata", "f:deletionTimestamp"),
                ("f:metadata", "f:ownerReferences"),
            ]
        ),
        "deployments.apps": FieldSet.of([("f:spec",), ("f:metadata", "f:labels")]),
    }
)

_OF_CERTIFICATE_REQUESTS: Final = MappingProxyType(
    {
        "": FieldSet.of([("f:spec",), ("f:status",)]),
        "status": FieldSet.of([("f:spec",), ("f:status", "f:conditions")]),
        "approval": FieldSet.of([("f:spec",), ("f:status", "f:certificate")]),
    }
)


@dataclass(frozen=True, slots=True)
class FieldManager:
    """The fields of one kind, and a manager that writes to it at a moment."""

    kind: ServedKind
    subresource: str
    manager: str
    now: datetime

    @property
    def target(self) -> ApplyTarget:
        """What is written to."""
        kind = self.kind
        if kind.custom is not None:
            reset = custom_reset_fields(self.subresource, has_status=kind.has_status)
            blank: Document = {}
        else:
            reset = reset_fields(kind.storage_key, self.subresource)
            structure = kind.schema.structure
            blank = {} if structure is None else _blank(structure)
        return ApplyTarget(
            schema=kind.schema,
            api_version=kind.api_version,
            kind=kind.kind,
            blank=blank,
            subresource=self.subresource,
            reset=reset,
        )

    @property
    def _moment(self) -> str:
        # The real server forgets the time of whoever writes to the scale subresource.
        return "" if self.subresource == "scale" else time_text(self.now)

    def after_create(self, document: Document) -> Any:
        """Give the managers of a new object."""
        made = self._with_defaults(document)
        for name in _NOT_FOR_NEW_OBJECTS:
            (made.get("metadata") or {}).pop(name, None)
        return managed_fields_of(self._tracked(None, made))

    def after_update(self, live: Document, document: Document, made: Document) -> Any:
        """Give the managers after an update, of which ``made`` is the result."""
        wanted = self._with_defaults(document)
        if self.subresource:
            # What the subresource cannot change is no change.
            wanted = {**made, "metadata": {**made["metadata"]}}
            given = managed_fields_of(document)
            if given is not None:
                wanted["metadata"]["managedFields"] = given
        return managed_fields_of(self._tracked(live, wanted))

    def applied(self, live: Document | None, document: Document, *, force: bool) -> Document:
        """Give the object after an apply, with its managers."""
        return apply(
            self.target,
            live,
            document,
            manager=self.manager,
            force=force,
            now=self._moment,
        )

    def unless_only_times_differ(self, live: Document, made: Document) -> Document:
        """Give the live object in place of one that differs in the times of managers only."""
        version = live["metadata"].get("resourceVersion")
        if version is None:
            return dict(with_old_times(live, made))
        labelled = {**made, "metadata": {**made["metadata"], "resourceVersion": version}}
        return dict(with_old_times(live, labelled))

    def _tracked(self, live: Document | None, new: Document) -> Document:
        return track_update(self.target, live, new, manager=self.manager, now=self._moment)

    def _with_defaults(self, document: Document) -> Document:
        made: Document = clone(document)
        if self.kind.custom is None:
            fill_defaults(self.kind.schema, made)
            if self.kind.storage_key == "secrets":
                _name_as_data(made)
        else:
            fill_custom_defaults(self.kind.schema, made)
        return made


@cache
def _blank(structure: Structure) -> Document:
    """Give the empty object of a recorded type, which everybody shares."""
    return empty_object(structure)


def _name_as_data(secret: Document) -> None:
    """Let whoever writes ``stringData`` own what it becomes, the keys of ``data``."""
    texts = secret.pop("stringData", None)
    if texts:
        secret["data"] = {**secret.get("data", {}), **texts}


def reset_fields(resource: str, subresource: str = "") -> FieldSet:
    """Give the fields for a built-in resource, ``pods`` or ``deployments.apps``."""
    if resource == CERTIFICATE_REQUESTS:
        return _OF_CERTIFICATE_REQUESTS[subresource]
    if resource not in _IN_TWO_PARTS:
        return EMPTY
    if subresource in ("", "finalize"):
        return _STATUS
    return _BESIDES_STATUS.get(resource, _SPEC) if subresource == "status" else EMPTY


def custom_reset_fields(subresource: str = "", *, has_status: bool) -> FieldSet:
    """Give the fields for a custom resource, which has a status part or not."""
    if subresource == "status":
        return _METADATA_AND_SPEC
    return _STATUS if has_status else EMPTY
