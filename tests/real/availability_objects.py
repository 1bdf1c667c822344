"""Disruption budgets and autoscalers that are accepted, and ones that are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import Case, Manifest, manifest
from tests.real.traffic_objects import SELECTOR

BUDGETS: Final = "/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
AUTOSCALERS: Final = "/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers"
TARGET: Final = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
HALF: Final = {"type": "Utilization", "averageUtilization": 50}
AVERAGE: Final = {"type": "AverageValue", "averageValue": "500m"}


def budget(*, metadata: Manifest | None = None, **spec: Any) -> Manifest:
    return manifest("policy/v1", "PodDisruptionBudget", metadata=metadata or {}, spec=spec)


def autoscaler(**spec: Any) -> Manifest:
    usual = {"scaleTargetRef": TARGET, "maxReplicas": 3}
    return manifest("autoscaling/v2", "HorizontalPodAutoscaler", spec=usual | spec)


def measured(kind: str, source: Manifest | None = None, **more: Any) -> Manifest:
    name = kind[:1].lower() + kind[1:]
    metric = {"type": kind} | ({} if source is None else {name: source}) | more
    return autoscaler(metrics=[metric])


def source(target: Manifest, metric: str = "m", **fields: Any) -> Manifest:
    return {"metric": {"name": metric}, "target": target} | fields


def good_availability() -> Iterator[Case]:
    """Yield objects that are accepted; what is stored shows the defaults."""
    yield "empty budget", BUDGETS, budget()
    yield "budget with a selector", BUDGETS, budget(minAvailable=1, selector=SELECTOR)
    yield (
        "budget with anything as a name",
        BUDGETS,
        budget(
            metadata={"name": "Any_Name", "finalizers": ["short"]},
            maxUnavailable="100%",
            unhealthyPodEvictionPolicy="AlwaysAllow",
        ),
    )
    yield "plain autoscaler", AUTOSCALERS, autoscaler()
    core = {"kind": "ReplicationController", "name": "a"}
    yield "autoscaler of the core group", AUTOSCALERS, autoscaler(scaleTargetRef=core)
    ingress = {"kind": "Ingress", "name": "i", "apiVersion": "networking.k8s.io/v1"}
    metrics = [
        {"type": "Resource", "resource": {"name": "cpu", "target": HALF}},
        {
            "type": "ContainerResource",
            "containerResource": {"name": "memory", "container": "web", "target": AVERAGE},
        },
        {"type": "Pods", "pods": source(AVERAGE)},
        {"type": "Object", "object": source(AVERAGE, describedObject=ingress)},
        {"type": "External", "external": source({"type": "Value", "value": "30"})},
    ]
    yield "autoscaler with all metrics", AUTOSCALERS, autoscaler(minReplicas=2, metrics=metrics)
    rules = {
        "scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 1800}]},
        "scaleDown": {"selectPolicy": "Disabled", "stabilizationWindowSeconds": 3600}
        | {"tolerance": "0.05"},
    }
    yield "autoscaler with behaviour", AUTOSCALERS, autoscaler(behavior=rules)
    yield "autoscaler with usual behaviour", AUTOSCALERS, autoscaler(behavior={})


def bad_availability() -> Iterator[Case]:
    """Yield objects that are refused."""
    yield from _bad_budgets()
    yield from _bad_autoscalers()
    yield from _bad_metrics()
    yield from _bad_behaviour()


def _bad_budgets() -> Iterator[Case]:
    def case(title: str, /, **fields: Any) -> Case:
        return f"budget {title}", BUDGETS, budget(**fields)

    yield case("with both", minAvailable=1, maxUnavailable="x", selector=SELECTOR)
    yield case("below nothing", minAvailable=-1)
    yield case("that is no share", maxUnavailable="50")
    yield case("like a tag", maxUnavailable="<a>", unhealthyPodEvictionPolicy="<a>")
    yield case("of too much", maxUnavailable="101%")
    yield case("of far too much", minAvailable=f"{'9' * 30}%")
    wrong = {"matchExpressions": [{"key": "a b", "operator": "In"}]}
    yield case("with a bad selector", selector=wrong)
    yield case("with a bad policy", unhealthyPodEvictionPolicy="Never")
    yield case("with a bad name", metadata={"name": "a%b"})
    yield case("with a bad name and more", metadata={"name": "a%b"}, minAvailable=-1)
    yield case("with a bad finalizer", metadata={"finalizers": ["a b"]})


def _bad_autoscalers() -> Iterator[Case]:
    def case(title: str, /, **spec: Any) -> Case:
        return f"autoscaler {title}", AUTOSCALERS, autoscaler(**spec)

    yield case("without maximum", maxReplicas=0)
    yield case("below nothing", maxReplicas=-1, minReplicas=-2)
    yield case("upside down", minReplicas=5, maxReplicas=1)
    external = {"type": "External", "external": source(AVERAGE)}
    yield case("to zero", minReplicas=0)
    yield case("to zero by a metric", minReplicas=0, metrics=[external])
    yield case("of nothing", scaleTargetRef={})
    yield case("of bad names", scaleTargetRef={"apiVersion": "a/b/c", "kind": "a/b", "name": "%"})
    yield case("of the core group", scaleTargetRef=TARGET | {"apiVersion": "v1"})
    core = {"kind": "ReplicationController", "name": "a", "apiVersion": "a/b/c"}
    yield case("of a bad controller", scaleTargetRef=core)


def _bad_metrics() -> Iterator[Case]:
    def case(title: str, body: Manifest) -> Case:
        return f"autoscaler metric {title}", AUTOSCALERS, body

    yield case("of no type", measured(""))
    yield case("of a bad type", measured("Odd"))
    cpu = {"name": "cpu", "target": HALF}
    for kind in ("Object", "Pods", "Resource", "External", "ContainerResource"):
        yield case(f"{kind} without source", measured(kind))
        yield case(f"{kind} with an empty source", measured(kind, {}))
    yield case("with two sources", measured("Resource", cpu, pods=source({})))
    yield case("with another source", measured("Pods", resource=cpu))
    yield case("of a bad object", measured("Object", source(AVERAGE, describedObject=_odd())))
    yield case("with a bad name", measured("Pods", source(AVERAGE, "a/b")))
    both = {"type": "Value", "value": "1", "averageValue": "1"}
    yield case("external with both", measured("External", source(both)))
    twice = {"name": "cpu", "target": HALF | {"averageValue": "1"}}
    yield case("resource with both", measured("Resource", twice))
    yield case("container with both", measured("ContainerResource", twice | {"container": "A_"}))
    for name in ("pods", "requests.cpu", "a b", "requests.example.com/gpu", "example.com/gpu"):
        of = {"name": name, "container": "web", "target": {"type": "Sideways"}}
        yield case(f"of {name}", measured("ContainerResource", of))
    nothing = {"type": "Value", "value": "0", "averageValue": "-1", "averageUtilization": 0}
    yield case("of nothing", measured("Object", source(nothing, describedObject={})))


def _odd() -> Manifest:
    return {"apiVersion": "a/b/c", "kind": "..", "name": "a%"}


def _bad_behaviour() -> Iterator[Case]:
    def case(title: str, /, **rules: Any) -> Case:
        return f"autoscaler behaviour {title}", AUTOSCALERS, autoscaler(behavior=rules)

    yield case("without policies", scaleUp={"policies": []}, scaleDown={"policies": []})
    windows = {"stabilizationWindowSeconds": -1}, {"stabilizationWindowSeconds": 3601}
    yield case("with bad windows", scaleUp=windows[0], scaleDown=windows[1])
    yield case("with a bad choice", scaleUp={"selectPolicy": "Any"})
    yield case("with a bad tolerance", scaleDown={"tolerance": "-0.1"})
    long = {"type": "Percent", "value": -1, "periodSeconds": 1801}
    yield case("with bad policies", scaleUp={"policies": [{}, long]})
