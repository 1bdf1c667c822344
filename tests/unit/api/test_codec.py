import sys
from subprocess import run
from types import MappingProxyType

import pytest

from reflet.api.codec import Listing, decode, decode_list, decode_object, encode
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.meta import ListMeta, ObjectMeta
from reflet.api.unstructured import AnyObject
from reflet.errors import DecodeError


def test_an_object_gets_the_class_of_its_kind() -> None:
    found = decode_object(b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}')

    assert found == Pod(metadata=ObjectMeta(name="a"))


def test_an_object_of_another_group_is_another_kind() -> None:
    found = decode_object(b'{"apiVersion":"example.com/v1","kind":"Pod","metadata":{"name":"a"}}')

    assert isinstance(found, AnyObject)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (b'{"kind":"Pod"}', "apiVersion"),
        (b'{"apiVersion":"v1"}', "kind"),
        (b'{"apiVersion":"v1","kind":null}', "kind"),
        (b'{"apiVersion":"v1","kind":7}', "kind"),
        (b'{"apiVersion":"v1","kind":"Pod"}', "metadata.name"),
        (b'{"apiVersion":"x/v1","kind":"X","metadata":{}}', "metadata.name"),
        (b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":""}}', "metadata.name"),
    ],
)
def test_an_object_must_say_what_it_is_and_have_a_name(text: bytes, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_object(text)

    assert caught.value.path == path


def test_a_prefix_is_enough_of_a_name() -> None:
    found = decode(b'{"metadata":{"generateName":"a-"}}', ConfigMap)

    assert found.metadata.generate_name == "a-"


def test_a_wrong_kind_is_refused() -> None:
    with pytest.raises(DecodeError, match="Secret a: kind: expected Secret, not 'Pod'"):
        decode(b'{"kind":"Pod","metadata":{"name":"a"}}', Secret)


def test_unknown_fields_are_dropped() -> None:
    found = decode(b'{"metadata":{"name":"a","managedFields":[{}]},"new":1}', ConfigMap)

    assert found == ConfigMap(metadata=ObjectMeta(name="a"))


def test_the_items_of_a_list_need_not_say_what_they_are() -> None:
    listing = decode_list(
        b'{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"5",'
        b'"continue":"x","remainingItemCount":2},"items":[{"metadata":{"name":"a"}}]}',
        ConfigMap,
    )

    assert listing == Listing(
        metadata=ListMeta(resource_version="5", continue_="x", remaining_item_count=2),
        items=(ConfigMap(metadata=ObjectMeta(name="a")),),
        api_version="v1",
        kind="ConfigMapList",
    )
    assert b'"kind":"ConfigMap"' in encode(listing.items[0])


@pytest.mark.parametrize("kind", [ConfigMap, AnyObject])
@pytest.mark.parametrize("items", [b'"items":null', b'"items":[]', b'"x":1'])
def test_an_empty_list_may_say_null(kind: type[ConfigMap], items: bytes) -> None:
    listing = decode_list(b'{"metadata":{"resourceVersion":"5"},' + items + b"}", kind)

    assert listing.items == ()
    assert listing.metadata.resource_version == "5"


def test_the_items_of_any_list_keep_everything() -> None:
    listing = decode_list(
        b'{"kind":"IngressList","apiVersion":"networking.k8s.io/v1","metadata":{},'
        b'"items":[{"metadata":{"name":"a"},"spec":{"b":1, "a":2}}]}',
        AnyObject,
    )

    assert listing.items[0].to_dict() == {
        "metadata": {"name": "a"},
        "spec": {"b": 1, "a": 2},
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
    }


def test_nulls_in_one_item_do_not_disturb_the_others() -> None:
    listing = decode_list(
        b'{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b","labels":null}}]}', ConfigMap
    )

    assert [item.metadata.name for item in listing.items] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (b'{"kind":"PodList","apiVersion":"v1","items":[]}', "kind"),
        (b'{"kind":"ConfigMapList","apiVersion":"v2","items":[]}', "kind"),
        (b'{"items":{}}', "items"),
        (b'{"metadata":{"resourceVersion":5},"items":[]}', "metadata.resourceVersion"),
        (b'{"items":[{"metadata":{"name":"a"}},{"metadata":{}}]}', "items[1].metadata.name"),
        (b'{"items":[{"metadata":{"name":"a"},"data":{"k":1}}]}', 'items[0].data["k"]'),
        (b'{"items":[{"metadata":{"generateName":"a-"}}]}', "items[0].metadata.name"),
        (b'{"items":[7]}', "items[0]"),
        (b"[]", ""),
        (b"{", ""),
    ],
)
def test_a_bad_list_names_the_place(text: bytes, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_list(text, ConfigMap)

    assert caught.value.path == path


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"items":7}', b'{"items":[{}]}', b'{"items":[7]}'])
def test_a_bad_list_of_anything_is_refused(text: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_list(text, AnyObject)


def test_mappings_and_sequences_of_objects_can_be_encoded() -> None:
    pump = AnyObject(b'{"kind":"Pump", "metadata":{"name":"p"}}')
    settings = ConfigMap(data=MappingProxyType({"k": "v"}))

    assert encode({"items": [pump], "more": MappingProxyType({"x": (1,)})}) == (
        b'{"items":[{"kind":"Pump", "metadata":{"name":"p"}}],"more":{"x":[1]}}'
    )
    assert encode(settings).endswith(b'"data":{"k":"v"}}')


def test_what_has_no_json_form_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        encode({"a": object()})


def test_decoding_config_maps_does_not_import_pods() -> None:
    script = "import sys, reflet.api.codec; print('reflet.api.core.pods' in sys.modules)"

    done = run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
