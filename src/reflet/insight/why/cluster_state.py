"""What is in hand of a cluster, or of files, and who owns whom.

``ClusterState`` is what somebody has gathered, ``StateView`` finds things in it.  What is
``None`` was not looked at, which is not the same as not there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias, TypeVar, final

from reflet.api.core.nodes import Node
from reflet.api.core.pods import NodeSelector, Pod
from reflet.api.core.small_kinds import Event
from reflet.api.frozen import EMPTY, Frozen, QuantityText, constant
from reflet.api.meta import KubernetesObject, ObjectMeta, OwnerReference, TypedObject
from reflet.insight.why.reasons import ObjectName
from reflet.resolution.pod_inputs import PodInputs, RefusedObject
from reflet.resolution.templates.templates import Workload

READY_PATIENCE: Final = timedelta(minutes=1)
"""For a container that runs to become ready, and for a pod that is to end."""
SILENT_PATIENCE: Final = timedelta(minutes=5)
"""For a controller, a scheduler or a kubelet to say anything at all."""

NamedKey: TypeAlias = tuple[str, str, str]
"""Kind, namespace (empty for what has none) and name."""

T = TypeVar("T", bound=KubernetesObject)


# Kinds of which these few fields are wanted; nobody else has classes for them.


class ClaimSeenSpec(Frozen, frozen=True, kw_only=True):
    """The class and the volume of a claim."""

    storage_class_name: str | None = None
    volume_name: str = ""


class ClaimSeenStatus(Frozen, frozen=True, kw_only=True):
    """Pending, Bound or Lost."""

    phase: str = ""


class ClaimSeen(TypedObject, frozen=True, kw_only=True):
    """A PersistentVolumeClaim, as far as pods wait for it."""

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["PersistentVolumeClaim"] = constant("PersistentVolumeClaim")
    metadata: ObjectMeta = ObjectMeta()
    spec: ClaimSeenSpec = ClaimSeenSpec()
    status: ClaimSeenStatus = ClaimSeenStatus()


class VolumeNodeAffinity(Frozen, frozen=True, kw_only=True):
    """The nodes from which a volume can be reached."""

    required: NodeSelector | None = None


class VolumeSeenSpec(Frozen, frozen=True, kw_only=True):
    """Where a volume is."""

    node_affinity: VolumeNodeAffinity | None = None


class VolumeSeen(TypedObject, frozen=True, kw_only=True):
    """A PersistentVolume, as far as it keeps pods to nodes."""

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["PersistentVolume"] = constant("PersistentVolume")
    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeSeenSpec = VolumeSeenSpec()


class StorageClassSeen(TypedObject, frozen=True, kw_only=True):
    """A StorageClass: that it exists, and when it binds."""

    api_version: Literal["storage.k8s.io/v1"] = constant("storage.k8s.io/v1")
    kind: Literal["StorageClass"] = constant("StorageClass")
    metadata: ObjectMeta = ObjectMeta()
    volume_binding_mode: str = ""


class QuotaSeenStatus(Frozen, frozen=True, kw_only=True):
    """What is allowed and what is used."""

    hard: Mapping[str, QuantityText] = EMPTY
    used: Mapping[str, QuantityText] = EMPTY


class QuotaSeen(TypedObject, frozen=True, kw_only=True):
    """A ResourceQuota, as far as it is used up."""

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["ResourceQuota"] = constant("ResourceQuota")
    metadata: ObjectMeta = ObjectMeta()
    status: QuotaSeenStatus = QuotaSeenStatus()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterState:
    """What somebody has gathered.

    ``pods`` are those that are there, with what their containers get and their events;
    ``templates`` are pods that workloads would make, of those that are to be looked at.
    ``events`` are the warnings about everything else.  ``absent`` are objects that were asked for
    and do not exist, ``present`` others of their kinds, for suggestions; ``from_files`` says that
    a cluster may have more of both, ``refusals`` are pods and workloads that it would not take.

    ``targets`` are the objects that were asked about; without them, it is everything that nothing
    else owns.  ``unseen`` are kinds that could not be looked at, ``left_out`` says so and why,
    ``remarks`` say what is assumed.
    """

    pods: Sequence[PodInputs] = field(default=(), repr=False)
    templates: Sequence[PodInputs] = field(default=(), repr=False)
    workloads: Sequence[Workload] = ()
    events: Sequence[Event] = ()
    nodes: Sequence[Node] | None = None
    claims: Sequence[ClaimSeen] | None = None
    volumes: Sequence[VolumeSeen] | None = None
    storage_classes: Sequence[StorageClassSeen] | None = None
    quotas: Sequence[QuotaSeen] | None = None
    absent: frozenset[NamedKey] = frozenset()
    present: frozenset[NamedKey] = frozenset()
    from_files: bool = False
    refusals: tuple[RefusedObject, ...] = ()
    targets: frozenset[ObjectName] | None = None
    now: datetime | None = None
    unseen: frozenset[str] = frozenset()
    left_out: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


Owner: TypeAlias = Workload | Pod


@final
class StateView:
    """Finds what a state holds: by owner, by name, and how old it is."""

    def __init__(self, state: ClusterState) -> None:
        self.state = state
        self._by_uid: dict[str, Workload] = {
            each.metadata.uid: each for each in state.workloads if each.metadata.uid
        }
        self._owned: dict[str, list[Workload]] = {}
        for workload in state.workloads:
            owner = controller_of(workload.metadata)
            if owner is not None:
                self._owned.setdefault(owner.uid, []).append(workload)
        self._events: dict[NamedKey, list[Event]] = {}
        for event in state.events:
            about, namespace = event.involved_object, event.metadata.namespace
            self._events.setdefault((about.kind, namespace, about.name), []).append(event)
        self.nodes = None if state.nodes is None else _by_name(state.nodes)
        self.claims = None if state.claims is None else _by_key(state.claims)
        self.volumes = None if state.volumes is None else _by_name(state.volumes)
        classes = state.storage_classes
        self.storage_classes = None if classes is None else _by_name(classes)

    def owned_by(self, owner: Owner) -> Sequence[Workload]:
        """Return the workloads that another one has made."""
        return self._owned.get(owner.metadata.uid, ())

    def root_of(self, kind: str, metadata: ObjectMeta) -> ObjectName:
        """Return the object to speak of: the target, or the topmost owner, whether in hand or not.

        An owner that only a reference names is an answer too: a custom workload, most often.
        """
        targets = self.state.targets
        name = ObjectName.of(kind, metadata)
        for _ in range(_DEEPEST):
            if targets is not None and name in targets:
                return name
            owner = controller_of(metadata)
            if owner is None:
                return name
            name = ObjectName(kind=owner.kind, namespace=metadata.namespace, name=owner.name)
            known = self._by_uid.get(owner.uid)
            if known is None:
                return name
            metadata = known.metadata
        return name

    def events_of(self, kind: str, metadata: ObjectMeta) -> Iterator[Event]:
        """Yield the warnings about an object."""
        yield from self._events.get((kind, metadata.namespace, metadata.name), ())

    def sees_pods(self) -> bool:
        """Tell whether all pods of a workload are in hand, however many these are."""
        return self.state.unseen.isdisjoint({"Pod", "ReplicaSet", "Job"})

    def is_older(self, moment: datetime | None, patience: timedelta) -> bool:
        """Tell whether something happened longer ago; of what has no time, nobody knows."""
        now = self.state.now
        return now is not None and moment is not None and now - moment > patience

    def quotas_of(self, namespace: str) -> Iterator[QuotaSeen]:
        """Yield the quotas of a namespace."""
        for quota in self.state.quotas or ():
            if quota.metadata.namespace == namespace:
                yield quota


_DEEPEST: Final = 10  # owners above each other; a circle of them is nobody's intention


def controller_of(metadata: ObjectMeta) -> OwnerReference | None:
    """Return the owner that looks after an object."""
    return next((each for each in metadata.owner_references if each.controller), None)


def _by_name(objects: Iterable[T]) -> Mapping[str, T]:
    return {each.metadata.name: each for each in objects}


def _by_key(objects: Iterable[T]) -> Mapping[tuple[str, str], T]:
    return {(each.metadata.namespace, each.metadata.name): each for each in objects}
