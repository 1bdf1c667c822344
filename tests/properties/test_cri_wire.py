"""Protobuf's wire format: what was written is read back, and nonsense is refused, never more."""

from __future__ import annotations

from contextlib import suppress
from enum import IntEnum
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflet.cri.messages.containers import CreateContainerRequest
from reflet.cri.messages.images import ListImagesResponse
from reflet.cri.messages.service import ContainerEventResponse, PortForwardRequest
from reflet.cri.wire import CriMessage, Field, WireForm, decode, encode, fields_of
from reflet.errors import DecodeError

KINDS = [ContainerEventResponse, CreateContainerRequest, ListImagesResponse, PortForwardRequest]
NUMBERS = {
    "int32": st.integers(-(1 << 31), (1 << 31) - 1),
    "int64": st.integers(-(1 << 63), (1 << 63) - 1),
    "uint32": st.integers(0, (1 << 32) - 1),
    "uint64": st.integers(0, (1 << 64) - 1),
}
TEXTS = st.text(max_size=200)


def messages(kind: type[CriMessage]) -> st.SearchStrategy[CriMessage]:
    """Any message of this class."""
    fields = {field.name: values(field) for field in fields_of(kind)}
    return st.fixed_dictionaries({}, optional=fields).map(lambda given: kind(**given))


def values(field: Field) -> st.SearchStrategy[Any]:
    """Any value of this field."""
    if field.form is WireForm.MAP:
        return st.dictionaries(TEXTS, TEXTS, max_size=3)
    one = _one(field)
    return st.lists(one, max_size=2).map(tuple) if field.repeated else one


def _one(field: Field) -> st.SearchStrategy[Any]:
    kind = field.type
    if isinstance(kind, str):
        others: dict[str, st.SearchStrategy[Any]] = {
            "string": TEXTS,
            "bytes": st.binary(max_size=20),
            "bool": st.booleans(),
        }
        return {**NUMBERS, **others}[kind]
    if issubclass(kind, IntEnum):
        return st.sampled_from(kind)
    inner = cast("type[CriMessage]", kind)
    return st.deferred(lambda: messages(inner))


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_what_was_written_is_read_back(kind: type[CriMessage], data: st.DataObject) -> None:
    message = data.draw(messages(kind))

    assert decode(kind, encode(message)) == message


@pytest.mark.parametrize("kind", KINDS)
@given(nonsense=st.binary(max_size=400))
def test_nonsense_is_a_message_or_a_decode_error(kind: type[CriMessage], nonsense: bytes) -> None:
    with suppress(DecodeError):
        decode(kind, nonsense)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_message_that_is_cut_anywhere_is_less_or_a_decode_error(
    kind: type[CriMessage], data: st.DataObject
) -> None:
    whole = encode(data.draw(messages(kind)))
    with suppress(DecodeError):
        decode(kind, whole[: data.draw(st.integers(0, len(whole)))])
