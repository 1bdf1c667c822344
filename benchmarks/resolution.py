"""From objects to values: containers resolved a second, and one answer from a cold start.

Owns: the pods that are resolved, the jobs, and the limit that we promise.  Must not know how an
environment is built.

- resolve: one container with 20 variables from 5 objects, again and again in one process, with
  everything that is told of each variable;
- whole pod: the same with the files of three volumes;
- growth: environments with few and many variables, from few and from many objects;
- cold: ``reflet env -f`` on the same objects as manifests, from the start of the process to its
  end, beside a bare interpreter.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.growth import Row, row
from benchmarks.measuring import Result, Sample, Spread, interleaved, table, versions_of
from benchmarks.start_up import process_cost

COLD_LIMIT: Final = 300.0  # milliseconds from the start of ``reflet env -f`` to its end
NAMESPACE: Final = "shop"

BARE: Final = "python -c pass"
COLD: Final = "reflet env -f pod.json -o json"
ENVIRONMENT: Final = "environment of a container"
WHOLE_POD: Final = "environment and three volumes"

VARIABLES: Final = (5, 20, 80)
OBJECT_COUNTS: Final = (2, 5, 20)
USUAL: Final = (20, 5)  # variables and objects, where the other is what grows


def config_map(name: str, keys: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "data": {f"KEY_{number}": f"value {number} of {name}" for number in range(keys)},
    }


def secret(name: str, keys: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "data": {f"KEY_{number}": "c2VjcmV0" for number in range(keys)},
    }


OBJECTS: Final = (
    config_map("settings", 5),
    config_map("features", 4),
    config_map("files", 4),
    secret("database", 4),
    secret("keys", 3),
)


def _key(kind: str, name: str, number: int) -> dict[str, Any]:
    return {f"{kind}KeyRef": {"name": name, "key": f"KEY_{number}"}}


ENV: Final[list[dict[str, Any]]] = [
    *({"name": f"FEATURE_{n}", "valueFrom": _key("configMap", "features", n)} for n in range(3)),
    *({"name": f"DATABASE_{n}", "valueFrom": _key("secret", "database", n)} for n in range(3)),
    {"name": "FILE", "valueFrom": _key("configMap", "files", 0)},
    {"name": "API_KEY", "valueFrom": _key("secret", "keys", 0)},
    {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    {"name": "TIER", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['tier']"}}},
    {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
    {"name": "LEVEL", "value": "info"},
    {"name": "URL", "value": "https://$(FEATURE_0):$(DATABASE_0)@$(POD_NAME)/$(LEVEL)"},
    {"name": "GREETING", "value": "$(KEY_0) and $(KEY_1) and $$(KEY_2)"},
    {"name": "KEY_4", "value": "own"},
    {"name": "EMPTY", "value": ""},
]
POD: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web-0", "namespace": NAMESPACE, "labels": {"tier": "front"}},
    "spec": {
        "enableServiceLinks": False,
        "containers": [
            {
                "name": "web",
                "image": "shop/web",
                "resources": {"limits": {"cpu": "2"}},
                "envFrom": [{"configMapRef": {"name": "settings"}}],
                "env": ENV,
            }
        ],
        "volumes": [
            {"name": "files", "configMap": {"name": "files"}},
            {"name": "keys", "secret": {"secretName": "keys"}},
            {"name": "all", "projected": {"sources": [{"secret": {"name": "database"}}]}},
        ],
    },
}


def sized(variables: int, objects: int) -> list[dict[str, Any]]:
    """A pod with so many variables, each of a key of its own, from so many objects in turn."""
    kinds = {"configMap": config_map, "secret": secret}
    named = [(("configMap", "secret")[each % 2], f"object-{each}") for each in range(objects)]
    keys = -(-variables // objects)
    env = [
        {
            "name": f"VARIABLE_{number}",
            "valueFrom": _key(*named[number % objects], number // objects),
        }
        for number in range(variables)
    ]
    container = {"name": "web", "image": "shop/web", "env": env}
    spec = {"enableServiceLinks": False, "containers": [container]}
    return [{**POD, "spec": spec}, *(kinds[kind](name, keys) for kind, name in named)]


def write(path: Path, documents: Sequence[Mapping[str, Any]]) -> Path:
    """A file of manifests."""
    path.write_text("\n".join(json.dumps(each) for each in documents))
    return path


def run(*, quick: bool) -> Result:
    """Measure the pure part in this process, and the command in processes of its own."""
    seconds, rounds = (0.3, 3) if quick else (2.0, 7)
    with tempfile.TemporaryDirectory() as folder:
        manifests = write(Path(folder) / "pod.json", (POD, *OBJECTS))
        rates = interleaved(
            (ENVIRONMENT, WHOLE_POD), rounds, lambda name: rate(name, manifests, seconds)
        )
        grown = growth(Path(folder), rounds, seconds / 4)
        commands = {
            BARE: (sys.executable, "-c", "pass"),
            COLD: (
                str(Path(sys.executable).with_name("reflet")),
                *("env", "-f", str(manifests), "-o", "json"),
            ),
        }
        processes = interleaved(commands, rounds * 3, lambda name: process_cost(commands[name]))
    cold = processes[COLD]["wall_ms"].median
    broken = []
    if cold > COLD_LIMIT:
        # A busy machine breaks a limit that a quiet one keeps: the facts to tell them apart.
        around = (
            f"CPU {processes[COLD]['cpu_ms'].median:.0f} ms, "
            f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} cores"
        )
        broken.append(f"{COLD} takes {cold:.0f} ms, and may take {COLD_LIMIT:.0f} ({around})")
    return Result(
        tables=(_rates_table(rates, rounds), _processes_table(processes, rounds * 3)),
        figures={"rates": rates, "processes": processes, "growth": grown},
        versions=versions_of("reflet", "click", "msgspec", "pyyaml"),
        broken_limits=broken,
    )


def growth(folder: Path, rounds: int, seconds: float) -> list[Row]:
    """What an environment costs by its variables, and by the objects that they come from."""
    usual_variables, usual_objects = USUAL
    shapes = {
        *((variables, usual_objects) for variables in VARIABLES),
        *((usual_variables, objects) for objects in OBJECT_COUNTS),
    }
    paths = {
        f"{variables} of {objects}": write(
            folder / f"{variables}-of-{objects}.json", sized(variables, objects)
        )
        for variables, objects in sorted(shapes)
    }
    rates = interleaved(paths, rounds, lambda name: rate(ENVIRONMENT, paths[name], seconds))

    def microseconds(variables: int, objects: int) -> float:
        return 1e6 / rates[f"{variables} of {objects}"]["per_second"].median

    return [
        row(
            ENVIRONMENT,
            who=f"Reflet, from {usual_objects} objects",
            by="variables",
            unit="µs",
            points={each: microseconds(each, usual_objects) for each in VARIABLES},
        ),
        row(
            ENVIRONMENT,
            who=f"Reflet, {usual_variables} variables",
            by="objects",
            unit="µs",
            points={each: microseconds(usual_variables, each) for each in OBJECT_COUNTS},
        ),
    ]


def rate(name: str, manifests: Path, seconds: float) -> Sample:
    """How many containers, or pods, can be resolved a second."""
    from reflet.manifests.applying import read_applied  # noqa: PLC0415 - counted by no one
    from reflet.resolution.environment.environment import resolve_environment  # noqa: PLC0415 - as above
    from reflet.resolution.resource_fields import UNKNOWN_NODE  # noqa: PLC0415 - as above
    from reflet.resolution.volumes.volume_contents import (  # noqa: PLC0415 - as above
        configuration_volumes,
        resolve_volume,
    )

    applied = read_applied([str(manifests)])
    (pod,), objects = applied.pods(), applied.object_source()

    def once() -> int:
        environment = resolve_environment(pod, "web", objects, node=UNKNOWN_NODE, services=())
        if environment.error is not None:
            raise RuntimeError(environment.error)
        if name == WHOLE_POD:
            for volume in configuration_volumes(pod):
                resolve_volume(pod, volume, objects)
        return len(environment.variables)

    variables = once()
    begun, count = time.perf_counter(), 0
    while (spent := time.perf_counter() - begun) < seconds:
        for _ in range(50):
            once()
        count += 50
    return {"per_second": count / spent, "variables": float(variables)}


def _rates_table(rates: dict[str, dict[str, Spread]], rounds: int) -> str:
    return table(
        f"Resolved a second, in one process, median of {rounds} (5 objects)",
        ("what", "a second", "low", "high", "microseconds each", "variables"),
        (
            (
                name,
                *(
                    f"{figure:.0f}"
                    for figure in (
                        figures["per_second"].median,
                        figures["per_second"].low,
                        figures["per_second"].high,
                        1e6 / figures["per_second"].median,
                        figures["variables"].median,
                    )
                ),
            )
            for name, figures in rates.items()
        ),
    )


def _processes_table(processes: dict[str, dict[str, Spread]], rounds: int) -> str:
    bare = processes[BARE]["wall_ms"].median
    return table(
        f"Whole processes, milliseconds, median of {rounds} (limit: {COLD_LIMIT:.0f})",
        ("process", "median", "low", "high", "above bare Python", "CPU"),
        (
            (
                name,
                *(f"{part:.1f}" for part in (wall.median, wall.low, wall.high)),
                f"{wall.median - bare:.1f}",
                f"{cpu.median:.1f}",
            )
            for name, wall, cpu in (
                (name, figures["wall_ms"], figures["cpu_ms"]) for name, figures in processes.items()
            )
        ),
    )
