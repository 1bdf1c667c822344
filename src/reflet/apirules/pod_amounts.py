"""How much all containers of a pod ask for together.

Upstream: component-helpers/resource/helpers.go, AggregateContainerRequests and
AggregateContainerLimits
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflet.api.quantities import ZERO, Quantity

Document = Mapping[str, Any]
Amounts = dict[str, Quantity]


def container_amounts(spec: Document, kind: str) -> Amounts:
    """Add up what runs at the same time; containers that come first need only as much each.

    ``kind`` is ``requests`` or ``limits``.
    """
    total: Amounts = {}
    beside: Amounts = {}
    highest: Amounts = {}
    for container in spec.get("containers") or ():
        _add(total, container, kind)
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            _add(total, container, kind)
            _add(beside, container, kind)
            needed = beside
        else:
            needed = dict(beside)
            _add(needed, container, kind)
        for name, amount in needed.items():
            highest[name] = max(highest.get(name, ZERO), amount)
    return {
        name: max(total.get(name, ZERO), highest.get(name, ZERO)) for name in {*total, *highest}
    }


def _add(amounts: Amounts, container: Document, kind: str) -> None:
    for name, amount in ((container.get("resources") or {}).get(kind) or {}).items():
        quantity = Quantity.parse(amount)
        amounts[name] = amounts[name] + quantity if name in amounts else quantity
