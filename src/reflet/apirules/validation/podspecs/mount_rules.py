"""The rules of what containers mount, as folders and as devices.

Upstream: pkg/apis/core/validation/validation.go, ValidateVolumeMounts and ValidateVolumeDevices
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.volumes import check_downwards

Document = Mapping[str, Any]

PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
RECURSIONS: Final = ("Disabled", "Enabled", "IfPossible")
_CLAIMS: Final = ("persistentVolumeClaim", "ephemeral")


def check_mounts(
    container: Document, volumes: Mapping[str, Document], path: str, errors: FieldErrors
) -> None:
    """Check what a container mounts; ``volumes`` are the good ones of its pod, by name."""
    devices = container.get("volumeDevices") or ()
    taken = {each.get("name", ""): each.get("devicePath", "") for each in devices}
    targets: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        here = f"{path}.volumeMounts[{index}]"
        name, target = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            errors.required(f"{here}.name")
        if name not in volumes:
            errors.not_found(f"{here}.name", name)
        if not target:
            errors.required(f"{here}.mountPath")
        if target in targets:
            errors.invalid(f"{here}.mountPath", target, "must be unique")
        targets.add(target)
        if name in taken:
            errors.invalid(f"{here}.name", name, "must not already exist in volumeDevices")
        if target in taken.values():
            said = "must not already exist as a path in volumeDevices"
            errors.invalid(f"{here}.mountPath", target, said)
        _check_details(mount, container, f"{path}.volumeMounts", here, errors)


def _check_details(
    mount: Document, container: Document, path: str, here: str, errors: FieldErrors
) -> None:
    below, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
    if below:
        check_downwards(below, f"{path}.subPath", errors)
    if expression:
        if below:
            said = "subPathExpr and subPath are mutually exclusive"
            errors.invalid(f"{here}.subPathExpr", expression, said)
        check_downwards(expression, f"{path}.subPathExpr", errors)
    propagation = mount.get("mountPropagation")
    if propagation is not None and propagation not in PROPAGATIONS:
        errors.not_supported(f"{path}.mountPropagation", propagation, PROPAGATIONS)
    privileged = (container.get("securityContext") or {}).get("privileged")
    if propagation == "Bidirectional" and not privileged:
        said = "Bidirectional mount propagation is available only to privileged containers"
        errors.forbidden(f"{path}.mountPropagation", said)
    recursive, place = mount.get("recursiveReadOnly"), f"{path}.recursiveReadOnly"
    if recursive is not None and recursive not in RECURSIONS:
        errors.not_supported(place, recursive, RECURSIONS)
    elif recursive in {"Enabled", "IfPossible"}:
        if not mount.get("readOnly"):
            errors.forbidden(place, "may only be specified when readOnly is true")
        if propagation not in {None, "None"}:
            said = "may only be specified when mountPropagation is None or not specified"
            errors.forbidden(place, said)


def check_devices(
    container: Document, volumes: Mapping[str, Document], path: str, errors: FieldErrors
) -> None:
    """Check which volumes a container gets as bare devices."""
    mounts = container.get("volumeMounts") or ()
    taken = {each.get("name", ""): each.get("mountPath", "") for each in mounts}
    seen: set[str] = set()
    targets: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices") or ()):
        here = f"{path}.volumeDevices[{index}]"
        name, target = device.get("name", ""), device.get("devicePath", "")
        if not name:
            errors.required(f"{here}.name")
        if name in seen:
            errors.invalid(f"{here}.name", name, "must be unique")
        volume = volumes.get(name)
        if volume is None:
            errors.not_found(f"{here}.name", name)
        elif all(volume.get(source) is None for source in _CLAIMS):
            said = (
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block "
                "mode"
            )
            errors.invalid(f"{here}.name", name, said)
        if not target:
            errors.required(f"{here}.devicePath")
        if target in targets:
            errors.invalid(f"{here}.devicePath", target, "must be unique")
        if ".." in target.split("/"):
            errors.invalid(f"{here}.devicePath", target, "can not contain backsteps ('..')")
        else:
            targets.add(target)
        if name in taken:
            errors.invalid(f"{here}.name", name, "must not already exist in volumeMounts")
        if target in taken.values():
            said = "must not already exist as a path in volumeMounts"
            errors.invalid(f"{here}.devicePath", target, said)
        if name:
            seen.add(name)
