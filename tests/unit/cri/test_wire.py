from __future__ import annotations

import pytest

from reflet.cri.messages.containers import (
    Container,
    ContainerMetadata,
    ContainerState,
    ExecSyncResponse,
    KeyValue,
    ListContainersResponse,
)
from reflet.cri.messages.images import Image
from reflet.cri.messages.isolation import Int64Value, LinuxContainerSecurityContext
from reflet.cri.messages.sandboxes import PodSandboxMetadata, PodSandboxState, PodSandboxStatus
from reflet.cri.messages.service import PortForwardRequest
from reflet.cri.wire import CriMessage, WireForm, decode, encode, fields_of
from reflet.errors import DecodeError

CONTAINER = Container(
    id="c1",
    metadata=ContainerMetadata(name="web", attempt=300),
    state=ContainerState.EXITED,
    created_at=1_790_000_000_000_000_000,
    labels={"app": "web", "": "empty", "long": "x" * 200},
)


@pytest.mark.parametrize(
    ("message", "data"),
    [
        (ContainerMetadata(name="a", attempt=300), b"\x0a\x01a\x10\xac\x02"),
        (ExecSyncResponse(exit_code=-1), b"\x18" + b"\xff" * 9 + b"\x01"),
        (ExecSyncResponse(stdout=b"\0\xff"), b"\x0a\x02\0\xff"),
        (PodSandboxStatus(state=PodSandboxState.NOTREADY), b"\x18\x01"),
        (Int64Value(), b""),
        (LinuxContainerSecurityContext(run_as_user=Int64Value()), b"\x2a\x00"),
        (LinuxContainerSecurityContext(readonly_rootfs=True), b"\x38\x01"),
        (Image(repo_tags=("a", "")), b"\x12\x01a\x12\x00"),
        (Image(size=1 << 63), b"\x20" + b"\x80" * 9 + b"\x01"),
        (Container(labels={"k": "v"}), b"\x42\x06\x0a\x01k\x12\x01v"),
    ],
)
def test_a_message_is_written_and_read_as_protobuf_has_it(message: CriMessage, data: bytes) -> None:
    assert encode(message) == data
    assert decode(type(message), data) == message


def test_what_was_written_is_read_back() -> None:
    message = ListContainersResponse(containers=(CONTAINER, Container(), CONTAINER))

    assert decode(ListContainersResponse, encode(message)) == message


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a\x05short",  # the text is whole
        b"\xfa\x06\x01x\x0a\x05short",  # an unknown text of a field with a large number
        b"\xf8\x06\x96\x01\x0a\x05short",  # an unknown number
        b"\x61" + b"\0" * 8 + b"\x0a\x05short",  # eight bytes
        b"\x65" + b"\0" * 4 + b"\x0a\x05short",  # four bytes
        b"\x08\x07\x0a\x05short",  # a known field with another wire type
    ],
)
def test_what_is_unknown_is_skipped(data: bytes) -> None:
    assert decode(ContainerMetadata, data) == ContainerMetadata(name="short")


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a",
        b"\x0a\x05shor",
        b"\x0a\x01\xff",  # not UTF-8
        b"\x10" + b"\xff" * 11,  # a number without an end
        b"\x10\x80",
        b"\x0b\x00",  # a group, which proto3 does not have
        b"\x61\0",
        b"\x10\x01\x0a",
    ],
)
def test_half_a_message_is_none(data: bytes) -> None:
    with pytest.raises(DecodeError, match="ContainerMetadata: not a whole message"):
        decode(ContainerMetadata, data)


def test_a_part_that_reaches_beyond_its_message_makes_it_none() -> None:
    with pytest.raises(DecodeError):
        decode(Container, b"\x1a\x02\x0a\x05short")  # metadata of two bytes with a name of five


def test_numbers_may_come_packed_or_one_by_one() -> None:
    packed, single = b"\x12\x03\x50\xbb\x03", b"\x10\x50\x10\xbb\x03"

    assert decode(PortForwardRequest, packed) == PortForwardRequest(port=(80, 443))
    assert decode(PortForwardRequest, single) == PortForwardRequest(port=(80, 443))
    assert decode(PortForwardRequest, packed + single).port == (80, 443, 80, 443)


def test_a_state_that_is_newer_than_we_are_stays_a_number() -> None:
    assert decode(Container, b"\x30\x09").state == 9


@pytest.mark.parametrize(
    "entry",
    [
        b"\x0a\x01k\x12\x01v",
        b"\x12\x01v\x0a\x01k",  # the value first
        b"\x0a\x01x\x0a\x01k\x12\x01v",  # the last one counts
        b"\x0a\x01k\x12\x01v\x18\x07",  # and something unknown
    ],
)
def test_an_entry_of_a_map_may_be_written_in_any_order(entry: bytes) -> None:
    data = b"\x42" + bytes((len(entry),)) + entry

    assert decode(Container, data).labels == {"k": "v"}


@pytest.mark.parametrize(("entry", "labels"), [(b"", {"": ""}), (b"\x0a\x01k", {"k": ""})])
def test_what_an_entry_of_a_map_leaves_out_is_empty(entry: bytes, labels: dict[str, str]) -> None:
    assert decode(Container, b"\x42" + bytes((len(entry),)) + entry).labels == labels


def test_a_class_knows_its_fields() -> None:
    fields = fields_of(KeyValue)

    assert [(field.name, field.number, field.form, field.type) for field in fields] == [
        ("key", 1, WireForm.TEXT, "string"),
        ("value", 2, WireForm.DATA, "bytes"),
    ]
    assert fields_of(PodSandboxMetadata)[3].type == "uint32"


def test_what_comes_again_is_shared() -> None:
    message = encode(CONTAINER)

    first, second = decode(Container, message), decode(Container, message)

    assert first.metadata is second.metadata
    assert first == second


def test_what_is_kept_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reflet.cri.wire.MOST_KEPT", 2)
    containers = [Container(labels={"number": str(number)}) for number in range(9)]

    assert [decode(Container, encode(each)) for each in containers] == containers
