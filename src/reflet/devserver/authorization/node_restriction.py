"""What a node may write, seen from the objects: its own, and the status of its own pods.

The Node authorizer lets a node write pods, nodes and leases without knowing what is in them; this
is admission, which does.  Nodes cannot give themselves rights by it: no pod that leads to other
objects, no token for a pod of another node, no label that draws pods to itself.

Not as the real server: volumes of the kinds from before CSI are not followed to their drivers, and
the difference between two claims is not told.

Upstream: plugin/pkg/admission/noderestriction/admission.go;
kubelet/pkg/apis/well_known_labels.go, IsKubeletLabel
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from reflet.apirules import refusals
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.authorization.node_authorizer import LEASES_NAMESPACE, node_of
from reflet.devserver.authorization.node_graph import MIRROR
from reflet.devserver.authorization.pod_references import claim_of, first_need
from reflet.devserver.request.authentication import UserInfo
from reflet.devserver.request.impersonation import NODE_PREFIX
from reflet.devserver.storage.stored import Key
from reflet.errors import ApiError
from reflet.gotext.quoting import quoted

Document = Mapping[str, Any]
Operation = Literal["CREATE", "UPDATE", "DELETE"]
Finder = Callable[[Key], Document | None]

NODE_SIGNERS: Final = frozenset(
    {"kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"}
)
# Labels of Kubernetes' own that a node may give itself, and their namespaces.
NODE_LABELS: Final = frozenset(
    {
        *("kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch"),
        *("beta.kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/instance-type"),
        *("topology.kubernetes.io/zone", "topology.kubernetes.io/region"),
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "node.kubernetes.io/instance-type",
    }
)
NODE_LABEL_NAMESPACES: Final = ("kubelet.kubernetes.io", "node.kubernetes.io")


@dataclass(frozen=True, slots=True)
class AttemptedWrite:
    """A write that is to be admitted; ``name`` is empty where the server is to choose one.

    ``object`` is empty for a delete, ``old`` for a create.
    """

    operation: Operation
    kind: ServedKind
    name: str
    namespace: str
    object: Document
    old: Document
    subresource: str
    user: UserInfo

    def forbidden(self, why: str) -> ApiError:
        """Refuse it as admission does."""
        metadata = self.object.get("metadata") or {}
        name = self.name or metadata.get("name") or metadata.get("generateName") or "Unknown"
        return refusals.forbidden(self.kind.plural, name, why, group=self.kind.group)


def restriction(write: AttemptedWrite, find: Finder) -> ApiError | None:
    """Say why a node may not write this; None when it may, and for whoever is no node.

    ``find`` gives other objects that are stored.
    """
    node = node_of(write.user)
    if node is None:
        return None
    if not node:
        return write.forbidden(f"could not determine node from user {quoted(write.user.name)}")
    check = _CHECKS.get(write.kind.storage_key)
    try:
        why = None if check is None else next(check(node, write, find), None)
    except ApiError as refusal:
        return refusal
    return None if why is None else write.forbidden(why)


# Pods


def _pod(node: str, write: AttemptedWrite, find: Finder) -> Iterator[str]:
    match write.subresource, write.operation:
        case "", "CREATE":
            yield from _mirror_pod(node, write.object, find)
        case "", "DELETE":
            if _node_name(write.old) != node:
                yield f"node {quoted(node)} can only delete pods with spec.nodeName set to itself"
        case "", operation:
            yield (
                f"unexpected operation {quoted(operation)}, node {quoted(node)} can only create "
                "and delete mirror pods"
            )
        case "status", "UPDATE":
            yield from _pod_status(node, write.old, write.object)
        case "eviction", "CREATE":
            if _node_name(_found(find, "pods", write.namespace, write.name)) != node:
                yield f"node {node} can only evict pods with spec.nodeName set to itself"
        case subresource, _:
            yield (
                f"unexpected pod subresource {quoted(subresource)}, only 'status' and 'eviction' "
                "are allowed"
            )


def _mirror_pod(node: str, pod: Document, find: Finder) -> Iterator[str]:
    named = quoted(node)
    metadata = pod.get("metadata") or {}
    if MIRROR not in (metadata.get("annotations") or {}):
        yield (
            f"pod does not have {quoted(MIRROR)} annotation, node {named} can only create mirror "
            "pods"
        )
    if _node_name(pod) != node:
        yield f"node {named} can only create pods with spec.nodeName set to itself"
    owners = metadata.get("ownerReferences") or ()
    if len(owners) > 1:
        yield f"node {named} can only create pods with a single owner reference set to itself"
    owner = owners[0] if owners else {}
    if [owner.get(part) for part in ("apiVersion", "kind", "name")] != ["v1", "Node", node]:
        yield f"node {named} can only create pods with an owner reference set to itself"
    if not owner.get("controller"):
        yield f"node {named} can only create pods with a controller owner reference set to itself"
    if owner.get("blockOwnerDeletion"):
        yield f"node {named} must not set blockOwnerDeletion on an owner reference"
    uid = _found(find, "nodes", "", node)["metadata"].get("uid")
    if owner.get("uid") != uid:
        yield f"node {node} UID mismatch: expected {owner.get('uid')} got {uid}"
    try:
        need = first_need(pod)
    except ValueError as error:
        yield f"error checking mirror pod for API references: {error}"
    else:
        if need:
            yield f"node {named} can not create pods that reference {need}"


def _pod_status(node: str, old: Document, new: Document) -> Iterator[str]:
    named = quoted(node)
    if _node_name(old) != node:
        where = "with spec.nodeName set to itself"
        yield f"node {named} can only update pod status for pods {where}"
    if _differ(old, new, "metadata", "labels"):
        yield f"node {named} cannot update labels through pod status"
    if _differ(old, new, "status", "resourceClaimStatuses"):
        yield f"node {named} cannot update resource claim statues"
    if _differ(old, new, "status", "extendedResourceClaimStatus"):
        yield f"node {named} cannot update extended resource claim status"


# What belongs to the node itself


def _node(node: str, write: AttemptedWrite, _: Finder) -> Iterator[str]:
    named = quoted(node)
    if write.name != node:
        yield f"node {named} is not allowed to modify node {quoted(write.name)}"
    old, new = write.old, write.object
    changed = _forbidden_labels(_labels(old), _labels(new))
    source = (new.get("spec") or {}).get("configSource")
    if write.operation == "CREATE":
        if source is not None:
            yield f"node {named} is not allowed to create pods with a non-nil configSource"
        if changed:
            yield f"node {named} is not allowed to set the following labels: {changed}"
    elif write.operation == "UPDATE":
        if source is not None and _differ(old, new, "spec", "configSource"):
            what = "to a new non-nil configSource"
            yield f"node {named} is not allowed to update configSource {what}"
        if _differ(old, new, "spec", "taints"):
            yield f"node {named} is not allowed to modify taints"
        if _differ(old, new, "metadata", "ownerReferences"):
            yield f"node {named} is not allowed to modify ownerReferences"
        if changed:
            yield f"is not allowed to modify labels: {changed}"


def _forbidden_labels(old: Document, new: Document) -> str:
    """List the labels that were changed and are not a node's to change."""
    changed = {label for label in {*old, *new} if old.get(label) != new.get(label)}
    return ", ".join(sorted(label for label in changed if not _is_nodes(label)))


