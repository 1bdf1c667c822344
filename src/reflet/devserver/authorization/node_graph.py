"""Which objects lead to which node: the graph of the Node authorizer.

    secret, config map, claim, service account → pod → node
    secret → persistent volume → claim
    volume attachment, resource slice → node

Each edge belongs to one object, its owner: a pod, a volume, an attachment or a slice.  A mirror
pod leads nowhere but to its node: a node writes those itself, and gets no rights by it.

Upstream: plugin/pkg/auth/authorizer/node/{graph,graph_populator}.go;
pkg/api/v1/persistentvolume/util.go, VisitPVSecretNames
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, final

from reflet.devserver.authorization.pod_references import CLAIMS, SECRETS, references_of
from reflet.devserver.storage.stored import Key, StoredChange

Document = Mapping[str, Any]
Edge = tuple[Key, Key]

MIRROR: Final = "kubernetes.io/config.mirror"
_VOLUMES: Final = "persistentvolumes"

# Sources of volumes with a Secret for the node, by the fields that name it.
_VOLUME_SECRETS: Final = (
    *((source, ("secretRef",)) for source in ("cephfs", "cinder", "flexVolume", "rbd")),
    *((source, ("secretRef",)) for source in ("scaleIO", "iscsi", "storageos")),
    ("csi", ("nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef")),
)
# They name the namespace of their Secret; others may leave it to the claim.
_NAMESPACE_GIVEN: Final = frozenset({"cinder", "storageos", "csi"})


@final
class NodeGraph:
    """The edges of all objects that were put in."""

    def __init__(self) -> None:
        self._nodes: dict[Key, str] = {}
        self._next: defaultdict[Key, set[Key]] = defaultdict(set)
        self._owned: dict[Key, tuple[Edge, ...]] = {}

    def put(self, key: Key, document: Document) -> None:
        """Take an object in as it is now; one that leads nowhere leaves no trace."""
        self.remove(key)
        node, edges = RELATIONS[key.resource](key, document)
        if node:
            self._nodes[key] = node
        if edges:
            self._owned[key] = edges
        for start, end in edges:
            self._next[start].add(end)

    def remove(self, key: Key) -> None:
        """Forget an object and where it led."""
        self._nodes.pop(key, None)
        for start, end in self._owned.pop(key, ()):
            ends = self._next[start]
            ends.discard(end)
            if not ends:
                del self._next[start]

    def follow(self, change: StoredChange) -> None:
        """Take in what a write changed."""
        if change.type == "DELETED":
            self.remove(change.key)
        else:
            self.put(change.key, change.stored.object)

    def leads_to(self, start: Key, node: str) -> bool:
        """Whether a way leads from an object to a node."""
        if self._nodes.get(start) == node:
            return True
        return any(self.leads_to(end, node) for end in self._next.get(start, ()))


def _of_pod(key: Key, pod: Document) -> tuple[str, tuple[Edge, ...]]:
    node = (pod.get("spec") or {}).get("nodeName") or ""
    if not node or MIRROR in (pod["metadata"].get("annotations") or {}):
        return node, ()
    used = dict.fromkeys(references_of(pod))
    return node, tuple((Key(what, key.namespace, name), key) for what, name in used)


def _of_volume(key: Key, volume: Document) -> tuple[str, tuple[Edge, ...]]:
    spec = volume.get("spec") or {}
    claim = spec.get("claimRef")
    if not claim:
        return "", ()
    namespace = claim.get("namespace") or ""
    secrets = dict.fromkeys(_volume_secrets(spec, namespace))
    claimed = (key, Key(CLAIMS, namespace, claim.get("name") or ""))
    return "", (claimed, *((Key(SECRETS, *secret), key) for secret in secrets))


def _volume_secrets(spec: Document, claim_namespace: str) -> Iterator[tuple[str, str]]:
    """Yield namespace and name of the Secrets that the node needs to use a volume."""
    azure = spec.get("azureFile")
    if azure is not None:
        if azure.get("secretName"):
            yield azure.get("secretNamespace") or claim_namespace, azure["secretName"]
        return
    for source, fields in _VOLUME_SECRETS:
        if spec.get(source) is None:
            continue
        usual = "" if source in _NAMESPACE_GIVEN else claim_namespace
        for reference in (spec[source].get(field) for field in fields):
            if reference and reference.get("name"):
                yield reference.get("namespace") or usual, reference["name"]
        return


def _of_node(_: Key, document: Document) -> tuple[str, tuple[Edge, ...]]:
    return (document.get("spec") or {}).get("nodeName") or "", ()


RELATIONS: Final[Mapping[str, Callable[[Key, Document], tuple[str, tuple[Edge, ...]]]]] = (
    MappingProxyType(
        {
            "pods": _of_pod,
            _VOLUMES: _of_volume,
            "volumeattachments.storage.k8s.io": _of_node,
            "resourceslices.resource.k8s.io": _of_node,
        }
    )
)
