from typing import Any, Literal

import msgspec
import pytest

from reflet.api import resources, scheme
from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.api.unstructured import AnyObject
from reflet.errors import ConfigurationError

V1 = Literal["example.com/v1"]
GADGET = Literal["Gadget"]


class Gadget(msgspec.Struct, rename="camel"):
    api_version: V1 = "example.com/v1"
    kind: GADGET = "Gadget"
    metadata: ObjectMeta = ObjectMeta()


def struct_of(
    *fields: tuple[str, Any], rename: Literal["camel"] | None = "camel"
) -> type[msgspec.Struct]:
    return msgspec.defstruct("Gadget", fields, rename=rename)


@pytest.mark.parametrize(("api_version", "kind"), list(scheme.MODULES))
def test_every_struct_says_the_kind_it_is_listed_under(api_version: str, kind: str) -> None:
    struct = scheme.struct_for(api_version, kind)

    assert struct is not None
    assert scheme.identity(struct) == (api_version, kind)
    assert struct.__name__ == kind


@pytest.mark.parametrize(("api_version", "kind"), list(scheme.MODULES))
def test_every_struct_has_a_resource(api_version: str, kind: str) -> None:
    assert resources.find_kind(api_version, kind) is not None


def test_a_resource_leads_to_its_struct() -> None:
    assert scheme.class_for(resources.CONFIG_MAPS) is ConfigMap


def test_other_kinds_have_no_struct() -> None:
    assert scheme.struct_for("events.k8s.io/v1", "Event") is None
    assert scheme.class_for(resources.INGRESSES) is AnyObject


def test_a_plain_struct_says_what_it_stands_for() -> None:
    assert scheme.identity(Gadget) == ("example.com/v1", "Gadget")
    assert scheme.is_kind(Gadget)


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        (struct_of(("kind", GADGET)), "it has no field api_version: add api_version: Literal["),
        (
            struct_of(("api_version", V1), ("kind", GADGET), rename=None),
            'its api_version is api_version in JSON, not apiVersion: say rename="camel"',
        ),
        (struct_of(("api_version", V1), ("kind", str)), "its kind does not say which: write kind:"),
        (
            struct_of(("api_version", V1), ("kind", Literal["A", "B"])),
            "its kind does not say which",
        ),
        (
            struct_of(("api_version", V1), ("kind", GADGET)),
            "it has no field metadata: add metadata",
        ),
        (
            struct_of(("api_version", V1), ("kind", GADGET), ("metadata", dict[str, str])),
            "its metadata does not say which: write metadata: reflet.api.ObjectMeta",
        ),
        (struct_of(("kind", "Unheard")), "its annotations cannot be read: "),
        (dict, "it is neither a msgspec.Struct nor"),
        (AnyObject, "it is neither a msgspec.Struct nor"),
    ],
)
def test_a_class_that_stands_for_no_kind_is_told_what_to_add(kind: type[Any], advice: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        scheme.identity(kind)

    assert str(raised.value).startswith(f"{kind.__name__} cannot stand for a kind: {advice}")
    assert not scheme.is_kind(kind)
