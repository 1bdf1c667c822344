"""The environment of a container, exactly as the kubelet builds it.

Whole objects come first, then single variables, each over what is there already; variables of
services only fill the gaps.  ``$(NAME)`` sees what is set at that moment.  What a single source
gives is ``variable_sources``.

A short pod can ask for gigabytes, so every value is counted before it is made: all of them together
are never larger than what a process could be given, and the first that does not fit ends the work.
The kubelet has no such limit; there the container runtime fails later.

Upstream: pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.containers import EnvFromSource, EnvVar, EnvVarSource
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.errors import RefletError
from reflet.resolution.environment.env_files import MountedVolume
from reflet.resolution.environment.expansion import LARGEST_EXPANSION, expand_pieces, references_in
from reflet.resolution.environment.service_variables import services_for, variables_of
from reflet.resolution.environment.variable_sources import VariableSources
from reflet.resolution.environment.variables import (
    Assignment,
    Environment,
    Variable,
    exact_bytes,
    is_valid,
    was_valid,
)
from reflet.resolution.objects import ConfigKind, ObjectSource
from reflet.resolution.origins import ServiceOrigin, Substitution, ValueOrigin
from reflet.resolution.places import Place, PlacedContainer, container_named
from reflet.resolution.problems import (
    AmbiguousServiceVariable,
    InvalidVariableName,
    MissingObject,
    NoClient,
    OversizedEnvironment,
    OversizedValue,
    Problem,
    ServiceLinksUnset,
    ServicesNotRead,
    ServicesUnreadable,
    SkippedNames,
    UnreadableObject,
    UnresolvedReference,
    ZeroInValue,
    first_error,
)
from reflet.resolution.references.wanted_objects import WantedObject, origin_of
from reflet.resolution.resource_fields import NodeInHand

LONGEST_VALUE: Final = 131_072  # bytes of ``NAME=value`` and its end that Linux hands over

_CONFIG_SOURCE: Final = "kubernetes.io/config.source"
_LINKS: Final = Place(path="spec.enableServiceLinks")

_AROUND = 2  # the equals sign and the end of ``NAME=value``


def resolve_environment(
    pod: Pod,
    container_name: str,
    objects: ObjectSource | None,
    *,
    node: NodeInHand = None,
    services: Iterable[Service] | RefletError | None = None,
    services_read: bool = True,
    pod_ips: Sequence[str] | None = None,
    volumes: Mapping[str, MountedVolume | None] | None = None,
    skip_invalid_names: bool = False,
) -> Environment:
    """Return the variables of a container, with where each came from and all problems.

    Raises ConfigurationError for a container that the pod does not have.

    - *container_name*: name of the container
    - *objects*: where ConfigMaps and Secrets are read; None is a kubelet without API server
    - *node*: fills missing limits and gives the host's addresses; None is a kubelet that has none,
      ``UNKNOWN_NODE`` one that is not known here
    - *services*: those of all namespaces, or the error of listing them; None is a kubelet that does
      not know services
    - *services_read*: False if the services were never read
    - *pod_ips*: addresses of the pod's sandbox; None is those of its status
    - *volumes*: those that are mounted, for environment files; None if their contents are not known
    - *skip_invalid_names*: the rule of Kubernetes 1.19: keys of whole objects that are not names of
      variables are skipped, with an event
    """
    placed = container_named(pod, container_name)
    sources = VariableSources(pod, placed, objects, node=node, pod_ips=pod_ips, volumes=volumes)
    building = _Building(pod, placed, sources, skip_invalid_names=skip_invalid_names)
    building.add_services(services, read=services_read)
    for index, source in enumerate(placed.container.env_from):
        building.add_whole_object(index, source)
    for index, variable in enumerate(placed.container.env):
        building.add_variable(index, variable)
    variables = building.variables()
    problems = tuple(_without_guesses(sources.problems, placed))
    return Environment(
        namespace=pod.metadata.namespace,
        pod=pod.metadata.name,
        container=container_name,
        variables=variables,
        problems=problems,
        error=first_error(problems),
    )


def references_are_certain(problems: Iterable[Problem]) -> bool:
    """Whether it is known what ``$(NAME)`` finds in an environment with these problems.

    It is not while a whole object is missing, which may set any variable, nor when variables were
    left out for their size.
    """
    return not any(
        isinstance(each, OversizedEnvironment)
        or (
            isinstance(each, MissingObject | UnreadableObject | NoClient)
            and each.blocking
            and ".envFrom[" in each.place.path
        )
        for each in problems
    )


def _without_guesses(problems: Sequence[Problem], placed: PlacedContainer) -> Iterator[Problem]:
    """Leave out references to what a missing object or key may set: that is the one problem."""
    certain = references_are_certain(problems)
    declared = {variable.name for variable in placed.container.env if variable.value_from}
    for each in problems:
        if not isinstance(each, UnresolvedReference) or (
            certain and (each.defined_later or each.name not in declared)
        ):
            yield each


@final
class _Building:
    """An environment while it is being built: every assignment so far, by variable."""

    def __init__(
        self,
        pod: Pod,
        placed: PlacedContainer,
        sources: VariableSources,
        *,
        skip_invalid_names: bool,
    ) -> None:
        self._pod = pod
        self._placed = placed
        self._sources = sources
        self._problems = sources.problems
        self._skip_invalid_names = skip_invalid_names
        self._own: dict[str, list[Assignment]] = {}
        self._of_services: dict[str, list[Assignment]] = {}
        self._size = EnvironmentSize()

    def add_services(self, services: Iterable[Service] | RefletError | None, *, read: bool) -> None:
        links = self._pod.spec.enable_service_links
        if links is None:
            self._problems.append(
                ServiceLinksUnset(
                    place=_LINKS,
                    kubelet="nil pod.spec.enableServiceLinks encountered, cannot construct envvars",
                )
            )
            links = True
        if not read and not is_static(self._pod):
            self._problems.append(
                ServicesNotRead(
                    place=_LINKS,
                    kubelet="services have not yet been read at least once, "
                    "cannot construct envvars",
                )
            )
        if services is None:
            return
        if isinstance(services, RefletError):
            self._problems.append(
                ServicesUnreadable(
                    place=_LINKS,
                    kubelet="failed to list services when setting up env vars",
                    reason=str(services),
                )
            )
            return
        for item in variables_of(services_for(self._pod.metadata.namespace, services, links=links)):
            metadata = item.service.metadata
            origin = ServiceOrigin(
                namespace=metadata.namespace,
                name=metadata.name,
                resource_version=metadata.resource_version,
            )
            assignment = Assignment(value=item.value, origin=origin, place=_LINKS)
            if not self._has_room(item.name, len(item.value), _LINKS):
                return
            self._of_services.setdefault(item.name, []).append(assignment)
        self._tell_ambiguous_services()

    def _tell_ambiguous_services(self) -> None:
        for name, assignments in self._of_services.items():
            services = {
                assignment.origin.name: None
                for assignment in assignments
                if isinstance(assignment.origin, ServiceOrigin)
            }
            if len(services) > 1:
                self._problems.append(
                    AmbiguousServiceVariable(place=_LINKS, name=name, services=tuple(services))
                )

    def add_whole_object(self, index: int, source: EnvFromSource) -> None:
        kind: ConfigKind = "Secret" if source.config_map_ref is None else "ConfigMap"
        whole = source.config_map_ref or source.secret_ref
        if whole is None or self._size.is_exceeded:
            return
        field = "configMapRef" if kind == "ConfigMap" else "secretRef"
        wanted = WantedObject(
            kind=kind,
            namespace=self._pod.metadata.namespace,
            name=whole.name,
            optional=whole.optional,
            place=self._placed.place(f"envFrom[{index}].{field}"),
        )
        item = self._sources.read(wanted)
        if item is not None:
            self._add_keys(wanted, item, source.prefix)

    def _add_keys(self, wanted: WantedObject, item: ConfigMap | Secret, prefix: str) -> None:
        skipped: list[str] = []
        for key in sorted(item.data):
            name = prefix + key
            if self._skip_invalid_names and not was_valid(name):
                skipped.append(name)
                continue
            raw = item.data[key]
            value = raw if isinstance(raw, str) else raw.decode(errors="surrogateescape")
            if not self._has_room(name, len(value), wanted.place):
                return
            assignment = Assignment(
                value=value,
                origin=origin_of(wanted, item, key, whole=True, prefix=prefix),
                place=wanted.place,
                sensitive=wanted.kind == "Secret",
            )
            self._assign(name, assignment)
        if skipped:
            self._tell_skipped(wanted, sorted(skipped))

    def _tell_skipped(self, wanted: WantedObject, skipped: list[str]) -> None:
        resource = "configMap" if wanted.kind == "ConfigMap" else "secret"
        event = (
            f"Keys [{', '.join(skipped)}] from the EnvFrom {resource} "
            f"{wanted.namespace}/{wanted.name} were skipped since they are considered invalid "
            "environment variable names."
        )
        self._problems.append(
            SkippedNames(
                place=wanted.place,
                kubelet=event,
                object_kind=wanted.kind,
                namespace=wanted.namespace,
                name=wanted.name,
                names=tuple(skipped),
            )
        )

    def add_variable(self, index: int, variable: EnvVar) -> None:
        assignment: Assignment | None
        if self._size.is_exceeded:
            return
        if variable.value:
            assignment = self._expanded(index, variable)
        elif variable.value_from is not None:
            assignment = self._sourced(index, variable.name, variable.value_from)
        else:
            place = self._placed.place(f"env[{index}].value", variable=variable.name)
            has_room = self._has_room(variable.name, 0, place)
            empty = Assignment(value="", origin=ValueOrigin(), place=place)
            assignment = empty if has_room else None
        if assignment is not None:
            self._assign(variable.name, assignment)

    def _sourced(self, index: int, name: str, source: EnvVarSource) -> Assignment | None:
        found = self._sources.assignment(index, name, source)
        if found is None or not self._has_room(name, len(found.value), found.place):
            return None
        return found

    def _expanded(self, index: int, variable: EnvVar) -> Assignment | None:
        place = self._placed.place(f"env[{index}].value", variable=variable.name)
        names = references_in(variable.value)
        used = {name: self._visible(name) for name in dict.fromkeys(names)}
        for name, found in used.items():
            if found is None:
                later = any(other.name == name for other in self._placed.container.env[index + 1 :])
                self._problems.append(
                    UnresolvedReference(place=place, name=name, defined_later=later)
                )
        pieces = expand_pieces(variable.value, lambda name: _value(used[name]))
        if not self._has_room(variable.name, sum(map(len, pieces)), place):
            return None
        return Assignment(
            value="".join(pieces),
            origin=ValueOrigin(
                template=variable.value,
                substitutions=tuple(_substitution(name, used[name]) for name in names),
            ),
            place=place,
            sensitive=any(found is not None and found.sensitive for found in used.values()),
            known=all(found is None or found.known for found in used.values()),
        )

    def _visible(self, name: str) -> Assignment | None:
        assignments = self._own.get(name) or self._of_services.get(name)
        return assignments[-1] if assignments else None

    def _has_room(self, name: str, length: int, place: Place) -> bool:
        """Count a value that is about to be made; False, with a problem, if it is too much."""
        before = _value(self._visible(name))
        if self._size.takes(name, length, before=before):
            return True
        self._problems.append(
            OversizedEnvironment(place=place, size=self._size.size, limit=LARGEST_EXPANSION)
        )
        return False

    def _assign(self, name: str, assignment: Assignment) -> None:
        place = assignment.place
        if not is_valid(name):
            self._problems.append(InvalidVariableName(place=place, name=name))
        if "\0" in assignment.value:
            self._problems.append(ZeroInValue(place=place, name=name))
        if len(name) + len(assignment.value) + 2 > LONGEST_VALUE // 4:
            self._tell_oversized(name, assignment)
        history = self._own.setdefault(name, [])
        if history and not self._size.keeps(history[-1].value):
            history.clear()
        history.append(assignment)

    def _tell_oversized(self, name: str, assignment: Assignment) -> None:
        size = len(exact_bytes(f"{name}={assignment.value}")) + 1
        if size > LONGEST_VALUE:
            self._problems.append(
                OversizedValue(
                    place=assignment.place,
                    name=name,
                    size=size,
                    limit=LONGEST_VALUE,
                    blocking=False,
                )
            )

    def variables(self) -> dict[str, Variable]:
        """Return what the container gets."""
        variables: dict[str, Variable] = {}
        for name in dict.fromkeys((*self._own, *self._of_services)):
            # The last one counts, and services come before everything of the container's own.
            history = self._of_services.get(name, []) + self._own.get(name, [])
            variables[name] = Variable(
                name=name, assignment=history[-1], shadows=tuple(history[-2::-1])
            )
        return variables


def is_static(pod: Pod) -> bool:
    """Tell whether the pod came to its node from a file or an address instead of the API."""
    return pod.metadata.annotations.get(_CONFIG_SOURCE, "api") != "api"


def _value(assignment: Assignment | None) -> str | None:
    return None if assignment is None else assignment.value


def _substitution(name: str, assignment: Assignment | None) -> Substitution:
    if assignment is None:
        return Substitution(name=name, found=False)
    return Substitution(name=name, found=True, place=assignment.place)


@final
class EnvironmentSize:
    """The size of all variables as they stand, in characters, and of those that were replaced.

    A value that is replaced does not count, since a process is given only the last one.
    """

    def __init__(self) -> None:
        self.is_exceeded = False
        self.size = 0
        self._replaced = 0

    def takes(self, name: str, length: int, *, before: str | None) -> bool:
        """Count a value of *length* in place of the one *before*; False if it is too much."""
        self.size += len(name) + length + _AROUND
        if before is not None:
            self.size -= len(name) + len(before) + _AROUND
        self.is_exceeded = self.is_exceeded or self.size > LARGEST_EXPANSION
        return not self.is_exceeded

    def keeps(self, replaced: str) -> bool:
        """Whether a value that was replaced can still be shown: together they are bounded, too."""
        self._replaced += len(replaced)
        return self._replaced <= LARGEST_EXPANSION
