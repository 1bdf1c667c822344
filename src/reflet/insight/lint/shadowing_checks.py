"""Variables, files and mounts that hide others, names that only some programs can read, and mounts
that never show a change.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Final

from reflet.gotext.paths import clean
from reflet.insight.lint import rules
from reflet.insight.lint.rules import Finding
from reflet.insight.lint.subjects import Subject
from reflet.insight.pod_problems import MissingSubPath, PodProblems
from reflet.resolution.environment.variables import Assignment, Environment, Variable
from reflet.resolution.origins import ConfigMapOrigin, Origin, SecretOrigin
from reflet.resolution.places import Place, containers_of
from reflet.resolution.volumes.file_contents import FileContent
from reflet.resolution.volumes.volume_contents import configuration_volumes

_READABLE_BY_SHELLS: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def shadowed_variables(subject: Subject, found: PodProblems) -> Iterator[Finding]:
    """Yield variables that several sources set, and keys that make awkward names."""
    for environment in found.environments.values():
        for variable in environment.variables.values():
            yield from _shadows(subject, environment, variable)
        yield from _awkward_names(subject, environment)


def _shadows(subject: Subject, environment: Environment, variable: Variable) -> Iterator[Finding]:
    chain = (variable.assignment, *variable.shadows)
    for winner, loser in itertools.pairwise(chain):
        if loser.place.path == "spec.enableServiceLinks":
            continue  # whoever sets a variable of a service means it
        if winner.known and loser.known and winner.value == loser.value:
            continue  # written twice, to no effect
        rank, other = _rank(winner), _rank(loser)
        rule = rules.SHADOWED if rank == other else rules.OVERRIDDEN
        yield subject.finding(
            rule,
            f"container {environment.container}: {variable.name} of {_source(winner)} "
            f"hides that of {_source(loser)}",
            path=subject.path_of(winner.place.path),
            fix="remove one of them, or give an envFrom a prefix" if rule is rules.SHADOWED else "",
        )


def _rank(assignment: Assignment) -> str:
    return "envFrom" if ".envFrom[" in assignment.place.path else "env"


def _source(assignment: Assignment) -> str:
    origin = assignment.origin
    if isinstance(origin, ConfigMapOrigin | SecretOrigin) and origin.whole:
        return _object(origin)
    found = re.search(r"env\[\d+\]", assignment.place.path)
    return found[0] if found else assignment.place.path


def _object(origin: Origin) -> str:
    if isinstance(origin, ConfigMapOrigin):
        return f"ConfigMap {origin.name}"
    if isinstance(origin, SecretOrigin):
        return f"Secret {origin.name}"
    return type(origin).__name__.removesuffix("Origin").lower()


def _awkward_names(subject: Subject, environment: Environment) -> Iterator[Finding]:
    by_place: dict[str, tuple[Place, Origin, list[str]]] = {}
    for variable in environment.variables.values():
        for assignment in (variable.assignment, *variable.shadows):
            origin = assignment.origin
            whole = isinstance(origin, ConfigMapOrigin | SecretOrigin) and origin.whole
            if whole and not _READABLE_BY_SHELLS.fullmatch(variable.name):
                entry = by_place.setdefault(assignment.place.path, (assignment.place, origin, []))
                entry[2].append(variable.name)
    for path, (_, origin, names) in by_place.items():
        yield subject.finding(
            rules.AWKWARD_NAME,
            f"container {environment.container}: {_object(origin)} makes variables that shells "
            f"cannot read: {', '.join(sorted(names))}",
            path=subject.path_of(path),
            fix="rename the keys, or name variables one by one with valueFrom",
        )


def hidden_files(subject: Subject, found: PodProblems) -> Iterator[Finding]:
    """Yield files of volumes that hide others, and paths that are a file and a directory."""
    for index, volume in enumerate(found.pod.spec.volumes):
        contents = found.volumes.get(volume.name)
        if contents is None:
            continue
        path = subject.path_of(f"spec.volumes[{index}]")
        for name, file in contents.files.items():
            for hidden in file.shadows:
                if _same_key(file.origin, hidden):
                    continue  # named twice, to no effect
                yield subject.finding(
                    rules.SHADOWED_FILE,
                    f"volume {volume.name}: {name} of {_object(file.origin)} hides that of "
                    f"{_object(hidden)}",
                    path=path,
                    fix="give one of them another path with items",
                )
        for outer, inner in _inside_each_other(contents.files):
            yield subject.finding(
                rules.PATH_CONFLICT,
                f"volume {volume.name}: {outer} is a file, and {inner} needs it to be a directory",
                path=path,
                fix="give one of them another path with items",
            )


def _same_key(origin: Origin, other: Origin) -> bool:
    if isinstance(origin, ConfigMapOrigin | SecretOrigin) and type(origin) is type(other):
        return (origin.name, origin.key) == (other.name, other.key)
    return False


def _inside_each_other(files: Mapping[str, FileContent]) -> Iterator[tuple[str, str]]:
    names = {clean(name) for name in files}
    for name in sorted(names):
        parts = name.split("/")
        for length in range(1, len(parts)):
            outer = "/".join(parts[:length])
            if outer in names:
                yield outer, name


def mounts(subject: Subject, found: PodProblems) -> Iterator[Finding]:
    """Yield mounts at one path, and sub-paths of configuration, which are never refreshed."""
    kept_fresh = frozenset(configuration_volumes(found.pod))
    # What is not even there need not be refreshed.
    missing = {each.place.path for each in found.problems if isinstance(each, MissingSubPath)}
    for placed in containers_of(found.pod.spec):
        container = placed.container
        taken: dict[str, str] = {}
        for index, mount in enumerate(container.volume_mounts):
            path = subject.path_of(f"{placed.path}.volumeMounts[{index}]")
            target = clean(mount.mount_path)
            # The API server compares the texts, and so lets "/etc/app" and "/etc/app/" pass.
            if target in taken:
                yield subject.finding(
                    rules.DUPLICATE_MOUNT,
                    f"container {container.name}: volumes {taken[target]} and {mount.name} are "
                    f"both mounted at {target}",
                    path=f"{path}.mountPath",
                    fix="mount one of them elsewhere",
                )
            taken.setdefault(target, mount.name)
            part = mount.sub_path or mount.sub_path_expr
            there = f"{placed.path}.volumeMounts[{index}]" not in missing
            if part and there and mount.name in kept_fresh:
                yield subject.finding(
                    rules.NEVER_REFRESHED,
                    f"container {container.name}: {part} of volume {mount.name} stays as it is "
                    "when the container starts, whatever happens to the object",
                    path=f"{path}.{'subPath' if mount.sub_path else 'subPathExpr'}",
                    fix="mount the volume without subPath, or restart the pod after a change",
                )
