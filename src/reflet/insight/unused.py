"""ConfigMaps, Secrets and single keys that nothing uses: all users are looked through once.

``UsersSeen`` takes every possible user, and keeps what it names and what it only mentions:
arguments and annotations hold names, too, and whoever reads objects by the API is given them so.
What controllers make or keep for themselves is never unused: ``kept_by``.

The answer is as good as what was looked through.  Nobody here knows who reads an object by the API
without being given its name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.frozen import EMPTY, Frozen
from reflet.api.meta import LAST_APPLIED, Time
from reflet.api.unstructured import AnyObject
from reflet.insight.owners import controller_name
from reflet.insight.reference_table import (
    NamedObject,
    Row,
    always_there,
    made_by,
    references_in,
)
from reflet.insight.sidecars import SidecarSelection, sidecars_of
from reflet.resolution.objects import ConfigKind, ObjectKey, value_bytes
from reflet.resolution.places import PodLike, containers_of
from reflet.resolution.references.references import references_of
from reflet.resolution.templates.templates import Workload, templates_of

SYSTEM_NAMESPACES: Final = frozenset({"kube-system", "kube-public", "kube-node-lease"})
"""Whose objects the parts of Kubernetes read by the API."""

_ENDED: Final = frozenset({"Succeeded", "Failed"})
_LEADER: Final = "control-plane.alpha.kubernetes.io/leader"
_KEPT_TYPES: Final = {
    "kubernetes.io/service-account-token": "it is a token of a service account",
    "helm.sh/release.v1": "Helm keeps a release in it",
    "bootstrap.kubernetes.io/token": "nodes join with it",
}
_HELM: Final = "sh.helm.release.v1."
_OPAQUE: Final = frozenset({"", "Opaque"})
_WORD: Final = re.compile(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")


class StoredConfig(Frozen, frozen=True, kw_only=True):
    """What is known of a ConfigMap or Secret: its keys with their sizes, and no value."""

    kind: ConfigKind
    namespace: str
    name: str
    sizes: Mapping[str, int] = EMPTY
    created: Time | None = None
    type: str = ""
    labels: Mapping[str, str] = EMPTY
    owner: str = ""
    is_lock: bool = False

    @property
    def key(self) -> ObjectKey:
        """Kind, namespace and name."""
        return self.kind, self.namespace, self.name

    @property
    def size(self) -> int:
        """The bytes of all values together."""
        return sum(self.sizes.values())


def stored_config(item: ConfigMap | Secret) -> StoredConfig:
    """Return what is needed of an object."""
    metadata = item.metadata
    owners = metadata.owner_references
    return StoredConfig(
        kind=item.kind,
        namespace=metadata.namespace,
        name=metadata.name,
        sizes={key: len(value) for key, value in value_bytes(item).items()},
        created=metadata.creation_timestamp,
        type=item.type if isinstance(item, Secret) else "",
        labels=dict(metadata.labels),
        owner=f"{owners[0].kind} {owners[0].name}" if owners else "",
        is_lock=_LEADER in metadata.annotations,
    )


class UnusedPart(Frozen, frozen=True, kw_only=True):
    """An object that nothing uses, or the ``keys`` of one of which others are used.

    ``mentioned_by`` is who holds its name somewhere, which may mean that it is used.
    """

    object: StoredConfig
    keys: tuple[str, ...] | None = None
    reason: str = ""
    mentioned_by: str = ""

    @property
    def size(self) -> int:
        """The bytes that are unused."""
        if self.keys is None:
            return self.object.size
        return sum(self.object.sizes[key] for key in self.keys)


class _Mention(NamedTuple):
    namespace: str
    by: str


@final
class UsersSeen:
    """What all users that were seen name; *names* are those of the objects that exist.

    *rows* are looked at instead of the table of references.
    """

    def __init__(self, names: Iterable[str], rows: Iterable[Row] | None = None) -> None:
        self._names = frozenset(names)
        self._rows = None if rows is None else tuple(rows)
        self._used: dict[ObjectKey, set[str] | None] = {}
        self._history: dict[ObjectKey, str] = {}
        self._mentions: dict[str, list[_Mention]] = {}
        self._made: list[tuple[str, NamedObject]] = []
        self._selections: set[SidecarSelection] = set()

    def see_pod(self, pod: Pod) -> None:
        """Take a pod; one that has ended uses nothing any more."""
        if pod.status.phase not in _ENDED:
            self._see(pod, pod.metadata.namespace, f"pod {pod.metadata.name}")

    def see_workload(self, workload: Workload) -> None:
        """Take a workload; a ReplicaSet without pods is only the history of its Deployment."""
        namespace, by = workload.metadata.namespace, f"{workload.kind} {workload.metadata.name}"
        owner = controller_name(workload)
        is_history = (
            workload.kind == "ReplicaSet"
            and owner is not None
            and not getattr(getattr(workload, "spec", None), "replicas", None)
        )
        for placed in templates_of(workload):
            if is_history and owner is not None:
                for reference in references_of(placed.template):
                    key = (reference.kind, namespace, reference.name)
                    self._history.setdefault(key, f"{owner[0]} {owner[1]}")
            else:
                self._see(placed.template, namespace, by)

    def see_object(self, item: AnyObject) -> None:
        """Take any other object: what it names, what it makes, and every text in it."""
        by = f"{item.kind} {item.metadata.name}"
        for found in references_in(item.content, self._rows):
            # Of which keys an operator makes use is its own affair.
            self._use((found.kind, found.namespace, found.name), None)
        self.see_maker(item)
        self._mention(_texts(item.content), item.metadata.namespace, by)

    def see_maker(self, item: AnyObject) -> None:
        """Take only what an object makes."""
        by = f"{item.kind} {item.metadata.name}"
        self._made += ((by, made) for made in made_by(item.content))

    def _see(self, pod: PodLike, namespace: str, by: str) -> None:
        for reference in references_of(pod):
            keys = None if reference.keys is None else {*reference.keys}
            self._use((reference.kind, namespace, reference.name), keys)
        self._selections.update(each.selection for each in sidecars_of(pod, namespace))
        self._mention(_pod_texts(pod), namespace, by)

    def _use(self, key: ObjectKey, keys: set[str] | None) -> None:
        known = self._used.setdefault(key, set())
        self._used[key] = None if known is None or keys is None else known | keys

    def _mention(self, texts: Iterable[str], namespace: str, by: str) -> None:
        words = {word for text in texts for word in _WORD.findall(text)}
        for word in words & self._names:
            self._mentions.setdefault(word, []).append(_Mention(namespace, by))

    # What follows

    def used_keys(self, item: StoredConfig) -> set[str] | None:
        """Return the keys that somebody uses, ``None`` for all of them; none for no user."""
        found: set[str] = set()
        for namespace in {item.namespace, ""}:  # some name it in whichever namespace it is
            keys = self._used.get((item.kind, namespace, item.name), set())
            if keys is None:
                return None
            found |= keys
        return found

    def is_selected(self, item: StoredConfig) -> bool:
        """Return whether a sidecar picks an object up: by its labels, or by its name."""
        return any(
            each.takes(item.kind, item.namespace, item.name, item.labels)
            for each in self._selections
        )

    def history_of(self, item: StoredConfig) -> str:
        """Return whose history names an object; empty for nobody's."""
        return self._history.get(item.key, "")

    def mentioned_by(self, item: StoredConfig) -> str:
        """Return who holds an object's name: of its namespace, or of the whole cluster."""
        for mention in self._mentions.get(item.name, ()):
            if mention.namespace in {item.namespace, ""}:
                return mention.by
        return ""

    def maker_of(self, item: StoredConfig) -> str:
        """Return what makes an object; empty for what people make."""
        for by, made in self._made:
            if made.matches(item.kind, item.namespace, item.name):
                return by
        return ""


