"""Objects of kinds that are not Kubernetes' own, as what makes pods: with the defaults of pods.

``resolution.templates.custom_templates`` finds the templates, ``apirules`` fills them.
"""

from collections.abc import Mapping
from typing import Any

from reflet.api.core.pods import Pod
from reflet.api.unstructured import AnyObject
from reflet.apirules.schema.known_kinds import belongs_to_kubernetes, group_of
from reflet.resolution.templates.custom_templates import custom_workload_of
from reflet.resolution.templates.templates import WORKLOADS, CustomWorkload, pod_of


def workload_in(item: AnyObject, schema: Mapping[str, Any] | None = None) -> CustomWorkload | None:
    """Return a custom object as what makes pods, or ``None`` when it has no template.

    ``schema`` is the kind's OpenAPI schema, if it is known.  Raises DecodeError when it has
    templates and not one can be read.
    """
    if belongs_to_kubernetes(group_of(item.api_version)):
        return None
    # Most objects have no template, and the structure of pods is a lot to read.
    from reflet.apirules.defaults.templates import filled_template  # noqa: PLC0415

    return custom_workload_of(item, filled_template, schema=schema)


def pod_made_by(found: object) -> Pod | None:
    """Return the pod that an object is or makes, whatever it was read as; ``None`` if neither."""
    if isinstance(found, AnyObject):
        found = workload_in(found)
    if isinstance(found, Pod):
        return found
    return pod_of(found) if isinstance(found, WORKLOADS) else None