def _is_nodes(label: str) -> bool:
    namespace = label.partition("/")[0] if "/" in label else ""
    if _is_below(namespace, "node-restriction.kubernetes.io"):
        return False
    if not _is_below(namespace, "kubernetes.io") and not _is_below(namespace, "k8s.io"):
        return True
    return label in NODE_LABELS or any(_is_below(namespace, each) for each in NODE_LABEL_NAMESPACES)


def _is_below(namespace: str, domain: str) -> bool:
    return namespace == domain or namespace.endswith(f".{domain}")


def _lease(node: str, write: AttemptedWrite, _: Finder) -> Iterator[str]:
    if write.namespace != LEASES_NAMESPACE:
        yield f'can only access leases in the "{LEASES_NAMESPACE}" system namespace'
    if write.name != node:
        yield "can only access node lease with the same name as the requesting node"


def _csi_node(node: str, write: AttemptedWrite, _: Finder) -> Iterator[str]:
    if write.name != node:
        yield "can only access CSINode with the same name as the requesting node"


def _resource_slice(node: str, write: AttemptedWrite, _: Finder) -> Iterator[str]:
    slices = {"CREATE": write.object, "DELETE": write.old}
    if write.operation in slices and _node_name(slices[write.operation]) != node:
        verb = write.operation.lower()
        yield f"can only {verb} ResourceSlice with the same NodeName as the requesting node"


def _certificate_request(node: str, write: AttemptedWrite, _: Finder) -> Iterator[str]:
    spec = write.object.get("spec") or {}
    if write.operation != "CREATE" or spec.get("signerName") not in NODE_SIGNERS:
        return
    try:
        name = _common_name(spec.get("request") or "")
    except ModuleNotFoundError:  # without the extra nobody can read it
        return
    except ValueError as error:
        yield f"unable to parse csr: {error}"
        return
    if name != f"{NODE_PREFIX}{node}":
        yield f"can only create a node CSR with CN={NODE_PREFIX}{node}"


def _common_name(request: str) -> str:
    """Give the common name in a certificate request; raises ValueError for what is none."""
    from cryptography import x509  # noqa: PLC0415 - an extra, and slow to import

    try:
        content = base64.b64decode(request)
    except binascii.Error:
        content = b""
    if b"-----BEGIN CERTIFICATE REQUEST-----" not in content:
        raise ValueError("PEM block type must be CERTIFICATE REQUEST")
    subject = x509.load_pem_x509_csr(content).subject
    names = subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return str(names[-1].value) if names else ""


