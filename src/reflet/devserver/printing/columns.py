"""The headings of tables: names, types and whether only the wide form shows them.

They equal the real server's but for the descriptions.

Upstream: pkg/printers/internalversion/printers.go, AddHandlers
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

Column = dict[str, Any]


def column(
    name: str, kind: str = "string", *, form: str = "", text: str = "", priority: int = 0
) -> Column:
    """Make one column; priority 0 is always shown, others in the wide form."""
    return {
        "name": name,
        "type": kind,
        "format": form,
        "description": text,
        "priority": priority,
    }


def _wide(name: str) -> Column:
    return column(name, priority=1)


def _integer(name: str) -> Column:
    return column(name, "integer")


NAME: Final = column("Name", form="name", text="The object's name.")
AGE: Final = column("Age", text="The time since the object was created.")
NAMED_ONLY: Final = (NAME, AGE)

_TEMPLATE: Final = (_wide("Containers"), _wide("Images"))
_SELECTED: Final = (*_TEMPLATE, _wide("Selector"))

COLUMNS: Final[Mapping[str, tuple[Column, ...]]] = MappingProxyType(
    {
        "configmaps": (NAME, column("Data"), AGE),
        "cronjobs.batch": (
            NAME,
            column("Schedule"),
            column("Timezone"),
            column("Suspend", "boolean"),
            _integer("Active"),
            column("Last Schedule"),
            AGE,
            *_SELECTED,
        ),
        "customresourcedefinitions.apiextensions.k8s.io": (NAME, column("Created At", "date")),
        "daemonsets.apps": (
            NAME,
            *map(_integer, ("Desired", "Current", "Ready", "Up-to-date", "Available")),
            column("Node Selector"),
            AGE,
            *_SELECTED,
        ),
        "deployments.apps": (
            NAME,
            column("Ready"),
            column("Up-to-date"),
            column("Available"),
            AGE,
            *_SELECTED,
        ),
        "endpoints": (NAME, column("Endpoints"), AGE),
        "events": (
            column("Last Seen"),
            column("Type"),
            column("Reason"),
            column("Object"),
            _wide("Subobject"),
            _wide("Source"),
            column("Message"),
            _wide("First Seen"),
            _wide("Count"),
            {**NAME, "priority": 1},
        ),
        "jobs.batch": (
            NAME,
            column("Status"),
            column("Completions"),
            column("Duration"),
            AGE,
            *_SELECTED,
        ),
        "leases.coordination.k8s.io": (NAME, column("Holder"), AGE),
        "namespaces": (NAME, column("Status"), AGE),
        "nodes": (
            NAME,
            column("Status"),
            column("Roles"),
            AGE,
            column("Version"),
            *map(_wide, ("Internal-IP", "External-IP", "OS-Image", "Kernel-Version")),
            _wide("Container-Runtime"),
        ),
        "pods": (
            NAME,
            column("Ready"),
            column("Status"),
            column("Restarts"),
            AGE,
            *map(_wide, ("IP", "Node", "Nominated Node", "Readiness Gates")),
        ),
        "replicasets.apps": (
            NAME,
            *map(_integer, ("Desired", "Current", "Ready")),
            AGE,
            *_SELECTED,
        ),
        "secrets": (NAME, column("Type"), column("Data"), AGE),
        "services": (
            NAME,
            column("Type"),
            column("Cluster-IP"),
            column("External-IP"),
            column("Port(s)"),
            AGE,
            _wide("Selector"),
        ),
        "statefulsets.apps": (NAME, column("Ready"), AGE, *_TEMPLATE),
    }
)
"""By the place where the objects are stored."""
