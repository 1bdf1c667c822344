"""Resources that only the server knows: looked up when they are first needed.

A custom resource can be named before its definition is installed.  Until it is found its kind,
version and scope are open, and every request says so with NotFound, which a mirror takes as a
reason to try again later.

Upstream: client-go/restmapper/discovery.go, DeferredDiscoveryRESTMapper
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from reflet.api import resources
from reflet.api.resources import Resource
from reflet.errors import ApiError, NotFound, ParseError

ServedResources = Callable[[bool], Awaitable[tuple[Resource, ...]]]
"""What the server serves; True asks it anew."""


class ResourceLookup:
    """*resource*, or, where *served* is given, what *matches* finds in what the server serves.

    ``resource`` is the best that is known: for one that is not found yet, its name.
    """

    def __init__(
        self,
        resource: Resource,
        matches: Callable[[tuple[Resource, ...]], Resource | None] | None = None,
        served: ServedResources | None = None,
    ) -> None:
        self.resource = resource
        self._matches = matches
        self._served = served
        self._is_found = matches is None or served is None
        self._is_outdated = False  # what the client remembers of the server is no help

    async def found(self) -> Resource:
        """The resource; raises NotFound while the server does not have it."""
        if self._is_found or self._served is None or self._matches is None:
            return self.resource
        for refresh in (True,) if self._is_outdated else (False, True):
            known = self._matches(await self._served(refresh))
            if known is not None:
                self.resource = known
                self._is_found, self._is_outdated = True, False
                return known
        raise NotFound(
            f"the server has no {self.resource.full_name}: is its CustomResourceDefinition "
            "installed?",
            code=404,
            reason="NotFound",
            group=self.resource.group,
            kind=self.resource.plural,
        )

    def forget(self, error: ApiError) -> None:
        """Look it up anew if the server does not know it any more, in this version at least.

        An object that is missing says nothing about its resource.
        """
        if self._matches is not None and isinstance(error, NotFound) and not error.name:
            self._is_found, self._is_outdated = False, True


def named(name: str, served: ServedResources) -> ResourceLookup:
    """A resource by its name: built in, or ``widgets.example.com`` and looked up.

    ParseError, with suggestions, for a name without a group that is not built in.
    """
    try:
        return ResourceLookup(resources.find(name))
    except ParseError:
        plural, _, group = name.strip().lower().partition(".")
        if not plural or "." not in group:
            raise
    provisional = Resource(version="", plural=plural, kind="", group=group)

    def matches(known: tuple[Resource, ...]) -> Resource | None:
        try:
            return resources.find(name, known)
        except ParseError:
            return None

    return ResourceLookup(provisional, matches, served)


def of_kind(api_version: str, kind: str, served: ServedResources) -> ResourceLookup:
    """A resource by what its objects say they are: built in, or looked up."""
    known = resources.find_kind(api_version, kind)
    if known is not None:
        return ResourceLookup(known)
    group, _, version = api_version.rpartition("/")
    provisional = Resource(version=version, plural=kind, kind=kind, group=group)
    return ResourceLookup(
        provisional, lambda served: resources.find_kind(api_version, kind, served), served
    )
