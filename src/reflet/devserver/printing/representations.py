"""The forms in which answers are sent: JSON or YAML; objects, their metadata, or a table.

What a client's ``Accept`` means, and how an answer or an event becomes bytes.

Upstream: apiserver/pkg/endpoints/handlers/negotiation/negotiate.go; handlers/response.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, assert_never, final

import msgspec
import yaml

from reflet.apirules import refusals
from reflet.apirules.schema.served_kind import ServedKind, internal_package
from reflet.devserver.printing.answers import (
    Answer,
    DocumentAnswer,
    ListAnswer,
    ObjectAnswer,
    TextAnswer,
)
from reflet.devserver.printing.table_output import IncludeObject, include_object, partial, table
from reflet.devserver.request.request_info import ApiRequest
from reflet.devserver.storage.stored import Stored
from reflet.devserver.verbs.conversion import in_version, is_storage_version
from reflet.devserver.watches.event_lines import (
    CHUNKED_JSON_LINES,
    Representation,
    ServedEvent,
    event_of,
    http_chunk,
    json_line,
)

Media = Literal["json", "yaml"]
As = Literal["", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"]

JSON: Final = "application/json"
YAML: Final = "application/yaml"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
TEXT: Final = "text/plain; charset=utf-8"

_PEOPLE: Final = ("curl", "Wget", "Mozilla/5.0")
_MEDIA: Final[dict[str, Media]] = {
    JSON: "json",
    "*/*": "json",
    YAML: "yaml",
    "text/yaml": "yaml",
}
_META_KINDS: Final = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})
_BASE: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_TEXT_TAG: Final = "tag:yaml.org,2002:str"
# Words that the real server's reader of YAML takes for something else than text, and PyYAML's
# does not, so they need quotes.
_WORDS: Final = frozenset({"y", "Y", "n", "N"})


@dataclass(frozen=True, slots=True)
class Form:
    """How a client wants its answer."""

    media: Media = "json"
    as_: As = ""
    include: IncludeObject = "Metadata"
    pretty: bool = False


PLAIN: Final = Form()


def negotiate(accept: str, request: ApiRequest, *, watch: bool = False) -> Form:
    """Find the form that a client likes best among those that are served; refuse others."""
    pretty = _wants_pretty(request)
    if not accept or accept == JSON:
        return Form(pretty=pretty)
    known = False
    for media_type, parameters in _clauses(accept):
        media = _MEDIA.get(media_type)
        known = known or media is not None or media_type == PROTOBUF
        as_ = parameters.get("as", "")
        if media is None or (watch and media == "yaml"):
            continue
        if not as_:
            return Form(media, pretty=pretty)
        group, version = parameters.get("g"), parameters.get("v")
        if as_ in _META_KINDS and (group, version) == ("meta.k8s.io", "v1"):
            include = (
                include_object(request.text("includeObject")) if as_ == "Table" else "Metadata"
            )
            return Form(media, as_, include, pretty)  # type: ignore[arg-type]  # one of _META_KINDS
    if watch and known:
        raise refusals.only_these_media_types(f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")
    if known:
        raise refusals.only_these_media_types(JSON, YAML, PROTOBUF)
    raise refusals.not_acceptable(watch=watch)


def form_of_refusals(accept: str, request: ApiRequest) -> Form:
    """Find the form for a refusal, which is never refused itself."""
    pretty = _wants_pretty(request)
    for media_type, _ in _clauses(accept):
        media = _MEDIA.get(media_type)
        if media is not None:
            return Form(media, pretty=pretty)
    return Form(pretty=pretty)


def _wants_pretty(request: ApiRequest) -> bool:
    if "pretty" in request.query:
        return request.flag("pretty")
    return request.user_agent.startswith(_PEOPLE)


def _clauses(accept: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Give the media types with their parameters, the most wanted first."""
    clauses = []
    for clause in accept.split(","):
        media_type, *rest = (part.strip() for part in clause.split(";"))
        parameters = dict(_pair(part) for part in rest)
        try:
            weight = float(parameters.pop("q", "1"))
        except ValueError:
            weight = 1.0
        if media_type and weight > 0:
            clauses.append((-weight, media_type.lower(), parameters))
    clauses.sort(key=lambda each: each[0])
    for _, media_type, parameters in clauses:
        yield media_type, parameters


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name.strip().lower(), value.strip().strip('"')


