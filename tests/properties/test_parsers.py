"""Whatever others wrote: it is understood, or refused with an error of ours, in one line, soon.

Everything that parses foreign text is in ``PARSERS``; a new parser is one line there.  Each is
tried with the corpus of nasty texts, and with mutations of good and of nasty ones.  Every run
takes the same examples; ``REFLET_SEED`` takes others, ``REFLET_FUZZ`` so many times as many
(``make fuzz``).
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from types import MappingProxyType
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from reflet.api.codec import decode, decode_list, decode_object
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import Lease
from reflet.api.quantities import Quantity
from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.api.status import error_from_object, error_from_response
from reflet.api.unstructured import AnyObject
from reflet.api.watch_events import BrokenLine, EventDecoder
from reflet.api.yaml import text
from reflet.apirules.schema.json_reading import read_json
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.protobuf import decode_protobuf
from reflet.devserver.faults import Fault
from reflet.devserver.printing.json_paths import values_at
from reflet.devserver.request.authentication import TokenIssuer
from reflet.devserver.request.continue_tokens import read_token
from reflet.devserver.request.selection import selection
from reflet.devserver.storage.storage import Storage
from reflet.devserver.verbs import loading
from reflet.devserver.verbs.state import State
from reflet.errors import ApiError, ParseError, RefletError
from reflet.gotext.paths import below, clean
from reflet.manifests.applying import read_applied
from reflet.resolution.environment.env_files import find_variable
from reflet.resolution.environment.expansion import expand, references_in
from reflet.resolution.problems import Refused
from reflet.transport.auth.exec_plugin import ExecCredentials, ExecPlugin
from reflet.transport.config.kubeconfig import Overrides, resolve_settings
from reflet.transport.config.settings import checked_proxy, checked_server, parse_request_timeout
from reflet.transport.connection import retry_after
from reflet.volumes.payload_paths import laid_out, valid_path
from tests.properties.nasty_texts import GOOD, NASTY, SMALL

SEED: Final = int(os.environ.get("REFLET_SEED", "0"))
EXAMPLES: Final = 40 * int(os.environ.get("REFLET_FUZZ", "1"))
SOON: Final = 5.0
"""Seconds, on a machine that has much else to do; most take a millisecond."""


@cache
def folder() -> Path:
    """Where files are put that a parser wants as files."""
    made = Path(mkdtemp(prefix="reflet-fuzz-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def kinds() -> Kinds:
    return Kinds()


def text_of(data: bytes) -> str:
    """What a command line makes of bytes."""
    return data.decode(errors="surrogateescape")


def in_file(data: bytes, name: str) -> str:
    path = folder() / name
    path.write_bytes(data)
    return str(path)


# The parsers


def kubeconfig(data: bytes) -> None:
    overrides = Overrides(kubeconfig=in_file(data, "config"))
    resolve_settings(overrides, {}, folder(), root=folder())


def served_manifests(data: bytes) -> None:
    read = loading.read_manifests([in_file(data, "served.yaml")])
    loading.load(State(Storage(), tokens=TokenIssuer(b"secret")), read)


def applied_manifests(data: bytes) -> None:
    read_applied([in_file(data, "applied.yaml")])


def any_object(data: bytes) -> None:
    """Such an object is looked into only when somebody does."""
    item = decode(data, AnyObject)
    item.to_dict()
    str(item.metadata)


def watch_lines(data: bytes) -> None:
    for decoder in (EventDecoder(ConfigMap), EventDecoder(Secret), EventDecoder(AnyObject)):
        for event in decoder.decode_lines(data):
            if isinstance(event, BrokenLine):
                assert_is_ours(event.error)


def status(data: bytes) -> None:
    for error in (
        error_from_response(500, None, data, "get", "/x"),
        error_from_response(409, 1.0, data, "create", "/x"),
        error_from_object(data),
    ):
        assert_is_ours(error)


def exec_output(data: bytes) -> None:
    plugin = ExecPlugin(
        command="plugin", api_version="client.authentication.k8s.io/v1", setting="user x"
    )
    ExecCredentials(plugin, environ={})._understood(data)


def environment_file(data: bytes) -> None:
    for name in ("A", "C", text_of(data)[:20]):
        found = find_variable(data, name, path="file")
        assert isinstance(found, str | Refused)


def expansion(data: bytes) -> None:
    text = text_of(data)
    expand(text, {"A": "$(A)"}.get)
    references_in(text)


def volume_path(data: bytes) -> None:
    text = text_of(data)
    assert ".." not in below(text).split("/")
    assert not below(text).startswith("/")
    assert clean(clean(text)) == clean(text)
    valid = valid_path(text)
    assert valid == clean(valid)
    assert not valid.startswith(("/", ".."))
    laid_out({text: b"", "other": b""})


def fault(data: bytes) -> None:
    Fault.from_document(read_json(data))


def served_selector(data: bytes) -> None:
    pods = kinds().by_resource("", "v1", "pods")
    assert pods is not None
    text = data.decode(errors="replace")  # as it comes out of a query
    for labels, fields in ((text, ""), ("", text)):
        try:
            matches = selection(pods, labels, fields).matches
            if matches is not None:
                matches({"metadata": {"name": "x"}})
        except ApiError:
            pass  # in the words of the real server, which repeats the text as it is


def small(parse: Callable[[str], object]) -> Callable[[bytes], None]:
    """A parser of a small text."""
    return lambda data: void(parse(text_of(data)))


def plain(parse: Callable[[bytes], object]) -> Callable[[bytes], None]:
    return lambda data: void(parse(data))


def void(_: object) -> None:
    pass


PARSERS: Final[Mapping[str, Callable[[bytes], None]]] = MappingProxyType(
    {
        "kubeconfig": kubeconfig,
        "manifests": plain(text.read_manifests),
        "applied manifests": applied_manifests,
        "served manifests": served_manifests,
        "object": plain(decode_object),
        "ConfigMap": plain(lambda data: decode(data, ConfigMap)),
        "Secret": plain(lambda data: decode(data, Secret)),
        "Pod": plain(lambda data: decode(data, Pod)),
        "Lease": plain(lambda data: decode(data, Lease)),
        "any object": any_object,
        "list": plain(lambda data: decode_list(data, Pod)),
        "list of any": plain(lambda data: decode_list(data, AnyObject)),
        "watch lines": watch_lines,
        "Status": status,
        "exec plugin": exec_output,
        "label selector": small(LabelSelector.parse),
        "field selector": small(FieldSelector.parse),
        "served selector": served_selector,
        "quantity": small(Quantity.parse),
        "expansion": expansion,
        "environment file": environment_file,
        "volume path": volume_path,
        "request timeout": small(parse_request_timeout),
        "Retry-After": small(lambda text: retry_after({"retry-after": text})),
        "server address": small(lambda text: checked_server(text, "server")),
        "proxy address": small(lambda text: checked_proxy(text, "proxy-url")),
        "JSON of a request": plain(read_json),
        "protobuf": plain(lambda data: decode_protobuf(data, kinds())),
        "continue token": small(read_token),
        "JSON path": small(lambda text: values_at(GOOD["pod"], text)),
        "fault": fault,
    }
)


# The claims


def assert_is_ours(error: BaseException) -> None:
    """One of our tree, in one line that can be printed."""
    assert isinstance(error, RefletError), repr(error)
    text = str(error)
    assert len(text.splitlines()) <= 1, text
    assert len(text) < 2_000, f"{text[:200]}… is {len(text)} characters long"


def outcome(parser: Callable[[bytes], None], data: bytes) -> None:
    begun = time.thread_time()  # of the processor: a busy machine is not the parser's fault
    try:
        parser(data)
    except RefletError as error:
        assert_is_ours(error)
    assert time.thread_time() - begun < SOON


@pytest.mark.parametrize("name", PARSERS)
def test_nothing_of_the_corpus_breaks_a_parser(name: str) -> None:
    broken = []
    for data in NASTY:
        try:
            outcome(PARSERS[name], data)
        except Exception as error:  # noqa: BLE001 - all of them are shown together
            broken.append(f"{data[:60]!r} ({len(data)} bytes): {error!r:.300}")

    assert not broken, "\n".join(broken)


def mutations(data: bytes) -> st.SearchStrategy[bytes]:
    """The text with a few places cut out, doubled, replaced or swapped."""
    place = st.integers(0, max(0, len(data) - 1))
    scrap = st.binary(max_size=6) | st.sampled_from(
        [b"\0", b"\n", b"'", b'"', b"{", b"}", b"[", b"]", b",", b":", b"\xff", b"null", b"1e999"]
    )
    step = st.tuples(place, st.integers(0, 12), scrap, st.booleans())

    def changed(steps: list[tuple[int, int, bytes, bool]]) -> bytes:
        made = data
        for begin, size, replacement, doubled in steps:
            middle = made[begin : begin + size]
            made = (
                made[:begin] + (middle + middle if doubled else replacement) + made[begin + size :]
            )
        return made

    return st.lists(step, max_size=5).map(changed)


DOCUMENTS: Final = tuple(
    json.dumps(value, indent=indent).encode() for value in GOOD.values() for indent in (None, 1)
)
YAML: Final = tuple(text.write_yaml(value).encode() for value in GOOD.values())
ANYTHING: Final[st.SearchStrategy[Any]] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "metadata", "name", "spec", "data", "items", "status", "user"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


def replaced(value: Any, path: list[int], by: Any) -> Any:
    """The value with something else at one place, chosen by the numbers of *path*."""
    match value:
        case dict() if path and value:
            key = sorted(value)[path[0] % len(value)]
            return {**value, key: replaced(value[key], path[1:], by)}
        case list() if path and value:
            index = path[0] % len(value)
            return [*value[:index], replaced(value[index], path[1:], by), *value[index + 1 :]]
        case _:
            return by


misshapen = st.builds(
    lambda value, path, by: json.dumps(replaced(value, path, by)).encode(),
    st.sampled_from(list(GOOD.values())),
    st.lists(st.integers(0, 9), max_size=6),
    ANYTHING,
)
foreign = (
    st.sampled_from([*DOCUMENTS, *YAML, *SMALL]).flatmap(mutations)
    | misshapen
    | st.binary(max_size=80)
    | st.text(max_size=80).map(lambda text: text.encode(errors="surrogatepass"))
)


@pytest.mark.time_limit(60.0 * max(1, EXAMPLES // 40))
@pytest.mark.parametrize("name", PARSERS)
def test_whatever_was_written_is_understood_or_refused_as_ours(name: str) -> None:
    @seed(SEED)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        print_blob=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(foreign)
    def holds(data: bytes) -> None:
        note(f"REFLET_SEED={SEED}")
        outcome(PARSERS[name], data)

    holds()


# There and back


@pytest.mark.parametrize("data", [*NASTY, *SMALL], ids=range(len(NASTY) + len(SMALL)))
def test_a_selector_that_is_understood_is_written_as_it_is_read(data: bytes) -> None:
    for parse in (LabelSelector.parse, FieldSelector.parse):
        try:
            selector = parse(text_of(data))
        except ParseError:
            continue
        assert parse(str(selector)) == selector
