"""Values as the real server's messages show them: under the names of its internal types.

A message that shows a part of an object shows it as the server holds it, with every field, and
one about a part that may not change shows a unified difference of two such texts.

Upstream: pkg/apis/core/types.go; apimachinery/pkg/util/diff/diff.go
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.schema.schemas import ANYTHING, Schema
from reflet.apirules.schema.served_kind import ServedKind

Document = Mapping[str, Any]

# These types are used by the server as they are, so they keep their JSON form.
_META: Final = "io.k8s.apimachinery."
_OBJECT_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_ZERO: Final[Mapping[str, Any]] = {"string": "", "bool": False, "int32": 0, "int64": 0}
_RBD: Final = "io.k8s.api.core.v1.RBDPersistentVolumeSource"
_NAMES: Final[Mapping[str, str]] = {
    "apiGroup": "APIGroup",
    "apiGroups": "APIGroups",
    "apiVersion": "APIVersion",
    "awsElasticBlockStore": "AWSElasticBlockStore",
    "cel": "CEL",
    "cephfs": "CephFS",
    "chapAuthDiscovery": "DiscoveryCHAPAuth",
    "chapAuthSession": "SessionCHAPAuth",
    "csi": "CSI",
    "diskURI": "DataDiskURI",
    "endpoints": "EndpointsName",
    "fc": "FC",
    "fsType": "FSType",
    "gcePersistentDisk": "GCEPersistentDisk",
    "iqn": "IQN",
    "iscsi": "ISCSI",
    "iscsiInterface": "ISCSIInterface",
    "nfs": "NFS",
    "pdName": "PDName",
    "rbd": "RBD",
    "sslEnabled": "SSLEnabled",
    "storageos": "StorageOS",
    "uid": "UID",
    "wwids": "WWIDs",
}
_NAMES_IN_RBD: Final[Mapping[str, str]] = {
    "monitors": "CephMonitors",
    "image": "RBDImage",
    "pool": "RBDPool",
    "user": "RadosUser",
}


def internal_view(schema: Schema, value: Any) -> Any:
    """Show a value that stands where ``schema`` describes it."""
    if value is None:
        return None if schema.pointer else _zero(schema)
    match schema.shape:
        case "object" if not schema.type_name.startswith(_META):
            return _object(schema, value)
        case "list" if schema.items is not None:
            return [internal_view(schema.items, item) for item in value]
        case "map" if schema.values is not None:
            return {key: internal_view(schema.values, value[key]) for key in sorted(value)}
        case _:
            return value


def internal_field(kind: ServedKind, document: Document, *path: str) -> Any:
    """Show a field of an object of a kind."""
    schema: Schema = kind.schema
    value: Any = document
    for name in path:
        schema, value = schema.field(name) or ANYTHING, (value or {}).get(name)
    return internal_view(schema, value)


def _object(schema: Schema, value: Document) -> dict[str, Any]:
    structure = schema.structure
    if structure is None:
        return dict(value)
    special = _NAMES_IN_RBD if structure.type_name == _RBD else {}
    shown: dict[str, Any] = {}
    for name, field in structure.fields.items():
        if field.type_name == _OBJECT_META:
            shown |= value.get(name) or {}  # embedded, so that its fields stand among the others
        else:
            shown[special.get(name) or internal_name(name)] = internal_view(field, value.get(name))
    return shown


def internal_name(name: str) -> str:
    """Give the name that a field of the API has in the server."""
    return _NAMES.get(name) or name[:1].upper() + name[1:]


def _zero(schema: Schema) -> Any:
    if schema.shape == "object":
        return internal_view(schema, {})
    return _ZERO.get(schema.shape)


def is_same(old: Any, new: Any) -> bool:
    """Whether two views mean the same: an empty list or map is as good as none."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(is_same(old[name], new[name]) for name in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(is_same, old, new))
    empty: tuple[Any, ...] = (None, [], {})
    return (old in empty and new in empty) or bool(old == new)


def difference(old: Any, new: Any) -> str:
    """Write how two views differ, as a unified difference of three lines around each change."""
    before, after = (
        [f"{line}\n" for line in json.dumps(view, indent=1, ensure_ascii=False).split("\n")]
        for view in (old, new)
    )
    # The first two lines would name files.
    return "".join(list(difflib.unified_diff(before, after, n=3))[2:])
