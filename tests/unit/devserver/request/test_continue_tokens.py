"""Tokens that say where a list goes on."""

from __future__ import annotations

import base64

import pytest

from reflet.devserver.request.continue_tokens import Continuation, read_token, write_token
from reflet.errors import BadRequest


@pytest.mark.parametrize("after", ["a", "default/a", "ns/naïve"])
def test_a_token_is_read_as_it_was_written(after: str) -> None:
    continuation = Continuation(17, after)

    assert read_token(write_token(continuation)) == continuation


def test_a_token_has_the_real_servers_form() -> None:
    text = write_token(Continuation(222, "c1"))

    assert base64.b64decode(text + "==") == b'{"v":"meta.k8s.io/v1","rv":222,"start":"c1\\u0000"}'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{}", "server does not recognize this encoded version "),
        (b"[]", "server does not recognize this encoded version "),
        (b'{"v":"meta.k8s.io/v1"}', "incorrect encoded start resourceVersion"),
        (b'{"v":"meta.k8s.io/v1","rv":5}', "encoded start key empty"),
        (b"nonsense", "invalid character 'o' in literal null (expecting 'u')"),
    ],
)
def test_what_is_no_token_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read_token(base64.urlsafe_b64encode(content).decode())

    prefix = "invalid continue token: continue key is not valid: "
    assert refused.value.message.startswith(prefix + said)


def test_what_is_not_base64_is_refused() -> None:
    with pytest.raises(BadRequest, match="illegal base64 data at input byte 2"):
        read_token("ab!c")
