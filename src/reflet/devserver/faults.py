"""Faults on request: what the server does wrong, when, and how often; and the record of requests.

Repeatable: a fault lets ``after`` matching requests pass, strikes the next ``times``, and is
used up; of several that match, the one added first strikes.  Whoever answers requests does what a
fault says.

::

    server.faults.add(Fault("status", status=429, retry_after=1, verb="list", times=2))
    server.faults.add(Fault("reset", verb="watch", resource="configmaps", after=1))
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from typing import Any, Final, final

from reflet.errors import ConfigurationError

MOST_REQUESTS: Final = 10_000
"""Requests that are remembered; older ones are forgotten."""

LONGEST_PATH: Final = 256
"""Bytes of the path of a request from somebody unknown that are remembered."""

LONGEST_METHOD: Final = 16


@final
class Action(enum.StrEnum):
    """What goes wrong."""

    DROP = "drop"  # the connection is closed before the head of the answer
    RESET = "reset"  # the connection is reset in the middle of the body, or of a watch's line
    STALL = "stall"  # nothing more is sent, and the connection stays open
    DELAY = "delay"  # the answer comes ``seconds`` later
    STATUS = "status"  # the answer is a Status with the code ``status``
    EXPIRE = "expire"  # all history is forgotten, then the request is answered
    TRUNCATE = "truncate"  # the next line of a watch is cut, and the stream ends
    CORRUPT = "corrupt"  # the next line of a watch is not JSON
    CLOSE = "close"  # a watch ends cleanly
    RESTART = "restart"  # all connections break, nobody listens for ``seconds``; state is kept


STREAM_ACTIONS: Final = frozenset(
    {Action.RESET, Action.STALL, Action.TRUNCATE, Action.CORRUPT, Action.CLOSE}
)
IMMEDIATE_ACTIONS: Final = STREAM_ACTIONS | {Action.EXPIRE, Action.RESTART}


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request as it came; ``verb`` and ``resource`` are empty when it is about neither.

    ``verb`` is Kubernetes' own word (get, list, watch, create, update, patch, delete,
    deletecollection), ``resource`` the plural with its group (``deployments.apps``).  Of a request
    without a good token the log has the beginning of the path, and neither query nor user agent.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    user_agent: str = ""
    verb: str = ""
    resource: str = ""

    def of_a_stranger(self) -> SeenRequest:
        """Give what is remembered of it when nobody knows who asks: nothing that takes room."""
        path = self.path.encode("utf-8", "replace")[:LONGEST_PATH].decode("utf-8", "ignore")
        resource = self.resource if path == self.path else ""
        return SeenRequest(self.method[:LONGEST_METHOD], path, verb=self.verb, resource=resource)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: what happens, to which requests, and how often.

    - *action*: what goes wrong
    - *verb*: such as ``list``; empty is any
    - *resource*: such as ``pods``; empty is any
    - *path*: pattern of the URL path, with ``*`` and ``?``; empty is any
    - *after*: how many requests that match pass first
    - *times*: how many requests it strikes after those
    - *now*: whether it strikes at once, every open stream that matches, and waits for no request
    - *status*: HTTP code from 400 to 599, for ``status``
    - *reason*, *message*: those of the Status, for ``status``; empty is what the code stands for
    - *retry_after*: seconds in the ``Retry-After`` header, for ``status``; None sends none
    - *seconds*: how long, for ``delay`` and ``restart``
    """

    action: Action | str
    verb: str = ""
    resource: str = ""
    path: str = ""
    after: int = 0
    times: int = 1
    now: bool = False
    status: int = 500
    reason: str = ""
    message: str = ""
    retry_after: int | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "action", Action(self.action))
        except ValueError:
            known = ", ".join(Action)
            raise ConfigurationError(
                f"fault action {self.action!r} is not one of {known}"
            ) from None
        if self.after < 0 or self.times < 1 or self.seconds < 0:
            raise ConfigurationError("a fault's after and seconds are 0 or more, times 1 or more")
        if self.now and self.action not in IMMEDIATE_ACTIONS:
            raise ConfigurationError(
                f"fault {self.action} needs a request to strike: leave out now"
            )
        if not 400 <= self.status <= 599:
            raise ConfigurationError(f"fault status {self.status} is not between 400 and 599")

    @classmethod
    def from_document(cls, document: object) -> Fault:
        """Read a fault from JSON; its names are those of the fields, in camelCase.

        - *document*: decoded JSON
        """
        if not isinstance(document, dict):
            raise ConfigurationError("a fault is a JSON object")
        known = {_camel(each.name): each for each in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in document.items():
            if name not in known:
                raise ConfigurationError(f"a fault has no {name!r}; it has {', '.join(known)}")
            wanted = _TYPES[known[name].name]
            if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
                raise ConfigurationError(f"the {name} of a fault is not {value!r}")
            values[known[name].name] = value
        if "action" not in values:
            raise ConfigurationError("a fault needs an action")
        return cls(**values)

    def to_document(self) -> dict[str, Any]:
        """Write the fault as JSON."""
        return {_camel(each.name): getattr(self, each.name) for each in fields(self)}

    def matches(self, request: SeenRequest) -> bool:
        """Whether a request is one of those that the fault is for."""
        return (
            self.verb in {"", request.verb}
            and self.resource in {"", request.resource}
            and (not self.path or fnmatchcase(request.path, self.path))
        )


_TYPES: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("action", "verb", "resource", "path", "reason", "message"), str),
    **dict.fromkeys(("after", "times", "status", "retry_after"), int),
    "now": bool,
    "seconds": (int, float),
}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


