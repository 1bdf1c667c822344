"""Which objects a sidecar follows: a stream for each kind and namespace, or for each name.

Pure.  The order of the streams is the order in which kiwigrid/k8s-sidecar reads: secrets before
ConfigMaps, namespaces and names as they are given.  Where two objects claim one file, the later one
has it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from reflet.sidecar.sidecar_settings import BadSettings, SidecarSettings
from reflet.sidecar.variable_readers import ALL, ResourceName

SidecarKind = Literal["secret", "configmap"]


@dataclass(frozen=True, slots=True)
class SelectedObjects:
    """Objects of one kind: by label, or the one *name*.

    *namespace* is None for all of them.
    """

    kind: SidecarKind
    namespace: str | None
    label_selector: str = ""
    name: str = ""

    def __str__(self) -> str:
        where = f" in {self.namespace}" if self.namespace else " in all namespaces"
        return f"{self.kind} {self.name}{where}" if self.name else f"{self.kind}s{where}"

    @property
    def field_selector(self) -> str:
        """How one object is watched: rights for that name alone will do."""
        return f"metadata.name={self.name}" if self.name else ""


def selected(settings: SidecarSettings, own_namespace: str) -> tuple[SelectedObjects, ...]:
    """What to follow; BadSettings when RESOURCE_NAME leaves nothing."""
    namespaces = settings.namespace or (own_namespace,)
    named = settings.resource_name
    if namespaces == (ALL,):
        # The original ignores RESOURCE_NAME here, and charts set both.
        return tuple(SelectedObjects(kind, None, settings.selector) for kind in settings.kinds)
    if not named:
        return tuple(
            SelectedObjects(kind, namespace, settings.selector)
            for kind in settings.kinds
            for namespace in namespaces
        )
    found = tuple(dict.fromkeys(_by_name(settings.kinds, namespaces, named)))
    if not found:
        names = ", ".join(map(str, named))
        raise BadSettings(
            (f"RESOURCE_NAME: {names} is of no kind or namespace that is selected here",)
        )
    return found


def _by_name(
    kinds: Sequence[SidecarKind], namespaces: Sequence[str], named: Sequence[ResourceName]
) -> Iterator[SelectedObjects]:
    for kind in kinds:
        for namespace in namespaces:
            for each in named:
                if each.kind in {None, kind} and each.namespace in {None, namespace}:
                    yield SelectedObjects(kind, namespace, name=each.name)


def verbs_needed(settings: SidecarSettings, objects: SelectedObjects) -> tuple[str, ...]:
    """What the sidecar must be allowed to do with *objects*.

    A named object that may not be watched is got every SLEEP_TIME seconds: for that, and for
    METHOD=LIST and METHOD=SLEEP, ``get`` alone is enough.
    """
    if settings.reads_once or settings.polls:
        return ("get",) if objects.name else ("list",)
    return ("get", "list", "watch") if objects.name else ("list", "watch")


def identity(streams: Sequence[SelectedObjects]) -> str:
    """A short name for a selection, the same after a restart.

    Sidecars that select other objects may share a folder: each has a ledger of its own.
    """
    text = "\n".join(
        f"{each.kind}|{each.namespace or ''}|{each.label_selector}|{each.name}" for each in streams
    )
    return hashlib.sha256(text.encode()).hexdigest()[:12]
