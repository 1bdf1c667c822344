"""What an API server means that does not take a pod: its words, as controllers keep them."""

from __future__ import annotations

import pytest

from reflet.insight.why.creation_reasons import (
    AbsentObject,
    AdmissionDenied,
    CreationRefused,
    LimitRangeViolated,
    PodSecurityViolated,
    QuotaExceeded,
    QuotaNeedsResources,
    ServerRefuses,
    WebhookUnreachable,
    refusal,
)
from reflet.insight.why.reasons import ObjectName, Reason

EXAMPLE = ObjectName(kind="ReplicaSet", namespace="shop", name="web-5d4")
FORBIDDEN = 'pods "web-5d4-x7v2k" is forbidden: '


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            (
                "exceeded quota: compute, requested: requests.cpu=500m, used: requests.cpu=4, "
                "limited: requests.cpu=4"
            ),
            QuotaExceeded(namespace="shop", quota="compute", limited="requests.cpu=4"),
        ),
        (
            "failed quota: compute: must specify limits.cpu for: web; limits.memory for: web",
            QuotaNeedsResources(
                namespace="shop",
                quota="compute",
                missing="limits.cpu for: web; limits.memory for: web",
            ),
        ),
        (
            "maximum cpu usage per Container is 1, but limit is 2",
            LimitRangeViolated(
                namespace="shop", words="maximum cpu usage per Container is 1, but limit is 2"
            ),
        ),
        (
            (
                "[minimum memory usage per Container is 64Mi, but request is 32Mi, maximum cpu "
                "usage per Container is 1, but limit is 2]"
            ),
            LimitRangeViolated(
                namespace="shop",
                words="[minimum memory usage per Container is 64Mi, but request is 32Mi, maximum "
                "cpu usage per Container is 1, but limit is 2]",
            ),
        ),
        (
            (
                'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false '
                '(container "web" must set securityContext.allowPrivilegeEscalation=false)'
            ),
            PodSecurityViolated(
                namespace="shop",
                standard="restricted:latest",
                words='allowPrivilegeEscalation != false (container "web" must set '
                "securityContext.allowPrivilegeEscalation=false)",
            ),
        ),
        (
            'error looking up service account shop/builder: serviceaccount "builder" not found',
            AbsentObject(kind="ServiceAccount", namespace="shop", name="builder"),
        ),
        (
            "no PriorityClass with name urgent was found",
            AbsentObject(kind="PriorityClass", name="urgent"),
        ),
        (
            'pod rejected: RuntimeClass "gvisor" not found',
            AbsentObject(kind="RuntimeClass", name="gvisor"),
        ),
        (
            (
                "ValidatingAdmissionPolicy 'no-latest' with binding 'all' denied request: "
                "images need a tag"
            ),
            AdmissionDenied(by="ValidatingAdmissionPolicy no-latest", words="images need a tag"),
        ),
    ],
)
@pytest.mark.parametrize(
    "head", ["", "Error creating: ", "create Pod web-0 in StatefulSet web failed error: "]
)
def test_what_admission_says_is_understood(head: str, words: str, reason: Reason) -> None:
    assert refusal(f"{head}{FORBIDDEN}{words}", "shop") == reason


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            'admission webhook "policy.example.com" denied the request: no team label',
            AdmissionDenied(by="webhook policy.example.com", words="no team label"),
        ),
        (
            'admission webhook "policy.example.com" denied the request without explanation',
            AdmissionDenied(by="webhook policy.example.com", words=""),
        ),
        (
            (
                'Internal error occurred: failed calling webhook "inject.example.com": failed to '
                'call webhook: Post "https://inject.mesh.svc:443/i?timeout=10s": dial tcp '
                "10.0.0.7:443: connect: connection refused"
            ),
            WebhookUnreachable(
                webhook="inject.example.com",
                words='failed to call webhook: Post "https://inject.mesh.svc:443/i?timeout=10s": '
                "dial tcp …:443: connect: connection refused",
            ),
        ),
    ],
)
def test_what_webhooks_do_is_understood(words: str, reason: Reason) -> None:
    assert refusal(f"Error creating: {words}", "shop") == reason


def test_other_words_stay_without_what_is_each_pods_own() -> None:
    words = 'Error creating: pods "web-5d4-x7v2k" is forbidden: web-5d4-x7v2k is not nice'

    assert refusal(words, "shop") == CreationRefused(words="… is not nice")


def test_a_service_account_that_could_not_be_looked_up_need_not_be_missing() -> None:
    words = f"{FORBIDDEN}error looking up service account shop/builder: timed out"

    assert isinstance(refusal(words, "shop"), CreationRefused)


@pytest.mark.parametrize(
    ("reason", "message", "fix"),
    [
        (
            QuotaExceeded(namespace="shop", quota="compute", limited="pods=10"),
            "ResourceQuota shop/compute is used up: limited to pods=10",
            "kubectl edit resourcequota compute -n shop",
        ),
        (
            QuotaNeedsResources(namespace="shop", quota="compute", missing="limits.cpu for: web"),
            "ResourceQuota shop/compute takes no pod that does not set limits.cpu for: web",
            "a default with a LimitRange in namespace shop",
        ),
        (
            LimitRangeViolated(namespace="shop", words="too much"),
            "a LimitRange of namespace shop does not allow it: too much",
            "kubectl get limitrange -n shop -o yaml",
        ),
        (
            PodSecurityViolated(namespace="shop", standard="restricted:latest", words="privileged"),
            (
                "namespace shop enforces PodSecurity restricted:latest, and the pod violates it: "
                "privileged"
            ),
            "pod-security.kubernetes.io/enforce",
        ),
        (
            AdmissionDenied(by="webhook w", words=""),
            "webhook w refuses the pod: it does not say why",
            "ask who runs webhook w",
        ),
        (
            WebhookUnreachable(webhook="w", words="refused"),
            "admission webhook w cannot be called: refused",
            "start the service behind w",
        ),
        (
            CreationRefused(words="no"),
            "the API server does not take the pod: no",
            "kubectl describe rs/web-5d4 -n shop",
        ),
        (
            AbsentObject(kind="ServiceAccount", namespace="shop", name="builder"),
            "ServiceAccount shop/builder does not exist: no pod is created",
            "create ServiceAccount builder in namespace shop",
        ),
        (
            AbsentObject(
                kind="PersistentVolumeClaim", namespace="shop", name="data", certain=False
            ),
            (
                "PersistentVolumeClaim shop/data is not in the files: no node takes the pod where "
                "it does not exist"
            ),
            "create PersistentVolumeClaim data in namespace shop",
        ),
        (
            AbsentObject(kind="StorageClass", name="fast"),
            "StorageClass fast does not exist: the claim stays unbound",
            "create StorageClass fast",
        ),
        (
            ServerRefuses(place="a.yaml:3", words="spec: Required value"),
            "a.yaml:3: the API server would refuse it: spec: Required value",
            "change the fields that it names",
        ),
    ],
)
def test_each_says_what_is_wrong_and_what_to_do(reason: Reason, message: str, fix: str) -> None:
    assert reason.message == message
    assert fix in reason.advice(EXAMPLE)
