import pytest

from reflet.api.codec import decode, encode
from reflet.api.core.pods import Pod, PodSpec
from reflet.api.reading import reader
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
