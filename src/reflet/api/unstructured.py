"""``AnyObject``: any kind that has no struct, custom resources included.

Metadata is typed; the rest is kept as the bytes that came and decoded on first touch.

Upstream: apimachinery/pkg/apis/meta/v1/unstructured/unstructured.go, Unstructured
"""

from collections.abc import Mapping
from typing import Any, Self

import msgspec

from reflet.api.frozen import EMPTY, Frozen, freeze, thaw
from reflet.api.json_reader import FAILURES, reader, refuse
from reflet.api.meta import ObjectMeta


class _Head(Frozen, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()


class AnyObject:
    """An object of any kind; nothing of it is lost, not even the order of its keys.

    ``api_version``, ``kind`` and ``metadata`` are always at hand.  Everything else is decoded
    when it is first asked for, and handed out read-only, all the way down.  Cannot be changed:
    take ``to_dict()``, change that, and make another.

    - *api_version*, *kind*: used where *data* does not say them: items of a list
    - *at*: place of *data* in a larger document, for errors
    """

    __slots__ = ("_content", "_data", "api_version", "kind", "metadata")

    api_version: str
    kind: str
    metadata: ObjectMeta
    _data: bytes
    _content: Mapping[str, Any] | None

    complete = True

    def __init__(self, data: bytes, *, api_version: str = "", kind: str = "", at: str = "") -> None:
        """Take an object's JSON.

        ``api_version`` and ``kind`` are used when the JSON has none, as in lists.  ``at`` is
        where the bytes stand in what the caller reads.  Raises ``DecodeError``.
        """
        data = bytes(data)
        head = reader(_Head).read(data, at=at)
        if not data.isascii():
            _check_text(data, head.kind or kind or "object", at)
        absent = {}
        if not head.api_version:
            absent["apiVersion"] = api_version
        if not head.kind:
            absent["kind"] = kind
        added = {name: text for name, text in absent.items() if text}
        if added:
            data = _with_members(data, added)
        remember = object.__setattr__
        remember(self, "api_version", head.api_version or api_version)
        remember(self, "kind", head.kind or kind)
        remember(self, "metadata", head.metadata)
        remember(self, "_data", data)
        remember(self, "_content", None)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Make one from decoded JSON; raises ``DecodeError`` when its head is not an object's.

        - *content*: the object as decoded JSON
        """
        return cls(msgspec.json.encode(thaw(content)))

    @property
    def content(self) -> Mapping[str, Any]:
        """The whole object, read-only: mappings and tuples.

        Raises ``DecodeError`` if a part that was never looked at before cannot be decoded.
        """
        if self._content is None:
            try:
                content = freeze(msgspec.json.decode(self._data))
            except FAILURES as error:
                refuse(error, repr(self))
            object.__setattr__(self, "_content", content)
            return content  # type: ignore[no-any-return]  # decoded JSON has no type
        return self._content

    @property
    def spec(self) -> Mapping[str, Any]:
        """The object's ``spec``, empty when there is none."""
        return self._part("spec")

    @property
    def status(self) -> Mapping[str, Any]:
        """The object's ``status``, empty when there is none."""
        return self._part("status")

    def _part(self, name: str) -> Mapping[str, Any]:
        part = self.content.get(name)
        return part if isinstance(part, Mapping) else EMPTY

    def __getitem__(self, name: str) -> Any:
        return self.content[name]

    def __contains__(self, name: object) -> bool:
        return name in self.content

    def get(self, name: str, default: Any = None) -> Any:
        """Return a member of the object by its JSON name, or the default.

        - *name*: JSON name of the member
        - *default*: returned where there is no such member
        """
        return self.content.get(name, default)

    def to_dict(self) -> dict[str, Any]:
        """Return a new, mutable copy of the whole object; nothing of it is kept.

        Raises ``DecodeError`` as ``content`` does.
        """
        if self._content is not None:
            content: dict[str, Any] = thaw(self._content)
            return content
        try:
            return msgspec.json.decode(self._data)  # type: ignore[no-any-return]  # as above
        except FAILURES as error:
            refuse(error, repr(self))

    def to_json(self) -> bytes:
        """Return the object's JSON, as it came."""
        return self._data

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AnyObject):
            return NotImplemented
        return self._data == other._data or (
            self.metadata == other.metadata and self.content == other.content
        )

    __hash__ = None  # type: ignore[assignment]  # equal content may have different bytes

    def __repr__(self) -> str:
        name = "/".join(part for part in (self.metadata.namespace, self.metadata.name) if part)
        version = self.metadata.resource_version
        at = f" at {version}" if version else ""
        return f"<{self.kind or 'object'} {name or 'without a name'}{at} ({self.api_version})>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._data,)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{self.kind} objects cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{self.kind} objects cannot be changed")


def _check_text(data: bytes, subject: str, at: str) -> None:
    # The JSON library does not look into what it skips: without this, bytes that are not text
    # would be found only when somebody touches them.
    try:
        data.decode()
    except UnicodeDecodeError as error:
        refuse(error, subject, at)


def _with_members(data: bytes, members: Mapping[str, str]) -> bytes:
    # At the end, where they win over members of the same name that are null or empty.
    rest = data.rstrip()[:-1].rstrip()
    separator = b"" if rest.endswith(b"{") else b","
    return rest + separator + msgspec.json.encode(members)[1:]
