from __future__ import annotations

from typing import Any

from reflet.apirules.pod_amounts import container_amounts


def box(cpu: str, **fields: Any) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": cpu}}} | fields


def total(**spec: Any) -> str:
    return str(container_amounts(spec, "requests")["cpu"])


def test_what_runs_at_the_same_time_is_added_up() -> None:
    sidecar = box("1", restartPolicy="Always")

    assert total(containers=[box("1"), box("500m")]) == "1500m"
    assert total(containers=[box("1")], initContainers=[box("3"), box("2")]) == "3"
    assert total(containers=[box("1")], initContainers=[sidecar, box("3")]) == "4"
    assert total(containers=[box("5")], initContainers=[sidecar, box("3")]) == "6"
