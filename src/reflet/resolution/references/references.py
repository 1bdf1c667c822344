"""Which ConfigMaps and Secrets a pod names, and where, in the order of the kubelet's visits.

Nothing transitive is followed.  ``shows_node`` tells whether the pod's configuration shows anything
that only its node knows, so that nobody asks for a node in vain.

Upstream: pkg/api/v1/pod/util.go, VisitPodSecretNames and VisitPodConfigmapNames
"""

import enum
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Final, final

from reflet.api.core.containers import ConfigMapEnvSource, Container, EnvVarSource, SecretEnvSource
from reflet.api.core.pods import Pod
from reflet.api.core.volumes import DownwardAPIVolumeFile, KeyToPath, ProjectedVolumeSource, Volume
from reflet.api.frozen import Frozen
from reflet.resolution.objects import ConfigKind
from reflet.resolution.places import Place, PlacedContainer, PodLike, containers_of

Visitor = Callable[[str], bool]
"""Is told a name, and tells whether to go on."""


@final
class Usage(enum.Enum):
    """What the object is used for."""

    PULL_SECRET = "imagePullSecret"  # noqa: S105 - the name of a use, not a password
    ENV_FROM = "envFrom"
    ENV = "env"
    VOLUME = "volume"
    VOLUME_CREDENTIALS = "volumeCredentials"


class Reference(Frozen, frozen=True, kw_only=True):
    """One mention of a ConfigMap or Secret.

    ``keys`` are those that are used, ``None`` means all of them; ``prefix`` is what the names of
    variables get.  An optional reference counts as one.
    """

    kind: ConfigKind
    name: str
    usage: Usage
    place: Place
    keys: tuple[str, ...] | None = None
    optional: bool = False
    prefix: str = ""


# The volumes that name a Secret for their driver, in the order in which they are looked for;
# the sources of a volume exclude each other, so that the first one found counts.
_CREDENTIALS: Final = (
    ("azure_file", "azureFile", "secret_name"),
    ("cephfs", "cephfs", "secret_ref"),
    ("cinder", "cinder", "secret_ref"),
    ("flex_volume", "flexVolume", "secret_ref"),
    ("rbd", "rbd", "secret_ref"),
    ("scale_io", "scaleIO", "secret_ref"),
    ("iscsi", "iscsi", "secret_ref"),
    ("storageos", "storageos", "secret_ref"),
    ("csi", "csi", "node_publish_secret_ref"),
)
_drivers: Final = attrgetter(*(attribute for attribute, _, _ in _CREDENTIALS))
_NO_DRIVER: Final = (None,) * len(_CREDENTIALS)
_CREDENTIAL_FIELDS: Final = {
    "secret_name": "secretName",
    "secret_ref": "secretRef.name",
    "node_publish_secret_ref": "nodePublishSecretRef.name",
}


def references_of(pod: PodLike) -> Iterator[Reference]:
    """Yield every reference in the kubelet's order; a name as often as it is mentioned.

    Pull secrets, then containers (init, regular, ephemeral; ``envFrom`` before ``env``), then
    volumes.  Empty names are left out.

    - *pod*: a pod, or anything with a pod's ``spec``
    """
    yield from _pull_secrets(pod)
    for placed in containers_of(pod.spec):
        yield from _of_container(placed)
    for index, volume in enumerate(pod.spec.volumes):
        yield from _of_volume(index, volume)


def config_map_names(pod: PodLike) -> tuple[str, ...]:
    """Return the names of the ConfigMaps that the pod needs, each once, first mention first.

    - *pod*: a pod, or anything with a pod's ``spec``
    """
    return tuple(_names(pod)[0])


def secret_names(pod: PodLike) -> tuple[str, ...]:
    """Return the names of the Secrets that the pod needs, each once, first mention first.

    - *pod*: a pod, or anything with a pod's ``spec``
    """
    return tuple(_names(pod)[1])


_Names = dict[str, None]  # a set that knows its order


