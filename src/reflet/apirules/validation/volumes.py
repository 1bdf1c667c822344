"""The rules of volumes and of their sources.

Upstream: pkg/apis/core/validation/validation.go, ValidateVolumes
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from reflet.api.quantities import Quantity
from reflet.apirules.validation import names
from reflet.apirules.validation.environment import (
    VOLUME_FIELDS,
    check_field_reference,
    check_resource_reference,
)
from reflet.apirules.validation.field_errors import FieldErrors

Document = Mapping[str, Any]

BAD_MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
SHORTEST_TOKEN: Final = 600  # seconds
_HIGHEST_MODE: Final = 0o777
_HOST_PATH_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
# The order in which the real server looks at them, and so complains about the second.
_SOURCES: Final = (
    *("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret"),
    *("nfs", "iscsi", "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs"),
    *("quobyte", "downwardAPI", "fc", "flexVolume", "configMap", "azureFile", "vsphereVolume"),
    *("photonPersistentDisk", "portworxVolume", "azureDisk", "storageos", "projected", "scaleIO"),
    *("csi", "ephemeral", "image"),
)


def check_volumes(
    volumes: Sequence[Document], path: str, errors: FieldErrors
) -> dict[str, Document]:
    """Check the volumes, and give those that are good by their names."""
    good: dict[str, Document] = {}
    for index, volume in enumerate(volumes):
        here = f"{path}[{index}]"
        before = len(errors)
        _check_sources(volume, here, errors)
        name = volume.get("name", "")
        if not name:
            errors.required(f"{here}.name")
        else:
            errors.each_invalid(f"{here}.name", name, names.dns_label(name))
        if name in good:
            errors.duplicate(f"{here}.name", name)
        if len(errors) == before:
            good[name] = volume
    return good


def _check_sources(volume: Document, path: str, errors: FieldErrors) -> None:
    used = [source for source in _SOURCES if volume.get(source) is not None]
    for source in used[:1]:
        check = _CHECKS.get(source)
        if check is not None:
            check(volume[source], f"{path}.{source}", errors)
    for source in used[1:]:
        errors.forbidden(f"{path}.{source}", "may not specify more than 1 volume type")
    if not used:
        errors.required(path, "must specify a volume type")


def _empty_dir(source: Document, path: str, errors: FieldErrors) -> None:
    limit = source.get("sizeLimit")
    if limit is not None and Quantity.parse(limit).nanos < 0:
        errors.forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def check_host_path(source: Document, path: str, errors: FieldErrors) -> None:
    """Check a folder, file or device of the node."""
    if not source.get("path"):
        errors.required(f"{path}.path")
        return
    check_no_way_up(source["path"], f"{path}.path", errors)
    kind = source.get("type") or ""
    if kind not in _HOST_PATH_TYPES:
        errors.not_supported(f"{path}.type", kind, _HOST_PATH_TYPES)


def _secret(source: Document, path: str, errors: FieldErrors) -> None:
    if not source.get("secretName"):
        errors.required(f"{path}.secretName")
    check_mode(source.get("defaultMode"), f"{path}.defaultMode", errors)
    _check_items(source, path, errors)


def _config_map(source: Document, path: str, errors: FieldErrors) -> None:
    if not source.get("name"):
        errors.required(f"{path}.name")
    check_mode(source.get("defaultMode"), f"{path}.defaultMode", errors)
    _check_items(source, path, errors)


def _check_items(source: Document, path: str, errors: FieldErrors) -> None:
    for index, item in enumerate(source.get("items") or ()):
        _check_item(item, f"{path}.items[{index}]", errors)


def _check_item(item: Document, path: str, errors: FieldErrors) -> None:
    for name in ("key", "path"):
        if not item.get(name):
            errors.required(f"{path}.{name}")
    check_inside(item.get("path", ""), f"{path}.path", errors)
    check_mode(item.get("mode"), f"{path}.mode", errors)


def _claim(source: Document, path: str, errors: FieldErrors) -> None:
    if not source.get("claimName"):
        errors.required(f"{path}.claimName")


def _downward(source: Document, path: str, errors: FieldErrors) -> None:
    check_mode(source.get("defaultMode"), f"{path}.defaultMode", errors)
    for item in source.get("items") or ():
        _check_downward_file(item, path, errors)


def _check_downward_file(item: Document, path: str, errors: FieldErrors) -> None:
    if not item.get("path"):
        errors.required(f"{path}.path")
    check_inside(item.get("path", ""), f"{path}.path", errors)
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if field is not None:
        check_field_reference(field, VOLUME_FIELDS, f"{path}.fieldRef", errors)
        if resource is not None:
            said = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.invalid(path, "resource", said)
    elif resource is not None:
        check_resource_reference(resource, f"{path}.resourceFieldRef", errors, in_volume=True)
    else:
        errors.required(path, "one of fieldRef and resourceFieldRef is required")
    check_mode(item.get("mode"), f"{path}.mode", errors)


def _projected(source: Document, path: str, errors: FieldErrors) -> None:
    check_mode(source.get("defaultMode"), f"{path}.defaultMode", errors)
    paths: set[str] = set()
    for index, part in enumerate(source.get("sources") or ()):
        here = f"{path}.sources[{index}]"
        used = [name for name in _PROJECTIONS if part.get(name) is not None]
        for name in ("secret", "configMap"):
            if name in used:
                if not part[name].get("name"):
                    errors.required(f"{here}.{name}.name")
                for number, item in enumerate(part[name].get("items") or ()):
                    _check_item(item, f"{here}.{name}.items[{number}]", errors)
                    shown = part[name].get("name", "")
                    _check_path_once(item.get("path", ""), shown, paths, path, errors)
        if "downwardAPI" in used:
            for item in part["downwardAPI"].get("items") or ():
                _check_downward_file(item, f"{here}.downwardAPI", errors)
                _check_path_once(item.get("path", ""), item.get("path", ""), paths, path, errors)
        if "serviceAccountToken" in used:
            _check_token(part["serviceAccountToken"], path, here, errors)
        if len(used) > 1:
            errors.forbidden(here, "may not specify more than 1 volume type per source")


_PROJECTIONS: Final = (
    *("secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle"),
    "podCertificate",
)


def _check_path_once(
    used: str, shown: str, paths: set[str], path: str, errors: FieldErrors
) -> None:
    if used and used in paths:
        errors.invalid(path, shown, "conflicting duplicate paths")
    paths.add(used)


def _check_token(token: Document, volume: str, path: str, errors: FieldErrors) -> None:
    seconds = token.get("expirationSeconds")
    here = f"{path}.serviceAccountToken.expirationSeconds"
    if seconds is not None and seconds < SHORTEST_TOKEN:
        errors.invalid(here, seconds, "may not specify a duration less than 10 minutes")
    if seconds is not None and seconds > 2**32:
        errors.invalid(here, seconds, "may not specify a duration larger than 2^32 seconds")
    if not token.get("path"):
        errors.required(f"{volume}.path")
    else:
        check_inside(token["path"], f"{volume}.path", errors)


def check_mode(mode: int | None, path: str, errors: FieldErrors) -> None:
    """Check the mode of a file."""
    if mode is not None and not 0 <= mode <= _HIGHEST_MODE:
        errors.invalid(path, mode, BAD_MODE)


def check_no_way_up(target: str, path: str, errors: FieldErrors) -> None:
    """Check that a path has no ``..`` in it."""
    if ".." in target.split("/"):
        errors.invalid(path, target, "must not contain '..'")


def check_downwards(target: str, path: str, errors: FieldErrors) -> None:
    """Check that a path is relative and leads downwards."""
    if target.startswith("/"):
        errors.invalid(path, target, "must be a relative path")
    check_no_way_up(target, path, errors)


def check_inside(target: str, path: str, errors: FieldErrors) -> None:
    """Check that a path leads downwards and is none that a volume uses itself."""
    check_downwards(target, path, errors)
    if target.startswith("..") and not target.startswith("../"):
        errors.invalid(path, target, "must not start with '..'")


_CHECKS: Final[Mapping[str, Callable[[Document, str, FieldErrors], None]]] = {
    "emptyDir": _empty_dir,
    "hostPath": check_host_path,
    "secret": _secret,
    "configMap": _config_map,
    "persistentVolumeClaim": _claim,
    "downwardAPI": _downward,
    "projected": _projected,
}
