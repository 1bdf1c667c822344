"""``serviceaccounts``, ``volumes`` and ``namespaces`` of play: what namespaces are given, and how
they end.

Upstream: pkg/controller/serviceaccount/serviceaccounts_controller.go;
pkg/controller/certificates/rootcacertpublisher/publisher.go;
pkg/controller/volume/pvcprotection/pvc_protection_controller.go;
pkg/controller/namespace/deletion/namespaced_resources_deleter.go, Delete
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from reflet.api.resources import (
    CONFIG_MAPS,
    NAMESPACES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    SERVICE_ACCOUNTS,
    Resource,
)
from reflet.controllers.object_writes import set_condition
from reflet.play.actions import Action, Delete, Document, Plan, Save, status_saved, with_metadata
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.owned_pods import is_going, phase_of
from reflet.play.pod_lifecycle import FINISHED
from reflet.play.running_play import Player

ACCOUNT: Final = "default"
ROOT_CA: Final = "kube-root-ca.crt"


def account_player(authority: bytes) -> Player:
    """Makes the account ``default`` and the ConfigMap of the authority wherever one is missing."""
    wanted: tuple[tuple[Resource, str, Document], ...] = (
        (SERVICE_ACCOUNTS, ACCOUNT, {}),
        (CONFIG_MAPS, ROOT_CA, {"data": {"ca.crt": authority.decode()}}),
    )

    def decide(view: ClusterView, namespace: Document) -> Plan:
        name, actions = namespace["metadata"]["name"], list[Action]()
        for resource, own, content in () if is_going(namespace) else wanted:
            metadata = {"name": own, "namespace": name}
            made = {"apiVersion": "v1", "kind": resource.kind, "metadata": metadata}
            held = view.get(resource, f"{name}/{own}")
            if held is None or any(held.get(part) != content[part] for part in content):
                actions.append(Save(resource, {**(held or made), **content}))
        return Plan(actions)

    def of(_: ClusterView, seen: SeenObject) -> Iterable[str]:
        return (seen.metadata.namespace,) if seen.metadata.name in {ACCOUNT, ROOT_CA} else ()

    return Player(NAMESPACES, decide, watches={SERVICE_ACCOUNTS: of, CONFIG_MAPS: of})


# Volumes

PROTECTION: Final = frozenset({"kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"})


def release_volume(view: ClusterView, document: Document) -> Plan:
    """Let a claim or a volume go that was deleted and that nobody uses; nothing is ever bound."""
    metadata, held = document["metadata"], document["metadata"].get("finalizers") or []
    kept = [each for each in held if each not in PROTECTION]
    if not is_going(document) or kept == held:
        return Plan()
    if document["kind"] == "PersistentVolume":
        is_used = document.get("status", {}).get("phase") == "Bound"
        resource = PERSISTENT_VOLUMES
    else:
        pods, resource = view.all(PODS, metadata["namespace"]), PERSISTENT_VOLUME_CLAIMS
        is_used = any(metadata["name"] in _claims(pod) for pod in pods)
    return Plan(() if is_used else [Save(resource, with_metadata(document, finalizers=kept))])


def _claims(pod: Document) -> set[str]:
    """The claims that a pod uses; one that has ended uses none."""
    volumes = () if phase_of(pod) in FINISHED else pod["spec"].get("volumes") or ()
    sources = (each.get("persistentVolumeClaim") for each in volumes)
    return {each["claimName"] for each in sources if each}


def _of_pod(_: ClusterView, pod: SeenObject) -> Iterable[str]:
    return (f"{pod.metadata.namespace}/{name}" for name in _claims(pod.document))


VOLUME_PLAYERS: Final = (
    Player(PERSISTENT_VOLUME_CLAIMS, release_volume, watches={PODS: _of_pod}),
    Player(PERSISTENT_VOLUMES, release_volume),
)

# The end of a namespace

FINALIZER: Final = "kubernetes"


def empty_namespace(view: ClusterView, namespace: Document) -> Plan:
    """Delete what is in a namespace that is going; when nothing is left, let it go."""
    spec, name = namespace["spec"], namespace["metadata"]["name"]
    kept = [each for each in spec.get("finalizers") or () if each != FINALIZER]
    if not is_going(namespace) or kept == (spec.get("finalizers") or []):
        return Plan()
    contents = [
        (resource, seen)
        for resource in view.resources.values()
        if resource.namespaced
        for seen in view.seen(resource, "namespace", name)
    ]
    if not contents:
        document = {**namespace, "spec": {**spec, "finalizers": kept}}
        return Plan([Save(NAMESPACES, document, "finalize")])
    left = Counter(f"{resource.plural}.{resource.group}" for resource, _ in contents)
    held = Counter(name for _, seen in contents for name in seen.metadata.finalizers)
    conditions = namespace.get("status", {}).get("conditions") or ()
    for kind, reason, words, counts, verb in (
        ("Content", "Resources", "Some resources are remaining", left, "has"),
        ("Finalizers", "Finalizers", _HELD, held, "in"),
    ):
        shown = ", ".join(
            f"{each} {verb} {counts[each]} resource instances" for each in sorted(counts)
        )
        message = f"{words}: {shown}" if counts else ""
        conditions = set_condition(
            conditions,
            f"Namespace{kind}Remaining",
            bool(counts),
            reason=f"Some{reason}Remain" if counts else "ContentHasNoFinalizers",
            message=message,
            now=view.now(),
        )
    status = {**namespace.get("status", {}), "phase": "Terminating", "conditions": conditions}
    actions = status_saved(NAMESPACES, namespace, status)
    actions += [
        Delete(resource, seen.document, policy="Background")
        for resource, seen in contents
        if seen.metadata.deletion_timestamp is None
    ]
    return Plan(actions)


_HELD: Final = "Some content in the namespace has finalizers remaining"

NAMESPACE_PLAYER: Final = Player(NAMESPACES, empty_namespace)
