"""Single variables from ``valueFrom``: keys of objects, fields, resources and files.

What each source gives, and the kubelet's words when it gives nothing.  Who wins is
``environment``.

Upstream: pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables, the switch on ``ValueFrom``
"""

from collections.abc import Mapping, Sequence
from typing import final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.containers import (
    ConfigMapKeySelector,
    EnvVarSource,
    FileKeySelector,
    ObjectFieldSelector,
    ResourceFieldSelector,
    SecretKeySelector,
)
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.errors import RefletError
from reflet.gotext.paths import below
from reflet.gotext.quoting import quoted
from reflet.resolution.environment.env_files import MountedVolume, find_variable
from reflet.resolution.environment.variables import Assignment
from reflet.resolution.objects import ConfigKind, ObjectReader, ObjectSource
from reflet.resolution.origins import FieldOrigin, FileOrigin, ResourceOrigin, ValueOrigin
from reflet.resolution.places import Place, PlacedContainer
from reflet.resolution.pod_fields import variable_field
from reflet.resolution.problems import (
    FileProblem,
    MissingFileKey,
    MissingVolume,
    NotKnownYet,
    Problem,
    Refused,
    UnavailableResource,
    Unknown,
    UnreadableEnvFile,
    UnsupportedField,
)
from reflet.resolution.references.wanted_objects import WantedObject, origin_of
from reflet.resolution.resource_fields import NodeInHand, variable_resource


