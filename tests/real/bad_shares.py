"""Quotas, ranges of limits and priority classes that are refused because of what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.devserver_objects import Case
from tests.real.good_storage import (
    LIMIT_RANGES,
    PRIORITY_CLASSES,
    QUOTAS,
    limits,
    priority_class,
    quota,
)


def bad_shares() -> Iterator[Case]:
    """Yield quotas, ranges of limits and priority classes that are refused."""
    yield from _bad_quotas()
    yield from _bad_limits()
    yield from _bad_priorities()


def _bad_quotas() -> Iterator[Case]:
    def case(title: str, hard: Any = None, /, **spec: Any) -> Case:
        return title, QUOTAS, quota(hard, **spec)

    def selector(*requirements: Any) -> Any:
        return {"matchExpressions": list(requirements)}

    yield case("quota of what is not", {"foo": "1"})
    yield case("quota of storage", {"storage": "1"})
    yield case("quota of bad names", {"a b": "1"})
    yield case("quota of less", {"cpu": "-1"})
    yield case("quota of half a pod", {"pods": "1500m"})
    yield case("quota of half a thing", {"count/jobs.batch": "1500m"})
    yield case("quota of too many", {"secrets": "9" * 30})
    yield case("quota in an unknown scope", scopes=["Sometimes"])
    yield case("quota in a wrong scope", {"secrets": "1"}, scopes=["Terminating"])
    yield case("quota of cpu without effort", {"cpu": "1"}, scopes=["BestEffort"])
    yield case("quota of attributes", {"pods": "1"}, scopes=["VolumeAttributesClass"])
    yield case("quota both ways", scopes=["BestEffort", "NotBestEffort"])
    unknown = {"scopeName": "Sometimes", "operator": "Near"}
    yield case("quota selected by what is not", scopeSelector=selector(unknown))
    wrong = {"scopeName": "Terminating", "operator": "In", "values": ["a"]}
    yield case("quota selected wrongly", {"secrets": "1"}, scopeSelector=selector(wrong))
    empty = {"scopeName": "PriorityClass", "operator": "In"}
    yield case("quota selected by no value", scopeSelector=selector(empty))
    full = {"scopeName": "PriorityClass", "operator": "Exists", "values": ["a"]}
    yield case("quota selected by too much", scopeSelector=selector(full))
    both = [{"scopeName": name, "operator": "Exists"} for name in ("Terminating", "NotTerminating")]
    yield case("quota selected both ways", scopeSelector=selector(*both))


def _bad_limits() -> Iterator[Case]:
    def case(title: str, /, *items: Any) -> Case:
        return title, LIMIT_RANGES, limits(*items)

    def container(**amounts: Any) -> Any:
        return {"type": "Container"} | amounts

    yield case("limits of no type", {"type": "", "max": {"cpu": "1"}})
    yield case("limits of an unknown type", {"type": "Node"})
    yield case("limits of a type twice", {"type": "Pod"}, {"type": "Pod"})
    yield case("pod defaults", {"type": "Pod", "default": {"cpu": 1}, "defaultRequest": {"cpu": 1}})
    yield case("claim limits without storage", {"type": "PersistentVolumeClaim"})
    yield case("claim limits of what is not", {"type": "a/b", "min": {"foo": "1"}})
    for name in ("max", "min", "maxLimitRequestRatio"):
        yield case(f"{name} of storage", {"type": "Pod", name: {"storage": "1"}})
    yield case("min of a bad extension", container(min={"requests.a/b": "1"}))
    yield case("min over max", container(min={"cpu": "2"}, max={"cpu": "1"}))
    yield case("request below min", container(min={"cpu": "2"}, defaultRequest={"cpu": "1"}))
    yield case("default out of bounds", container(max={"cpu": "2"}, default={"cpu": "3"}))
    yield case("request over limit", container(default={"cpu": "1"}, defaultRequest={"cpu": "2"}))
    yield case("ratio below one", container(maxLimitRequestRatio={"cpu": "500m"}))
    ratio = {"min": {"cpu": "3"}, "max": {"cpu": "4"}, "maxLimitRequestRatio": {"cpu": "2"}}
    yield case("ratio too high", {"type": "Pod"} | ratio)
    large = {"min": {"cpu": "3P"}, "max": {"cpu": "10P"}, "maxLimitRequestRatio": {"cpu": "4"}}
    yield case("ratio of large amounts", {"type": "Pod"} | large)
    below = {"min": {"cpu": "0"}, "max": {"cpu": "-1"}, "maxLimitRequestRatio": {"cpu": "2"}}
    yield case("ratio to nothing", {"type": "Pod"} | below)
    uneven = {"default": {"a.b/c": "2"}, "defaultRequest": {"a.b/c": "1"}}
    yield case("overcommitted device", container(**uneven))


def _bad_priorities() -> Iterator[Case]:
    def case(title: str, name: str = "x", /, **fields: Any) -> Case:
        return title, PRIORITY_CLASSES, priority_class({"name": name}, **fields)

    yield case("priority too high", value=1_000_000_001)
    yield case("priority of the system", "system-x")
    yield case("wrong value of a system class", "system-node-critical")
    value = 2_000_000_000
    yield case("system default", "system-cluster-critical", value=value, globalDefault=True)
    yield case("unknown preemption", preemptionPolicy="Always")
    yield case("empty preemption", preemptionPolicy="")
    yield case("priority with a bad name", "A_")
