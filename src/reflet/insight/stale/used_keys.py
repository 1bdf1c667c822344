"""Which keys of ConfigMaps and Secrets a pod's containers use, as what, and under which names.

Found by resolving the pod with objects that have keys and no values, so that shadowed variables,
expansions and sub-paths count as they do in the kubelet.  ``template_text`` tells pods apart that
use different keys.  Pull secrets are left out: no container holds one.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, final

import msgspec

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.errors import NotFound, RefletError
from reflet.gotext.lazy_patterns import lazy_pattern
from reflet.insight.explain import explain, sources_of
from reflet.insight.stale.held_values import Arrival, Certainty, HeldState, HeldValue
from reflet.insight.stale.object_history import ObjectHistory
from reflet.resolution.objects import ObjectKey, missing
from reflet.resolution.origins import ConfigMapOrigin, Origin, SecretOrigin
from reflet.resolution.places import containers_of
from reflet.resolution.pod_inputs import PodInputs, unknown_token
from reflet.resolution.references.references import Reference, Usage, references_of
from reflet.resolution.resource_fields import UNKNOWN_NODE
from reflet.resolution.volumes.trust_bundles import UNKNOWN_BUNDLES

Histories = Mapping[ObjectKey, ObjectHistory | RefletError]
"""What is known of each object, or why nothing is; one that is not there does not exist."""


class NamedUse(NamedTuple):
    """An object, the container that uses it, and as what."""

    object: ObjectKey
    container: str
    arrival: Arrival


class Spot(NamedTuple):
    """A key, what it is called in the container, and why its volume cannot be updated."""

    key: str
    name: str
    held_back: str = ""


class Absence(NamedTuple):
    """A key that is not there: what is said of it, or a history that says when it went."""

    named: NamedUse
    spot: Spot
    answer: HeldValue | ObjectHistory


class UsedKeys(NamedTuple):
    """What containers use that is there, and what of it is not."""

    present: Mapping[NamedUse, Sequence[Spot]]
    absent: Sequence[Absence]


# The API server gives the volume of a service account's token another name in each pod.
_TOKEN_VOLUME: Final = lazy_pattern(r"kube-api-access-[a-z0-9]{5}")


def template_text(pod: Pod) -> str:
    """Return what pods have in common that use the same keys in the same places."""
    containers = [placed.container for placed in containers_of(pod.spec)]
    parts = [
        pod.metadata.namespace,
        [(each.name, each.env, each.env_from, each.volume_mounts) for each in containers],
        pod.spec.volumes,
    ]
    if any(mount.sub_path_expr for each in containers for mount in each.volume_mounts):
        parts.append(pod.metadata.name)  # and what else a path may be made of
    return _TOKEN_VOLUME.sub("", msgspec.json.encode(parts).decode())


def used_keys(pod: Pod, histories: Histories) -> UsedKeys:
    """Resolve a pod, and return every key of ConfigMaps and Secrets that its containers use."""
    explained = explain(
        PodInputs(
            pod=pod,
            objects=_KeysOnly(histories),
            services=(),
            node=UNKNOWN_NODE,
            token=unknown_token,
            bundles=UNKNOWN_BUNDLES,
        )
    )
    present: dict[NamedUse, list[Spot]] = {}
    variables: dict[str, frozenset[str]] = {}
    for container in explained.containers:
        environment = container.environment
        variables[environment.container] = frozenset(environment.variables)
        for each in container.variables:
            for origin in sources_of(each.variable.assignment, environment):
                key = _key_of(origin)
                if key is not None:
                    named = NamedUse(key[0], environment.container, Arrival.VARIABLE)
                    present.setdefault(named, []).append(Spot(key[1], each.variable.name))
    for volume in explained.volumes:
        for file in volume.files:
            key = _key_of(file.file.origin)
            if key is None:
                continue
            for sight in file.sights:
                arrival = Arrival.SUB_PATH if sight.sub_path else Arrival.FILE
                spot = Spot(key[1], sight.path, volume.contents.error or "")
                present.setdefault(NamedUse(key[0], sight.container, arrival), []).append(spot)
    return UsedKeys(present, tuple(_absences(pod, histories, variables)))


def _key_of(origin: Origin) -> tuple[ObjectKey, str] | None:
    match origin:
        case ConfigMapOrigin(namespace=namespace, name=name, key=key):
            return ("ConfigMap", namespace, name), key
        case SecretOrigin(namespace=namespace, name=name, key=key):
            return ("Secret", namespace, name), key
        case _:
            return None


def _absences(
    pod: Pod, histories: Histories, variables: Mapping[str, frozenset[str]]
) -> Iterator[Absence]:
    """Yield what resolution does not show, because it is not there now or could not be read."""
    for reference in references_of(pod):
        named = (reference.kind, pod.metadata.namespace, reference.name)
        answer = histories.get(named)
        history = answer if isinstance(answer, ObjectHistory) else None
        keys = _absent_keys(reference, history)
        for container, arrival, place in _places(pod, reference, variables):
            for key in keys:
                name = place
                if reference.usage is Usage.ENV_FROM and key:
                    name = f"{reference.prefix}{key}"
                    if name in variables.get(container, ()):
                        continue  # something else sets it
                said: HeldValue | ObjectHistory | None
                if isinstance(answer, RefletError) and not isinstance(answer, NotFound):
                    said = HeldValue(state=HeldState.UNKNOWN, reason=f"could not be read: {answer}")
                else:
                    said = _of_absent(reference, history, arrival, key)
                if said is not None:
                    yield Absence(NamedUse(named, container, arrival), Spot(key, name), said)


def _places(
    pod: Pod, reference: Reference, variables: Mapping[str, frozenset[str]]
) -> Iterator[tuple[str, Arrival, str]]:
    """Yield which containers have what a reference names, as what and where."""
    place = reference.place
    if reference.usage is Usage.VOLUME:
        for placed in containers_of(pod.spec):
            for mount in placed.container.volume_mounts:
                if mount.name == place.volume:
                    is_part = mount.sub_path or mount.sub_path_expr
                    arrival = Arrival.SUB_PATH if is_part else Arrival.FILE
                    yield placed.container.name, arrival, mount.mount_path
    elif reference.usage is Usage.ENV_FROM:
        yield place.container, Arrival.VARIABLE, f"{reference.prefix}*"
    elif reference.usage is Usage.ENV:
        # What is optional may be set by something else.
        is_set = place.variable in variables.get(place.container, ())
        if not is_set or not reference.optional:
            yield place.container, Arrival.VARIABLE, place.variable


def _of_absent(
    reference: Reference, history: ObjectHistory | None, arrival: Arrival, key: str
) -> HeldValue | ObjectHistory | None:
    whole = f"{reference.kind} {reference.name}"
    is_there = history is not None and history.exists
    if not reference.optional and (reference.keys is not None or not is_there):
        was_seen = history is not None and bool(history.changes)
        what = f"{whole} has no key {key}" if is_there else f"{whole} does not exist"
        return HeldValue(
            state=HeldState.MISSING,
            certainty=Certainty.OBSERVED if was_seen else Certainty.INFERRED,
            reason=f"{what} any more",
        )
    if arrival is Arrival.FILE:
        return None  # the file goes away by itself
    if history is not None:
        return history
    what = f"{key} of {whole}" if key else whole
    reason = f"whether {what} was there when the container started is not known"
    return HeldValue(state=HeldState.UNKNOWN, reason=reason)


def _absent_keys(reference: Reference, history: ObjectHistory | None) -> tuple[str, ...]:
    """Return the keys of a reference that are not there; the empty one for all."""
    if reference.keys is not None:
        return tuple(key for key in reference.keys if history is None or not history.has(key))
    if history is None or (not history.exists and not reference.optional):
        return ("",)
    return history.lost_keys if reference.usage is Usage.ENV_FROM else ()


@final
class _KeysOnly:
    """The objects of histories, with their keys and nothing in them: a source for resolution."""

    def __init__(self, histories: Histories) -> None:
        self._histories = histories

    def config_map(self, namespace: str, name: str, /) -> ConfigMap | RefletError:
        history = self._histories.get(("ConfigMap", namespace, name))
        if isinstance(history, RefletError):
            return history
        if history is None or not history.exists:
            return missing("ConfigMap", name)
        return ConfigMap(
            metadata=ObjectMeta(namespace=namespace, name=name),
            data=dict.fromkeys(history.keys, ""),
            binary_data=dict.fromkeys(history.binary_keys, b""),
        )

    def secret(self, namespace: str, name: str, /) -> Secret | RefletError:
        history = self._histories.get(("Secret", namespace, name))
        if isinstance(history, RefletError):
            return history
        if history is None or not history.exists:
            return missing("Secret", name)
        metadata = ObjectMeta(namespace=namespace, name=name)
        return Secret(metadata=metadata, data=dict.fromkeys(history.keys, b""))
