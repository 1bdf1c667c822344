"""Everything that is wrong with the configuration of a pod, of all containers and volumes.

Besides the problems of resolution, these are the mistakes that show only when containers, mounts
and volumes are seen together.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, final

from reflet.api.core.config import Secret
from reflet.api.core.pods import Pod
from reflet.api.frozen import EMPTY, Frozen
from reflet.errors import RefletError
from reflet.gotext.paths import clean
from reflet.resolution.environment.environment import references_are_certain
from reflet.resolution.environment.expansion import expanded_size, references_in
from reflet.resolution.environment.variables import Environment, exact_bytes
from reflet.resolution.places import Place, PlacedContainer, containers_of
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.problems import (
    InvalidSubPath,
    MissingKey,
    MissingObject,
    MissingSubPathVariables,
    ObjectProblem,
    OversizedEnvironment,
    Problem,
    UnreadableObject,
    UnresolvedReference,
)
from reflet.resolution.references.references import Usage, references_of
from reflet.resolution.references.wanted_objects import WantedObject
from reflet.resolution.volumes.file_contents import VolumeContents
from reflet.resolution.volumes.sub_paths import nested_mount_points, sub_path_of
from reflet.resolution.volumes.trust_bundles import UNKNOWN_BUNDLES

LARGEST_ENVIRONMENT: Final = 2 << 20  # bytes; a quarter of the usual stack limit of 8 MiB
POINTER: Final = 8  # bytes that Linux counts for each variable and argument besides its text
PULL_SECRET_TYPES: Final = ("kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg")

# Shell commands in parentheses look like references to variables; they are written in lower
# case, and so nearly every false alarm is avoided.
_LIKE_A_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]*")
_OF_A_SERVICE: Final = re.compile(
    r".+_(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)
_STAND_IN_TOKEN: Final = "token"  # noqa: S105 - what stands where a token will be


class MissingSubPath(Problem, frozen=True, kw_only=True):
    """A mount shows a part of a volume that the volume does not have.

    The kubelet makes an empty directory there, where a file was expected.
    """

    sub_path: str
    present: tuple[str, ...] = ()
    blocking: bool = False

    def _sentence(self) -> str:
        return (
            f"volume {self.place.volume} has no {self.sub_path}; "
            "the container gets an empty directory in its place"
        )


class UnusablePullSecret(ObjectProblem, frozen=True, kw_only=True):
    """A Secret that is named for pulling images and does not hold what that takes."""

    secret_type: str
    blocking: bool = False

    def _sentence(self) -> str:
        return (
            f"{self.object_text} is of type {self.secret_type or 'Opaque'}, "
            "which is ignored when images are pulled"
        )


class MissingPullSecret(MissingObject, frozen=True, kw_only=True):
    """A Secret for pulling images does not exist; the pull is tried without it."""

    blocking: bool = False


class PodProblems(Frozen, frozen=True, kw_only=True):
    """A pod's configuration, and all that is wrong with it, in the kubelet's order."""

    pod: Pod
    environments: Mapping[str, Environment] = EMPTY
    volumes: Mapping[str, VolumeContents] = EMPTY
    problems: tuple[Problem, ...] = ()


def problems_of(inputs: PodInputs) -> PodProblems:
    """Resolve all of a pod and return it with every problem, each once.

    Tokens of service accounts are taken to be there, because asking for one would make one; so
    are trust bundles, which few may list.  What others make is nothing wrong.
    """
    return _Search(inputs).result()


@final
class _Search:
    """One look at one pod."""

    def __init__(self, inputs: PodInputs) -> None:
        self._inputs = replace(
            inputs, token=lambda _audience, _seconds: _STAND_IN_TOKEN, bundles=UNKNOWN_BUNDLES
        )
        self._pod = inputs.pod
        self._problems: list[Problem] = []
        self._environments: dict[str, Environment] = {}
        self._volumes: dict[str, VolumeContents] = {}

    def result(self) -> PodProblems:
        self._volumes = self._inputs.volumes()
        self._add(_of_named_secrets(self._inputs))
        for placed in containers_of(self._pod.spec):
            self._of_container(placed)
        for name, contents in self._volumes.items():
            self._add(contents.problems)
            nested = nested_mount_points(self._pod, name)
            if isinstance(nested, Problem):
                self._add((nested,))
        return PodProblems(
            pod=self._pod,
            environments=self._environments,
            volumes=self._volumes,
            problems=tuple(each for each in self._problems if not self._is_elsewhere(each)),
        )

    def _is_elsewhere(self, problem: Problem) -> bool:
        made_elsewhere = self._inputs.made_elsewhere
        if made_elsewhere is None:
            return False
        if isinstance(problem, MissingKey):
            return made_elsewhere(problem.object_kind, problem.namespace, problem.name, problem.key)
        if isinstance(problem, UnresolvedReference) and not problem.defined_later:
            # Services that are not in the files may be in the cluster.
            links = self._pod.spec.enable_service_links is not False
            return links and _OF_A_SERVICE.fullmatch(problem.name) is not None
        # Said by who could not read it, or made by others.
        return isinstance(problem, UnreadableObject)

    def _add(self, problems: Iterable[Problem]) -> None:
        # Problems of the pod as a whole come back with every container.
        self._problems += [problem for problem in problems if problem not in self._problems]

    def _of_container(self, placed: PlacedContainer) -> None:
        environment = self._inputs.environment(placed.container.name)
        self._environments[placed.container.name] = environment
        too_large = any(isinstance(each, OversizedEnvironment) for each in environment.problems)
        certain = references_are_certain(environment.problems)
        self._add(environment.problems)
        if certain:
            # A variable from an object or key that is missing is that problem, and no other.
            declared = {variable.name for variable in placed.container.env if variable.value_from}
            self._add(_of_arguments(placed, environment, declared))
        if not too_large:
            self._add(_of_size(placed, environment))
        self._add(self._of_mounts(placed, environment, certain=certain))

    def _of_mounts(
        self, placed: PlacedContainer, environment: Environment, *, certain: bool
    ) -> Iterator[Problem]:
        for index, mount in enumerate(placed.container.volume_mounts):
            place = Place(
                path=f"{placed.path}.volumeMounts[{index}]",
                container=placed.container.name,
                volume=mount.name,
            )
            path = sub_path_of(mount, environment.values, place=place)
            if isinstance(path, MissingSubPathVariables):
                if certain:
                    yield path
            elif isinstance(path, InvalidSubPath):
                yield path
            elif path and self._lacks(mount.name, clean(path)):
                present = tuple(self._volumes[mount.name].files)
                # The expression and not what became of it, which may hold a secret.
                shown = mount.sub_path_expr or path
                yield MissingSubPath(place=place, sub_path=shown, present=present)

    def _lacks(self, volume: str, path: str) -> bool:
        contents = self._volumes.get(volume)
        if contents is None or contents.error is not None or path == ".":
            return False
        files = map(clean, contents.files)
        return not any(file == path or file.startswith(f"{path}/") for file in files)


def _of_arguments(
    placed: PlacedContainer, environment: Environment, declared: Collection[str]
) -> Iterator[Problem]:
    for field in ("command", "args"):
        texts: tuple[str, ...] = getattr(placed.container, field)
        for index, text in enumerate(texts):
            for name in dict.fromkeys(references_in(text)):
                known = name in environment.variables or name in declared
                if not known and _LIKE_A_VARIABLE.fullmatch(name):
                    yield UnresolvedReference(place=placed.place(f"{field}[{index}]"), name=name)


def _of_size(placed: PlacedContainer, environment: Environment) -> Iterator[Problem]:
    variables = environment.values
    texts = [f"{name}={value}" for name, value in variables.items()]
    words = (*placed.container.command, *placed.container.args)
    size = sum(len(exact_bytes(text)) for text in texts) + expanded_size(words, variables.get)
    size += (len(texts) + len(words)) * (1 + POINTER)
    if size > LARGEST_ENVIRONMENT:
        yield OversizedEnvironment(
            place=placed.place(), size=size, limit=LARGEST_ENVIRONMENT, blocking=False
        )


def _of_named_secrets(inputs: PodInputs) -> Iterator[Problem]:
    """Yield what is wrong with the Secrets of image pulls and of other volumes' drivers."""
    objects = inputs.objects
    if objects is None:
        return  # said of every volume and container that needs an API server
    for reference in references_of(inputs.pod):
        if reference.usage not in {Usage.PULL_SECRET, Usage.VOLUME_CREDENTIALS}:
            continue
        wanted = WantedObject(
            kind="Secret",
            namespace=inputs.namespace,
            name=reference.name,
            place=reference.place,
        )
        answer = objects.secret(wanted.namespace, wanted.name)
        pulls = reference.usage is Usage.PULL_SECRET
        if isinstance(answer, RefletError):
            problem = wanted.failed(answer)
            yield _about_a_pull(problem) if pulls else problem
        elif pulls and not _holds_registry_credentials(answer):
            yield UnusablePullSecret(
                place=wanted.place,
                object_kind="Secret",
                namespace=wanted.namespace,
                name=wanted.name,
                secret_type=answer.type,
            )


def _about_a_pull(problem: MissingObject | UnreadableObject) -> Problem:
    text = (
        f"Unable to retrieve some image pull secrets ({problem.name}); "
        "attempting to pull the image may not succeed."
    )
    if isinstance(problem, UnreadableObject):
        return UnreadableObject(
            place=problem.place,
            kubelet=text,
            blocking=False,
            object_kind="Secret",
            namespace=problem.namespace,
            name=problem.name,
            reason=problem.reason,
        )
    return MissingPullSecret(
        place=problem.place,
        kubelet=text,
        object_kind="Secret",
        namespace=problem.namespace,
        name=problem.name,
    )


def _holds_registry_credentials(secret: Secret) -> bool:
    return secret.type in PULL_SECRET_TYPES
