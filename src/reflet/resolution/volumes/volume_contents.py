"""The files of a volume, exactly as the kubelet computes them: the kinds that hold configuration.

Upstream: pkg/volume/{configmap,secret,downwardapi,projected}
"""

from reflet.api.core.pods import Pod
from reflet.api.core.volumes import Volume
from reflet.errors import ConfigurationError
from reflet.resolution.objects import ObjectReader, ObjectSource
from reflet.resolution.places import Place
from reflet.resolution.problems import UnsupportedSource, joined_errors
from reflet.resolution.references.wanted_objects import WantedObject
from reflet.resolution.resource_fields import NodeInHand
from reflet.resolution.volumes.downward_contents import downward_files
from reflet.resolution.volumes.file_contents import (
    Filling,
    VolumeContents,
    VolumeKind,
    common_user,
    fs_group,
)
from reflet.resolution.volumes.keyed_contents import keyed_files
from reflet.resolution.volumes.projected_contents import TokenSource, projected_files
from reflet.resolution.volumes.trust_bundles import BundlesInHand


def resolve_volume(
    pod: Pod,
    volume_name: str,
    objects: ObjectSource | None,
    *,
    node: NodeInHand = None,
    token: TokenSource | None = None,
    bundles: BundlesInHand = None,
) -> VolumeContents:
    """Return the files of a volume, with where each came from and all problems.

    Raises ConfigurationError for a volume that the pod does not have.

    - *volume_name*: name of the volume
    - *objects*: where ConfigMaps and Secrets are read; None is a kubelet without API server
    - *node*: fills missing limits; None is a kubelet that has none, ``UNKNOWN_NODE`` one not known
    - *token*: gives service account tokens; None gives none
    - *bundles*: the cluster's trust bundles; None is none
    """
    index, volume = _named(pod, volume_name)
    kind = kind_of(volume)
    place = Place(path=f"spec.volumes[{index}].{kind}", volume=volume_name)
    reader = None if objects is None else ObjectReader(objects, pod.metadata.namespace)
    filling = _fill(pod, volume, reader, node=node, token=token, bundles=bundles, place=place)
    return VolumeContents(
        volume=volume_name,
        kind=kind,
        files=filling.files,
        problems=filling.problems,
        error=joined_errors(filling.errors),
        fs_group=fs_group(pod),
        user=common_user(pod),
        in_memory=kind in {"secret", "downwardAPI", "projected"},
    )


def kind_of(volume: Volume) -> VolumeKind:
    """Return which kind of configuration the volume holds; empty when it holds none."""
    if volume.config_map is not None:
        return "configMap"
    if volume.secret is not None:
        return "secret"
    if volume.downward_api is not None:
        return "downwardAPI"
    return "" if volume.projected is None else "projected"


def configuration_volumes(pod: Pod) -> tuple[str, ...]:
    """Return the names of the volumes that hold configuration, in the pod's order."""
    return tuple(volume.name for volume in pod.spec.volumes if kind_of(volume))


def _named(pod: Pod, name: str) -> tuple[int, Volume]:
    for index, volume in enumerate(pod.spec.volumes):
        if volume.name == name:
            return index, volume
    there = ", ".join(volume.name for volume in pod.spec.volumes)
    raise ConfigurationError(
        f"pod {pod.metadata.name or '(unnamed)'} has no volume {name!r}; "
        + (f"it has {there}" if there else "it has no volumes")
    )


def _fill(
    pod: Pod,
    volume: Volume,
    reader: ObjectReader | None,
    *,
    node: NodeInHand,
    token: TokenSource | None,
    bundles: BundlesInHand,
    place: Place,
) -> Filling:
    namespace = pod.metadata.namespace
    if volume.config_map is not None:
        config_map = volume.config_map
        wanted = WantedObject(
            kind="ConfigMap",
            namespace=namespace,
            name=config_map.name,
            optional=config_map.optional,
            place=place,
        )
        return keyed_files(reader, wanted, config_map.items, config_map.default_mode)
    if volume.secret is not None:
        secret = volume.secret
        wanted = WantedObject(
            kind="Secret",
            namespace=namespace,
            name=secret.secret_name,
            optional=secret.optional,
            place=place,
        )
        return keyed_files(reader, wanted, secret.items, secret.default_mode)
    if volume.downward_api is not None:
        downward = volume.downward_api
        mode = downward.default_mode
        return downward_files(pod, downward.items, default_mode=mode, node=node, place=place)
    if volume.projected is not None:
        return projected_files(
            pod, volume.projected, reader, node=node, token=token, bundles=bundles, place=place
        )
    problem = UnsupportedSource(place=place, source=f"volume {volume.name}")
    return Filling(problems=(problem,), errors=(problem.error,))
