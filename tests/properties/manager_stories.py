"""Stories of managers among API servers that lag.

What may happen in a story and how often, and making one that fails short; what is claimed of it is
in ``manager_world``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random
from typing import Final

from tests.properties.manager_world import AT_EVERY_TICK, NAMES, PODS, Circumstances, Step

FEW_NAMES: Final = NAMES[:5]
OFTEN_A: Final = (*"aaaa", *FEW_NAMES)
"""Most of what goes wrong takes several steps with one object."""
REPLICAS: Final = 3
STEPS: Final = (30, 80)
PAUSES: Final = (None, 0.0, 0.0, 0.01, 0.01, 0.3, 3.0)
"""Seconds after a step; None is nothing at all."""
SOME: Final = [frozenset(some) for size in range(6) for some in combinations(FEW_NAMES, size)]
WEIGHTS: Final[list[tuple[int, list[Step]]]] = [
    (18, [("put", name, False) for name in OFTEN_A]),
    (10, [("delete", name, None) for name in OFTEN_A]),
    (17, [("register", name, some) for name in PODS[:3] for some in SOME]),
    (5, [("unregister", name, None) for name in PODS[:3]]),
    (10, [("lag", replica, lag) for replica in range(REPLICAS) for lag in range(6)]),
    (7, [("tick", None, None)]),
    (9, [("only", name, None) for name in OFTEN_A]),
    (7, [("read", name, None) for name in OFTEN_A]),
    (5, [("bookmark", None, None)]),
    (1, [("put", name, True) for name in FEW_NAMES]),
    (2, [("hear", None, None)]),
    (2, [("forbid", forbidden, None) for forbidden in (True, False)]),
    (2, [("compact", None, None)]),
    (2, [("outage", seconds, None) for seconds in (0.1, 2.0)]),
    (1, [("restore", versions, None) for versions in range(1, 10)]),
    (2, [("rest", None, None)]),
]
"""The steps that there are, and how often each kind happens among a hundred."""
_KINDS: Final = [kind for _, kind in WEIGHTS]
_WEIGHTS: Final = [weight for weight, _ in WEIGHTS]


@dataclass(frozen=True)
class Story:
    """What happens, one thing after the other, and among whom."""

    number: int
    it: Circumstances
    steps: list[Step]

    def __str__(self) -> str:
        return "\n".join(map(str, [f"story {self.number}", self.it, *self.steps]))

    def shortened(self, fails: Callable[[Story], bool]) -> Story:
        """The story, which fails, without the steps that it fails without."""
        story, size = self, len(self.steps) // 2
        while size:
            begin = 0
            while begin < len(story.steps):
                rest = story.steps[:begin] + story.steps[begin + size :]
                shorter = replace(story, steps=rest)
                if fails(shorter):
                    story = shorter
                else:
                    begin += size
            size //= 2
        return story


A_MOMENT: Step = ("pass", 0.01, None)
TWO_SERVERS: Final = Circumstances(there="abcde", lags=(0, 0), routes=(0, 1), idle=AT_EVERY_TICK)
ONCE_WRONG: Final = {
    "deleted before a late pod came, and found again where that is not known yet": Story(
        0,
        replace(TWO_SERVERS, gone="d", streaming=False, lags=(0, 1), routes=(0, 0, 1, 1)),
        [
            ("register", "p", frozenset("abc")),
            A_MOMENT,
            ("register", "q", frozenset("d")),
            A_MOMENT,
        ],
    ),
    "two changes in one batch, of which the second was seen before": Story(
        0,
        TWO_SERVERS,
        [
            ("register", "p", frozenset("abc")),
            A_MOMENT,
            ("lag", 0, 9),
            ("put", "d", False),
            ("put", "d", False),
            ("register", "q", frozenset("d")),
            A_MOMENT,
            ("lag", 0, 0),
        ],
    ),
    "idle before its own stream was there, and read where less is known": Story(
        0,
        replace(TWO_SERVERS, delays={"a": 0.5}, lags=(0, 3)),
        [
            ("register", "p", frozenset("abc")),
            A_MOMENT,
            ("only", "a", None),
            A_MOMENT,
            ("put", "a", False),
            A_MOMENT,
            ("tick", None, None),
            A_MOMENT,
            ("read", "a", None),
        ],
    ),
}
"""Stories that chance tells rarely."""


def told(seed: int, number: int) -> Story:
    """A story, the same for the same numbers."""
    chance = Random(f"{seed} {number}")
    steps: list[Step] = []
    for kind in chance.choices(_KINDS, _WEIGHTS, k=chance.randint(*STEPS)):
        steps.append(chance.choice(kind))
        pause = chance.choice(PAUSES)
        if pause is not None:
            steps.append(("pass", pause, None))
    return Story(number, _circumstances(chance), steps)


def _circumstances(chance: Random) -> Circumstances:
    return Circumstances(
        there=FEW_NAMES,
        gone=chance.choice(SOME),
        delays={
            "*": chance.choice([0.0, 0.0, 0.02, 0.5]),
            **{name: chance.choice([0.0, 0.02, 0.5, 0.5]) for name in FEW_NAMES},
        },
        streaming=chance.random() < 0.5,
        lags=[chance.randrange(5) for _ in range(REPLICAS)],
        routes=[chance.randrange(REPLICAS) for _ in range(chance.randint(1, 6))],
        impatient=chance.random() < 0.15,
        opaque=chance.random() < 0.1,
        page_size=chance.choice([0, 2]),
        swallows_cancels=chance.random() < 0.2,
        followed=chance.random() < 0.2,
        idle=AT_EVERY_TICK,
    )
