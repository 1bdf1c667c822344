"""Kubeconfig files: what is written in them, read one by one and merged as kubectl merges.

Remembers which file each entry came from: relative paths begin there, and errors name it.

Upstream: client-go/tools/clientcmd/api/v1/types.go; client-go/tools/clientcmd/loader.go, Load,
    LoadFromFile
"""

from __future__ import annotations

import base64
import binascii
import functools
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec

from reflet.errors import ConfigurationError
from reflet.gotext.lazy_patterns import lazy_pattern
from reflet.transport.setting_files import why_unreadable

if TYPE_CHECKING:
    import yaml

_FIELD_PATH: Final = lazy_pattern(
    r"^(?P<what>.*?)(?: - at (?P<key>`key` in )?`\$\.?(?P<path>.*)`)?$"
)

_DEEPEST: Final = 100  # levels; the fields of a kubeconfig end at 7, its extensions are small
_TOO_DEEP: Final = "it is nested without end"
_LARGEST: Final = 1_000_000  # values, each counted as often as an alias repeats it
_TOO_LARGE: Final = "its aliases repeat too much"
_LONGEST_COMPLAINT: Final = 200  # characters of what the YAML library says


class InlineData(bytes):
    """Bytes that were written as base64 inside the file; their repr does not show them."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} bytes>"


class NamedExtension(msgspec.Struct, frozen=True):
    """Data for some other program, under a name."""

    name: str = ""
    extension: Any = None


class KubeconfigCluster(msgspec.Struct, frozen=True, rename="kebab"):
    """How to reach a server and how to trust it."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: InlineData = InlineData()
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: tuple[NamedExtension, ...] = ()

    def __repr__(self) -> str:
        # A proxy's address may hold a password.
        return f"KubeconfigCluster(server={self.server!r}, …)"


class ExecVariable(msgspec.Struct, frozen=True):
    """One variable for an exec plugin."""

    name: str = ""
    value: str = ""

    def __repr__(self) -> str:
        return f"ExecVariable(name={self.name!r}, …)"


class ExecConfig(msgspec.Struct, frozen=True, rename="camel"):
    """The program that knows the user's credentials."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[ExecVariable, ...] = ()
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""

    def __repr__(self) -> str:
        return f"ExecConfig(command={self.command!r}, …)"  # arguments may be secret


class AuthProvider(msgspec.Struct, frozen=True):
    """What came before exec plugins; only its name matters, for the error."""

    name: str = ""


class KubeconfigUser(msgspec.Struct, frozen=True, rename="kebab"):
    """Who we are for a server."""

    client_certificate: str = ""
    client_certificate_data: InlineData = InlineData()
    client_key: str = ""
    client_key_data: InlineData = InlineData()
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    impersonate: str = msgspec.field(default="", name="as")
    impersonate_uid: str = msgspec.field(default="", name="as-uid")
    impersonate_groups: tuple[str, ...] = msgspec.field(default=(), name="as-groups")
    impersonate_extra: Mapping[str, tuple[str, ...]] = msgspec.field(
        default_factory=dict, name="as-user-extra"
    )
    username: str = ""
    password: str = ""
    auth_provider: AuthProvider | None = None
    exec: ExecConfig | None = None

    def __repr__(self) -> str:
        return "KubeconfigUser(…)"


class KubeconfigContext(msgspec.Struct, frozen=True):
    """A cluster, a user and a namespace under one name."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _ClusterEntry(msgspec.Struct, frozen=True):
    name: str = ""
    cluster: KubeconfigCluster = KubeconfigCluster()


class _UserEntry(msgspec.Struct, frozen=True):
    name: str = ""
    user: KubeconfigUser = KubeconfigUser()


class _ContextEntry(msgspec.Struct, frozen=True):
    name: str = ""
    context: KubeconfigContext = KubeconfigContext()


class _KubeconfigFile(msgspec.Struct, frozen=True, rename="kebab"):
    kind: str = ""
    api_version: str = msgspec.field(default="", name="apiVersion")
    clusters: tuple[_ClusterEntry, ...] = ()
    users: tuple[_UserEntry, ...] = ()
    contexts: tuple[_ContextEntry, ...] = ()
    current_context: str = ""


T_co = TypeVar("T_co", covariant=True)


