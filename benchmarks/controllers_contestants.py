"""Who takes part in the controllers benchmark, and how each is started.

Owns: the line-up and the environments.  Must not know what is measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from benchmarks.controllers_work import Task
from benchmarks.go_programs import Environment, go_program
from benchmarks.measuring import Child, RunFailed
from benchmarks.mirror_environments import environment
from benchmarks.mirror_peers.launch import LAYER, PROGRAM

LAUNCH: Final = "benchmarks.mirror_peers.launch"

OURS: Final = "ours"
RUNTIME: Final = "controller_runtime"
KOPF: Final = "kopf"
KOPF_HANDLERS: Final = "kopf_handlers"
CONTROLLER_RUNTIME: Final = "controller-runtime"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """One way to write a controller.

    ``module`` is what runs, in the environment of ``peer`` if there is one; as which ``layer``, if
    it can be several.  One that ``writes`` leaves its traces on objects that it only looks at, and
    gets objects of its own.
    """

    title: str
    module: str = ""
    layer: str = ""
    peer: str = ""
    writes: bool = False


CONTESTANTS: Final[Mapping[str, Contestant]] = {
    OURS: Contestant(title="**Reflet** `reconcile`", module="benchmarks.controllers_ours"),
    RUNTIME: Contestant(title="controller-runtime (Go)", peer=CONTROLLER_RUNTIME),
    KOPF: Contestant(
        title="kopf `on.event`", module="benchmarks.controllers_kopf", layer="event", peer="kopf"
    ),
    KOPF_HANDLERS: Contestant(
        title="kopf `on.create`, `on.update`, `on.resume`",
        module="benchmarks.controllers_kopf",
        layer="handlers",
        peer="kopf",
        writes=True,
    ),
}
ELECTED: Final = (OURS, RUNTIME)
"""Who leads by a Lease."""

Environments = Mapping[str, Environment]


def environments() -> Environments:
    """What the peers run in, made now if it is not there."""
    runtime = go_program(
        "controller", CONTROLLER_RUNTIME, version_of="sigs.k8s.io/controller-runtime"
    )
    return {"kopf": environment("kopf"), CONTROLLER_RUNTIME: runtime}


def started(name: str, task: Task, found: Environments) -> Child:
    """A contestant that begins with its task; RunFailed when it cannot."""
    contestant = CONTESTANTS[name]
    if not contestant.peer:
        return Child(contestant.module, asdict(task))
    peer = found[contestant.peer]
    if peer.missing:
        raise RunFailed(peer.missing)
    command = [*peer.command, *(("-m", contestant.module) if contestant.module else ())]
    variables = {PROGRAM: json.dumps(command), LAYER: contestant.layer}
    return Child(LAUNCH, asdict(task), environment=variables)
