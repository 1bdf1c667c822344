"""kubectl's flags that say which server is meant, and as whom, under kubectl's own names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, final

from reflet.cli import lazy
from reflet.cli.command import Function, connection_option, with_options
from reflet.cli.options.arguments import FILE_NAME, KubeconfigName, NamespaceName

if TYPE_CHECKING:
    from reflet.cli.options.tab_words import Section
    from reflet.transport.config.settings import ConnectionSettings


KUBECONFIG_SECTIONS: Final[dict[str, Section]] = {
    "context": "contexts",
    "cluster": "clusters",
    "user": "users",
}

_OPTIONS = (
    connection_option(
        "-n",
        "--namespace",
        default="",
        type=NamespaceName(),
        help="Namespace.  [default: the context's]",
    ),
    connection_option(
        "--kubeconfig", default="", type=FILE_NAME, metavar="FILE", help="Kubeconfig file to use."
    ),
    *(
        connection_option(
            f"--{what}",
            default="",
            type=KubeconfigName(section),
            help=f"Kubeconfig {what} to use.",
        )
        for what, section in KUBECONFIG_SECTIONS.items()
    ),
    connection_option(
        "-s", "--server", default="", metavar="URL", help="Address of the API server."
    ),
    connection_option(
        "--token",
        default="",
        metavar="TOKEN",
        help="Bearer token; other users of this machine can see it while the command runs.",
    ),
    connection_option("--as", "as_user", default="", metavar="USER", help="User to act as."),
    connection_option(
        "--as-group",
        "as_groups",
        multiple=True,
        metavar="GROUP",
        help="Group to act as; repeatable.",
    ),
    connection_option("--as-uid", default="", metavar="UID", help="UID to act as."),
    connection_option(
        "--certificate-authority",
        default="",
        type=FILE_NAME,
        metavar="FILE",
        help="File with the CA's certificates.",
    ),
    connection_option(
        "--insecure-skip-tls-verify", is_flag=True, help="Trust any server: for tests only."
    ),
    connection_option(
        "--tls-server-name",
        default="",
        metavar="NAME",
        help="Name to expect in the server's certificate.",
    ),
    connection_option(
        "--request-timeout",
        default="",
        metavar="TIME",
        help="Longest time for one request, as 10s or 1m; 0 for none.",
    ),
)
_NAMES = (
    "kubeconfig",
    "context",
    "cluster",
    "user",
    "server",
    "token",
    "as_user",
    "as_groups",
    "as_uid",
    "certificate_authority",
    "insecure_skip_tls_verify",
    "tls_server_name",
    "request_timeout",
    "namespace",
)


@final
class ConnectionChoice:
    """Which server is meant: called, it gives the settings, reading kubeconfig if need be.

    ``namespace`` is that of the flag, empty without one.  ``namespaces`` are all of them, where
    the command takes several.
    """

    __slots__ = ("_overrides", "namespaces")

    def __init__(self, overrides: dict[str, Any], namespaces: tuple[str, ...] = ()) -> None:
        self._overrides = overrides
        self.namespaces = tuple(dict.fromkeys(namespaces))

    @property
    def namespace(self) -> str:
        """The namespace that was typed."""
        return str(self._overrides["namespace"])

    def other(self, **given: str) -> ConnectionChoice:
        """Return the same choice with what is given, where something is, in its place."""
        changes = {name: value for name, value in given.items() if value}
        return ConnectionChoice({**self._overrides, **changes})

    def __call__(self) -> ConnectionSettings:
        """Give the settings."""
        return lazy.cluster.settings_from(lazy.kubeconfig.Overrides(**self._overrides, typed=True))


def connection_options(command: Function) -> Function:
    """Give *command* the flags; it is called with ``connection``, a way to get the settings."""
    return _with_options(command, _OPTIONS)


def connection_options_of_namespaces(command: Function) -> Function:
    """The same for a command that takes ``-n`` more than once."""
    return _with_options(command, (_NAMESPACES, *_OPTIONS[1:]))


_NAMESPACES = connection_option(
    "-n",
    "--namespace",
    multiple=True,
    type=NamespaceName(),
    help="Namespace; repeatable.  [default: the context's]",
)


def _with_options(command: Function, options: Sequence[Callable[[Any], Any]]) -> Function:
    @functools.wraps(command)
    def with_connection(*arguments: Any, **values: Any) -> Any:
        overrides = {name: values.pop(name) for name in _NAMES}
        namespaces = overrides["namespace"]
        if isinstance(namespaces, tuple):
            overrides["namespace"] = namespaces[0] if namespaces else ""
        else:
            namespaces = (namespaces,) if namespaces else ()
        choice = ConnectionChoice(overrides, namespaces)
        return command(*arguments, connection=choice, **values)

    return with_options(with_connection, options)