class Entry(msgspec.Struct, Generic[T_co], frozen=True):
    """A named cluster, user or context, and the file that it is written in."""

    kind: str
    name: str
    file: Path
    value: T_co

    def __str__(self) -> str:
        return f'{self.kind} "{self.name}" in {self.file}'

    def setting(self, field: str) -> str:
        """How an error calls *field* of this entry."""
        return f"{field} of {self}"

    def path(self, reference: str) -> Path:
        """*reference*, a path in this entry: relative ones begin at the entry's own file."""
        if os.path.isabs(reference):  # noqa: PTH117 - on the text as written
            return Path(reference)
        # Joined and tidied as text: kubectl does not follow links on the way either.
        return Path(os.path.normpath(Path(os.path.abspath(self.file)).parent / reference))  # noqa: PTH100 - resolve() would follow links


class Kubeconfig(msgspec.Struct, frozen=True):
    """Several kubeconfig files as one.  ``files`` are those that were there."""

    files: tuple[Path, ...]
    current_context: str
    clusters: Mapping[str, Entry[KubeconfigCluster]]
    users: Mapping[str, Entry[KubeconfigUser]]
    contexts: Mapping[str, Entry[KubeconfigContext]]


def load(paths: Sequence[Path]) -> Kubeconfig:
    """Read and merge *paths*; files that do not exist count as empty.

    The first file that sets an entry, or the current context, wins, and an entry is never put
    together from two files.  Raises ConfigurationError for a file that cannot be read or
    understood.
    """
    files: list[Path] = []
    current_context = ""
    clusters: dict[str, Entry[KubeconfigCluster]] = {}
    users: dict[str, Entry[KubeconfigUser]] = {}
    contexts: dict[str, Entry[KubeconfigContext]] = {}
    for path in dict.fromkeys(paths):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ConfigurationError(f"kubeconfig {path}: {why_unreadable(error)}") from error
        read = _decode(content, path)
        files.append(path)
        current_context = current_context or read.current_context
        _merge(clusters, "cluster", path, ((item.name, item.cluster) for item in read.clusters))
        _merge(users, "user", path, ((item.name, item.user) for item in read.users))
        _merge(contexts, "context", path, ((item.name, item.context) for item in read.contexts))
    return Kubeconfig(
        files=tuple(files),
        current_context=current_context,
        clusters=MappingProxyType(clusters),
        users=MappingProxyType(users),
        contexts=MappingProxyType(contexts),
    )


T = TypeVar("T")


def _merge(
    into: dict[str, Entry[T]], kind: str, file: Path, items: Iterable[tuple[str, T]]
) -> None:
    seen: dict[str, int] = {}
    for index, (name, value) in enumerate(items):
        if name in seen:
            raise ConfigurationError(
                f"kubeconfig {file}: {kind}s[{index}].name: "
                f'"{name}" is the name of {kind}s[{seen[name]}] already'
            )
        seen[name] = index
        into.setdefault(name, Entry(kind, name, file, value))


def _decode(content: bytes, path: Path) -> _KubeconfigFile:
    try:
        plain = _plain(_parse(content, path))
    except RecursionError as error:  # a node that holds an alias to itself
        raise ConfigurationError(f"kubeconfig {path}: bad YAML: {_TOO_DEEP}") from error
    if plain is None:
        return _KubeconfigFile()
    try:
        file = msgspec.convert(plain, _KubeconfigFile, dec_hook=_inline_data)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"kubeconfig {path}: {_words(error)}") from error
    if file.kind not in ("", "Config") or file.api_version not in ("", "v1"):
        raise ConfigurationError(
            f"kubeconfig {path}: is kind {_shown(file.kind or 'Config')} of "
            f"{_shown(file.api_version or 'v1')}, not kind Config of v1"
        )
    return file


def _shown(text: str) -> str:
    """The text in a sentence of one line, whatever is in it."""
    return text if text.isprintable() else repr(text)


