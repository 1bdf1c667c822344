"""Who takes part in the mirror benchmark, in which job, and how each is started.

Owns: the contestants and the line-ups.  Must not know what is measured or how long it takes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from benchmarks.go_programs import Environment
from benchmarks.mirror_environments import CLIENT_GO
from benchmarks.mirror_peers.launch import LAYER, PROGRAM

PEERS: Final = "benchmarks.mirror_peers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """One way to mirror a collection.

    ``module`` is what runs, in the environment of ``peer`` if there is one.  ``tls`` is the wire
    that it gets from the synthetic server: plain HTTP/1.1, or HTTP/2 over TLS.  ``streaming``
    asks for the objects as the beginning of a watch.  ``cache`` is whether it has one of its own;
    else the benchmark keeps the objects in a dict.  Of all updates it gets one in ``share``, so
    that slow ones do not take all day.
    """

    title: str
    module: str = ""
    layer: str = ""
    peer: str = ""
    tls: bool = False
    streaming: bool = False
    protobuf: bool = False
    cache: bool = True
    share: int = 1

    def launch(self, environments: Mapping[str, Environment]) -> tuple[str, dict[str, str]]:
        """The module to start in our own interpreter, and the variables that it needs."""
        if not self.peer:
            return f"{PEERS}.{self.module}", {LAYER: self.layer} if self.layer else {}
        command = [*environments[self.peer].command]
        if self.module:
            command += ["-m", f"{PEERS}.{self.module}"]
        return f"{PEERS}.launch", {PROGRAM: json.dumps(command)}


def _ours(title: str, *, layer: str = "informer", tls: bool, streaming: bool = False) -> Contestant:
    return Contestant(
        title=title,
        module="ours",
        layer=layer,
        tls=tls,
        streaming=streaming,
        cache=layer != "transport",
    )


def _client_go(title: str, *, streaming: bool, protobuf: bool = False, share: int) -> Contestant:
    return Contestant(
        title=f"client-go informer, {title}",
        peer=CLIENT_GO,
        tls=True,
        streaming=streaming,
        protobuf=protobuf,
        share=share,
    )


def _watch_only(title: str, peer: str, module: str, share: int, streaming: bool) -> Contestant:
    return Contestant(
        title=title, peer=peer, module=module, share=share, streaming=streaming, cache=False
    )


BARE: Final = "bare_http1"
BARE_TLS: Final = "bare_http2"
KEEPING: Final = "bare_keep_http1"
KEEPING_TLS: Final = "bare_keep_http2"
OURS: Final = "ours_http1"
OURS_TLS: Final = "ours_http2"
OURS_STREAM: Final = "ours_http2_stream"

CONTESTANTS: Final[Mapping[str, Contestant]] = {
    BARE: Contestant(title="bare loop, HTTP/1.1", module="bare", cache=False),
    BARE_TLS: Contestant(title="bare loop, HTTP/2", module="bare", tls=True, cache=False),
    KEEPING: Contestant(
        title="bare loop that keeps, HTTP/1.1", module="bare", layer="keep", cache=False
    ),
    KEEPING_TLS: Contestant(
        title="bare loop that keeps, HTTP/2", module="bare", layer="keep", tls=True, cache=False
    ),
    "transport_http1": _ours("Reflet's transport alone, HTTP/1.1", layer="transport", tls=False),
    "transport_http2": _ours("Reflet's transport alone, HTTP/2", layer="transport", tls=True),
    OURS: _ours("**Reflet informer**, HTTP/1.1", tls=False),
    OURS_TLS: _ours("**Reflet informer**, HTTP/2", tls=True),
    "ours_uvloop": _ours("**Reflet informer**, HTTP/2, uvloop", layer="informer-uvloop", tls=True),
    "ours_http1_stream": _ours(
        "**Reflet informer**, HTTP/1.1, streaming list", tls=False, streaming=True
    ),
    OURS_STREAM: _ours("**Reflet informer**, HTTP/2, streaming list", tls=True, streaming=True),
    "official": Contestant(
        title="kubernetes informer", peer="kubernetes", module="official", share=10
    ),
    "cloudcoil": Contestant(
        title="cloudcoil informer", peer="cloudcoil", module="cloudcoil_client", share=10
    ),
    "lightkube": _watch_only("lightkube list and watch", "lightkube", "lightkube_client", 5, False),
    "lightkube_watch": _watch_only("lightkube watch", "lightkube", "lightkube_client", 5, True),
    "kubernetes_asyncio": _watch_only(
        "kubernetes_asyncio list and Watch", "kubernetes_asyncio", "asyncio_client", 15, False
    ),
    "kubernetes_asyncio_watch": _watch_only(
        "kubernetes_asyncio Watch", "kubernetes_asyncio", "asyncio_client", 15, True
    ),
    "kopf": _watch_only("kopf event handler", "kopf", "kopf_client", 20, False),
    "go_json": _client_go("JSON", streaming=False, share=4),
    "go_json_stream": _client_go("JSON, streaming list", streaming=True, share=4),
    "go_protobuf": _client_go("protobuf, streaming list", streaming=True, protobuf=True, share=2),
}

EVENTS: Final = (
    BARE,
    BARE_TLS,
    KEEPING,
    KEEPING_TLS,
    "transport_http1",
    "transport_http2",
    OURS,
    OURS_TLS,
    "ours_uvloop",
    "official",
    "cloudcoil",
    "lightkube",
    "kubernetes_asyncio",
    "kopf",
    "go_json",
    "go_protobuf",
)
MEMORY: Final = (
    OURS_TLS,
    OURS_STREAM,
    "official",
    "cloudcoil",
    "lightkube",
    "kubernetes_asyncio",
    "go_json_stream",
)
SYNC: Final = (
    OURS,
    "ours_http1_stream",
    OURS_TLS,
    OURS_STREAM,
    "official",
    "cloudcoil",
    "lightkube",
    "kubernetes_asyncio",
    "kopf",
    "go_json",
    "go_json_stream",
    "go_protobuf",
)
REAL: Final = (
    OURS_STREAM,
    "official",
    "cloudcoil",
    "lightkube_watch",
    "kubernetes_asyncio_watch",
    "kopf",
    "go_json_stream",
    "go_protobuf",
)
