"""Services of a cluster at local ports, for the process of a run: ``--forward``.

Looks up the Services that an environment names, opens a ``ServiceForward`` for each, and gives the
process the environment that leads there.  What a value names decide ``service_mentions`` and
``forwarded_environment``.  Files are left as they are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, Self

from reflet.api.core.services import Service
from reflet.cluster import Cluster
from reflet.errors import ConfigurationError, Forbidden, NotFound, RefletError
from reflet.resolution.environment.service_variables import EVERYBODYS_SERVICE
from reflet.resolution.environment.variables import Environment
from reflet.resolution.origins import ServiceOrigin
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import Failure
from reflet.supervisor.configuration_sources import ConfigurationSource
from reflet.supervisor.container_configuration import ContainerConfiguration
from reflet.supervisor.forwarded_environment import (
    ForwardedEnvironment,
    LocalPlace,
    forwarded,
    hosts_named,
)
from reflet.supervisor.service_backends import is_headless, other_ports, tcp_ports, why_not
from reflet.supervisor.service_forward import ServiceForward
from reflet.supervisor.service_mentions import ServiceName, services_meant

RETRY: Final = 5.0
"""Seconds until a server that did not answer is asked again."""
MOST_NAMED: Final = 6

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ForwardChoice:
    """A Service that was asked for: ``db``, ``db.shop``, ``db:5432`` or ``db:http``."""

    host: str
    port: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what was typed; raises ConfigurationError."""
        host, colon, port = text.partition(":")
        if not services_meant(host, "default") or (colon and not port) or ":" in port:
            raise ConfigurationError(
                f"--forward={text}: name a Service, as in --forward=db, db.shop, db:5432 or db:http"
            )
        return cls(host, port)

    def __str__(self) -> str:
        return f"--forward={self.host}" + (f":{self.port}" if self.port else "")


class ServiceForwards:
    """The Services that a container of *namespace* names, at local ports while it is open.

    With *every*, those that its environment names; *chosen* are forwarded in any case, from the
    first environment on, and *known* are Services that were read already.  *say* gets names, and
    nothing that may be secret.
    """

    def __init__(
        self,
        cluster: Cluster,
        namespace: str,
        *,
        every: bool = True,
        chosen: Sequence[ForwardChoice] = (),
        known: Sequence[Service] = (),
        say: Say,
        clock: Clock | None = None,
    ) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._every = every
        self._undecided = deque(chosen)
        self._services = {_name_of(service): service for service in known}
        self._fresh: set[ServiceName] = set()
        self._refused: dict[ServiceName, Forbidden] = {}
        self._say = say
        self._clock = SystemClock() if clock is None else clock
        self._closing = AsyncExitStack()
        self._forwards: dict[ServiceName, ServiceForward] = {}
        self._chosen: dict[ServiceName, tuple[int, ...]] = {}
        self._said: set[str] = set()

    async def __aenter__(self) -> Self:
        # Nothing is asked yet: who is told to end while a server is silent must not wait for it.
        await self._closing.__aenter__()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._closing.__aexit__(*failure)

    async def applied_to(self, environment: Environment) -> Environment:
        """The environment with local places; what is new about them is said.

        Raises ConfigurationError for a choice that is not there or may not be read.
        """
        self._fresh.clear()
        while self._undecided:
            await self._choose(self._undecided[0])
            self._undecided.popleft()
        places = await self._places(environment)
        result = forwarded(environment, places)
        self._tell(result, environment)
        return result.environment

    # Which Services

    async def _choose(self, choice: ForwardChoice) -> None:
        meant = services_meant(choice.host, self._namespace)
        found = await self._first_found(meant)
        if found is None:
            for each in meant:
                if (refused := self._refused.get(replace(each, hostname=""))) is not None:
                    raise ConfigurationError(f"{choice}: {refused}") from refused
            where = " or ".join(f"{each.name} in namespace {each.namespace}" for each in meant)
            raise ConfigurationError(f"{choice}: there is no Service {where}")
        name, service = found
        if (reason := why_not(service)) is not None:
            raise ConfigurationError(f"{choice}: Service {name} cannot be forwarded: {reason}")
        ports = tcp_ports(service)
        wanted = [each.port for each in ports if choice.port in {"", each.name, str(each.port)}]
        if not wanted and is_headless(service) and choice.port.isdecimal():
            wanted = [int(choice.port)]
        if not wanted:
            there = ", ".join(str(each.port) for each in ports)
            raise ConfigurationError(
                f"{choice}: Service {name} has no such TCP port; it has {there}"
            )
        self._chosen[name] = (*self._chosen.get(name, ()), *wanted)
        await self._listening(name, wanted)

    async def _places(self, environment: Environment) -> dict[str, LocalPlace]:
        """Local places by the hosts that lead to their Services."""
        places: dict[str, LocalPlace] = {}
        for host, ports in hosts_named(environment).items():
            meant = services_meant(host, self._namespace)
            if not self._every:
                meant = tuple(filter(self._ports_chosen, meant))
            found = await self._first_found(meant)
            place = None if found is None else await self._place(*found, ports)
            if place is not None:
                places[host] = place
        for name in _linked(environment):
            service = self._services.get(name)
            place = None if service is None else await self._place(name, service, frozenset())
            if place is not None and service is not None:
                addresses = {service.spec.cluster_ip, *service.spec.cluster_ips}
                places |= dict.fromkeys(addresses, place)
        # A word that may mean anything is worth a sentence where it is a Service of ours.
        for name, forward in self._forwards.items():
            if name.namespace == self._namespace and not name.hostname:
                places.setdefault(name.name, forward.place)
        return places

    async def _first_found(
        self, meant: Sequence[ServiceName]
    ) -> tuple[ServiceName, Service] | None:
        for name in meant:
            service = await self._looked_up(replace(name, hostname=""))
            if service is not None and (not name.hostname or is_headless(service)):
                return name, service
        return None

    async def _looked_up(self, name: ServiceName) -> Service | None:
        if name in self._fresh:
            return self._services.get(name)
        self._fresh.add(name)
        try:
            service = await self._cluster.resource(Service, namespace=name.namespace).get(name.name)
        except NotFound:
            return None
        except Forbidden as error:
            self._refused[name] = error
            # Of another namespace, it is as likely a host of the internet: db.example.com.
            if name.namespace == self._namespace and not self._undecided:
                self._say_once(f"note: Service {name} is not forwarded: {error}")
            return None
        self._services[name] = service
        return service

    def _ports_chosen(self, name: ServiceName) -> tuple[int, ...]:
        return self._chosen.get(name) or self._chosen.get(replace(name, hostname="")) or ()

    async def _place(
        self, name: ServiceName, service: Service, ports: frozenset[int]
    ) -> LocalPlace | None:
        chosen = self._ports_chosen(name)
        if not self._every and not chosen:
            return None
        if (reason := why_not(service)) is not None:
            if (name.namespace, name.name) != EVERYBODYS_SERVICE:
                self._say_once(f"note: Service {name} is not forwarded: {reason}")
            return None
        wanted = chosen or tuple(each.port for each in tcp_ports(service))
        if is_headless(service) and not chosen:
            wanted = (*wanted, *sorted(ports))  # its pods answer at any port of theirs
        return await self._listening(name, wanted)

    async def _listening(self, name: ServiceName, ports: Sequence[int]) -> LocalPlace:
        forward = self._forwards.get(name)
        if forward is None:
            made = ServiceForward(self._cluster, name, say=self._say, clock=self._clock)
            forward = self._forwards[name] = await self._closing.enter_async_context(made)
        try:
            await forward.listen(ports)
        except OSError as error:
            raise ConfigurationError(
                f"--forward: no local port for Service {name}: {error.strerror or error}"
            ) from error
        return forward.place

    # What is said

    def _tell(self, result: ForwardedEnvironment, environment: Environment) -> None:
        variables: dict[ServiceName, list[str]] = {name: [] for name in self._forwards}
        for variable, services in result.changed.items():
            for each in services:
                variables[each].append(variable)
        quiet: list[str] = []
        for name, changed in variables.items():
            own = [each for each in changed if not _is_link(environment, each)]
            if not own and changed:
                quiet.append(name.name)
                continue
            named = _several(own) if own else "no variable is changed"
            self._say_once(f"forwarding {_described(self._forwards[name].place)} ({named})")
        if quiet:
            self._say_once(f"forwarding what service links alone name: {_several(quiet)}")
        if not self._forwards:
            self._say_once("note: no variable names a Service, so nothing is forwarded")
        for name in self._forwards:
            others = other_ports(self._services[replace(name, hostname="")])
            if others and not self._ports_chosen(name):
                self._say_once(
                    f"note: Service {name}: {', '.join(others)} is not forwarded: port-forward "
                    "carries TCP alone"
                )
        for sentence in result.left:
            self._say_once(f"note: {sentence}")

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)


