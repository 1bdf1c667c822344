"""Devices, classes of them, and claims of them that are refused because of what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.devserver_objects import Case, Manifest
from tests.real.good_devices import (
    CLAIMS,
    CLASSES,
    NODES,
    OPAQUE,
    RICH_DEVICE,
    SLICES,
    TEMPLATES,
    claim_template,
    device_claim,
    device_class,
    resource_slice,
)

EXACT = {"deviceClassName": "c"}


def bad_devices() -> Iterator[Case]:
    """Yield devices and claims that are refused."""
    yield from _bad_claims()
    yield from _bad_classes()
    yield from _bad_slices()
    yield from _bad_capacities()


def _bad_claims() -> Iterator[Case]:
    def case(title: str, /, **devices: Any) -> Case:
        return f"device claim {title}", CLAIMS, device_claim(**devices)

    def request(**wish: Any) -> list[Manifest]:
        return [{"name": "one", "exactly": EXACT | wish}]

    yield case("of too much", requests=request() * 33)
    yield case("twice the same", requests=request() * 2)
    yield case("of bad names", requests=[{"name": "A_", "exactly": {"deviceClassName": "B_"}}])
    yield case("of nothing", requests=[{"name": "a"}, {"name": "b", "exactly": {}}])
    both = {"name": "a", "exactly": EXACT, "firstAvailable": [{"name": "b", **EXACT}]}
    yield case("of one or several", requests=[both])
    many = [{"name": f"n{number}", **EXACT} for number in range(9)]
    yield case("of too many alternatives", requests=[{"name": "a", "firstAvailable": many}])
    same = [{"name": "b", **EXACT}] * 2
    yield case("of alternatives of one name", requests=[{"name": "a", "firstAvailable": same}])
    yield case("of none", requests=request(allocationMode="ExactCount", count=-1))
    yield case("of all and two", requests=request(allocationMode="All", count=2))
    yield case("in another way", requests=request(allocationMode="Some"))
    yield case("selected by nothing", requests=request(selectors=[{}, {"cel": {}}]))
    long = {"cel": {"expression": "a" * 10241}}
    yield case("selected at length", requests=request(selectors=[long]))
    tolerations = [
        {"key": "a b", "operator": "Exists", "value": "v", "effect": "Sometimes"},
        {"operator": "Equal", "value": "a b"},
        {"operator": "Near"},
    ]
    yield case("with bad tolerations", requests=request(tolerations=tolerations))
    constraints = [
        {"requests": ["one", "one", "a/b/c", "A_", "two"], "matchAttribute": "numa"},
        {"distinctAttribute": "/x"},
        {"distinctAttribute": f"d.example/{'a' * 33}"},
        {},
    ]
    yield case("with bad constraints", constraints=constraints)
    config = [
        {"requests": ["two"]},
        {"opaque": {}},
        {"opaque": {"driver": "A_" * 32, "parameters": []}},
        {"opaque": {"driver": "d", "parameters": {"a": "b" * 10240}}},
    ]
    yield case("with bad configurations", config=config)
    yield (
        "template of bad claims",
        TEMPLATES,
        claim_template({"labels": {"a b": ""}, "annotations": {"a b": ""}}, requests=[{}]),
    )


def _bad_classes() -> Iterator[Case]:
    yield "device class of bad parts", CLASSES, device_class(selectors=[{}], config=[{}])
    yield "device class of much", CLASSES, device_class(config=[OPAQUE] * 33)
    name = {"extendedResourceName": "cpu"}
    yield "device class of a bad name", CLASSES, device_class(**name)


def _bad_slices() -> Iterator[Case]:
    def case(title: str, /, *devices: Any, **spec: Any) -> Case:
        return f"slice {title}", SLICES, resource_slice(*devices, **spec)

    device = {"name": "a"}
    yield case("of nowhere", device, nodeName=None)
    yield case("of everywhere", device, allNodes=True, nodeSelector=NODES)
    yield case("of no node", device, nodeName="", allNodes=False, perDeviceNodeSelection=False)
    yield case("of no term", device, nodeName=None, nodeSelector={"nodeSelectorTerms": [{}, {}]})
    yield case("of nobody", device, driver="", pool={"name": "", "generation": -1})
    yield case("of a bad pool", device, pool={"name": "A_/", "resourceSliceCount": 0})
    yield case("of two names", device, device, {"name": "A_"})
    yield case("of much", *({"name": f"d{number}"} for number in range(129)))
    taint = {"key": "a b", "value": "c d", "effect": "Sometimes"}
    yield case("with bad taints", device | {"taints": [taint, {"key": "a"}]})
    counters = [{"name": "A_"}, {"name": "a", "counters": {"B_": {"value": "1"}}}]
    yield case("of bad counters", sharedCounters=counters)
    used = [{"counterSet": ""}, {"counterSet": "a", "counters": {"B_": {"value": "1"}}}]
    yield case("of bad consumption", device | {"consumesCounters": used})
    yield case("of devices and counters", device, sharedCounters=counters[1:])
    yield case("with a device elsewhere", device | {"nodeName": "n"})
    apart = {"nodeName": None, "perDeviceNodeSelection": True}
    yield case("apart and nowhere", device, **apart)
    yield case("apart twice", device | {"nodeName": "N_", "allNodes": True}, **apart)
    yield case("apart in no place", device | {"nodeName": "", "allNodes": False}, **apart)
    attributes = [
        {"a": {}},
        {"a": {"int": 1, "bool": True}},
        {"a": {"string": "a" * 65}},
        {"a": {"version": "1.2"}},
        {"a b": {"int": 1}},
        {"/a": {"int": 1}},
        {"a/": {"int": 1}},
        {"x" * 120: {}},
    ]
    for number, found in enumerate(attributes):
        yield case(f"with a bad attribute {number}", device | {"attributes": found})
    many = {f"a{number}": {"int": 1} for number in range(33)}
    yield case("of many attributes", device | {"attributes": many})
    conditions = {"bindingConditions": ["a b", "c", "c"], "bindingFailureConditions": ["c"]}
    yield case("with bad conditions", device | conditions)
    yield case("with conditions alone", device | {"bindingConditions": ["a"]})


def _bad_capacities() -> Iterator[Case]:
    def case(title: str, policy: Any, *, several: bool = True) -> Case:
        memory = {"memory": {"value": "4Gi", "requestPolicy": policy}}
        device = RICH_DEVICE | {"capacity": memory, "allowMultipleAllocations": several}
        return f"capacity {title}", SLICES, resource_slice(device)

    span = {"min": "1Gi", "max": "4Gi", "step": "1Gi"}
    yield case("for one", {"default": "1Gi"}, several=False)
    yield case("of two sorts", {"default": "1Gi", "validValues": ["1Gi"], "validRange": span})
    yield case("without a usual value", {"validValues": ["1Gi"]})
    yield case("without a usual range", {"validRange": span})
    yield case("of no usual value", {"default": "3Gi", "validValues": ["2Gi", "1Gi", "1Gi"]})
    yield case("of large values", {"default": "8Gi", "validValues": ["8Gi"]})
    yield case("from nowhere", {"default": "1Gi", "validRange": {"max": "2Gi"}})
    yield case("of a large range", {"default": "9Gi", "validRange": {"min": "5Gi", "max": "8Gi"}})
    yield case("of a turned range", {"default": "1Gi", "validRange": {"min": "3Gi", "max": "2Gi"}})
    uneven = {"min": "1Gi", "max": "4Gi", "step": "5Gi"}
    yield case("in uneven steps", {"default": "2Gi", "validRange": uneven})
