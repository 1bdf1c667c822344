"""Trust anchors of ClusterTrustBundles, as the kubelet puts them into a projected volume.

The kubelet gives the certificates in an order of chance, another after each start, so that nobody
relies on one.  Here they are sorted by their bytes: a file is new when its certificates are.

Upstream: pkg/kubelet/clustertrustbundle/clustertrustbundle_manager.go, GetTrustAnchorsByName
"""

import base64
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Final

from reflet.api.core.volumes import ClusterTrustBundleProjection
from reflet.api.frozen import EMPTY, Frozen
from reflet.api.selectors.labels import LabelSelector
from reflet.api.unstructured import AnyObject
from reflet.errors import ParseError, RefletError
from reflet.resolution.places import PodLike

GROUP: Final = "certificates.k8s.io"
KIND: Final = "ClusterTrustBundle"
VERSIONS: Final = ("v1", "v1beta1", "v1alpha1")
"""Those that the kubelet looks for, the one that it prefers first."""

NOT_SERVED: Final = "ClusterTrustBundle projection is not supported in static kubelet mode"
NOT_SYNCED: Final = "ClusterTrustBundle informer has not yet synced"
NO_CHOICE: Final = "ClusterTrustBundle projection requires either name or signerName to be set"
NO_MATCH: Final = "combination of signerName and labelSelector matched zero ClusterTrustBundles"
LONGEST_SELECTOR: Final = 100 * 1024  # characters

_LINE: Final = 64  # characters of base64
_BUNDLES_READ: Final = 128  # whose certificates are kept decoded
_BEGIN: Final = "-----BEGIN "
_DASHES: Final = "-----"


class TrustBundle(Frozen, frozen=True, kw_only=True):
    """A ClusterTrustBundle of any version, as far as files are made from it."""

    name: str
    labels: Mapping[str, str] = EMPTY
    signer_name: str = ""
    certificates: str = ""


class UnknownBundles:
    """There may be bundles, and nobody has asked which."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN_BUNDLES"


UNKNOWN_BUNDLES: Final = UnknownBundles()

BundlesInHand = tuple[TrustBundle, ...] | RefletError | UnknownBundles | None
"""All bundles of the cluster, or why they are not known; ``None`` where there can be none."""


def is_trust_bundle(api_version: str, kind: str) -> bool:
    """Whether that is a ClusterTrustBundle, of whichever version."""
    group, _, version = api_version.partition("/")
    return kind == KIND and group == GROUP and version in VERSIONS


def trust_bundle_of(item: AnyObject) -> TrustBundle:
    """Read a ClusterTrustBundle; what is not text in it counts as empty."""
    signer, text = item.spec.get("signerName"), item.spec.get("trustBundle")
    return TrustBundle(
        name=item.metadata.name,
        labels=item.metadata.labels,
        signer_name=signer if isinstance(signer, str) else "",
        certificates=text if isinstance(text, str) else "",
    )


def wants_trust_bundles(pod: PodLike) -> bool:
    """Whether a volume of the pod shows trust anchors."""
    return any(
        source.cluster_trust_bundle is not None
        for volume in pod.spec.volumes
        if volume.projected is not None
        for source in volume.projected.sources
    )


def trust_anchors(
    projection: ClusterTrustBundleProjection, bundles: tuple[TrustBundle, ...]
) -> bytes | RefletError:
    """Return the file that a projection asks for, or the kubelet's words why there is none."""
    if projection.name is not None:
        chosen = [each for each in bundles if each.name == projection.name]
        said = (
            "while getting ClusterTrustBundle: "
            f'clustertrustbundle.certificates.k8s.io "{projection.name}" not found'
        )
    elif projection.signer_name is not None:
        selector = _selector_of(projection)
        if isinstance(selector, RefletError):
            return selector
        chosen = [
            each
            for each in bundles
            if each.signer_name == projection.signer_name and selector.matches(each.labels)
        ]
        said = NO_MATCH
    else:
        return RefletError(NO_CHOICE)
    if not chosen:
        return b"" if projection.optional else RefletError(said)
    return _encoded(certificate for each in chosen for certificate in _decoded(each.certificates))


def _selector_of(projection: ClusterTrustBundleProjection) -> LabelSelector | RefletError:
    wanted = projection.label_selector
    if wanted is None:
        return LabelSelector.nothing()
    try:
        selector = LabelSelector.from_label_selector(wanted.match_labels, wanted.match_expressions)
    except ParseError as error:
        return RefletError(f"while parsing label selector: {error}")
    length = len(str(selector))
    if length > LONGEST_SELECTOR:
        return RefletError(f"label selector length ({length}) is larger than {LONGEST_SELECTOR}")
    return selector


def _encoded(certificates: Iterable[bytes]) -> bytes:
    return "".join(map(_block, sorted(set(certificates)))).encode()


def _block(certificate: bytes) -> str:
    text = base64.b64encode(certificate).decode()
    lines = [text[begin : begin + _LINE] for begin in range(0, len(text), _LINE)]
    return "\n".join([f"{_BEGIN}CERTIFICATE{_DASHES}", *lines, "-----END CERTIFICATE-----\n"])


@lru_cache(_BUNDLES_READ)
def _decoded(text: str) -> frozenset[bytes]:
    return frozenset(_blocks(text))


def _blocks(text: str) -> Iterator[bytes]:
    """Yield what is in each PEM block, of whatever type; what is none is passed over."""
    label: str | None = None
    body: list[str] = []
    for line in map(str.strip, text.split("\n")):
        if line.startswith(_BEGIN) and line.endswith(_DASHES):
            label, body = line.removeprefix(_BEGIN).removesuffix(_DASHES), []
        elif label is not None and line == f"-----END {label}{_DASHES}":
            # As the kubelet, which goes on to the next one.
            with suppress(ValueError):
                yield base64.b64decode("".join(body), validate=True)
            label = None
        elif label is not None and (body or ":" not in line):
            body.append(line.replace(" ", "").replace("\t", ""))
