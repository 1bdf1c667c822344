"""``volumes`` of play: claims and volumes that are deleted go when nobody uses them.

Nothing is bound or provisioned.

Upstream: pkg/controller/volume/pvcprotection/pvc_protection_controller.go; pvprotection
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from reflet.api.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, Resource
from reflet.play.actions import Document, NextActions, Patch
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.controller import PlayedController, itself
from reflet.play.pod_lifecycle import FINISHED

CLAIM_FINALIZER: Final = "kubernetes.io/pvc-protection"
VOLUME_FINALIZER: Final = "kubernetes.io/pv-protection"


async def decide(view: ClusterView, key: str) -> NextActions:
    """Look at one claim, or at one volume, whose key has no namespace."""
    namespace, _, name = key.rpartition("/")
    if namespace:
        claim = view.get(PERSISTENT_VOLUME_CLAIMS, key)
        is_used = any(name in _claims(pod) for pod in view.all(PODS, namespace))
        return NextActions(_released(PERSISTENT_VOLUME_CLAIMS, claim, CLAIM_FINALIZER, is_used))
    volume = view.get(PERSISTENT_VOLUMES, key)
    is_used = (volume or {}).get("status", {}).get("phase") == "Bound"
    return NextActions(_released(PERSISTENT_VOLUMES, volume, VOLUME_FINALIZER, is_used))


def _released(
    resource: Resource,
    document: Document | None,
    finalizer: str,
    is_used: bool,
) -> list[Patch]:
    metadata = {} if document is None else document["metadata"]
    held = metadata.get("finalizers") or []
    if document is None or is_used or "deletionTimestamp" not in metadata or finalizer not in held:
        return []
    kept = [each for each in held if each != finalizer]
    meant = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    return [Patch(resource, document, {"metadata": {**meant, "finalizers": kept or None}})]


def _claims(pod: Document) -> set[str]:
    """The claims that a pod uses; one that has ended uses none."""
    if pod.get("status", {}).get("phase") in FINISHED:
        return set()
    volumes = pod["spec"].get("volumes") or ()
    return {
        each["persistentVolumeClaim"]["claimName"]
        for each in volumes
        if "persistentVolumeClaim" in each
    }


def _of_pod(_: ClusterView, seen: SeenObject) -> Iterable[str]:
    return [f"{seen.metadata.namespace}/{name}" for name in _claims(seen.document)]


CONTROLLER = PlayedController(
    "volumes",
    {PERSISTENT_VOLUME_CLAIMS: itself, PERSISTENT_VOLUMES: itself, PODS: _of_pod},
    decide,
)
