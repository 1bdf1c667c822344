"""The operator of examples/website_operator.py in the chaos: several candidates, and Websites.

Owns: Websites that come, change and go, what others do to their Deployments, and the comparison of
all that the operator keeps with what each Website last said.  Who leads is ``candidates``.  Must
not know what goes wrong, nor which server it is.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self, final

from examples.website_operator import ADDRESSES, FINALIZER, NAME
from reflet.api.resources import CONFIG_MAPS, DEPLOYMENTS, LEASES, Resource
from reflet.runtime.tasks import TaskOwner
from tests.faults.candidates import Candidate, Terms
from tests.faults.hurry import PatientClock
from tests.faults.surroundings import NAMES, Surroundings, Truth

WEBSITES: Final = Resource(group="example.com", version="v1", plural="websites", kind="Website")
CANDIDATES: Final = 3
FIRST: Final = 3
"""Websites that are there from the beginning."""
MOVES: Final = 4
"""Things that happen to Websites and Deployments when it is stirred."""
MOST_PODS: Final = 4
STREAMS: Final = 4
"""Those of a candidate: two mirrors, and what the Lease and the writes ask for."""

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Site:
    """What a Website last said."""

    uid: str
    image: str
    replicas: int

    @property
    def spec(self) -> Document:
        return {"image": self.image, "replicas": self.replicas}


@final
class OperatorInhabitant:
    """Candidates of the operator, each on the next road, of which one works."""

    def __init__(self, given: Surroundings) -> None:
        self.name = f"operator, {CANDIDATES} candidates"
        self.reflectors = CANDIDATES * STREAMS
        self._given = given
        self._terms = Terms(given.counts)
        self._clock = PatientClock()
        self._home = given.namespaces[0]
        self._candidates = [
            Candidate(
                f"candidate-{number}",
                dataclasses.replace(given.roads[number % len(given.roads)], namespace=self._home),
                self._clock,
                self._terms,
            )
            for number in range(CANDIDATES)
        ]
        self.requests: Sequence[Counter[str]] = [each.requests for each in self._candidates]
        self._sites: dict[str, Site] = {}
        self._going: set[str] = set()
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self._sign_off)
            chance = random.Random(0)
            for _ in range(FIRST):
                await self._come(chance)
            clock = await undo.enter_async_context(TaskOwner("clock of the operator"))
            clock.start(self._clock.run(), name="clock of the operator")
            tasks = await undo.enter_async_context(TaskOwner(self.name))
            for each in self._candidates:
                tasks.start(each.run(), name=each.name)
            self._closing = undo.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._closing.__aexit__(kind, error, trace)

    async def _sign_off(self) -> None:
        """Leave nothing on the server, which others use after us."""
        office = self._given.office
        for key in {*self._sites, *self._going}:
            namespace, _, name = key.partition("/")
            await office.patch(WEBSITES, namespace, name, {"metadata": {"finalizers": None}})
            await office.remove(WEBSITES, namespace, name)
        for namespace in self._given.namespaces:
            for name in NAMES:
                await office.remove(DEPLOYMENTS, namespace, name)
            await office.remove(CONFIG_MAPS, namespace, ADDRESSES)
        await office.remove(LEASES, self._home, NAME)

    # What happens to it

    async def stir(self, chance: random.Random) -> None:
        """Let Websites come, change and go, others meddle, and a candidate end or stall."""
        for _ in range(MOVES):
            moves = (self._come, self._change, self._change, self._go, self._meddle, self._run)
            await chance.choice(moves)(chance)
        leading = [each for each in self._candidates if each.is_leading]
        chance.choice(leading or self._candidates).disturb(chance)

    async def _come(self, chance: random.Random) -> None:
        keys = [f"{each}/{name}" for each in self._given.namespaces for name in NAMES]
        free = [key for key in keys if key not in self._sites and key not in self._going]
        if not free:
            return
        key = chance.choice(free)
        namespace, _, name = key.partition("/")
        site = Site("", chance.choice(("nginx", "caddy")), chance.randrange(MOST_PODS))
        document = {
            "apiVersion": WEBSITES.api_version,
            "kind": WEBSITES.kind,
            "metadata": {"name": name},
            "spec": site.spec,
        }
        uid = await self._given.office.create(WEBSITES, namespace, document)
        self._sites[key] = dataclasses.replace(site, uid=uid)

    async def _change(self, chance: random.Random) -> None:
        key = self._chosen(chance)
        if key:
            changed = dataclasses.replace(self._sites[key], replicas=chance.randrange(MOST_PODS))
            await self._patch(WEBSITES, key, {"spec": changed.spec})
            self._sites[key] = changed

    async def _go(self, chance: random.Random) -> None:
        key = self._chosen(chance)
        if key:
            namespace, _, name = key.partition("/")
            await self._given.office.remove(WEBSITES, namespace, name)
            del self._sites[key]
            self._going.add(key)

    async def _meddle(self, chance: random.Random) -> None:
        """Somebody deletes a Deployment, or scales it."""
        key = self._chosen(chance)
        if key and chance.random() < 0.5:
            namespace, _, name = key.partition("/")
            await self._given.office.remove(DEPLOYMENTS, namespace, name)
        elif key:
            await self._patch(DEPLOYMENTS, key, {"spec": {"replicas": MOST_PODS + 1}})

    async def _run(self, chance: random.Random) -> None:
        """Pods of a Deployment come to run, or no longer do."""
        key, number = self._chosen(chance), chance.randrange(MOST_PODS)
        if key:
            status = {"replicas": number, "readyReplicas": number}
            await self._patch(DEPLOYMENTS, key, {"status": status}, subresource="status")

    def _chosen(self, chance: random.Random) -> str:
        return chance.choice(sorted(self._sites) or [""])

    async def _patch(
        self, resource: Resource, key: str, change: Document, *, subresource: str = ""
    ) -> None:
        namespace, _, name = key.partition("/")
        office = self._given.office
        await office.patch(resource, namespace, name, change, subresource=subresource)

    # What must hold

    def disagreements(self, truth: Truth) -> list[str]:
        """Where Deployments, addresses, finalizers or statuses are not what Websites last said."""
        self._terms.look()
        there = _documents(truth, WEBSITES)
        made = _documents(truth, DEPLOYMENTS)
        self._going &= there.keys()
        found = [f"{key} is not gone" for key in self._going]
        found += [f"{key} is lost" for key in self._sites.keys() - there.keys()]
        for key in self._sites.keys() & there.keys():
            wrong = _compared(self._sites[key], there[key], made.get(key))
            found += [f"{key}: {what}" for what in wrong]
        for namespace in self._given.namespaces:
            found += self._wrong_addresses(namespace, truth)
        # One that nobody needed until now must be there all the same.
        return found if self._terms.leading else [*found, "nobody leads"]

    def _wrong_addresses(self, namespace: str, truth: Truth) -> list[str]:
        state = truth[CONFIG_MAPS.full_name].get(f"{namespace}/{ADDRESSES}")
        have = {} if state is None else state.content
        names = [key.partition("/")[2] for key in self._sites if key.startswith(f"{namespace}/")]
        wanted = {name: f"{name}.example.com" for name in names}
        return [] if have == wanted else [f"addresses of {namespace} are {have}, not {wanted}"]

    def troubles(self) -> list[str]:
        """Two leaders, a write of one who no longer led, or an operator that ended by itself."""
        ended = [f"{each.name}: {what}" for each in self._candidates for what in each.troubles]
        return [*self._terms.troubles(), *ended]

    def forget(self) -> None:
        """Let go of the record of this storm."""
        self._terms.forget()

    def left(self) -> list[str]:
        """Nothing that is not a task or a connection, which others look for."""
        return []


def _documents(truth: Truth, resource: Resource) -> dict[str, Any]:
    return {key: state.content for key, state in truth[resource.full_name].items()}


def _compared(site: Site, website: Document, deployment: Document | None) -> list[str]:
    metadata = website["metadata"]
    if (metadata["uid"], website["spec"]) != (site.uid, site.spec):
        return [f"the server has {metadata['uid']}, {website['spec']}, written was {site}"]
    if deployment is None:
        return ["it has no Deployment"]
    wrong = _wrong_deployment(site, deployment)
    if metadata.get("finalizers") != [FINALIZER]:
        wrong.append(f"its finalizers are {metadata.get('finalizers')}")
    running = deployment.get("status", {}).get("readyReplicas", 0)
    is_ready = running == site.replicas
    status = website.get("status", {})
    conditions = [
        {name: value for name, value in each.items() if name != "lastTransitionTime"}
        for each in status.get("conditions", ())
    ]
    expected = {
        "type": "Ready",
        "status": str(is_ready),
        "reason": "Running" if is_ready else "Starting",
        "message": f"{running} of {site.replicas} run",
        "observedGeneration": metadata["generation"],
    }
    if (status.get("replicas"), conditions) != (running, [expected]):
        wrong.append(f"its status is {status}, not {running} and {expected}")
    return wrong


def _wrong_deployment(site: Site, deployment: Document) -> list[str]:
    spec = deployment["spec"]
    image = spec["template"]["spec"]["containers"][0]["image"]
    owners = [each["uid"] for each in deployment["metadata"].get("ownerReferences", ())]
    have = (spec["replicas"], image, owners)
    wanted = (site.replicas, site.image, [site.uid])
    return [] if have == wanted else [f"its Deployment is {have}, not {wanted}"]