# Answers


@dataclass(frozen=True, slots=True)
class Rendered:
    """An answer as bytes."""

    code: int
    content: bytes
    content_type: str = JSON


def render(answer: Answer, form: Form, now: datetime) -> Rendered:
    """Put an answer into the form that was asked for."""
    match answer:
        case TextAnswer(text=text, code=code):
            return Rendered(code, text, TEXT)
        case DocumentAnswer(document=document, code=code):
            return render_document(document, form, code)
        case ObjectAnswer(kind=kind, document=document, encoded=encoded, code=code):
            if form == PLAIN and encoded is not None and is_storage_version(kind):
                return Rendered(code, encoded + b"\n")
            return render_document(_one(kind, document, form, now), form, code)
        case ListAnswer():
            if form == PLAIN:
                return Rendered(200, _plain_list(answer))
            return render_document(_many(answer, form, now), form, 200)
        case _:
            assert_never(answer)


def render_document(document: Any, form: Form, code: int) -> Rendered:
    """Write a document, whatever it is about."""
    if form.media == "yaml":
        from reflet.devserver.printing.representations import write_yaml  # noqa: PLC0415 - rarely asked for

        return Rendered(code, write_yaml(document), YAML)
    content = msgspec.json.encode(document)
    if form.pretty:
        return Rendered(code, msgspec.json.format(content, indent=2))
    return Rendered(code, content + b"\n")


def _one(kind: ServedKind, document: dict[str, Any], form: Form, now: datetime) -> dict[str, Any]:
    if form.as_ == "Table":
        return _table(kind, [document], _table_metadata(document), form, now)
    if form.as_ == "PartialObjectMetadataList":
        raise refusals.not_a_list(form.as_, _go_type(kind))
    if form.as_:
        return partial(document)
    return in_version(kind, document)


def _go_type(kind: ServedKind, suffix: str = "") -> str:
    """Name the real server's type of a kind, or of its list."""
    if kind.custom is not None:
        return f"*unstructured.Unstructured{suffix}"
    return f"*{internal_package(kind.group)}.{kind.kind}{suffix}"


def _table_metadata(document: dict[str, Any]) -> dict[str, Any]:
    version = document.get("metadata", {}).get("resourceVersion")
    return {"resourceVersion": version} if version else {}


def _table(
    kind: ServedKind,
    documents: list[dict[str, Any]],
    metadata: dict[str, Any],
    form: Form,
    now: datetime,
    *,
    with_columns: bool = True,
) -> dict[str, Any]:
    made = table(
        kind, documents, metadata, now=now, include=form.include, with_columns=with_columns
    )
    if form.include == "Object":
        for row in made["rows"]:
            row["object"] = in_version(kind, row["object"])
    return made


def _many(answer: ListAnswer, form: Form, now: datetime) -> dict[str, Any]:
    kind, documents = answer.kind, [stored.object for stored in answer.items]
    if form.as_ == "Table":
        return _table(kind, documents, answer.metadata, form, now)
    if form.as_ == "PartialObjectMetadata":
        raise refusals.is_a_list(form.as_, _go_type(kind, "List"))
    if form.as_:
        return {
            "kind": "PartialObjectMetadataList",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": answer.metadata,
            "items": [partial(document) for document in documents],
        }
    items = [in_version(kind, document) for document in documents]
    if kind.custom is None:
        # The real server says of lists of its own kinds once, at the top, what is in them.
        items = [
            {name: value for name, value in item.items() if name not in {"kind", "apiVersion"}}
            for item in items
        ]
    return {
        "kind": kind.list_kind,
        "apiVersion": kind.api_version,
        "metadata": _list_metadata(answer),
        "items": items,
    }


def _list_metadata(answer: ListAnswer) -> dict[str, Any]:
    # Of custom kinds the real server says even that there is no next page.
    return answer.metadata if answer.kind.custom is None else {"continue": "", **answer.metadata}


