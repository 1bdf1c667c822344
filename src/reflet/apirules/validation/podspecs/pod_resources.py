"""The rules of resources that a pod has as a whole, and of files that become variables.

Upstream: pkg/apis/core/validation/validation.go, validatePodResources and
validateFileKeyRefVolumes
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.api.quantities import Quantity
from reflet.apirules.pod_amounts import container_amounts
from reflet.apirules.validation.containers import check_resources
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.podspecs.operating_systems import all_containers
from reflet.apirules.validation.resource_names import check_resource, is_huge_page

Document = Mapping[str, Any]

OF_PODS: Final = ("cpu", "hugepages-", "memory")


def check_pod_resources(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check what a pod asks for and may use, apart from each of its containers."""
    resources, here = spec.get("resources"), f"{path}.resources"
    if resources is None:
        return
    if (spec.get("os") or {}).get("name") == "windows":
        errors.forbidden(here, "may not be set for a windows pod")
        return
    if resources.get("claims") is not None:
        said = "claims may not be set for Resources at pod-level"
        errors.forbidden(f"{here}.claims", said)
    check_resources(resources, here, errors, check_name=_check_name)
    _check_amounts(spec, resources, here, errors)


def _check_name(name: str, path: str, errors: FieldErrors) -> None:
    before = len(errors)
    check_resource(name, path, errors)
    if len(errors) == before and name not in OF_PODS and not is_huge_page(name):
        errors.not_supported(path, name, OF_PODS)


def _check_amounts(spec: Document, resources: Document, path: str, errors: FieldErrors) -> None:
    for name, amount in sorted(container_amounts(spec, "requests").items()):
        whole = (resources.get("requests") or {}).get(name)
        if whole is not None and amount > Quantity.parse(whole):
            said = f"must be greater than or equal to aggregate container requests of {amount}"
            errors.invalid(f"{path}.requests[{name}]", str(Quantity.parse(whole)), said)
    limits = resources.get("limits") or {}
    for name, amount in sorted(container_amounts(spec, "limits").items()):
        if is_huge_page(name) and name in limits and amount > Quantity.parse(limits[name]):
            said = f"must be greater than or equal to aggregate container limits of {amount}"
            errors.invalid(f"{path}.limits[{name}]", str(Quantity.parse(limits[name])), said)
    for index, container in enumerate(spec.get("containers") or ()):
        own = (container.get("resources") or {}).get("limits") or {}
        for name, amount in sorted(own.items()):
            if name in limits and Quantity.parse(amount) > Quantity.parse(limits[name]):
                here = f"{path}.containers[{index}][{name}].limits"
                said = f"must be less than or equal to pod limits of {limits[name]}"
                errors.invalid(here, str(Quantity.parse(amount)), said)


def check_file_references(spec: Document, path: str, errors: FieldErrors) -> None:
    """Check that variables from files come from volumes that the containers write themselves."""
    volumes = {volume.get("name", ""): volume for volume in spec.get("volumes") or ()}
    for container, here in all_containers(spec, path):
        for index, variable in enumerate(container.get("env") or ()):
            reference = (variable.get("valueFrom") or {}).get("fileKeyRef")
            if reference is None:
                continue
            name = reference.get("volumeName", "")
            place = f"{here}.env[{index}].valueFrom.fileKeyRef.volumeName"
            if name not in volumes:
                errors.not_found(place, name)
            elif volumes[name].get("emptyDir") is None:
                errors.invalid(place, name, "referenced volume must be of type emptyDir")
