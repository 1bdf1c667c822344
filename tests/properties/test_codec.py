"""Whatever the bytes, decoding gives an object or a DecodeError; what is encoded comes back."""

import json
from collections.abc import Callable
from datetime import UTC
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some

from reflet.api.codec import decode, decode_list, decode_object, encode
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import Lease, LeaseSpec
from reflet.api.meta import MicroTime, ObjectMeta, OwnerReference
from reflet.api.unstructured import AnyObject
from reflet.api.watch_events import BrokenLine, ErrorEvent, EventDecoder, WatchEvent
from reflet.api.yaml.text import read_manifests, write_yaml
from reflet.errors import DecodeError

TEXTS = some.text(some.characters(codec="utf-8"), max_size=12)
NAMES = some.text("abcdefghij-.0123456789", min_size=1, max_size=12)
MOMENTS = some.datetimes(timezones=some.just(UTC))
METADATA = some.builds(
    ObjectMeta,
    name=NAMES,
    namespace=TEXTS,
    uid=TEXTS,
    resource_version=TEXTS,
    generation=some.integers(0, 2**63 - 1),
    creation_timestamp=some.none() | MOMENTS,
    deletion_grace_period_seconds=some.none() | some.integers(0, 100),
    labels=some.dictionaries(TEXTS, TEXTS, max_size=3),
    annotations=some.dictionaries(TEXTS, TEXTS, max_size=3),
    owner_references=some.lists(
        some.builds(OwnerReference, name=TEXTS, controller=some.none() | some.booleans()),
        max_size=2,
    ).map(tuple),
    finalizers=some.lists(TEXTS, max_size=2).map(tuple),
)
CONFIG_MAPS = some.builds(
    ConfigMap,
    metadata=METADATA,
    data=some.dictionaries(TEXTS, TEXTS, max_size=4),
    binary_data=some.dictionaries(TEXTS, some.binary(max_size=20), max_size=4),
    immutable=some.booleans(),
)
SECRETS = some.builds(
    Secret,
    metadata=METADATA,
    data=some.dictionaries(TEXTS, some.binary(max_size=20), max_size=4),
    type=TEXTS,
)
LEASES = some.builds(
    Lease,
    metadata=METADATA,
    spec=some.builds(
        LeaseSpec,
        holder_identity=some.none() | TEXTS,
        renew_time=some.none() | MOMENTS.map(MicroTime.at),
    ),
)
JSON: some.SearchStrategy[Any] = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-(2**63), 2**64 - 1)
    | some.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
# Things that are nearly objects find more than noise does.
NEARLY = some.fixed_dictionaries(
    {},
    optional={
        "apiVersion": some.just("v1") | JSON,
        "kind": some.sampled_from(["ConfigMap", "Secret", "Pod", "Pump"]) | JSON,
        "metadata": some.fixed_dictionaries({}, optional={"name": NAMES | JSON, "labels": JSON})
        | JSON,
        "data": some.dictionaries(TEXTS, TEXTS | JSON, max_size=3) | JSON,
        "spec": JSON,
        "items": JSON,
        "type": some.sampled_from(["ADDED", "BOOKMARK", "ERROR"]) | JSON,
        "object": JSON,
    },
).map(lambda value: json.dumps(value, ensure_ascii=False).encode())
BYTES = some.binary(max_size=60) | NEARLY


def outcome(decoding: Callable[[], object]) -> object:
    try:
        return decoding()
    except DecodeError as error:
        return error


@given(BYTES)
def test_any_bytes_are_an_object_or_a_decode_error(data: bytes) -> None:
    for kind in (ConfigMap, Secret, Pod, Lease, AnyObject):
        result = outcome(lambda: decode(data, kind))  # noqa: B023 - called at once

        assert isinstance(result, kind | DecodeError)
        assert "\n" not in str(result) or not isinstance(result, DecodeError)


@given(BYTES)
def test_any_bytes_are_something_or_a_decode_error(data: bytes) -> None:
    for read in (
        decode_object,
        lambda data: decode_list(data, ConfigMap),
        lambda data: decode_list(data, AnyObject),
        read_manifests,
    ):
        result = outcome(lambda: read(data))  # noqa: B023 - called at once

        assert "\n" not in str(result) or not isinstance(result, DecodeError)


@given(some.lists(BYTES, max_size=4).map(b"\n".join))
def test_any_lines_are_events_of_which_only_the_last_may_be_broken(buffer: bytes) -> None:
    for decoder in (EventDecoder(ConfigMap), EventDecoder(AnyObject)):
        events = decoder.decode_lines(buffer)

        assert all(isinstance(event, WatchEvent | ErrorEvent) for event in events[:-1])
        assert all(isinstance(event, WatchEvent | ErrorEvent | BrokenLine) for event in events[-1:])


@given(CONFIG_MAPS | SECRETS | LEASES)
def test_what_is_encoded_comes_back(value: ConfigMap | Secret | Lease) -> None:
    assert decode(encode(value), type(value)) == value
    assert decode_object(encode(value)) == value


@given(CONFIG_MAPS)
def test_an_event_holds_what_was_sent(settings: ConfigMap) -> None:
    line = b'{"type":"MODIFIED","object":' + encode(settings) + b"}\n"

    assert EventDecoder(ConfigMap).decode_lines(line) == [
        WatchEvent(type="MODIFIED", object=settings)
    ]


@given(some.dictionaries(TEXTS, JSON, max_size=4), NAMES)
def test_any_object_loses_nothing(content: dict[str, Any], name: str) -> None:
    whole = {**content, "apiVersion": "x/v1", "kind": "Pump", "metadata": {"name": name}}
    text = json.dumps(whole).encode()

    pump = decode(text, AnyObject)

    assert pump.to_json() == text
    assert pump.to_dict() == whole
    assert list(pump.to_dict()) == list(whole)


@given(CONFIG_MAPS | SECRETS)
@settings(max_examples=60)
def test_what_is_written_as_yaml_can_be_read(value: ConfigMap | Secret) -> None:
    (manifest,) = read_manifests(write_yaml(value))

    assert manifest.object == value


@given(some.binary(min_size=6, max_size=20))
def test_no_secret_value_appears_in_a_representation(value: bytes) -> None:
    shown = repr(Secret(data={"k": value}))

    assert shown == repr(Secret(data={"k": bytes(len(value))}))
