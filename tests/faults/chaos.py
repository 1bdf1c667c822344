"""Storms and calms: random faults while random writes go on, and what must hold after each.

Owns: the story that a seed tells, and the checks in every calm: everybody equals the server,
nobody saw a version go back, requests stay under what back-off allows, memory stays flat; in the
end nothing is left.  How the last two are seen is ``leaks``.  Must not know which server it is
(``Ground``), nor who lives on it (``inhabitants``).
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from reflet.transport.config.settings import ConnectionSettings
from tests.faults.harms import OF_CHUNKS, Ambush, Harm, Weather
from tests.faults.hurry import RATE, HurriedClock, HurriedCluster
from tests.faults.inhabitants import INHABITANTS
from tests.faults.leaks import Belongings, Weight
from tests.faults.proxy import FaultProxy
from tests.faults.surroundings import NAMES, Inhabitant, Office, Surroundings, Truth

SEED: Final = int(os.environ.get("REFLET_SEED", "0"))
"""The same story every time, unless another is asked for."""

SECONDS: Final = float(os.environ.get("REFLET_CHAOS_SECONDS", "9"))
"""Of storms, for each server; calms come on top."""

STORM: Final = 3.0  # seconds
CALM: Final = 30.0
"""Seconds in which everybody must agree: fifteen hurried minutes, on a machine that is busy."""
LOOK_EVERY: Final = 0.05  # seconds
LONGEST_LOOK: Final = 0.2
"""What counts of the time between two looks: when it is longer, nobody got to run."""
LONGEST_PAUSE: Final = 0.08  # seconds between two steps of a storm

REQUESTS_OF_A_PASS: Final = 4
"""Most that one pass of a reflector asks: a stream refused, two lists, a watch."""
PASSES_OF_A_WINDOW: Final = 8
WINDOW: Final = 120.0
"""Hurried seconds, in which back-off lets so many passes through before it starts over."""

STORMS_TO_WARM_UP: Final = 2
"""Until then every pool, cache and buffer has been as full as it gets."""


class Ground(Office, Protocol):
    """A server on which everybody lives: written to directly, reached through *roads*."""

    @property
    def scope(self) -> str:
        """The namespace that is mirrored, ``*`` for all."""
        ...

    @property
    def namespaces(self) -> Sequence[str]:
        """Where anything is written."""
        ...

    @property
    def roads(self) -> Sequence[tuple[FaultProxy, ConnectionSettings]]:
        """The ways to it."""
        ...

    async def put(self, resource: str, namespace: str, name: str) -> None:
        """Create an object, or change it."""
        ...

    async def delete(self, resource: str, namespace: str, name: str) -> None:
        """Delete an object; nothing happens when there is none."""
        ...

    async def truth(self) -> Truth:
        """Everything that the server has."""
        ...

    async def fail(self, chance: random.Random) -> str:
        """Let the server itself do something wrong; what it was."""
        ...

    async def heal(self) -> None:
        """Let the server do nothing wrong."""
        ...


@dataclass
class Chronicle:
    """What happened, to be told when it ends badly, and to be counted when it ends well."""

    storms: int = 0
    writes: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    faults: int = 0
    requests: int = 0
    waited: list[float] = field(default_factory=list)
    slowest: str = ""
    grown: int = 0
    last: list[str] = field(default_factory=list)

    def note(self, what: str) -> None:
        """Remember the last things that happened."""
        self.faults += 1
        self.last = [*self.last[-19:], what]

    def __str__(self) -> str:
        longest = max(self.waited, default=0.0)
        counted = "".join(f"{count} {what}, " for what, count in self.counts.items())
        return (
            f"{self.storms} storms, {self.faults} faults, {self.writes} writes, "
            f"{counted}{self.requests} requests, agreed after {longest:.1f} s at most "
            f"(the last was {self.slowest}), "
            f"memory {self.grown / 2**20:+.1f} MiB"
        )


async def live_through(
    ground: Ground, folder: Path, *, seed: int = SEED, seconds: float = SECONDS
) -> Chronicle:
    """Let everybody live on *ground* through storms of so many seconds; what happened.

    Whoever keeps anything on disk does so below *folder*.  Fails with the seed when anything does
    not hold.
    """
    chronicle = Chronicle()
    try:
        chance = random.Random(seed)
        before = Belongings.now()
        with _no_complaints():
            inhabitants = await _live(ground, folder, seconds, chance, chronicle)
        await _nothing_is_left(ground, inhabitants, before)
    except BaseException as error:
        error.add_note(f"REFLET_SEED={seed}")
        error.add_note(f"{chronicle}; the last faults: {'; '.join(chronicle.last)}")
        raise
    return chronicle


async def _live(
    ground: Ground, folder: Path, seconds: float, chance: random.Random, chronicle: Chronicle
) -> Sequence[Inhabitant]:
    """Live through it all; who did."""
    async with _settled(ground, folder, chronicle) as (inhabitants, requests):
        await _calm(ground, inhabitants, chronicle)
        baseline: Weight | None = None
        while chronicle.storms * STORM < seconds:
            await _storm(ground, inhabitants, chance, chronicle)
            await _calm(ground, inhabitants, chronicle)
            chronicle.requests = _check_requests(inhabitants, requests, chronicle)
            if chronicle.storms == STORMS_TO_WARM_UP:
                baseline = Weight.now(_connections(ground))
            elif baseline is not None:
                chronicle.grown = await _check_weight(ground, baseline)
    return inhabitants


@contextmanager
def _no_complaints() -> Iterator[None]:
    """Fail when anybody logs an error: faults are warnings, what is an error here is a bug.

    Warnings are thousands, and not kept, nor is anything by those who run the test: memory is
    measured, and a record keeps the frames of its traceback.
    """
    errors: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            # Whoever gives a mirror nobody to report to, as the agent does, is told by the log.
            if record.msg != "%s: Failed to watch %s: %s":
                errors.append(self.format(record))

    # The sidecar calls an error what the original calls so: that it cannot read, for a while.
    heard = {"reflet": Ear(), "asyncio": Ear(), "k8s-sidecar": logging.NullHandler()}
    loggers = [(logging.getLogger(name), ear) for name, ear in heard.items()]
    levels = [logger.level for logger, _ in loggers]
    for logger, ear in loggers:
        logger.addHandler(ear)
        logger.setLevel(logging.ERROR)
        logger.propagate = False
    try:
        yield
    finally:
        for (logger, ear), level in zip(loggers, levels, strict=True):
            logger.removeHandler(ear)
            logger.setLevel(level)
            logger.propagate = True
    assert not errors, "\n".join(errors[:5])


@asynccontextmanager
async def _settled(
    ground: Ground, folder: Path, chronicle: Chronicle
) -> AsyncIterator[tuple[list[Inhabitant], list[Counter[str]]]]:
    """Everybody at home, each on the next road, and what is asked on each connection."""
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(HurriedCluster(settings))
            for _, settings in ground.roads
        ]
        requests = [client.transport.requests for client in clients]
        inhabitants = []
        for number, made in enumerate(INHABITANTS):
            given = Surroundings(
                client=clients[number % len(clients)],
                roads=[settings for _, settings in ground.roads],
                clock=HurriedClock(),
                scope=ground.scope,
                namespaces=ground.namespaces,
                office=ground,
                folder=folder,
                counts=chronicle.counts,
            )
            settler = await stack.enter_async_context(made(given))
            inhabitants.append(settler)
            requests.extend(settler.requests)
        yield inhabitants, requests


# Storms


async def _storm(
    ground: Ground, inhabitants: Sequence[Inhabitant], chance: random.Random, chronicle: Chronicle
) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + STORM
    chronicle.storms += 1
    while loop.time() < end:
        for _ in range(chance.randrange(4)):
            await _write(ground, chance)
            chronicle.writes += 1
        step = chance.choices(STEPS, weights=WEIGHTS)[0]
        await step(ground, inhabitants, chance, chronicle)
        await asyncio.sleep(chance.uniform(0.0, LONGEST_PAUSE))


async def _write(ground: Ground, chance: random.Random) -> None:
    resource = chance.choice(("configmaps", "secrets", "widgets.example.com"))
    namespace, name = chance.choice(list(ground.namespaces)), chance.choice(NAMES)
    change = ground.delete if chance.random() < 0.25 else ground.put
    await change(resource, namespace, name)


async def _nothing(
    ground: Ground, inhabitants: Sequence[Inhabitant], chance: random.Random, chronicle: Chronicle
) -> None:
    pass


async def _strike(
    ground: Ground, inhabitants: Sequence[Inhabitant], chance: random.Random, chronicle: Chronicle
) -> None:
    proxy, _ = chance.choice(list(ground.roads))
    harm = _possible(proxy, chance)
    share = chance.choice((0.1, 0.3, 1.0))
    struck = proxy.strike(harm, share=share, chooses=_repeatable)
    chronicle.note(f"{harm} of {struck} connections")


async def _lie_in_wait(
    ground: Ground, inhabitants: Sequence[Inhabitant], chance: random.Random, chronicle: Chronicle
) -> None:
    proxy, _ = chance.choice(list(ground.roads))
    ambush = Ambush(
        harm=_possible(proxy, chance),
        after=chance.choice((0, 50, 1500, 4000)),
        times=chance.randrange(1, 4),
        chooses=_repeatable,
    )
    proxy.lay(ambush)
    chronicle.note(f"{ambush.harm} after {ambush.after} bytes, {ambush.times} times")


async def _change_weather(
    ground: Ground, inhabitants: Sequence[Inhabitant], chance: random.Random, chronicle: Chronicle
) -> None:
    proxy, _ = chance.choice(list(ground.roads))
    proxy.weather = chance.choice(
        (
            Weather(),
            Weather(latency=0.01, jitter=0.03),
            Weather(bytes_per_second=50_000),
            Weather(first_byte=0.2),
        )
    )
    chronicle.note(str(proxy.weather))


async def _refuse(
    ground: Ground, inhabitants: Sequence[Inhabitant], chance: random.Random, chronicle: Chronicle
) -> None:
    proxy, _ = chance.choice(list(ground.roads))
    chronicle.note("connections accepted again" if proxy.refuses else "connections refused")
    await (proxy.accept() if proxy.refuses else proxy.refuse())


async def _fail(
    ground: Ground, inhabitants: Sequence[Inhabitant], chance: random.Random, chronicle: Chronicle
) -> None:
    chronicle.note(await ground.fail(chance))


async def _stir(
    ground: Ground, inhabitants: Sequence[Inhabitant], chance: random.Random, chronicle: Chronicle
) -> None:
    await chance.choice(list(inhabitants)).stir(chance)


Step = Callable[[Ground, Sequence[Inhabitant], random.Random, Chronicle], Awaitable[None]]
STEPS: Final[Sequence[Step]] = (
    _nothing,
    _strike,
    _lie_in_wait,
    _change_weather,
    _refuse,
    _fail,
    _stir,
)
WEIGHTS: Final = (50, 15, 8, 5, 4, 10, 30)


def _possible(proxy: FaultProxy, chance: random.Random) -> Harm:
    harms = [harm for harm in Harm if proxy.http or harm not in OF_CHUNKS]
    if proxy.http or proxy.tls is not None:
        # No network delivers bytes twice; only under TLS they are found out.
        harms.remove(Harm.REPEAT)
    return chance.choice(harms)


def _repeatable(chunk: bytes) -> bool:
    """Whether a chunk is one event that says the same when it is said again.

    Several events said again are a server that goes back in time, which no client can tell from
    a server that does.
    """
    return chunk.count(b"\n") == 1 and chunk.endswith(b"\n") and b'"DELETED"' not in chunk[:40]


# Calms


async def _calm(ground: Ground, inhabitants: Sequence[Inhabitant], chronicle: Chronicle) -> None:
    for proxy, _ in ground.roads:
        await proxy.heal()
    await ground.heal()
    loop = asyncio.get_running_loop()
    begun = looked = loop.time()
    slowest, left = "", CALM
    # Asked anew each time: some write what they did to the server.
    while (apart := _first_apart(inhabitants, await ground.truth())) and left > 0:
        slowest, _ = apart
        await asyncio.sleep(LOOK_EVERY)
        left -= min(loop.time() - looked, LONGEST_LOOK)
        looked = loop.time()
    if loop.time() - begun > max(chronicle.waited, default=0.0):
        chronicle.slowest = slowest
    chronicle.waited.append(loop.time() - begun)
    assert apart is None, f"after {CALM:g} seconds of calm: {apart}"
    seen = [f"{each.name}: {what}" for each in inhabitants for what in each.troubles()]
    assert not seen, str(seen)
    for each in inhabitants:
        each.forget()


def _first_apart(inhabitants: Sequence[Inhabitant], truth: Truth) -> tuple[str, list[str]] | None:
    """Somebody who does not agree with the server, and about what.

    To look costs the others time in which they could get there.
    """
    for each in inhabitants:
        if disagreements := each.disagreements(truth):
            return each.name, disagreements
    return None


def _check_requests(
    inhabitants: Sequence[Inhabitant],
    requests: Sequence[Counter[str]],
    chronicle: Chronicle,
) -> int:
    """Every reflector kept its pace: one new watch a second, and what back-off lets through."""
    passed = (chronicle.storms * STORM + sum(chronicle.waited)) * RATE
    of_one = passed + PASSES_OF_A_WINDOW * REQUESTS_OF_A_PASS * (passed / WINDOW + 1)
    bound = of_one * sum(each.reflectors for each in inhabitants)
    total = sum(each.total() for each in requests)
    assert total <= bound, f"{total} requests, and back-off allows {bound:.0f}"
    busiest = max(count for each in requests for count in each.values())
    # Two inhabitants may ask for the same thing; no more do.
    assert busiest <= 2 * of_one, f"one thing was asked {busiest} times, {2 * of_one:.0f} allowed"
    return total


async def _check_weight(ground: Ground, baseline: Weight) -> int:
    """How much the process grew; fails when it is much and does not pass.

    What the last storm left to be closed, a quarter of a megabyte for each TLS connection, is
    gone a moment later; a leak is not.  Of those that are open there may be more than before.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + CALM
    weight = Weight.now(_connections(ground))
    while weight.complaint(baseline) and loop.time() < deadline:
        await asyncio.sleep(1.0)
        weight = Weight.now(_connections(ground))
    assert not weight.complaint(baseline), weight.complaint(baseline)
    return weight.resident - baseline.resident


def _connections(ground: Ground) -> int:
    return sum(proxy.connections for proxy, _ in ground.roads)


async def _nothing_is_left(
    ground: Ground, inhabitants: Sequence[Inhabitant], before: Belongings
) -> None:
    """Every connection ends with those who used it, and so does all that they started or wrote."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + CALM

    def left() -> list[str]:
        links = _connections(ground)
        return [
            *Belongings.now().missing_from(before),
            *([f"{links} connections"] if links else []),
            *(what for each in inhabitants for what in each.left()),
        ]

    while left() and loop.time() < deadline:  # noqa: ASYNC110 - nobody tells when all have left
        await asyncio.sleep(LOOK_EVERY)
    assert not left(), str(left())
