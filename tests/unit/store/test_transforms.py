"""What can be left out of objects."""

from __future__ import annotations

from reflet.api.unstructured import AnyObject
from reflet.store.transforms import drop_managed_fields


def any_object(text: str) -> AnyObject:
    return AnyObject(text.encode())


def test_managed_fields_are_dropped_and_nothing_else() -> None:
    item = any_object(
        '{"apiVersion":"x.y/v1","kind":"Widget","metadata":{"name":"w","managedFields":[{"a":1}],'
        '"resourceVersion":"7"},"spec":{"size":12345678901234567890123,"share":1.50}}'
    )

    assert drop_managed_fields(item).to_json() == (
        b'{"apiVersion":"x.y/v1","kind":"Widget","metadata":{"name":"w",'
        b'"resourceVersion":"7"},"spec":{"size":12345678901234567890123,"share":1.50}}'
    )


def test_an_object_without_managed_fields_stays_the_same_object() -> None:
    item = any_object('{"kind":"Widget","metadata":{"name":"w"},"spec":{}}')

    assert drop_managed_fields(item) is item


def test_the_word_elsewhere_is_left_alone() -> None:
    item = any_object('{"kind":"Widget","metadata":{"name":"w"},"spec":{"managedFields":[1]}}')

    assert drop_managed_fields(item) is item


def test_dropping_twice_changes_nothing_more() -> None:
    item = any_object('{"kind":"Widget","metadata":{"name":"w","managedFields":[]}}')

    once = drop_managed_fields(item)

    assert drop_managed_fields(once) is once
