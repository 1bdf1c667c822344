"""A board that a server fills, for the tests of the page on both servers."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from reflet.cluster import Cluster
from reflet.insight.page.page_document import PageDocument
from reflet.ui.board import Board
from reflet.ui.cluster_board import ClusterBoard
from tests.patience import within

PATIENCE: Final = 30.0


class BoardScene:
    """A board that a server fills, and the looks that are due at it."""

    def __init__(self, cluster: Cluster, namespace: str = "default") -> None:
        self.board = Board("test", "live", salt=secrets.token_bytes(), began=datetime.now(UTC))
        self.changed = asyncio.Event()
        self.filling = ClusterBoard(
            cluster, self.board, namespaces=(namespace,), on_change=self.changed.set
        )

    async def document(self, wanted: Callable[[PageDocument], object]) -> PageDocument:
        """The document, once it is as *wanted*."""
        async with within(PATIENCE):
            while True:
                self.changed.clear()
                self.board.refresh(datetime.now(UTC))
                found = self.board.document(datetime.now(UTC))
                if wanted(found):
                    return found
                await self.changed.wait()


def states(document: PageDocument) -> dict[str, str]:
    """How current each thing is that arrives anywhere."""
    return {
        each.name: each.to[0].state
        for workload in document.workloads.values()
        for each in workload.arrivals
    }
