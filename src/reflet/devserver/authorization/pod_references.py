"""The names of other objects in a pod, as the API server visits them.

The clients read the same names in ``resolution``; nothing is shared with what is tested here.

Upstream: pkg/api/v1/pod/util.go, VisitPodSecretNames and VisitPodConfigmapNames;
plugin/pkg/auth/authorizer/node/graph.go, AddPod; pkg/api/pod/util.go, HasAPIObjectReference
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from reflet.gotext.quoting import quoted

Document = Mapping[str, Any]
Reference = tuple[str, str]
"""A resource and a name."""

CONFIG_MAPS: Final = "configmaps"
SECRETS: Final = "secrets"
CLAIMS: Final = "persistentvolumeclaims"
RESOURCE_CLAIMS: Final = "resourceclaims.resource.k8s.io"
SERVICE_ACCOUNTS: Final = "serviceaccounts"

# Sources of volumes with a Secret for their driver, and where its name is.  The sources of a
# volume exclude each other; the first one found counts.
_CREDENTIALS: Final = (
    ("azureFile", ("secretName",)),
    *((source, ("secretRef", "name")) for source in ("cephfs", "cinder", "flexVolume")),
    *((source, ("secretRef", "name")) for source in ("rbd", "scaleIO", "iscsi", "storageos")),
    ("csi", ("nodePublishSecretRef", "name")),
)
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")


def config_references(pod: Document) -> Iterator[Reference]:
    """Yield the ConfigMaps and Secrets that a pod names, as often as it does, in order."""
    for resource, name in _config_references(pod.get("spec") or {}):
        if name:
            yield resource, name


def _config_references(spec: Document) -> Iterator[tuple[str, Any]]:
    for secret in spec.get("imagePullSecrets") or ():
        yield SECRETS, secret.get("name")
    for part in _CONTAINERS:
        for container in spec.get(part) or ():
            yield from _of_container(container)
    for volume in spec.get("volumes") or ():
        yield from _of_volume(volume)


def _of_container(container: Document) -> Iterator[tuple[str, Any]]:
    whole = [(each, "Ref") for each in container.get("envFrom") or ()]
    single = [(each.get("valueFrom") or {}, "KeyRef") for each in container.get("env") or ()]
    for source, suffix in (*whole, *single):
        for resource, kind in ((CONFIG_MAPS, "configMap"), (SECRETS, "secret")):
            reference = source.get(f"{kind}{suffix}")
            if reference is not None:
                yield resource, reference.get("name")


def _of_volume(volume: Document) -> Iterator[tuple[str, Any]]:
    for source, (first, *rest) in _CREDENTIALS:
        if volume.get(source) is not None:
            found = volume[source].get(first)
            yield SECRETS, (found or {}).get(rest[0]) if rest else found
            return
    if volume.get("projected") is not None:
        for part in volume["projected"].get("sources") or ():
            for resource, kind in ((SECRETS, "secret"), (CONFIG_MAPS, "configMap")):
                if part.get(kind) is not None:
                    yield resource, part[kind].get("name")
    elif volume.get("secret") is not None:
        yield SECRETS, volume["secret"].get("secretName")
    elif volume.get("configMap") is not None:
        yield CONFIG_MAPS, volume["configMap"].get("name")


def references_of(pod: Document) -> Iterator[Reference]:
    """Yield everything that the node of a pod may reach through it, each in the pod's namespace."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    if spec.get("serviceAccountName"):
        yield SERVICE_ACCOUNTS, spec["serviceAccountName"]
    yield from config_references(pod)
    for volume in spec.get("volumes") or ():
        claim = claim_of(pod, volume)
        if claim:
            yield CLAIMS, claim
    made = {
        each.get("name"): each.get("resourceClaimName")
        for each in status.get("resourceClaimStatuses") or ()
    }
    for wanted in spec.get("resourceClaims") or ():
        name = wanted.get("resourceClaimName") or made.get(wanted.get("name"))
        if name:
            yield RESOURCE_CLAIMS, name
    extended = (status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName")
    if extended:
        yield RESOURCE_CLAIMS, extended


def claim_of(pod: Document, volume: Document) -> str:
    """Name the claim of a volume, also of an ephemeral one; empty when it has none."""
    if volume.get("persistentVolumeClaim") is not None:
        return volume["persistentVolumeClaim"].get("claimName") or ""
    if volume.get("ephemeral") is not None:
        return f"{pod['metadata'].get('name', '')}-{volume.get('name', '')}"
    return ""


# What a volume needs of the API server, in the order in which it is looked for.
_NEEDS: Final = (
    ("configMap", "configmaps (via configmap volumes)"),
    ("secret", "secrets (via secret volumes)"),
    ("csi", "csidrivers (via CSI volumes)"),
    ("glusterfs", "endpoints (via glusterFS volumes)"),
    ("persistentVolumeClaim", "persistentvolumeclaims"),
    ("ephemeral", "persistentvolumeclaims (via ephemeral volumes)"),
    ("azureFile", "secrets (via azureFile volumes)"),
)
_PROJECTED_NEEDS: Final = (
    ("configMap", "configmaps (via projected volumes)"),
    ("secret", "secrets (via projected volumes)"),
    ("serviceAccountToken", "serviceaccounts (via projected volumes)"),
    ("clusterTrustBundle", "clustertrustbundles"),
    ("podCertificate", "podcertificates"),
)


def first_need(pod: Document) -> str:
    """Say what a pod cannot do without the API server, in the real server's words; or nothing.

    Raises ValueError with its words for a projected volume with an unknown source.
    """
    spec = pod.get("spec") or {}
    if spec.get("serviceAccountName") or spec.get("serviceAccount"):
        return SERVICE_ACCOUNTS
    named = {resource for resource, _ in config_references(pod)}
    for resource in (SECRETS, CONFIG_MAPS):
        if resource in named:
            return resource
    if spec.get("resourceClaims"):
        return "resourceclaims"
    for volume in spec.get("volumes") or ():
        found = _need_of(volume)
        if found:
            return found
    return ""


def _need_of(volume: Document) -> str:
    for source, need in _NEEDS:
        if volume.get(source) is not None:
            return need
    for part in (volume.get("projected") or {}).get("sources") or ():
        for source, need in _PROJECTED_NEEDS:
            if part.get(source) is not None:
                return need
        if part.get("downwardAPI") is None:
            name = quoted(volume.get("name") or "")
            raise ValueError(f"unknown source for projected volume {name}")
    return ""
