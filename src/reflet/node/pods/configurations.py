"""The configurations of this node's pods, by uid: registered, resolved, and listened to.

What one pod gets is ``podconfig``; a pod is registered and unregistered by ``pods.registrar``.
Here a pod also learns its address before the server does: the kubelet takes it from the sandbox.

Upstream: pkg/kubelet/kubelet.go, SyncPod and SyncTerminatedPod, as far as they register pods
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from reflet.api.core.nodes import Node
from reflet.api.core.pods import HostIP, Pod, PodIP
from reflet.api.core.services import Service
from reflet.errors import NotRegistered
from reflet.informer.mirror import Mirror
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.podconfig.pod_configuration import PodConfiguration
from reflet.podconfig.pod_wakeups import PodWakeups, Wake
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.podconfig.service_account_tokens import ServiceAccountTokens, token_keys
from reflet.podconfig.trust_bundle_watch import TrustBundles
from reflet.pods.registrar import PodRegistrar
from reflet.resolution.environment.env_files import MountedVolume
from reflet.runtime.clock import Clock

Mounted = Callable[[Pod], Mapping[str, MountedVolume | None]]


class Configurations:
    """Resolves the pods of a node from what the managers keep.

    *addresses* are those of the node, *pod_addresses* those of the pod of a uid; *mounted* gives
    the volumes in which containers left environment files.  *skip_invalid_names* is the rule of
    Kubernetes 1.19 for keys of whole objects.
    """

    def __init__(
        self,
        config_maps: ConfigMapManager,
        secrets: SecretManager,
        wakeups: PodWakeups,
        *,
        services: Mirror[Service],
        node: Callable[[], Node | None],
        tokens: ServiceAccountTokens,
        bundles: TrustBundles | None = None,
        addresses: Callable[[], tuple[str, ...]],
        pod_addresses: Callable[[str], tuple[str, ...]],
        mounted: Mounted,
        skip_invalid_names: bool = False,
        clock: Clock,
    ) -> None:
        self._config_maps = config_maps
        self._secrets = secrets
        self._registrar = PodRegistrar((config_maps, secrets))
        self._wakeups = wakeups
        self._services = services
        self._node = node
        self._tokens = tokens
        self._bundles = bundles
        self._addresses = addresses
        self._pod_addresses = pod_addresses
        self._mounted = mounted
        self._skip_invalid_names = skip_invalid_names
        self._clock = clock
        self._open: dict[str, PodConfiguration] = {}

    def __len__(self) -> int:
        """How many pods are registered."""
        return len(self._open)

    async def register(self, pod: Pod, wake: Wake) -> None:
        """Keep what the pod refers to, and call *wake* when any of it changes.

        Never waits for the server; a pod that is registered is brought up to date.
        """
        known = self._open.get(pod.metadata.uid)
        if known is not None:
            known.update(self._addressed(pod))
            return
        configuration = PodConfiguration(
            self._addressed(pod),
            self._config_maps,
            self._secrets,
            services=self._services,
            node=self._node,
            tokens=self._tokens,
            bundles=self._bundles,
            volumes=self._mounted,
            skip_invalid_names=self._skip_invalid_names,
            registrar=self._registrar,
            wakeups=self._wakeups,
            wake=wake,
            clock=self._clock,
        )
        self._open[pod.metadata.uid] = await configuration.__aenter__()

    async def unregister(self, pod: Pod) -> None:
        """Keep nothing for the pod any more; harmless when it is not registered."""
        known = self._open.pop(pod.metadata.uid, None)
        if known is not None:
            await known.__aexit__(None, None, None)

    async def resolve(self, pod: Pod) -> ResolvedPod:
        """Compute what the registered pod gets, errors and problems included."""
        known = self._open.get(pod.metadata.uid)
        if known is None:
            raise NotRegistered(pod.metadata.namespace, pod.metadata.name)
        return await known.resolve()

    def refresh_due(self, pod: Pod) -> float | None:
        """In how many seconds a token of the pod should be replaced; None when it has none."""
        return self._tokens.due_in(token_keys(pod))

    async def close(self) -> None:
        """Unregister every pod."""
        for configuration in self._open.values():
            await configuration.__aexit__(None, None, None)
        self._open.clear()

    def _addressed(self, pod: Pod) -> Pod:
        """The pod with the address that it has as soon as it runs."""
        own, host = self._pod_addresses(pod.metadata.uid), self._addresses()
        if not own or pod.status.pod_ip == own[0]:
            return pod
        status = replace(
            pod.status,
            pod_ip=own[0],
            pod_ips=tuple(PodIP(ip=each) for each in own),
            host_ip=next(iter(host), ""),
            host_ips=tuple(HostIP(ip=each) for each in host),
        )
        return replace(pod, status=status)
