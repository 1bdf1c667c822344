"""What a pod cannot be made, placed or started without, besides configuration.

ServiceAccounts, PriorityClasses, PersistentVolumeClaims and RuntimeClasses that are named and are
neither in the files nor in a cluster that was asked.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, Protocol

from reflet.api.core.pods import Pod
from reflet.api.core.workloads import StatefulSet
from reflet.insight.fixes import near_miss
from reflet.insight.lint import rules
from reflet.insight.lint.rules import Finding, Rule, Severity
from reflet.insight.lint.subjects import Subject
from reflet.resolution.templates.templates import CustomWorkload, Workload

DEFAULT_ACCOUNT: Final = "default"
"""Every namespace has it."""
SYSTEM_CLASSES: Final = frozenset({"system-node-critical", "system-cluster-critical"})
"""Every cluster has these PriorityClasses."""

Exists = Callable[[str, str, str], bool]
"""Tells of a kind, a namespace (empty for none) and a name whether there is such an object."""


class _Named(NamedTuple):
    rule: Rule
    kind: str
    name: str
    path: str
    effect: str
    namespaced: bool = True
    volume: str = ""


def _own_claims(workload: Workload | None) -> frozenset[str]:
    """Return the volumes for which a StatefulSet makes claims itself, whatever the pod names."""
    if not isinstance(workload, StatefulSet):
        return frozenset()
    return frozenset(each.metadata.name for each in workload.spec.volume_claim_templates)


class Known(Protocol):
    """Knows more of what exists."""

    def names(self, kind: str, namespace: str) -> list[str]:
        """Return what the files have of a kind in a namespace."""

    def is_certain(self, kind: str, namespace: str, name: str) -> bool:
        """Tell whether a cluster was asked, and does not have it."""


def named_objects(pod: Pod) -> Iterator[tuple[str, str, str]]:
    """Yield what a pod names besides configuration: kind, namespace and name."""
    for named in _named(pod):
        yield named.kind, pod.metadata.namespace if named.namespaced else "", named.name


def missing_objects(subject: Subject, pod: Pod, exists: Exists, known: Known) -> Iterator[Finding]:
    """Yield what the pod names and nobody has: an error where a cluster was asked."""
    if isinstance(subject.workload, CustomWorkload):
        return  # its operator may make them, too
    own = _own_claims(subject.workload)
    for named in _named(pod):
        if named.kind == "PersistentVolumeClaim" and named.volume in own:
            continue
        namespace = pod.metadata.namespace if named.namespaced else ""
        if exists(named.kind, namespace, named.name):
            continue
        where = f" in namespace {namespace}" if namespace else ""
        close = near_miss(named.name, known.names(named.kind, namespace))
        certain = known.is_certain(named.kind, namespace, named.name)
        create = f"create {named.kind} {named.name}{where}"
        yield subject.finding(
            named.rule,
            f"{named.kind} {named.name} does not exist{where}: {named.effect}",
            path=subject.path_of(named.path),
            fix=f"did you mean {close}? Otherwise {create}" if close else create,
            severity=Severity.ERROR if certain else None,
        )


def _named(pod: Pod) -> Iterator[_Named]:
    spec = pod.spec
    account = spec.service_account_name
    if account and account != DEFAULT_ACCOUNT:
        yield _Named(
            *(rules.MISSING_SERVICE_ACCOUNT, "ServiceAccount", account),
            *("spec.serviceAccountName", "no pod is created"),
        )
    priority = spec.priority_class_name
    if priority and priority not in SYSTEM_CLASSES:
        yield _Named(
            *(rules.MISSING_PRIORITY_CLASS, "PriorityClass", priority),
            *("spec.priorityClassName", "no pod is created"),
            namespaced=False,
        )
    if spec.runtime_class_name:
        yield _Named(
            *(rules.MISSING_RUNTIME_CLASS, "RuntimeClass", spec.runtime_class_name),
            *("spec.runtimeClassName", "no pod is created"),
            namespaced=False,
        )
    for index, volume in enumerate(spec.volumes):
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name:
            yield _Named(
                *(rules.MISSING_CLAIM, "PersistentVolumeClaim", claim.claim_name),
                f"spec.volumes[{index}].persistentVolumeClaim.claimName",
                "the pod stays Pending",
                volume=volume.name,
            )
