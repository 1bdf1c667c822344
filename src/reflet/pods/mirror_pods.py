"""Mirror pods: what the API server shows of static ones.

For programs that run static pods beside a cluster.  The agent has none: it takes its pods from
the API server or from a folder, and in the second case no server is there to show them.

Upstream: pkg/kubelet/pod/mirror_client.go, basicMirrorClient
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec
from msgspec.structs import replace

from reflet.api.codec import encode
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.meta import OwnerReference
from reflet.api.options import CreateOptions, DeleteOptions, GetOptions
from reflet.errors import AlreadyExists, ConfigurationError, Conflict, NotFound
from reflet.pods.pod_manager import HASH_ANNOTATION, MIRROR_ANNOTATION

_AT_ONCE: Final = 0  # seconds; a mirror has nothing to shut down


class PodWriter(Protocol):
    """The pods of one namespace, to be written; ``cluster.resource(Pod, namespace=…)`` is one."""

    async def get(self, name: str, options: GetOptions, /) -> Pod:
        """The pod called *name*."""
        ...

    async def create(self, body: Mapping[str, Any], options: CreateOptions, /) -> Pod:
        """Make a pod."""
        ...

    async def delete(self, name: str, options: DeleteOptions, /) -> object:
        """Delete a pod."""
        ...


def mirror_pod(pod: Pod, node: Node) -> Pod:
    """The mirror of a static pod on a node.

    ConfigurationError when the node has no uid: it has not been read from the server yet.

    - *node*: the node that runs the pod
    """
    if not node.metadata.uid:
        raise ConfigurationError(f"UID unset for node {node.metadata.name}")
    content = pod.metadata.annotations.get(HASH_ANNOTATION, "")
    owner = OwnerReference(
        api_version="v1",
        kind="Node",
        name=node.metadata.name,
        uid=node.metadata.uid,
        controller=True,
    )
    metadata = replace(
        pod.metadata,
        annotations={**pod.metadata.annotations, MIRROR_ANNOTATION: content},
        owner_references=(owner,),
    )
    return replace(pod, metadata=metadata)


async def create_mirror(pods: PodWriter, pod: Pod, node: Node) -> None:
    """Show a static pod; one that is shown as it is already is well.

    AlreadyExists when a pod of that name shows something else.

    - *pods*: the verbs for pods in the pod's namespace
    - *node*: the node that runs the pod
    """
    mirror = mirror_pod(pod, node)
    try:
        await pods.create(msgspec.json.decode(encode(mirror)), CreateOptions())
    except AlreadyExists:
        there = await pods.get(pod.metadata.name, GetOptions())
        shown = there.metadata.annotations.get(MIRROR_ANNOTATION)
        if shown != mirror.metadata.annotations[MIRROR_ANNOTATION]:
            raise


async def delete_mirror(pods: PodWriter, mirror: Pod) -> bool:
    """Delete a mirror and no other pod of its name; whether there was one.

    - *pods*: the verbs for pods in the pod's namespace
    - *mirror*: the mirror to delete
    """
    options = DeleteOptions(grace_period_seconds=_AT_ONCE, uid=mirror.metadata.uid or None)
    try:
        await pods.delete(mirror.metadata.name, options)
    except (NotFound, Conflict):
        return False
    return True
