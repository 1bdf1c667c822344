"""Who lives through the chaos, and what each must agree with in the end.

Owns: mirrors, managers, and the list of all inhabitants, ``INHABITANTS``.  The node agent is
``agent_inhabitant``, the operator ``operator_inhabitant``, sidecars are ``sidecar_inhabitant``.
Must not know what goes wrong, nor
which server it is.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Final, Self, final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.resources import Resource
from reflet.errors import CacheNotSynced, NotFound
from reflet.informer.handlers.changes import Change
from reflet.informer.mirror import Mirror
from reflet.managers.manager import ConfigMapManager, ObjectManager, SecretManager
from reflet.managers.object_changes import ObjectChange
from reflet.runtime.tasks import TaskOwner
from tests.faults.agent_inhabitant import AgentInhabitant
from tests.faults.operator_inhabitant import OperatorInhabitant
from tests.faults.sidecar_inhabitant import KilledSidecar, SidecarInhabitant
from tests.faults.surroundings import NAMES, Inhabitant, Surroundings, Truth
from tests.mirror_scenes import CONFIG_MAPS, WIDGETS
from tests.unit.managers.pods import pod
from tests.witnesses import State, Witness, differences, indexers

SECRETS: Final = Resource(version="v1", plural="secrets", kind="Secret")
PODS: Final = 6


@final
class MirrorInhabitant:
    """A mirror of one resource with handlers: early ones, a slow one, one that comes and goes."""

    reflectors = 1
    requests: Sequence[Counter[str]] = ()

    def __init__(
        self,
        given: Surroundings,
        resource: Resource,
        *,
        selector: str = "",
        **options: Any,
    ) -> None:
        self.name = f"mirror of {resource.full_name} {selector} {options}"
        self._resource = resource
        self._selector = selector
        self._mirror: Mirror[Any] = Mirror(
            given.client.resource(resource, namespace=given.scope),
            resource,
            indexers=indexers(),
            label_selector=selector,
            clock=given.clock,
            on_error=lambda error: None,
            **options,
        )
        self._witnesses: list[Witness[Any]] = []
        self._newest = 0
        self._troubles: list[str] = []
        self._guest: tuple[Witness[Any], Any] | None = None
        self._join("early")
        slow: Witness[Any] = Witness("slow")

        async def slowly(change: Change[Any]) -> None:
            if len(slow.told) % 7 == 0:
                await asyncio.sleep(0.02)
            slow(change)

        self._witnesses.append(slow)
        self._mirror.add_handler(slowly, name="slow")

    async def __aenter__(self) -> Self:
        await self._mirror.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._mirror.__aexit__(kind, error, trace)

    async def stir(self, chance: random.Random) -> None:
        if self._guest is None:
            self._guest = self._join("guest")
            return
        witness, registration = self._guest
        self._guest = None
        self._mirror.remove_handler(registration)
        self._witnesses.remove(witness)
        self._troubles += witness.troubles

    def disagreements(self, truth: Truth) -> list[str]:
        expected = truth[self._resource.full_name]
        if self._selector:
            label, _, value = self._selector.partition("=")
            expected = {
                key: state for key, state in expected.items() if state.labels.get(label) == value
            }
        return differences(self._mirror.informer.store, self._witnesses, expected)

    def troubles(self) -> list[str]:
        version = int(self._mirror.informer.store.version or 0)
        if version < self._newest:
            self._troubles.append(f"the store went back from {self._newest} to {version}")
        self._newest = version
        told = [f"{each.name}: {what}" for each in self._witnesses for what in each.troubles]
        return [*self._troubles, *told]

    def forget(self) -> None:
        for witness in self._witnesses:
            witness.told.clear()

    def left(self) -> list[str]:
        return []

    def _join(self, name: str) -> tuple[Witness[Any], Any]:
        witness: Witness[Any] = Witness(name)
        self._witnesses.append(witness)
        return witness, self._mirror.add_handler(witness, name=name)


@final
class ManagerInhabitant:
    """The managers of ConfigMaps and Secrets, with pods that come and go, and two followers."""

    requests: Sequence[Counter[str]] = ()

    def __init__(self, given: Surroundings, strategy: str) -> None:
        self.name = f"managers, {strategy}"
        self.reflectors = 2 * len(NAMES) * len(given.namespaces) + 2 * len(given.namespaces)
        self._given = given
        options: dict[str, Any] = {"strategy": strategy, "clock": given.clock}
        self._followed = (
            _Followed(ConfigMapManager(given.client, **options), CONFIG_MAPS),
            _Followed(SecretManager(given.client, **options), SECRETS),
        )
        self._pods: dict[str, Pod] = {}
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            tasks = await undo.enter_async_context(TaskOwner(self.name))
            for each in self._followed:
                await undo.enter_async_context(each.manager)
                tasks.start(each.follow(), name=f"follower of {each.resource.plural}")
            self._closing = undo.pop_all()
        for _ in range(PODS):
            await self.stir(random.Random(len(self._pods)))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._closing.aclose()

    async def stir(self, chance: random.Random) -> None:
        """Register a pod, or let one go."""
        if len(self._pods) >= PODS:
            gone = self._pods.pop(chance.choice(sorted(self._pods)))
            for each in self._followed:
                each.manager.unregister_pod(gone)
                each.let_go()
            return
        name = f"pod-{chance.randrange(10**9)}"
        namespace = chance.choice(list(self._given.namespaces))
        config_maps, secrets = (chance.sample(NAMES, 3) for _ in range(2))
        came = pod(name, *config_maps, secrets=secrets, namespace=namespace)
        self._pods[name] = came
        for each in self._followed:
            each.manager.register_pod(came)

    def disagreements(self, truth: Truth) -> list[str]:
        return [
            f"{each.resource.plural}: {what}"
            for each in self._followed
            for what in each.disagreements(truth[each.resource.full_name])
        ]

    def troubles(self) -> list[str]:
        return [what for each in self._followed for what in each.troubles]

    def forget(self) -> None:
        pass  # what it remembers is bounded

    def left(self) -> list[str]:
        return []


class _Followed:
    """One manager and somebody who believes what it tells."""

    def __init__(
        self, manager: ObjectManager[ConfigMap] | ObjectManager[Secret], resource: Resource
    ) -> None:
        self.manager = manager
        self.resource = resource
        self.view: dict[tuple[str, str], State | None] = {}
        self.troubles: list[str] = []
        self._newest: dict[tuple[str, str], int] = {}

    async def follow(self) -> None:
        changes: Any = self.manager.subscribe()
        async for change in changes:
            self._told(change)

    def _told(self, change: ObjectChange[Any]) -> None:
        key = (change.namespace, change.name)
        self.view[key] = None if change.object is None else State.of(change.object)
        if change.object is not None:
            version, newest = int(change.object.metadata.resource_version), self._newest.get(key, 0)
            if version < newest:
                self.troubles.append(f"{key} at {version} after {newest}")
            self._newest[key] = version

    def let_go(self) -> None:
        """Forget what nobody refers to any more: nothing is promised about it."""
        for key in [*self.view, *self._newest]:
            if not self.manager.pods_using(*key):
                self.view.pop(key, None)
                self._newest.pop(key, None)

    def disagreements(self, truth: Mapping[str, State]) -> list[str]:
        namespaces = {key.partition("/")[0] for key in truth} | {key[0] for key in self.view}
        found: list[str] = []
        for namespace in sorted(namespaces):
            for name in NAMES:
                if not self.manager.pods_using(namespace, name):
                    continue
                expected = truth.get(f"{namespace}/{name}")
                read = self._read(namespace, name)
                if read != expected:
                    found.append(f"{namespace}/{name} is {read}, on the server {expected}")
                told = self.view.get((namespace, name))
                if told != expected:
                    found.append(f"{namespace}/{name} was told as {told}, not {expected}")
        return found

    def _read(self, namespace: str, name: str) -> State | str | None:
        try:
            return State.of(self.manager.peek(namespace, name))
        except NotFound:
            return None
        except CacheNotSynced as error:
            return str(error)


INHABITANTS: Final[Sequence[Callable[[Surroundings], Inhabitant]]] = (
    lambda given: MirrorInhabitant(given, CONFIG_MAPS),
    lambda given: MirrorInhabitant(given, SECRETS, streaming=False, page_size=3),
    lambda given: MirrorInhabitant(given, WIDGETS, backlog_limit=2),
    lambda given: MirrorInhabitant(given, CONFIG_MAPS, selector="colours=red", streaming=False),
    lambda given: ManagerInhabitant(given, "watch"),
    lambda given: ManagerInhabitant(given, "auto"),
    OperatorInhabitant,
    lambda given: AgentInhabitant(given, "watch", run=True),
    lambda given: AgentInhabitant(given, "auto", run=False),
    lambda given: SidecarInhabitant(given, "files"),
    lambda given: SidecarInhabitant(given, "links"),
    KilledSidecar,
)
"""Everybody who lives through the chaos; last those who are looked at with most work."""