def _names(pod: PodLike) -> tuple[_Names, _Names]:
    """The names of the ConfigMaps and those of the Secrets, as ``references_of`` has them.

    Without the references: whoever registers a pod needs the names only, and telling the places
    would be most of the work.
    """
    spec = pod.spec
    config_maps: _Names = {}
    secrets: _Names = {}
    for pull_secret in spec.image_pull_secrets:
        secrets[pull_secret.name] = None
    for containers in (spec.init_containers, spec.containers, spec.ephemeral_containers):
        for container in containers:
            _add_container(container, config_maps, secrets)
    for volume in spec.volumes:
        _add_volume(volume, config_maps, secrets)
    config_maps.pop("", None)
    secrets.pop("", None)
    return config_maps, secrets


def _add_container(container: Container, config_maps: _Names, secrets: _Names) -> None:
    for whole in container.env_from:
        if whole.config_map_ref is not None:
            config_maps[whole.config_map_ref.name] = None
        if whole.secret_ref is not None:
            secrets[whole.secret_ref.name] = None
    for variable in container.env:
        source = variable.value_from
        if source is not None:
            if source.config_map_key_ref is not None:
                config_maps[source.config_map_key_ref.name] = None
            if source.secret_key_ref is not None:
                secrets[source.secret_key_ref.name] = None


def _add_volume(volume: Volume, config_maps: _Names, secrets: _Names) -> None:
    if _drivers(volume) != _NO_DRIVER:
        for reference in _of_volume(0, volume):
            secrets[reference.name] = None
    elif volume.projected is not None:
        for part in volume.projected.sources:
            if part.secret is not None:
                secrets[part.secret.name] = None
            if part.config_map is not None:
                config_maps[part.config_map.name] = None
    elif volume.secret is not None and volume.secret.secret_name:
        secrets[volume.secret.secret_name] = None
    elif volume.config_map is not None:
        config_maps[volume.config_map.name] = None


def visit_config_map_names(pod: PodLike, visitor: Visitor) -> bool:
    """Tell the visitor every ConfigMap's name; return whether the visit was completed.

    A stop inside the containers skips the other containers, but not the volumes, and the
    visit still counts as completed: that is how the kubelet visits.
    """
    return _visit(pod, "ConfigMap", visitor)


def visit_secret_names(pod: PodLike, visitor: Visitor) -> bool:
    """Tell the visitor every Secret's name; return whether the visit was completed.

    Stops count as they do for ``visit_config_map_names``; one inside the pull secrets or the
    volumes ends the visit.
    """
    return _visit(pod, "Secret", visitor)


def _visit(pod: PodLike, kind: ConfigKind, visitor: Visitor) -> bool:
    skip_containers = False
    for reference in references_of(pod):
        if reference.kind != kind:
            continue
        in_container = reference.usage in {Usage.ENV, Usage.ENV_FROM}
        if in_container and skip_containers:
            continue
        if not visitor(reference.name):
            if not in_container:
                return False
            skip_containers = True
    return True


def _pull_secrets(pod: PodLike) -> Iterator[Reference]:
    for index, secret in enumerate(pod.spec.image_pull_secrets):
        if secret.name:
            yield Reference(
                kind="Secret",
                name=secret.name,
                usage=Usage.PULL_SECRET,
                place=Place(path=f"spec.imagePullSecrets[{index}]"),
            )


def _of_container(placed: PlacedContainer) -> Iterator[Reference]:
    for index, source in enumerate(placed.container.env_from):
        sources: tuple[tuple[ConfigKind, str, ConfigMapEnvSource | SecretEnvSource | None], ...] = (
            ("ConfigMap", "configMapRef", source.config_map_ref),
            ("Secret", "secretRef", source.secret_ref),
        )
        for kind, field, whole in sources:
            if whole is not None and whole.name:
                yield Reference(
                    kind=kind,
                    name=whole.name,
                    usage=Usage.ENV_FROM,
                    place=placed.place(f"envFrom[{index}].{field}"),
                    optional=whole.optional,
                    prefix=source.prefix,
                )
    for index, variable in enumerate(placed.container.env):
        if variable.value_from is not None:
            path = f"env[{index}].valueFrom"
            yield from _of_variable(placed, path, variable.name, variable.value_from)


