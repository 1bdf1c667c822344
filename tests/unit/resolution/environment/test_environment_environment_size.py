"""How large an environment can become: no more than a process could be given, in any way."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from reflet.api.core.services import ServicePort
from reflet.resolution.environment.env_files import MountedVolume
from reflet.resolution.environment.environment import EnvironmentSize
from reflet.resolution.environment.expansion import LARGEST_EXPANSION
from reflet.resolution.environment.variables import Environment
from reflet.resolution.problems import OversizedEnvironment
from tests.unit.resolution.scenes import (
    config_map,
    environment_of,
    pod_with,
    secret,
    service,
    variable,
)

MIB = 1 << 20
MOST_MEMORY = 8 * LARGEST_EXPANSION  # bytes at once, however much the pod asks for

A_LARGE_VALUE = [
    {"name": "A0", "value": "x" * 64},
    *({"name": f"A{index + 1}", "value": f"$(A{index})" * 2} for index in range(16)),
]
"""Variables that double each other: the last has 4 MiB, and all of them 8."""


def peak_of(work: Callable[[], Environment]) -> tuple[Environment, int]:
    tracemalloc.start()
    try:
        done = work()
        return done, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def wide(value: str = "$(A15)", count: int = 100) -> list[dict[str, Any]]:
    return [{"name": f"B{index}", "value": value} for index in range(count)]


FILES = {"f": b"".join(b"K%d='%s'\n" % (index, b"x" * 60_000) for index in range(16))}


@pytest.mark.parametrize(
    "container",
    [
        {"env": [*A_LARGE_VALUE[:16], *wide()]},
        {"env": [*A_LARGE_VALUE[:16], {"name": "B", "value": "$(A15)" * 200}]},
        {
            "envFrom": [
                {"secretRef": {"name": "large"}, "prefix": f"P{index}"} for index in range(200)
            ]
        },
        {
            "env": [
                variable(f"B{index}", secretKeyRef={"name": "large", "key": "a"})
                for index in range(200)
            ]
        },
        {
            "env": [
                variable(f"B{index}", fileKeyRef={"volumeName": "v", "path": "f", "key": "K1"})
                for index in range(2000)
            ]
        },
    ],
    ids=["wide", "long", "objects", "keys", "files"],
)
def test_a_short_pod_cannot_ask_for_the_whole_memory(container: dict[str, Any]) -> None:
    pod = pod_with(container, volumes=[{"name": "v", "emptyDir": {}}])
    volumes = {"v": MountedVolume(directory="/v", files=FILES)}
    large = secret("large", a="\N{SNOWMAN}".encode() * (MIB // 3))

    environment, peak = peak_of(lambda: environment_of(pod, large, volumes=volumes))

    problem = environment.problems[-1]
    assert isinstance(problem, OversizedEnvironment)
    assert (problem.blocking, environment.error) == (True, problem.message)
    assert peak < MOST_MEMORY


def test_services_count_too() -> None:
    ports = tuple(ServicePort(name=f"p{index}", port=index) for index in range(1, 3000))
    services = [service("shop", f"{'s' * 50}{index}", "10.0.0.1", *ports) for index in range(20)]

    environment, peak = peak_of(
        lambda: environment_of(pod_with(enableServiceLinks=True), services=services)
    )

    assert isinstance(environment.problems[-1], OversizedEnvironment)
    assert peak < 4 * MOST_MEMORY  # each of these short variables costs many times its text


def test_the_first_variable_that_does_not_fit_is_named_and_ends_it() -> None:
    pod = pod_with({"env": [*A_LARGE_VALUE, *wide("$(A16)$(MISSING)")]})

    problem = environment_of(pod).problems[-1]

    assert isinstance(problem, OversizedEnvironment)
    assert problem.place.path == "spec.containers[0].env[16].value"
    assert problem.place.variable == "A16"
    assert problem.size > problem.limit == LARGEST_EXPANSION


def test_no_value_is_in_what_is_told() -> None:
    pod = pod_with(
        {
            "envFrom": [{"secretRef": {"name": "credentials"}}],
            "env": [{"name": "B", "value": "$(key)" * 2000}],
        }
    )

    environment = environment_of(pod, secret(key=b"canary" * 1000))

    assert environment.error is not None
    assert "canary" not in f"{environment.error}{environment.problems}"


def test_what_linux_hands_over_at_most_is_put_together() -> None:
    values = {f"V{index}": "x" * 131_000 for index in range(48)}  # 6 MiB
    pod = pod_with({"env": [{"name": name, "value": value} for name, value in values.items()]})

    environment = environment_of(pod)

    assert (environment.values, environment.error) == (values, None)


def test_what_is_replaced_later_takes_no_room() -> None:
    rounds = [{"name": "A", "value": "$(BASE)" * 1000}, {"name": "A", "value": "small"}] * 40
    emptied = [{"name": "A", "value": "$(BASE)" * 1000}, {"name": "A"}] * 40
    base = {"name": "BASE", "value": "x" * 1000}

    replaced, peak = peak_of(lambda: environment_of(pod_with({"env": [base, *rounds]})))
    also_replaced = environment_of(pod_with({"env": [base, *emptied]}))

    assert (replaced.values["A"], replaced.error) == ("small", None)
    assert (also_replaced.values["A"], also_replaced.error) == ("", None)
    assert peak < MOST_MEMORY


@pytest.mark.parametrize("kind", ["configMapRef", "secretRef"])
def test_objects_that_hide_each_other_are_as_large_as_the_last(kind: str) -> None:
    sources = [{kind: {"name": f"o{index}"}} for index in range(30)]
    text = "\N{SNOWMAN}" * (MIB // 3)
    make = (
        partial(config_map, key=text)
        if kind == "configMapRef"
        else partial(secret, key=text.encode())
    )

    environment = environment_of(
        pod_with({"envFrom": sources}), *(make(f"o{index}") for index in range(30))
    )

    assert environment.error is None
    assert environment.values == {"key": text}


def test_what_is_counted_is_what_stands() -> None:
    size = EnvironmentSize()

    assert size.takes("A", 7, before=None)
    assert size.size == 10
    assert size.takes("A", 2, before="1234567")
    assert size.size == 5
    assert not size.takes("B", LARGEST_EXPANSION - 7, before=None)
    assert size.is_exceeded
