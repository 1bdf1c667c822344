"""What came from the server and nobody has taken yet: the newest state of each object.

Pure.  However far behind the taker is, an object waits here once.  A version that was taken is not
given again: a new list, after a break or an expired version, changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from reflet.sidecar.file_owners import Owner
from reflet.sidecar.selected_objects import SelectedObjects
from reflet.sidecar.targets import SidecarObject
from reflet.store.deltas import Changed, Delta, Replaced, Resynced


class ObjectInbox:
    """The news of every stream."""

    def __init__(self, streams: Iterable[SelectedObjects]) -> None:
        self._streams = tuple(streams)
        self._versions: list[dict[Owner, str]] = [{} for _ in self._streams]
        self._news: dict[Owner, SidecarObject | None] = {}

    def __len__(self) -> int:
        return len(self._news)

    def owner(self, rank: int, found: SidecarObject) -> Owner:
        """Who an object is in the table."""
        meta = found.metadata
        return Owner(rank, meta.namespace, meta.name, self._streams[rank].kind)

    def remember(self, kind: str, namespace: str, name: str) -> Owner | None:
        """An object that was followed in an earlier life; None when it is not followed now."""
        for rank, stream in enumerate(self._streams):
            if (
                stream.kind == kind
                and stream.namespace in {None, namespace}
                and stream.name in {"", name}
            ):
                owner = Owner(rank, namespace, name, stream.kind)
                self._versions[rank][owner] = ""
                return owner
        return None

    def apply(self, rank: int, delta: Delta[SidecarObject]) -> None:
        """Take what a stream brings."""
        match delta:
            case Replaced(items=items):
                listed = {self.owner(rank, each): each for each in items}
                for owner in self._versions[rank].keys() - listed.keys():
                    self._gone(owner)
                for owner, found in listed.items():
                    self._came(owner, found)
            case Changed(events=events):
                for event in events:
                    if event.type == "BOOKMARK":
                        continue
                    owner = self.owner(rank, event.object)
                    if event.type == "DELETED":
                        self._gone(owner)
                    else:
                        self._came(owner, event.object)
            case Resynced():
                pass
            case _:
                assert_never(delta)

    def take(self) -> Mapping[Owner, SidecarObject | None]:
        """Everything that is new; None for what is gone."""
        news, self._news = self._news, {}
        return news

    def known(self, rank: int) -> Iterable[Owner]:
        """The objects of one stream."""
        return tuple(self._versions[rank])

    def _came(self, owner: Owner, found: SidecarObject) -> None:
        version = found.metadata.resource_version
        versions = self._versions[owner.rank]
        if not version or versions.get(owner) != version:
            versions[owner] = version
            self._news[owner] = found

    def _gone(self, owner: Owner) -> None:
        if self._versions[owner.rank].pop(owner, None) is not None:
            self._news[owner] = None
