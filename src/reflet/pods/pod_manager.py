"""Which pods there are, and which static pod belongs to which mirror pod.

A static pod comes from the node itself; its mirror is what the API server shows of it.  Unlike in
Kubernetes 1.19 this is bookkeeping and nothing else: what registers pods is ``registrar``.

Upstream: pkg/kubelet/pod/pod_manager.go, basicManager; pkg/kubelet/types/pod_update.go,
IsStaticPod and IsMirrorPod; pkg/kubelet/config/common.go, tryDecodeSinglePod
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from reflet.api.core.pods import Pod
from reflet.errors import ConfigurationError
from reflet.resolution.references.references import config_map_names, secret_names

SOURCE_ANNOTATION: Final = "kubernetes.io/config.source"
MIRROR_ANNOTATION: Final = "kubernetes.io/config.mirror"
HASH_ANNOTATION: Final = "kubernetes.io/config.hash"
API_SOURCE: Final = "api"


class StaticPodRefused(ConfigurationError):
    """A static pod refers to objects of the API server, which its node may not read for it."""


def full_name(pod: Pod) -> str:
    """``<name>_<namespace>``, by which a static pod and its mirror find each other."""
    return f"{pod.metadata.name}_{pod.metadata.namespace}"


def is_static(pod: Pod) -> bool:
    """Whether the pod comes from the node itself; one that does not say so does not."""
    return pod.metadata.annotations.get(SOURCE_ANNOTATION, API_SOURCE) != API_SOURCE


def is_mirror(pod: Pod) -> bool:
    """Whether the pod only shows a static one."""
    return MIRROR_ANNOTATION in pod.metadata.annotations


def is_mirror_of(mirror: Pod, pod: Pod) -> bool:
    """Whether *mirror* shows *pod* as it is now: same name, and made from the same content."""
    shown = mirror.metadata.annotations.get(MIRROR_ANNOTATION)
    content = pod.metadata.annotations.get(HASH_ANNOTATION)
    return full_name(mirror) == full_name(pod) and shown is not None and shown == content


def refuse_references(pod: Pod) -> None:
    """Raise StaticPodRefused for a static pod that refers to objects of the API server."""
    uses_claim = any(volume.persistent_volume_claim is not None for volume in pod.spec.volumes)
    for resource, is_used in (
        ("serviceaccounts", bool(pod.spec.service_account_name)),
        ("secrets", bool(secret_names(pod))),
        ("configmaps", bool(config_map_names(pod))),
        ("persistentvolumeclaims", uses_claim),
    ):
        if is_used:
            raise StaticPodRefused(f"static pods may not reference {resource}")


@dataclass(frozen=True, slots=True)
class PodPair:
    """A pod and its mirror, as far as they are known; *was_mirror* says which one was given.

    - *pod*: the pod; None if it is not known
    - *mirror*: its mirror pod; None if there is none
    """

    pod: Pod | None
    mirror: Pod | None
    was_mirror: bool


class PodManager:
    """The pods of a node, by uid and by full name.  Belongs to one thread."""

    def __init__(self) -> None:
        self._pods: dict[str, Pod] = {}
        self._pods_by_name: dict[str, Pod] = {}
        self._mirrors: dict[str, Pod] = {}
        self._mirrors_by_name: dict[str, Pod] = {}
        self._static_uids: dict[str, str] = {}  # of mirrors' uids

    def __len__(self) -> int:
        """How many pods there are, mirrors not counted."""
        return len(self._pods)

    # Writing

    def replace(self, pods: Iterable[Pod]) -> None:
        """Forget everything, and know these.

        - *pods*: all pods there are, mirrors included
        """
        for known in (
            self._pods,
            self._pods_by_name,
            self._mirrors,
            self._mirrors_by_name,
            self._static_uids,
        ):
            known.clear()
        for pod in pods:
            self.put(pod)

    def put(self, pod: Pod) -> None:
        """Know a pod, or its new state."""
        name, uid = full_name(pod), pod.metadata.uid
        if is_mirror(pod):
            self._mirrors[uid] = self._mirrors_by_name[name] = pod
        else:
            self._pods[uid] = self._pods_by_name[name] = pod
        static, mirror = self._pods_by_name.get(name), self._mirrors_by_name.get(name)
        if static is not None and mirror is not None:
            self._static_uids[mirror.metadata.uid] = static.metadata.uid

    def remove(self, pod: Pod) -> None:
        """Forget a pod; harmless when it is not known."""
        name, uid = full_name(pod), pod.metadata.uid
        if is_mirror(pod):
            self._mirrors.pop(uid, None)
            self._mirrors_by_name.pop(name, None)
            self._static_uids.pop(uid, None)
        else:
            self._pods.pop(uid, None)
            self._pods_by_name.pop(name, None)

    # Reading

    @property
    def pods(self) -> tuple[Pod, ...]:
        """Every pod that is no mirror."""
        return tuple(self._pods.values())

    @property
    def mirrors(self) -> tuple[Pod, ...]:
        """Every mirror."""
        return tuple(self._mirrors.values())

    def by_uid(self, uid: str) -> Pod | None:
        """The pod that is no mirror and has this uid."""
        return self._pods.get(uid)

    def by_full_name(self, name: str) -> Pod | None:
        """The pod that is no mirror and has this full name.

        - *name*: ``name_namespace``
        """
        return self._pods_by_name.get(name)

    def by_name(self, namespace: str, name: str) -> Pod | None:
        """The pod that is no mirror, by its namespace and name.

        - *namespace*: namespace of the pod
        - *name*: name of the pod
        """
        return self._pods_by_name.get(f"{name}_{namespace}")

    def pod_of(self, mirror: Pod) -> Pod | None:
        """The pod that a mirror shows.

        - *mirror*: a mirror pod
        """
        return self._pods_by_name.get(full_name(mirror))

    def mirror_of(self, pod: Pod) -> Pod | None:
        """The mirror of a pod."""
        return self._mirrors_by_name.get(full_name(pod))

    def pair_of(self, pod: Pod) -> PodPair:
        """A pod and its mirror, whichever of them is given."""
        if is_mirror(pod):
            return PodPair(self.pod_of(pod), pod, was_mirror=True)
        return PodPair(pod, self.mirror_of(pod), was_mirror=False)

    def orphaned_mirrors(self) -> tuple[str, ...]:
        """The full names of mirrors that show nothing."""
        return tuple(name for name in self._mirrors_by_name if name not in self._pods_by_name)

    # Uids

    def pod_uid(self, uid: str) -> str:
        """The uid of the pod that a mirror's uid stands for; any other uid stands for itself."""
        return self._static_uids.get(uid, uid)

    def mirror_uids(self) -> Mapping[str, str]:
        """The uid of each static pod's mirror, empty for one that has none."""
        uids = {uid: "" for uid, pod in self._pods.items() if is_static(pod)}
        uids.update({static: mirror for mirror, static in self._static_uids.items()})
        return uids

    def static_uids(self) -> Mapping[str, str]:
        """The uid of the pod that each mirror shows, by the uid of the mirror."""
        return dict(self._static_uids)
