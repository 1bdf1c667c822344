"""The environment of a process whose Services are reachable on this machine.  Pure.

Where ``service_mentions`` finds the host of a forwarded Service in a value, its local address
takes the place of the name, and the local port that of the port.  Variables of service links follow
in the same way.  What is not certain stays as it is: a port that the Service does not have, or a
name without a port where the local port is another one and no variable says it.

No sentence holds more of a Secret than the name of a Service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from msgspec import structs

from reflet.resolution.environment.variables import Environment, Variable
from reflet.resolution.origins import FieldOrigin, ResourceOrigin, ServiceOrigin
from reflet.supervisor.service_mentions import (
    Mention,
    ServiceName,
    Span,
    mentions,
    port_variable,
)

USUAL_PORTS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "amqp": 5672,
        "amqps": 5671,
        "bolt": 7687,
        "http": 80,
        "https": 443,
        "ldap": 389,
        "ldaps": 636,
        "mariadb": 3306,
        "memcached": 11211,
        "mongodb": 27017,
        "mqtt": 1883,
        "mqtts": 8883,
        "mssql": 1433,
        "mysql": 3306,
        "nats": 4222,
        "neo4j": 7687,
        "postgres": 5432,
        "postgresql": 5432,
        "redis": 6379,
        "rediss": 6379,
        "sqlserver": 1433,
        "ws": 80,
        "wss": 443,
    }
)
"""The port of a URL that names none, by its scheme."""

NOT_TCP: Final = frozenset({"udp", "sctp"})
BY_DNS: Final = "+srv"
"""How schemes end whose host is no host, but a name under which DNS lists hosts."""


@dataclass(frozen=True, slots=True)
class LocalPlace:
    """Where a Service is on this machine; ``ports`` are local ports by those of the Service."""

    service: ServiceName
    address: str
    ports: Mapping[int, int]

    @property
    def keeps_ports(self) -> bool:
        """Whether every port is the Service's own."""
        return all(port == local for port, local in self.ports.items())


@dataclass(frozen=True, slots=True)
class ForwardedEnvironment:
    """An environment, which Services each changed variable names, and sentences about the rest."""

    environment: Environment
    changed: Mapping[str, tuple[ServiceName, ...]] = field(default_factory=dict)
    left: tuple[str, ...] = ()


def hosts_named(environment: Environment) -> dict[str, frozenset[int]]:
    """The hosts that variables name for certain, with the ports that stand with them."""
    found: dict[str, set[int]] = {}
    for variable in _eligible(environment):
        if not isinstance(variable.origin, ServiceOrigin):
            for mention in mentions(variable.name, variable.value):
                if mention.certain:
                    ports = found.setdefault(mention.host, set())
                    ports.update(() if mention.port is None else (mention.port,))
    return {host: frozenset(ports) for host, ports in found.items()}


def forwarded(environment: Environment, places: Mapping[str, LocalPlace]) -> ForwardedEnvironment:
    """Put local places where values name hosts; *places* has them by host, as values name them."""
    work = _Rewriting(environment, places)
    for variable in _eligible(environment):
        if isinstance(variable.origin, ServiceOrigin):
            work.take_link(variable)
        else:
            work.take(variable)
    return work.result()


def _eligible(environment: Environment) -> Iterator[Variable]:
    for variable in environment.variables.values():
        # What a pod is told of itself is no way to somebody else.
        if not isinstance(variable.origin, FieldOrigin | ResourceOrigin):
            yield variable


class _Rewriting:
    def __init__(self, environment: Environment, places: Mapping[str, LocalPlace]) -> None:
        self._environment = environment
        self._places = places
        self._values: dict[str, str] = {}
        self._services: dict[str, dict[ServiceName, None]] = {}
        self._left: dict[str, None] = {}

    def result(self) -> ForwardedEnvironment:
        variables = dict(self._environment.variables)
        for name, value in self._values.items():
            variable = variables[name]
            assignment = structs.replace(variable.assignment, value=value)
            variables[name] = structs.replace(variable, assignment=assignment)
        return ForwardedEnvironment(
            structs.replace(self._environment, variables=variables),
            {name: tuple(found) for name, found in self._services.items()},
            tuple(self._left),
        )

    def take_link(self, variable: Variable) -> None:
        """A variable of a service link: an address, a URL with one, or a port."""
        value, origin = variable.value, variable.origin
        if value in self._places:  # also an IPv6 address, which elsewhere would need brackets
            self._set(variable.name, self._places[value].address, self._places[value])
        elif value.isdecimal() and isinstance(origin, ServiceOrigin):
            place = self._place_of(origin)
            local = None if place is None else place.ports.get(int(value))
            if place is not None and local is not None and "_UDP_" not in variable.name:
                self._set(variable.name, str(local), place)
        else:
            # Its name is made from that of the Service and says nothing more.
            self.take(variable, name="")

    def _place_of(self, origin: ServiceOrigin) -> LocalPlace | None:
        wanted = ServiceName(origin.namespace, origin.name)
        return next((each for each in self._places.values() if each.service == wanted), None)

    def take(self, variable: Variable, *, name: str | None = None) -> None:
        """Any other variable: every host that it names."""
        value = variable.value
        edits: dict[Span, str] = {}
        places: list[LocalPlace] = []
        for mention in mentions(variable.name if name is None else name, value):
            place = self._places.get(mention.host)
            wanted = {} if place is None else self._edits(variable, mention, place)
            if any(edits.get(span, text) != text for span, text in wanted.items()):
                self._leave(variable.name, "gives several Services one port")
                return
            edits |= wanted
            places += [place] if wanted and place is not None else []
        # From the right, so that what comes before keeps its place.
        for span, text in sorted(edits.items(), reverse=True):
            value = value[: span.start] + text + value[span.end :]
        for place in places:
            self._set(variable.name, value, place)

    def _edits(self, variable: Variable, mention: Mention, place: LocalPlace) -> dict[Span, str]:
        """What to write where; nothing when that would be a guess."""
        name, service = variable.name, place.service
        if mention.scheme in NOT_TCP or mention.scheme.endswith(BY_DNS):
            return {}
        if not mention.certain:
            if not variable.sensitive:  # that a secret word is the name of a Service is no news
                self._leave(name, f"may name Service {service}, or mean something else")
            return {}
        port = mention.port or USUAL_PORTS.get(mention.scheme.partition("+")[0])
        if port is None:
            return self._bare_host(variable, mention, place)
        local = place.ports.get(port)
        if local is None:
            self._leave(name, f"names a port that is not forwarded of Service {service}")
            return {}
        if mention.port_span is not None:
            return {mention.span: place.address, mention.port_span: str(local)}
        return {mention.span: place.address if local == port else f"{place.address}:{local}"}

    def _bare_host(
        self, variable: Variable, mention: Mention, place: LocalPlace
    ) -> dict[Span, str]:
        if not place.keeps_ports:
            beside = port_variable(variable.name)
            said = self._environment.values.get(beside or "", "")
            local = place.ports.get(int(said)) if said.isdecimal() else None
            if beside is None or local is None:
                self._leave(
                    variable.name,
                    f"names Service {place.service} without a port, which is another one here",
                )
                return {}
            self._set(beside, str(local), place)
        return {mention.span: place.address}

    def _set(self, name: str, value: str, place: LocalPlace) -> None:
        if value != self._environment.variables[name].value:
            self._values[name] = value
            self._services.setdefault(name, {})[place.service] = None

    def _leave(self, name: str, why: str) -> None:
        self._left[f"{name} stays as it is: it {why}"] = None
