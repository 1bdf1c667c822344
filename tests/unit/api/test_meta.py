from datetime import UTC, datetime

import msgspec
import pytest

from reflet.api.json_reader import reader
from reflet.api.meta import LAST_APPLIED, ListMeta, ObjectMeta
from reflet.errors import DecodeError


def test_metadata_keeps_every_field_but_managed_fields() -> None:
    text = (
        b'{"name":"a","generateName":"a-","namespace":"shop","uid":"u","resourceVersion":"5",'
        b'"generation":2,"creationTimestamp":"2026-01-02T03:04:05Z",'
        b'"deletionTimestamp":"2026-01-02T03:04:06Z","deletionGracePeriodSeconds":0,'
        b'"labels":{"a":"b"},"annotations":{"c":"d"},'
        b'"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"x",'
        b'"controller":true,"blockOwnerDeletion":false}],"finalizers":["f"],"selfLink":"/x"}'
    )

    assert msgspec.json.encode(reader(ObjectMeta).read(text)) == text


def test_times_are_read_with_their_zone() -> None:
    meta = reader(ObjectMeta).read(b'{"creationTimestamp":"2026-01-02T03:04:05Z"}')

    assert meta.creation_timestamp == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(DecodeError, match="creationTimestamp"):
        reader(ObjectMeta).read(b'{"creationTimestamp":"2026-01-02T03:04:05"}')


def test_what_kubectl_last_applied_is_not_shown() -> None:
    meta = ObjectMeta(annotations={LAST_APPLIED: "hunter2", "other": "shown"})

    assert "hunter2" not in repr(meta)
    assert "hunter2" not in repr(meta.__rich_repr__())
    assert "shown" in repr(meta)


def test_the_token_of_the_next_page_is_called_continue() -> None:
    assert reader(ListMeta).read(b'{"continue":"abc"}') == ListMeta(continue_="abc")
