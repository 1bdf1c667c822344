"""What single kinds get or keep when their objects are created and updated.

A pod's quality of service, a job's selector, a namespace's finalizer, what becomes of
``stringData``; also what the admission plugins that every cluster runs add (the default
tolerations, priority, the protection of volumes, the taint of a new node).

Upstream: pkg/registry/*/*/strategy.go, PrepareForCreate and PrepareForUpdate;
plugin/pkg/admission/{defaulttolerationseconds,priority,nodetaint,storage/storageobjectinuseprotection}
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final

from reflet.apirules import refusals
from reflet.apirules.cluster_strategies import (
    CLUSTER_CREATE_RULES,
    CLUSTER_GENERATION_FROM_START,
    CLUSTER_STATUS_RULES,
    CLUSTER_UPDATE_RULES,
)
from reflet.apirules.defaults.workloads import TEMPLATE_GENERATION
from reflet.apirules.service_allocation import (
    Outside,
    prepare_service,
    prepare_service_update,
)
from reflet.gotext.times import time_text

Document = dict[str, Any]


# Kinds whose generation counts the changes of what is wished for, from 1.
GENERATION_FROM_START: Final = frozenset(
    {
        "pods",
        "podtemplates",
        "replicationcontrollers",
        "deployments.apps",
        "replicasets.apps",
        "statefulsets.apps",
        "daemonsets.apps",
        "jobs.batch",
        "cronjobs.batch",
        "ingresses.networking.k8s.io",
        "ingressclasses.networking.k8s.io",
        "networkpolicies.networking.k8s.io",
        "poddisruptionbudgets.policy",
        "priorityclasses.scheduling.k8s.io",
        "endpointslices.discovery.k8s.io",
        "customresourcedefinitions.apiextensions.k8s.io",
        *CLUSTER_GENERATION_FROM_START,
    }
)
# Of these it stays what it was when they were made.
GENERATION_FOR_EVER: Final = frozenset({"priorityclasses.scheduling.k8s.io"})
# A node reports its status when it registers itself.
STATUS_FROM_CLIENT: Final = frozenset({"nodes"})

NO_EXECUTE: Final = tuple(
    {
        "key": f"node.kubernetes.io/{state}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for state in ("not-ready", "unreachable")
)
_CONTROLLER_UID: Final = "batch.kubernetes.io/controller-uid"


def _pod(document: Document, outside: Outside) -> None:
    spec = document["spec"]
    add_by_plugins("pods", document, is_new=True)
    _fix_labels(document)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    status: Document = {"phase": "Pending"}
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": time_text(outside.now),
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]
    document["status"] = status | {"qosClass": quality_of_service(spec)}


def _settle_priority(document: Document) -> None:
    """Give a pod without a class the priority of such; it may not choose one for itself."""
    spec, name = document["spec"], document["metadata"].get("name", "")
    for field, what, value in (
        ("priority", "integer value of priority", 0),
        ("preemptionPolicy", "string value of PreemptionPolicy", "PreemptLowerPriority"),
    ):
        given = spec.setdefault(field, value)
        if given != value:
            said = (
                f"the {what} ({given}) must not be provided in pod spec; priority admission "
                f"controller computed {value} from the given PriorityClass name"
            )
            raise refusals.forbidden("pods", name, said)


def _fix_labels(document: Document) -> None:
    """Say in selectors of neighbours which values of the pod's own labels are meant."""
    spec, labels = document["spec"], document["metadata"].get("labels") or {}
    affinity = spec.get("affinity") or {}
    terms = list(spec.get("topologySpreadConstraints") or ())
    for name in ("podAffinity", "podAntiAffinity"):
        pods = affinity.get(name) or {}
        terms += pods.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        wishes = pods.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [wish["podAffinityTerm"] for wish in wishes if wish.get("podAffinityTerm")]
    for term in terms:
        if term.get("labelSelector") is None:
            continue
        fixed = [
            {"key": key, "operator": operator, "values": [labels[key]]}
            for name, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
            for key in term.get(name) or ()
            if key in labels
        ]
        if fixed:
            term["labelSelector"].setdefault("matchExpressions", []).extend(fixed)


def add_by_plugins(resource: str, document: Document, *, is_new: bool) -> None:
    """Add what is there when webhooks see an object: by conversion, and by admission plugins."""
    match resource:
        case "pods":
            spec = document["spec"]
            _tolerate_short_outages(spec)
            if is_new and not spec.get("priorityClassName"):
                _settle_priority(document)
        case "secrets":
            _encode_texts(document)
        case "nodes" if is_new:
            _taint(document)
        case "persistentvolumes" if is_new:
            _add_finalizer(document, "kubernetes.io/pv-protection")
        case "persistentvolumeclaims" if is_new:
            _add_finalizer(document, "kubernetes.io/pvc-protection")


