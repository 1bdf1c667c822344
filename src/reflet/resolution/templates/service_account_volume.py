"""The volume with a service account's token that admission adds to a pod that is made.

A template does not have it, and its pods do.  Pure, and exactly what the plugin does: a container
that mounts something at the path keeps that, a pod or an account may decline, and ephemeral
containers get none.

Upstream: plugin/pkg/admission/serviceaccount/admission.go, mountServiceAccountToken
"""

from typing import Final

from msgspec import structs

from reflet.api.core.containers import Container, ObjectFieldSelector, VolumeMount
from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import ServiceAccount
from reflet.api.core.volumes import (
    ConfigMapProjection,
    DownwardAPIProjection,
    DownwardAPIVolumeFile,
    KeyToPath,
    ProjectedVolumeSource,
    ServiceAccountTokenProjection,
    Volume,
    VolumeProjection,
)

PREFIX: Final = "kube-api-access-"
ADDED_VOLUME: Final = f"{PREFIX}xxxxx"
"""The name that it has here; each pod gets five other letters."""
MOUNT_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
ROOT_CERTIFICATES: Final = "kube-root-ca.crt"
"""The ConfigMap that every namespace has."""
DEFAULT_ACCOUNT: Final = "default"

_SOURCE: Final = ProjectedVolumeSource(
    default_mode=0o644,
    sources=(
        VolumeProjection(
            service_account_token=ServiceAccountTokenProjection(
                path="token",
                # An hour, and seven seconds by which clients without renewal are told apart.
                expiration_seconds=3607,
            )
        ),
        VolumeProjection(
            config_map=ConfigMapProjection(
                name=ROOT_CERTIFICATES, items=(KeyToPath(key="ca.crt", path="ca.crt"),)
            )
        ),
        VolumeProjection(
            downward_api=DownwardAPIProjection(
                items=(
                    DownwardAPIVolumeFile(
                        path="namespace",
                        field_ref=ObjectFieldSelector(
                            api_version="v1", field_path="metadata.namespace"
                        ),
                    ),
                )
            )
        ),
    ),
)


def with_token_volume(pod: Pod, account: ServiceAccount | None = None) -> Pod:
    """Return the pod with the volume and its mounts, or as it is if it gets none.

    Without an *account* it is taken for one that does not decline.
    """
    spec = pod.spec
    wanted = spec.automount_service_account_token
    if wanted is None and account is not None:
        wanted = account.automount_service_account_token
    if wanted is False:
        return pod
    there = next((each.name for each in spec.volumes if each.name.startswith(PREFIX)), "")
    mount = VolumeMount(name=there or ADDED_VOLUME, read_only=True, mount_path=MOUNT_PATH)
    init_containers = tuple(_mounting(each, mount) for each in spec.init_containers)
    containers = tuple(_mounting(each, mount) for each in spec.containers)
    if (init_containers, containers) == (spec.init_containers, spec.containers):
        return pod
    volumes = spec.volumes if there else (*spec.volumes, Volume(name=mount.name, projected=_SOURCE))
    changed = structs.replace(
        spec, init_containers=init_containers, containers=containers, volumes=volumes
    )
    return structs.replace(pod, spec=changed)


def _mounting(container: Container, mount: VolumeMount) -> Container:
    if any(each.mount_path == MOUNT_PATH for each in container.volume_mounts):
        return container
    return structs.replace(container, volume_mounts=(*container.volume_mounts, mount))
