"""What a reason is: a type with its facts, equal wherever it is the same; and where it was seen.

The types themselves are in the files that find them.
"""

from collections.abc import Mapping
from typing import ClassVar, Final, Self

from reflet.api.frozen import Frozen
from reflet.api.meta import ObjectMeta
from reflet.insight.why.signals import Signal
from reflet.resolution.places import Place

_SHORT: Final[Mapping[str, str]] = {
    "DaemonSet": "ds",
    "Deployment": "deploy",
    "ReplicaSet": "rs",
    "ReplicationController": "rc",
    "StatefulSet": "sts",
}


class ObjectName(Frozen, frozen=True, kw_only=True):
    """An object, as ``deploy/web`` in its text."""

    kind: str
    namespace: str = ""
    name: str = ""

    @classmethod
    def of(cls, kind: str, metadata: ObjectMeta) -> Self:
        """Name an object by its metadata; one that has no name yet by the beginning of it."""
        return cls(
            kind=kind, namespace=metadata.namespace, name=metadata.name or metadata.generate_name
        )

    def __str__(self) -> str:
        return f"{_SHORT.get(self.kind, self.kind.lower())}/{self.name}"

    @property
    def in_namespace(self) -> str:
        """The flag that says where, for a command."""
        return f"-n {self.namespace}" if self.namespace else ""


class ShownAs(Frozen, frozen=True, kw_only=True):
    """Where a kubelet shows a problem: in a container's status or as an event of the pod."""

    source: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.source} {self.reason}" if self.reason else ""


class Reason(Frozen, frozen=True, kw_only=True):
    """Why something is not as it should be.

    Equal reasons are one, whoever has them: what differs from pod to pod is no part of them, but of
    the ``Sighting``.
    """

    in_configuration: ClassVar[bool] = False
    """Whether ConfigMaps, Secrets, variables or files are the cause."""

    @property
    def type(self) -> str:
        """The name of the kind of reason, for programs."""
        return type(self).__name__

    @property
    def message(self) -> str:
        """One sentence for people, without a closing stop."""
        return self._sentence()

    def advice(self, example: ObjectName) -> str:
        """Return what to do, or a command that shows more; *example* is one that has it."""
        return self._advice(example)

    def _sentence(self) -> str:
        raise NotImplementedError

    def _advice(self, example: ObjectName, /) -> str:
        raise NotImplementedError

    @property
    def stops(self) -> bool:
        """Whether what has it does not run; otherwise ``effect`` says what happens instead."""
        return True

    @property
    def effect(self) -> str:
        """What happens, where that is not that something does not run."""
        return ""

    @property
    def certain(self) -> bool:
        """Whether it holds for everybody; a kubelet may read what this reader may not."""
        return True

    @property
    def kubelet(self) -> str:
        """The words in which a kubelet complains, where they are known beforehand."""
        return ""

    @property
    def shown_as(self) -> ShownAs:
        """Where a kubelet complains."""
        return ShownAs()


class Sighting(Frozen, frozen=True, kw_only=True):
    """A reason at an object: a pod, or something that makes pods.

    ``explains`` are the complaints that it is the cause of.  One that is not ``wrong`` is said, and
    no failure; with ``running``, the pod runs in spite of it, having started before.
    """

    reason: Reason
    at: ObjectName
    fix: str = ""
    places: tuple[Place, ...] = ()
    explains: tuple[Signal, ...] = ()
    wrong: bool = True
    running: bool = False


def seen(
    reason: Reason, at: ObjectName, explains: tuple[Signal, ...] = (), *, wrong: bool = True
) -> Sighting:
    """Return a sighting with the advice of its reason."""
    return Sighting(reason=reason, at=at, fix=reason.advice(at), explains=explains, wrong=wrong)
