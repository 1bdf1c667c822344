"""Which pod of the files is meant, by type and name; and which there are when it is not clear."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, final

from reflet.api.core.pods import Pod
from reflet.api.meta import KubernetesObject
from reflet.errors import ConfigurationError, Invalid
from reflet.manifests.applied import AppliedManifests, AppliedObject, Refusal
from reflet.resolution.templates import (
    POD_KINDS,
    WORKLOADS,
    assumptions_of,
    pod_of,
    pod_resource,
)

_MOST_SHOWN: Final = 8


@final
@dataclass(frozen=True, slots=True)
class PodTarget:
    """A pod, and the object of the files that it is or comes from.

    ``assumptions`` are sentences about what is only assumed of a pod that is not made yet.
    """

    place: str
    kind: str
    namespace: str
    name: str
    pod: Pod
    assumptions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind.lower()}/{self.name}"


def choose_pod(
    applied: AppliedManifests,
    target: tuple[str, str | None] | None,
    namespace: str | None = None,
    *,
    refused: bool = False,
) -> PodTarget:
    """Return the pod that is meant.

    ``target`` is a type and a name as they were typed; without one, or without a name, the
    files must hold exactly one.  ``namespace`` leaves out the other namespaces.  Raises
    ConfigurationError, which lists what there is, and Invalid, with the server's words, for a
    pod that it would refuse; with *refused*, only for one that cannot be read either.
    """
    kind, name = (None, None) if target is None else (pod_resource(target[0]).kind, target[1])
    candidates: list[PodTarget | Refusal] = [
        *pod_targets(applied),
        *(refusal for refusal in applied.refusals if refusal.kind in POD_KINDS),
    ]
    found = [
        each
        for each in candidates
        if (kind is None or each.kind == kind)
        and (name is None or each.name == name)
        and (not namespace or each.namespace == namespace)
    ]
    if len(found) != 1:
        accepted = [each for each in found if isinstance(each, PodTarget)]
        # An object that was accepted and then not changed is still there.
        if name is None or len(accepted) != 1:
            if not candidates:
                raise no_pods(applied)
            raise _unclear(found, candidates, target, namespace)
        found = [*accepted]
    (chosen,) = found
    if isinstance(chosen, Refusal):
        as_written = _target(chosen.place, chosen.object) if refused else None
        if as_written is None:
            raise Invalid(str(chosen), kind=chosen.kind, name=chosen.name)
        return as_written
    return chosen


def pod_targets(applied: AppliedManifests, *, refused: bool = False) -> Iterator[PodTarget]:
    """Yield every pod of the files: pods, and those of workloads' templates.

    With *refused*, those that the server would refuse too, as they were written.
    """
    items: list[AppliedObject | Refusal] = [*applied.objects]
    for item in [*items, *(applied.refusals if refused else ())]:
        target = _target(item.place, item.object)
        if target is not None:
            yield target


def _target(place: str, found: KubernetesObject | None) -> PodTarget | None:
    if isinstance(found, Pod):
        metadata = found.metadata
        name = metadata.name or metadata.generate_name
        return PodTarget(place, "Pod", metadata.namespace, name, found)
    if isinstance(found, WORKLOADS):
        return PodTarget(
            place,
            found.kind,
            found.metadata.namespace,
            found.metadata.name or found.metadata.generate_name,
            pod_of(found),
            assumptions_of(found),
        )
    return None


def no_pods(applied: AppliedManifests) -> ConfigurationError:
    """Say that there are no pods, and what was left out that was meant to be one perhaps."""
    words = "the files hold no pod and nothing that makes pods"
    there = {item.place for item in applied.objects}
    ignored = [str(each) for each in applied.remarks if each.place not in there]
    return ConfigurationError("; ".join((words, *ignored[:_MOST_SHOWN])))


def _unclear(
    found: Sequence[PodTarget | Refusal],
    candidates: Sequence[PodTarget | Refusal],
    target: tuple[str, str | None] | None,
    namespace: str | None,
) -> ConfigurationError:
    where = f" in namespace {namespace}" if namespace else ""
    if found:
        same = len({(each.kind, each.name) for each in found}) == 1
        ask = "say which namespace with -n" if same else "say which one"
        return ConfigurationError(f"the files hold several pods: {_listed(found)}; {ask}")
    wanted = "" if target is None else f" {'/'.join(part for part in target if part)}"
    return ConfigurationError(f"the files hold no{wanted or ' pod'}{where}; {_there(candidates)}")


def _there(candidates: Sequence[PodTarget | Refusal]) -> str:
    return f"they hold {_listed(candidates)}"


def _listed(candidates: Sequence[PodTarget | Refusal]) -> str:
    several = len({each.namespace for each in candidates}) > 1
    names = list(
        dict.fromkeys(
            f"{each.kind.lower()}/{each.name}" + (f" in {each.namespace}" if several else "")
            for each in candidates
        )
    )
    more = len(names) - _MOST_SHOWN
    shown = ", ".join(names[:_MOST_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown
