"""Objects in the version that was asked for, and in the one in which they are stored.

Events are stored as core events and shown as those of ``events.k8s.io`` too, autoscalers are stored
as ``autoscaling/v2``; custom kinds differ between versions in their ``apiVersion`` alone, because
no conversion webhook is ever called.

Upstream: pkg/apis/events/v1/conversion.go;
apiextensions-apiserver/pkg/apiserver/conversion/nop_converter.go
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.verbs.autoscaler_versions import AUTOSCALERS, new_autoscaler, old_autoscaler

Document = dict[str, Any]

EVENTS: Final = "events"
CORE_EVENT: Final = "v1"

_NEW_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "involvedObject": "regarding",
        "message": "note",
        "source": "deprecatedSource",
        "firstTimestamp": "deprecatedFirstTimestamp",
        "lastTimestamp": "deprecatedLastTimestamp",
        "count": "deprecatedCount",
        "reportingComponent": "reportingController",
    }
)
_OLD_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {new: old for old, new in _NEW_NAMES.items()}
)
# What each form always writes, even when there is nothing to say.
_ALWAYS_OLD: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "involvedObject": {},
        "source": {},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": None,
        "reportingComponent": "",
        "reportingInstance": "",
    }
)
_ALWAYS_NEW: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "eventTime": None,
        "regarding": {},
        "deprecatedSource": {},
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
    }
)


def is_storage_version(kind: ServedKind) -> bool:
    """Whether objects of the kind are kept in the very version that the kind is."""
    if kind.storage_key == EVENTS:
        return kind.api_version == CORE_EVENT
    return kind.version == kind.storage_version


def in_version(kind: ServedKind, stored: Document) -> Document:
    """Give a stored object in the version of a kind."""
    if stored.get("apiVersion") == kind.api_version:
        return stored
    if kind.storage_key == EVENTS:
        renamed = _renamed(stored, _NEW_NAMES, "events.k8s.io/v1")
        if renamed.get("reportingController") == "":
            del renamed["reportingController"]
        if renamed.get("reportingInstance") == "":
            del renamed["reportingInstance"]
        return {**_ALWAYS_NEW, **renamed}
    if kind.storage_key == AUTOSCALERS:
        return old_autoscaler(stored)
    return {**stored, "apiVersion": kind.api_version}


def in_storage_version(kind: ServedKind, document: Document) -> Document:
    """Give an object of a kind in the version in which it is kept."""
    if kind.storage_key == EVENTS:
        if document.get("apiVersion") == CORE_EVENT:
            return document
        renamed = _renamed(document, _OLD_NAMES, CORE_EVENT)
        return {**renamed, **{k: v for k, v in _ALWAYS_OLD.items() if k not in renamed}}
    version = f"{kind.group}/{kind.storage_version}" if kind.group else kind.storage_version
    if document.get("apiVersion") == version:
        return document
    if kind.storage_key == AUTOSCALERS:
        return new_autoscaler(document)
    return {**document, "apiVersion": version}


def _renamed(document: Document, names: Mapping[str, str], api_version: str) -> Document:
    made = {names.get(name, name): value for name, value in document.items()}
    made["apiVersion"] = api_version
    return made