@final
class _Waiting:
    """A fault and its counts."""

    __slots__ = ("fault", "fired", "passed")

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.passed = 0
        self.fired = 0


@final
class Faults:
    """The faults that wait, and those that have struck.

    *strike_now* is called with faults that strike at once.

    - *strike_now*: called with faults that concern no request: closed connections, restarts
    """

    def __init__(self, strike_now: Callable[[Fault], None] | None = None) -> None:
        self._strike_now = strike_now
        self._waiting: list[_Waiting] = []
        self._fired: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Let a fault happen: now, or to the requests that it is for."""
        if not fault.now:
            self._waiting.append(_Waiting(fault))
            return
        if self._strike_now is None:
            raise ConfigurationError("nothing runs yet that a fault could strike now")
        self._fired.append(fault)
        self._strike_now(fault)

    def clear(self) -> None:
        """Forget the faults that wait."""
        self._waiting.clear()

    def start_over(self) -> None:
        """Forget all faults, those that have struck too."""
        self._waiting.clear()
        self._fired.clear()

    @property
    def waiting(self) -> tuple[Fault, ...]:
        """The faults that have not struck as often as they say."""
        return tuple(each.fault for each in self._waiting)

    @property
    def fired(self) -> tuple[Fault, ...]:
        """Every strike so far, in order."""
        return tuple(self._fired)

    def strike(self, request: SeenRequest) -> Fault | None:
        """Give the fault that strikes a request, if any, and count it.

        A request that one fault strikes or lets pass counts for no other.
        """
        for waiting in self._waiting:
            fault = waiting.fault
            if not fault.matches(request):
                continue
            if waiting.passed < fault.after:
                waiting.passed += 1
                return None
            waiting.fired += 1
            if waiting.fired == fault.times:
                self._waiting.remove(waiting)
            self._fired.append(fault)
            return fault
        return None


@final
class RequestLog:
    """The requests that came, oldest first, for tests to count.

    - *most*: how many requests are kept
    """

    def __init__(self, most: int = MOST_REQUESTS) -> None:
        self._requests: deque[SeenRequest] = deque(maxlen=most)

    def add(self, request: SeenRequest) -> None:
        """Remember a request."""
        self._requests.append(request)

    def clear(self) -> None:
        """Forget all requests."""
        self._requests.clear()

    def all(self) -> tuple[SeenRequest, ...]:
        """Give the requests that are remembered."""
        return tuple(self._requests)

    def count(self, *, verb: str = "", resource: str = "", path: str = "") -> int:
        """Count the requests that match, as faults match them.

        - *verb*: such as ``list``; empty is any
        - *resource*: such as ``pods``; empty is any
        - *path*: pattern of the URL path, with ``*`` and ``?``; empty is any
        """
        pattern = Fault(Action.DROP, verb=verb, resource=resource, path=path)
        return sum(pattern.matches(request) for request in self._requests)

    def __len__(self) -> int:
        return len(self._requests)
