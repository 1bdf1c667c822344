"""A child of the fleet benchmark: lives through one scene, and says what came of it.

Owns: the scene as a line of JSON.  Must not know what it is for.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from benchmarks.fleet_agents import Probing
from benchmarks.fleet_server import Capacity
from benchmarks.fleet_simulation import Scene, simulate
from benchmarks.measuring import answer, first_line


def task_of(scene: Scene) -> dict[str, Any]:
    """A scene as a child gets it."""
    return asdict(scene)


def scene_of(task: Mapping[str, Any]) -> Scene:
    """The scene that a task is about."""
    probing = task["probing"] and Probing(**task["probing"])
    return Scene(**{**task, "probing": probing, "capacity": Capacity(**task["capacity"])})


def main() -> None:
    """Answer one task."""
    # Half of the time would go into looking through reflectors that all stay until the end.
    gc.disable()
    answer(asdict(simulate(scene_of(first_line()))))


if __name__ == "__main__":
    main()
