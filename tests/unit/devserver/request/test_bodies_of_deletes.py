"""The options of a delete, in the forms that clients send them in."""

from __future__ import annotations

import pytest

from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.protobuf import MAGIC, MEDIA_TYPE
from reflet.devserver.request.bodies import Body, read_options
from reflet.errors import ApiError

# An envelope that says v1 DeleteOptions, around gracePeriodSeconds 5, preconditions with the
# uid "u", and propagationPolicy "Orphan", as client-go writes it.
IN_BINARY_FORM = (
    MAGIC
    + b"\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions"
    + b"\x12\x0f\x08\x05\x12\x03\x0a\x01u\x22\x06Orphan"
    + b"\x1a\x00\x22\x00"
)


def test_options_come_as_json() -> None:
    body = Body(b'{"gracePeriodSeconds": 5}')

    assert read_options(body, Kinds()) == {"gracePeriodSeconds": 5}


def test_options_come_in_binary_form() -> None:
    assert read_options(Body(IN_BINARY_FORM, MEDIA_TYPE), Kinds()) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 5,
        "preconditions": {"uid": "u"},
        "propagationPolicy": "Orphan",
    }


@pytest.mark.parametrize(
    ("body", "code"),
    [(Body(b"nonsense", MEDIA_TYPE), 400), (Body(b"<a/>", "application/xml"), 415)],
)
def test_what_cannot_be_read_is_refused(body: Body, code: int) -> None:
    with pytest.raises(ApiError) as refused:
        read_options(body, Kinds())

    assert refused.value.code == code


def test_no_body_is_no_options() -> None:
    assert read_options(Body(), Kinds()) is None
