import pytest

from reflet.api.codec import decode, encode
from reflet.api.core.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from reflet.api.meta import TypedObject

TEMPLATE = b'"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"w"}]}}'


@pytest.mark.parametrize(
    ("workload", "group", "fields"),
    [
        (Deployment, b"apps/v1", b'"replicas":0,"selector":{"matchLabels":{"a":"b"}},' + TEMPLATE),
        (StatefulSet, b"apps/v1", b'"replicas":1,' + TEMPLATE + b',"serviceName":"s"'),
        (DaemonSet, b"apps/v1", TEMPLATE),
        (ReplicaSet, b"apps/v1", b'"replicas":3,' + TEMPLATE),
        (ReplicationController, b"v1", b'"replicas":3,"selector":{"a":"b"},' + TEMPLATE),
        (Job, b"batch/v1", b'"parallelism":1,"backoffLimit":0,' + TEMPLATE),
        (CronJob, b"batch/v1", b'"schedule":"@daily","jobTemplate":{"spec":{' + TEMPLATE + b"}}"),
    ],
)
def test_a_workload_keeps_its_template(
    workload: type[TypedObject], group: bytes, fields: bytes
) -> None:
    kind = workload.__name__.encode()
    text = b'{"apiVersion":"%s","kind":"%s","metadata":{"name":"x"},"spec":{%s}}' % (
        group,
        kind,
        fields,
    )

    assert encode(decode(text, workload)) == text


def test_a_template_needs_no_name() -> None:
    deployment = decode(
        b'{"metadata":{"name":"d"},"spec":{"template":{"metadata":{"creationTimestamp":null}}}}',
        Deployment,
    )

    assert deployment.spec.template.metadata.name == ""


def test_counters_are_read() -> None:
    deployment = decode(b'{"metadata":{"name":"d"},"status":{"readyReplicas":2}}', Deployment)

    assert deployment.status.ready_replicas == 2
