"""The ways to a server that lead through fault proxies, and what is written on it.

Owns: settings for each way, and the objects of the chaos.  Must not know what goes wrong.
"""

from __future__ import annotations

import base64
import dataclasses
import random
import ssl
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Final

from reflet.api.resources import DEPLOYMENTS, LEASES, NODES, PODS
from reflet.transport.auth.certificates import Pem
from reflet.transport.auth.credentials import StaticToken
from reflet.transport.config.settings import ConnectionSettings
from tests.canaries import canary
from tests.faults.inhabitants import SECRETS
from tests.faults.operator_inhabitant import WEBSITES
from tests.faults.proxy import LOOPBACK, FaultProxy, SpokenTls
from tests.mirror_scenes import COLOUR_CHOICES, CONFIG_MAPS, WIDGETS
from tests.unit.transport.scripted_certificates import TRUSTED, authority_pem, server_context
from tests.witnesses import State

KINDS: Final = {each.full_name: each for each in (CONFIG_MAPS, SECRETS, WIDGETS)}
"""What is written by the chaos itself."""

WRITTEN_BY_OTHERS: Final = (PODS, NODES, LEASES, WEBSITES, DEPLOYMENTS)
"""What inhabitants write, and are asked about."""

Road = tuple[FaultProxy, ConnectionSettings]


def document_of(resource: str, namespace: str, name: str, number: int) -> dict[str, Any]:
    """An object whose content is *number*, and whose colours follow from it."""
    kind = KINDS[resource]
    text = str(number)
    # Twice, so that whoever reads half of an object is found out.
    content: dict[str, Any] = {"data": {"number": text, "copy": text}}
    if kind is SECRETS:
        secret = base64.b64encode(f"{canary('chaos')}-{number}".encode()).decode()
        content = {"data": {"number": secret, "copy": secret}, "type": "Opaque"}
    elif kind is WIDGETS:
        content = {"spec": {"number": text}}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"colours": COLOUR_CHOICES[number % len(COLOUR_CHOICES)]},
        },
        **content,
    }


def whole(document: Mapping[str, Any]) -> State:
    """The state of an object of which everything is asked."""
    return dataclasses.replace(State.of_document(document), content=document)


async def clear_road(stack: AsyncExitStack, port: int, *, seed: int) -> Road:
    """To a server that speaks HTTP/1.1 in the clear, which the proxy understands."""
    proxy = FaultProxy(LOOPBACK, port, chance=random.Random(f"{seed} clear"), http=True)
    await stack.enter_async_context(proxy)
    return proxy, ConnectionSettings(server=f"http://{LOOPBACK}:{proxy.port}", qps=0)


async def encrypted_road(
    stack: AsyncExitStack, port: int, *, seed: int, authority: bytes, token: str
) -> Road:
    """To a server that speaks TLS, of which the proxy sees nothing but records."""
    proxy = FaultProxy(LOOPBACK, port, chance=random.Random(f"{seed} encrypted"))
    await stack.enter_async_context(proxy)
    return proxy, _encrypted(proxy, authority, token)


async def opened_road(
    stack: AsyncExitStack, port: int, *, seed: int, authority: bytes, token: str, protocol: str
) -> Road:
    """To a server that speaks TLS, which the proxy speaks too: it can say farewell properly."""
    trusting = ssl.create_default_context(cadata=authority.decode())
    trusting.set_alpn_protocols([protocol])
    proxy = FaultProxy(
        LOOPBACK,
        port,
        chance=random.Random(f"{seed} opened"),
        http=protocol == "http/1.1",
        tls=SpokenTls(server_context(protocol), trusting),
    )
    await stack.enter_async_context(proxy)
    return proxy, _encrypted(proxy, authority_pem(TRUSTED).encode(), token)


def _encrypted(proxy: FaultProxy, authority: bytes, token: str) -> ConnectionSettings:
    return ConnectionSettings(
        server=f"https://{LOOPBACK}:{proxy.port}",
        qps=0,
        credentials=StaticToken(token),
        certificate_authority=Pem("the authority of the test", data=authority),
    )