def _tolerate_short_outages(spec: Document) -> None:
    tolerations = spec.setdefault("tolerations", [])
    for wanted in NO_EXECUTE:
        if not any(_tolerates(toleration, wanted["key"]) for toleration in tolerations):
            tolerations.append(dict(wanted))
    if not tolerations:
        del spec["tolerations"]


def _tolerates(toleration: Mapping[str, Any], key: object) -> bool:
    return toleration.get("key", "") in {"", key} and toleration.get("effect", "") in {
        "",
        "NoExecute",
    }


def quality_of_service(spec: Mapping[str, Any]) -> str:
    """Say how a pod is treated when resources run short."""
    containers = [*(spec.get("containers") or ()), *spec.get("initContainers", ())]
    amounts: list[tuple[Mapping[str, str], Mapping[str, str]]] = []
    for container in containers:
        resources = container.get("resources") or {}
        requests, limits = resources.get("requests", {}), resources.get("limits", {})
        amounts.append((_counted(requests), _counted(limits)))
    if not any(requests or limits for requests, limits in amounts):
        return "BestEffort"
    guaranteed = all(
        limits.keys() >= {"cpu", "memory"} and requests == limits for requests, limits in amounts
    )
    return "Guaranteed" if guaranteed else "Burstable"


def _counted(amounts: Mapping[str, str]) -> dict[str, str]:
    return {name: amounts[name] for name in ("cpu", "memory") if amounts.get(name, "0") != "0"}


