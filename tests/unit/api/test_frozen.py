import copy
import gc
import pickle
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from reflet.api.frozen import EMPTY, Frozen, constant, freeze, json_name, thaw


class Shelf(Frozen, frozen=True, kw_only=True):
    kind: str = constant("Shelf")
    labels: Mapping[str, str] = EMPTY
    anything: Mapping[str, Any] = EMPTY
    pod_ips: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("host_ip", "hostIP"),
        ("pod_ips", "podIPs"),
        ("downward_api", "downwardAPI"),
        ("scale_io", "scaleIO"),
        ("continue_", "continue"),
        ("ip_families", "ipFamilies"),
        ("api_version", "apiVersion"),
        ("set_hostname_as_fqdn", "setHostnameAsFQDN"),
        ("system_uuid", "systemUUID"),
    ],
)
def test_python_names_become_kubernetes_names(name: str, expected: str) -> None:
    assert json_name(name) == expected


def test_a_decoded_mapping_cannot_be_written_to() -> None:
    shelf = msgspec.json.decode(b'{"labels": {"a": "b"}}', type=Shelf)

    with pytest.raises(TypeError):
        shelf.labels["a"] = "c"  # type: ignore[index]


def test_a_mapping_given_by_the_caller_cannot_be_written_to_through_the_struct() -> None:
    shelf = Shelf(labels={"a": "b"})

    assert not hasattr(shelf.labels, "update")


def test_nested_mappings_and_lists_cannot_be_written_to_either() -> None:
    shelf = msgspec.json.decode(b'{"anything": {"exec": {"command": ["a"]}}}', type=Shelf)

    assert shelf.anything["exec"]["command"] == ("a",)
    with pytest.raises(TypeError):
        shelf.anything["exec"]["command"] = ()


def test_a_field_cannot_be_replaced() -> None:
    with pytest.raises(AttributeError):
        Shelf().labels = {}  # type: ignore[misc]


def test_what_is_decoded_is_encoded_again() -> None:
    text = b'{"kind":"Shelf","labels":{"a":"b"},"anything":{"x":[1,{"y":null}]},"podIPs":["1"]}'

    assert msgspec.json.encode(msgspec.json.decode(text, type=Shelf)) == text


def test_defaults_are_left_out_but_constants_are_not() -> None:
    assert msgspec.json.encode(Shelf()) == b'{"kind":"Shelf"}'


def test_an_absent_mapping_equals_an_empty_one() -> None:
    assert Shelf() == Shelf(labels={}, anything={})


def test_mappings_of_other_structs_may_be_reused() -> None:
    first = Shelf(labels={"a": "b"})

    assert Shelf(labels=first.labels) == first


@pytest.mark.parametrize(
    "shelf",
    [
        Shelf(),
        Shelf(labels={"a": "b"}, anything={"x": {"y": [1]}}),
        Shelf(labels=Shelf(labels={"a": "b"}).labels),
    ],
)
def test_copies_and_pickles_are_equal(shelf: Shelf) -> None:
    assert copy.copy(shelf) == shelf
    assert copy.deepcopy(shelf) == shelf
    assert pickle.loads(pickle.dumps(shelf)) == shelf


def test_replacing_a_field_keeps_the_others_read_only() -> None:
    shelf = msgspec.structs.replace(Shelf(labels={"a": "b"}), pod_ips=("1",))

    assert shelf.labels == {"a": "b"}
    assert not hasattr(shelf.labels, "update")


def test_the_garbage_collector_does_not_visit_structs() -> None:
    assert not gc.is_tracked(Shelf(labels={"a": "b"}))


def test_thawing_gives_back_what_was_frozen() -> None:
    value = {"a": [1, {"b": None}], "c": "d"}

    assert thaw(freeze(value)) == value
