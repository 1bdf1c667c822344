"""Who takes part in the idle benchmark, at which job, and how each is started.

Owns: the line-ups, and those who cannot take part, with the reason.  Must not know what is
counted or for how long.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol

from benchmarks.go_programs import Environment, go_program
from benchmarks.managers_tables import KUBELET
from benchmarks.managers_work import Task as ManagerTask
from benchmarks.measuring import Child, RunFailed
from benchmarks.mirror_contestants import CONTESTANTS, OURS, OURS_TLS, PEERS, Contestant
from benchmarks.mirror_environments import CLIENT_GO, environment
from benchmarks.mirror_peers.launch import PROGRAM
from benchmarks.mirror_work import Task as MirrorTask
from benchmarks.wire_clients import Target

START_TIMEOUT: Final = 60.0  # seconds until everything is held
ANSWER_TIMEOUT: Final = 10.0  # seconds to say what one has used of the processor
LAUNCH: Final = f"{PEERS}.launch"
MIRROR_WORK: Final = "benchmarks.idle_work"
MANAGER_WORK: Final = "benchmarks.idle_managers"

# How managers are used: every object by so many pods, and each pod looked at once in a period.
# A copy in the cache is too old when its pod is looked at again, as in the kubelet, which has 60 s
# for the one and 60 s to 90 s for the other.
USERS: Final = 3
SHARE_OF_THE_PERIOD: Final = 5 / 6


class Idler(Protocol):
    """Somebody who does nothing."""

    def ask(self) -> None:
        """Ask for ``cpu_seconds``, which is then read; who is gone is noticed there."""
        ...

    def cpu_seconds(self) -> float:
        """What was used of the processor so far; RunFailed when nobody is there any more."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class ChildIdler:
    """A child that has said that everything is held."""

    def __init__(
        self, module: str, task: Mapping[str, Any], *, environment: Mapping[str, str] | None = None
    ) -> None:
        self._child = Child(module, task, environment=environment)
        try:
            self._child.hear(START_TIMEOUT)
        except RunFailed:
            self.close()
            raise

    def ask(self) -> None:
        """Ask for ``cpu_seconds``."""
        self._child.say({})

    def cpu_seconds(self) -> float:
        """What was used of the processor so far."""
        return float(self._child.hear(ANSWER_TIMEOUT)["cpu_seconds"])

    def close(self) -> None:
        """Kill it."""
        self._child.__exit__(None, None, None)


# Mirrors

MIRRORS: Final = (
    OURS_TLS,
    OURS,
    "official",
    "cloudcoil",
    "lightkube",
    "kubernetes_asyncio",
    "kopf",
    "go_json",
    "go_protobuf",
)


def mirror(
    name: str, target: Target, namespace: str, objects: int, environments: Mapping[str, Environment]
) -> ChildIdler:
    """Start a mirror; return when it holds all objects."""
    contestant = CONTESTANTS[name]
    task = MirrorTask(
        contestant=name,
        job="idle",
        url=target.url,
        ca_file=target.ca_file,
        token=target.token,
        namespace=namespace,
        warm_up_namespace="",
        objects=objects,
        streaming=contestant.streaming,
        protobuf=contestant.protobuf,
        patience=START_TIMEOUT,
    )
    if contestant.peer and environments[contestant.peer].missing:
        raise RunFailed(environments[contestant.peer].missing)
    module, variables = _launch(contestant, environments)
    return ChildIdler(module, {**asdict(task), **_python_part(contestant)}, environment=variables)


def _launch(
    contestant: Contestant, environments: Mapping[str, Environment]
) -> tuple[str, dict[str, str]]:
    if not contestant.peer:
        return MIRROR_WORK, {}
    command = [*environments[contestant.peer].command]
    if contestant.module:
        command += ["-m", MIRROR_WORK]
    return LAUNCH, {PROGRAM: json.dumps(command)}


def _python_part(contestant: Contestant) -> dict[str, Any]:
    """What ``idle_work`` wants to know besides the task."""
    return {
        "module": f"{PEERS}.{contestant.module}",
        "function": "mirrored" if contestant.peer else "informer",
        "http2": contestant.peer != "" or contestant.tls,
    }


# Managers


@dataclass(frozen=True, slots=True)
class Manager:
    """A manager of ConfigMaps: Reflet's, or the kubelet's, by one of its strategies."""

    title: str
    strategy: str
    in_go: bool = False


MANAGERS: Final[Mapping[str, Manager]] = {
    "watch": Manager("**Reflet**, `watch`", "watch"),
    "auto": Manager("**Reflet**, `auto`", "auto"),
    "cache": Manager("**Reflet**, `cache`", "cache"),
    "get": Manager("**Reflet**, `get`", "get"),
    "kubelet_watch": Manager("kubelet (Go), `Watch`", "watch", in_go=True),
    "kubelet_cache": Manager("kubelet (Go), `Cache`", "cache", in_go=True),
    "kubelet_get": Manager("kubelet (Go), `Get`", "get", in_go=True),
}


def manager(
    name: str, target: Target, namespace: str, objects: int, kubelet: Environment, period: float
) -> ChildIdler:
    """Start a manager; return when all objects could be read."""
    contestant = MANAGERS[name]
    task = ManagerTask(
        job="idle",
        kind="ConfigMap",
        strategy=contestant.strategy,
        url=target.url,
        ca_file=target.ca_file,
        token=target.token,
        namespace=namespace,
        warm_up_namespace="",
        objects=objects,
        warm_up_objects=0,
        patience=START_TIMEOUT,
    )
    ways = {"users": USERS, "period": period, "ttl": period * SHARE_OF_THE_PERIOD}
    message = {**asdict(task), **ways}
    if not contestant.in_go:
        return ChildIdler(MANAGER_WORK, message)
    if kubelet.missing:
        raise RunFailed(kubelet.missing)
    return ChildIdler(LAUNCH, message, environment={PROGRAM: json.dumps([*kubelet.command])})


# Everybody

AGENT: Final = "agent"
TITLES: Final[Mapping[str, Mapping[str, str]]] = {
    "mirrors": {name: CONTESTANTS[name].title for name in MIRRORS},
    "managers": {name: each.title for name, each in MANAGERS.items()},
    "agents": {AGENT: "**Reflet** node agent"},
}
CANNOT: Final[Mapping[str, Mapping[str, str]]] = {
    "mirrors": {},
    "managers": dict.fromkeys(
        ("kubernetes", "kubernetes_asyncio", "lightkube", "kopf", "cloudcoil"),
        "has no such thing: it follows collections, not what pods refer to",
    ),
    "agents": {"kubelet": "needs a container runtime and control groups of its own"},
}


def prepared() -> dict[str, Environment]:
    """The environments of all peers, the kubelet's among them."""
    peers = sorted({CONTESTANTS[name].peer for name in MIRRORS} - {"", CLIENT_GO})
    return {
        **{peer: environment(peer) for peer in peers},
        CLIENT_GO: environment(CLIENT_GO),
        KUBELET: go_program("managers", KUBELET, version_of="k8s.io/kubernetes"),
    }


def is_ours(name: str) -> bool:
    """Whether a contestant is Reflet's."""
    return name in (OURS, OURS_TLS, AGENT) or (name in MANAGERS and not MANAGERS[name].in_go)
