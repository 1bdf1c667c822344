"""What the encoder of request heads writes is what a decoder of HPACK reads."""

from __future__ import annotations

import hpack
import pytest

from reflet.transport.http.header_blocks import MOST_KEPT, HeaderBlocks

Headers = list[tuple[bytes, bytes]]

REQUEST: Headers = [
    (b":method", b"PATCH"),
    (b":scheme", b"https"),
    (b":authority", b"127.0.0.1:6443"),
    (b":path", b"/apis/example.com/v1/namespaces/shop/widgets/one/status"),
    (b"user-agent", b"reflet/0.1.0 (linux/x86_64; python 3.11.7)"),
    (b"authorization", b"Bearer secret"),
    (b"impersonate-extra-scopes", b"view"),
    (b"accept", b"application/json"),
    (b"content-type", b"application/merge-patch+json"),
    (b"content-length", b"34"),
]


def decoded(decoder: hpack.Decoder, block: bytes) -> Headers:
    return [(bytes(name), bytes(value)) for name, value in decoder.decode(block, raw=True)]


def test_a_decoder_reads_what_was_written_again_and_again() -> None:
    blocks, decoder = HeaderBlocks(), hpack.Decoder()

    assert [decoded(decoder, blocks.encode(REQUEST)) for _ in range(3)] == [REQUEST] * 3


@pytest.mark.parametrize("length", [0, 1, 126, 127, 128, 254, 255, 16_510, 16_511, 100_000])
def test_a_value_may_have_any_length(length: int) -> None:
    headers = [(b"x-long", b"a" * length)]

    assert decoded(hpack.Decoder(1 << 20), HeaderBlocks().encode(headers)) == headers


def test_the_other_side_keeps_nothing() -> None:
    blocks, decoder = HeaderBlocks(), hpack.Decoder()

    decoder.decode(blocks.encode(REQUEST))

    assert len(decoder.header_table.dynamic_entries) == 0
    assert decoder.header_table_size == 0


def test_a_server_that_allows_no_table_can_read_it() -> None:
    blocks, decoder = HeaderBlocks(), hpack.Decoder()
    decoder.max_allowed_table_size = 0
    blocks.header_table_size = 0

    assert decoded(decoder, blocks.encode(REQUEST)) == REQUEST


def test_nobody_on_the_way_may_keep_credentials() -> None:
    read = hpack.Decoder().decode(HeaderBlocks().encode(REQUEST), raw=True)

    kept_out = [header[0] for header in read if not header.indexable]
    assert kept_out == [b"authorization"]


def test_space_around_a_value_is_none_of_it() -> None:
    block = HeaderBlocks().encode([(b"authorization", b" Bearer secret\n")])

    assert decoded(hpack.Decoder(), block) == [(b"authorization", b"Bearer secret")]


def test_of_many_headers_only_some_are_kept_ready() -> None:
    blocks, decoder = HeaderBlocks(), hpack.Decoder()
    for number in range(10 * MOST_KEPT):
        headers = [(b":path", b"/%d" % number), (b"x-request", b"%d" % number)]
        assert decoded(decoder, blocks.encode(headers)) == headers

    assert len(blocks._kept) <= MOST_KEPT
