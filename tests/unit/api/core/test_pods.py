import msgspec
import pytest

from reflet.api.codec import decode, encode
from reflet.api.core.pods import ContainerState, Pod, PodSpec, PodStatus
from reflet.api.json_reader import reader
from reflet.errors import DecodeError


def test_a_pod_survives_decoding_and_encoding() -> None:
    text = (
        b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"volumes":'
        b'[{"name":"v","configMap":{"name":"c"}}],"initContainers":[{"name":"i",'
        b'"restartPolicy":"Always"}],"containers":[{"name":"w"}],"restartPolicy":"Always",'
        b'"terminationGracePeriodSeconds":0,"nodeSelector":{"a":"b"},"hostPID":true,'
        b'"securityContext":{"runAsUser":0,"supplementalGroups":[1],"fsGroup":2},'
        b'"imagePullSecrets":[{"name":"s"}],"enableServiceLinks":false,'
        b'"resources":{"limits":{"cpu":"1"}}},"status":{"phase":"Running"}}'
    )

    assert encode(decode(text, Pod)) == text


def test_absent_service_links_are_neither_on_nor_off() -> None:
    assert reader(PodSpec).read(b"{}").enable_service_links is None


def test_a_pod_without_containers_may_say_null() -> None:
    pod = decode(b'{"metadata":{"name":"a"},"spec":{"containers":null,"volumes":null}}', Pod)

    assert pod.spec == PodSpec()


def test_the_place_of_a_wrong_type_is_named() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(b'{"metadata":{"name":"a"},"spec":{"containers":[{"name":1}]}}', Pod)

    assert caught.value.path == "spec.containers[0].name"
    assert str(caught.value).startswith("Pod a: spec.containers[0].name: expected a string")


def test_a_pod_is_not_kept_whole() -> None:
    assert not Pod.complete


def test_a_status_keeps_addresses_and_container_states() -> None:
    text = (
        b'{"observedGeneration":1,"phase":"Running","conditions":[{"type":"Ready","status":"True",'
        b'"lastTransitionTime":"2026-01-02T03:04:05Z"}],"hostIP":"10.0.0.1",'
        b'"hostIPs":[{"ip":"10.0.0.1"}],"podIP":"10.1.0.1","podIPs":[{"ip":"10.1.0.1"}],'
        b'"startTime":"2026-01-02T03:04:05Z","containerStatuses":[{"name":"web",'
        b'"state":{"running":{"startedAt":"2026-01-02T03:04:05Z"}},"lastState":{"terminated":'
        b'{"exitCode":137,"reason":"OOMKilled","containerID":"x://1"}},"ready":true,'
        b'"restartCount":1,"image":"i","imageID":"d","containerID":"x://2","started":true}],'
        b'"qosClass":"Burstable"}'
    )

    assert msgspec.json.encode(reader(PodStatus).read(text)) == text


def test_a_probe_time_that_was_never_set_is_null() -> None:
    status = reader(PodStatus).read(b'{"conditions":[{"type":"Ready","lastProbeTime":null}]}')

    assert status.conditions[0].last_probe_time is None


def test_an_empty_waiting_state_is_still_a_waiting_state() -> None:
    assert reader(ContainerState).read(b'{"waiting":{}}').waiting is not None
