import pytest

from reflet.api.codec import decode, encode
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import ObjectMeta
from reflet.api.watch_events import WatchEvent
from reflet.errors import DecodeError


def test_a_config_map_says_what_it_is_when_encoded() -> None:
    settings = ConfigMap(metadata=ObjectMeta(name="a"), data={"k": "v"}, binary_data={"b": b"\0"})

    assert encode(settings) == (
        b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},'
        b'"data":{"k":"v"},"binaryData":{"b":"AA=="}}'
    )


def test_a_secrets_data_is_bytes() -> None:
    secret = decode(b'{"metadata":{"name":"a"},"data":{"k":"aGVsbG8="}}', Secret)

    assert secret.data == {"k": b"hello"}


def test_a_representation_shows_sizes_and_never_values() -> None:
    secret = Secret(data={"password": b"hunter2"}, string_data={"pin": "1234"})

    for shown in (repr(secret), str(secret), f"{secret}", repr(secret.__rich_repr__())):
        assert "hunter2" not in shown
        assert "1234" not in shown
    assert "'password': ‹secret 7 B›" in repr(secret)


def test_what_holds_a_secret_does_not_show_it_either() -> None:
    event = WatchEvent(type="ADDED", object=Secret(data={"password": b"hunter2"}))

    assert "hunter2" not in repr(event)


def test_bad_base64_names_the_key_and_not_the_value() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(b'{"metadata":{"name":"a"},"data":{"ok":"aGk=","tls.crt":"hunter2!"}}', Secret)

    assert caught.value.path == 'data["tls.crt"]'
    assert str(caught.value) == 'Secret a: data["tls.crt"]: not valid base64'


def test_both_kinds_may_be_written_back_whole() -> None:
    assert ConfigMap.complete
    assert Secret.complete
