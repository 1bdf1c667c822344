"""Follows every kind that the server serves, and the custom kinds that come and go.

For those who look at everything: the garbage collector and the end of namespaces.

Upstream: pkg/controller/garbagecollector/garbagecollector.go, GetDeletableResources and Sync
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reflet.api.resources import CUSTOM_RESOURCE_DEFINITIONS, GROUPED_EVENTS, Resource
from reflet.informer.handlers.changes import Change
from reflet.play.actions import NextActions
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.controller import PlayedController

NOT_STORED: Final = frozenset({"Binding", "ComponentStatus"})
_DISCOVERY: Final = "discovery"

Told = Callable[[Resource, Change[SeenObject]], None]


def is_deletable(resource: Resource) -> bool:
    """Whether the server keeps objects of a resource; Events are shown under two names."""
    return not (
        resource.kind in NOT_STORED
        or resource.kind.endswith("Review")
        or resource.full_name == GROUPED_EVENTS.full_name
    )


class EveryResource:
    """Keeps *resources* equal to what the server serves, and tells of every change in them."""

    def __init__(self, resources: dict[str, Resource], told: list[Told]) -> None:
        self._resources = resources
        self._told = told

    def controller(self) -> PlayedController:
        """Looks again at what is served whenever a definition changes."""
        return PlayedController(
            _DISCOVERY, {CUSTOM_RESOURCE_DEFINITIONS: lambda *_: (_DISCOVERY,)}, self._decide
        )

    async def _decide(self, view: ClusterView, _: str) -> NextActions:
        await self.follow(view)
        return NextActions()

    async def follow(self, view: ClusterView) -> None:
        """Follow what is served now, and leave what no longer is."""
        served: dict[str, Resource] = {}
        for resource in await view.client.resources(refresh=True):
            if is_deletable(resource):
                served.setdefault(resource.full_name, resource)
        for name, resource in served.items():
            if name not in self._resources:
                self._resources[name] = resource
                view.follow(resource, self._teller(resource))
        for name in self._resources.keys() - served.keys():
            await view.leave(self._resources.pop(name))

    def _teller(self, resource: Resource) -> Callable[[Change[SeenObject]], None]:
        def tell(change: Change[SeenObject]) -> None:
            for told in self._told:
                told(resource, change)

        return tell
