"""Objects are handed over by whoever has them, and each is read once."""

from __future__ import annotations

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import ObjectMeta
from reflet.errors import Forbidden, NotFound, RefletError
from reflet.resolution.objects import (
    ObjectReader,
    ObjectsInHand,
    missing,
    size_of,
    value_bytes,
)
from tests.unit.resolution.scenes import config_map, secret


class Counting:
    """A source that knows one ConfigMap and writes down what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def config_map(self, namespace: str, name: str, /) -> ConfigMap | RefletError:
        self.asked.append(f"configmap {namespace}/{name}")
        return config_map() if name == "settings" else missing("ConfigMap", name)

    def secret(self, namespace: str, name: str, /) -> Secret | RefletError:
        self.asked.append(f"secret {namespace}/{name}")
        return missing("Secret", name)


def test_a_found_object_is_asked_for_once_and_a_missing_one_each_time() -> None:
    source = Counting()
    reader = ObjectReader(source, "shop")

    for name in ("settings", "settings", "gone", "gone"):
        reader.get("ConfigMap", name)
    reader.get("Secret", "settings")

    assert source.asked == [
        "configmap shop/settings",
        "configmap shop/gone",
        "configmap shop/gone",
        "secret shop/settings",
    ]


def test_what_is_not_in_hand_is_missing_in_the_words_of_the_kubelet() -> None:
    objects = ObjectsInHand([config_map()])

    answers = (objects.config_map("other", "settings"), objects.secret("shop", "settings"))

    assert [(type(answer), str(answer)) for answer in answers] == [
        (NotFound, 'configmap "settings" not found'),
        (NotFound, 'secret "settings" not found'),
    ]


def test_a_failure_is_answered_instead_of_the_object() -> None:
    refusal, no_secret = Forbidden("no"), Forbidden("never")
    objects = ObjectsInHand(
        [config_map(), secret()],
        failures={
            ("ConfigMap", "shop", "settings"): refusal,
            ("Secret", "shop", "credentials"): no_secret,
        },
    )

    answers = (objects.config_map("shop", "settings"), objects.secret("shop", "credentials"))

    assert answers == (refusal, no_secret)


def test_the_size_of_an_object_is_the_bytes_of_its_values() -> None:
    mixed = ConfigMap(metadata=ObjectMeta(), data={"a": "é"}, binary_data={"b": b"123"})

    assert (size_of(mixed), size_of(secret(a=b"12", b=b""))) == (5, 2)


def test_binary_data_wins_and_keys_are_sorted() -> None:
    item = ConfigMap(data={"b": "text", "a": "1"}, binary_data={"b": b"binary"})

    assert list(value_bytes(item).items()) == [("a", b"1"), ("b", b"binary")]
