"""The rules of pods and of the specs in templates of pods.

Upstream: pkg/apis/core/validation/validation.go, ValidatePodSpec and ValidatePodUpdate
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.containers import (
    NO_SPACE_AROUND,
    PodAround,
    check_container,
    check_probes,
    check_resources,
)
from reflet.apirules.validation.field_errors import FieldErrors, shown
from reflet.apirules.validation.metadata import (
    IMMUTABLE,
    check_annotations,
    check_labels,
)
from reflet.apirules.validation.networking.addresses import BAD_ADDRESS
from reflet.apirules.validation.podspecs.gated_changes import check_gated_changes
from reflet.apirules.validation.podspecs.name_resolution import (
    check_dns_settings,
    check_host_aliases,
    check_host_name,
)
from reflet.apirules.validation.podspecs.operating_systems import (
    check_host_processes,
    check_host_users,
    check_operating_system,
)
from reflet.apirules.validation.podspecs.placement import (
    check_affinity,
    check_gates,
    check_spreading,
)
from reflet.apirules.validation.podspecs.pod_resources import (
    check_file_references,
    check_pod_resources,
)
from reflet.apirules.validation.podspecs.resource_claims import check_pod_claims
from reflet.apirules.validation.podspecs.restarting import (
    check_init_resize_policies,
    check_init_restart_policy,
    check_restart_policy,
)
from reflet.apirules.validation.podspecs.security import HIGHEST_ID, check_pod_security
from reflet.apirules.validation.volumes import check_volumes

Document = Mapping[str, Any]

RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
TAINT_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_ONLY_SIDECARS: Final = "may not be set for init containers without restartPolicy=Always"
_UPDATABLE: Final = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)


def check_pod(pod: Document, errors: FieldErrors) -> None:
    """Check a new pod, apart from its metadata."""
    spec = pod.get("spec") or {}
    check_pod_spec(spec, "spec", errors, is_pod=True)
    if not spec.get("serviceAccountName"):
        _check_tokens(spec.get("volumes") or (), errors)
    for kind in ("containers", "initContainers"):
        _check_images(spec.get(kind) or (), f"spec.{kind}", errors)
    if spec.get("ephemeralContainers"):
        errors.forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        said = "cannot be set until all schedulingGates have been cleared"
        errors.forbidden("spec.nodeName", said)


def check_template(template: Document, path: str, errors: FieldErrors) -> None:
    """Check the template of a pod."""
    metadata = template.get("metadata") or {}
    # Embedded in the server, so that messages do not name it.
    check_labels(metadata.get("labels"), f"{path}.labels", errors)
    check_annotations(metadata.get("annotations"), f"{path}.annotations", errors)
    spec = template.get("spec") or {}
    check_pod_spec(spec, f"{path}.spec", errors, is_pod=False)
    if spec.get("ephemeralContainers"):
        said = "ephemeral containers not allowed in pod template"
        errors.forbidden(f"{path}.spec.ephemeralContainers", said)


def check_pod_spec(spec: Document, path: str, errors: FieldErrors, *, is_pod: bool) -> None:
    """Check a pod spec, of a pod or of a template."""
    volumes = check_volumes(spec.get("volumes") or (), f"{path}.volumes", errors)
    claims = spec.get("resourceClaims") or ()
    check_pod_claims(claims, f"{path}.resourceClaims", errors)
    pod = PodAround(
        volumes=volumes,
        claims=frozenset(claim.get("name", "") for claim in claims),
        restart_policy=spec.get("restartPolicy", ""),
        host_users=spec.get("hostUsers") is not False,
        grace_period=spec.get("terminationGracePeriodSeconds", 0),
    )
    _check_containers(spec, pod, path, errors)
    _check_init_containers(spec, pod, path, errors)
    check_pod_resources(spec, path, errors)
    if spec.get("hostNetwork"):
        _check_host_ports(spec, path, errors, is_pod=is_pod)
    for name, known in (("restartPolicy", RESTART_POLICIES), ("dnsPolicy", DNS_POLICIES)):
        if spec.get(name, "") not in known:
            errors.not_supported(f"{path}.{name}", spec.get(name, ""), known)
    check_labels(spec.get("nodeSelector"), f"{path}.nodeSelector", errors)
    check_pod_security(spec, path, errors)
    check_affinity(spec.get("affinity") or {}, f"{path}.affinity", errors)
    check_dns_settings(spec, path, errors)
    check_gates(spec, path, errors)
    constraints = spec.get("topologySpreadConstraints") or ()
    check_spreading(constraints, f"{path}.topologySpreadConstraints", errors)
    check_host_processes(spec, path, errors)
    check_host_users(spec, path, errors)
    check_host_name(spec, path, errors)
    _check_small_fields(spec, path, errors)
    check_operating_system(spec, path, errors)
    check_file_references(spec, path, errors)


def _check_small_fields(spec: Document, path: str, errors: FieldErrors) -> None:
    for name in ("serviceAccountName", "nodeName"):
        if spec.get(name):
            errors.each_invalid(f"{path}.{name}", spec[name], names.dns_subdomain(spec[name]))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= HIGHEST_ID:
        here = f"{path}.activeDeadlineSeconds"
        errors.invalid(here, deadline, names.out_of_range(1, HIGHEST_ID))
    for name in ("hostname", "subdomain"):
        if spec.get(name):
            errors.each_invalid(f"{path}.{name}", spec[name], names.dns_label(spec[name]))
    check_tolerations(spec.get("tolerations") or (), f"{path}.tolerations", errors)
    check_host_aliases(spec, path, errors)
    priority, runtime = spec.get("priorityClassName"), spec.get("runtimeClassName")
    if priority:
        errors.each_invalid(f"{path}.priorityClassName", priority, names.dns_subdomain(priority))
    if runtime is not None:
        errors.each_invalid(f"{path}.runtimeClassName", runtime, names.dns_subdomain(runtime))
    preemption, here = spec.get("preemptionPolicy"), f"{path}.preemptionPolicy"
    if preemption == "":
        errors.required(here)
    elif preemption is not None and preemption not in PREEMPTION_POLICIES:
        errors.not_supported(here, preemption, PREEMPTION_POLICIES)
    check_resources({"limits": spec.get("overhead") or {}}, f"{path}.overhead", errors)


def _check_containers(spec: Document, pod: PodAround, path: str, errors: FieldErrors) -> None:
    containers = spec.get("containers") or ()
    if not containers:
        errors.required(f"{path}.containers")
    seen: set[str] = set()
    ports: set[str] = set()
    for index, container in enumerate(containers):
        here = f"{path}.containers[{index}]"
        check_container(container, pod, here, errors)
        name = container.get("name", "")
        if name in seen:
            errors.duplicate(f"{here}.name", name)
        seen.add(name)
        check_probes(container, pod, here, errors)
        check_restart_policy(container, here, errors)
    for index, container in enumerate(containers):
        _check_port_clashes(container, ports, f"{path}.containers[{index}]", errors)


def _check_init_containers(spec: Document, pod: PodAround, path: str, errors: FieldErrors) -> None:
    seen = {container.get("name", "") for container in spec.get("containers") or ()}
    for index, container in enumerate(spec.get("initContainers") or ()):
        here = f"{path}.initContainers[{index}]"
        check_container(container, pod, here, errors)
        check_init_restart_policy(container, here, errors)
        name = container.get("name", "")
        if name in seen:
            errors.duplicate(f"{here}.name", name)
        elif name:
            seen.add(name)
        # They run one after the other, so only a container's own ports can clash.
        _check_port_clashes(container, set(), here, errors)
        if container.get("restartPolicy") == "Always":
            check_probes(container, pod, here, errors)
            continue
        for field in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if container.get(field) is not None:
                errors.forbidden(f"{here}.{field}", _ONLY_SIDECARS)
        check_init_resize_policies(container, here, errors)


def _check_port_clashes(
    container: Document, taken: set[str], path: str, errors: FieldErrors
) -> None:
    for index, port in enumerate(container.get("ports") or ()):
        if port.get("hostPort"):
            used = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if used in taken:
                errors.duplicate(f"{path}.ports[{index}].hostPort", used)
            taken.add(used)


def _check_host_ports(spec: Document, path: str, errors: FieldErrors, *, is_pod: bool) -> None:
    for index, container in enumerate(spec.get("containers") or ()):
        for number, port in enumerate(container.get("ports") or ()):
            host = port.get("hostPort", 0)
            if (is_pod or host) and host != port.get("containerPort", 0):
                here = f"{path}.containers[{index}].ports[{number}].hostPort"
                said = "must match `containerPort` when `hostNetwork` is true"
                errors.invalid(here, host, said)


def check_address(address: str, path: str, errors: FieldErrors) -> None:
    """Check an IP address."""
    if not is_address(address):
        errors.invalid(path, address, BAD_ADDRESS)


def is_address(text: str) -> bool:
    """Whether a text is an IP address without a zone."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def check_tolerations(tolerations: Sequence[Document], path: str, errors: FieldErrors) -> None:
    """Check what taints a pod bears."""
    for index, toleration in enumerate(tolerations):
        here = f"{path}[{index}]"
        key, value = toleration.get("key", ""), toleration.get("value", "")
        operator, effect = toleration.get("operator", ""), toleration.get("effect", "")
        if key:
            errors.each_invalid(f"{here}.key", key, names.qualified_name(key))
        elif operator != "Exists":
            said = (
                "operator must be Exists when `key` is empty, which means "
                '"match all values and all keys"'
            )
            errors.invalid(f"{here}.operator", operator, said)
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            said = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.invalid(f"{here}.effect", effect, said)
        if operator in {"", "Equal"}:
            wrong = names.label_value(value)
            if wrong:
                errors.invalid(f"{here}.operator", value, ";".join(wrong))
        elif operator == "Exists":
            if value:
                said = "value must be empty when `operator` is 'Exists'"
                errors.invalid(f"{here}.operator", value, said)
        else:
            errors.not_supported(f"{here}.operator", operator, ("Equal", "Exists"))
        if effect and effect not in TAINT_EFFECTS:
            errors.not_supported(f"{here}.effect", effect, TAINT_EFFECTS)