def _plain_list(answer: ListAnswer) -> bytes:
    """Write a list from the JSON of its objects, which is there already."""
    kind = answer.kind
    head = msgspec.json.encode(
        {
            "kind": kind.list_kind,
            "apiVersion": kind.api_version,
            "metadata": _list_metadata(answer),
        }
    )
    return b'%b,"items":[%b]}\n' % (head[:-1], b",".join(_items(kind, answer.items)))


def _items(kind: ServedKind, items: Any) -> list[bytes]:
    if not is_storage_version(kind):
        documents = [in_version(kind, stored.object) for stored in items]
        if kind.custom is None:
            documents = [_without_type(document) for document in documents]
        return [msgspec.json.encode(document) for document in documents]
    if kind.custom is not None:
        return [stored.encoded for stored in items]
    prefix = b'{"kind":"%b","apiVersion":"%b",' % (kind.kind.encode(), kind.api_version.encode())
    return [_without_prefix(stored, prefix) for stored in items]


def _without_prefix(stored: Stored, prefix: bytes) -> bytes:
    if stored.encoded.startswith(prefix):
        return b"{" + stored.encoded[len(prefix) :]
    return msgspec.json.encode(_without_type(stored.object))


def _without_type(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in {"kind", "apiVersion"}}


# Events of watches


@final
class EventForms:
    """The representations of events, one for each kind and form, so that watchers share bytes."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._made: dict[tuple[ServedKind, Form], Representation] = {}

    def form(self, kind: ServedKind, form: Form) -> Representation:
        """Give the representation of a kind's events, in chunks of HTTP/1.1."""
        wanted = Form(as_=form.as_, include=form.include)
        if wanted == PLAIN and is_storage_version(kind):
            return CHUNKED_JSON_LINES
        found = self._made.get((kind, wanted))
        if found is None:
            found = self._made[kind, wanted] = self._representation(kind, wanted)
        return found

    def forget(self, kinds: tuple[ServedKind, ...]) -> None:
        """Forget the representations of kinds that are no longer served."""
        gone = frozenset(kinds)
        self._made = {key: made for key, made in self._made.items() if key[0] not in gone}

    def _representation(self, kind: ServedKind, form: Form) -> Representation:
        if form.as_ == "Table":

            def with_columns(event: ServedEvent) -> bytes:
                return self._table_line(kind, form, event, with_columns=True)

            def without_columns(event: ServedEvent) -> bytes:
                return self._table_line(kind, form, event, with_columns=False)

            return Representation(without_columns, with_columns)

        def line(event: ServedEvent) -> bytes:
            if event.type == "ERROR":
                return http_chunk(json_line(event))
            document = partial(event.object) if form.as_ else in_version(kind, event.object)
            return http_chunk(json_line(event_of(event.type, document)))

        return Representation(line)

    def _table_line(
        self, kind: ServedKind, form: Form, event: ServedEvent, *, with_columns: bool
    ) -> bytes:
        if event.type == "ERROR":
            return http_chunk(json_line(event))
        metadata = _table_metadata(event.object)
        document = _table(
            kind, [event.object], metadata, form, self._now(), with_columns=with_columns
        )
        return http_chunk(json_line(event_of(event.type, document)))


class _Dumper(_BASE):  # type: ignore[misc]  # the C dumper has no types
    """Writes without aliases: the same value twice is written twice."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's shape
        return True


def _text(dumper: Any, text: str) -> Any:
    style = None
    if "\n" in text and text.isascii():
        style = "|"
    elif text in _WORDS or dumper.resolve(yaml.ScalarNode, text, (True, False)) != _TEXT_TAG:
        style = '"'  # without quotes it would be no text
    return dumper.represent_scalar(_TEXT_TAG, text, style=style)


_Dumper.add_representer(str, _text)


def write_yaml(document: Any) -> bytes:
    """Write a document; UTF-8, ends with a line break."""
    written: bytes = yaml.dump(
        document, Dumper=_Dumper, allow_unicode=True, encoding="utf-8", sort_keys=True
    )
    return written
