"""A pod and everything that its configuration is made from, whatever it comes from.

Owns: what a command about a pod needs, and getting it from files; cluster_gathering.py gets it
from a server.  Must not know what a command shows of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, final

from reflet.errors import RefletError
from reflet.resolution.environment import resolve_environment
from reflet.resolution.references import Reference
from reflet.resolution.resource_fields import UNKNOWN_NODE, NodeInHand
from reflet.resolution.trust_bundles import UNKNOWN_BUNDLES, BundlesInHand
from reflet.resolution.volume_contents import resolve_volume

if TYPE_CHECKING:
    from reflet.api.core.pods import Pod
    from reflet.api.core.services import Service
    from reflet.api.core.small_kinds import Event
    from reflet.cli.options.connection_options import ConnectionChoice
    from reflet.cli.options.targets import Target
    from reflet.manifests.applied import AppliedManifests, Refusal
    from reflet.resolution.file_contents import VolumeContents
    from reflet.resolution.objects import ObjectKey, ObjectSource
    from reflet.resolution.projected_contents import TokenSource
    from reflet.resolution.variables import Environment

FILES_NAMESPACE: Final = "default"
"""The namespace of objects in files that name none, when no flag does either."""


def everything(_: Pod, __: Reference) -> bool:
    """Tell that any reference of the pod is needed."""
    return True


def nothing(_: Pod, __: Reference) -> bool:
    """Tell that no reference of the pod is followed."""
    return False


@final
@dataclass(frozen=True, slots=True)
class Needs:
    """What a command wants to know of a pod, so that nothing else is asked for.

    ``references`` tells which of the pod's ConfigMaps and Secrets are read; ``tokens`` asks the
    server for tokens of the pod's service account, which makes them; ``bundles`` reads the trust
    bundles of the cluster, for a pod that shows some.
    """

    references: Callable[[Pod, Reference], bool] = everything
    services: bool = True
    node: bool = True
    tokens: bool = False
    bundles: bool = False
    events: bool = False


@final
@dataclass(frozen=True, slots=True)
class PodInHand:
    """A pod, and what is known of its surroundings.

    ``kind`` and ``name`` are those of the object that was asked for, a workload perhaps.
    ``remarks`` are sentences about what is assumed or missing; ``refusals`` are objects of the
    files that a server would not take; ``manifests`` are all objects of the files.
    """

    pod: Pod
    kind: str
    name: str
    source: Literal["files", "cluster"]
    objects: ObjectSource
    services: tuple[Service, ...] | RefletError = ()
    node: NodeInHand = UNKNOWN_NODE
    token: TokenSource | None = None
    bundles: BundlesInHand = UNKNOWN_BUNDLES
    place: str = ""
    remarks: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    events: tuple[Event, ...] = ()
    manifests: AppliedManifests | None = None

    @property
    def target(self) -> str:
        """The object that was asked for, as ``deployment/web``."""
        return f"{self.kind.lower()}/{self.name}"

    @property
    def from_template(self) -> bool:
        """Whether the pod is not made yet."""
        return self.kind != "Pod"

    @property
    def known_objects(self) -> tuple[ObjectKey, ...]:
        """The ConfigMaps and Secrets that are known to exist, for suggestions."""
        if self.manifests is None:
            return ()
        config_maps, secrets = self.manifests.config_maps(), self.manifests.secrets()
        return (
            *(("ConfigMap", each.metadata.namespace, each.metadata.name) for each in config_maps),
            *(("Secret", each.metadata.namespace, each.metadata.name) for each in secrets),
        )

    def environment(self, container: str, *, skip_invalid_names: bool = False) -> Environment:
        """Resolve the environment of a container."""
        return resolve_environment(
            self.pod,
            container,
            self.objects,
            node=self.node,
            services=self.services,
            skip_invalid_names=skip_invalid_names,
        )

    def volume(self, name: str) -> VolumeContents:
        """Resolve the contents of a volume."""
        return resolve_volume(
            self.pod,
            name,
            self.objects,
            node=self.node,
            token=self.token,
            bundles=self.bundles,
        )


def gather(
    target: Target | None,
    connection: ConnectionChoice,
    *,
    files: Sequence[str] = (),
    selector: str = "",
    all_namespaces: bool = False,
    needs: Needs | None = None,
) -> PodInHand:
    """Get a pod and what it needs, from *files* if there are any, else from the server.

    Raises the errors of both: ConfigurationError and DecodeError for mistakes in files or
    names, Invalid for a pod of the files that a server would refuse, ApiError and
    TransportError when the pod itself cannot be had.  What the pod refers to and cannot be
    read is no error here: it is in ``objects``.
    """
    if files:
        return gather_from_files(target, files, connection.namespace)
    import asyncio  # noqa: PLC0415 - not needed for files

    from reflet.cli.cluster_gathering import gather_from_cluster  # noqa: PLC0415 - as above
    from reflet.cli.output.progress import progress  # noqa: PLC0415 - as above

    with progress("asking the server"):
        return asyncio.run(
            gather_from_cluster(
                connection(),
                target,
                selector=selector,
                all_namespaces=all_namespaces,
                needs=needs or Needs(),
            )
        )


def gather_from_files(target: Target | None, files: Sequence[str], namespace: str) -> PodInHand:
    """Get a pod and what it needs from files alone; an empty *namespace* was not given."""
    from reflet.cli.output.progress import progress  # noqa: PLC0415 - not needed for --help
    from reflet.manifests.applied import read_applied  # noqa: PLC0415 - as above
    from reflet.manifests.pod_targets import choose_pod  # noqa: PLC0415 - as above

    with progress("reading files"):
        applied = read_applied(files, namespace=namespace or FILES_NAMESPACE)
    chosen = choose_pod(applied, target, namespace or None)
    node, remarks = _node_of(chosen.pod, applied)
    return PodInHand(
        pod=chosen.pod,
        kind=chosen.kind,
        name=chosen.name,
        source="files",
        objects=applied.object_source(),
        services=applied.services(),
        node=node,
        token=_unknown_token,
        bundles=applied.trust_bundles() or UNKNOWN_BUNDLES,
        place=chosen.place,
        remarks=(*map(str, applied.remarks), *chosen.assumptions, *remarks),
        refusals=applied.refusals,
        manifests=applied,
    )


def _unknown_token(_: str, __: int) -> str:
    """Stand for a token that only a server can give: an empty text, shown as not known."""
    return ""


def _node_of(pod: Pod, applied: AppliedManifests) -> tuple[NodeInHand, tuple[str, ...]]:
    nodes = applied.nodes()
    name = pod.spec.node_name
    if name:
        return next((node for node in nodes if node.metadata.name == name), UNKNOWN_NODE), ()
    if len(nodes) == 1:
        said = f"the pod has no node; its limits are told as if it were on {nodes[0].metadata.name}"
        return nodes[0], (said,)
    return UNKNOWN_NODE, ()


def with_tokens(tokens: dict[tuple[str, int], str | RefletError]) -> TokenSource:
    """Answer with tokens that were asked for beforehand, by audience and life in seconds."""
    return functools.partial(_known_token, tokens)


def _known_token(
    tokens: dict[tuple[str, int], str | RefletError], audience: str, seconds: int
) -> str | RefletError:
    return tokens[audience, seconds]
