import copy
import pickle

import pytest

from reflet.api.codec import encode
from reflet.api.unstructured import AnyObject
from reflet.errors import DecodeError

TEXT = (
    b'{"kind":"Pump", "apiVersion":"example.com/v1","spec":{"z":1.10,"a":[{"b":null}]},'
    b'"metadata":{"name":"p","namespace":"shop","resourceVersion":"7","labels":{"x":"y"}}}'
)


def test_metadata_is_typed() -> None:
    pump = AnyObject(TEXT)

    assert (pump.kind, pump.api_version) == ("Pump", "example.com/v1")
    assert pump.metadata.labels == {"x": "y"}


def test_nothing_is_lost_not_even_the_order() -> None:
    pump = AnyObject(TEXT)

    assert pump.to_json() == TEXT
    assert encode(pump) == TEXT
    assert list(pump.to_dict()) == ["kind", "apiVersion", "spec", "metadata"]
    assert list(pump.to_dict()["spec"]) == ["z", "a"]


def test_parts_are_read_like_a_mapping() -> None:
    pump = AnyObject(TEXT)

    assert pump["spec"]["z"] == 1.1
    assert pump.spec["a"][0]["b"] is None
    assert pump.status == {}
    assert pump.get("status", "none") == "none"
    assert "spec" in pump
    assert "status" not in pump


def test_what_is_handed_out_is_read_only_all_the_way_down() -> None:
    pump = AnyObject(TEXT)

    with pytest.raises(TypeError):
        pump.spec["a"][0]["b"] = 1
    assert isinstance(pump.spec["a"], tuple)


def test_a_dict_may_be_changed_without_changing_the_object() -> None:
    pump = AnyObject(TEXT)

    pump.to_dict()["spec"]["a"].append(1)

    assert pump.to_dict()["spec"]["a"] == [{"b": None}]


def test_it_cannot_be_changed() -> None:
    pump = AnyObject(TEXT)

    with pytest.raises(AttributeError):
        pump.kind = "Other"
    with pytest.raises(AttributeError):
        del pump.kind


def test_equality_is_by_content() -> None:
    assert AnyObject(TEXT) == AnyObject(TEXT.replace(b", ", b","))
    assert AnyObject(TEXT) != AnyObject(TEXT.replace(b"1.10", b"1.2"))
    assert AnyObject(TEXT) != "something else"


def test_a_representation_names_it_without_decoding_it() -> None:
    assert repr(AnyObject(TEXT)) == "<Pump shop/p at 7 (example.com/v1)>"


def test_copies_and_pickles_are_equal() -> None:
    pump = AnyObject(TEXT)

    assert copy.copy(pump) == pump
    assert copy.deepcopy(pump) == pump
    assert pickle.loads(pickle.dumps(pump)) == pump


def test_it_is_made_from_a_dict() -> None:
    pump = AnyObject(TEXT)

    assert AnyObject.from_dict(pump.to_dict()) == pump
    assert AnyObject.from_dict(pump.content) == pump


@pytest.mark.parametrize(
    "text", [b'{"metadata":{"name":"p"}}', b' { "kind" : null , "metadata":{"name":"p"} } ', b"{}"]
)
def test_what_a_list_leaves_out_is_filled_in(text: bytes) -> None:
    pump = AnyObject(text, api_version="example.com/v1", kind="Pump")

    assert (pump.api_version, pump.kind) == ("example.com/v1", "Pump")
    assert (pump["apiVersion"], pump["kind"]) == ("example.com/v1", "Pump")


def test_what_an_item_says_itself_counts() -> None:
    assert AnyObject(TEXT, api_version="v1", kind="Other").kind == "Pump"


def test_its_bytes_are_its_own() -> None:
    page = bytearray(TEXT)

    pump = AnyObject(memoryview(page))  # type: ignore[arg-type]  # what a slice of a page is
    page[:] = b" " * len(page)

    assert pump.to_json() == TEXT


@pytest.mark.parametrize("text", [b"", b"7", b"{", b'{"a":"\xff"}', b'{"metadata":7}'])
def test_other_bytes_are_refused_at_once(text: bytes) -> None:
    with pytest.raises(DecodeError):
        AnyObject(text)


def test_a_number_that_cannot_be_decoded_is_noticed_when_it_is_touched() -> None:
    pump = AnyObject(b'{"kind":"Pump","metadata":{"name":"p"},"spec":1e999}')

    with pytest.raises(DecodeError, match="Pump p"):
        pump.to_dict()


def test_null_metadata_is_none() -> None:
    assert AnyObject(b'{"metadata":null}').metadata.name == ""
