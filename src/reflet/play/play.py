"""Who plays, and a running play beside a server.

Upstream: cmd/kube-controller-manager/app/controllermanager.go, NewControllerDescriptors
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, final

from reflet.cluster import connect
from reflet.errors import ConfigurationError
from reflet.play import job_runs, pod_sets, rollouts, service_endpoints
from reflet.play.garbage_collector import GarbageCollector
from reflet.play.namespaces import NAMESPACE_PLAYER, VOLUME_PLAYERS, account_player
from reflet.play.pod_scripts import Outcome
from reflet.play.pretend_nodes import node_player, pod_player
from reflet.play.running_play import Player, RunningPlay
from reflet.runtime.clock import Clock, SystemClock

GARBAGE: Final = "garbage"
ENDING: Final = "namespaces"

# What somebody who asks for the one wants too: nothing would happen without it.
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "pods": ("nodes",),
    "daemonsets": ("nodes",),
    "deployments": ("replicasets",),
}
_PLAYERS: Final[Mapping[str, Callable[[Play, Any], Iterable[Player]]]] = {
    "nodes": lambda play, _: [node_player(play.nodes)],
    "pods": lambda play, _: [pod_player(play.outcomes)],
    "replicasets": lambda *_: [pod_sets.REPLICA_SET_PLAYER],
    "deployments": lambda *_: [rollouts.PLAYER],
    "statefulsets": lambda *_: [pod_sets.STATEFUL_SET_PLAYER],
    "daemonsets": lambda *_: [pod_sets.DAEMON_SET_PLAYER],
    "jobs": lambda *_: [job_runs.PLAYER],
    "endpoints": lambda *_: [service_endpoints.PLAYER],
    "volumes": lambda *_: VOLUME_PLAYERS,
    "serviceaccounts": lambda _, server: [account_player(server.ca_data)],
}
NAMES: Final = (*_PLAYERS, GARBAGE, ENDING)
ALL: Final = "all"


@final
class Play:
    """Which controllers run beside a development server, and how pods fare.

    ::

        async with DevServer(play=Play("pods", "deployments")) as server: ...

    ``Play("all")`` is everything.  *nodes* is how many pretend nodes there are; *outcomes* say what
    containers of some images do, see ``Outcome``; *clock* is for tests.  A value: it may be used
    for any number of servers.

    - *names*: the controllers to run; ``all`` is every one
    """

    def __init__(
        self,
        *names: str,
        nodes: int = 1,
        outcomes: Iterable[Outcome] = (),
        clock: Clock | None = None,
    ) -> None:
        unknown = [name for name in names if name not in {*NAMES, ALL}]
        if unknown:
            raise ConfigurationError(
                f"nobody can play {unknown[0]!r}: expected {', '.join(NAMES)} or {ALL}"
            )
        asked = NAMES if ALL in names else names
        self.names: frozenset[str] = frozenset(
            each for name in asked for each in (name, *_NEEDS.get(name, ()))
        )
        self.collects_garbage: bool = GARBAGE in self.names
        self.ends_namespaces: bool = ENDING in self.names
        self.nodes: int = nodes
        self.outcomes: tuple[Outcome, ...] = tuple(outcomes)
        self._clock = clock or SystemClock()

    @classmethod
    def parse(cls, text: str, **options: Any) -> Play:
        """Read names with commas between them; ConfigurationError for one that nobody plays.

        - *options*: those of ``Play``
        """
        return cls(*(name for each in text.split(",") if (name := each.strip())), **options)

    def __repr__(self) -> str:
        return f"<Play {', '.join(name for name in NAMES if name in self.names)}>"

    @asynccontextmanager
    async def beside(self, server: Any) -> AsyncIterator[None]:
        """Play for as long as the context is open; what is there at the start has been seen.

        Of the server it takes ``kubeconfig_path``, and ``ca_data``, its authority's certificate.

        - *server*: a ``DevServer`` that runs
        """
        async with (
            connect(kubeconfig=str(server.kubeconfig_path), qps=0) as cluster,
            RunningPlay(cluster, self._clock) as running,
        ):
            for name, players in _PLAYERS.items():
                for player in players(self, server) if name in self.names else ():
                    await running.add(player)
            if self.collects_garbage or self.ends_namespaces:
                ending = await running.add(NAMESPACE_PLAYER) if self.ends_namespaces else None
                collector = GarbageCollector(running, ending, collects=self.collects_garbage)
                await collector.start()
            await running.synced()
            yield
