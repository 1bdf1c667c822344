"""Where a container's configuration comes from: a server that is watched, or files that are edited.

From a server, only what the container itself needs is read: not the Secrets of other containers,
not those of image pulls.  Reading rights are enough, unless tokens are wanted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Final, Protocol

from msgspec import structs

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.api.meta import KubernetesObject
from reflet.cluster import Cluster
from reflet.errors import DecodeError, Forbidden, RefletError
from reflet.informer.mirror import Mirror
from reflet.insight.custom_workloads import pod_made_by
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.manifests.files import Sources
from reflet.podconfig.gather_files import fingerprint
from reflet.podconfig.pod_configuration import PodConfiguration
from reflet.podconfig.service_account_tokens import ServiceAccountTokens
from reflet.podconfig.trust_bundle_watch import TrustBundles
from reflet.resolution.places import container_named, containers_of
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.templates.service_account_volume import (
    ADDED_VOLUME,
    DEFAULT_ACCOUNT,
    with_token_volume,
)
from reflet.resolution.templates.templates import pod_resource
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import TaskOwner
from reflet.supervisor.container_configuration import (
    ContainerConfiguration,
    configuration_of,
    of_container,
)

INTERVAL: Final = 1.0
"""Seconds between two looks."""


class ConfigurationSource(Protocol):
    """Tells what a container gets, now and whenever the result is another."""

    def configurations(self) -> AsyncIterator[ContainerConfiguration]:
        """Give the configuration as soon as it is known, complete or not, and then each new one.

        A source that loses its server gives nothing until it is back.
        """
        ...


class ConfigurationFiles:
    """A source of configurations that *read* makes of *files*.

    The first reading's errors are the caller's.  Later, files that cannot be read or are no
    manifests are told of, and what was read last stays: most often somebody is not done with
    editing.  Standard input is read once.
    """

    def __init__(
        self,
        files: Sources | Sequence[str],
        read: Callable[[], ContainerConfiguration],
        *,
        say: Callable[[str], None],
        clock: Clock | None = None,
    ) -> None:
        self._files = Sources.of(files)
        self._read = read
        self._say = say
        self._clock = SystemClock() if clock is None else clock

    async def configurations(self) -> AsyncIterator[ContainerConfiguration]:
        """Give what the files say, and again whenever they were edited."""
        seen = fingerprint(self._files)
        yield await asyncio.to_thread(self._read)
        if self._files.reads_standard_input:
            return
        while True:
            await self._clock.sleep(INTERVAL)
            now = await asyncio.to_thread(fingerprint, self._files)
            if now == seen:
                continue
            seen = now
            try:
                configuration = await asyncio.to_thread(self._read)
            except RefletError as error:
                self._say(f"warning: {error}; the process keeps what it has")
                continue
            yield configuration


def files_configuration(
    inputs: PodInputs,
    container: str,
    *,
    files: Sources,
    read_again: Callable[[], PodInputs],
    say: Callable[[str], None],
) -> ConfigurationFiles:
    """Return a source of files that were read once; *read_again* reads them when they changed."""
    first = [inputs]

    def read() -> ContainerConfiguration:
        # Standard input cannot be read twice, and files need not be.
        return configuration_of(first.pop() if first else read_again(), container)

    return ConfigurationFiles(files, read, say=say)


def needed_by(pod: Pod, container: str) -> Pod:
    """The pod with nothing but what one container needs; the others are there and ask for nothing.

    What files belong to, and limits that the container shows of others, stay as they are.
    """
    wanted = container_named(pod, container).container
    mounted = {mount.name for mount in wanted.volume_mounts}
    spec = pod.spec

    def alone(containers: tuple[Container, ...]) -> tuple[Container, ...]:
        return tuple(each if each is wanted else _hollow(each) for each in containers)

    return structs.replace(
        pod,
        spec=structs.replace(
            spec,
            containers=alone(spec.containers),
            init_containers=alone(spec.init_containers),
            ephemeral_containers=tuple(
                each if each is wanted else _hollow(each) for each in spec.ephemeral_containers
            ),
            image_pull_secrets=(),
            service_account_name=spec.service_account_name or DEFAULT_ACCOUNT,
            volumes=tuple(volume for volume in spec.volumes if volume.name in mounted),
        ),
    )


class ClusterConfiguration:
    """A source of configurations.  Made by ``cluster_configuration``."""

    def __init__(
        self,
        container: str,
        configuration: PodConfiguration,
        followed: Mirror[KubernetesObject],
        admit: Callable[[Pod], Pod],
        *,
        clock: Clock | None = None,
    ) -> None:
        self._admit = admit
        self._clock = clock
        self._container = container
        self._configuration = configuration
        self._followed = followed
        self._latest: ContainerConfiguration | None = None
        self._news = asyncio.Event()

    async def configurations(self) -> AsyncIterator[ContainerConfiguration]:
        """Give the configuration now, and again whenever something about it has changed.

        Raises TaskEnded when a mistake of ours keeps it from hearing of changes.
        """
        permanent = PermanentTasks(clock=self._clock, on_end=self._news.set)
        async with TaskOwner("configuration") as tasks:
            permanent.keep(tasks, self._hear_objects, name="objects")
            permanent.keep(tasks, self._hear_target, name="target")
            while True:
                await self._news.wait()
                self._news.clear()
                if any(permanent.problems.values()):
                    await permanent.ended()
                if self._latest is not None:
                    yield self._latest

    async def _hear_objects(self) -> None:
        # Whoever acts on changes waits until it is quiet; files are to follow at once.
        async with aclosing(self._configuration.changes(debounce=0)) as changes:
            async for resolved in changes:
                self._tell(of_container(resolved, self._container))

    async def _hear_target(self) -> None:
        async for change in self._followed.changes():
            if change.type == "DELETED":
                continue  # whatever runs keeps what it has
            try:
                pod = pod_made_by(change.object)
            except DecodeError:
                continue  # a custom resource that somebody broke: what runs keeps what it has
            if pod is None or not self._has_container(pod):
                continue
            needed = needed_by(self._admit(pod), self._container)
            if needed.spec != self._configuration.pod.spec:
                # A command or a mount may be new without any other value.
                self._configuration.update(needed)
                resolved = await self._configuration.resolve()
                self._tell(of_container(resolved, self._container))
            else:
                self._configuration.update(needed)

    def _has_container(self, pod: Pod) -> bool:
        return any(placed.container.name == self._container for placed in containers_of(pod.spec))

    def _tell(self, configuration: ContainerConfiguration) -> None:
        self._latest = configuration
        self._news.set()


@asynccontextmanager
async def cluster_configuration(
    cluster: Cluster,
    inputs: PodInputs,
    container: str,
    *,
    say: Callable[[str], None],
    tokens: bool = False,
    clock: Clock | None = None,
) -> AsyncIterator[ClusterConfiguration]:
    """Open a source for a container of the pod of *inputs*, and follow what was asked for there.

    ConfigMaps and Secrets are read and watched from here on; services and node stay those of
    *inputs*, because a running container never sees them change.  With *tokens*, service account
    tokens are asked for and renewed.
    """
    told: set[str] = set()

    def failed(error: Exception) -> None:
        cause = error.__cause__ or error
        words = f"note: changes of {inputs.kind} {inputs.name} itself are not followed: {cause}"
        if isinstance(cause, Forbidden) and words not in told:
            told.add(words)
            say(words)

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(cluster)
        configuration = PodConfiguration(
            needed_by(inputs.pod, container),
            await stack.enter_async_context(ConfigMapManager(cluster)),
            await stack.enter_async_context(SecretManager(cluster)),
            services=inputs.services,
            node=inputs.node,
            tokens=ServiceAccountTokens(cluster, clock=clock) if tokens else None,
            bundles=await stack.enter_async_context(TrustBundles(cluster, clock=clock)),
            clock=clock,
        )
        await stack.enter_async_context(configuration)
        followed = await stack.enter_async_context(
            cluster.mirror(
                inputs.resource or pod_resource(inputs.kind),
                namespace=inputs.namespace,
                field_selector=f"metadata.name={inputs.name}",
                on_error=failed,
            )
        )
        is_added = any(volume.name == ADDED_VOLUME for volume in inputs.pod.spec.volumes)
        admit = with_token_volume if is_added else _as_it_is
        yield ClusterConfiguration(container, configuration, followed, admit, clock=clock)


def _as_it_is(pod: Pod) -> Pod:
    return pod


def _hollow(container: Container) -> Container:
    return structs.replace(container, env=(), env_from=(), volume_mounts=())
