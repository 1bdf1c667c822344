"""Why a pod's persistent volumes are not there: claims that are missing, unbound, out of reach."""

from collections.abc import Iterator
from typing import Final

from reflet.api.core.pods import Pod
from reflet.insight.why.cluster_state import ClaimSeen, StateView
from reflet.insight.why.creation_reasons import AbsentObject
from reflet.insight.why.placement_reasons import selector_text, selects
from reflet.insight.why.reasons import ObjectName, Reason
from reflet.insight.why.signals import common_words

DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
_LATE: Final = "WaitForFirstConsumer"


class ClaimUnbound(Reason, frozen=True, kw_only=True):
    """A claim that has no volume yet, and what is known of why."""

    namespace: str
    claim: str
    storage_class: str = ""
    words: str = ""

    def _sentence(self) -> str:
        of_class = f" of class {self.storage_class}" if self.storage_class else ""
        why = f": {self.words}" if self.words else ""
        return f"PersistentVolumeClaim {self.namespace}/{self.claim} has no volume{of_class}{why}"

    def _advice(self, _: ObjectName, /) -> str:
        if not self.storage_class:
            return "give the claim a storageClassName, make one the default, or create a volume"
        return f"kubectl describe pvc {self.claim} -n {self.namespace}"


class ClaimGoing(Reason, frozen=True, kw_only=True):
    """A claim that is being deleted, or whose volume is gone."""

    namespace: str
    claim: str
    lost: bool = False

    def _sentence(self) -> str:
        what = "has lost its volume" if self.lost else "is being deleted"
        return f"PersistentVolumeClaim {self.namespace}/{self.claim} {what}"

    def _advice(self, _: ObjectName, /) -> str:
        if self.lost:
            return f"restore the PersistentVolume, or delete the claim {self.claim}"
        return f"wait until {self.claim} is gone, and create it again"


class VolumeElsewhere(Reason, frozen=True, kw_only=True):
    """A volume that can be reached only from nodes that do not take the pod."""

    namespace: str
    claims: tuple[str, ...]
    where: str = ""

    def _sentence(self) -> str:
        claims = ", ".join(self.claims)
        where = f": it is where {self.where}" if self.where else ""
        return (
            f"no node that could take the pod reaches the volume of PersistentVolumeClaim "
            f"{self.namespace}/{claims}{where}"
        )

    def _advice(self, _: ObjectName, /) -> str:
        return "make room on the nodes that reach the volume, or move the data to a new claim"


def claim_reasons(pod: Pod, view: StateView, words: str) -> Iterator[Reason]:
    """Yield what is wrong with the claims of a pod; *words* are the scheduler's."""
    bound = []
    for name in claims_of(pod):
        claim = None if view.claims is None else view.claims.get((pod.metadata.namespace, name))
        if claim is None:
            if view.claims is not None:
                yield AbsentObject(
                    kind="PersistentVolumeClaim", namespace=pod.metadata.namespace, name=name
                )
        elif claim.metadata.deletion_timestamp is not None:
            yield ClaimGoing(namespace=claim.metadata.namespace, claim=name)
        elif claim.status.phase == "Lost":
            yield ClaimGoing(namespace=claim.metadata.namespace, claim=name, lost=True)
        elif claim.status.phase != "Bound":
            yield from _unbound(claim, view)
        else:
            bound.append(claim)
    if bound and _is_out_of_reach(words):
        yield _elsewhere(bound, view)


def claims_of(pod: Pod) -> Iterator[str]:
    """Yield the names of the claims that a pod mounts."""
    for volume in pod.spec.volumes:
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name:
            yield claim.claim_name
        elif volume.ephemeral is not None:
            yield f"{pod.metadata.name}-{volume.name}"


def _unbound(claim: ClaimSeen, view: StateView) -> Iterator[Reason]:
    namespace, name = claim.metadata.namespace, claim.metadata.name
    wanted = claim.spec.storage_class_name
    words = ""
    for event in view.events_of(claim.kind, claim.metadata):
        words = common_words(event.message)
    classes = view.storage_classes
    if classes is not None:
        if wanted is None:
            by_default = [
                each.metadata.name
                for each in classes.values()
                if each.metadata.annotations.get(DEFAULT_CLASS) == "true"
            ]
            wanted = by_default[0] if by_default else ""
            words = words or ("" if by_default else "no StorageClass is the default")
        elif wanted and wanted not in classes:
            yield AbsentObject(kind="StorageClass", name=wanted)
            return
        known = classes.get(wanted)
        if known is not None and known.volume_binding_mode == _LATE and not words:
            return  # it waits for the pod to be placed, and not the pod for it
    yield ClaimUnbound(namespace=namespace, claim=name, storage_class=wanted or "", words=words)


def _is_out_of_reach(words: str) -> bool:
    return "PersistentVolume's node affinity" in words or "volume node affinity conflict" in words


def _elsewhere(claims: list[ClaimSeen], view: StateView) -> Reason:
    there = []
    for claim in claims:
        volume = (view.volumes or {}).get(claim.spec.volume_name)
        affinity = None if volume is None else volume.spec.node_affinity
        if affinity is None or affinity.required is None:
            continue
        reached = [node for node in (view.nodes or {}).values() if selects(affinity.required, node)]
        if not view.nodes or len(reached) < len(view.nodes):
            there.append((claim.metadata.name, selector_text(affinity.required)))
    return VolumeElsewhere(
        namespace=claims[0].metadata.namespace,
        claims=tuple(name for name, _ in there) or tuple(each.metadata.name for each in claims),
        where=", ".join(dict.fromkeys(where for _, where in there)),
    )