# Claims and tokens


def _claim(node: str, write: AttemptedWrite, _: Finder) -> Iterator[str]:
    if write.subresource != "status":
        yield "may only update PVC status"
    elif _fixed_part(write.old) != _fixed_part(write.object):
        yield (
            f"node {quoted(node)} is not allowed to update fields other than status.quantity and "
            "status.conditions"
        )


def _fixed_part(claim: Document) -> Document:
    changing = {"capacity", "conditions", "allocatedResources", "allocatedResourceStatuses"}
    metadata = {**(claim.get("metadata") or {})}
    for name in ("resourceVersion", "managedFields"):
        metadata.pop(name, None)
    status = claim.get("status") or {}
    return {
        "metadata": metadata,
        "spec": claim.get("spec"),
        "status": {name: value for name, value in status.items() if name not in changing},
    }


def _token(node: str, write: AttemptedWrite, find: Finder) -> Iterator[str]:
    if (write.operation, write.subresource) != ("CREATE", "token"):
        return
    spec = write.object.get("spec") or {}
    bound = spec.get("boundObjectRef") or {}
    name, uid = bound.get("name") or "", bound.get("uid")
    if (bound.get("apiVersion"), bound.get("kind")) != ("v1", "Pod") or not name:
        yield "node requested token not bound to a pod"
    if not uid:
        yield "node requested token with a pod binding without a uid"
    pod = _found(find, "pods", write.namespace, name)
    if uid != pod["metadata"].get("uid"):
        yield (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
    if _node_name(pod) != node:
        yield "node requested token bound to a pod scheduled on a different node"
    audiences = spec.get("audiences") or [""]
    if len(audiences) > 1:
        yield "node may only request 0 or 1 audiences"
    audience, problems = quoted(audiences[0]), list[str]()
    if any(audiences[0] in named for named in _audiences(pod, find, problems)):
        return
    if problems:
        said = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        yield f"error validating audience {audience}: {said}"
    yield (
        f"audience {audience} not found in pod spec volume, {NODE_PREFIX}{node} is not authorized "
        "to request tokens for this audience"
    )


def _audiences(pod: Document, find: Finder, problems: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the audiences that each volume of a pod is for; note what could not be looked up."""
    for volume in pod["spec"].get("volumes") or ():
        for part in (volume.get("projected") or {}).get("sources") or ():
            if part.get("serviceAccountToken") is not None:
                yield (part["serviceAccountToken"].get("audience") or "",)
        try:
            driver = _driver(pod, volume, find)
            if driver:
                stored = _found(find, "csidrivers", "", driver, group="storage.k8s.io")
                requests = stored["spec"].get("tokenRequests") or ()
                yield tuple(each.get("audience") or "" for each in requests)
        except ApiError as error:
            problems.append(error.message)


def _driver(pod: Document, volume: Document, find: Finder) -> str:
    """Name the CSI driver of a volume, its own or that of its claim; empty when it has none."""
    claim = claim_of(pod, volume)
    if not claim:
        return (volume.get("csi") or {}).get("driver") or ""
    stored = _found(find, "persistentvolumeclaims", pod["metadata"].get("namespace") or "", claim)
    name = stored["spec"].get("volumeName") or ""
    bound = _found(find, "persistentvolumes", "", name)
    return (bound["spec"].get("csi") or {}).get("driver") or ""


# Reading documents


def _found(find: Finder, plural: str, namespace: str, name: str, *, group: str = "") -> Document:
    found = find(Key(refusals.qualified(plural, group), namespace, name))
    if found is None:
        # The real server says so of its own lists, which know resources by their singular.
        raise refusals.not_found(plural.removesuffix("s"), name, group=group)
    return found


def _node_name(document: Document) -> str:
    return (document.get("spec") or {}).get("nodeName") or ""


def _labels(document: Document) -> Document:
    return (document.get("metadata") or {}).get("labels") or {}


def _differ(old: Document, new: Document, part: str, field: str) -> bool:
    """Whether a field has another value; what is empty is as if it were not there."""
    one, other = ((each.get(part) or {}).get(field) or None for each in (old, new))
    return one != other


_CHECKS: Final[Mapping[str, Callable[[str, AttemptedWrite, Finder], Iterator[str]]]] = (
    MappingProxyType(
        {
            "pods": _pod,
            "nodes": _node,
            "persistentvolumeclaims": _claim,
            "serviceaccounts": _token,
            "leases.coordination.k8s.io": _lease,
            "csinodes.storage.k8s.io": _csi_node,
            "resourceslices.resource.k8s.io": _resource_slice,
            "certificatesigningrequests.certificates.k8s.io": _certificate_request,
        }
    )
)
