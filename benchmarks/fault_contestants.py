"""Who takes part in the faults benchmark, and how each is started.

Owns: the line-up, Reflet first, and the environments of its peers.  Must not know what goes wrong
nor how a contestant works.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from benchmarks.fault_work import (
    asyncio_client,
    cloudcoil,
    kopf,
    lightkube,
    official,
    reflet,
)
from benchmarks.go_programs import Environment
from benchmarks.measuring import Child, RunFailed
from benchmarks.mirror_environments import CLIENT_GO, environment
from benchmarks.mirror_peers.launch import PROGRAM

WORK: Final = "benchmarks.fault_work"
LAUNCH: Final = "benchmarks.mirror_peers.launch"

REFLET: Final = "reflet"
OFFICIAL: Final = "kubernetes informer"
GO_INFORMER: Final = "client-go informer"


@dataclass(frozen=True, slots=True)
class Contestant:
    """One way to keep a collection: what ``fault_work`` runs, in the environment of *peer*.

    Who has no *function* is not written in Python.
    """

    peer: str = ""
    function: str = ""


CONTESTANTS: Final[Mapping[str, Contestant]] = {
    REFLET: Contestant(function=reflet.__name__),
    OFFICIAL: Contestant("kubernetes", official.__name__),
    "kubernetes_asyncio watch": Contestant("kubernetes_asyncio", asyncio_client.__name__),
    "lightkube watch, retrying": Contestant("lightkube", lightkube.__name__),
    "kopf event handler": Contestant("kopf", kopf.__name__),
    "cloudcoil informer": Contestant("cloudcoil", cloudcoil.__name__),
    GO_INFORMER: Contestant(CLIENT_GO),
}


def prepared() -> dict[str, Environment]:
    """The environments of all peers."""
    peers = [each.peer for each in CONTESTANTS.values() if each.peer]
    return {peer: environment(peer) for peer in peers}


def started(
    name: str,
    *,
    url: str,
    namespace: str,
    objects: int,
    environments: Mapping[str, Environment],
) -> Child:
    """A contestant that begins to follow; RunFailed when its environment is missing."""
    contestant = CONTESTANTS[name]
    task = {
        "job": "follow",
        "function": contestant.function,
        "kind": "ConfigMap",
        "url": url,
        "namespace": namespace,
        "objects": objects,
        "streaming": True,  # what client-go does when nobody says anything; others are not told
    }
    if not contestant.peer:
        return Child(WORK, task)
    found = environments[contestant.peer]
    if found.missing:
        raise RunFailed(found.missing)
    command = [*found.command, *(("-m", WORK) if contestant.function else ())]
    return Child(LAUNCH, task, environment={PROGRAM: json.dumps(command)})
