"""Volumes of a pod: where the files that containers mount come from.

Every kind of volume that holds configuration or names a Secret, and enough of the others to tell
what they are.

Upstream: k8s.io/api/core/v1/types.go, Volume, VolumeSource, ProjectedVolumeSource
"""

from collections.abc import Mapping
from typing import Any

from reflet.api.core.containers import ObjectFieldSelector, ResourceFieldSelector
from reflet.api.frozen import EMPTY, Frozen, QuantityText
from reflet.api.meta import LabelSelector, LocalObjectReference


class KeyToPath(Frozen, frozen=True, kw_only=True):
    """One key as one file; without a mode, the volume's."""

    key: str = ""
    path: str = ""
    mode: int | None = None


class ConfigMapVolumeSource(Frozen, frozen=True, kw_only=True):
    """A ConfigMap's keys as files."""

    name: str = ""
    items: tuple[KeyToPath, ...] = ()
    default_mode: int | None = None
    optional: bool = False


class SecretVolumeSource(Frozen, frozen=True, kw_only=True):
    """A Secret's keys as files."""

    secret_name: str = ""
    items: tuple[KeyToPath, ...] = ()
    default_mode: int | None = None
    optional: bool = False


class DownwardAPIVolumeFile(Frozen, frozen=True, kw_only=True):
    """One field of the pod, or one resource of a container, as a file."""

    path: str = ""
    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    mode: int | None = None


class DownwardAPIVolumeSource(Frozen, frozen=True, kw_only=True):
    """Fields of the pod as files."""

    items: tuple[DownwardAPIVolumeFile, ...] = ()
    default_mode: int | None = None


class ConfigMapProjection(Frozen, frozen=True, kw_only=True):
    """A ConfigMap as a part of a projected volume."""

    name: str = ""
    items: tuple[KeyToPath, ...] = ()
    optional: bool = False


class SecretProjection(Frozen, frozen=True, kw_only=True):
    """A Secret as a part of a projected volume."""

    name: str = ""
    items: tuple[KeyToPath, ...] = ()
    optional: bool = False


class DownwardAPIProjection(Frozen, frozen=True, kw_only=True):
    """Fields of the pod as a part of a projected volume."""

    items: tuple[DownwardAPIVolumeFile, ...] = ()


class ServiceAccountTokenProjection(Frozen, frozen=True, kw_only=True):
    """A token of the pod's service account as a file."""

    audience: str = ""
    expiration_seconds: int | None = None
    path: str = ""


class ClusterTrustBundleProjection(Frozen, frozen=True, kw_only=True):
    """Certificates of cluster trust bundles as a file; by name, or by signer and labels."""

    name: str | None = None
    signer_name: str | None = None
    label_selector: LabelSelector | None = None
    optional: bool = False
    path: str = ""


class PodCertificateProjection(Frozen, frozen=True, kw_only=True):
    """A certificate that was issued for the pod, and its key, as files."""

    signer_name: str = ""
    key_type: str = ""
    max_expiration_seconds: int | None = None
    credential_bundle_path: str = ""
    key_path: str = ""
    certificate_chain_path: str = ""
    user_annotations: Mapping[str, str] = EMPTY


class VolumeProjection(Frozen, frozen=True, kw_only=True):
    """One source of a projected volume: exactly one of these."""

    secret: SecretProjection | None = None
    downward_api: DownwardAPIProjection | None = None
    config_map: ConfigMapProjection | None = None
    service_account_token: ServiceAccountTokenProjection | None = None
    cluster_trust_bundle: ClusterTrustBundleProjection | None = None
    pod_certificate: PodCertificateProjection | None = None


class ProjectedVolumeSource(Frozen, frozen=True, kw_only=True):
    """Several sources in one directory; later ones win."""

    sources: tuple[VolumeProjection, ...] = ()
    default_mode: int | None = None


class EmptyDirVolumeSource(Frozen, frozen=True, kw_only=True):
    """A directory that lives as long as the pod."""

    medium: str = ""
    size_limit: QuantityText = ""


class HostPathVolumeSource(Frozen, frozen=True, kw_only=True):
    """A path of the node."""

    path: str = ""
    type: str = ""


