"""What a request asks for beyond its path: the options of every verb.

Each becomes query parameters, or the body of a deletion.  Options are values: compare them, keep
them, derive others with ``msgspec.structs.replace``.  A name that is no option is refused by the
type checker and by the call.

Upstream: apimachinery/pkg/apis/meta/v1/types.go, GetOptions, ListOptions, DeleteOptions,
    CreateOptions, PatchOptions, UpdateOptions
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, cast, final

import msgspec

from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.errors import ConfigurationError

Query: TypeAlias = tuple[tuple[str, str], ...]
"""Query parameters as they are sent, not yet percent-encoded, sorted by name."""

ResourceVersionMatch: TypeAlias = Literal["Exact", "NotOlderThan"]
"""How a list treats the version that it asks for."""
FieldValidation: TypeAlias = Literal["Ignore", "Warn", "Strict"]
"""What the server does about fields that it does not know, or that come twice."""
PropagationPolicy: TypeAlias = Literal["Orphan", "Background", "Foreground"]
"""What becomes of the objects that a deleted object owns."""

_ALL_LABELS: Final = LabelSelector.everything()
_ALL_FIELDS: Final = FieldSelector.everything()


@final
class PatchType(enum.StrEnum):
    """The forms of a patch; the value is the content type that names the form."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


def _query(**parameters: str | int | bool | None) -> Query:
    return tuple(
        (name, _text(value))
        for name, value in sorted(parameters.items())
        if value is not None and value != ""
    )


def _text(value: str | int | bool) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _refuse_negative(name: str, value: int | None) -> None:
    if value is not None and value < 0:
        raise ConfigurationError(f"{name} is {value}; expected 0 or more")


class _Selection(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Which objects of a collection, at which version, for how long.

    Selectors may be given as text, which is parsed: a malformed one is a ParseError here and
    not an answer of the server's.  A version of ``""`` and one of None ask the same.
    """

    label_selector: LabelSelector | str = _ALL_LABELS
    field_selector: FieldSelector | str = _ALL_FIELDS
    resource_version: str | None = None
    resource_version_match: ResourceVersionMatch | None = None
    timeout_seconds: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.label_selector, str):
            labels = LabelSelector.parse(self.label_selector)
            msgspec.structs.force_setattr(self, "label_selector", labels)
        if isinstance(self.field_selector, str):
            fields = FieldSelector.parse(self.field_selector)
            msgspec.structs.force_setattr(self, "field_selector", fields)
        # Such a selector has no text: sent, it would select everything.
        if self.labels.selects_nothing or self.fields.selects_nothing:
            raise ConfigurationError("a selector that matches nothing cannot be sent")
        _refuse_negative("timeout_seconds", self.timeout_seconds)

    @property
    def labels(self) -> LabelSelector:
        """The label selector, parsed."""
        return cast("LabelSelector", self.label_selector)

    @property
    def fields(self) -> FieldSelector:
        """The field selector, parsed."""
        return cast("FieldSelector", self.field_selector)


class ListOptions(_Selection, frozen=True, kw_only=True, gc=False):
    """What a list, or the deletion of a collection, asks for; a limit of 0 is no limit."""

    limit: int = 0
    continue_: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_negative("limit", self.limit)

    def query(self) -> Query:
        """Give the query parameters, sorted by name."""
        return _query(
            **{"continue": self.continue_},
            fieldSelector=str(self.field_selector),
            labelSelector=str(self.label_selector),
            limit=self.limit or None,
            resourceVersion=self.resource_version,
            resourceVersionMatch=self.resource_version_match,
            timeoutSeconds=self.timeout_seconds,
        )


class WatchOptions(_Selection, frozen=True, kw_only=True, gc=False):
    """What a watch asks for.

    ``send_initial_events=True`` asks for the present state first and needs
    ``resource_version_match="NotOlderThan"``.
    """

    allow_bookmarks: bool = True
    send_initial_events: bool | None = None

    def query(self) -> Query:
        """Give the query parameters, ``watch=true`` among them, sorted by name."""
        return _query(
            allowWatchBookmarks=self.allow_bookmarks or None,
            fieldSelector=str(self.field_selector),
            labelSelector=str(self.label_selector),
            resourceVersion=self.resource_version,
            resourceVersionMatch=self.resource_version_match,
            sendInitialEvents=self.send_initial_events,
            timeoutSeconds=self.timeout_seconds,
            watch=True,
        )


class GetOptions(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a get asks for: ``"0"`` for whatever the server's cache holds."""

    resource_version: str | None = None

    def query(self) -> Query:
        """Give the query parameters."""
        return _query(resourceVersion=self.resource_version)


class _WriteOptions(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What every write may ask for; a dry run does all but store the result."""

    dry_run: bool = False
    field_manager: str | None = None
    field_validation: FieldValidation | None = None

    def query(self) -> Query:
        """Give the query parameters, sorted by name."""
        return _query(
            dryRun="All" if self.dry_run else None,
            fieldManager=self.field_manager,
            fieldValidation=self.field_validation,
        )


class CreateOptions(_WriteOptions, frozen=True, kw_only=True, gc=False):
    """What a create asks for."""


class UpdateOptions(_WriteOptions, frozen=True, kw_only=True, gc=False):
    """What a replace asks for."""


class PatchOptions(_WriteOptions, frozen=True, kw_only=True, gc=False):
    """What a patch asks for; ``force`` takes over fields of other managers (apply only)."""

    force: bool | None = None

    def query(self) -> Query:
        """Give the query parameters, sorted by name."""
        return tuple(sorted((*super().query(), *_query(force=self.force))))


class DeleteOptions(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a delete asks for; sent as a body, not as query parameters.

    With ``uid`` or ``resource_version`` the server deletes only the object that still has them
    and answers Conflict otherwise.  None leaves a choice to the server.
    """

    dry_run: bool = False
    grace_period_seconds: int | None = None
    propagation_policy: PropagationPolicy | None = None
    uid: str | None = None
    resource_version: str | None = None

    def __post_init__(self) -> None:
        _refuse_negative("grace_period_seconds", self.grace_period_seconds)

    def body(self) -> bytes:
        """Give the JSON to send as ``application/json``."""
        preconditions = {"resourceVersion": self.resource_version, "uid": self.uid}
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "dryRun": ["All"] if self.dry_run else None,
            "gracePeriodSeconds": self.grace_period_seconds,
            "preconditions": _present(preconditions) or None,
            "propagationPolicy": self.propagation_policy,
        }
        return msgspec.json.encode(_present(options))


def _present(options: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in options.items() if value is not None}
