"""A board that mirrors fill: what it says of a server that is away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from reflet.errors import ConnectionRefused
from reflet.ui.cluster_board import AWAY, ClusterBoard
from tests.page_scenes import NOON, board


class PaperMirror:
    """A mirror of nothing."""

    def add_handler(self, *_: object, name: str) -> None:
        assert name

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


class PaperCluster:
    """Keeps whom to tell of the connection of each namespace."""

    def __init__(self) -> None:
        self.connections: dict[str, Callable[[Exception | None], None]] = {}

    def mirror(self, _: object, *, namespace: str, **options: Any) -> PaperMirror:
        if "on_connection" in options:
            self.connections[namespace] = options["on_connection"]
        return PaperMirror()


async def test_a_namespace_that_is_away_is_so_until_it_is_back_itself() -> None:
    shown, paper = board(), PaperCluster()
    cluster: Any = paper
    notes: list[tuple[str, ...]] = []
    async with ClusterBoard(cluster, shown, namespaces=("shop", "bank")):
        for namespace, error in (
            ("shop", ConnectionRefused("refused")),
            ("bank", None),
            ("shop", None),
        ):
            paper.connections[namespace](error)
            shown.refresh(NOON)
            notes.append(shown.document(NOON).notes)

    assert notes == [(f"{AWAY}refused",), (f"{AWAY}refused",), ()]
