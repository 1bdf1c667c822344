"""Continue tokens: where a list that is read in pages goes on.

The form is the real server's: the version of the list and the key of the next object.

Upstream: apiserver/pkg/storage/continue.go
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final, NamedTuple

from reflet.apirules.refusals import bad_request
from reflet.apirules.schema.json_reading import read_json
from reflet.errors import ApiError, DecodeError

FORM: Final = "meta.k8s.io/v1"
INCONSISTENT: Final = -1
"""The version in a token that goes on with the list as it is now, whatever changed meanwhile."""


class Continuation(NamedTuple):
    """Go on with the list as it was at ``revision``, after the object with this path."""

    revision: int
    after: str


def write_token(continuation: Continuation) -> str:
    """Write a token."""
    # The next possible key: the last one with a zero byte.
    document = {"v": FORM, "rv": continuation.revision, "start": f"{continuation.after}\0"}
    text = json.dumps(document, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_token(text: str) -> Continuation:
    """Read a token, or refuse it."""
    try:
        padded = text + "=" * (-len(text) % 4)
        content = base64.b64decode(padded.encode(), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _invalid(f"illegal base64 data at input byte {_first_bad_byte(text)}") from None
    try:
        document: Any = read_json(content)
    except DecodeError as error:
        raise _invalid(str(error)) from None
    if not isinstance(document, dict) or document.get("v") != FORM:
        form = document.get("v", "") if isinstance(document, dict) else ""
        raise _invalid(f"server does not recognize this encoded version {form}")
    revision, start = document.get("rv"), document.get("start")
    if not isinstance(revision, int) or revision == 0:
        raise _invalid(f"incorrect encoded start resourceVersion (version {FORM})")
    if not isinstance(start, str) or not start:
        raise _invalid(f"encoded start key empty (version {FORM})")
    return Continuation(revision, start.removesuffix("\0"))


def _first_bad_byte(text: str) -> int:
    for index, character in enumerate(text):
        if not (character.isascii() and (character.isalnum() or character in "-_")):
            return index
    return max(len(text) - 1, 0)


def _invalid(why: str) -> ApiError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")