def kept_by(item: StoredConfig, seen: UsersSeen) -> str:
    """Say why an object is not for us to call unused: somebody makes it, or keeps it for itself."""
    if item.owner:
        return f"{item.owner} owns it"
    if always_there(item.kind, item.namespace, item.name):
        return "the cluster makes it"
    if item.name.startswith(_HELM):
        return _KEPT_TYPES["helm.sh/release.v1"]
    if item.type in _KEPT_TYPES:
        return _KEPT_TYPES[item.type]
    if item.is_lock:
        return "leaders are elected with it"
    maker = seen.maker_of(item)
    return f"{maker} makes it" if maker else ""


def unused_parts(objects: Iterable[StoredConfig], seen: UsersSeen) -> Iterator[UnusedPart]:
    """Yield every object that nothing uses, and every key of others that nothing uses.

    Keys of Secrets that have a type belong together.
    """
    for item in objects:
        if kept_by(item, seen) or seen.is_selected(item):
            continue
        keys = seen.used_keys(item)
        if keys is None:
            continue
        mentioned = seen.mentioned_by(item)
        if not keys:
            owner = seen.history_of(item)
            reason = f"only the history of {owner} names it" if owner else "nothing names it"
            yield UnusedPart(object=item, reason=reason, mentioned_by=mentioned)
        elif item.type in _OPAQUE:
            left = tuple(key for key in item.sizes if key not in keys)
            if left:
                reason = "other keys of it are used"
                yield UnusedPart(object=item, keys=left, reason=reason, mentioned_by=mentioned)


def _pod_texts(pod: PodLike) -> Iterator[str]:
    yield from pod.metadata.annotations.values()
    for placed in containers_of(pod.spec):
        container = placed.container
        for text in (*container.command, *container.args):
            # The name of a flag is no name of an object.
            yield text.partition("=")[2] if text.startswith("-") else text
        yield from (variable.value for variable in container.env if variable.value)


def _texts(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield every text of an object but its own name, and what is written down of it elsewhere."""
    metadata = document.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    if isinstance(annotations, Mapping):
        yield from (text for name, text in annotations.items() if name != LAST_APPLIED)
    waiting: list[Any] = [
        value for name, value in document.items() if name not in {"metadata", "status"}
    ]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
