"""Opening a container runtime for the agent: the client, what it left, the relist loop, the chores.

Upstream: pkg/kubelet/kubelet.go, NewMainKubelet, as far as it is about the runtime
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Final

from reflet.cri.cri_client import CriClient
from reflet.cri.cri_runtime import CriRuntime
from reflet.cri.messages.sandboxes import DNSConfig
from reflet.errors import ConfigurationError
from reflet.node.container_runtime import ContainerLauncher
from reflet.node.cri.agents_pods import OwnedPods
from reflet.node.cri.cri_container_runtime import CriContainerRuntime, NodeNetwork
from reflet.node.cri.cri_launch import CriLauncher, LaunchSettings
from reflet.node.cri.garbage import ContainerGarbage, ImageGarbage
from reflet.node.cri.image_pulls import ImagePulls
from reflet.node.cri.log_rotation import LogRotation
from reflet.node.cri.pod_dns import ClusterDns, read_node_dns
from reflet.node.cri.runtime_classes import RuntimeClasses
from reflet.node.cri.runtime_health import RuntimeHealth
from reflet.node.cri.stream_proxy import CriStreams, StreamProxy
from reflet.node.descriptor_budget import budget_alone
from reflet.node.identity.machine import read_machine
from reflet.node.opened_runtime import LaunchParts, OpenedRuntime, RuntimeParts
from reflet.node.pod_folders import PodFolders
from reflet.node.server.log_service import FindPod, LogService
from reflet.node.server.pod_services import PodServices
from reflet.node.server.stream_channels import StreamPlaces
from reflet.pleg.evented import EventedPleg, Pace
from reflet.pleg.relist import THRESHOLD
from reflet.pleg.status_cache import StatusCache

LOGS: Final = "logs"
SECCOMP: Final = "seccomp"
PULLED_IMAGES: Final = "pulled-images.json"


async def open_cri_runtime(undo: AsyncExitStack, parts: RuntimeParts) -> OpenedRuntime:
    """Find the runtime, and what an earlier life of the agent left there; *undo* closes it.

    Raises RpcUnavailable when nobody listens at the endpoint.
    """
    options, clock, chosen = parts.options, parts.clock, parts.options.runtime
    if chosen is None:
        raise ConfigurationError("--runtime cri: there is no endpoint")
    client = await undo.enter_async_context(CriClient(chosen.endpoint))
    images = client
    if chosen.image_endpoint and chosen.image_endpoint != chosen.endpoint:
        images = await undo.enter_async_context(CriClient(chosen.image_endpoint))
    version = await client.runtime.version()
    health = RuntimeHealth(client.runtime, clock=clock)
    await health.look()
    owned = OwnedPods(client.runtime, options.name)
    cluster = ClusterDns(servers=chosen.cluster_dns, domain=chosen.cluster_domain)
    node_dns = await asyncio.to_thread(read_node_dns)

    def dns() -> DNSConfig:
        return node_dns

    runtime = CriContainerRuntime(
        owned,
        CriRuntime(owned),
        parts.directories,
        PodFolders(parts.directories, clock=clock),
        scheme=version.runtime_name,
        health=health,
        network=NodeNetwork(addresses=parts.addresses, dns=dns, cluster=cluster),
        handlers=RuntimeClasses(parts.client),
        logs=options.root / LOGS,
    )
    left = await runtime.load()
    cache = StatusCache()
    evented = parts.pleg_options()
    evented["generic"] = Pace(evented.pop("period"), THRESHOLD)
    pleg = await undo.enter_async_context(EventedPleg(runtime, cache, **evented))
    budget = budget_alone()
    image_garbage = ImageGarbage(images, options.root / PULLED_IMAGES, clock=clock)

    def launcher(given: LaunchParts) -> ContainerLauncher:
        pulls = ImagePulls(
            images.images,
            given.secrets,
            given.events,
            clock=clock,
            on_pulled=image_garbage.pulled,
        )
        runtime.on_removed = pulls.forget
        return CriLauncher(
            client.runtime,
            runtime,
            pulls,
            given.volumes,
            parts.directories,
            settings=LaunchSettings(
                node=options.name,
                domain=cluster.domain,
                memory=read_machine().memory,
                profiles=options.root / SECCOMP,
            ),
            disk=given.disk,
            clock=clock,
        )

    def services(find_pod: FindPod) -> PodServices:
        streams = CriStreams(client.runtime, runtime, find_pod)
        places = StreamPlaces(budget.commands)
        return PodServices(
            LogService(find_pod=find_pod, records=runtime.records, clock=clock, most=budget.logs),
            StreamProxy(streams.exec, places),
            StreamProxy(streams.attach, places),
            StreamProxy(streams.port_forward, places),
        )

    return OpenedRuntime(
        runtime=runtime,
        cache=cache,
        pleg=pleg,
        left=left,
        budget=budget,
        version=f"{version.runtime_name}://{version.runtime_version}",
        launcher=launcher,
        services=services,
        chores=(
            ("runtime health", health.run),
            ("container garbage", ContainerGarbage(owned, clock=clock).run),
            ("image garbage", image_garbage.run),
            ("log rotation", LogRotation(owned, clock=clock).run),
        ),
    )