@final
class VariableSources:
    """What the variables of one container can be taken from; ``problems`` collects what fails."""

    def __init__(
        self,
        pod: Pod,
        placed: PlacedContainer,
        objects: ObjectSource | None,
        *,
        node: NodeInHand,
        pod_ips: Sequence[str] | None,
        volumes: Mapping[str, MountedVolume | None] | None,
    ) -> None:
        self.problems: list[Problem] = []
        self._pod = pod
        self._placed = placed
        self._reader = None if objects is None else ObjectReader(objects, pod.metadata.namespace)
        self._node = node
        self._pod_ips = pod_ips
        self._volumes = volumes
        self._measured: set[tuple[ConfigKind, str]] = set()

    def read(self, wanted: WantedObject) -> ConfigMap | Secret | None:
        """Return the object, or ``None`` after noting why there is none."""
        if self._reader is None:
            resource = "configMap" if wanted.kind == "ConfigMap" else "secret"
            asked = f"{resource} {wanted.namespace}/{wanted.name}"
            self.problems.append(
                wanted.without_client(f"couldn't get {asked}, no kubeClient defined")
            )
            return None
        answer = self._reader.get(wanted.kind, wanted.name)
        if isinstance(answer, RefletError):
            self.problems.append(wanted.failed(answer))
            return None
        if (wanted.kind, wanted.name) not in self._measured:
            self._measured.add((wanted.kind, wanted.name))
            self.problems += wanted.oversized(answer)
        return answer

    def assignment(self, index: int, variable: str, source: EnvVarSource) -> Assignment | None:
        """Return what the source gives the variable, or ``None`` when it leaves it alone."""
        path = f"env[{index}].valueFrom"
        if source.field_ref is not None:
            place = self._placed.place(f"{path}.fieldRef", variable=variable)
            return self._field(source.field_ref, place)
        if source.resource_field_ref is not None:
            place = self._placed.place(f"{path}.resourceFieldRef", variable=variable)
            return self._resource(source.resource_field_ref, place)
        if source.config_map_key_ref is not None:
            place = self._placed.place(f"{path}.configMapKeyRef", variable=variable)
            return self._key("ConfigMap", source.config_map_key_ref, place)
        if source.secret_key_ref is not None:
            place = self._placed.place(f"{path}.secretKeyRef", variable=variable)
            return self._key("Secret", source.secret_key_ref, place)
        if source.file_key_ref is not None:
            place = self._placed.place(f"{path}.fileKeyRef", variable=variable)
            return self._file(source.file_key_ref, place)
        place = self._placed.place(path, variable=variable)
        return Assignment(value="", origin=ValueOrigin(), place=place)

    def _key(
        self, kind: ConfigKind, selector: ConfigMapKeySelector | SecretKeySelector, place: Place
    ) -> Assignment | None:
        key = selector.key
        wanted = WantedObject(
            kind=kind,
            namespace=self._pod.metadata.namespace,
            name=selector.name,
            optional=selector.optional,
            place=place,
        )
        item = self.read(wanted)
        if item is None:
            return None
        raw = item.data.get(key)
        if raw is None:
            text = f"couldn't find key {key} in {kind} {wanted.namespace}/{wanted.name}"
            present = tuple(sorted(item.data))
            binary = isinstance(item, ConfigMap) and key in item.binary_data
            self.problems.append(wanted.without_key(key, text, present=present, binary=binary))
            return None
        return Assignment(
            value=raw if isinstance(raw, str) else raw.decode(errors="surrogateescape"),
            origin=origin_of(wanted, item, key),
            place=place,
            sensitive=kind == "Secret",
        )

    def _field(self, selector: ObjectFieldSelector, place: Place) -> Assignment | None:
        node = self._node if isinstance(self._node, Node) else None
        value = variable_field(self._pod, selector, node=node, pod_ips=self._pod_ips)
        field = selector.field_path
        if isinstance(value, Refused):
            self.problems.append(UnsupportedField(place=place, kubelet=value.text, field=field))
            return None
        metadata = self._pod.metadata
        origin = FieldOrigin(
            path=field,
            namespace=metadata.namespace,
            name=metadata.name,
            resource_version=metadata.resource_version,
        )
        if isinstance(value, Unknown):
            self.problems.append(NotKnownYet(place=place, field=field, reason=value.text))
            return Assignment(value="", origin=origin, place=place, known=False)
        return Assignment(value=value, origin=origin, place=place)

    def _resource(self, selector: ResourceFieldSelector, place: Place) -> Assignment | None:
        value = variable_resource(self._pod, self._placed.container, selector, node=self._node)
        resource = selector.resource
        container = selector.container_name or self._placed.container.name
        if isinstance(value, Refused):
            self.problems.append(
                UnavailableResource(
                    place=place, kubelet=value.text, resource=resource, container=container
                )
            )
            return None
        origin = ResourceOrigin(resource=resource, container=container, divisor=selector.divisor)
        if isinstance(value, Unknown):
            self.problems.append(NotKnownYet(place=place, field=resource, reason=value.text))
            return Assignment(value="", origin=origin, place=place, known=False)
        return Assignment(value=value, origin=origin, place=place)

    def _file(self, selector: FileKeySelector, place: Place) -> Assignment | None:
        volume = selector.volume_name
        origin = FileOrigin(volume=volume, path=selector.path, key=selector.key)
        if self._volumes is None and any(item.name == volume for item in self._pod.spec.volumes):
            reason = f"the files of volume {volume} exist only in the running pod"
            self.problems.append(NotKnownYet(place=place, field=selector.path, reason=reason))
            return Assignment(value="", origin=origin, place=place, known=False)
        mounted = None if self._volumes is None else self._volumes.get(volume)
        value = (
            _file_problem(
                MissingVolume,
                selector,
                place,
                f"cannot find the volume {quoted(volume)} referenced by FileKeyRef",
            )
            if mounted is None
            else _from_file(mounted, selector, place)
        )
        if isinstance(value, Problem):
            self.problems.append(value)
            return None
        return Assignment(value=value, origin=origin, place=place, sensitive=True)


def _from_file(
    mounted: MountedVolume, selector: FileKeySelector, place: Place
) -> str | FileProblem:
    path = below(selector.path)
    whole_path = f"{mounted.directory}/{path}" if path else mounted.directory
    content = mounted.files.get(path)
    value = (
        Refused(text=f"failed to open environment variable file {quoted(whole_path)}")
        if content is None
        else find_variable(content, selector.key, path=whole_path)
    )
    if isinstance(value, Refused):
        text = "couldn't parse env file"
        return _file_problem(UnreadableEnvFile, selector, place, text, detail=value.text)
    if value:
        return value
    key = quoted(selector.key)
    text = f"environment variable key {key} not found in file {quoted(whole_path)}"
    blocking = not selector.optional
    return _file_problem(
        MissingFileKey, selector, place, text if blocking else "", blocking=blocking
    )


def _file_problem(
    problem: type[FileProblem],
    selector: FileKeySelector,
    place: Place,
    text: str,
    *,
    blocking: bool = True,
    detail: str = "",
) -> FileProblem:
    return problem(
        place=place,
        kubelet=text,
        blocking=blocking,
        volume=selector.volume_name,
        path=selector.path,
        key=selector.key,
        optional=selector.optional,
        detail=detail,
    )
