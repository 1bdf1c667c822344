"""Laws of services: whatever their type changes to, what they hold is theirs, and is freed."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reflet.apirules.service_allocation import NODE_PORTS
from reflet.devserver.request.authentication import TokenIssuer
from reflet.devserver.request.request_options import DeleteOptions, WriteOptions
from reflet.devserver.storage.storage import Storage
from reflet.devserver.verbs.deleting import delete
from reflet.devserver.verbs.state import SERVICES, State
from reflet.devserver.verbs.writing import Writing, at_once
from reflet.errors import ApiError

Document = dict[str, Any]

names = st.sampled_from(["a", "b", "c"])
wanted_ports = st.sampled_from([0, 30000, 30001, 29999])
ports = st.lists(
    st.builds(
        lambda number, node, name: {
            "name": name,
            "port": number,
            **({"nodePort": node} if node else {}),
        },
        st.sampled_from([80, 443]),
        wanted_ports,
        st.sampled_from(["http", "https"]),
    ),
    max_size=2,
    unique_by=lambda port: port["name"],
)
specs = st.fixed_dictionaries(
    {"type": st.sampled_from(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"])},
    optional={
        "ports": ports,
        "clusterIP": st.sampled_from(["", "None", "10.96.0.7"]),
        "selector": st.just({"app": "web"}),
        "externalName": st.just("example.com"),
        "externalTrafficPolicy": st.sampled_from(["Local", "Cluster"]),
        "allocateLoadBalancerNodePorts": st.booleans(),
    },
)
steps: st.SearchStrategy[tuple[str, str, Document]] = st.one_of(
    st.tuples(st.just("create"), names, specs),
    st.tuples(st.just("update"), names, specs),
    st.tuples(st.just("change"), names, specs),
    st.tuples(st.just("delete"), names, st.just({})),
)


class Scene:
    """A server of which only services matter."""

    def __init__(self) -> None:
        self.state = State(
            Storage(), tokens=TokenIssuer(b"secret"), chance=lambda below: below // 2
        )
        kinds = self.state.kinds
        namespaces, services = (
            kinds.by_resource("", "v1", each) for each in ("namespaces", SERVICES)
        )
        assert namespaces is not None
        assert services is not None
        self.kind = services
        writing = Writing(self.state, namespaces, "", WriteOptions(manager="me"))
        at_once(writing.create(writing.checked({"metadata": {"name": "default"}})))

    def take(self, verb: str, name: str, spec: Document) -> None:
        """Do one thing to a service; what the rules forbid is refused, and changes nothing."""
        writing = Writing(self.state, self.kind, "default", WriteOptions(manager="me"), name)
        document = {"metadata": {"name": name}, "spec": spec}
        stored = self.state.storage.get(writing.key())
        before = self.holdings()
        try:
            if verb == "delete":
                delete(self.state, self.kind, "default", name, DeleteOptions())
            elif verb == "create":
                at_once(writing.create(writing.checked(document)))
            elif verb == "change" and stored is not None:
                # As a client that reads, changes a few fields and writes back.
                changed = {**stored.object, "spec": {**stored.object["spec"], **spec}}
                at_once(writing.update(writing.checked(changed)))
            else:
                at_once(writing.update(writing.checked(document)))
        except ApiError:
            assert self.holdings() == before

    def specs(self) -> list[Document]:
        return [stored.object["spec"] for stored in self.state.storage.list(SERVICES)]

    def holdings(self) -> tuple[set[int], set[str]]:
        """Node ports and addresses that count as taken."""
        addresses = self.state.addresses
        ports = {port for port in range(29990, 32768) if addresses.is_port_taken(port)}
        return ports, {each for spec in self.specs() for each in spec.get("clusterIPs", ())}


def node_ports(spec: Document) -> list[int]:
    found = [port.get("nodePort", 0) for port in spec.get("ports") or ()]
    return [port for port in [*found, spec.get("healthCheckNodePort", 0)] if port]


def check_numbers(spec: Document) -> None:
    """A service has the numbers that its type needs, and no others."""
    numbers = [port.get("nodePort") for port in spec.get("ports") or ()]
    if spec["type"] == "NodePort":
        assert all(numbers)
    elif spec["type"] != "LoadBalancer":
        assert not any(numbers)
    assert "clusterIP" in spec or spec["type"] == "ExternalName"
    is_local = spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"
    assert bool(spec.get("healthCheckNodePort")) is is_local


@settings(max_examples=60)
@given(st.lists(steps, max_size=8))
def test_what_services_hold_is_what_is_taken_and_nothing_is_held_twice(story: list[Any]) -> None:
    scene = Scene()

    for verb, name, wanted in story:
        scene.take(verb, name, wanted)

        specs = scene.specs()
        held = [port for spec in specs for port in node_ports(spec)]
        assert scene.holdings()[0] == set(held)
        assert len(held) == len(set(held))
        assert all(port in NODE_PORTS for port in held)
        for spec in specs:
            check_numbers(spec)
        addresses = [each for spec in specs for each in spec.get("clusterIPs", ())]
        chosen = [each for each in addresses if each != "None"]
        assert len(chosen) == len(set(chosen))


@settings(max_examples=60)
@given(st.lists(steps, max_size=8))
def test_when_all_services_are_gone_nothing_is_held(story: list[Any]) -> None:
    scene = Scene()
    for verb, name, spec in story:
        scene.take(verb, name, spec)

    for name in ("a", "b", "c"):
        scene.take("delete", name, {})

    assert scene.holdings() == (set(), set())
    assert not scene.state.addresses.is_taken("10.96.0.7")
