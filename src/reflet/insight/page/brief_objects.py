"""Pods, ConfigMaps and Secrets without what the page does not need: transforms for mirrors.

Values leave memory here.  Of a Secret's value the size and a digest stay, salted so that nobody can
guess at it; of a ConfigMap's the beginning too.  Of a pod stay the references, the mounts and the
times, so that the pods of a workload have equal specs: they then share one.  The volume of the
service account, which every pod has, is left out.
"""

import hashlib
import re
from typing import Any, Final, final

import msgspec

from reflet.api.core.containers import Container, EnvVar
from reflet.api.core.pods import (
    ContainerState,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    Pod,
    PodSpec,
    PodStatus,
)
from reflet.api.meta import ObjectMeta
from reflet.api.unstructured import AnyObject
from reflet.insight.page.page_document import PageKey
from reflet.resolution.references.references import references_of

TEMPLATE_HASH: Final = "pod-template-hash"
TOKEN_VOLUME: Final = "kube-api-access-"  # noqa: S105 - what the names of volumes begin with
LONGEST_TEXT: Final = 120  # characters of a ConfigMap's value
MOST_SPECS: Final = 20_000
_BAGS: Final = ("data", "binaryData")


@final
class BriefObjects:
    """Takes the values out of ConfigMaps and Secrets; is a transform.

    *salt* is random, and the same for all objects of a page: equal values have equal digests.  It
    also marks what was done already, which nobody can forge who does not know it.
    """

    def __init__(self, salt: bytes) -> None:
        self._salt = salt
        mark = hashlib.blake2b(b"mark", key=salt, digest_size=8).hexdigest()
        self._mark = mark
        self._form = re.compile(rf"{mark}(\d+)\.[0-9a-f]{{32}}\.(.*)", re.DOTALL)

    def __call__(self, item: AnyObject) -> AnyObject:
        """Return the object with a digest for each value."""
        content = item.to_dict()
        kept: dict[str, Any] = {
            name: content[name] for name in ("apiVersion", "kind", "immutable") if name in content
        }
        metadata = dict(content.get("metadata") or {})
        # kubectl keeps the whole object in an annotation, values included.
        metadata.pop("annotations", None)
        kept["metadata"] = metadata
        for bag in _BAGS:
            values = content.get(bag)
            if isinstance(values, dict):
                encoded = bag == "binaryData" or item.kind == "Secret"
                kept[bag] = {
                    key: self._brief(value, encoded=encoded, shown=item.kind == "ConfigMap")
                    for key, value in values.items()
                }
        return AnyObject(msgspec.json.encode(kept))

    def keys_of(self, item: AnyObject) -> tuple[PageKey, ...]:
        """Return the keys of an object that went through here."""
        content = item.content
        found: dict[str, PageKey] = {}
        for bag in _BAGS:
            for key, value in (content.get(bag) or {}).items():
                parts = self._form.fullmatch(value)
                if parts is not None:
                    is_text = bag == "data" and item.kind == "ConfigMap"
                    text = parts[2] if is_text else None
                    found[key] = PageKey(name=key, size=int(parts[1]), text=text)
        return tuple(found[key] for key in sorted(found))

    def _brief(self, value: Any, *, encoded: bool, shown: bool) -> str:
        text = value if isinstance(value, str) else ""
        if self._form.fullmatch(text):
            return text
        data = text.encode(errors="surrogatepass")
        size = len(text.rstrip("=")) * 3 // 4 if encoded else len(data)
        digest = hashlib.blake2b(data, key=self._salt, digest_size=16).hexdigest()
        head = _shortened(text) if shown and not encoded else ""
        return f"{self._mark}{size}.{digest}.{head}"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


@final
class BriefPods:
    """Takes out of pods what the page does not need; is a transform.

    Pods of one owner with equal specs share one spec.
    """

    def __init__(self) -> None:
        self._specs: dict[str, PodSpec] = {}

    def __call__(self, pod: Pod) -> Pod:
        """Return the pod with its references, mounts and times."""
        metadata = pod.metadata
        owners = tuple(each for each in metadata.owner_references if each.controller)
        spec = _spec(pod)
        if owners:
            known = self._specs.get(owners[0].uid)
            if known == spec:
                spec = known
            else:
                if len(self._specs) >= MOST_SPECS:
                    self._specs.clear()
                self._specs[owners[0].uid] = spec
        template = metadata.labels.get(TEMPLATE_HASH)
        return Pod(
            metadata=ObjectMeta(
                name=metadata.name,
                namespace=metadata.namespace,
                uid=metadata.uid,
                resource_version=metadata.resource_version,
                creation_timestamp=metadata.creation_timestamp,
                deletion_timestamp=metadata.deletion_timestamp,
                owner_references=owners,
                labels={TEMPLATE_HASH: template} if template else {},
            ),
            spec=spec,
            status=_status(pod.status),
        )


def _spec(pod: Pod) -> PodSpec:
    spec = pod.spec
    names = {reference.place.volume for reference in references_of(pod)}
    volumes = tuple(
        each
        for each in spec.volumes
        if each.name in names and not each.name.startswith(TOKEN_VOLUME)
    )
    kept = frozenset(volume.name for volume in volumes)
    return PodSpec(
        volumes=volumes,
        init_containers=tuple(_container(each, kept) for each in spec.init_containers),
        containers=tuple(_container(each, kept) for each in spec.containers),
        image_pull_secrets=spec.image_pull_secrets,
        enable_service_links=False,
    )


def _container(container: Container, volumes: frozenset[str]) -> Container:
    mounts = tuple(each for each in container.volume_mounts if each.name in volumes)
    # What a sub-path is made of must stay as it is.
    expands = any(mount.sub_path_expr for mount in mounts)
    return Container(
        name=container.name,
        env_from=container.env_from,
        env=container.env if expands else tuple(map(_variable, container.env)),
        volume_mounts=mounts,
    )


def _variable(variable: EnvVar) -> EnvVar:
    """Return the variable without a value that stands in the pod: the name still counts."""
    source = variable.value_from
    if source is None:
        return variable if "$(" in variable.value else EnvVar(name=variable.name)
    if source.config_map_key_ref is None and source.secret_key_ref is None:
        return EnvVar(name=variable.name)
    return variable


def _status(status: PodStatus) -> PodStatus:
    return PodStatus(
        phase=status.phase,
        reason=status.reason,
        init_container_statuses=tuple(map(_container_status, status.init_container_statuses)),
        container_statuses=tuple(map(_container_status, status.container_statuses)),
    )


def _container_status(status: ContainerStatus) -> ContainerStatus:
    state = status.state
    waiting, terminated = state.waiting, state.terminated
    return ContainerStatus(
        name=status.name,
        restart_count=status.restart_count,
        state=ContainerState(
            waiting=None if waiting is None else ContainerStateWaiting(reason=waiting.reason),
            running=state.running,
            terminated=None
            if terminated is None
            else ContainerStateTerminated(reason=terminated.reason, exit_code=terminated.exit_code),
        ),
    )
