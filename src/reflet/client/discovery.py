"""What a server serves: its groups, versions and resources, and its own version.

In one request for each of ``/api`` and ``/apis`` where the server can (aggregated discovery),
group by group where it cannot.

Upstream: client-go/discovery/discovery_client.go, GroupsAndMaybeResources;
    client-go/discovery/aggregated_discovery.go
"""

from __future__ import annotations

import asyncio
from typing import Final

from reflet.api.codec import decode
from reflet.api.frozen import Frozen
from reflet.api.resources import Resource
from reflet.client.rest import JSON, answer
from reflet.errors import NotAcceptable, NotFound
from reflet.transport.interface import Request, Transport

AGGREGATED: Final = f"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,{JSON}"


class ServerVersion(Frozen, frozen=True, kw_only=True):
    """What the server says it is.

    - *git_version*: version, such as ``v1.36.4``
    - *platform*: system and architecture, such as ``linux/amd64``
    - *go_version*: version of Go that it was built with
    """

    git_version: str = ""
    platform: str = ""
    go_version: str = ""


class _ResponseKind(Frozen, frozen=True, kw_only=True):
    kind: str = ""


class _Served(Frozen, frozen=True, kw_only=True):
    resource: str
    response_kind: _ResponseKind = _ResponseKind()
    scope: str = ""
    singular_resource: str = ""
    short_names: tuple[str, ...] = ()


class _DiscoveredVersion(Frozen, frozen=True, kw_only=True):
    version: str
    resources: tuple[_Served, ...] = ()


class _GroupName(Frozen, frozen=True, kw_only=True):
    name: str = ""


class _DiscoveredGroup(Frozen, frozen=True, kw_only=True):
    metadata: _GroupName = _GroupName()
    versions: tuple[_DiscoveredVersion, ...] = ()


class _Aggregated(Frozen, frozen=True, kw_only=True):
    kind: str = ""
    items: tuple[_DiscoveredGroup, ...] = ()


class _PlainResource(Frozen, frozen=True, kw_only=True):
    name: str
    kind: str = ""
    namespaced: bool = False
    singular_name: str = ""
    short_names: tuple[str, ...] = ()


class _PlainResources(Frozen, frozen=True, kw_only=True):
    resources: tuple[_PlainResource, ...] = ()


class _GroupVersion(Frozen, frozen=True, kw_only=True):
    group_version: str
    version: str


class _PlainGroup(Frozen, frozen=True, kw_only=True):
    name: str
    versions: tuple[_GroupVersion, ...] = ()
    preferred_version: _GroupVersion | None = None


class _PlainGroups(Frozen, frozen=True, kw_only=True):
    groups: tuple[_PlainGroup, ...] = ()


async def server_version(transport: Transport) -> ServerVersion:
    """Ask the server what it is."""
    response = await answer(transport, Request(path="/version"), verb="get")
    return decode(response.body, ServerVersion)


async def served_resources(transport: Transport) -> tuple[Resource, ...]:
    """Everything the server serves, each group's preferred version first, the core group first."""
    core, others = await asyncio.gather(
        _aggregated(transport, "/api"), _aggregated(transport, "/apis")
    )
    if core is None or others is None:
        return await _group_by_group(transport)
    return (*core, *others)


async def _aggregated(transport: Transport, path: str) -> tuple[Resource, ...] | None:
    """The catalogue under *path* in one answer; None from a server that has no such form."""
    request = Request(path=path, headers=(("accept", AGGREGATED),))
    try:
        response = await answer(transport, request, verb="get")
    except NotAcceptable:
        return None
    document = decode(response.body, _Aggregated)
    if document.kind != "APIGroupDiscoveryList":
        return None
    return tuple(
        Resource(
            group=group.metadata.name,
            version=version.version,
            plural=served.resource,
            kind=served.response_kind.kind,
            singular=served.singular_resource,
            short_names=served.short_names,
            namespaced=served.scope == "Namespaced",
        )
        for group in document.items
        for version in group.versions
        for served in version.resources
    )


async def _group_by_group(transport: Transport) -> tuple[Resource, ...]:
    groups = decode((await _get(transport, "/apis")), _PlainGroups).groups
    wanted = [("", "v1", "/api/v1")]
    for group in groups:
        preferred = group.preferred_version
        versions = sorted(group.versions, key=lambda version: version != preferred)
        wanted += [
            (group.name, version.version, f"/apis/{version.group_version}") for version in versions
        ]
    found = await asyncio.gather(*(_of_version(transport, *each) for each in wanted))
    return tuple(resource for resources in found for resource in resources)


async def _of_version(
    transport: Transport, group: str, version: str, path: str
) -> tuple[Resource, ...]:
    try:
        body = await _get(transport, path)
    except NotFound:
        return ()  # a group whose own server is away: the others still count
    return tuple(
        Resource(
            group=group,
            version=version,
            plural=plain.name,
            kind=plain.kind,
            singular=plain.singular_name,
            short_names=plain.short_names,
            namespaced=plain.namespaced,
        )
        for plain in decode(body, _PlainResources).resources
        if "/" not in plain.name
    )


async def _get(transport: Transport, path: str) -> bytes:
    request = Request(path=path, headers=(("accept", JSON),))
    return (await answer(transport, request, verb="get")).body
