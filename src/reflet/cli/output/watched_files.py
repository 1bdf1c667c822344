"""``reflet files --watch``: the files of a pod's volumes, kept fresh until somebody has enough.

Owns: what is watched, and what is said about each change.  Must not know how contents are
resolved again, nor how files reach the disk.

Before the first writing everything must be right, as without ``--watch``; afterwards what can
no longer be resolved is said, and what was written stays.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from msgspec import structs

from reflet.api.core.pods import Pod, PodSpec
from reflet.cli.commands.files import needs_of_volumes, tell_refused, write_volumes
from reflet.cli.output.output import visible
from reflet.cli.output.problem_output import tell, tell_surroundings
from reflet.cli.pod_gathering import Needs, PodInHand, nothing
from reflet.cli.pod_volumes import resolve_volumes
from reflet.errors import RefletError
from reflet.informer.handlers.changes import Change
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.manifests.files import STANDARD_INPUT, SUFFIXES
from reflet.podconfig.pod_configuration import PodConfiguration
from reflet.podconfig.resolved_pod import ResolvedPod, difference
from reflet.podconfig.service_account_tokens import ServiceAccountTokens
from reflet.podconfig.trust_bundle_watch import TrustBundles
from reflet.resolution.file_contents import VolumeContents
from reflet.resolution.templates import WORKLOADS, pod_of, pod_resource
from reflet.resolution.volume_contents import configuration_volumes

if TYPE_CHECKING:
    from reflet.cli.options.pod_options import PodChoice
    from reflet.cluster import Cluster
    from reflet.transport.config.settings import ConnectionSettings

LOOK_EVERY: Final = 1.0  # seconds between two looks at manifests
PATIENCE: Final = 30.0  # seconds that the first answer about an object may take


def watch_files(choice: PodChoice, names: Sequence[str], folder: Path) -> int:
    """Write the volumes and keep them fresh; the answer is the exit code of not beginning."""
    if choice.files:
        return watch_manifests(choice, names, folder)
    hand = choice.gather(Needs(references=nothing, services=False))
    resolve_volumes(hand, names)  # refuses names that there are not
    tell_surroundings(hand)
    # The same things are said on stderr in this command's own words.
    logging.getLogger("reflet").addHandler(logging.NullHandler())
    return asyncio.run(_watch_cluster(choice.connection(), hand, names, folder))


class Freshness:
    """Writes results and says what is new in each."""

    def __init__(self, hand: PodInHand, folder: Path) -> None:
        self._hand = hand
        self._folder = folder
        self._last: ResolvedPod | None = None

    def deliver(self, pod: Pod, volumes: Sequence[VolumeContents]) -> bool:
        """Write what can be written; False when nothing was ever written and now is refused."""
        refused = tell_refused(self._hand, volumes)
        if refused and self._last is None:
            return False
        good = [contents for contents in volumes if contents.volume not in refused]
        try:
            write_volumes(self._folder, good)
        except RefletError as error:
            if self._last is None:
                raise
            tell("error", str(error))
        contents: Mapping[str, VolumeContents] = {each.volume: each for each in volumes}
        resolved = ResolvedPod(pod=pod, environments={}, volumes=contents)
        for line in difference(self._last, resolved).lines():
            click.echo(visible(line))
        self._last = resolved
        return True


# From a cluster


async def _watch_cluster(
    settings: ConnectionSettings, hand: PodInHand, names: Sequence[str], folder: Path
) -> int:
    from reflet.cluster import Cluster  # noqa: PLC0415 - not needed for files

    async with AsyncExitStack() as opened:
        cluster = await opened.enter_async_context(Cluster(settings))
        managers = (
            await opened.enter_async_context(ConfigMapManager(cluster, sync_timeout=PATIENCE)),
            await opened.enter_async_context(SecretManager(cluster, sync_timeout=PATIENCE)),
        )
        configuration = await opened.enter_async_context(
            PodConfiguration(
                volumes_only(hand.pod, names),
                *managers,
                services=(),
                node=hand.node,
                tokens=ServiceAccountTokens(cluster),
                bundles=await opened.enter_async_context(TrustBundles(cluster)),
            )
        )
        await opened.enter_async_context(_following(cluster, hand, names, configuration))
        freshness = Freshness(hand, folder)
        async with aclosing(configuration.changes()) as changes:
            async for resolved in changes:
                volumes = tuple(resolved.volumes.values())
                if not await asyncio.to_thread(freshness.deliver, resolved.pod, volumes):
                    return 1
    return 0


def _following(
    cluster: Cluster, hand: PodInHand, names: Sequence[str], configuration: PodConfiguration
) -> Any:
    """Return a mirror of the one object that was asked for, which tells what becomes of it."""

    def changed(change: Change[Any]) -> None:
        found = change.object
        if change.type == "DELETED":
            tell("warning", f"{hand.target} is gone; its files stay as they are")
        elif isinstance(found, (Pod, *WORKLOADS)):
            pod = found if isinstance(found, Pod) else pod_of(found)
            configuration.update(volumes_only(pod, names))

    said: set[str] = set()

    def failed(error: Exception) -> None:
        text = f"{hand.target} cannot be watched: {error}; trying again"
        if text not in said:
            said.add(text)
            tell("warning", text)

    mirror = cluster.mirror(
        pod_resource(hand.kind),
        namespace=hand.pod.metadata.namespace,
        field_selector=f"metadata.name={hand.name}",
        on_error=failed,
    )
    mirror.add_handler(changed, name=f"files of {hand.target}")
    return mirror


def volumes_only(pod: Pod, names: Sequence[str]) -> Pod:
    """Return the pod with nothing but the volumes that are meant, so that only they are read."""
    chosen = names or configuration_volumes(pod)
    spec = pod.spec
    needed = PodSpec(
        volumes=tuple(volume for volume in spec.volumes if volume.name in chosen),
        # What downward files show of containers, and who owns the files.
        containers=tuple(structs.replace(each, env=(), env_from=()) for each in spec.containers),
        init_containers=tuple(
            structs.replace(each, env=(), env_from=()) for each in spec.init_containers
        ),
        security_context=spec.security_context,
        resources=spec.resources,
        service_account_name=spec.service_account_name or "default",
        node_name=spec.node_name,
        enable_service_links=False,
    )
    return structs.replace(pod, spec=needed)


# From files


def watch_manifests(
    choice: PodChoice,
    names: Sequence[str],
    folder: Path,
    *,
    pause: Callable[[float], None] = time.sleep,
) -> int:
    """Write the volumes of a pod of the files, again whenever a file has changed."""
    if STANDARD_INPUT in choice.files:
        raise click.UsageError("standard input does not change: leave out --watch, or -f -")
    freshness: Freshness | None = None
    seen: object = None
    while True:
        now = _signature(choice.files)
        if now != seen:
            seen = now
            try:
                hand = choice.gather(needs_of_volumes(names, tokens=False))
                volumes = resolve_volumes(hand, names)
            except RefletError as error:
                if freshness is None:
                    raise
                tell("error", str(error))
            else:
                if freshness is None:
                    tell_surroundings(hand)
                    freshness = Freshness(hand, folder)
                if not freshness.deliver(hand.pod, volumes):
                    return 1
        pause(LOOK_EVERY)


def _signature(paths: Sequence[str]) -> object:
    """Return something that is another when a file was written, came or went."""
    found: list[tuple[str, int, int]] = []
    for path in map(Path, paths):
        files = [path]
        if path.is_dir():
            files = sorted(each for each in path.rglob("*") if each.suffix in SUFFIXES)
        for file in files:
            try:
                facts = file.stat()
            except OSError:
                continue
            found.append((str(file), facts.st_mtime_ns, facts.st_size))
    return found
