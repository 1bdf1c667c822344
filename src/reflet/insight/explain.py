"""Every variable and file of a pod: where it comes from, and what a change of its source needs.

The results hold values as resolution gives them, secret ones included: whoever shows them asks
``sensitive``.
"""

import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import final

from reflet.api.core.containers import VolumeMount
from reflet.api.frozen import Frozen
from reflet.errors import RefletError
from reflet.gotext.paths import clean
from reflet.resolution.environment.variables import Assignment, Environment, Variable
from reflet.resolution.objects import ObjectSource
from reflet.resolution.origins import (
    ConfigMapOrigin,
    FieldOrigin,
    Origin,
    SecretOrigin,
    ValueOrigin,
)
from reflet.resolution.places import PlacedContainer, container_named, containers_of
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.volumes.file_contents import FileContent, VolumeContents
from reflet.resolution.volumes.sub_paths import sub_path_of
from reflet.resolution.volumes.volume_contents import configuration_volumes


@final
class Follows(enum.Enum):
    """When a container sees that the source of a value has changed."""

    LIVE = "live"
    """By itself, within a minute or so."""
    RESTART = "restart"
    """When the container is started again."""
    NEVER = "never"
    """Not during the life of the pod."""


class Expansion(Frozen, frozen=True, kw_only=True):
    """One ``$(NAME)`` of a value, and the assignment that it saw; ``None``: it stays as it is."""

    name: str
    assignment: Assignment | None = None


class ExplainedVariable(Frozen, frozen=True, kw_only=True):
    """A variable, how it was expanded, and what a change needs.

    ``immutable`` means that the object it comes from cannot change at all.
    """

    variable: Variable
    expansions: tuple[Expansion, ...] = ()
    immutable: bool = False
    follows: Follows = Follows.RESTART


class Sight(Frozen, frozen=True, kw_only=True):
    """A container that sees a file, at which path, and when it sees changes of it."""

    container: str
    path: str
    follows: Follows
    sub_path: str = ""


class ExplainedFile(Frozen, frozen=True, kw_only=True):
    """A file of a volume, and who sees it where."""

    path: str
    file: FileContent
    sights: tuple[Sight, ...] = ()
    immutable: bool = False


class ExplainedContainer(Frozen, frozen=True, kw_only=True):
    """A container's environment; ``path`` leads to it: ``spec.containers[0]``."""

    path: str
    environment: Environment
    variables: tuple[ExplainedVariable, ...] = ()


class ExplainedVolume(Frozen, frozen=True, kw_only=True):
    """A volume's files."""

    contents: VolumeContents
    files: tuple[ExplainedFile, ...] = ()


class ExplainedPod(Frozen, frozen=True, kw_only=True):
    """All configuration of a pod."""

    containers: tuple[ExplainedContainer, ...] = ()
    volumes: tuple[ExplainedVolume, ...] = ()

    @property
    def would_start(self) -> bool:
        """Whether the kubelet would refuse none of it."""
        return all(each.environment.error is None for each in self.containers) and all(
            each.contents.error is None for each in self.volumes
        )


def explain(inputs: PodInputs, container: str = "") -> ExplainedPod:
    """Explain all containers and volumes of a pod, or one container and what it mounts.

    Raises ConfigurationError for a container that the pod does not have.
    """
    pod = inputs.pod
    placed = list(containers_of(pod.spec))
    if container:
        placed = [container_named(pod, container, owner=inputs.target)]
    environments = {each.container.name: inputs.environment(each.container.name) for each in placed}
    mounted = {mount.name for each in placed for mount in each.container.volume_mounts}
    names = [name for name in configuration_volumes(pod) if not container or name in mounted]
    objects = inputs.objects
    values = {name: environment.values for name, environment in environments.items()}
    return ExplainedPod(
        containers=tuple(
            _container(each, environments[each.container.name], objects) for each in placed
        ),
        volumes=tuple(_volume(inputs.volume(name), placed, values, objects) for name in names),
    )