class ForwardedConfiguration:
    """A source whose configurations lead to local ports.  Is a ``ConfigurationSource``."""

    def __init__(
        self, source: ConfigurationSource, forwards: ServiceForwards, *, say: Say, clock: Clock
    ) -> None:
        self._source = source
        self._forwards = forwards
        self._say = say
        self._clock = clock

    async def configurations(self) -> AsyncIterator[ContainerConfiguration]:
        """Give each configuration once its Services have local ports.

        While the server cannot say which Services there are, the process keeps what it has; so it
        does when a later configuration's cannot have local ports.
        """
        is_first = True
        async for configuration in self._source.configurations():
            try:
                applied = await self._applied(configuration)
            except ConfigurationError as error:
                if is_first:
                    raise
                self._say(f"warning: {error}; the process keeps what it has")
                continue
            is_first = False
            yield applied

    async def _applied(self, configuration: ContainerConfiguration) -> ContainerConfiguration:
        said = False
        while True:
            try:
                environment = await self._forwards.applied_to(configuration.environment)
                return replace(configuration, environment=environment)
            except ConfigurationError:
                raise
            except RefletError as error:
                if not said:
                    self._say(f"warning: the Services cannot be read: {error}; trying again")
                said = True
                await self._clock.sleep(RETRY)


@asynccontextmanager
async def forwarded_configuration(
    opening: AbstractAsyncContextManager[ConfigurationSource],
    forwards: ServiceForwards,
    *,
    say: Say,
    clock: Clock | None = None,
) -> AsyncIterator[ForwardedConfiguration]:
    """Open a source, and the Services that its configurations name."""
    async with opening as source, forwards:
        yield ForwardedConfiguration(
            source, forwards, say=say, clock=SystemClock() if clock is None else clock
        )


def _name_of(service: Service) -> ServiceName:
    return ServiceName(service.metadata.namespace, service.metadata.name)


def _linked(environment: Environment) -> Mapping[ServiceName, None]:
    """The Services that service links name, in the order of the variables."""
    origins = (variable.origin for variable in environment.variables.values())
    return dict.fromkeys(
        ServiceName(origin.namespace, origin.name)
        for origin in origins
        if isinstance(origin, ServiceOrigin)
    )


def _is_link(environment: Environment, variable: str) -> bool:
    return isinstance(environment.variables[variable].origin, ServiceOrigin)


def _described(place: LocalPlace) -> str:
    ports = [
        f"{place.address}:{local}" + (f" for {port}" if local != port else "")
        for port, local in place.ports.items()
    ]
    return f"{place.service} at {', '.join(ports)}"


def _several(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