def _namespace(document: Document, _: Outside) -> None:
    spec = document.setdefault("spec", {})
    finalizers = spec.setdefault("finalizers", [])
    if "kubernetes" not in finalizers:
        finalizers.append("kubernetes")
    document["status"] = {"phase": "Active"}
    name = document["metadata"].get("name")
    if name:
        document["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name


def _namespace_update(old: Document, document: Document, _: Outside) -> None:
    if "finalizers" in old.get("spec", {}):
        document.setdefault("spec", {})["finalizers"] = list(old["spec"]["finalizers"])


def _secret(document: Document, _: Outside) -> None:
    _encode_texts(document)


def _encode_texts(document: Document) -> None:
    texts = document.pop("stringData", None)
    if texts:
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
        document["data"] = dict(sorted((document.get("data", {}) | encoded).items()))


def _secret_update(_: Document, document: Document, __: Outside) -> None:
    _encode_texts(document)


def _node(document: Document, _: Outside) -> None:
    _taint(document)


def _taint(document: Document) -> None:
    spec = document["spec"]
    # A new node is not ready until it says so.
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    taints = spec.setdefault("taints", [])
    if taint not in taints:
        taints.append(taint)


def _lease(document: Document, _: Outside) -> None:
    """Drop what belongs to elections that the server is not asked to hold."""
    for name in ("strategy", "preferredHolder"):
        document.get("spec", {}).pop(name, None)


def _lease_update(_: Document, document: Document, outside: Outside) -> None:
    _lease(document, outside)


def _daemon_set(document: Document, _: Outside) -> None:
    document["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = "1"


def _daemon_set_update(old: Document, document: Document, _: Outside) -> None:
    annotations = document["metadata"].setdefault("annotations", {})
    count = int(old["metadata"].get("annotations", {}).get(TEMPLATE_GENERATION, "0"))
    changed = document["spec"]["template"] != old["spec"]["template"]
    annotations[TEMPLATE_GENERATION] = str(count + 1 if changed else count)


def _stateful_set(document: Document, _: Outside) -> None:
    # How many pods may be away at a time belongs to a feature that is off unless it is asked for.
    strategy = document["spec"].get("updateStrategy") or {}
    (strategy.get("rollingUpdate") or {}).pop("maxUnavailable", None)
    for claim in document["spec"].get("volumeClaimTemplates") or ():
        claim.update({"kind": "PersistentVolumeClaim", "apiVersion": "v1"})


def _stateful_set_update(_: Document, document: Document, outside: Outside) -> None:
    _stateful_set(document, outside)


def _job(document: Document, _: Outside) -> None:
    spec = document["spec"]
    if spec.get("manualSelector"):
        return
    uid, name = document["metadata"]["uid"], document["metadata"].get("name", "")
    labels = spec["template"]["metadata"].setdefault("labels", {})
    # Both the old and the new names of these labels, as long as anybody looks for the old.
    made = {
        _CONTROLLER_UID: uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    # In place: a job without labels of its own shares those of its template.
    labels.update({key: value for key, value in made.items() if key not in labels})
    if not document["metadata"].get("labels"):
        # Filled in whenever the job is read, by when the template has these.
        document["metadata"]["labels"] = labels
    if spec.get("selector") is None:
        spec["selector"] = {"matchLabels": {}}
    selector = spec["selector"].setdefault("matchLabels", {})
    selector.setdefault(_CONTROLLER_UID, uid)


def _persistent_volume(document: Document, outside: Outside) -> None:
    _add_finalizer(document, "kubernetes.io/pv-protection")
    document["status"] = {
        "phase": "Pending",
        "lastPhaseTransitionTime": time_text(outside.now),
    }


def _persistent_volume_claim(document: Document, _: Outside) -> None:
    _add_finalizer(document, "kubernetes.io/pvc-protection")
    document["status"] = {"phase": "Pending"}
    _settle_data_sources(document["spec"], {})


def _persistent_volume_claim_update(old: Document, document: Document, _: Outside) -> None:
    _settle_data_sources(document["spec"], old["spec"])


def _settle_data_sources(spec: Document, before: Document) -> None:
    """Say what a volume is filled from under the old name and the new; drop what neither can."""
    reference = spec.get("dataSourceRef")
    # Those of other namespaces are ignored unless a feature is on that is off by default.
    if (reference or {}).get("namespace") and before.get("dataSourceRef") is None:
        reference = None
    source = spec.get("dataSource")
    had_source = any(before.get(name) is not None for name in _DATA_SOURCES)
    if source is not None and reference is None and not had_source:
        named = (source.get("apiGroup") or "", source.get("kind"))
        source = source if named in _OLD_DATA_SOURCES else None
    if reference is None and source is not None:
        reference = dict(source)
    elif source is None and reference is not None and not reference.get("namespace"):
        source = {name: value for name, value in reference.items() if name != "namespace"}
    for name, value in zip(_DATA_SOURCES, (source, reference), strict=True):
        spec.pop(name, None)
        if value is not None:
            spec[name] = value


_DATA_SOURCES: Final = ("dataSource", "dataSourceRef")
_OLD_DATA_SOURCES: Final = frozenset(
    {("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")}
)


def _limit_range(document: Document, outside: Outside) -> None:
    if not document["metadata"].get("name"):
        document["metadata"]["name"] = outside.new_uid()


def _add_finalizer(document: Document, name: str) -> None:
    finalizers = document["metadata"].setdefault("finalizers", [])
    if name not in finalizers:
        finalizers.append(name)


def _pod_status(old: Document, document: Document, _: Outside) -> None:
    metadata = document["metadata"]
    metadata.pop("ownerReferences", None)
    if "ownerReferences" in old["metadata"]:
        metadata["ownerReferences"] = old["metadata"]["ownerReferences"]
    quality = old.get("status", {}).get("qosClass")
    if quality:
        document["status"].setdefault("qosClass", quality)


def _deployment_status(old: Document, document: Document, _: Outside) -> None:
    document["metadata"].pop("labels", None)
    if "labels" in old["metadata"]:
        document["metadata"]["labels"] = old["metadata"]["labels"]


def _pod_update(old: Document, document: Document, _: Outside) -> None:
    _tolerate_short_outages(document["spec"])
    for name in ("priority", "preemptionPolicy"):
        if name in old["spec"]:
            document["spec"].setdefault(name, old["spec"][name])


CREATE_RULES: Final[Mapping[str, Callable[[Document, Outside], None]]] = {
    "pods": _pod,
    "namespaces": _namespace,
    "secrets": _secret,
    "nodes": _node,
    "services": prepare_service,
    "daemonsets.apps": _daemon_set,
    "statefulsets.apps": _stateful_set,
    "jobs.batch": _job,
    "leases.coordination.k8s.io": _lease,
    "persistentvolumes": _persistent_volume,
    "persistentvolumeclaims": _persistent_volume_claim,
    "limitranges": _limit_range,
    **CLUSTER_CREATE_RULES,
}
UPDATE_RULES: Final[Mapping[str, Callable[[Document, Document, Outside], None]]] = {
    "namespaces": _namespace_update,
    "secrets": _secret_update,
    "services": prepare_service_update,
    "daemonsets.apps": _daemon_set_update,
    "statefulsets.apps": _stateful_set_update,
    "leases.coordination.k8s.io": _lease_update,
    "pods": _pod_update,
    "persistentvolumeclaims": _persistent_volume_claim_update,
    **CLUSTER_UPDATE_RULES,
}
STATUS_RULES: Final[Mapping[str, Callable[[Document, Document, Outside], None]]] = {
    "pods": _pod_status,
    "deployments.apps": _deployment_status,
    **CLUSTER_STATUS_RULES,
}
"""By the kind, and for other subresources than the status by ``kind/subresource``."""
