"""A transform, and what it cannot digest."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reflet.api.core.config import ConfigMap
from reflet.store.transforms import Transforming
from tests.unit.store.config_maps import config_map

A1, BAD = config_map("a", "1"), config_map("bad", "1")


def marked(item: ConfigMap) -> ConfigMap:
    if item.metadata.name == "bad":
        raise ValueError("no")
    return msgspec.structs.replace(item, data={"marked": "yes"})


def transforming(function: Any = marked) -> Transforming[ConfigMap]:
    made = Transforming.of(function)
    assert made is not None
    return made


def test_what_can_be_digested_is_transformed() -> None:
    made = transforming().digested("shop/a", A1)

    assert made is not None
    assert made.data == {"marked": "yes"}


def test_what_cannot_be_digested_is_none_and_is_told(caplog: pytest.LogCaptureFixture) -> None:
    transform = transforming()

    assert transform.digested("shop/bad", BAD) is None
    transform.tell()

    assert "shop/bad left out of the store, because the transform failed" in caplog.text


@pytest.mark.parametrize("nothing", [None, "text", 5])
def test_what_is_no_object_is_not_taken_for_one(nothing: object) -> None:
    transform = transforming(lambda item: nothing)

    assert transform.digested("shop/a", A1) is None
    with pytest.raises(TypeError, match=f"gave no object but {type(nothing).__name__}"):
        transform(A1)


def test_the_last_state_of_what_is_gone_is_not_left_out(caplog: pytest.LogCaptureFixture) -> None:
    transform = transforming()

    assert transform.last("shop/bad", BAD) is None
    transform.tell()

    assert caplog.records == []


def test_an_object_that_came_back_is_told_again(caplog: pytest.LogCaptureFixture) -> None:
    transform = transforming()
    transform.digested("shop/bad", BAD)
    transform.last("shop/bad", BAD)
    transform.digested("shop/bad", BAD)
    transform.tell()

    assert "shop/bad, shop/bad left out" in caplog.text


def test_a_list_keeps_what_can_be_digested() -> None:
    found = transforming().digested_list({"shop/a": A1, "shop/bad": BAD})

    assert list(found) == ["shop/a"]


def test_a_transform_gets_the_rule_once() -> None:
    transform = transforming()

    assert Transforming.of(transform) is transform
    assert Transforming.of(None) is None


def test_an_interruption_passes() -> None:
    def interrupted(item: ConfigMap) -> ConfigMap:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        transforming(interrupted).digested("shop/a", A1)
