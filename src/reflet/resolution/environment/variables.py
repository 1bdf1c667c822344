"""Variables of a container as data, each with everything that is known about where it came from.

No representation shows a sensitive value.  Also which names variables may have, now and in
Kubernetes 1.19.

Upstream: apimachinery/pkg/util/validation/validation.go, IsRelaxedEnvVarName and IsEnvVarName
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import structs

from reflet.api.frozen import EMPTY, Frozen
from reflet.api.meta import Hidden
from reflet.gotext.lazy_patterns import lazy_pattern
from reflet.resolution.origins import Origin
from reflet.resolution.places import Place
from reflet.resolution.problems import Problem, SkippedNames

_HALF_CHARACTERS: Final = lazy_pattern("[\ud800-\udc7f\udd00-\udfff]")


def exact_bytes(text: str) -> bytes:
    """Return the bytes that a process is given: surrogate escapes become the bytes they stand for.

    Other halves of characters, which no valid JSON or UTF-8 holds, become U+FFFD.
    """
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return _HALF_CHARACTERS.sub("\ufffd", text).encode(errors="surrogateescape")


class Assignment(Frozen, frozen=True, kw_only=True):
    """One value that something in the pod gave to a variable.

    ``sensitive`` values come from a Secret or an environment file, directly or through
    ``$(NAME)``; they are not shown in representations.  A value that is not ``known`` is empty
    here and will be something else in a running pod.

    Bytes that are not UTF-8 are surrogate escapes: ``value.encode(errors="surrogateescape")``,
    which is what ``os.fsencode`` and the standard library's process functions do, gives the
    exact bytes back.
    """

    value: str
    origin: Origin
    place: Place
    sensitive: bool = False
    known: bool = True

    def _presentable(self) -> "Assignment":
        if not self.sensitive:
            return self
        hidden: Any = Hidden("secret", len(exact_bytes(self.value)))
        return structs.replace(self, value=hidden)

    def __repr__(self) -> str:
        return Frozen.__repr__(self._presentable())

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return Frozen.__rich_repr__(self._presentable())


class Variable(Frozen, frozen=True, kw_only=True):
    """A variable of the container: the assignment that counts, and those that it shadows.

    The first shadowed assignment is the one that would count without this one.
    """

    name: str
    assignment: Assignment
    shadows: tuple[Assignment, ...] = ()

    @property
    def value(self) -> str:
        """The value that the container gets."""
        return self.assignment.value

    @property
    def origin(self) -> Origin:
        """Where the value came from."""
        return self.assignment.origin

    @property
    def sensitive(self) -> bool:
        """Whether the value must not be shown."""
        return self.assignment.sensitive


class Environment(Frozen, frozen=True, kw_only=True):
    """The environment of a container.

    ``error`` is what the kubelet says when it refuses to start the container, ``None`` when it
    does not; the variables are then those that could be told.  Their order is that of the
    first assignment, keys of one object sorted, variables of services at the end.
    """

    namespace: str
    pod: str
    container: str
    variables: Mapping[str, Variable] = EMPTY
    problems: tuple[Problem, ...] = ()
    error: str | None = None

    @property
    def values(self) -> dict[str, str]:
        """Names and values, in order."""
        return {name: variable.value for name, variable in self.variables.items()}

    @property
    def events(self) -> tuple[SkippedNames, ...]:
        """What the kubelet reports as events of the pod."""
        return tuple(item for item in self.problems if isinstance(item, SkippedNames))

    def encoded(self) -> dict[bytes, bytes]:
        """Return names and values as the exact bytes that a process is given."""
        return {exact_bytes(name): exact_bytes(value) for name, value in self.values.items()}


_PRINTABLE: Final = lazy_pattern(r"[ -<>-~]+")
_NARROW: Final = lazy_pattern(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


def is_valid(name: str) -> bool:
    """Tell whether the API server accepts the name: printable ASCII without ``=``, not empty."""
    return _PRINTABLE.fullmatch(name) is not None


def was_valid(name: str) -> bool:
    """Tell whether the kubelet of Kubernetes 1.19 took the name: letters, digits, ``-._``.

    It may not begin with a digit or two dots, nor be a single dot.
    """
    return _NARROW.fullmatch(name) is not None and name != "." and not name.startswith("..")
