"""Files that show fields of the pod and resources of its containers, for any kind of volume.

Upstream: pkg/volume/downwardapi/downwardapi.go, CollectData
"""

from collections.abc import Sequence

from reflet.api.core.pods import Pod
from reflet.api.core.volumes import DownwardAPIVolumeFile
from reflet.gotext.paths import clean
from reflet.resolution.origins import FieldOrigin, Origin, ResourceOrigin, ValueOrigin
from reflet.resolution.places import Place
from reflet.resolution.pod_fields import NEVER_EMPTY, file_field
from reflet.resolution.problems import (
    MissingDefaultMode,
    NotKnownYet,
    Problem,
    Refused,
    UnavailableResource,
    Unknown,
    UnsupportedField,
)
from reflet.resolution.resource_fields import NodeInHand, file_resource
from reflet.resolution.volumes.file_contents import FileContent, Filling, put
from reflet.resolution.volumes.keyed_contents import NO_DEFAULT_MODE, USUAL_MODE


def downward_files(
    pod: Pod,
    items: Sequence[DownwardAPIVolumeFile],
    *,
    default_mode: int | None,
    node: NodeInHand,
    place: Place,
) -> Filling:
    """Return the files, and all errors, which the kubelet collects as well."""
    problems: list[Problem] = []
    errors: list[str] = []
    if default_mode is None:
        problems.append(MissingDefaultMode(place=place, kubelet=NO_DEFAULT_MODE))
        errors.append(NO_DEFAULT_MODE)
    files: dict[str, FileContent] = {}
    for index, item in enumerate(items):
        below = Place(path=f"{place.path}.items[{index}]", volume=place.volume)
        value = _value(pod, item, node)
        if isinstance(value, Refused):
            problems.append(_problem(item, below, value.text))
            if default_mode is not None:  # the kubelet looks no further without one
                errors.append(value.text)
            continue
        if isinstance(value, Unknown):
            problems.append(NotKnownYet(place=below, field=_field(item), reason=value.text))
        put(
            files,
            clean(item.path),
            FileContent(
                data=b"" if isinstance(value, Unknown) else value.encode(errors="surrogatepass"),
                mode=(USUAL_MODE if default_mode is None else default_mode)
                if item.mode is None
                else item.mode,
                origin=_origin(pod, item),
                known=not isinstance(value, Unknown),
            ),
        )
    return Filling(files=files, problems=tuple(problems), errors=tuple(errors))


def _value(pod: Pod, item: DownwardAPIVolumeFile, node: NodeInHand) -> str | Refused | Unknown:
    if item.field_ref is not None:
        path = item.field_ref.field_path
        value = file_field(pod, path)
        # A pod that is not made yet has no name and no identity, and every other one has.
        return Unknown(text=NEVER_EMPTY[path]) if value == "" and path in NEVER_EMPTY else value
    if item.resource_field_ref is not None:
        return file_resource(pod, item.resource_field_ref, node=node)
    return ""


def _problem(item: DownwardAPIVolumeFile, place: Place, text: str) -> Problem:
    if item.resource_field_ref is not None and item.field_ref is None:
        return UnavailableResource(
            place=place,
            kubelet=text,
            resource=item.resource_field_ref.resource,
            container=item.resource_field_ref.container_name,
        )
    return UnsupportedField(place=place, kubelet=text, field=_field(item))


def _field(item: DownwardAPIVolumeFile) -> str:
    if item.field_ref is not None:
        return item.field_ref.field_path
    return "" if item.resource_field_ref is None else item.resource_field_ref.resource


def _origin(pod: Pod, item: DownwardAPIVolumeFile) -> Origin:
    metadata = pod.metadata
    if item.field_ref is not None:
        return FieldOrigin(
            path=item.field_ref.field_path,
            namespace=metadata.namespace,
            name=metadata.name,
            resource_version=metadata.resource_version,
        )
    if item.resource_field_ref is not None:
        selector = item.resource_field_ref
        return ResourceOrigin(
            resource=selector.resource,
            container=selector.container_name,
            divisor=selector.divisor,
        )
    return ValueOrigin()
