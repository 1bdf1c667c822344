from collections.abc import Mapping

import pytest

from reflet.api.frozen import EMPTY, Frozen
from reflet.api.json_reader import LONGEST, Reader, problem, reader, untyped
from reflet.errors import DecodeError


class Part(Frozen, frozen=True, kw_only=True):
    name: str
    size: int | None = None


class Thing(Frozen, frozen=True, kw_only=True):
    parts: tuple[Part, ...] = ()
    by_name: Mapping[str, Part] = EMPTY
    data: Mapping[str, bytes] = EMPTY


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        (b'{"parts":[{"name":"a"},{}]}', "parts[1].name", "missing"),
        (b'{"parts":[{"name":1}]}', "parts[0].name", "expected a string, not an integer"),
        (b'{"parts":{}}', "parts", "expected an array, not an object"),
        (b'{"parts":[{"name":"a","size":"b"}]}', "parts[0].size", "expected an integer or null"),
        (b'{"byName":{"x":{"name":"a"},"y.z":{}}}', 'byName["y.z"].name', "missing"),
        (b'{"data":{"a":"aGk=","b":"a"}}', 'data["b"]', "not valid base64"),
        (b'{"data":{"a":"aGk_"}}', 'data["a"]', "not valid base64"),
        (b"[]", "", "expected an object, not an array"),
        (b"", "", "truncated"),
        (b"{", "", "truncated"),
        (b"{}}", "", "trailing characters"),
        (b"{'a'}", "", "malformed JSON"),
        (b'{"parts":[{"name":"\xff"}]}', "", "not valid UTF-8"),
        (b"[" * 100_000, "", "nested too deeply"),
        (b'{"x":' * 2_000_000, "", "nested too deeply"),
        (b'{"parts":[{"name":"a","size":1e999}]}', "", "out of range"),
    ],
)
def test_a_failure_names_the_place(text: bytes, path: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        reader(Thing).read(text)

    assert caught.value.path == path
    assert message in str(caught.value)
    assert str(caught.value).startswith("Thing")


def test_the_place_is_seen_from_where_the_caller_reads() -> None:
    with pytest.raises(DecodeError) as caught:
        reader(Thing).read(b'{"parts":[{}]}', at="items[4]")

    assert caught.value.path == "items[4].parts[0].name"


def test_null_is_absence() -> None:
    assert reader(Thing).read(b'{"parts":null,"data":{"a":null}}') == Thing(data={"a": b""})


def test_line_breaks_in_base64_are_ignored() -> None:
    assert reader(Thing).read(b'{"data":{"a":"aG\\r\\nk="}}').data == {"a": b"hi"}


def test_an_error_is_one_short_printable_line() -> None:
    error = problem("Pod a\nb", "x", "y" * 10_000)

    assert str(error).isprintable()
    assert len(str(error)) == LONGEST


def test_the_reader_of_a_type_is_made_once() -> None:
    assert reader(Thing) is reader(Thing)


def test_a_reader_may_be_called_something_else() -> None:
    with pytest.raises(DecodeError, match=r"^stone: "):
        Reader(Thing, subject="stone").read(b"7")


def test_text_that_is_not_utf_8_does_not_travel_with_the_error() -> None:
    with pytest.raises(DecodeError) as caught:
        untyped(b'"hunter2 \xff"', "Secret")

    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