def _check_tokens(volumes: Sequence[Document], errors: FieldErrors) -> None:
    for index, volume in enumerate(volumes):
        for number, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            if source.get("serviceAccountToken") is not None:
                here = f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                errors.forbidden(here, "must not be specified when serviceAccountName is not set")


def _check_images(
    containers: Sequence[Document], path: str, errors: FieldErrors, *, required: bool = False
) -> None:
    for index, container in enumerate(containers):
        image = container.get("image", "")
        if required and not image:
            errors.required(f"{path}[{index}].image")
        if image != image.strip():
            errors.invalid(f"{path}[{index}].image", image, NO_SPACE_AROUND)


def check_pod_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check an update of a pod: little besides images may change."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    check_pod_spec(spec, "spec", errors, is_pod=True)
    kinds = ("containers", "initContainers")
    for kind in kinds:
        _check_images(spec.get(kind) or (), f"spec.{kind}", errors)
    for kind in kinds:  # images once more, now as what may change
        if len(spec.get(kind) or ()) != len(before.get(kind) or ()):
            errors.forbidden(f"spec.{kind}", "pod updates may not add or remove containers")
            return
        _check_images(spec.get(kind) or (), f"spec.{kind}", errors, required=True)
    if not _check_deadline(spec, before, errors):
        return
    kept = _tolerated(spec)
    if all(each in kept for each in _tolerated(before)):
        check_tolerations(spec.get("tolerations") or (), "spec.tolerations", errors)
    else:
        said = "existing toleration can not be modified except its tolerationSeconds"
        errors.forbidden("spec.tolerations", said)
    gates = [gate.get("name") for gate in before.get("schedulingGates") or ()]
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        if gate.get("name") not in gates:
            said = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            errors.forbidden(f"spec.schedulingGates[{index}].name", said)
    changed = _forbidden_changes(check_gated_changes(spec, before, errors), before)
    if changed:
        allowed = ",".join(_UPDATABLE)
        difference = "\n".join(changed)
        said = f"pod updates may not change fields other than {allowed}\n{difference}"
        errors.forbidden("spec", said)


