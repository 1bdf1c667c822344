"""What a node asks for, and the objects that lead to it: what the scenes about nodes share.

Owns: who asks, and the objects.  Must not know the scenes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tests.real.devserver_objects import config_map, container, manifest, pod, secret
from tests.real.differential.impersonation_scenes import acting_as
from tests.real.differential.script import (
    CONFIG_MAPS,
    CORE,
    PODS,
    Ask,
    Step,
    WaitUntilServed,
    post,
)

# The node is named after the scene's namespace: nodes belong to the whole cluster.
NODE: Final = acting_as({"User": "system:node:<ns>", "Group": "system:nodes"})
UNKNOWN: Final = acting_as({"User": "system:node:nobody.<ns>", "Group": "system:nodes"})
NAMELESS: Final = acting_as({"User": "system:node:", "Group": "system:nodes"})

SECRETS: Final = f"{CORE}/secrets"
CLAIMS: Final = f"{CORE}/persistentvolumeclaims"
ACCOUNTS: Final = f"{CORE}/serviceaccounts"
VOLUMES: Final = "/api/v1/persistentvolumes"
NODES: Final = "/api/v1/nodes"
LEASES: Final = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
STORAGE: Final = "/apis/storage.k8s.io/v1"
DEVICES: Final = "/apis/resource.k8s.io/v1"
AUTHORIZATION: Final = "/apis/authorization.k8s.io/v1"
REQUESTS: Final = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
MIRROR: Final = "kubernetes.io/config.mirror"
ONE: Final = "fieldSelector=metadata.name="


def asked_as(who: Mapping[str, str], *steps: Step) -> Iterator[Step]:
    """Ask as somebody; what is asked with headers of its own is asked with these."""
    for step in steps:
        yield replace(step, headers=who) if isinstance(step, Ask) and not step.headers else step


def by_admin(ask: Ask) -> Ask:
    return replace(ask, headers={"X-Nobody": "else"})


def _of_node(name: str, node: str, **spec: Any) -> Any:
    used = container(envFrom=[{"secretRef": {"name": name}}, {"configMapRef": {"name": name}}])
    return pod(used, metadata={"name": name}, nodeName=node, serviceAccountName=name, **spec)


def planted() -> Iterator[Step]:
    token = {"serviceAccountToken": {"path": "token"}}
    other = {"serviceAccountToken": {"path": "other", "audience": "vault"}}
    volumes = [{"name": "tokens", "projected": {"sources": [token, other]}}]
    for name, node in (("mine", "<ns>"), ("theirs", "other.<ns>")):
        yield post(CONFIG_MAPS, config_map(name=name))
        yield post(SECRETS, secret(name=name))
        yield post(ACCOUNTS, manifest("v1", "ServiceAccount", name))
        keep = {name: "metadata.uid", f"{name}pod": ""}
        yield post(PODS, _of_node(name, node, volumes=volumes), keep=keep)
    yield post(SECRETS, secret(name="loose"))
    yield post(PODS, pod(metadata={"name": "unbound"}, imagePullSecrets=[{"name": "loose"}]))
    mirror = {"name": "mirror", "annotations": {MIRROR: "x"}}
    pull = [{"name": "loose"}]
    yield post(PODS, pod(metadata=mirror, nodeName="<ns>", imagePullSecrets=pull))
    for path in (f"{SECRETS}/mine", f"{PODS}/mine", f"{PODS}/mirror"):
        yield WaitUntilServed(path, NODE)


def planted_storage() -> Iterator[Step]:
    stages = {
        field: {"name": field.lower(), "namespace": "<ns>"}
        for field in (
            *("nodePublishSecretRef", "nodeStageSecretRef", "controllerPublishSecretRef"),
            "nodeExpandSecretRef",
        )
    }
    csi = {"driver": "d.<ns>", "volumeHandle": "h", **stages}
    for name in ("mine", "theirs"):
        reference = {"namespace": "<ns>", "name": name}
        spec = {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "csi": csi if name == "mine" else {"driver": "d.<ns>", "volumeHandle": "i"},
            "claimRef": reference,
        }
        yield post(VOLUMES, manifest("v1", "PersistentVolume", f"{name}.<ns>", spec=spec))
        wanted = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "volumeName": f"{name}.<ns>",
            "storageClassName": "",
        }
        claim = manifest("v1", "PersistentVolumeClaim", name, spec=wanted)
        yield post(CLAIMS, claim, keep={name: ""})
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": wanted["resources"]}}
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "mine"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}},
    ]
    claims = [{"name": "gpu", "resourceClaimName": "gpu"}]
    used = container(resources={"claims": [{"name": "gpu"}]})
    made = pod(used, nodeName="<ns>", volumes=volumes, resourceClaims=claims)
    yield post(PODS, made)
    for name, node in (("mine", "<ns>"), ("theirs", "other.<ns>")):
        source = {"persistentVolumeName": f"{name}.<ns>"}
        spec = {"attacher": "d.<ns>", "nodeName": node, "source": source}
        attachment = manifest("storage.k8s.io/v1", "VolumeAttachment", f"{name}.<ns>", spec=spec)
        yield post(f"{STORAGE}/volumeattachments", attachment)
        yield post(f"{DEVICES}/resourceslices", resource_slice(f"{name}.<ns>", node))
    yield WaitUntilServed(f"{CLAIMS}/mine", NODE)
    yield WaitUntilServed(f"{VOLUMES}/mine.<ns>", NODE)
    yield WaitUntilServed(f"{STORAGE}/volumeattachments/mine.<ns>", NODE)
    yield WaitUntilServed(f"{DEVICES}/resourceslices/mine.<ns>", NODE)


def resource_slice(name: str, node: str) -> Any:
    pool = {"name": f"p.{node}", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d.example", "nodeName": node, "pool": pool, "devices": [{"name": "gpu-0"}]}
    return manifest("resource.k8s.io/v1", "ResourceSlice", name, spec=spec)


def code_only(_: Any) -> None:
    """Compare the code and the headers only."""


def names(body: Any) -> Any:
    if "items" not in body:
        return body
    return sorted(each["metadata"]["name"] for each in body["items"])


def refusal(body: Any) -> Any:
    """Compare refusals; what is shown to whoever may see it is compared elsewhere."""
    is_status = isinstance(body, dict) and body.get("kind") == "Status"
    return body if is_status else None
