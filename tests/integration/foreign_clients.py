"""Other people's clients, made from a kubeconfig, and ours on top of each.

Owns: how each client is made and closed.  Must not know what is asked of it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import MappingProxyType
from typing import Any, Final

from reflet.adapters import asyncio_client, lightkube_client, official
from reflet.cluster import MirroringClient

Kubeconfig = dict[str, Any]


def kubeconfig(server: str, *, token: str = "a-token") -> Kubeconfig:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "one", "cluster": {"server": server}}],
        "users": [{"name": "one", "user": {"token": token}}],
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
        "current-context": "one",
    }


@asynccontextmanager
async def on_official(config: Kubeconfig) -> AsyncIterator[MirroringClient]:
    import kubernetes  # noqa: PLC0415 - takes a second

    new_client: Any = kubernetes.config.new_client_from_config_dict  # it has no types
    with new_client(config) as api_client:
        yield official.client(api_client)
        close_connections(api_client)


def close_connections(api_client: Any) -> None:
    """Let go of the connections of the official client, which leaves that to the garbage collector.

    A traceback in a log keeps them alive.
    """
    pools = api_client.rest_client.pool_manager.pools
    for key in pools.keys():  # noqa: SIM118 - it cannot be iterated
        pools[key].close()


@asynccontextmanager
async def on_kubernetes_asyncio(config: Kubeconfig) -> AsyncIterator[MirroringClient]:
    import kubernetes_asyncio  # noqa: PLC0415 - takes a second

    configuration = kubernetes_asyncio.client.Configuration()
    await kubernetes_asyncio.config.load_kube_config_from_dict(
        config, client_configuration=configuration
    )
    async with kubernetes_asyncio.client.ApiClient(configuration) as api_client:
        yield asyncio_client.client(api_client)


@asynccontextmanager
async def on_lightkube(config: Kubeconfig) -> AsyncIterator[MirroringClient]:
    import lightkube  # noqa: PLC0415 - takes long

    with lightkube.Client(lightkube.KubeConfig.from_dict(config)) as client:
        yield lightkube_client.client(client)


@asynccontextmanager
async def on_lightkube_async(config: Kubeconfig) -> AsyncIterator[MirroringClient]:
    import lightkube  # noqa: PLC0415 - takes long

    async with lightkube.AsyncClient(lightkube.KubeConfig.from_dict(config)) as client:
        yield lightkube_client.client(client)


Adapter = Callable[[Kubeconfig], AbstractAsyncContextManager[MirroringClient]]

ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType(
    {
        "official": on_official,
        "kubernetes_asyncio": on_kubernetes_asyncio,
        "lightkube": on_lightkube,
        "lightkube async": on_lightkube_async,
    }
)
