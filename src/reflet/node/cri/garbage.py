"""What nobody needs any more: containers that ended before the last, sandboxes, images.

Of each container the life before is kept, for ``logs --previous``; of each pod the newest sandbox.
Images go when their disk is nearly full, those first that were not used for longest, and only
those that this agent has pulled: others on the same runtime look after theirs.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_gc.go, evictContainers and evictSandboxes;
pkg/kubelet/images/image_gc_manager.go, GarbageCollect
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from reflet.cri.cri_client import CriClient
from reflet.cri.messages.containers import Container, ContainerState
from reflet.cri.messages.images import Image, ImageSpec
from reflet.cri.messages.sandboxes import PodSandbox, PodSandboxState
from reflet.errors import RpcError
from reflet.node.cri.agents_pods import OwnedPods
from reflet.node.cri.runtime_labels import CONTAINER_NAME, POD_UID
from reflet.node.shim.container_records import write_private
from reflet.node.shim.log_files import MOST_FILES, rotated
from reflet.runtime.clock import Clock

CONTAINERS_EVERY: Final = 60.0  # seconds
IMAGES_EVERY: Final = 300.0
KEPT_DEAD: Final = 1  # of each container; the kubelet's MaxPerPodContainer
HIGH: Final = 0.85  # of the disk: from here on images are removed
LOW: Final = 0.80  # until this is reached
LEAST_AGE: Final = 120.0  # seconds: what was pulled a moment ago is about to be used

logger = logging.getLogger(__name__)


def dead_containers(containers: Iterable[Container]) -> list[Container]:
    """The containers that ended, but for the newest of each."""
    units: dict[tuple[str, str], list[Container]] = {}
    for each in containers:
        if each.state is not ContainerState.RUNNING:
            unit = (each.labels.get(POD_UID, ""), each.labels.get(CONTAINER_NAME, ""))
            units.setdefault(unit, []).append(each)
    return [
        old
        for unit in units.values()
        for old in sorted(unit, key=lambda each: each.created_at, reverse=True)[KEPT_DEAD:]
    ]


def dead_sandboxes(
    sandboxes: Iterable[PodSandbox], containers: Iterable[Container]
) -> list[PodSandbox]:
    """The sandboxes that are over and empty, but for the newest of each pod."""
    in_use = {each.pod_sandbox_id for each in containers}
    pods: dict[str, list[PodSandbox]] = {}
    for each in sandboxes:
        pods.setdefault(each.metadata.uid if each.metadata else "", []).append(each)
    return [
        old
        for found in pods.values()
        for old in sorted(found, key=lambda each: each.created_at, reverse=True)[1:]
        if old.state is not PodSandboxState.READY and old.id not in in_use
    ]


class ContainerGarbage:
    """Removes what is left of earlier lives while ``run`` runs."""

    def __init__(self, owned: OwnedPods, *, clock: Clock) -> None:
        self._owned = owned
        self._clock = clock

    async def run(self) -> None:
        """Look now and then, until cancelled."""
        while True:
            await self._clock.sleep(CONTAINERS_EVERY)
            try:
                await self.collect()
            except RpcError as error:
                logger.info("what is left of containers is removed later: %s", error)

    async def collect(self) -> None:
        """Remove what nobody needs."""
        containers = await self._owned.list_containers()
        dead = dead_containers(containers)
        for each in dead:
            status = (await self._owned.container_status(each.id)).status
            await self._owned.service.remove_container(each.id)
            if status is not None and status.log_path:
                for number in range(MOST_FILES + 1):
                    rotated(Path(status.log_path), number).unlink(missing_ok=True)
        left = [each for each in containers if each not in dead]
        for sandbox in dead_sandboxes(await self._owned.list_pod_sandbox(), left):
            await self._owned.service.remove_pod_sandbox(sandbox.id)


def unused_images(
    images: Iterable[Image], used: set[str], last_used: dict[str, float], now: float
) -> list[Image]:
    """The images that may go, those first that were not used for longest."""
    free = [
        each
        for each in images
        if not each.pinned
        and each.id in last_used
        and each.id not in used
        and now - last_used[each.id] >= LEAST_AGE
    ]
    return sorted(free, key=lambda each: last_used[each.id])


class ImageGarbage:
    """Removes images while ``run`` runs; *file* remembers which this agent has pulled, and when
    each was last used.
    """

    def __init__(self, client: CriClient, file: Path, *, clock: Clock) -> None:
        self._client = client
        self._file = file
        self._clock = clock
        self._last_used = _read(file)

    def pulled(self, image: str) -> None:
        """This agent has pulled an image, by its id, and is about to use it."""
        self._last_used[image] = self._clock.now().timestamp()
        self._write()

    async def run(self) -> None:
        """Look now and then, until cancelled."""
        while True:
            await self._clock.sleep(IMAGES_EVERY)
            try:
                await self.collect()
            except (RpcError, OSError) as error:
                logger.info("images are removed later: %s", error)

    async def collect(self) -> None:
        """Remove images of this agent until the disk has room again."""
        now = self._clock.now().timestamp()
        images = await self._client.images.list_images()
        containers = await self._client.runtime.list_containers()
        used = {each.image_id or each.image_ref for each in containers}
        used |= {each.image_ref for each in containers}
        there = {each.id for each in images}
        self._last_used = {
            image: now if image in used else at
            for image, at in self._last_used.items()
            if image in there
        }
        to_free = too_much(await self._places())
        for image in unused_images(images, used, self._last_used, now):
            if to_free <= 0:
                break
            await self._client.images.remove_image(ImageSpec(image=image.id))
            logger.info("image %s is removed: its disk is nearly full", image.id)
            del self._last_used[image.id]
            to_free -= image.size
        self._write()

    async def _places(self) -> Sequence[tuple[int, int]]:
        """Size and room of the disks with images, in bytes."""
        told = await self._client.images.image_fs_info()
        places = (each.fs_id.mountpoint for each in told.image_filesystems if each.fs_id)
        found = [os.statvfs(place) for place in places]
        return [(each.f_blocks * each.f_frsize, each.f_bavail * each.f_frsize) for each in found]

    def _write(self) -> None:
        write_private(self._file, json.dumps(self._last_used).encode())


def too_much(disks: Sequence[tuple[int, int]]) -> int:
    """How many bytes are to be freed, so that no disk is nearly full."""
    wanted = 0
    for size, free in disks:
        if size and 1 - free / size >= HIGH:
            wanted = max(wanted, int(size * (1 - LOW)) - free)
    return wanted


def _read(file: Path) -> dict[str, float]:
    try:
        document = json.loads(file.read_bytes())
        return {str(name): float(at) for name, at in document.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}
