"""Kinds that are pydantic models: read, followed, and checked before they are written."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Literal

import pytest
from pydantic import Field, field_validator

from reflet.adapters.pydantic_models import Model, ObjectModel
from reflet.api import scheme
from reflet.api.codec import decode, decode_list
from reflet.api.meta import ObjectMeta
from reflet.api.watch_events import EventDecoder, WatchEvent
from reflet.client.sent_objects import checked_json
from reflet.cluster import Cluster
from reflet.devserver.server import DevServer
from reflet.errors import ConfigurationError, DecodeError
from reflet.transport.config.settings import ConnectionSettings
from tests.mirror_scenes import WIDGET_DEFINITION


class PartSpec(Model):
    max_size: int = Field(ge=1)


class WidgetModelSpec(Model):
    colour: str = ""
    parts: tuple[PartSpec, ...] = ()

    @field_validator("colour")
    @classmethod
    def is_a_colour(cls, value: str) -> str:
        if value == "loud":
            raise ValueError("that is no colour")
        return value


class WidgetModel(ObjectModel):
    api_version: Literal["example.com/v1"] = "example.com/v1"
    kind: Literal["Widget"] = "Widget"
    spec: WidgetModelSpec


def document(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "small", "labels": {"team": "red"}},
        "spec": spec,
    }


def read(**spec: Any) -> WidgetModel:
    return decode(json.dumps(document(**spec)).encode(), WidgetModel)


def test_a_model_says_what_it_stands_for() -> None:
    assert scheme.identity(WidgetModel) == ("example.com/v1", "Widget")


def test_a_model_without_a_kind_is_told_what_to_add() -> None:
    with pytest.raises(ConfigurationError, match="ObjectModel cannot stand for a kind: it has no"):
        scheme.identity(ObjectModel)


def test_json_becomes_a_model_with_typed_metadata() -> None:
    widget = read(colour="red", parts=[{"maxSize": 3}])

    assert widget.metadata == ObjectMeta(name="small", labels={"team": "red"})
    assert widget.spec.parts[0].max_size == 3


def test_fields_that_are_not_declared_are_written_back() -> None:
    assert json.loads(checked_json(read(other={"deep": 1}))) == document(
        colour="", parts=[], other={"deep": 1}
    )


@pytest.mark.parametrize(
    ("spec", "message", "path"),
    [
        (
            {"parts": [{"maxSize": 0}]},
            "input should be greater than or equal to 1",
            "spec.parts[0].maxSize",
        ),
        ({"colour": "loud"}, "value error, that is no colour", "spec.colour"),
        ({"colour": 5, "parts": 6}, "input should be a valid string (and 1 more)", "spec.colour"),
    ],
)
def test_what_does_not_fit_is_named_without_its_value(
    spec: dict[str, Any], message: str, path: str
) -> None:
    with pytest.raises(DecodeError) as raised:
        read(**spec)

    assert str(raised.value) == f"WidgetModel small: {path}: {message}"
    assert raised.value.path == path


def test_the_place_of_a_wrong_object_in_a_list_is_named() -> None:
    items = [document(), document(colour="loud")]
    listing = {"apiVersion": "example.com/v1", "kind": "WidgetList", "items": items}

    with pytest.raises(DecodeError) as raised:
        decode_list(json.dumps(listing).encode(), WidgetModel)

    assert raised.value.path == "items[1].spec.colour"


def test_wrong_metadata_is_named() -> None:
    wrong = {**document(), "metadata": {"name": 5}}

    with pytest.raises(DecodeError, match=r"metadata: name: expected a string, not an integer"):
        decode(json.dumps(wrong).encode(), WidgetModel)


def test_a_bookmark_needs_no_spec() -> None:
    line = {
        "type": "BOOKMARK",
        "object": {
            "apiVersion": "example.com/v1",
            "kind": "Widget",
            "metadata": {"resourceVersion": "9"},
        },
    }

    (event,) = EventDecoder(WidgetModel).decode_lines(json.dumps(line).encode())

    assert isinstance(event, WatchEvent)
    assert event.object.metadata.resource_version == "9"


def test_what_was_made_without_a_check_is_checked_before_it_is_sent() -> None:
    wrong: Any = "three"
    part = PartSpec.model_construct(max_size=wrong)
    made = WidgetModel(metadata=ObjectMeta(name="a"), spec=WidgetModelSpec())
    made = made.model_copy(update={"spec": WidgetModelSpec.model_construct(parts=(part,))})

    with pytest.raises(DecodeError, match=r"WidgetModel a: spec\.parts\[0\]\.maxSize: input"):
        checked_json(made)


async def test_models_are_created_followed_and_replaced() -> None:
    async with (
        DevServer(tls=False) as server,
        Cluster(ConnectionSettings(server=server.url, namespace="default")) as cluster,
    ):
        await cluster.resource("customresourcedefinitions").create(WIDGET_DEFINITION)
        widgets = cluster.resource(WidgetModel)
        made = await widgets.create(
            WidgetModel(metadata=ObjectMeta(name="small"), spec=WidgetModelSpec(colour="red"))
        )
        async with cluster.mirror(WidgetModel) as mirror:
            await mirror.synced()
            assert mirror["small"] == made
            changes = mirror.changes()
            await anext(changes)

            await widgets.replace(made.model_copy(update={"spec": WidgetModelSpec(colour="blue")}))

            assert (await anext(changes)).object.spec.colour == "blue"


def test_without_its_package_the_module_says_which_extra() -> None:
    program = "import sys; sys.modules['pydantic'] = None\nimport reflet.adapters.pydantic_models"

    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert "models as kinds need the package pydantic: install reflet[pydantic]" in ended.stderr
