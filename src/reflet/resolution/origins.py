"""Where a value came from: the kinds of sources, each with the facts that find it again.

An origin holds names, keys and versions and never a value, so it may be shown to anybody.  Its
builtin form (``msgspec.to_builtins``) is a flat mapping with a ``kind``.
"""

from reflet.api.frozen import Frozen
from reflet.resolution.places import Place


class Substitution(Frozen, frozen=True, kw_only=True):
    """One ``$(NAME)`` of a value: whether it was found, and at which place it was set."""

    name: str
    found: bool
    place: Place | None = None


class ValueOrigin(Frozen, frozen=True, kw_only=True, tag_field="kind", tag="Value"):
    """The text in the pod itself, before ``$(NAME)`` was expanded."""

    template: str = ""
    substitutions: tuple[Substitution, ...] = ()


class ConfigMapOrigin(Frozen, frozen=True, kw_only=True, tag_field="kind", tag="ConfigMap"):
    """A key of a ConfigMap; with ``whole``, all keys were asked for."""

    namespace: str
    name: str
    key: str
    resource_version: str = ""
    whole: bool = False
    prefix: str = ""


class SecretOrigin(Frozen, frozen=True, kw_only=True, tag_field="kind", tag="Secret"):
    """A key of a Secret; with ``whole``, all keys were asked for."""

    namespace: str
    name: str
    key: str
    resource_version: str = ""
    whole: bool = False
    prefix: str = ""


class ServiceOrigin(Frozen, frozen=True, kw_only=True, tag_field="kind", tag="Service"):
    """A service whose address the kubelet announces."""

    namespace: str
    name: str
    resource_version: str = ""


class FieldOrigin(Frozen, frozen=True, kw_only=True, tag_field="kind", tag="Field"):
    """A field of the pod itself."""

    path: str
    namespace: str = ""
    name: str = ""
    resource_version: str = ""


class ResourceOrigin(Frozen, frozen=True, kw_only=True, tag_field="kind", tag="Resource"):
    """A limit or request of a container of the pod."""

    resource: str
    container: str = ""
    divisor: str = ""


class FileOrigin(Frozen, frozen=True, kw_only=True, tag_field="kind", tag="File"):
    """A variable of an environment file in a volume."""

    volume: str
    path: str
    key: str


class TokenOrigin(Frozen, frozen=True, kw_only=True, tag_field="kind", tag="ServiceAccountToken"):
    """A token of the pod's service account."""

    namespace: str
    service_account: str
    audience: str = ""
    expiration_seconds: int = 0


class TrustBundleOrigin(
    Frozen, frozen=True, kw_only=True, tag_field="kind", tag="ClusterTrustBundle"
):
    """Certificates of one ClusterTrustBundle, or of all that a signer has and labels select."""

    name: str = ""
    signer_name: str = ""


Origin = (
    ValueOrigin
    | ConfigMapOrigin
    | SecretOrigin
    | ServiceOrigin
    | FieldOrigin
    | ResourceOrigin
    | FileOrigin
    | TokenOrigin
    | TrustBundleOrigin
)
"""Any of them."""
