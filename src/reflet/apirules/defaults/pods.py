"""The defaults of pods and of everything inside a pod's spec.

Upstream: pkg/apis/core/v1/defaults.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reflet.apirules.defaults.image_references import DEFAULT_TAG, image_tag
from reflet.apirules.pod_amounts import container_amounts

Defaulter = Callable[[dict[str, Any]], None]

_CORE: Final = "io.k8s.api.core.v1."
_OF_PODS: Final = frozenset({"cpu", "memory"})  # what pods as a whole may ask for, beside pages
_DEFAULT_MODE: Final = 0o644
_NOT_SOURCES: Final = frozenset({"name"})


def _filling(**defaults: Any) -> Defaulter:
    def fill(document: dict[str, Any]) -> None:
        for name, value in defaults.items():
            if document.get(name) in (None, "", 0):
                document[name] = value

    return fill


def _unless_set(**defaults: Any) -> Defaulter:
    def fill(document: dict[str, Any]) -> None:
        for name, value in defaults.items():
            if document.get(name) is None:
                document[name] = value

    return fill


def pull_policy(image: str) -> str:
    """Say when an image is pulled by default: always if its tag is ``latest`` or missing."""
    return "Always" if image_tag(image) == DEFAULT_TAG else "IfNotPresent"


def _container(document: dict[str, Any]) -> None:
    document.setdefault("imagePullPolicy", pull_policy(document.get("image", "")))
    document.setdefault("terminationMessagePath", "/dev/termination-log")
    document.setdefault("terminationMessagePolicy", "File")


def _volume(document: dict[str, Any]) -> None:
    if document.keys() <= _NOT_SOURCES:
        document["emptyDir"] = {}
    image = document.get("image")
    if image is not None:
        image.setdefault("pullPolicy", pull_policy(image.get("reference", "")))


def _pod(document: dict[str, Any]) -> None:
    spec = document["spec"]
    containers = [*(spec.get("containers") or ()), *spec.get("initContainers", ())]
    for container in containers:
        resources = container.get("resources", {})
        if resources.get("limits"):
            resources["requests"] = resources["limits"] | resources.get("requests", {})
    _pod_amounts(spec)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        for container in containers:
            for port in container.get("ports", ()):
                port.setdefault("hostPort", port["containerPort"])


def _is_of_pods(name: str) -> bool:
    return name in _OF_PODS or name.startswith("hugepages-")


def _pod_amounts(spec: dict[str, Any]) -> None:
    """Fill up what a pod as a whole asks for and may use, from its containers."""
    whole = spec.get("resources") or {}
    if not whole.get("limits") and not whole.get("requests"):
        return
    pages = {
        name: str(amount)
        for name, amount in container_amounts(spec, "limits").items()
        if name.startswith("hugepages-")
    }
    limits = pages | (whole.get("limits") or {})
    if not limits:
        return
    asked = {
        name: str(amount)
        for name, amount in container_amounts(spec, "requests").items()
        if name in _OF_PODS
    }
    whole["limits"] = limits
    known = {name: limits[name] for name in limits if _is_of_pods(name)}
    whole["requests"] = known | asked | (whole.get("requests") or {})


def _pod_spec(document: dict[str, Any]) -> None:
    document.setdefault("restartPolicy", "Always")
    document.setdefault("terminationGracePeriodSeconds", 30)
    document.setdefault("dnsPolicy", "ClusterFirst")
    if document.get("securityContext") is None:
        document["securityContext"] = {}
    document.setdefault("schedulerName", "default-scheduler")
    # Two names for one field: the old one follows the new one.
    account = document.get("serviceAccountName") or document.get("serviceAccount")
    if account:
        document["serviceAccountName"] = document["serviceAccount"] = account


_mode: Final = _unless_set(defaultMode=_DEFAULT_MODE)


def _pod_status(document: dict[str, Any]) -> None:
    # Two names for one thing: where they differ, the one address is meant.
    address, addresses = document.get("podIP"), document.get("podIPs")
    if address and (not addresses or addresses[0].get("ip") != address):
        document["podIPs"] = [{"ip": address}]
    elif addresses:
        document["podIP"] = addresses[0].get("ip", "")


DEFAULTERS: Final[Mapping[str, Defaulter]] = {
    f"{_CORE}Pod": _pod,
    f"{_CORE}PodStatus": _pod_status,
    f"{_CORE}PodSpec": _pod_spec,
    f"{_CORE}Container": _container,
    f"{_CORE}EphemeralContainer": _container,
    f"{_CORE}Volume": _volume,
    f"{_CORE}Probe": _filling(
        timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3
    ),
    f"{_CORE}HTTPGetAction": _filling(path="/", scheme="HTTP"),
    f"{_CORE}GRPCAction": _unless_set(service=""),
    f"{_CORE}SecretVolumeSource": _mode,
    f"{_CORE}ConfigMapVolumeSource": _mode,
    f"{_CORE}DownwardAPIVolumeSource": _mode,
    f"{_CORE}ProjectedVolumeSource": _mode,
    f"{_CORE}ServiceAccountTokenProjection": _unless_set(expirationSeconds=3600),
    f"{_CORE}ObjectFieldSelector": _filling(apiVersion="v1"),
    f"{_CORE}HostPathVolumeSource": _unless_set(type=""),
}
