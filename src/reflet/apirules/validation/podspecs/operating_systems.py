"""The rules of pods for one operating system, and of pods that share the host's things.

Upstream: pkg/apis/core/validation/validation.go, validateOS, validateHostUsers and
validateWindowsHostProcessPod
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from reflet.apirules.validation.field_errors import FieldErrors

Document = Mapping[str, Any]

SYSTEMS: Final = ("linux", "windows")
_NOT_ON_WINDOWS: Final = "cannot be set for a windows pod"
# In the order in which they are looked at, with the places where the API keeps them.
_PODS_WITHOUT: Final = (
    *("securityContext.appArmorProfile", "securityContext.seLinuxOptions", "hostUsers"),
    *("hostPID", "hostIPC", "securityContext.seccompProfile", "securityContext.fsGroup"),
    *("securityContext.fsGroupChangePolicy", "securityContext.sysctls", "shareProcessNamespace"),
    *("securityContext.runAsUser", "securityContext.runAsGroup"),
    *("securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy"),
    "securityContext.seLinuxChangePolicy",
)
_CONTAINERS_WITHOUT: Final = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities"),
    *("readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount"),
    *("runAsUser", "runAsGroup"),
)
# Of these, only what is switched on counts.
_SWITCHES: Final = frozenset({"hostPID", "hostIPC", "securityContext.sysctls"})


def all_containers(spec: Document, path: str) -> Iterator[tuple[Document, str]]:
    """Yield the containers of a pod with their places, in the order in which they start."""
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            yield container, f"{path}.{kind}[{index}]"


def check_operating_system(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check that a pod asks for nothing that its system does not have."""
    if spec.get("os") is None:
        return
    name = spec["os"].get("name", "")
    if not name:
        errors.required(f"{path}.os.name")
    elif name not in SYSTEMS:
        errors.not_supported(f"{path}.os", name, SYSTEMS)
    elif name == "linux":
        _check_linux(spec, path, errors)
    else:
        _check_windows(spec, path, errors)


def _check_linux(spec: Document, path: str, errors: FieldErrors) -> None:
    said = "windows options cannot be set for a linux pod"
    for holder, here in ((spec, path), *all_containers(spec, path)):
        if (holder.get("securityContext") or {}).get("windowsOptions") is not None:
            errors.forbidden(f"{here}.securityContext.windowsOptions", said)


def _check_windows(spec: Document, path: str, errors: FieldErrors) -> None:
    for place in _PODS_WITHOUT:
        value: Any = spec
        for name in place.split("."):
            value = (value or {}).get(name)
        if value if place in _SWITCHES else value is not None:
            errors.forbidden(f"{path}.{place}", _NOT_ON_WINDOWS)
    for container, here in all_containers(spec, path):
        security = container.get("securityContext") or {}
        for name in _CONTAINERS_WITHOUT:
            if security.get(name) is not None:
                errors.forbidden(f"{here}.securityContext.{name}", _NOT_ON_WINDOWS)


def check_host_users(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check that a pod with users of its own shares nothing else with the host."""
    if spec.get("hostUsers") is not False:
        return
    said = "when `hostUsers` is false"
    for name, shown in (
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ):
        if spec.get(name):
            errors.forbidden(f"{path}.{shown}", said)
    for container, here in all_containers(spec, path):
        if container.get("volumeDevices"):
            errors.forbidden(f"{here}.volumeDevices", said)


def check_host_processes(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check that containers that are processes of a Windows host are so all of them."""
    whole = _host_process(spec)
    containers = list(all_containers(spec, path))
    count = 0
    for container, here in containers:
        own = _host_process(container)
        if whole is not None and own is not None and whole != own:
            was = str(whole).lower()
            said = f"pod hostProcess value must be identical if both are specified, was {was}"
            errors.invalid(f"{here}.securityContext.windowsOptions.hostProcess", own, said)
        count += bool(whole if own is None else own)
    if not count:
        return
    if count != len(containers):
        said = (
            "If pod contains any hostProcess containers then all containers must be HostProcess "
            "containers"
        )
        errors.invalid(path, "", said)
    if not spec.get("hostNetwork"):
        said = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.invalid(f"{path}.hostNetwork", False, said)


def _host_process(holder: Document) -> bool | None:
    options = (holder.get("securityContext") or {}).get("windowsOptions") or {}
    found: bool | None = options.get("hostProcess")
    return found
