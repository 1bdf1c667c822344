"""Which running containers still hold an old value, variable by variable and file by file.

``held_values`` judges one key; this file finds the keys that the containers of a pod use, by
resolving the pod, and those that it used and that are gone.  Containers that do not run hold
nothing, nor do pods that end.  Pull secrets are left out: no container holds one.

No value is needed for it, and none is in the answer.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final, NamedTuple, assert_never, final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import ContainerStatus, Pod
from reflet.api.frozen import Frozen
from reflet.api.meta import ObjectMeta
from reflet.errors import NotFound, RefletError
from reflet.insight.explain import ExplainedVolume, explain, sources_of
from reflet.insight.held_values import Arrival, Certainty, Judgement, Start, State, judge
from reflet.insight.object_history import ObjectHistory
from reflet.resolution.objects import ConfigKind, ObjectKey, missing
from reflet.resolution.origins import ConfigMapOrigin, SecretOrigin
from reflet.resolution.places import containers_of
from reflet.resolution.pod_inputs import PodInputs, unknown_token
from reflet.resolution.references import Reference, Usage, references_of
from reflet.resolution.resource_fields import UNKNOWN_NODE
from reflet.resolution.trust_bundles import UNKNOWN_BUNDLES
from reflet.resolution.variables import Environment

_ENDED: Final = frozenset({"Succeeded", "Failed"})

Histories = Mapping[ObjectKey, ObjectHistory | RefletError]
"""What is known of each object, or why nothing is; one that is not there does not exist."""


class KeyUse(Frozen, frozen=True, kw_only=True):
    """One key that a running container uses: as what, and whether it is up to date.

    ``name`` is that of the variable, or the path of the file inside the container.  ``key`` is
    empty where all keys of an object that is gone, or that could not be read, are meant.
    """

    container: str
    arrival: Arrival
    name: str
    kind: ConfigKind
    object: str
    key: str
    judgement: Judgement

    @property
    def state(self) -> State:
        """How the value that the container holds compares with the one of the object."""
        return self.judgement.state

    @property
    def certainty(self) -> Certainty:
        """Whether a watch saw it."""
        return self.judgement.certainty

    @property
    def verdict(self) -> str:
        """The answer in words that claim no more than is known: ``may be stale``."""
        match self.state:
            case State.CURRENT:
                return "is current"
            case State.ON_ITS_WAY:
                return "follows by itself"
            case State.NEEDS_RESTART:
                return "is stale" if self.certainty is Certainty.OBSERVED else "may be stale"
            case State.MISSING:
                return "source is gone"
            case State.UNKNOWN:
                return "is not known"
            case _:
                assert_never(self.state)


def staleness_of(pod: Pod, histories: Histories, *, now: datetime) -> tuple[KeyUse, ...]:
    """Say of every key that the running containers of a pod use whether they have its value."""
    if pod.status.phase in _ENDED or pod.metadata.deletion_timestamp is not None:
        return ()
    starts = dict(_starts(pod))
    return tuple(_Look(pod, histories, starts, now).uses()) if starts else ()


def _starts(pod: Pod) -> Iterator[tuple[str, Start]]:
    """Yield the containers that run; an init container that does is a sidecar."""
    status, made = pod.status, pod.metadata.creation_timestamp
    every: tuple[ContainerStatus, ...] = (
        *status.init_container_statuses,
        *status.container_statuses,
        *status.ephemeral_container_statuses,
    )
    for each in every:
        running = each.state.running
        if running is not None:
            again = each.restart_count > 0
            yield each.name, Start(pod_created=made, at=running.started_at, again=again)


class _Spot(NamedTuple):
    """Where a container has a value; ``held_back`` is why its volume cannot be updated."""

    container: str
    arrival: Arrival
    name: str
    held_back: str = ""


@final
class _Look:
    """One look at a pod."""

    def __init__(
        self, pod: Pod, histories: Histories, starts: Mapping[str, Start], now: datetime
    ) -> None:
        self._pod = pod
        self._histories = histories
        self._starts = starts
        self._now = now

    def uses(self) -> Iterator[KeyUse]:
        explained = explain(
            PodInputs(
                pod=self._pod,
                objects=_KeysOnly(self._histories),
                services=(),
                node=UNKNOWN_NODE,
                token=unknown_token,
                bundles=UNKNOWN_BUNDLES,
            )
        )
        environments = {
            each.environment.container: each.environment for each in explained.containers
        }
        for name in self._starts:
            if name in environments:
                yield from self._variables(environments[name])
        for volume in explained.volumes:
            yield from self._files(volume)
        for reference in references_of(self._pod):
            yield from self._absences(reference, environments)

    def _variables(self, environment: Environment) -> Iterator[KeyUse]:
        for variable in environment.variables.values():
            spot = _Spot(environment.container, Arrival.VARIABLE, variable.name)
            for origin in sources_of(variable.assignment, environment):
                if isinstance(origin, ConfigMapOrigin | SecretOrigin):
                    yield from self._of_origin(spot, origin)

    def _files(self, volume: ExplainedVolume) -> Iterator[KeyUse]:
        for file in volume.files:
            origin = file.file.origin
            for sight in file.sights:
                if sight.container not in self._starts:
                    continue
                arrival = Arrival.SUB_PATH if sight.sub_path else Arrival.FILE
                spot = _Spot(sight.container, arrival, sight.path, volume.contents.error or "")
                if isinstance(origin, ConfigMapOrigin | SecretOrigin):
                    yield from self._of_origin(spot, origin)

    def _of_origin(self, spot: _Spot, origin: ConfigMapOrigin | SecretOrigin) -> Iterator[KeyUse]:
        kind: ConfigKind = "ConfigMap" if isinstance(origin, ConfigMapOrigin) else "Secret"
        history = self._histories.get((kind, origin.namespace, origin.name))
        if isinstance(history, ObjectHistory):
            yield _use(spot, kind, origin.name, origin.key, self._judged(spot, history, origin.key))

    def _judged(self, spot: _Spot, history: ObjectHistory, key: str) -> Judgement:
        start = self._starts[spot.container]
        return judge(history, key, start, spot.arrival, now=self._now, held_back=spot.held_back)

    # What resolution does not show, because it is not there now

    def _absences(
        self, reference: Reference, environments: Mapping[str, Environment]
    ) -> Iterator[KeyUse]:
        key = (reference.kind, self._pod.metadata.namespace, reference.name)
        history = self._histories.get(key)
        spots = list(self._spots(reference, environments))
        if isinstance(history, RefletError) and not isinstance(history, NotFound):
            unread = Judgement(state=State.UNKNOWN, reason=f"could not be read: {history}")
            for spot in spots:
                for name in reference.keys or ("",):
                    yield _use(spot, reference.kind, reference.name, name, unread)
            return
        known = history if isinstance(history, ObjectHistory) else None
        for spot in spots:
            for name in _absent_keys(reference, known):
                judgement = self._of_absent(reference, known, spot, name)
                if judgement is not None:
                    yield _use(spot, reference.kind, reference.name, name, judgement)

    def _spots(
        self, reference: Reference, environments: Mapping[str, Environment]
    ) -> Iterator[_Spot]:
        """Yield where the running containers have what a reference names."""
        place = reference.place
        if reference.usage is Usage.VOLUME:
            for placed in containers_of(self._pod.spec):
                for mount in placed.container.volume_mounts:
                    if mount.name == place.volume and placed.container.name in self._starts:
                        is_part = bool(mount.sub_path or mount.sub_path_expr)
                        arrival = Arrival.SUB_PATH if is_part else Arrival.FILE
                        yield _Spot(placed.container.name, arrival, mount.mount_path)
        elif place.container in self._starts and place.container in environments:
            # Another source may set the variable now.
            is_set = place.variable in environments[place.container].variables
            if reference.usage is Usage.ENV_FROM or not is_set or not reference.optional:
                name = place.variable or f"{reference.prefix}*"
                yield _Spot(place.container, Arrival.VARIABLE, name)

    def _of_absent(
        self, reference: Reference, history: ObjectHistory | None, spot: _Spot, key: str
    ) -> Judgement | None:
        whole = f"{reference.kind} {reference.name}"
        is_there = history is not None and history.exists
        if not reference.optional and (reference.keys is not None or not is_there):
            was_seen = history is not None and bool(history.changes_of(key) or history.changes)
            what = f"{whole} has no key {key}" if is_there else f"{whole} does not exist"
            return Judgement(
                state=State.MISSING,
                certainty=Certainty.OBSERVED if was_seen else Certainty.INFERRED,
                reason=f"{what} any more",
            )
        if spot.arrival is Arrival.FILE:
            return None  # the file goes away by itself
        if history is None:
            what = f"{key} of {whole}" if key else whole
            reason = f"whether {what} was there when the container started is not known"
            return Judgement(state=State.UNKNOWN, reason=reason)
        return self._judged(spot, history, key)


def _absent_keys(reference: Reference, history: ObjectHistory | None) -> tuple[str, ...]:
    """Return the keys of a reference that are not there; the empty one for all."""
    if reference.keys is not None:
        return tuple(key for key in reference.keys if history is None or not history.has(key))
    if history is None or (not history.exists and not reference.optional):
        return ("",)
    return history.lost_keys if reference.usage is Usage.ENV_FROM else ()


def _use(spot: _Spot, kind: ConfigKind, name: str, key: str, judgement: Judgement) -> KeyUse:
    return KeyUse(
        container=spot.container,
        arrival=spot.arrival,
        name=spot.name,
        kind=kind,
        object=name,
        key=key,
        judgement=judgement,
    )


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
