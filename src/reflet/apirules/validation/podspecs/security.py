"""The rules of what pods and containers may do: profiles, kernel settings, Windows' options.

Upstream: pkg/apis/core/validation/validation.go, validatePodSpecSecurityContext and
ValidateSecurityContext
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.volumes import check_downwards
from reflet.gotext.lazy_patterns import lazy_pattern

Document = Mapping[str, Any]

HIGHEST_ID: Final = 2**31 - 1  # of users and groups
LONGEST_SYSCTL: Final = 253
LONGEST_PROFILE: Final = 4095  # bytes of a path
LONGEST_CREDENTIALS: Final = 64 * 1024  # bytes
LONGEST_DOMAIN: Final = 256
LONGEST_USER: Final = 104
PROFILE_TYPES: Final = ("Localhost", "RuntimeDefault", "Unconfined")

_SEGMENT: Final = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL_FORM: Final = rf"({_SEGMENT}[\./])*{_SEGMENT}"
_SYSCTL: Final = lazy_pattern(_SYSCTL_FORM)
_POLICIES: Final = {
    "fsGroupChangePolicy": ("Always", "OnRootMismatch"),
    "supplementalGroupsPolicy": ("Merge", "Strict"),
    "seLinuxChangePolicy": ("Recursive",),  # others belong to a feature that is off
}
_OF_IPC: Final = ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")
_CONTROL: Final = lazy_pattern("[\x00-\x1f\x7f]")
_NET_BIOS: Final = lazy_pattern(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_USER_DOMAIN: Final = lazy_pattern(
    r"[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)*"
)
_NOT_IN_USERS: Final = frozenset('"/\\:;|=,+*?<>@[]')


def check_pod_security(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check the security context of a pod; ``path`` is that of its spec."""
    security, here = spec.get("securityContext") or {}, f"{path}.securityContext"
    for name in ("fsGroup", "runAsUser", "runAsGroup"):
        check_id(security.get(name), f"{here}.{name}", errors)
    for index, group in enumerate(security.get("supplementalGroups") or ()):
        check_id(group, f"{here}.supplementalGroups[{index}]", errors)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        said = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.invalid(f"{here}.shareProcessNamespace", True, said)
    _check_sysctls(spec, f"{here}.sysctls", errors)
    _check_policy(security, "fsGroupChangePolicy", here, errors)
    check_seccomp(security.get("seccompProfile"), f"{here}.seccompProfile", errors)
    check_windows_options(security.get("windowsOptions") or {}, f"{here}.windowsOptions", errors)
    check_app_armor(security.get("appArmorProfile"), f"{here}.appArmorProfile", errors)
    for name in ("supplementalGroupsPolicy", "seLinuxChangePolicy"):
        _check_policy(security, name, here, errors)


def _check_policy(security: Document, name: str, path: str, errors: FieldErrors) -> None:
    policy = security.get(name)
    if policy is not None and policy not in _POLICIES[name]:
        errors.not_supported(f"{path}.{name}", policy, _POLICIES[name])


def check_id(number: int | None, path: str, errors: FieldErrors) -> None:
    """Check the number of a user or a group."""
    if number is not None and not 0 <= number <= HIGHEST_ID:
        errors.invalid(path, number, names.out_of_range(0, HIGHEST_ID))


def _check_sysctls(spec: Document, path: str, errors: FieldErrors) -> None:
    seen: set[str] = set()
    for index, sysctl in enumerate((spec.get("securityContext") or {}).get("sysctls") or ()):
        here, name = f"{path}[{index}].name", sysctl.get("name", "")
        if not name:
            errors.required(here)
        elif len(name.encode()) > LONGEST_SYSCTL or not _SYSCTL.fullmatch(name):
            said = f"must have at most {LONGEST_SYSCTL} characters and match regex"
            errors.invalid(here, name, f"{said} ^{_SYSCTL_FORM}$")
        elif name in seen:
            errors.duplicate(here, name)
        seen.add(name)
        dotted = _dotted(name)
        if spec.get("hostNetwork") and dotted.startswith("net."):
            errors.invalid(here, name, "may not be specified when 'hostNetwork' is true")
        elif spec.get("hostIPC") and dotted.startswith(_OF_IPC):
            errors.invalid(here, name, "may not be specified when 'hostIPC' is true")


def _dotted(name: str) -> str:
    """Write a kernel setting with dots, whichever of the two ways it is written in."""
    first = next((character for character in name if character in "./"), ".")
    return name if first == "." else name.translate(str.maketrans("./", "/."))


def check_seccomp(profile: Document | None, path: str, errors: FieldErrors) -> None:
    """Check a seccomp profile."""
    if profile is None:
        return
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        errors.required(f"{path}.type", "type is required when seccompProfile is set")
    elif kind not in PROFILE_TYPES:
        errors.not_supported(f"{path}.type", kind, PROFILE_TYPES)
    here = f"{path}.localhostProfile"
    if kind == "Localhost":
        if local is None:
            errors.required(here, "must be set when seccomp type is Localhost")
        else:
            check_downwards(local, here, errors)
    elif local is not None:
        shown = {"Type": kind, "LocalhostProfile": local}
        errors.invalid(here, shown, "can only be set when seccomp type is Localhost")


