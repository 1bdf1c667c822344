from __future__ import annotations

import struct

import pytest

from reflet.apirules.schema.protobuf import MAGIC, decode_protobuf
from reflet.apirules.schema.schemas import Schemas
from reflet.errors import DecodeError
from tests.unit.devserver.object_scene import KINDS


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value % 2**64)


def text(field: int, value: bytes | str) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    made = b""
    while value > 0x7F:
        made += bytes([value & 0x7F | 0x80])
        value >>= 7
    return made + bytes([value])


def envelope(api_version: str, kind: str, content: bytes) -> bytes:
    return MAGIC + text(1, text(1, api_version) + text(2, kind)) + text(2, content)


def test_a_config_map_is_read() -> None:
    metadata = text(1, "x") + text(11, text(1, "app") + text(2, "web"))
    entries = text(2, text(1, "a") + text(2, "1")) + text(3, text(1, "b") + text(2, b"\x00\x01"))

    document = decode_protobuf(
        envelope("v1", "ConfigMap", text(1, metadata) + entries + number(4, 1)), KINDS
    )

    assert document == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", "labels": {"app": "web"}},
        "data": {"a": "1"},
        "binaryData": {"b": "AAE="},
        "immutable": True,
    }


def test_embedded_sources_numbers_times_and_quantities_are_read() -> None:
    limits = text(1, text(1, "cpu") + text(2, text(1, "500m")))
    probe = text(1, text(2, text(2, number(2, 8080))))
    container = text(1, "c") + text(8, limits) + text(10, probe)
    volume = text(1, "v") + text(2, text(6, text(1, "s") + number(3, 420)))
    metadata = text(8, number(1, 1577836800)) + number(10, -1)
    spec = text(1, volume) + text(2, container)

    document = decode_protobuf(envelope("v1", "Pod", text(1, metadata) + text(2, spec)), KINDS)

    assert document["metadata"] == {
        "creationTimestamp": "2020-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": -1,
    }
    assert document["spec"]["volumes"] == [
        {"name": "v", "secret": {"secretName": "s", "defaultMode": 420}}
    ]
    (made,) = document["spec"]["containers"]
    assert made["resources"] == {"limits": {"cpu": "500m"}}
    assert made["livenessProbe"] == {"httpGet": {"port": 8080}}


def test_a_port_may_be_a_name() -> None:
    port = number(3, 80) + text(4, number(1, 1) + text(3, "http"))

    document = decode_protobuf(envelope("v1", "Service", text(2, text(1, port))), KINDS)

    assert document["spec"]["ports"] == [{"port": 80, "targetPort": "http"}]


def test_a_zero_time_is_nothing() -> None:
    document = decode_protobuf(envelope("v1", "ConfigMap", text(1, text(8, b""))), KINDS)

    assert document["metadata"] == {"creationTimestamp": None}


def test_lists_inside_maps_are_unwrapped() -> None:
    user = text(4, text(1, "scopes") + text(2, text(1, "a") + text(1, "b")))
    review = envelope("authentication.k8s.io/v1", "SelfSubjectReview", text(2, text(1, user)))

    document = decode_protobuf(review, KINDS)

    assert document["status"]["userInfo"] == {"extra": {"scopes": ["a", "b"]}}


def test_a_schema_reads_what_the_register_does_not_have() -> None:
    schema = Schemas.recorded().lookup("io.k8s.api.authentication.v1.TokenRequest")
    content = text(2, text(1, "audience") + number(4, 3600))

    document = decode_protobuf(
        envelope("authentication.k8s.io/v1", "TokenRequest", content), KINDS, schema
    )

    assert document["spec"] == {"audiences": ["audience"], "expirationSeconds": 3600}


def test_fields_of_newer_clients_are_skipped() -> None:
    strange = text(999, "x") + varint(998 << 3 | 5) + struct.pack("<I", 1)

    assert decode_protobuf(envelope("v1", "ConfigMap", strange), KINDS).keys() == {
        "apiVersion",
        "kind",
    }


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        envelope("v1", "Nope", b""),
        envelope("v1", "ConfigMap", b"\x0a\xff"),
        envelope("v1", "ConfigMap", b"\x0b"),
        envelope("v1", "ConfigMap", number(1, 5)),
        envelope("v1", "ConfigMap", text(4, "x")),
        envelope("v1", "ConfigMap", b"\xff" * 12),
    ],
)
def test_what_cannot_be_read_is_an_error(raw: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_protobuf(raw, KINDS)
