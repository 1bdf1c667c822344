"""Everything that a pod's configuration is made from, whoever got it: the one currency.

``PodInputs`` is what ``reflet.pod_inputs`` returns, what a node agent resolves, and what every
analysis in ``insight`` takes: the pod, its ConfigMaps and Secrets, the services, the node, tokens
and trust bundles.  ``environment`` and ``volume`` compute what its containers get.  ``Needs`` says
which of it is wanted, so that whoever gathers asks for nothing else.  Pure: everything is in hand.

The kubelet has no such struct: there, makeEnvironmentVariables and the volume plugins each ask
their managers while they compute.

Upstream: pkg/kubelet/kubelet_pods.go, GenerateRunContainerOptions
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, final

import msgspec

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.core.small_kinds import Event
from reflet.api.meta import ObjectMeta
from reflet.api.resources import Resource
from reflet.errors import RefletError
from reflet.resolution.environment.env_files import MountedVolume
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.environment.variables import Environment
from reflet.resolution.objects import ObjectKey, ObjectSource, missing
from reflet.resolution.origins import ConfigMapOrigin, TokenOrigin
from reflet.resolution.places import containers_of
from reflet.resolution.references.references import Reference
from reflet.resolution.resource_fields import NodeInHand
from reflet.resolution.templates.service_account_volume import ADDED_VOLUME, ROOT_CERTIFICATES
from reflet.resolution.templates.templates import PlacedTemplate
from reflet.resolution.volumes.file_contents import FileContent, VolumeContents
from reflet.resolution.volumes.projected_contents import TokenSource
from reflet.resolution.volumes.trust_bundles import BundlesInHand
from reflet.resolution.volumes.volume_contents import configuration_volumes, resolve_volume

MadeElsewhere = Callable[[str, str, str, str], bool]
"""Tells of a kind, namespace, name and key whether another system makes it, or it is assumed."""


def every_reference(_: Pod, __: Reference) -> bool:
    """Tell that every ConfigMap and Secret that the pod names is read."""
    return True


def no_reference(_: Pod, __: Reference) -> bool:
    """Tell that no ConfigMap or Secret is read."""
    return False


@final
class Needs(msgspec.Struct, frozen=True):
    """What somebody wants to know of a pod, so that nothing else is asked for.

    - *references*: which of the pod's ConfigMaps and Secrets are read; all unless given
    - *services*: whether the Services are read, for their variables
    - *node*: whether the pod's node is read, for its addresses and its resources
    - *tokens*: whether tokens of the pod's service account are requested, which makes them
    - *bundles*: whether the cluster's trust bundles are read, for a pod that shows some
    - *events*: whether the pod's events are read
    - *admission*: whether a pod that is not made yet gets what admission would add: the volume with
      the token of its service account
    """

    references: Callable[[Pod, Reference], bool] = every_reference
    services: bool = True
    node: bool = True
    tokens: bool = False
    bundles: bool = False
    events: bool = False
    admission: bool = False


ONLY_THE_POD: Final = Needs(references=no_reference, services=False, node=False)
"""For whoever looks at the pod and at nothing that it names."""


@final
class RefusedObject(msgspec.Struct, frozen=True):
    """An object of the files that an API server would not take, and its words."""

    place: str
    kind: str
    namespace: str
    name: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: the API server would refuse it: {self.message}"


def unknown_token(_audience: str, _seconds: int) -> str:
    """Stand for a token that nobody has asked for: its file is there, and its content not known."""
    return ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PodInputs:
    """A pod, and all that is known of what its containers get.

    ::

        inputs = await reflet.pod_inputs(cluster, "deploy/web")
        inputs.environment("web").values
        inputs.volume("settings").files

    - *objects*, *services*, *services_read*, *node*, *token*, *bundles*, *skip_invalid_names*: as
      ``resolve_environment`` and ``resolve_volume`` take them
    - *mounted*: the volumes in which environment files may be; None is not known
    - *kind*, *name*: the object that was asked for, a workload perhaps; the pod unless given
    - *place*: its file and line; empty for one of a server
    - *resource*: that of a custom resource; None for Kubernetes' own kinds
    - *other_templates*: pod templates of a custom resource that this pod is not made from
    - *replicas*: how many pods a workload asks for; None where it does not say
    - *events*: the pod's events
    - *known_objects*: ConfigMaps and Secrets that exist, for suggestions
    - *refusals*: objects of the files that a server would not take
    - *remarks*: sentences about what is assumed or missing
    - *made_elsewhere*: tells what is not missing though no file has it; None where nothing is known
      of it
    - *pod*: the pod, or what a workload's template makes
    """

    pod: Pod
    objects: ObjectSource | None = field(repr=False)
    services: Sequence[Service] | RefletError | None = None
    services_read: bool = True
    node: NodeInHand = None
    token: TokenSource | None = field(default=None, repr=False)
    bundles: BundlesInHand = None
    mounted: Mapping[str, MountedVolume | None] | None = field(default=None, repr=False)
    skip_invalid_names: bool = False
    kind: str = "Pod"
    name: str = ""
    place: str = ""
    resource: Resource | None = None
    other_templates: tuple[PlacedTemplate, ...] = ()
    replicas: int | None = None
    events: tuple[Event, ...] = ()
    known_objects: tuple[ObjectKey, ...] = ()
    refusals: tuple[RefusedObject, ...] = ()
    remarks: tuple[str, ...] = ()
    made_elsewhere: MadeElsewhere | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.name:
            metadata = self.pod.metadata
            object.__setattr__(self, "name", metadata.name or metadata.generate_name)

    @property
    def namespace(self) -> str:
        """The namespace of the pod, and of all ConfigMaps and Secrets that it can name."""
        return self.pod.metadata.namespace

    @property
    def target(self) -> str:
        """The object that was asked for, as ``deployment/web``."""
        return f"{self.kind.lower()}/{self.name}"

    @property
    def from_template(self) -> bool:
        """Whether the pod is not made yet."""
        return self.kind != "Pod"

    def environment(self, container: str) -> Environment:
        """Return the environment of a container.

        Raises ConfigurationError for a container that the pod does not have.

        - *container*: name of the container
        """
        return resolve_environment(
            self.pod,
            container,
            self.objects,
            node=self.node,
            services=self.services,
            services_read=self.services_read,
            volumes=self.mounted,
            skip_invalid_names=self.skip_invalid_names,
        )

    def environments(self) -> dict[str, Environment]:
        """Return the environments of all containers by their names, in the kubelet's order."""
        names = [placed.container.name for placed in containers_of(self.pod.spec)]
        return {name: self.environment(name) for name in names}

    def volume(self, name: str) -> VolumeContents:
        """Return the contents of a volume; a token that nobody asked for is a file not known.

        Of the volume that admission adds nothing is wrong: what is not at hand is not known.
        Raises ConfigurationError for a volume that the pod does not have.

        - *name*: name of the volume
        """
        is_added = name == ADDED_VOLUME
        contents = resolve_volume(
            self.pod,
            name,
            _WithCertificates(self.objects) if is_added else self.objects,
            node=self.node,
            token=(self.token or unknown_token) if is_added else self.token,
            bundles=self.bundles,
        )
        if not any(_was_not_asked_for(file) for file in contents.files.values()):
            return contents
        files = {
            path: msgspec.structs.replace(file, known=False) if _was_not_asked_for(file) else file
            for path, file in contents.files.items()
        }
        return msgspec.structs.replace(contents, files=files)

    def volumes(self, names: Sequence[str] = ()) -> dict[str, VolumeContents]:
        """Return the named volumes, or all that hold configuration, by their names.

        - *names*: names of the volumes; empty is all that hold configuration
        """
        chosen = dict.fromkeys(names) or configuration_volumes(self.pod)
        return {name: self.volume(name) for name in chosen}


def _was_not_asked_for(file: FileContent) -> bool:
    match file.origin:
        case TokenOrigin():
            return not file.data
        case ConfigMapOrigin(name=name):
            return name == ROOT_CERTIFICATES and not file.data
        case _:
            return False


@final
class _WithCertificates:
    """The same objects, and the cluster's certificates where they are not at hand: empty."""

    def __init__(self, objects: ObjectSource | None) -> None:
        self._objects = objects

    def config_map(self, namespace: str, name: str, /) -> ConfigMap | RefletError:
        found = None if self._objects is None else self._objects.config_map(namespace, name)
        if isinstance(found, ConfigMap) or name != ROOT_CERTIFICATES:
            return found or missing("ConfigMap", name)
        metadata = ObjectMeta(namespace=namespace, name=name)
        return ConfigMap(metadata=metadata, data={"ca.crt": ""})

    def secret(self, namespace: str, name: str, /) -> Secret | RefletError:
        found = None if self._objects is None else self._objects.secret(namespace, name)
        return found or missing("Secret", name)