class PersistentVolumeClaimVolumeSource(Frozen, frozen=True, kw_only=True):
    """A claim of the pod's namespace."""

    claim_name: str = ""
    read_only: bool = False


class EphemeralVolumeSource(Frozen, frozen=True, kw_only=True):
    """A claim that is made for the pod; its template is kept as it was sent."""

    volume_claim_template: Mapping[str, Any] = EMPTY


class ImageVolumeSource(Frozen, frozen=True, kw_only=True):
    """The files of an image."""

    reference: str = ""
    pull_policy: str = ""


class NFSVolumeSource(Frozen, frozen=True, kw_only=True):
    """An NFS export."""

    server: str = ""
    path: str = ""
    read_only: bool = False


class CSIVolumeSource(Frozen, frozen=True, kw_only=True):
    """An inline volume of a CSI driver."""

    driver: str = ""
    read_only: bool = False
    fs_type: str = ""
    volume_attributes: Mapping[str, str] = EMPTY
    node_publish_secret_ref: LocalObjectReference | None = None


class AzureFileVolumeSource(Frozen, frozen=True, kw_only=True):
    """An Azure Files share."""

    secret_name: str = ""
    share_name: str = ""
    read_only: bool = False


class CephFSVolumeSource(Frozen, frozen=True, kw_only=True):
    """A CephFS mount."""

    monitors: tuple[str, ...] = ()
    path: str = ""
    user: str = ""
    secret_file: str = ""
    secret_ref: LocalObjectReference | None = None
    read_only: bool = False


class CinderVolumeSource(Frozen, frozen=True, kw_only=True):
    """An OpenStack Cinder volume."""

    volume_id: str = ""
    fs_type: str = ""
    read_only: bool = False
    secret_ref: LocalObjectReference | None = None


class FlexVolumeSource(Frozen, frozen=True, kw_only=True):
    """A volume of an exec-based driver."""

    driver: str = ""
    fs_type: str = ""
    secret_ref: LocalObjectReference | None = None
    read_only: bool = False
    options: Mapping[str, str] = EMPTY


class RBDVolumeSource(Frozen, frozen=True, kw_only=True):
    """A Ceph block device."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    fs_type: str = ""
    pool: str = ""
    user: str = ""
    keyring: str = ""
    secret_ref: LocalObjectReference | None = None
    read_only: bool = False


class ScaleIOVolumeSource(Frozen, frozen=True, kw_only=True):
    """A ScaleIO volume."""

    gateway: str = ""
    system: str = ""
    secret_ref: LocalObjectReference | None = None
    ssl_enabled: bool = False
    protection_domain: str = ""
    storage_pool: str = ""
    storage_mode: str = ""
    volume_name: str = ""
    fs_type: str = ""
    read_only: bool = False


class ISCSIVolumeSource(Frozen, frozen=True, kw_only=True):
    """An iSCSI disk."""

    target_portal: str = ""
    iqn: str = ""
    lun: int = 0
    iscsi_interface: str = ""
    fs_type: str = ""
    read_only: bool = False
    portals: tuple[str, ...] = ()
    chap_auth_discovery: bool = False
    chap_auth_session: bool = False
    secret_ref: LocalObjectReference | None = None
    initiator_name: str = ""


class StorageOSVolumeSource(Frozen, frozen=True, kw_only=True):
    """A StorageOS volume."""

    volume_name: str = ""
    volume_namespace: str = ""
    fs_type: str = ""
    read_only: bool = False
    secret_ref: LocalObjectReference | None = None


class Volume(Frozen, frozen=True, kw_only=True):
    """A volume of a pod: its name and exactly one source.

    A source of a kind that is not listed here is dropped: it holds no configuration and names
    no Secret.
    """

    name: str = ""
    host_path: HostPathVolumeSource | None = None
    empty_dir: EmptyDirVolumeSource | None = None
    secret: SecretVolumeSource | None = None
    nfs: NFSVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    flex_volume: FlexVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    cephfs: CephFSVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    config_map: ConfigMapVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
    scale_io: ScaleIOVolumeSource | None = None
    storageos: StorageOSVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    image: ImageVolumeSource | None = None
