"""What is said of a pod or workload that a server does not have: where it was looked for, and what
is there instead.

At most two requests more, after the answer that it is not there; what may not be asked is not said.
"""

from __future__ import annotations

from typing import Final

from reflet.api.options import ListOptions
from reflet.api.resources import NAMESPACES, Resource
from reflet.client.client import Client
from reflet.errors import ConfigurationError, NotFound, RefletError
from reflet.insight.fixes import listed, near_miss
from reflet.resolution.templates.templates import parse_target, pod_resource

MOST_ASKED_FOR: Final = 500  # names; who has more can find a near one elsewhere


async def missing_target(cluster: Client, target: str, *, bare: bool = False) -> ConfigurationError:
    """Return the error to raise for a *target* of ``pod_inputs`` that is not there.

    *bare* says that its type was not typed: a lone word that names a type was perhaps meant as one.
    """
    typed, name = parse_target(target)
    resource = await _resource(cluster, typed)
    words = f"there is no {resource.kind.lower()}/{name} in namespace {cluster.namespace}"
    meant = _as_type(name) if bare else None
    if meant is not None:
        words += f": {name} is a type, so name one of them, as in {name}/NAME"
        resource = meant
    try:
        there = await _names(cluster, resource)
    except NotFound:
        return ConfigurationError(f"the server has no {resource.full_name}")
    except RefletError:
        there = None
    if there:
        close = None if meant is not None else near_miss(name, there)
        if close is not None:
            return ConfigurationError(f"{words}; did you mean {resource.kind.lower()}/{close}?")
        return ConfigurationError(
            f"{words}; there {'is' if len(there) == 1 else 'are'} "
            f"{listed(f'{resource.kind.lower()}/{each}' for each in there)}"
        )
    if await has_no_namespace(cluster):
        return ConfigurationError(f"{words}: that namespace does not exist")
    return ConfigurationError(
        words if there is None else f"{words}, which has no {resource.plural}"
    )


async def _resource(cluster: Client, typed: str) -> Resource:
    """Return the resource of a type, custom ones included: the server was asked for it before."""
    try:
        return pod_resource(typed)
    except ConfigurationError:
        return await cluster.find(typed)


def _as_type(word: str) -> Resource | None:
    try:
        return pod_resource(word)
    except ConfigurationError:
        return None


async def _names(cluster: Client, resource: Resource) -> list[str]:
    page = await cluster.resource(resource).page(ListOptions(limit=MOST_ASKED_FOR))
    return sorted(item.metadata.name for item in page.items)


async def has_no_namespace(cluster: Client) -> bool:
    """Tell whether the connection's namespace does not exist; no, when that may not be asked."""
    try:
        await cluster.resource(NAMESPACES).get(cluster.namespace)
    except NotFound:
        return True
    except RefletError:
        return False
    return False