def _check_deadline(spec: Document, before: Document, errors: FieldErrors) -> bool:
    here = "spec.activeDeadlineSeconds"
    deadline, earlier = spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if deadline is None:
        if earlier is not None:
            said = "must not update from a positive integer to nil value"
            errors.invalid(here, None, said)
        return True
    if not 0 <= deadline <= HIGHEST_ID:
        errors.invalid(here, deadline, names.out_of_range(0, HIGHEST_ID))
        return False
    if earlier is not None and earlier < deadline:
        errors.invalid(here, deadline, "must be less than or equal to previous value")
        return False
    return True


def _tolerated(spec: Document) -> list[Document]:
    """List what a pod tolerates, however long."""
    return [
        {name: value for name, value in each.items() if name != "tolerationSeconds"}
        for each in spec.get("tolerations") or ()
    ]


def _forbidden_changes(spec: Document, before: Document) -> list[str]:
    """List the fields that differ and may not, one line each."""
    free = {"activeDeadlineSeconds", "schedulingGates", "tolerations"}
    changed = []
    for name in sorted({*spec, *before} - free):
        new, old = spec.get(name), before.get(name)
        if name in {"containers", "initContainers"}:
            new, old = _without_images(new), _without_images(old)
        if name == "terminationGracePeriodSeconds" and (old or 0) < 0 and new == 1:
            continue
        if new != old:
            changed.append(f"  {name}: {shown(old)} -> {shown(new)}")
    return changed


def _without_images(containers: Any) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in container.items() if name != "image"}
        for container in containers or ()
    ]


def check_pod_status_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check an update of a pod's status."""
    quality = (new.get("status") or {}).get("qosClass", "")
    before = (old.get("status") or {}).get("qosClass", "")
    if quality != before:
        errors.invalid("status.qosClass", quality, IMMUTABLE)
