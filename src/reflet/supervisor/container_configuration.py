"""What one container of a pod gets, and what a process is started with for it.  Pure.

``ContainerConfiguration`` is its environment, the files of the volumes it mounts, and whether the
kubelet would start it.  ``command_for`` follows the kubelet's rule for command and arguments.
``child_environment`` says who wins when several set a variable:

=======================  ==========================================================
 ``--unset``              takes a variable away, whoever set it
 ``REFLET_ROOT``          where the files are
 ``--set``                over the pod's
 the pod                  exactly what the container gets
 ``--inherit``            of the local environment, what the pod does not set
 ``PATH``                 the local one, where nobody above sets one: the programs that are
                          installed here take the place of those in the image
=======================  ==========================================================

Upstream: pkg/kubelet/container/helpers.go, ExpandContainerCommandAndArgs
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final

from msgspec import structs

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.errors import ConfigurationError
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.resolution.environment.expansion import OversizedExpansion, expand_all
from reflet.resolution.environment.variables import Environment
from reflet.resolution.places import container_named
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.problems import (
    NotKnownYet,
    Problem,
    TokenUnavailable,
    UnreadableObject,
    UnsupportedSource,
)
from reflet.resolution.templates.service_account_volume import ADDED_VOLUME
from reflet.resolution.volumes.file_contents import VolumeContents
from reflet.resolution.volumes.volume_contents import configuration_volumes

USUAL_GRACE: Final = 30.0
"""Seconds that the API server gives to a pod that asks for none."""

ANY_MAY_RUN: Final = 0o111

FORGIVEN: Final = (TokenUnavailable, UnsupportedSource)
"""What a process outside of the cluster does without: to make a token needs more than reading."""

ROOT_VARIABLE: Final = "REFLET_ROOT"
PATH: Final = "PATH"
RUNTIME_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What container runtimes set where nobody sets a PATH."""


@dataclass(frozen=True, slots=True)
class ContainerConfiguration:
    """A container's environment, and the contents of its volumes by their names."""

    pod: Pod
    container_name: str
    environment: Environment
    volumes: Mapping[str, VolumeContents]

    @property
    def container(self) -> Container:
        """The container as the pod describes it."""
        return container_named(self.pod, self.container_name).container

    @property
    def grace(self) -> float:
        """Seconds that the process has to end when it is asked to."""
        seconds = self.pod.spec.termination_grace_period_seconds
        return USUAL_GRACE if seconds is None else float(seconds)

    @property
    def has_programs(self) -> bool:
        """Whether a file of its volumes is meant to be run."""
        return any(
            file.mode & ANY_MAY_RUN
            for contents in self.volumes.values()
            for file in contents.files.values()
        )

    @property
    def refusal(self) -> str | None:
        """What the kubelet says when it does not start the container, None when it does.

        Where that hides why an object could not be read, the reason follows.
        """
        for name, contents in self.volumes.items():
            if contents.error is not None:
                said = f'MountVolume.SetUp failed for volume "{name}" : {contents.error}'
                return said + _hidden_reason(said, contents.problems)
        said = self.environment.error or ""
        return said + _hidden_reason(said, self.environment.problems) if said else None

    def left_out(self) -> Iterator[str]:
        """Sentences about what the process does without, each with what can be done."""
        for name, variable in self.environment.variables.items():
            if not variable.assignment.known:
                yield f"{name} is known only in the cluster and empty here: --set {name}=… sets it"
        for name, contents in self.volumes.items():
            said: list[str] = [f"{problem.message}" for problem in _forgiven(contents)]
            said += [
                f"{problem.message}"
                for problem in contents.problems
                if isinstance(problem, NotKnownYet)
            ]
            yield from (f"volume {name} is not complete: {each}" for each in dict.fromkeys(said))
            yield from (
                f"volume {name}: {path} is known only in the cluster and empty here"
                for path, file in contents.files.items()
                if not file.known
            )


def of_container(resolved: ResolvedPod, container_name: str) -> ContainerConfiguration:
    """Take out of a pod's result what concerns one container."""
    return ContainerConfiguration(
        pod=resolved.pod,
        container_name=container_name,
        environment=resolved.environments[container_name],
        volumes={
            name: forgiving(resolved.volumes[name])
            for name in volumes_of(resolved.pod, container_name)
        },
    )


def configuration_of(inputs: PodInputs, container_name: str) -> ContainerConfiguration:
    """Resolve one container, with nothing but what is in hand."""
    # A token that nobody can give is left out, not empty.
    known = replace(inputs, token=None)
    return ContainerConfiguration(
        pod=inputs.pod,
        container_name=container_name,
        environment=known.environment(container_name),
        volumes={
            name: forgiving(known.volume(name)) for name in volumes_of(inputs.pod, container_name)
        },
    )


def volumes_of(pod: Pod, container_name: str) -> tuple[str, ...]:
    """The volumes with configuration that the container mounts, in the pod's order."""
    mounted = {mount.name for mount in container_named(pod, container_name).container.volume_mounts}
    return tuple(name for name in configuration_volumes(pod) if name in mounted)


def forgiving(contents: VolumeContents) -> VolumeContents:
    """The contents without an error, where all that is wrong can be done without.

    Of what admission adds, files that are not known are left out: no token is better than an
    empty one.
    """
    if contents.volume == ADDED_VOLUME:
        known = {path: file for path, file in contents.files.items() if file.known}
        contents = structs.replace(contents, files=known)
    blocking = [problem for problem in contents.problems if problem.blocking]
    if contents.error is None or not all(isinstance(each, FORGIVEN) for each in blocking):
        return contents
    return structs.replace(contents, error=None)


def _hidden_reason(said: str, problems: Iterable[Problem]) -> str:
    reasons = (each.reason for each in problems if isinstance(each, UnreadableObject))
    return next((f" ({reason})" for reason in reasons if reason not in said), "")


def _forgiven(contents: VolumeContents) -> list[Problem]:
    if contents.error is not None:
        return []
    return [problem for problem in contents.problems if isinstance(problem, FORGIVEN)]


@dataclass(frozen=True, slots=True)
class EnvironmentOptions:
    """What the user wants besides the pod's variables; values are not shown."""

    inherit: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    unset: Sequence[str] = ()


def child_environment(
    pod_variables: Mapping[str, str],
    local: Mapping[str, str],
    options: EnvironmentOptions,
    *,
    root: str,
) -> dict[str, str]:
    """The whole environment of the process."""
    result = {PATH: local.get(PATH) or RUNTIME_PATH}
    result |= {
        name: value
        for name, value in local.items()
        if any(fnmatchcase(name, pattern) for pattern in options.inherit)
    }
    result |= pod_variables
    result |= options.settings
    result[ROOT_VARIABLE] = root
    for name in options.unset:
        result.pop(name, None)
    return result


def command_for(
    container: Container, variables: Mapping[str, str], given: Sequence[str]
) -> tuple[str, ...]:
    """The command and its arguments.

    *given* is taken as it is.  Without it, the container's command and arguments count, with
    ``$(NAME)`` replaced; what the image would run is not known here, and that is a
    ConfigurationError, and so is more than any process could be given.
    """
    if given:
        return tuple(given)
    if not container.command:
        which = "gives only arguments" if container.args else "has no command"
        raise ConfigurationError(
            f"container {container.name} {which}, and what its image runs is not known here: "
            "give the command after --"
        )
    try:
        return expand_all((*container.command, *container.args), variables.get)
    except OversizedExpansion as error:
        raise ConfigurationError(
            f"container {container.name}: command and args have {error}"
        ) from None
