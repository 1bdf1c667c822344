"""Objects of kinds that are not Kubernetes' own, as what makes pods: with the defaults of pods.

``resolution.custom_templates`` finds the templates, ``apirules`` fills them.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from reflet.api.core.pods import Pod
from reflet.api.unstructured import AnyObject
from reflet.apirules.schema.known_kinds import belongs_to_kubernetes, group_of
from reflet.resolution.custom_templates import custom_workload_of
from reflet.resolution.templates import WORKLOADS, CustomWorkload, pod_of

Schemas = Mapping[tuple[str, str], Mapping[str, Any]]
"""The OpenAPI schemas of custom kinds, by apiVersion and kind."""

NO_SCHEMAS: Schemas = {}


def workload_in(item: AnyObject, schemas: Schemas = NO_SCHEMAS) -> CustomWorkload | None:
    """Return a custom object as what makes pods, or ``None`` when it has no template.

    Raises DecodeError when it has templates and not one can be read.
    """
    if belongs_to_kubernetes(group_of(item.api_version)):
        return None
    # Most objects have no template, and the structure of pods is a lot to read.
    from reflet.apirules.defaults.templates import filled_template  # noqa: PLC0415

    schema = schemas.get((item.api_version, item.kind))
    return custom_workload_of(item, filled_template, schema=schema)


def pod_made_by(found: object) -> Pod | None:
    """Return the pod that an object is or makes, whatever it was read as; ``None`` if neither."""
    if isinstance(found, AnyObject):
        found = workload_in(found)
    if isinstance(found, Pod):
        return found
    return pod_of(found) if isinstance(found, WORKLOADS) else None


def schemas_of(items: Iterable[object]) -> Schemas:
    """Return the schemas of the CustomResourceDefinitions among some objects."""
    schemas: dict[tuple[str, str], Mapping[str, Any]] = {}
    for item in items:
        if not isinstance(item, AnyObject) or item.kind != "CustomResourceDefinition":
            continue
        names, group = item.spec.get("names") or {}, item.spec.get("group")
        for version in item.spec.get("versions") or ():
            schema = (version.get("schema") or {}).get("openAPIV3Schema")
            if isinstance(schema, Mapping):
                schemas[f"{group}/{version.get('name')}", str(names.get("kind"))] = schema
    return schemas
