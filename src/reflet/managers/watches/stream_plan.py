"""Which streams a manager keeps open, and why.

The decision between a stream for each object and one for the whole namespace, and the picture of
what is open.  Pure: whoever asks opens and closes.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from reflet.errors import ConfigurationError


class Shape(enum.Enum):
    """How the objects of a namespace are watched."""

    INDIVIDUAL = "individual"
    NAMESPACE = "namespace"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLimits:
    """When one stream for a whole namespace replaces the individual ones.

    It does so from *namespace_from* needed objects on, and gives way again below
    *namespace_until*, so that a pod that comes and goes does not make the streams come and go.
    A namespace that has, or comes to have, more than *most_objects* objects is not watched as a
    whole: most of what came would be for nobody.

    While the stream of a namespace is loading for more than *loading_timeout* seconds, objects get
    streams of their own until it is there.  A refusal is remembered for *refused_for* seconds.
    """

    namespace_from: int = 10
    namespace_until: int = 3
    most_objects: int = 10_000
    loading_timeout: float = 2.0
    refused_for: float = 600.0

    def __post_init__(self) -> None:
        if not 1 <= self.namespace_until <= self.namespace_from:
            raise ConfigurationError(
                "1 <= namespace_until <= namespace_from must hold, not "
                f"namespace_until={self.namespace_until} and namespace_from={self.namespace_from}"
            )


@dataclass(frozen=True, slots=True)
class NamespaceRefusal:
    """A namespace may not, or should not, be watched as a whole until a moment.

    - *reason*: why, for people
    - *until*: when it may be tried again, in seconds of the manager's clock
    """

    reason: str
    until: float


@dataclass(frozen=True, slots=True)
class Decision:
    """How to watch, and why, in words.

    - *shape*: one stream for the namespace, or one for each object
    - *reason*: why, for people
    """

    shape: Shape
    reason: str


def decide(
    limits: StreamLimits,
    *,
    needed: int,
    is_open: bool,
    refusal: NamespaceRefusal | None,
    now: float,
) -> Decision:
    """Say how a namespace should be watched of which *needed* objects are needed.

    *is_open* says that it is watched as a whole already.  Pure.
    """
    if refusal is not None and now < refusal.until:
        return Decision(Shape.INDIVIDUAL, refusal.reason)
    enough = limits.namespace_until if is_open else limits.namespace_from
    if needed >= enough:
        return Decision(Shape.NAMESPACE, f"{needed} needed; one stream for all from {enough} on")
    return Decision(Shape.INDIVIDUAL, f"{needed} needed; one stream for all only from {enough} on")


@dataclass(frozen=True, slots=True)
class OpenStream:
    """A stream of one object, or with *name* None of a whole namespace.

    - *namespace*: what it watches in
    - *reason*: why it is open, for people
    """

    namespace: str
    name: str | None
    reason: str

    def __str__(self) -> str:
        what = "whole namespace" if self.name is None else self.name
        return f"{self.namespace}: {what} ({self.reason})"


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """The streams that are open at one moment; as text, one a line.

    - *streams*: the open streams
    """

    streams: tuple[OpenStream, ...] = ()

    def __len__(self) -> int:
        return len(self.streams)

    def __str__(self) -> str:
        return "\n".join(map(str, self.streams)) or "no streams"
