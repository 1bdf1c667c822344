"""What to do about a problem, in one sentence, and which name was meant when one was mistyped."""

from collections.abc import Iterable, Mapping
from typing import Final, final

from reflet.api.frozen import EMPTY
from reflet.insight.pod_problems import (
    PULL_SECRET_TYPES,
    MissingSubPath,
    UnusablePullSecret,
)
from reflet.resolution.environment.variables import Environment
from reflet.resolution.objects import ConfigKind, ObjectKey
from reflet.resolution.problems import (
    FileProblem,
    InvalidMountPoint,
    InvalidSubPath,
    InvalidVariableName,
    MissingDefaultMode,
    MissingKey,
    MissingObject,
    MissingSubPathVariables,
    NoClient,
    NoProjectedClient,
    OversizedEnvironment,
    OversizedObject,
    OversizedValue,
    Problem,
    ServiceLinksUnset,
    ServicesNotRead,
    ServicesUnreadable,
    SkippedNames,
    TokenUnavailable,
    TrustBundleUnavailable,
    UnavailableResource,
    UnreadableObject,
    UnresolvedReference,
    UnsupportedField,
    UnsupportedSource,
    ZeroInValue,
)

MOST_LISTED: Final = 8  # names in one sentence

_PLAIN_ADVICE: Final[Mapping[type[Problem], str]] = {
    InvalidMountPoint: "use an absolute mountPath",
    InvalidSubPath: "use a relative path without '..'",
    InvalidVariableName: "rename it: letters, digits and '_' work everywhere",
    MissingDefaultMode: "set defaultMode; the API server sets 0644",
    NoClient: "connect to an API server",
    NoProjectedClient: "connect to an API server",
    OversizedEnvironment: "mount the large values as files",
    OversizedObject: "split it into several objects",
    OversizedValue: "mount it as a file",
    ServiceLinksUnset: "set spec.enableServiceLinks; the API server sets true",
    ServicesNotRead: "wait until services have been read",
    ServicesUnreadable: "allow list of services, or set spec.enableServiceLinks to false",
    SkippedNames: "rename the keys, or name variables one by one with configMapKeyRef or "
    "secretKeyRef",
    TokenUnavailable: "allow create of serviceaccounts/token",
    UnsupportedField: "use a field that the downward API has",
    TrustBundleUnavailable: "create the ClusterTrustBundle, allow get, list and watch of them, "
    "or set optional: true",
    UnsupportedSource: "use another source",
    ZeroInValue: "mount the value as a file",
}


@final
class KnownNames:
    """Objects that exist, as far as that is known, to be asked for by many."""

    __slots__ = ("_names", "_namespaces")

    def __init__(self, known: Iterable[ObjectKey] = ()) -> None:
        self._names: dict[tuple[str, str], dict[str, None]] = {}
        self._namespaces: dict[tuple[str, str], dict[str, None]] = {}
        for kind, namespace, name in known:
            self._names.setdefault((kind, namespace), {})[name] = None
            self._namespaces.setdefault((kind, name), {})[namespace] = None

    def names(self, kind: str, namespace: str) -> Iterable[str]:
        """Return the names of a kind in a namespace."""
        return self._names.get((kind, namespace), EMPTY)

    def namespaces(self, kind: str, name: str) -> Iterable[str]:
        """Return the namespaces that have an object of a kind and name."""
        return self._namespaces.get((kind, name), EMPTY)