def _of_variable(
    placed: PlacedContainer, path: str, variable: str, source: EnvVarSource
) -> Iterator[Reference]:
    config_map, secret = source.config_map_key_ref, source.secret_key_ref
    if config_map is not None and config_map.name:
        yield Reference(
            kind="ConfigMap",
            name=config_map.name,
            usage=Usage.ENV,
            place=placed.place(f"{path}.configMapKeyRef", variable=variable),
            keys=(config_map.key,),
            optional=config_map.optional,
        )
    if secret is not None and secret.name:
        yield Reference(
            kind="Secret",
            name=secret.name,
            usage=Usage.ENV,
            place=placed.place(f"{path}.secretKeyRef", variable=variable),
            keys=(secret.key,),
            optional=secret.optional,
        )


def _of_volume(index: int, volume: Volume) -> Iterator[Reference]:
    path = f"spec.volumes[{index}]"
    for attribute, source_field, field in _CREDENTIALS:
        source = getattr(volume, attribute)
        if source is None:
            continue
        credentials = getattr(source, field)
        name = credentials if isinstance(credentials, str) else getattr(credentials, "name", "")
        if name:
            yield Reference(
                kind="Secret",
                name=name,
                usage=Usage.VOLUME_CREDENTIALS,
                place=Place(
                    path=f"{path}.{source_field}.{_CREDENTIAL_FIELDS[field]}", volume=volume.name
                ),
            )
        return
    if volume.projected is not None:
        yield from _of_projected(path, volume.name, volume.projected)
    elif volume.secret is not None and volume.secret.secret_name:
        yield Reference(
            kind="Secret",
            name=volume.secret.secret_name,
            usage=Usage.VOLUME,
            place=Place(path=f"{path}.secret", volume=volume.name),
            keys=_keys(volume.secret.items),
            optional=volume.secret.optional,
        )
    elif volume.config_map is not None and volume.config_map.name:
        yield Reference(
            kind="ConfigMap",
            name=volume.config_map.name,
            usage=Usage.VOLUME,
            place=Place(path=f"{path}.configMap", volume=volume.name),
            keys=_keys(volume.config_map.items),
            optional=volume.config_map.optional,
        )


def _of_projected(path: str, name: str, projected: ProjectedVolumeSource) -> Iterator[Reference]:
    for index, source in enumerate(projected.sources):
        place = f"{path}.projected.sources[{index}]"
        if source.secret is not None and source.secret.name:
            yield Reference(
                kind="Secret",
                name=source.secret.name,
                usage=Usage.VOLUME,
                place=Place(path=f"{place}.secret", volume=name),
                keys=_keys(source.secret.items),
                optional=source.secret.optional,
            )
        if source.config_map is not None and source.config_map.name:
            yield Reference(
                kind="ConfigMap",
                name=source.config_map.name,
                usage=Usage.VOLUME,
                place=Place(path=f"{place}.configMap", volume=name),
                keys=_keys(source.config_map.items),
                optional=source.config_map.optional,
            )


def _keys(items: tuple[KeyToPath, ...]) -> tuple[str, ...] | None:
    return tuple(item.key for item in items) or None


_HOST_FIELDS: Final = frozenset({"status.hostIP", "status.hostIPs"})


def shows_node(pod: Pod) -> bool:
    """Tell whether a variable or file shows the node's address, or a limit that it may set."""
    for placed in containers_of(pod.spec):
        for variable in placed.container.env:
            source = variable.value_from
            if source is None:
                continue
            field = "" if source.field_ref is None else source.field_ref.field_path
            if source.resource_field_ref is not None or field in _HOST_FIELDS:
                return True
    return any(item.resource_field_ref is not None for item in _downward_files(pod))


def _downward_files(pod: Pod) -> Iterator[DownwardAPIVolumeFile]:
    for volume in pod.spec.volumes:
        projected = () if volume.projected is None else volume.projected.sources
        for downward in (volume.downward_api, *(source.downward_api for source in projected)):
            yield from () if downward is None else downward.items