def _container(
    placed: PlacedContainer, environment: Environment, objects: ObjectSource | None
) -> ExplainedContainer:
    variables = tuple(
        ExplainedVariable(
            variable=variable,
            expansions=tuple(_expansions(variable.origin, environment)),
            immutable=_is_immutable(variable.origin, objects),
        )
        for variable in environment.variables.values()
    )
    return ExplainedContainer(path=placed.path, environment=environment, variables=variables)


def _expansions(origin: Origin, environment: Environment) -> Iterator[Expansion]:
    if not isinstance(origin, ValueOrigin):
        return
    for substitution in dict.fromkeys(origin.substitutions):
        variable = environment.variables.get(substitution.name)
        history = () if variable is None else (variable.assignment, *variable.shadows)
        # What counts now may have been set later: the place tells which one was seen.
        seen = next((each for each in history if each.place == substitution.place), None)
        yield Expansion(name=substitution.name, assignment=seen if substitution.found else None)


def sources_of(assignment: Assignment, environment: Environment) -> Iterator[Origin]:
    """Yield where a value came from: its origin, or those of everything that it was expanded with.

    What stands in the pod itself has no source but the pod.
    """
    if not isinstance(assignment.origin, ValueOrigin):
        yield assignment.origin
    for expansion in _expansions(assignment.origin, environment):
        if expansion.assignment is not None:
            yield from sources_of(expansion.assignment, environment)


def _is_immutable(origin: Origin, objects: ObjectSource | None) -> bool:
    if objects is None:
        return False
    match origin:
        case ConfigMapOrigin(namespace=namespace, name=name):
            config_map = objects.config_map(namespace, name)
            return not isinstance(config_map, RefletError) and config_map.immutable
        case SecretOrigin(namespace=namespace, name=name):
            secret = objects.secret(namespace, name)
            return not isinstance(secret, RefletError) and secret.immutable
        case _:
            return False


def _volume(
    contents: VolumeContents,
    placed: Iterable[PlacedContainer],
    variables: Mapping[str, Mapping[str, str]],
    objects: ObjectSource | None,
) -> ExplainedVolume:
    mounts = [
        (each.container.name, mount)
        for each in placed
        for mount in each.container.volume_mounts
        if mount.name == contents.volume
    ]
    files = []
    for path, file in contents.files.items():
        immutable = _is_immutable(file.origin, objects)
        follows = _volume_follows(file.origin, immutable=immutable)
        sights = (
            _sight(path, container, mount, variables[container], follows)
            for container, mount in mounts
        )
        seen = tuple(sight for sight in sights if sight is not None)
        files.append(ExplainedFile(path=path, file=file, sights=seen, immutable=immutable))
    return ExplainedVolume(contents=contents, files=tuple(files))


def _volume_follows(origin: Origin, *, immutable: bool) -> Follows:
    if immutable:
        return Follows.NEVER
    if isinstance(origin, FieldOrigin):
        # The other fields that files can show belong to the pod's identity.
        changes = origin.path.startswith(("metadata.labels", "metadata.annotations"))
        return Follows.LIVE if changes else Follows.NEVER
    return Follows.LIVE


def _sight(
    path: str,
    container: str,
    mount: VolumeMount,
    variables: Mapping[str, str],
    follows: Follows,
) -> Sight | None:
    """Return where the container sees the file; ``None`` when it sees another part only."""
    sub_path = sub_path_of(mount, variables)
    if not isinstance(sub_path, str):
        return None
    top = clean(mount.mount_path).rstrip("/")
    if not sub_path:
        return Sight(container=container, path=f"{top}/{clean(path)}", follows=follows)
    part, whole = clean(sub_path), clean(path)
    if whole == part:
        seen = top
    elif part == ".":
        seen = f"{top}/{whole}"
    elif whole.startswith(f"{part}/"):
        seen = f"{top}/{whole[len(part) + 1 :]}"
    else:
        return None
    return Sight(container=container, path=seen, follows=Follows.NEVER, sub_path=sub_path)
