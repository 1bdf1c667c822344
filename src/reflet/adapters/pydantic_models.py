"""Kinds that are pydantic models.

::

    class WidgetSpec(Model):
        max_size: int = Field(ge=1)

    class Widget(ObjectModel):
        api_version: Literal["example.com/v1"] = "example.com/v1"
        kind: Literal["Widget"] = "Widget"
        spec: WidgetSpec

    widget = await cluster.resource(Widget).get("small")

Objects come out of get, list, watch and mirrors as such models, and are checked by them before they
are written.  ``metadata`` is Reflet's own ObjectMeta, as of every other object.  Reading takes some
seven times as long as with a ``msgspec.Struct``: for large collections prefer one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import msgspec

from reflet.api.codec import encode
from reflet.api.frozen import json_name
from reflet.api.json_reader import Misfit, reader
from reflet.api.meta import ObjectMeta
from reflet.errors import ConfigurationError, DecodeError

try:
    from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator, ValidationError
    from pydantic_core import PydanticCustomError
except ImportError as error:
    raise ConfigurationError(
        "models as kinds need the package pydantic: install reflet[pydantic]"
    ) from error


def _read_metadata(value: Any) -> ObjectMeta:
    if isinstance(value, ObjectMeta):
        return value
    try:
        return reader(ObjectMeta).read(msgspec.json.encode(value))
    except DecodeError as error:
        words = str(error).removeprefix("ObjectMeta: ")
        raise PydanticCustomError("metadata", "{words}", {"words": words}) from error


def _written_metadata(metadata: ObjectMeta) -> Any:
    return msgspec.json.decode(encode(metadata))


class Model(BaseModel):
    """A part of an object: ``max_size`` is ``maxSize`` in JSON, and nothing can be changed.

    Fields that are not declared are kept, so that nothing is lost when an object is written back.
    """

    model_config = ConfigDict(
        alias_generator=json_name, populate_by_name=True, frozen=True, extra="allow"
    )


class ObjectModel(Model):
    """A whole object; a subclass says its ``api_version`` and ``kind`` as Literals.

    ``complete`` says that an object which was read may be written back whole: it may, unless a
    class inside it forgets what it does not declare.
    """

    complete: ClassVar[bool] = True

    metadata: Annotated[
        ObjectMeta, PlainValidator(_read_metadata), PlainSerializer(_written_metadata)
    ] = ObjectMeta()

    @classmethod
    def __reflet_fields__(cls) -> Mapping[str, tuple[str, Any]]:
        """The JSON name and the type of each field, by the name of its attribute."""
        return {
            name: (field.alias or name, field.annotation)
            for name, field in cls.model_fields.items()
        }

    @classmethod
    def __reflet_decode__(cls, value: Any) -> Self:
        """Make one of decoded JSON; raise ``Misfit`` for what does not fit."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            # Unchained and without its inputs: an object may be secret.
            raise _misfit(error) from None

    def __reflet_encode__(self) -> Any:
        """Return what JSON is written from; what is None is left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, warnings=False)


def _misfit(error: ValidationError) -> Misfit:
    first, *others = error.errors(include_url=False, include_context=False, include_input=False)
    path = ""
    for step in first["loc"]:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    message = first["msg"][:1].lower() + first["msg"][1:]
    more = f" (and {len(others)} more)" if others else ""
    return Misfit(f"{message}{more}", path.removeprefix("."))