def _parse(content: bytes, path: Path) -> object:
    """The first document of *content*, as plain Python values."""
    import yaml  # noqa: PLC0415 - lazily: most of the cost of reading a kubeconfig

    try:
        # JSON with tabs, or with characters escaped in halves, is not YAML to every YAML parser.
        if content.lstrip().startswith(b"{"):
            return json.loads(content)
    except (ValueError, RecursionError):
        pass  # YAML's flow style begins with a brace as well; its parser has the better error
    try:
        if excess := _excess(content):
            raise ConfigurationError(f"kubeconfig {path}: bad YAML: {excess}")
        return next(yaml.load_all(content, _loader()), None)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}:{mark.line + 1}" if mark is not None else str(path)
        words = str(error.problem)[:_LONGEST_COMPLAINT]
        raise ConfigurationError(f"kubeconfig {place}: bad YAML: {words}") from error
    except yaml.YAMLError as error:
        raise ConfigurationError(f"kubeconfig {path}: not text in UTF-8") from error
    except (ValueError, AttributeError, LookupError) as error:  # !!int, !!timestamp, !!bool of none
        raise ConfigurationError(f"kubeconfig {path}: bad YAML") from error


def _excess(content: bytes) -> str:
    """What is too much in the first document for any kubeconfig; empty when nothing is.

    The loader in C ends the whole program when its stack runs out, and a few lines of aliases to
    aliases stand for more values than memory holds; the parser's events need neither.
    """
    import yaml  # noqa: PLC0415 - lazily, see above

    known: dict[str, int] = {}  # how many values an anchor stands for
    sizes, anchors = [0], [""]  # of the collections that are open
    for event in yaml.parse(content, _loader()):
        match event:
            case yaml.CollectionStartEvent(anchor=anchor):
                sizes.append(1)
                anchors.append(anchor or "")
            case yaml.CollectionEndEvent():
                known[anchors.pop()] = size = sizes.pop()
                sizes[-1] += size
            case yaml.AliasEvent(anchor=anchor):
                sizes[-1] += known.get(anchor or "", 1)
            case yaml.ScalarEvent(anchor=anchor):
                known[anchor or ""] = 1
                sizes[-1] += 1
            case yaml.DocumentEndEvent():
                return ""
            case _:
                pass  # the beginning
        if len(sizes) > _DEEPEST:
            return _TOO_DEEP
        if sizes[-1] > _LARGEST:
            return _TOO_LARGE
    return ""


@functools.cache
def _loader() -> type[yaml.SafeLoader]:
    """PyYAML's safe loader, in C where it is built, without dates and base-60 numbers.

    To kubectl ``2026-01-02`` and ``12:30`` are texts.
    """
    import yaml  # noqa: PLC0415 - lazily, see above

    base: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {
        first: [
            (tag, _DECIMAL if tag == "tag:yaml.org,2002:int" and first in "0123456789+-" else regex)
            for tag, regex in pairs
            if tag != "tag:yaml.org,2002:timestamp"
        ]
        for first, pairs in base.yaml_implicit_resolvers.items()
    }
    loader: type[yaml.SafeLoader] = type(
        "KubeconfigLoader", (base,), {"yaml_implicit_resolvers": resolvers}
    )
    return loader


_DECIMAL: Final = lazy_pattern(r"^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*)$")


def _plain(value: object, *, nulls: bool = False) -> object:
    """*value* as kubectl reads it: null counts as absent, and every key is a text."""
    match value:
        case dict():
            return {
                # An extension is another program's data: its nulls are its own.
                _key(key): _plain(item, nulls=nulls or key == "extension")
                for key, item in value.items()
                if nulls or item is not None
            }
        case list():
            return [_plain(item, nulls=nulls) for item in value]
        case _:
            return value


def _key(key: object) -> str:
    match key:
        case bool() | None:
            return json.dumps(key)
        case _:
            return str(key)


def _inline_data(kind: type, value: object) -> InlineData:
    """Make an InlineData; msgspec adds the path to the errors."""
    if kind is not InlineData:
        raise NotImplementedError(kind)
    if not isinstance(value, str):
        raise TypeError(f"expected base64 text, got {type(value).__name__}")
    try:
        return InlineData(base64.b64decode(re.sub(r"[\r\n]", "", value), validate=True))
    except (binascii.Error, ValueError) as error:
        raise ValueError("is not valid base64") from error


def _words(error: msgspec.ValidationError) -> str:
    """``clusters[0].cluster.server: expected str, got int`` for msgspec's own sentence."""
    found = _FIELD_PATH.match(str(error))
    if found is None:
        return "is not a kubeconfig"
    what = found["what"].replace("`", "").replace("Expected", "expected")
    place = found["path"] or ""
    return f"{place}: {what}" if place else f"is not a kubeconfig: {what}"