def check_app_armor(profile: Document | None, path: str, errors: FieldErrors) -> None:
    """Check an AppArmor profile."""
    if profile is None:
        return
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    here = f"{path}.localhostProfile"
    if kind == "Localhost":
        if not local:
            errors.required(here, "must be set when AppArmor type is Localhost")
        elif local != local.strip():
            errors.invalid(here, local, "must not be padded with whitespace")
        if len((local or "").encode()) > LONGEST_PROFILE:
            errors.too_long(here, LONGEST_PROFILE)
    elif kind in PROFILE_TYPES:
        if local is not None:
            errors.invalid(here, local, "can only be set when AppArmor type is Localhost")
    elif not kind:
        errors.required(f"{path}.type", "type is required when appArmorProfile is set")
    else:
        errors.not_supported(f"{path}.type", kind, PROFILE_TYPES)


def check_windows_options(options: Document, path: str, errors: FieldErrors) -> None:
    """Check as whom a container runs on Windows."""
    name, credentials = options.get("gmsaCredentialSpecName"), options.get("gmsaCredentialSpec")
    if name is not None:
        here = f"{path}.gmsaCredentialSpecName"
        errors.each_invalid(here, name, names.dns_subdomain(name))
    here = f"{path}.gmsaCredentialSpec"
    if credentials == "":
        errors.invalid(here, "", "gmsaCredentialSpec cannot be an empty string")
    elif len((credentials or "").encode()) > LONGEST_CREDENTIALS:
        said = f"gmsaCredentialSpec size must be under {LONGEST_CREDENTIALS // 1024} KiB"
        errors.invalid(here, credentials, said)
    user = options.get("runAsUserName")
    if user is not None:
        errors.each_invalid(f"{path}.runAsUserName", user, _wrong_user(user))


def _wrong_user(name: str) -> list[str]:
    field = "runAsUserName"
    if not name:
        return [f"{field} cannot be an empty string"]
    if _CONTROL.search(name):
        return [f"{field} cannot contain control characters"]
    parts = name.split("\\")
    if len(parts) > 2:
        return [f"{field} cannot contain more than one backslash"]
    wrong, domain, user = [], parts[0] if len(parts) == 2 else "", parts[-1]
    if len(domain.encode()) >= LONGEST_DOMAIN:
        wrong.append(f"{field}'s Domain length must be under {LONGEST_DOMAIN} characters")
    known = _NET_BIOS.fullmatch(domain) or _USER_DOMAIN.fullmatch(domain)
    if len(parts) == 2 and not known:
        wrong.append(f"{field}'s Domain doesn't match the NetBios nor the DNS format")
    if not user:
        wrong.append(f"{field}'s User cannot be empty")
    elif len(user.encode()) > LONGEST_USER:
        wrong.append(f"{field}'s User length must not be longer than {LONGEST_USER} characters")
    if user and not user.strip(". "):
        wrong.append(f"{field}'s User cannot contain only periods or spaces")
    if _NOT_IN_USERS & set(user):
        said = 'cannot contain the following characters: "/\\:;|=,+*?<>@[]'
        wrong.append(f"{field}'s User {said}")
    return wrong


def check_container_security(
    security: Document | None, path: str, errors: FieldErrors, *, host_users: bool = True
) -> None:
    """Check the security context of a container; ``host_users`` when it has the host's users."""
    if security is None:
        return
    for name in ("runAsUser", "runAsGroup"):
        check_id(security.get(name), f"{path}.{name}", errors)
    mount = security.get("procMount")
    if mount is not None and mount not in {"Default", "Unmasked"}:
        errors.not_supported(f"{path}.procMount", mount, ("Default", "Unmasked"))
    if mount == "Unmasked" and host_users:
        said = "`hostUsers` must be false to use `Unmasked`"
        errors.invalid(f"{path}.procMount", Named(mount), said)
    check_seccomp(security.get("seccompProfile"), f"{path}.seccompProfile", errors)
    if security.get("allowPrivilegeEscalation") is False:
        said = "cannot set `allowPrivilegeEscalation` to false and"
        if security.get("privileged"):
            errors.invalid(path, _internal(security), f"{said} `privileged` to true")
        if "CAP_SYS_ADMIN" in ((security.get("capabilities") or {}).get("add") or ()):
            said = f"{said} `capabilities.Add` CAP_SYS_ADMIN"
            errors.invalid(path, _internal(security), said)
    check_windows_options(security.get("windowsOptions") or {}, f"{path}.windowsOptions", errors)
    check_app_armor(security.get("appArmorProfile"), f"{path}.appArmorProfile", errors)


def _internal(security: Document) -> dict[str, Any]:
    """Show the value as the real server does: under the names of its internal type."""
    shown = (
        *("capabilities", "privileged", "sELinuxOptions", "windowsOptions", "runAsUser"),
        *("runAsGroup", "runAsNonRoot", "readOnlyRootFilesystem", "allowPrivilegeEscalation"),
        *("procMount", "seccompProfile", "appArmorProfile"),
    )
    return {name[0].upper() + name[1:]: security.get(name) for name in shown}
