"""The rules of what persistent volumes are made of: disks, shares, folders, drivers.

Upstream: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeSpec and what it calls
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.volumes import check_host_path, check_no_way_up
from reflet.gotext.lazy_patterns import lazy_pattern

Document = Mapping[str, Any]
SourceCheck = Callable[[Document, str, FieldErrors], None]

LONGEST_DRIVER: Final = 63
LONGEST_TENANT: Final = 64
LONGEST_ISCSI_SESSION: Final = 64
HIGHEST_UNIT: Final = 255  # of a disk's partitions and of a target's logical units
CACHING_MODES: Final = ("None", "ReadOnly", "ReadWrite")
DISK_KINDS: Final = ("Dedicated", "Managed", "Shared")
ONE_SOURCE: Final = "may not specify more than 1 volume type"

_MANAGED_DISK: Final = (
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
    "{disk-id}"
)
_BLOB_DISK: Final = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_ISCSI_NAMES: Final = {
    "iqn": lazy_pattern(r"iqn\.[0-9]{4}-[0-9]{2}\.[-.0-9A-Za-z]+:[^,;*&$|\t\n\f\r ]+\Z"),
    "eui": lazy_pattern(r"\Aeui.[0-9A-Za-z]{16}\Z"),
    "naa": lazy_pattern(r"\Anaa.[0-9A-Za-z]{32}\Z"),
}
_REGISTRIES: Final = "must be a host:port pair or multiple pairs separated by commas"


def _needs(*fields: str) -> SourceCheck:
    def check(source: Document, path: str, errors: FieldErrors) -> None:
        for name in fields:
            if not source.get(name):
                errors.required(f"{path}.{name}")

    return check


def _disk(name: str) -> SourceCheck:
    def check(source: Document, path: str, errors: FieldErrors) -> None:
        _needs(name)(source, path, errors)
        partition = source.get("partition", 0)
        if not 0 <= partition <= HIGHEST_UNIT:
            errors.invalid(f"{path}.partition", partition, names.out_of_range(1, HIGHEST_UNIT))

    return check


def _glusterfs(source: Document, path: str, errors: FieldErrors) -> None:
    _needs("endpoints", "path")(source, path, errors)
    namespace = source.get("endpointsNamespace")
    if namespace == "":
        said = "if the endpointnamespace is set, it must be a valid namespace name"
        errors.invalid(f"{path}.endpointsNamespace", namespace, said)
    elif namespace is not None:
        wrong = names.dns_label(namespace)
        errors.each_invalid(f"{path}.endpointsNamespace", namespace, wrong)


def _flocker(source: Document, path: str, errors: FieldErrors) -> None:
    name, uid = source.get("datasetName", ""), source.get("datasetUUID", "")
    if not name and not uid:
        errors.required(path, "one of datasetName and datasetUUID is required")
    if name and uid:
        said = "datasetName and datasetUUID can not be specified simultaneously"
        errors.invalid(path, "resource", said)
    if "/" in name:
        errors.invalid(f"{path}.datasetName", name, "must not contain '/'")


def _nfs(source: Document, path: str, errors: FieldErrors) -> None:
    _needs("server", "path")(source, path, errors)
    share = source.get("path", "")
    if not share.startswith("/"):
        errors.invalid(f"{path}.path", share, "must be an absolute path")


def _quobyte(source: Document, path: str, errors: FieldErrors) -> None:
    registry = source.get("registry", "")
    if not registry:
        errors.required(f"{path}.registry", _REGISTRIES)
    elif len(source.get("tenant", "").encode()) > LONGEST_TENANT:
        said = "must be a UUID and may not exceed a length of 64 characters"
        errors.required(f"{path}.tenant", said)
    else:
        for pair in registry.split(","):
            if not _is_host_and_port(pair):
                errors.invalid(f"{path}.registry", registry, _REGISTRIES)
    _needs("volume")(source, path, errors)


def _is_host_and_port(text: str) -> bool:
    host, colon, port = text.rpartition(":")
    if host.startswith("["):
        host = host.removeprefix("[")
        if not host.endswith("]"):
            return False
        host = host.removesuffix("]")
    elif ":" in host:
        return False
    return bool(colon) and not any(bracket in f"{host}{port}" for bracket in "[]")


def _iscsi(source: Document, path: str, errors: FieldErrors) -> None:
    _needs("targetPortal")(source, path, errors)
    target = source.get("iqn", "")
    if not target:
        errors.required(f"{path}.iqn")
    elif not _is_iscsi_name(target):
        errors.invalid(f"{path}.iqn", target, "must be valid format")
    _check_unit(source.get("lun", 0), path, errors)
    secret = source.get("secretRef")
    if secret is None and (source.get("chapAuthDiscovery") or source.get("chapAuthSession")):
        errors.required(f"{path}.secretRef")
    if secret is not None:
        _needs("name")(secret, f"{path}.secretRef", errors)
    initiator = source.get("initiatorName")
    if initiator is not None and not _is_iscsi_name(initiator):
        errors.invalid(f"{path}.initiatorname", initiator, "must be valid format")


def _is_iscsi_name(text: str) -> bool:
    pattern = _ISCSI_NAMES.get(text[:3])
    return pattern is not None and pattern.search(text) is not None


def _check_unit(unit: int, path: str, errors: FieldErrors) -> None:
    if not 0 <= unit <= HIGHEST_UNIT:
        errors.invalid(f"{path}.lun", unit, names.out_of_range(0, HIGHEST_UNIT))


def _cinder(source: Document, path: str, errors: FieldErrors) -> None:
    _needs("volumeID")(source, path, errors)
    if source.get("secretRef") is not None:
        _needs("name", "namespace")(source["secretRef"], f"{path}.secretRef", errors)


def _fibre_channel(source: Document, path: str, errors: FieldErrors) -> None:
    targets, ids = source.get("targetWWNs"), source.get("wwids")
    if not targets and not ids:
        said = "must specify either targetWWNs or wwids, but not both"
        errors.required(f"{path}.targetWWNs", said)
    if targets and ids:
        said = "targetWWNs and wwids can not be specified simultaneously"
        errors.invalid(f"{path}.targetWWNs", targets, said)
    if targets:
        if source.get("lun") is None:
            errors.required(f"{path}.lun", "lun is required if targetWWNs is specified")
        else:
            _check_unit(source["lun"], path, errors)


def _flex_volume(source: Document, path: str, errors: FieldErrors) -> None:
    _needs("driver")(source, path, errors)
    for key in sorted(source.get("options") or ()):
        domain = f".{key.partition('/')[0].lower()}"
        if domain.endswith((".kubernetes.io", ".k8s.io")):
            said = "kubernetes.io and k8s.io namespaces are reserved"
            errors.invalid(f"{path}.options[{key}]", key, said)


def _azure_file(source: Document, path: str, errors: FieldErrors) -> None:
    _needs("secretName", "shareName")(source, path, errors)
    if source.get("secretNamespace") == "":
        errors.required(f"{path}.secretNamespace")


def _azure_disk(source: Document, path: str, errors: FieldErrors) -> None:
    _needs("diskName", "diskURI")(source, path, errors)
    caching, kind = source.get("cachingMode"), source.get("kind")
    if caching is not None and caching not in CACHING_MODES:
        errors.not_supported(f"{path}.cachingMode", caching, CACHING_MODES)
    if kind is not None and kind not in DISK_KINDS:
        errors.not_supported(f"{path}.kind", kind, DISK_KINDS)
    place = source.get("diskURI", "")
    if kind == "Managed" and not place.startswith("/subscriptions/"):
        errors.not_supported(f"{path}.diskURI", place, (_MANAGED_DISK,))
    if kind not in (None, "Managed") and not place.startswith("https://"):
        errors.not_supported(f"{path}.diskURI", place, (_BLOB_DISK,))


def _local(source: Document, path: str, errors: FieldErrors) -> None:
    if not source.get("path"):
        errors.required(f"{path}.path")
    else:
        check_no_way_up(source["path"], f"{path}.path", errors)


def _storage_os(source: Document, path: str, errors: FieldErrors) -> None:
    _needs("volumeName")(source, path, errors)
    for name in ("volumeName", "volumeNamespace"):
        if source.get(name):
            errors.each_invalid(f"{path}.{name}", source[name], names.dns_label(source[name]))
    if source.get("secretRef") is not None:
        _needs("name", "namespace")(source["secretRef"], f"{path}.secretRef", errors)


def check_driver(driver: str, path: str, errors: FieldErrors) -> None:
    """Check the name of a CSI driver."""
    if not driver:
        errors.required(path)
        return
    if len(driver.encode()) > LONGEST_DRIVER:
        errors.too_long(path, LONGEST_DRIVER)
    errors.each_invalid(path, driver, names.dns_subdomain(driver.lower()))


def _csi(source: Document, path: str, errors: FieldErrors) -> None:
    check_driver(source.get("driver", ""), f"{path}.driver", errors)
    _needs("volumeHandle")(source, path, errors)
    # The secret for staging is looked at by nobody.
    for name in (
        *("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef"),
        "nodeExpandSecretRef",
    ):
        secret = source.get(name)
        if secret is None:
            continue
        for field, rule in (("name", names.dns_subdomain), ("namespace", names.dns_label)):
            here, text = f"{path}.{name}.{field}", secret.get(field, "")
            if not text:
                errors.required(here)
            else:
                errors.each_invalid(here, text, rule(text))


# In the order in which the real server looks at them, and so complains about the second.
_CHECKS: Final[Mapping[str, SourceCheck]] = {
    "hostPath": check_host_path,
    "gcePersistentDisk": _disk("pdName"),
    "awsElasticBlockStore": _disk("volumeID"),
    "glusterfs": _glusterfs,
    "flocker": _flocker,
    "nfs": _nfs,
    "rbd": _needs("monitors", "image"),
    "quobyte": _quobyte,
    "cephfs": _needs("monitors"),
    "iscsi": _iscsi,
    "cinder": _cinder,
    "fc": _fibre_channel,
    "flexVolume": _flex_volume,
    "azureFile": _azure_file,
    "vsphereVolume": _needs("volumePath"),
    "photonPersistentDisk": _needs("pdID"),
    "portworxVolume": _needs("volumeID"),
    "azureDisk": _azure_disk,
    "scaleIO": _needs("gateway", "system", "volumeName"),
    "local": _local,
    "storageos": _storage_os,
    "csi": _csi,
}
# In the order in which the real server's type has them.
SOURCES: Final = (
    *("gcePersistentDisk", "awsElasticBlockStore", "hostPath", "glusterfs", "nfs", "rbd"),
    *("quobyte", "iscsi", "flexVolume", "cinder", "cephfs", "fc", "flocker", "azureFile"),
    *("vsphereVolume", "azureDisk", "photonPersistentDisk", "portworxVolume", "scaleIO"),
    *("local", "storageos", "csi"),
)
# Two places have other names in complaints than in the object.
_SHOWN: Final = {"gcePersistentDisk": "persistentDisk"}
_SHOWN_AS_SECOND: Final = {"cephfs": "cephFS"}


def check_source(spec: Document, volume: str, errors: FieldErrors, *, path: str = "spec") -> None:
    """Check that a volume is made of one thing, and that thing; ``volume`` is its name."""
    count = 0
    for name, check in _CHECKS.items():
        source = spec.get(name)
        if source is None:
            continue
        # A flex volume may be the second of two, and is only looked at.
        if count and name != "flexVolume":
            errors.forbidden(f"{path}.{_SHOWN_AS_SECOND.get(name, name)}", ONE_SOURCE)
            continue
        count += 1
        if name == "iscsi":
            _check_session_name(source, volume, f"{path}.iscsi", errors)
        check(source, f"{path}.{_SHOWN.get(name, name)}", errors)
        if name == "local" and spec.get("nodeAffinity") is None:
            errors.required(f"{path}.nodeAffinity", "Local volume requires node affinity")
    if not count:
        errors.required(path, "must specify a volume type")


def _check_session_name(source: Document, volume: str, path: str, errors: FieldErrors) -> None:
    portal = source.get("targetPortal", "")
    session = f"{volume}:{portal}"
    if source.get("initiatorName") is not None and len(session.encode()) > LONGEST_ISCSI_SESSION:
        said = (
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
            "iscsi.initiatorName is specified."
        )
        errors.invalid(f"{path}.targetportal", portal, said)
