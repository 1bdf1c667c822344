"""Which pod of the files is meant, by type and name; and which there are when it is not clear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from reflet.api import resources
from reflet.api.core.pods import Pod
from reflet.api.meta import KubernetesObject
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.errors import ConfigurationError, Invalid, ParseError
from reflet.insight.fixes import near_miss
from reflet.manifests.applied import AppliedManifests, Refusal
from reflet.resolution.templates.custom_templates import guessed_resource, no_template
from reflet.resolution.templates.templates import (
    POD_KINDS,
    WORKLOADS,
    CustomWorkload,
    PlacedTemplate,
    Workload,
    assumptions_of,
    pod_of,
    pod_resource,
    replicas_of,
    templates_of,
)

_MOST_SHOWN: Final = 5

Plurals = Mapping[tuple[str, str], Mapping[str, Any]]
"""The names that definitions give to kinds, by group and kind."""


@final
@dataclass(frozen=True, slots=True)
class PodTarget:
    """A pod, and the object of the files that it is or comes from.

    ``assumptions`` are sentences about what is only assumed of a pod that is not made yet.
    ``resource`` is that of a custom resource, and ``None`` for Kubernetes' own;
    ``other_templates`` are those of it that the pod is not made from; ``replicas`` is how many
    pods it asks for.
    """

    place: str
    kind: str
    namespace: str
    name: str
    pod: Pod
    assumptions: tuple[str, ...] = ()
    resource: Resource | None = None
    other_templates: tuple[PlacedTemplate, ...] = ()
    replicas: int | None = None

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
    name = None if target is None else target[1]
    candidates: list[PodTarget | Refusal] = [
        *pod_targets(applied),
        *(refusal for refusal in applied.refusals if refusal.kind in POD_KINDS),
    ]
    meant = candidates if target is None else _of_type(target[0], name, candidates, applied)
    found = [
        each
        for each in meant
        if (name is None or each.name == name) and (not namespace or each.namespace == namespace)
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
        as_written = _refused_target(chosen) if refused else None
        if as_written is None:
            raise Invalid(str(chosen), kind=chosen.kind, name=chosen.name)
        return as_written
    return chosen


def pod_targets(applied: AppliedManifests, *, refused: bool = False) -> Iterator[PodTarget]:
    """Yield every pod of the files: pods, and those of workloads' templates.

    With *refused*, those that the server would refuse too, as they were written.
    """
    plurals = _plurals(applied)
    for item in applied.objects:
        target = _target(item.place, item.object, item.workload, plurals)
        if target is not None:
            yield target
    for refusal in applied.refusals if refused else ():
        target = _refused_target(refusal)
        if target is not None:
            yield target


def _refused_target(refusal: Refusal) -> PodTarget | None:
    workload = refusal.object if isinstance(refusal.object, WORKLOADS) else None
    return _target(refusal.place, refusal.object, workload, {})


def _target(
    place: str, found: KubernetesObject | None, workload: Workload | None, plurals: Plurals
) -> PodTarget | None:
    if found is None:
        return None
    metadata = found.metadata
    name = metadata.name or metadata.generate_name
    if isinstance(found, Pod):
        return PodTarget(place, "Pod", metadata.namespace, name, found)
    if workload is None:
        return None
    custom = isinstance(workload, CustomWorkload)
    return PodTarget(
        place,
        found.kind,
        metadata.namespace,
        name,
        pod_of(workload),
        assumptions_of(workload),
        _resource_of(found, plurals) if custom else None,
        templates_of(workload)[1:],
        replicas_of(workload),
    )


def _of_type(
    text: str,
    name: str | None,
    candidates: Sequence[PodTarget | Refusal],
    applied: AppliedManifests,
) -> list[PodTarget | Refusal]:
    """Return the pods of a type: Kubernetes' own before custom resources of the same name.

    Raises ConfigurationError for a type whose objects make no pods.
    """
    unknown: ConfigurationError | None = None
    try:
        kind = pod_resource(text).kind
    except ConfigurationError as error:
        unknown = error
    else:
        own = [each for each in candidates if each.kind == kind and _is_built_in(each)]
        if own:
            return own
    custom = [
        each
        for each in candidates
        if isinstance(each, PodTarget) and each.resource and is_called(text, each.resource)
    ]
    if custom or unknown is None:
        return [*custom]
    plurals = _plurals(applied)
    for item in applied.custom_objects():
        if item.metadata.name == name and is_called(text, _resource_of(item, plurals)):
            raise ConfigurationError(no_template(item))
    raise unknown


def _is_built_in(each: PodTarget | Refusal) -> bool:
    return isinstance(each, Refusal) or each.resource is None


def is_called(text: str, resource: Resource) -> bool:
    """Whether a person who types *text* means a resource."""
    try:
        resources.find(text, [resource])
    except ParseError:
        return False
    return True


def _resource_of(item: KubernetesObject, plurals: Plurals) -> Resource:
    """Return the resource of a custom object: by the definition among the files, or guessed."""
    guessed = guessed_resource(item.api_version, item.kind)
    names = plurals.get((guessed.group, item.kind))
    if names is None:
        return guessed
    return Resource(
        group=guessed.group,
        version=guessed.version,
        kind=item.kind,
        plural=str(names.get("plural") or guessed.plural),
        singular=str(names.get("singular") or ""),
        short_names=tuple(map(str, names.get("shortNames") or ())),
    )


def _plurals(applied: AppliedManifests) -> Plurals:
    """Return the names that the CustomResourceDefinitions of the files give to kinds."""
    if not any(True for _ in applied.custom_objects()):
        return {}  # definitions are large, and most files use none
    return {
        (str(item.object.spec.get("group")), str(names.get("kind"))): names
        for item in applied.objects
        if isinstance(item.object, AnyObject) and item.object.kind == "CustomResourceDefinition"
        if isinstance(names := item.object.spec.get("names"), Mapping)
    }


def no_pods(applied: AppliedManifests) -> ConfigurationError:
    """Say that there are no pods, and what was left out that was meant to be one perhaps."""
    words = "the files hold no pod and nothing that makes pods"
    refused = map(str, applied.refusals[:_MOST_SHOWN])
    return ConfigurationError("; ".join((words, *refused, *applied.left_out)))


def _unclear(
    found: Sequence[PodTarget | Refusal],
    candidates: Sequence[PodTarget | Refusal],
    target: tuple[str, str | None] | None,
    namespace: str | None,
) -> ConfigurationError:
    where = f" in namespace {namespace}" if namespace else ""
    if found:
        same = len({(each.kind, each.name) for each in found}) == 1
        if same and len({each.namespace for each in found}) == 1:
            places = ", ".join(each.place for each in found[:_MOST_SHOWN])
            what = f"{found[0].kind.lower()}/{found[0].name}"
            file = found[0].place.rpartition(":")[0]
            return ConfigurationError(f"{what} is in several files: {places}; name one: -f {file}")
        ask = "say which namespace with -n" if same else "say which one"
        return ConfigurationError(f"the files hold several pods: {_listed(found)}; {ask}")
    wanted = "" if target is None else f" {'/'.join(part for part in target if part)}"
    close = near_miss(target[1], [each.name for each in candidates]) if target and target[1] else ""
    hint = f"; did you mean {close}?" if close else f"; {_there(candidates)}"
    return ConfigurationError(f"the files hold no{wanted or ' pod'}{where}{hint}")


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
