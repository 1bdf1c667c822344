"""What is sent: objects that fit their class, and say what they are."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec
import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.frozen import Frozen, constant
from reflet.api.meta import ObjectMeta, TypedObject
from reflet.api.resources import Resource
from reflet.client.resource_client import ResourceClient
from reflet.client.sent_objects import checked_json, loses_fields
from reflet.errors import ConfigurationError, DecodeError
from tests.unit.client.scripted_transport import ScriptedTransport, ok

GADGETS = Resource(version="v1", plural="gadgets", kind="Gadget", group="example.com")


class GadgetSpec(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    max_size: int
    colours: list[str] = []


class Gadget(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A class of a program's own: no base of ours, no ``constant``, no ``complete``."""

    metadata: ObjectMeta
    spec: GadgetSpec
    api_version: Literal["example.com/v1"] = "example.com/v1"
    kind: Literal["Gadget"] = "Gadget"


class WholeSpec(Frozen, frozen=True, kw_only=True):
    max_size: int = 0


class WholeGadget(TypedObject, frozen=True, kw_only=True):
    """The same on our base, with every field that the kind has."""

    complete: ClassVar[bool] = True

    api_version: Literal["example.com/v1"] = constant("example.com/v1")
    kind: Literal["Gadget"] = constant("Gadget")
    metadata: ObjectMeta = ObjectMeta()
    spec: WholeSpec = WholeSpec()


def gadget(size: Any = 3, colours: Any = ()) -> Gadget:
    return Gadget(
        metadata=ObjectMeta(name="a"), spec=GadgetSpec(max_size=size, colours=list(colours))
    )


def test_an_object_says_what_it_is_though_its_class_leaves_out_defaults() -> None:
    assert json.loads(checked_json(gadget())) == {
        "apiVersion": "example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": "a"},
        "spec": {"maxSize": 3},
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (gadget("three"), "Gadget a: spec.maxSize: expected an integer, not a string"),
        (gadget(3, ["red", 5]), "Gadget a: spec.colours[1]: expected a string, not an integer"),
        (gadget(Path()), f"Gadget: a {type(Path()).__name__} has no JSON form"),
        (
            ConfigMap(metadata=ObjectMeta(name="a"), data={"n": 5}),  # type: ignore[dict-item]  # the mistake
            'ConfigMap a: data["n"]: expected a string, not an integer',
        ),
    ],
)
def test_a_field_of_a_wrong_type_is_named(body: Any, message: str) -> None:
    with pytest.raises(DecodeError) as raised:
        checked_json(body)

    assert str(raised.value) == message


def test_a_mapping_is_sent_as_it_is() -> None:
    assert checked_json({"spec": {"maxSize": "three"}}) == b'{"spec":{"maxSize":"three"}}'


@pytest.mark.parametrize(
    "write",
    [
        lambda client, body: client.create(body),
        lambda client, body: client.replace(body),
        lambda client, body: client.apply(body, field_manager="me"),
    ],
    ids=["create", "replace", "apply"],
)
async def test_every_write_of_a_whole_object_checks_it(
    write: Callable[[ResourceClient[Any], Any], Awaitable[Any]],
) -> None:
    transport = ScriptedTransport()
    client = ResourceClient(transport, GADGETS, WholeGadget, namespace="shop")
    wrong: Any = "three"

    with pytest.raises(DecodeError, match=r"WholeGadget a: spec\.maxSize: expected an integer"):
        await write(
            client, WholeGadget(metadata=ObjectMeta(name="a"), spec=WholeSpec(max_size=wrong))
        )

    assert transport.requests == []


async def test_a_class_that_may_lack_fields_is_not_written_back_whole() -> None:
    client = ResourceClient(ScriptedTransport(), GADGETS, Gadget, namespace="shop")

    with pytest.raises(ConfigurationError, match=r"complete: ClassVar\[bool\] = True"):
        await client.replace(gadget())


async def test_a_class_that_has_every_field_is() -> None:
    whole = WholeGadget(metadata=ObjectMeta(name="a"))
    transport = ScriptedTransport(ok(json.loads(checked_json(whole))))

    written = await ResourceClient(transport, GADGETS, WholeGadget, namespace="shop").replace(whole)

    assert written == whole
    assert not loses_fields(whole)
