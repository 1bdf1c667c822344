from __future__ import annotations

import json
from typing import Any

import pytest

from reflet.apirules.schema.decoding import (
    QUANTITY_MALFORMED,
    RepeatedKeys,
    decode,
    empty_object,
    in_order,
    keep_repeated,
)
from reflet.apirules.schema.schemas import Schemas
from reflet.errors import DecodeError
from tests.unit.devserver.object_scene import kind_of

CONFIG_MAP = kind_of("configmaps").schema
POD = kind_of("pods").schema


def read(document: Any, schema: Any = CONFIG_MAP) -> tuple[Any, list[str]]:
    complaints: list[str] = []
    return decode(schema, document, complaints), complaints


def test_null_is_nothing_and_what_is_empty_is_left_out() -> None:
    made, _ = read({"metadata": {"name": "x", "labels": {}}, "data": None, "immutable": None})

    assert made == {"metadata": {"name": "x"}}


def test_a_pointer_keeps_its_zero() -> None:
    assert read({"immutable": False})[0] == {"metadata": {}, "immutable": False}


def test_null_in_a_map_is_the_zero_of_its_values() -> None:
    assert read({"data": {"a": None}})[0]["data"] == {"a": ""}


def test_structs_are_written_even_when_nothing_was_said() -> None:
    made, _ = read({"spec": {"containers": [{"name": "a"}]}}, POD)

    assert made == {
        "metadata": {},
        "spec": {"containers": [{"name": "a", "resources": {}}]},
        "status": {},
    }


def test_quantities_times_and_base64_get_their_canonical_form() -> None:
    made, _ = read(
        {
            "metadata": {"creationTimestamp": "2020-01-01T01:00:00+01:00"},
            "spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": 0.5}}}]},
        },
        POD,
    )

    assert made["metadata"]["creationTimestamp"] == "2020-01-01T00:00:00Z"
    assert made["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "500m"}}
    assert read({"binaryData": {"a": "YW\nI="}})[0]["binaryData"] == {"a": "YWI="}


def test_unknown_fields_are_dropped_and_named_by_their_place() -> None:
    made, complaints = read(
        {"spec": {"containers": [{"name": "a", "foo": 1, "env": [{"nam": 2}]}]}, "Spec": {}}, POD
    )

    assert "foo" not in made["spec"]["containers"][0]
    assert complaints == [
        'unknown field "spec.containers[0].foo"',
        'unknown field "spec.containers[0].env[0].nam"',
        'unknown field "Spec"',
    ]


def test_repeated_fields_are_named_and_the_last_counts() -> None:
    text = '{"data": {"a": "1", "a": "2"}, "metadata": {}, "metadata": {"name": "x"}}'
    document = json.loads(text, object_pairs_hook=keep_repeated)

    made, complaints = read(document)

    assert isinstance(document, RepeatedKeys)
    assert made == {"metadata": {"name": "x"}, "data": {"a": "2"}}
    assert complaints == ['duplicate field "data.a"', 'duplicate field "metadata"']


@pytest.mark.parametrize(
    ("document", "what", "field", "go_type"),
    [
        ({"data": {"a": 1}}, "number", "ConfigMap.data", "string"),
        ({"data": []}, "array", "ConfigMap.data", "map[string]string"),
        ({"metadata": {"name": 1}}, "number", "ObjectMeta.metadata.name", "string"),
        (
            {"metadata": {"generation": 1.5}},
            "number 1.5",
            "ObjectMeta.metadata.generation",
            "int64",
        ),
        ({"immutable": "x"}, "string", "ConfigMap.immutable", "bool"),
    ],
)
def test_a_wrong_type_is_refused_with_the_go_types(
    document: Any, what: str, field: str, go_type: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        read(document)

    assert str(caught.value) == (
        f"json: cannot unmarshal {what} into Go struct field {field} of type {go_type}"
    )


@pytest.mark.parametrize(
    ("container", "message"),
    [
        (
            {"ports": [{"containerPort": 99999999999}]},
            (
                "json: cannot unmarshal number 99999999999 into Go struct field "
                "ContainerPort.spec.containers.ports.containerPort of type int32"
            ),
        ),
        (
            {"livenessProbe": {"httpGet": {"port": True}}},
            (
                "json: cannot unmarshal bool into Go struct field HTTPGetAction."
                "spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32"
            ),
        ),
        (
            {"livenessProbe": {"httpGet": {"port": 99999999999}}},
            (
                "json: cannot unmarshal number 99999999999 into Go struct field HTTPGetAction."
                "spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32"
            ),
        ),
        ({"resources": {"limits": {"cpu": "1x"}}}, QUANTITY_MALFORMED),
        ({"resources": {"limits": {"cpu": "1.2.3"}}}, QUANTITY_MALFORMED),
        ({"resources": {"limits": {"cpu": ""}}}, QUANTITY_MALFORMED),
        ({"resources": {"limits": {"cpu": "Min"}}}, "unable to parse quantity's suffix"),
        ({"resources": {"limits": {"cpu": True}}}, QUANTITY_MALFORMED),
        ({"resources": {"limits": {"cpu": "1ee"}}}, "unable to parse quantity's suffix"),
    ],
)
def test_a_wrong_type_deep_inside_is_named_with_its_path(container: Any, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read({"spec": {"containers": [{"name": "a"} | container]}}, POD)

    assert str(caught.value) == message


@pytest.mark.parametrize(("text", "byte"), [("***", 0), ("YQ", 0), ("YWI", 0), ("YQ==YQ==", 4)])
def test_bad_base64_is_refused_with_the_byte_where_it_goes_wrong(text: str, byte: int) -> None:
    with pytest.raises(DecodeError, match=f"illegal base64 data at input byte {byte}$"):
        read({"binaryData": {"a": text}})


@pytest.mark.parametrize(
    ("numbers", "text"), [([], ""), ([65, 66], "QUI="), ([None], "AA=="), ([255], "/w==")]
)
def test_bytes_may_be_a_list_of_numbers_as_for_go(numbers: list[Any], text: str) -> None:
    assert read({"binaryData": {"a": numbers}})[0]["binaryData"] == {"a": text}


@pytest.mark.parametrize(
    ("item", "what"),
    [(256, "number 256"), (-1, "number -1"), (1.5, "number 1.5"), ("x", "string"), (True, "bool")],
)
def test_a_list_of_other_things_is_no_bytes(item: Any, what: str) -> None:
    with pytest.raises(DecodeError, match=f"unmarshal {what} into .*binaryData of type uint8$"):
        read({"binaryData": {"a": [65, item]}})


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(DecodeError, match="cannot unmarshal array into Go value of type"):
        read([])


def test_an_empty_status_is_written_in_full() -> None:
    structure = Schemas.recorded().structure("io.k8s.api.apps.v1.StatefulSetStatus")

    assert empty_object(structure) == {"replicas": 0, "availableReplicas": 0}


def test_fields_and_keys_are_put_into_the_servers_order() -> None:
    ordered = in_order(CONFIG_MAP, {"data": {"b": "1", "a": "2"}, "metadata": {}, "kind": "x"})

    assert json.dumps(ordered) == '{"kind": "x", "metadata": {}, "data": {"a": "2", "b": "1"}}'
