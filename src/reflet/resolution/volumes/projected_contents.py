"""Files of a projected volume: several sources in one directory, later ones on top.

Service account tokens and trust anchors are handed in; nothing is requested here.

Upstream: pkg/volume/projected/projected.go, collectData
"""

from collections.abc import Callable
from typing import Final

from reflet.api.core.pods import Pod
from reflet.api.core.volumes import (
    ClusterTrustBundleProjection,
    ProjectedVolumeSource,
    ServiceAccountTokenProjection,
    VolumeProjection,
)
from reflet.errors import RefletError
from reflet.resolution.objects import ObjectReader
from reflet.resolution.origins import TokenOrigin, TrustBundleOrigin
from reflet.resolution.places import Place
from reflet.resolution.problems import (
    MissingDefaultMode,
    NoProjectedClient,
    Problem,
    TokenUnavailable,
    TrustBundleUnavailable,
    UnsupportedSource,
    joined_errors,
)
from reflet.resolution.references.wanted_objects import WantedObject
from reflet.resolution.resource_fields import NodeInHand
from reflet.resolution.volumes.downward_contents import downward_files
from reflet.resolution.volumes.file_contents import FileContent, Filling, common_user, fs_group, put
from reflet.resolution.volumes.keyed_contents import NO_DEFAULT_MODE, USUAL_MODE, keyed_files
from reflet.resolution.volumes.trust_bundles import (
    NOT_SERVED,
    BundlesInHand,
    UnknownBundles,
    trust_anchors,
)

USUAL_EXPIRATION: Final = 3600  # seconds
PRIVATE_MODE: Final = 0o600

TokenSource = Callable[[str, int], str | RefletError]
"""Gives a token of the pod's service account for an audience, empty for the API server's own,
and a life in seconds; or the error of getting one."""


def projected_files(
    pod: Pod,
    projected: ProjectedVolumeSource,
    reader: ObjectReader | None,
    *,
    node: NodeInHand,
    token: TokenSource | None,
    bundles: BundlesInHand,
    place: Place,
) -> Filling:
    """Return the files of all sources that work, and the errors of all that do not."""
    problems: list[Problem] = []
    errors: list[str] = []
    mode = projected.default_mode
    if mode is None:
        problems.append(MissingDefaultMode(place=place, kubelet=NO_DEFAULT_MODE))
        errors.append(NO_DEFAULT_MODE)
    if reader is None:
        text = f"cannot setup projected volume {place.volume} because kube client is not configured"
        problems.append(NoProjectedClient(place=place, kubelet=text))
        errors.append(text)
    stopped = bool(errors)
    files: dict[str, FileContent] = {}
    usable_mode = USUAL_MODE if mode is None else mode
    for index, source in enumerate(projected.sources):
        below = Place(path=f"{place.path}.sources[{index}]", volume=place.volume)
        filling = _of_source(
            pod,
            source,
            reader,
            mode=usable_mode,
            node=node,
            token=token,
            bundles=bundles,
            place=below,
        )
        problems += filling.problems
        errors += filling.errors
        for path, file in filling.files.items() if not filling.errors else ():
            put(files, path, file)
    # Without a mode or an API server, the kubelet does not even look at the sources.
    error = errors[0] if stopped else joined_errors(errors)
    return Filling(files=files, problems=tuple(problems), errors=() if error is None else (error,))


def _of_source(
    pod: Pod,
    source: VolumeProjection,
    reader: ObjectReader | None,
    *,
    mode: int,
    node: NodeInHand,
    token: TokenSource | None,
    bundles: BundlesInHand,
    place: Place,
) -> Filling:
    keyed = source.secret or source.config_map
    if keyed is not None:
        if reader is None:  # said once, for the whole volume
            return Filling()
        of_secret = source.secret is not None
        wanted = WantedObject(
            kind="Secret" if of_secret else "ConfigMap",
            namespace=pod.metadata.namespace,
            name=keyed.name,
            optional=keyed.optional,
            place=_below(place, "secret" if of_secret else "configMap"),
        )
        return keyed_files(reader, wanted, keyed.items, mode)
    if source.downward_api is not None:
        items = source.downward_api.items
        below = _below(place, "downwardAPI")
        return downward_files(pod, items, default_mode=mode, node=node, place=below)
    if source.service_account_token is not None:
        return _token_file(pod, source.service_account_token, token, mode, place)
    if source.cluster_trust_bundle is not None:
        return _bundle_file(pod, source.cluster_trust_bundle, bundles, mode, place)
    if source.pod_certificate is not None:
        return _no_certificate(place)
    return Filling()


def _below(place: Place, field: str) -> Place:
    return Place(path=f"{place.path}.{field}", volume=place.volume)


def _no_certificate(place: Place) -> Filling:
    problem = UnsupportedSource(
        place=_below(place, "podCertificate"),
        source="podCertificate",
        instead="it asks for no certificates; mount one from a Secret",
    )
    return Filling(problems=(problem,), errors=(problem.error,))


def _token_file(
    pod: Pod,
    projection: ServiceAccountTokenProjection,
    token: TokenSource | None,
    mode: int,
    place: Place,
) -> Filling:
    account = pod.spec.service_account_name
    seconds = projection.expiration_seconds
    expiration = USUAL_EXPIRATION if seconds is None else seconds
    answer = (
        RefletError(f"no token for service account {account or '(unnamed)'} can be had here")
        if token is None
        else token(projection.audience, expiration)
    )
    if isinstance(answer, RefletError):
        problem = TokenUnavailable(
            place=_below(place, "serviceAccountToken"),
            kubelet=str(answer),
            service_account=account,
            audience=projection.audience,
        )
        return Filling(problems=(problem,), errors=(problem.error,))
    file = FileContent(
        data=answer.encode(errors="surrogateescape"),
        mode=_owners_mode(pod, mode),
        origin=TokenOrigin(
            namespace=pod.metadata.namespace,
            service_account=account,
            audience=projection.audience,
            expiration_seconds=expiration,
        ),
        sensitive=True,
        user=common_user(pod),
    )
    return Filling(files={projection.path: file})


def _owners_mode(pod: Pod, mode: int) -> int:
    """Whoever owns the files, by user or group, shares a token with nobody else."""
    return mode if common_user(pod) is None and fs_group(pod) is None else PRIVATE_MODE


def _bundle_file(
    pod: Pod,
    projection: ClusterTrustBundleProjection,
    bundles: BundlesInHand,
    mode: int,
    place: Place,
) -> Filling:
    name, signer = projection.name or "", projection.signer_name or ""
    answer: bytes | RefletError
    if isinstance(bundles, UnknownBundles):
        answer = b""
    elif isinstance(bundles, tuple):
        answer = trust_anchors(projection, bundles)
    else:
        answer = bundles or RefletError(NOT_SERVED)
    if isinstance(answer, RefletError):
        problem = TrustBundleUnavailable(
            place=_below(place, "clusterTrustBundle"),
            kubelet=str(answer),
            name=name,
            signer_name=signer,
        )
        return Filling(problems=(problem,), errors=(problem.error,))
    file = FileContent(
        data=answer,
        # The kubelet treats certificates, which are no secret, as it does tokens.
        mode=_owners_mode(pod, mode),
        origin=TrustBundleOrigin(name=name, signer_name=signer),
        user=common_user(pod),
        known=not isinstance(bundles, UnknownBundles),
    )
    return Filling(files={projection.path: file})
