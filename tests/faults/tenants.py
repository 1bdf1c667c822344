"""Pods for a node agent in the chaos, and what their containers must find there.

Owns: what a pod refers to, by chance, and what follows from that and from the server's objects.
Must not know agents, nor where their files are.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.faults.surroundings import NAMES, Truth
from tests.node_scenes import pod_document

CONFIG_MAP, SECRET = "configmaps", "secrets"
KEYS: Final = ("number", "copy")
REFERRED: Final = NAMES[:3]
"""Few, so that an agent that watches each of them has few streams and many edits for each."""
STARTS: Final = "starts"
SCRATCH: Final = "scratch"
COMMAND: Final = ("sh", "-c", f'echo x >> "$REFLET_ROOT/{SCRATCH}/{STARTS}"; exec sleep 1000000')
"""Leaves a line for each life, and then does nothing until it is told to end."""
GRACE: Final = 2  # seconds
KIND_OF_VOLUME: Final = {"config": "configMap", "key": "secret", "both": "projected"}

Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Source:
    """An object that a pod refers to; one that is *optional* may be missing."""

    resource: str
    name: str
    optional: bool

    def content(self, namespace: str, truth: Truth) -> Files | None:
        """What the server has of it by key, None when it has no such object."""
        state = truth[self.resource].get(f"{namespace}/{self.name}")
        if state is None:
            return None
        assert isinstance(state.content, Mapping)
        read = base64.b64decode if self.resource == SECRET else str.encode
        return {key: read(value) for key, value in state.content.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A pod: its *volumes*, each made of sources, and its *variables*."""

    namespace: str
    name: str
    uid: str = ""
    volumes: Mapping[str, Sequence[Source]]
    variables: Mapping[str, Source]

    @property
    def key(self) -> str:
        """Its name on the server."""
        return f"{self.namespace}/{self.name}"

    def document(self, node: str) -> dict[str, Any]:
        """The pod, bound to a node."""
        mounts = [{"name": name, "mountPath": f"/etc/{name}"} for name in self.volumes]
        document = pod_document(
            self.name,
            COMMAND,
            container={
                "env": [_variable(name, source) for name, source in self.variables.items()],
                "volumeMounts": [*mounts, {"name": SCRATCH, "mountPath": f"/{SCRATCH}"}],
            },
            volumes=[
                *(_volume(name, sources) for name, sources in self.volumes.items()),
                {"name": SCRATCH, "emptyDir": {}},
            ],
            nodeName=node,
            terminationGracePeriodSeconds=GRACE,
        )
        document["metadata"]["namespace"] = self.namespace
        return document

    def lacks_a_volume(self, truth: Truth) -> bool:
        """Whether it refers to something by a volume that must be there and is not."""
        sources = [source for sources in self.volumes.values() for source in sources]
        return self._lacks(sources, truth)

    def lacks_a_variable(self, truth: Truth) -> bool:
        """Whether it refers to something by a variable that must be there and is not."""
        return self._lacks(self.variables.values(), truth)

    def files(self, volume: str, truth: Truth) -> Files | None:
        """What must be in a volume, by path; None when it stays as it was."""
        if self._lacks(self.volumes[volume], truth):
            return None
        several = len(self.volumes[volume]) > 1
        return {
            f"{source.resource}/{key}" if several else key: value
            for source in self.volumes[volume]
            for key, value in (source.content(self.namespace, truth) or {}).items()
        }

    def environment(self, truth: Truth) -> Mapping[str, bytes | None]:
        """What its variables must be if it began now, None for one that it does not get."""
        return {
            name: (source.content(self.namespace, truth) or {}).get("number")
            for name, source in self.variables.items()
        }

    def _lacks(self, sources: Any, truth: Truth) -> bool:
        return any(
            not source.optional and source.content(self.namespace, truth) is None
            for source in sources
        )


def tenant(name: str, namespaces: Sequence[str], chance: random.Random) -> Tenant:
    """A pod that refers to objects of the chaos, some of which may be missing."""

    def sources() -> Iterator[Source]:
        while True:
            resource = chance.choice((CONFIG_MAP, SECRET))
            yield Source(resource, chance.choice(REFERRED), chance.random() < 0.6)

    def source(resource: str) -> Source:
        return next(each for each in sources() if each.resource == resource)

    return Tenant(
        namespace=chance.choice(list(namespaces)),
        name=name,
        volumes={
            "config": [source(CONFIG_MAP)],
            "key": [source(SECRET)],
            "both": [source(CONFIG_MAP), source(SECRET)],
        },
        variables={"NUMBER": source(CONFIG_MAP), "KEY": source(SECRET)},
    )


def number_in(content: bytes) -> int:
    """The number that an object of the chaos, or a file with its content, carries."""
    return int(content.rpartition(b"-")[2])


def _variable(name: str, source: Source) -> dict[str, Any]:
    kind = "secretKeyRef" if source.resource == SECRET else "configMapKeyRef"
    reference = {"name": source.name, "key": "number", "optional": source.optional}
    return {"name": name, "valueFrom": {kind: reference}}


def _volume(name: str, sources: Sequence[Source]) -> dict[str, Any]:
    if len(sources) > 1:
        return {"name": name, "projected": {"sources": [_projection(each) for each in sources]}}
    (source,) = sources
    if source.resource == SECRET:
        return {"name": name, "secret": {"secretName": source.name, "optional": source.optional}}
    return {"name": name, "configMap": {"name": source.name, "optional": source.optional}}


def _projection(source: Source) -> dict[str, Any]:
    kind = "secret" if source.resource == SECRET else "configMap"
    items = [{"key": key, "path": f"{source.resource}/{key}"} for key in KEYS]
    return {kind: {"name": source.name, "optional": source.optional, "items": items}}
