"""Who takes part in the recovery benchmark, in which scenes, and how each is started.

Owns: the line-up and the scenes.  Must not know what happens to the server, nor what is counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from benchmarks.go_programs import Environment
from benchmarks.managers_work import Task
from benchmarks.measuring import Child, RunFailed
from benchmarks.mirror_peers.launch import PROGRAM
from benchmarks.recovery_work import MIRRORS
from benchmarks.wire_clients import Target

WORK: Final = "benchmarks.recovery_work"
LAUNCH: Final = "benchmarks.mirror_peers.launch"
NAMESPACE: Final = "recovery"

WATCH: Final = "watch"
AUTO: Final = "auto"
KUBELET: Final = "kubelet"
INFORMERS: Final = "client_go"


@dataclass(frozen=True, slots=True)
class Contestant:
    """One way to follow objects; *peer* does the same in Go, for who is ours."""

    title: str
    strategy: str
    peer: str = ""
    in_go: bool = False


CONTESTANTS: Final[Mapping[str, Contestant]] = {
    WATCH: Contestant("**Reflet** manager, `watch`", WATCH, peer=KUBELET),
    AUTO: Contestant("**Reflet** manager, `auto`", AUTO),
    MIRRORS: Contestant("**Reflet** mirrors", MIRRORS, peer=INFORMERS),
    KUBELET: Contestant("kubelet manager (Go), `Watch`", WATCH, in_go=True),
    INFORMERS: Contestant("client-go informers", "informers", in_go=True),
}

BALANCED: Final = "balanced"
BY_RBAC: Final = "rbac"
HTTP1: Final = "http1"
SCENES: Final[Mapping[str, str]] = {
    BALANCED: "behind a load balancer",
    BY_RBAC: "rights by RBAC",
    HTTP1: "HTTP/1.1",
}
IN_A_SCENE: Final[Mapping[str, tuple[str, ...]]] = {
    BALANCED: (WATCH, MIRRORS, KUBELET, INFORMERS),
    BY_RBAC: (WATCH, MIRRORS, KUBELET, INFORMERS),
    HTTP1: (WATCH, MIRRORS),
}


@dataclass(frozen=True, slots=True)
class Place:
    """One contestant that follows a number of objects, in a scene or in none."""

    name: str
    objects: int
    scene: str = ""

    def __str__(self) -> str:
        where = f", {SCENES[self.scene]}" if self.scene else ""
        return f"{CONTESTANTS[self.name].title.replace('*', '')}, {self.objects:,}{where}"


def started(place: Place, target: Target, agent: str, kubelet: Environment) -> Child:
    """A contestant that begins to follow, known to the server as *agent*."""
    contestant = CONTESTANTS[place.name]
    task = Task(
        job="recover",
        kind="ConfigMap",
        strategy=contestant.strategy,
        url=target.url,
        ca_file=target.ca_file,
        token=target.token,
        namespace=NAMESPACE,
        warm_up_namespace="",
        objects=place.objects,
        warm_up_objects=0,
        patience=0.0,
    )
    message = {**asdict(task), "agent": agent, "http2": place.scene != HTTP1}
    if not contestant.in_go:
        return Child(WORK, message)
    if kubelet.missing:
        raise RunFailed(kubelet.missing)
    return Child(LAUNCH, message, environment={PROGRAM: json.dumps([*kubelet.command])})
