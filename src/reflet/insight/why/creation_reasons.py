"""Why no pod is made: what the API server says to a controller that tries, and what does not exist.

A controller keeps the server's words in the condition ReplicaFailure or the event FailedCreate.

Upstream: apiserver/pkg/admission/plugin/resourcequota/controller.go, CheckRequest;
    plugin/pkg/admission/{limitranger,serviceaccount,priority,runtimeclass}/admission.go;
    pod-security-admission/admission/admission.go; apiserver/pkg/admission/plugin/webhook
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from reflet.insight.why.reasons import ObjectName, Reason
from reflet.insight.why.signals import common_words

_EFFECTS: Final[Mapping[str, str]] = {
    "PersistentVolumeClaim": "no node takes the pod",
    "StorageClass": "the claim stays unbound",
}


class AbsentObject(Reason, frozen=True, kw_only=True):
    """Something besides configuration that a pod cannot be made or placed without.

    One that is not ``certain`` is missing among files; a cluster may have it.
    """

    kind: str
    namespace: str = ""
    name: str
    certain: bool = True

    def _sentence(self) -> str:
        effect = _EFFECTS.get(self.kind, "no pod is created")
        called = f"{self.namespace}/{self.name}" if self.namespace else self.name
        if self.certain:
            return f"{self.kind} {called} does not exist: {effect}"
        return f"{self.kind} {called} is not in the files: {effect} where it does not exist"

    def _advice(self, _: ObjectName, /) -> str:
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"create {self.kind} {self.name}{where}"


class ServerRefuses(Reason, frozen=True, kw_only=True):
    """A pod or workload of files that an API server would not take."""

    place: str
    words: str

    def _sentence(self) -> str:
        return f"{self.place}: the API server would refuse it: {self.words}"

    def _advice(self, _: ObjectName, /) -> str:
        return "change the fields that it names"


class QuotaExceeded(Reason, frozen=True, kw_only=True):
    """A ResourceQuota leaves no room for another pod."""

    namespace: str
    quota: str
    limited: str

    def _sentence(self) -> str:
        return f"ResourceQuota {self.namespace}/{self.quota} is used up: limited to {self.limited}"

    def _advice(self, _: ObjectName, /) -> str:
        return (
            "ask for less, scale something down, or raise it: "
            f"kubectl edit resourcequota {self.quota} -n {self.namespace}"
        )


class QuotaNeedsResources(Reason, frozen=True, kw_only=True):
    """A ResourceQuota counts a resource for which the containers do not say how much they need."""

    namespace: str
    quota: str
    missing: str

    def _sentence(self) -> str:
        return (
            f"ResourceQuota {self.namespace}/{self.quota} takes no pod that does not set "
            f"{self.missing}"
        )

    def _advice(self, _: ObjectName, /) -> str:
        return f"set {self.missing}, or a default with a LimitRange in namespace {self.namespace}"


class LimitRangeViolated(Reason, frozen=True, kw_only=True):
    """A LimitRange does not allow what a container asks for."""

    namespace: str
    words: str

    def _sentence(self) -> str:
        return f"a LimitRange of namespace {self.namespace} does not allow it: {self.words}"

    def _advice(self, _: ObjectName, /) -> str:
        return (
            "change requests or limits of the container; the range is in: "
            f"kubectl get limitrange -n {self.namespace} -o yaml"
        )


class PodSecurityViolated(Reason, frozen=True, kw_only=True):
    """The namespace enforces a Pod Security Standard that the pod does not keep."""

    namespace: str
    standard: str
    words: str

    def _sentence(self) -> str:
        return (
            f"namespace {self.namespace} enforces PodSecurity {self.standard}, "
            f"and the pod violates it: {self.words}"
        )

    def _advice(self, _: ObjectName, /) -> str:
        return (
            "set in securityContext what it names, or let the namespace enforce less: its label "
            "pod-security.kubernetes.io/enforce"
        )


class AdmissionDenied(Reason, frozen=True, kw_only=True):
    """A webhook or a policy of the cluster refuses the pod."""

    by: str
    words: str

    def _sentence(self) -> str:
        return f"{self.by} refuses the pod: {self.words or 'it does not say why'}"

    def _advice(self, _: ObjectName, /) -> str:
        return f"change the pod as it says, or ask who runs {self.by}"


class WebhookUnreachable(Reason, frozen=True, kw_only=True):
    """The API server cannot call a webhook that it must ask about every pod."""

    webhook: str
    words: str

    def _sentence(self) -> str:
        return f"admission webhook {self.webhook} cannot be called: {self.words}"

    def _advice(self, _: ObjectName, /) -> str:
        return (
            f"start the service behind {self.webhook}; who asks it is in: "
            "kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations -o yaml"
        )


class CreationRefused(Reason, frozen=True, kw_only=True):
    """The API server refuses the pod for another reason."""

    words: str

    def _sentence(self) -> str:
        return f"the API server does not take the pod: {self.words}"

    def _advice(self, example: ObjectName, /) -> str:
        return f"kubectl describe {example} {example.in_namespace}"


_Making = Callable[[Mapping[str, str], str], Reason]

_REFUSALS: Final[Mapping[str, _Making]] = {
    r"exceeded quota: (?P<quota>\S+), requested: .*?, used: .*?, limited: (?P<limited>.+)": (
        lambda said, namespace: QuotaExceeded(namespace=namespace, **said)
    ),
    r"failed quota: (?P<quota>\S+): must specify (?P<missing>.+)": (
        lambda said, namespace: QuotaNeedsResources(namespace=namespace, **said)
    ),
    r'violates PodSecurity "(?P<standard>[^"]*)": (?P<words>.+)': (
        lambda said, namespace: PodSecurityViolated(namespace=namespace, **said)
    ),
    r'admission webhook "(?P<name>[^"]*)" denied the request(?:: (?P<words>.*))?': (
        lambda said, _: AdmissionDenied(by=f"webhook {said['name']}", words=said["words"])
    ),
    r"ValidatingAdmissionPolicy '(?P<name>[^']*)' with .* denied request: (?P<words>.*)": (
        lambda said, _: AdmissionDenied(
            by=f"ValidatingAdmissionPolicy {said['name']}", words=said["words"]
        )
    ),
    r'failed calling webhook "(?P<name>[^"]*)"(?:: |; )(?P<words>.*)': (
        lambda said, _: WebhookUnreachable(webhook=said["name"], words=common_words(said["words"]))
    ),
    r"looking up service account (?P<namespace>[^/\s]+)/(?P<name>[^:\s]+): .*not found": (
        lambda said, _: AbsentObject(
            kind="ServiceAccount", namespace=said["namespace"], name=said["name"]
        )
    ),
    r"no PriorityClass with name (?P<name>\S+) was found": (
        lambda said, _: AbsentObject(kind="PriorityClass", name=said["name"])
    ),
    r'RuntimeClass "(?P<name>[^"]*)" not found': (
        lambda said, _: AbsentObject(kind="RuntimeClass", name=said["name"])
    ),
    r"(?P<words>\[?(?:m(?:in|ax)imum \S+ usage|\S+ max limit to request ratio) per .*)": (
        lambda said, namespace: LimitRangeViolated(namespace=namespace, **said)
    ),
}
_HEAD: Final = re.compile(
    r'^(?:Error creating(?: job)?: |.* failed error: )?(?:\S+ "(?P<name>[^"]*)" is \w+: )?',
    re.DOTALL,
)


def refusal(words: str, namespace: str) -> Reason:
    """Return what an API server means that does not take a pod of a namespace."""
    for pattern, make in _REFUSALS.items():
        found = re.search(pattern, words, re.DOTALL)
        if found:
            return make(found.groupdict(""), namespace)
    head = _HEAD.match(words)
    name = head["name"] or "" if head else ""
    return CreationRefused(words=common_words(words[head.end() if head else 0 :], name))
