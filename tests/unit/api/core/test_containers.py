import msgspec
import pytest

from reflet.api.core.containers import Container, EphemeralContainer, ResourceRequirements
from reflet.api.json_reader import reader
from reflet.errors import DecodeError


def test_a_container_keeps_all_its_sources_of_environment() -> None:
    text = (
        b'{"name":"web","envFrom":[{"prefix":"P_","configMapRef":{"name":"c","optional":true}},'
        b'{"secretRef":{"name":"s"}}],"env":[{"name":"A","value":"1"},'
        b'{"name":"B","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},'
        b'{"name":"C","valueFrom":{"resourceFieldRef":{"containerName":"web",'
        b'"resource":"limits.cpu","divisor":"1m"}}},'
        b'{"name":"D","valueFrom":{"configMapKeyRef":{"name":"c","key":"k"}}},'
        b'{"name":"E","valueFrom":{"secretKeyRef":{"name":"s","key":"k","optional":true}}},'
        b'{"name":"F","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"p","key":"k"}}}]}'
    )

    assert msgspec.json.encode(reader(Container).read(text)) == text


def test_probes_and_hooks_are_kept_as_they_came() -> None:
    text = b'{"livenessProbe":{"httpGet":{"port":80}},"lifecycle":{"preStop":{"sleep":{"s":1}}}}'

    assert msgspec.json.encode(reader(Container).read(text)) == text


def test_a_quantity_may_be_a_bare_number() -> None:
    resources = reader(ResourceRequirements).read(b'{"limits":{"cpu":1,"memory":0.5}}')

    assert resources.limits == {"cpu": "1", "memory": "0.5"}


@pytest.mark.parametrize("amount", [b"true", b"[]", b"{}"])
def test_a_quantity_is_nothing_else(amount: bytes) -> None:
    with pytest.raises(DecodeError, match='limits\\["cpu"\\]'):
        reader(ResourceRequirements).read(b'{"limits":{"cpu":' + amount + b"}}")


def test_a_variables_value_must_be_text() -> None:
    with pytest.raises(DecodeError) as caught:
        reader(Container).read(b'{"env":[{"name":"A"},{"name":"B","value":1}]}')

    assert caught.value.path == "env[1].value"


def test_an_ephemeral_container_is_a_container_with_a_target() -> None:
    container = reader(EphemeralContainer).read(b'{"name":"debug","targetContainerName":"web"}')

    assert (container.name, container.target_container_name) == ("debug", "web")


def test_what_an_ephemeral_container_inherits_is_read_only_too() -> None:
    container = reader(EphemeralContainer).read(b'{"livenessProbe":{"exec":{"command":["a"]}}}')

    assert container.liveness_probe["exec"]["command"] == ("a",)
    assert not hasattr(container.liveness_probe, "update")
