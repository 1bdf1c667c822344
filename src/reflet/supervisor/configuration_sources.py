"""Where a container's configuration comes from.

Owns: the interface.  Must not know any source.

Manifests that somebody edits while the process runs.

Owns: noticing that a file is another, and reading them all again.  Must not know how files become
a configuration.

A container's configuration from a server, given again whenever the result changes.

Owns: what is asked for on behalf of one container, and following the workload or pod that it is
part of.  What resolves and keeps fresh is ``delivery``.  Must not know who uses the configuration.

Only what the container itself needs is read: not the Secrets of other containers, not those of
image pulls.  Reading rights are enough, unless tokens are wanted.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from msgspec import structs

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.meta import KubernetesObject
from reflet.api.resources import Resource
from reflet.cluster import Cluster
from reflet.errors import Forbidden, RefletError
from reflet.informer.mirror import Mirror
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.podconfig.pod_configuration import PodConfiguration
from reflet.podconfig.service_account_tokens import ServiceAccountTokens
from reflet.podconfig.trust_bundle_watch import TrustBundles
from reflet.resolution.places import container_named, containers_of
from reflet.resolution.resource_fields import NodeInHand
from reflet.resolution.templates import WORKLOADS, pod_of
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import TaskOwner
from reflet.supervisor.container_configuration import ContainerConfiguration, of_container


class ConfigurationSource(Protocol):
    """Tells what a container gets, now and whenever the result is another."""

    def configurations(self) -> AsyncIterator[ContainerConfiguration]:
        """Give the configuration as soon as it is known, complete or not, and then each new one.

        A source that loses its server gives nothing until it is back.
        """
        ...


INTERVAL: Final = 1.0
"""Seconds between two looks."""
STANDARD_INPUT: Final = "-"

Fingerprint = frozenset[tuple[str, int, int, int]]


class ConfigurationFiles:
    """A source of configurations that *read* makes of the files at *paths*.

    The first reading's errors are the caller's.  Later, files that cannot be read or are no
    manifests are told of, and what was read last stays: most often somebody is not done with
    editing.  Standard input is read once.
    """

    def __init__(
        self,
        paths: Sequence[str],
        read: Callable[[], ContainerConfiguration],
        *,
        say: Callable[[str], None],
        clock: Clock | None = None,
    ) -> None:
        self._paths = tuple(paths)
        self._read = read
        self._say = say
        self._clock = SystemClock() if clock is None else clock

    async def configurations(self) -> AsyncIterator[ContainerConfiguration]:
        """Give what the files say, and again whenever they were edited."""
        seen = fingerprint(self._paths)
        yield await asyncio.to_thread(self._read)
        if STANDARD_INPUT in self._paths:
            return
        while True:
            await self._clock.sleep(INTERVAL)
            now = await asyncio.to_thread(fingerprint, self._paths)
            if now == seen:
                continue
            seen = now
            try:
                configuration = await asyncio.to_thread(self._read)
            except RefletError as error:
                self._say(f"warning: {error}; the process keeps what it has")
                continue
            yield configuration


def fingerprint(paths: Sequence[str]) -> Fingerprint:
    """What tells files that were edited from those that were not."""
    return frozenset(mark for path in paths for mark in _marks(Path(path)))


def _marks(path: Path) -> Iterator[tuple[str, int, int, int]]:
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        try:
            found = os.stat(file)  # noqa: PTH116 - the result is what counts
        except FileNotFoundError:
            continue  # an editor replaces it just now
        yield (str(file), found.st_mtime_ns, found.st_size, found.st_ino)


DEFAULT_ACCOUNT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTarget:
    """What is run: the container of a *pod*, which the *resource* called *name* is or makes.

    *services* and *node* are read once: a running container never sees them change.
    """

    resource: Resource
    name: str
    pod: Pod
    container: str
    services: tuple[Service, ...] | RefletError
    node: NodeInHand


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
        target: ClusterTarget,
        configuration: PodConfiguration,
        followed: Mirror[KubernetesObject],
    ) -> None:
        self._container = target.container
        self._configuration = configuration
        self._followed = followed
        self._latest: ContainerConfiguration | None = None
        self._news = asyncio.Event()

    async def configurations(self) -> AsyncIterator[ContainerConfiguration]:
        """Give the configuration now, and again whenever something about it has changed."""
        async with TaskOwner("configuration") as tasks:
            tasks.start(self._hear_objects(), name="objects")
            tasks.start(self._hear_target(), name="target")
            while True:
                await self._news.wait()
                self._news.clear()
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
            found = change.object
            pod = pod_of(found) if isinstance(found, WORKLOADS) else found
            if not isinstance(pod, Pod) or not self._has_container(pod):
                continue
            needed = needed_by(pod, self._container)
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
    target: ClusterTarget,
    *,
    say: Callable[[str], None],
    tokens: bool = False,
    clock: Clock | None = None,
) -> AsyncIterator[ClusterConfiguration]:
    """Open a source; with *tokens*, service account tokens are asked for and renewed."""
    told: set[str] = set()

    def failed(error: Exception) -> None:
        cause = error.__cause__ or error
        kind, name = target.resource.kind, target.name
        words = f"note: changes of {kind} {name} itself are not followed: {cause}"
        if isinstance(cause, Forbidden) and words not in told:
            told.add(words)
            say(words)

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(cluster)
        configuration = PodConfiguration(
            needed_by(target.pod, target.container),
            await stack.enter_async_context(ConfigMapManager(cluster)),
            await stack.enter_async_context(SecretManager(cluster)),
            services=target.services,
            node=target.node,
            tokens=ServiceAccountTokens(cluster, clock=clock) if tokens else None,
            bundles=await stack.enter_async_context(TrustBundles(cluster, clock=clock)),
            clock=clock,
        )
        await stack.enter_async_context(configuration)
        followed = await stack.enter_async_context(
            cluster.mirror(
                target.resource,
                namespace=target.pod.metadata.namespace,
                field_selector=f"metadata.name={target.name}",
                on_error=failed,
            )
        )
        yield ClusterConfiguration(target, configuration, followed)


def _hollow(container: Container) -> Container:
    return structs.replace(container, env=(), env_from=(), volume_mounts=())
