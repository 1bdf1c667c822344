from __future__ import annotations

import pytest

from reflet.devserver.storage.stored import Key
from tests.unit.devserver.watch_scene import request


@pytest.mark.parametrize(
    ("version", "asked", "wanted"),
    [
        (0, None, True),
        (5, None, False),
        (0, True, True),
        (5, True, True),
        (0, False, False),
        (5, False, False),
    ],
)
def test_initial_events_come_when_asked_for_or_when_no_version_is_given(
    version: int, asked: bool | None, wanted: bool
) -> None:
    watch = request(resource_version=version, send_initial_events=asked)

    assert watch.wants_initial_events is wanted


def test_a_namespace_and_a_name_make_a_key() -> None:
    assert request(namespace="shop", name="a").key == Key("configmaps", "shop", "a")


@pytest.mark.parametrize("options", [{}, {"namespace": "shop"}, {"name": "a"}])
def test_less_than_a_namespace_and_a_name_may_be_several_objects(options: dict[str, str]) -> None:
    assert request(**options).key is None