@final
class Advice:
    """Knows what there is instead of what is missing.

    ``known`` are objects that exist, as far as that is known; ``wanted_keys`` are the keys that
    the pod uses of an object; ``environments`` are those of the containers.
    """

    __slots__ = ("_environments", "_known", "_wanted_keys")

    def __init__(
        self,
        *,
        known: KnownNames | Iterable[ObjectKey] = (),
        wanted_keys: Mapping[tuple[ConfigKind, str], tuple[str, ...]] = EMPTY,
        environments: Mapping[str, Environment] = EMPTY,
    ) -> None:
        self._known = known if isinstance(known, KnownNames) else KnownNames(known)
        self._wanted_keys = wanted_keys
        self._environments = environments

    def about(self, problem: Problem) -> str:
        """Return what to do, without a closing stop."""
        match problem:
            case MissingObject():
                return self._about_missing_object(problem)
            case MissingKey():
                return _about_missing_key(problem)
            case UnresolvedReference():
                return self._about_unresolved(problem)
            case MissingSubPathVariables(names=names):
                return f"set {listed(names)} in env of the container"
            case UnreadableObject():
                return f"allow get of {problem.object_kind.lower()}s {problem.name}: {_RIGHTS}"
            case MissingSubPath():
                close = near_miss(problem.sub_path, problem.present)
                there = f"the volume has {listed(problem.present) or 'no files'}"
                return f"did you mean {close}? {there}" if close else there
            case UnusablePullSecret():
                return (
                    f"make it of type {PULL_SECRET_TYPES[0]}, as kubectl create secret "
                    "docker-registry does"
                )
            case UnavailableResource():
                return "name a container of the pod, and limits or requests that there are"
            case FileProblem():
                return f"let an init container write {problem.path} to volume {problem.volume}"
            case _:
                return _PLAIN_ADVICE.get(type(problem), "")

    def _about_missing_object(self, problem: MissingObject) -> str:
        kind, name = problem.object_kind, problem.name
        names = self._known.names(kind, problem.namespace)
        elsewhere = self.other_namespaces(kind, problem.namespace, name)
        keys = self._wanted_keys.get((kind, name), ())
        with_keys = f" with {'key' if len(keys) == 1 else 'keys'} {listed(keys)}" if keys else ""
        create = f"create {kind} {name} in namespace {problem.namespace}{with_keys}"
        if elsewhere:
            return f"{create}: pods cannot use the one of namespace {listed(elsewhere)}"
        close = near_miss(name, names)
        return f"did you mean {close}? Otherwise {create}" if close else create

    def names(self, kind: ConfigKind, namespace: str) -> Iterable[str]:
        """Return the names that are known of a kind in a namespace."""
        return self._known.names(kind, namespace)

    def other_namespaces(self, kind: ConfigKind, namespace: str, name: str) -> tuple[str, ...]:
        """Return the other namespaces that have an object of that kind and name."""
        return tuple(
            sorted(each for each in self._known.namespaces(kind, name) if each != namespace)
        )

    def _about_unresolved(self, problem: UnresolvedReference) -> str:
        if problem.defined_later:
            return f"move {problem.name} above {problem.place.variable} in env"
        environment = self._environments.get(problem.place.container)
        others = [
            name
            for name in (() if environment is None else environment.variables)
            if name != problem.place.variable
        ]
        close = near_miss(problem.name, others)
        if close:
            return f"did you mean $({close})?"
        return f"set {problem.name}, or write $$({problem.name}) if the text is meant"


_RIGHTS: Final = "reflet rbac prints the rights that it takes"


def _about_missing_key(problem: MissingKey) -> str:
    kind, key = problem.object_kind, problem.key
    if problem.binary:
        return f"move {key} from binaryData to data, or mount it as a file"
    close = near_miss(key, problem.present)
    add = f"add key {key} to {kind} {problem.name}"
    return f"did you mean {close}? Otherwise {add}" if close else f"{add}, or use a key it has"


def listed(names: Iterable[str]) -> str:
    """Return names with commas, the first of many."""
    every = list(names)
    shown = ", ".join(every[:MOST_LISTED])
    return shown if len(every) <= MOST_LISTED else f"{shown} and {len(every) - MOST_LISTED} more"


ALIKE: Final = 0.75  # of difflib's ratio; below, suggestions mislead more than they help
_SEPARATORS: Final = str.maketrans({"-": "_", ".": "_", " ": "_"})


def near_miss(name: str, candidates: Iterable[str], *, alike: float = ALIKE) -> str | None:
    """Return the candidate that was probably meant; the name itself is none.

    Names that differ only in case and separators (``db.password``, ``DB_PASSWORD``) come first.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only needed to explain a mistake

    others = [candidate for candidate in candidates if candidate != name]
    plain = _plain(name)
    for candidate in others:
        if _plain(candidate) == plain:
            return candidate
    by_plain_name = {_plain(candidate): candidate for candidate in reversed(others)}
    close = get_close_matches(plain, by_plain_name, n=1, cutoff=alike)
    return by_plain_name[close[0]] if close else None


def _plain(name: str) -> str:
    return name.lower().translate(_SEPARATORS)
