"""What a differential scene is made of: requests as data, played alike to two servers.

Owns: the steps and how they are written down.  Must not know how a step is sent, nor what is
compared.

Texts in paths and bodies may hold names in angle brackets: ``<ns>`` is the scene's namespace,
others stand for what an earlier step kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

JSON: Final = "application/json"
YAML: Final = "application/yaml"
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
APPLY: Final = "application/apply-patch+yaml"
TABLE: Final = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA: Final = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

CORE: Final = "/api/v1/namespaces/<ns>"
APPS: Final = "/apis/apps/v1/namespaces/<ns>"
BATCH: Final = "/apis/batch/v1/namespaces/<ns>"
CONFIG_MAPS: Final = f"{CORE}/configmaps"
PODS: Final = f"{CORE}/pods"


class _Absent:
    """The value of a field that an edit takes away."""


ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Edited:
    """A body: what an earlier step kept, with some fields changed (``spec.ports.0.port``)."""

    kept: str
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """One request and its answer.

    A ``body`` of bytes is sent as it is, anything else as JSON.  ``keep`` names parts of the
    answer for later steps (``{"page": "metadata.continue"}``; an empty path is the whole of it).
    ``view`` chooses what of the body is compared.  ``differs`` maps the parts of the answer that
    are known to differ to the declared difference that explains them.
    """

    method: str
    path: str
    body: object = None
    content_type: str = JSON
    accept: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    keep: Mapping[str, str] = field(default_factory=dict)
    view: Callable[[Any], Any] | None = None
    differs: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name the request in reports."""
        parts = [self.method, self.path]
        if self.accept != JSON:
            parts.append(f"as {self.accept or 'anything'}")
        if self.body is not None:
            body = self.body if isinstance(self.body, bytes) else str(self.body)
            parts += ["with", self.content_type or "untyped", f"{body!r:.200}"]
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Watch:
    """A watch: its first ``events``, or all until the server ends it.

    The requests ``during`` are sent once it is open.
    """

    path: str
    events: int | None = None
    during: tuple[Ask, ...] = ()
    accept: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    keep: Mapping[str, str] = field(default_factory=dict)
    view: Callable[[Any], Any] | None = None
    differs: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name the request in reports."""
        return f"watch {self.path} as {self.accept}"


@dataclass(frozen=True, slots=True)
class WaitUntilServed:
    """Ask for a path until it is there, or until a ``body`` is taken; nothing is compared."""

    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None


@dataclass(frozen=True, slots=True)
class WaitUntilGone:
    """Ask for a path until it is no longer there; nothing is compared."""

    path: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ForgetHistory:
    """Let the server forget the versions before now."""


Step = Ask | Watch | WaitUntilServed | WaitUntilGone | ForgetHistory


@dataclass(frozen=True, slots=True)
class Scene:
    """A story in requests, played in a fresh namespace; ``name`` says what it is about."""

    name: str
    steps: tuple[Step, ...] = field(default=())

    @property
    def requests(self) -> tuple[Ask | Watch, ...]:
        """The requests of the scene, those during watches too, in the order of their answers."""
        found: list[Ask | Watch] = []
        for step in self.steps:
            if isinstance(step, Watch):
                found += [*step.during, step]
            elif isinstance(step, Ask):
                found.append(step)
        return tuple(found)


def scene(name: str, *steps: Step) -> Scene:
    """Write a scene down."""
    return Scene(name, steps)


def get(path: str, **options: Any) -> Ask:
    return Ask("GET", path, **options)


def post(path: str, body: object, **options: Any) -> Ask:
    return Ask("POST", path, body, **options)


def put(path: str, body: object, **options: Any) -> Ask:
    return Ask("PUT", path, body, **options)


def patch(path: str, body: object, content_type: str = MERGE, **options: Any) -> Ask:
    return Ask("PATCH", path, body, content_type=content_type, **options)


def delete(path: str, body: object = None, **options: Any) -> Ask:
    return Ask("DELETE", path, body, **options)
