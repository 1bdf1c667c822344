"""Turning over the logs of containers, which a runtime writes and never shortens.

Upstream: pkg/kubelet/logs/container_log_manager.go, containerLogManager
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Final

from reflet.cri.messages.containers import (
    ContainerFilter,
    ContainerState,
    ContainerStateValue,
)
from reflet.errors import RpcError, RpcNotFound
from reflet.node.cri.agents_pods import OwnedPods
from reflet.node.shim.log_files import LARGEST_FILE, MOST_FILES, rotated
from reflet.runtime.clock import Clock

LOOK_EVERY: Final = 10.0  # seconds; the kubelet's containerLogMonitorInterval
RUNNING: Final = ContainerFilter(state=ContainerStateValue(state=ContainerState.RUNNING))

logger = logging.getLogger(__name__)


class LogRotation:
    """Turns over logs that are *largest* bytes long while ``run`` runs; *most* files are kept."""

    def __init__(
        self,
        owned: OwnedPods,
        *,
        clock: Clock,
        largest: int = LARGEST_FILE,
        most: int = MOST_FILES,
    ) -> None:
        self._owned = owned
        self._clock = clock
        self._largest = largest
        self._most = most

    async def run(self) -> None:
        """Look now and then, until cancelled."""
        while True:
            await self._clock.sleep(LOOK_EVERY)
            try:
                await self.rotate()
            except (RpcError, OSError) as error:
                logger.warning("logs are not turned over: %s", error)

    async def rotate(self) -> None:
        """Turn over every log that is long enough."""
        for container in await self._owned.list_containers(RUNNING):
            try:
                await self._rotate_one(container.id)
            except RpcNotFound:
                continue  # it was removed meanwhile

    async def _rotate_one(self, container: str) -> None:
        status = (await self._owned.container_status(container)).status
        if status is None or not status.log_path:
            return
        if await asyncio.to_thread(self._turned_over, Path(status.log_path)):
            await self._owned.service.reopen_container_log(container)

    def _turned_over(self, path: Path) -> bool:
        """Whether the runtime has to open a new file: the log was long, or is gone."""
        if path.exists() and path.stat().st_size < self._largest:
            return False
        for number in range(self._most - 1, 0, -1):
            older = rotated(path, number - 1)
            if older.exists():
                older.replace(rotated(path, number))
        return True
