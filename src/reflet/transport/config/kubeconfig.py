"""From kubeconfig files, flags and the environment to the settings of one connection.

Which files are read, which context, cluster and user are meant, and what flags change.  The rules
are kubectl's; where they differ on purpose, a comment says why.

Upstream: client-go/tools/clientcmd/client_config.go, DirectClientConfig,
    DeferredLoadingClientConfig (merged_client_builder.go); client-go/tools/clientcmd/overrides.go;
    client-go/tools/clientcmd/loader.go, ClientConfigLoadingRules
"""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from reflet.errors import ConfigurationError
from reflet.runtime.clock import SystemClock
from reflet.transport.auth.certificates import Pem
from reflet.transport.auth.credentials import StaticToken, is_sendable
from reflet.transport.config.in_cluster import (
    in_cluster_namespace,
    in_cluster_settings,
    why_not_in_cluster,
)
from reflet.transport.config.kubeconfig_loader import (
    Entry,
    Kubeconfig,
    KubeconfigCluster,
    KubeconfigContext,
    KubeconfigUser,
    load,
)
from reflet.transport.config.proxies import proxy_for
from reflet.transport.config.settings import (
    ConnectionSettings,
    checked_proxy,
    checked_server,
    parse_request_timeout,
)
from reflet.transport.config.user_credentials import (
    client_certificate,
    credentials,
    impersonation,
    pem,
)

__all__ = ["Overrides", "kubeconfig_paths", "load", "resolve_settings"]

logger = logging.getLogger(__name__)

SYSTEM_CLOCK: Final = SystemClock()

_NO_CONTEXT = Entry("context", "", Path(), KubeconfigContext())
_NO_CLUSTER = Entry("cluster", "", Path(), KubeconfigCluster())
_NO_USER = Entry("user", "", Path(), KubeconfigUser())


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """What the caller asks for; an empty value leaves the choice to the files.

    The names are those of kubectl's flags, except ``as_user`` for ``--as`` and ``as_groups`` for
    ``--as-group``.  Errors call them by these names, or, with *typed*, as the flags that they are
    on a command line.
    """

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    user: str = ""
    namespace: str = ""
    server: str = ""
    token: str = field(default="", repr=False)
    certificate_authority: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    as_user: str = ""
    as_uid: str = ""
    as_groups: tuple[str, ...] = ()
    request_timeout: str = ""
    typed: bool = False

    def called(self, name: str) -> str:
        """What whoever gave it calls the setting *name*."""
        flag = name.removesuffix("_user").replace("_", "-")
        return f"--{flag}" if self.typed else name

    def __post_init__(self) -> None:
        if self.token and not is_sendable(self.token):
            raise ConfigurationError(f"{self.called('token')} is not a token: it cannot be sent")
        if self.certificate_authority and self.insecure_skip_tls_verify:
            raise ConfigurationError(
                f"{self.called('certificate_authority')} and "
                f"{self.called('insecure_skip_tls_verify')} exclude each other: give one of them"
            )


class NotConfigured(ConfigurationError):
    """Nobody has said which cluster is meant; nothing that was said is wrong."""


def resolve_settings(
    overrides: Overrides,
    environ: Mapping[str, str],
    home: Path,
    *,
    root: Path = Path("/"),
    now: Callable[[], datetime] = SYSTEM_CLOCK.now,
) -> ConnectionSettings:
    """The settings that *overrides*, the kubeconfig files and the pod around us amount to.

    Looks at the kubeconfig of *overrides*, else at every file of ``KUBECONFIG``, else at
    ``.kube/config`` in *home*; when these name no cluster, at the service account of the pod (under
    *root*).
    Raises ConfigurationError, one line that names the setting, or file and field, to mend.
    """
    kubeconfig = load(kubeconfig_paths(overrides, environ, home))
    if overrides.kubeconfig and not kubeconfig.files:
        raise ConfigurationError(
            f"{overrides.called('kubeconfig')} {overrides.kubeconfig}: no such file"
        )
    context, cluster, user = _chosen(kubeconfig, overrides)
    if overrides.server or cluster is not _NO_CLUSTER:
        settings = _with_user(
            _reached(cluster, overrides),
            cluster,
            user,
            token=overrides.token,
            environ=environ,
            now=now,
        )
    elif not (why_not := why_not_in_cluster(environ, root=root)):
        settings = _in_pod(overrides, environ, root)
    elif kubeconfig.contexts:
        raise ConfigurationError(_no_cluster(kubeconfig, context, overrides))
    else:
        raise NotConfigured(_no_configuration(kubeconfig, overrides, environ, home, why_not))
    return dataclasses.replace(
        settings,
        namespace=_namespace(context, overrides, environ, root),
        proxy_url=settings.proxy_url or _proxy_of_environment(settings.server, environ),
        impersonation=impersonation(
            user,
            as_user=overrides.as_user,
            as_uid=overrides.as_uid,
            as_groups=overrides.as_groups,
            called=overrides.called,
        ),
        request_timeout=(
            parse_request_timeout(
                overrides.request_timeout, setting=overrides.called("request_timeout")
            )
            if overrides.request_timeout
            else None
        ),
    )


def kubeconfig_paths(overrides: Overrides, environ: Mapping[str, str], home: Path) -> list[Path]:
    """The files to merge, first one first; they need not exist."""
    if overrides.kubeconfig:
        return [Path(overrides.kubeconfig)]
    if listed := environ.get("KUBECONFIG"):
        return [Path(name) for name in listed.split(os.pathsep) if name]
    return [home / ".kube" / "config"]


def _chosen(
    kubeconfig: Kubeconfig, overrides: Overrides
) -> tuple[Entry[KubeconfigContext], Entry[KubeconfigCluster], Entry[KubeconfigUser]]:
    """The entries that are meant; an empty one where nothing is named."""
    context = _find(
        kubeconfig.contexts,
        overrides.context or kubeconfig.current_context,
        overrides.called("context") if overrides.context else "current-context",
        _NO_CONTEXT,
        kubeconfig,
    )
    cluster = _find(
        kubeconfig.clusters,
        overrides.cluster or context.value.cluster,
        overrides.called("cluster") if overrides.cluster else str(context),
        _NO_CLUSTER,
        kubeconfig,
    )
    # kubectl goes on as nobody when a context names a user that is not there; the server's
    # refusal would not say why.
    user = _find(
        kubeconfig.users,
        overrides.user or context.value.user,
        overrides.called("user") if overrides.user else str(context),
        _NO_USER,
        kubeconfig,
    )
    return context, cluster, user


T = TypeVar("T")


def _find(
    entries: Mapping[str, Entry[T]],
    name: str,
    named_by: str,
    absent: Entry[T],
    kubeconfig: Kubeconfig,
) -> Entry[T]:
    if not name:
        return absent
    if name in entries:
        return entries[name]
    files = ", ".join(map(str, kubeconfig.files)) or "any kubeconfig file"
    there = ", ".join(sorted(entries)) or "none"
    raise ConfigurationError(
        f'{named_by}: no {absent.kind} "{name}" in {files}; {absent.kind}s there: {there}'
    )


def _reached(entry: Entry[KubeconfigCluster], overrides: Overrides) -> ConnectionSettings:
    """Where the server is and how to trust it, flags included."""
    cluster = entry.value
    if overrides.server:
        server = checked_server(overrides.server, overrides.called("server"))
    elif cluster.server:
        server = checked_server(cluster.server, entry.setting("server"))
    else:
        raise ConfigurationError(
            f"{entry.setting('server')} is missing: add it, or give {overrides.called('server')}"
        )
    proxy = cluster.proxy_url and checked_proxy(cluster.proxy_url, entry.setting("proxy-url"))
    settings = ConnectionSettings(
        server=server, proxy_url=proxy, disable_compression=cluster.disable_compression
    )
    if server.startswith("http:"):
        return settings
    authority, insecure = _trusted(entry, overrides)
    # Another server has another name: the file's name goes with the file's server.
    from_file = "" if overrides.server else cluster.tls_server_name
    return dataclasses.replace(
        settings,
        certificate_authority=authority,
        insecure=insecure,
        tls_server_name=overrides.tls_server_name or from_file,
    )


def _trusted(entry: Entry[KubeconfigCluster], overrides: Overrides) -> tuple[Pem | None, bool]:
    """The authority to trust, and whether to trust anybody; a flag replaces all of the file."""
    if overrides.certificate_authority:
        name = overrides.called("certificate_authority")
        return Pem(name, path=Path(overrides.certificate_authority)), False
    if overrides.insecure_skip_tls_verify:
        return None, True
    cluster = entry.value
    authority = pem(
        entry,
        "certificate-authority",
        cluster.certificate_authority,
        cluster.certificate_authority_data,
    )
    if authority is not None and cluster.insecure_skip_tls_verify:
        raise ConfigurationError(
            f"{authority.setting} is set together with insecure-skip-tls-verify: remove one of them"
        )
    return authority, cluster.insecure_skip_tls_verify


def _with_user(
    settings: ConnectionSettings,
    cluster: Entry[KubeconfigCluster],
    user: Entry[KubeconfigUser],
    *,
    token: str,
    environ: Mapping[str, str],
    now: Callable[[], datetime],
) -> ConnectionSettings:
    if settings.server.startswith("http:"):
        # Secrets do not travel in the clear, and there is nobody to show a certificate to.
        if token or user is not _NO_USER:
            logger.info("%s is plain HTTP: no credentials are sent", settings.server)
        return settings
    if token:
        # Whatever else the user has in the way of headers.  kubectl lets tokenFile win over the
        # flag, which helps nobody who typed it.
        only_certificate = msgspec.structs.replace(
            user.value,
            token=token,
            token_file="",
            username="",
            password="",
            auth_provider=None,
            exec=None,
        )
        user = msgspec.structs.replace(user, value=only_certificate)
    settings = dataclasses.replace(settings, client_certificate=client_certificate(user))
    return dataclasses.replace(
        settings,
        credentials=credentials(user, cluster=cluster, settings=settings, environ=environ, now=now),
    )


def _in_pod(overrides: Overrides, environ: Mapping[str, str], root: Path) -> ConnectionSettings:
    """The pod's own settings.  kubectl takes fewer flags here; to ignore one silently is worse."""
    settings = in_cluster_settings(environ, root=root)
    if overrides.token:
        settings = dataclasses.replace(settings, credentials=StaticToken(overrides.token))
    if overrides.certificate_authority or overrides.insecure_skip_tls_verify:
        authority, insecure = _trusted(_NO_CLUSTER, overrides)
        settings = dataclasses.replace(settings, certificate_authority=authority, insecure=insecure)
    return dataclasses.replace(settings, tls_server_name=overrides.tls_server_name)


def _namespace(
    context: Entry[KubeconfigContext], overrides: Overrides, environ: Mapping[str, str], root: Path
) -> str:
    if named := overrides.namespace or context.value.namespace:
        return named
    # In a pod even a kubeconfig for another cluster falls back to the pod's namespace: kubectl
    # does so, and a script must mean the same namespace to both.
    if not why_not_in_cluster(environ, root=root):
        return in_cluster_namespace(environ, root=root)
    return "default"


def _proxy_of_environment(server: str, environ: Mapping[str, str]) -> str:
    variable, proxy = proxy_for(server, environ)
    return proxy and checked_proxy(proxy, variable)


def _no_cluster(
    kubeconfig: Kubeconfig, context: Entry[KubeconfigContext], overrides: Overrides
) -> str:
    if context is not _NO_CONTEXT:
        cluster, server = overrides.called("cluster"), overrides.called("server")
        return f"{context} names no cluster: add one, or give {cluster} or {server}"
    files = ", ".join(map(str, kubeconfig.files))
    return (
        f"current-context is not set in {files}: give {overrides.called('context')}, "
        f"one of {', '.join(sorted(kubeconfig.contexts))}"
    )


def _no_configuration(
    kubeconfig: Kubeconfig,
    overrides: Overrides,
    environ: Mapping[str, str],
    home: Path,
    why_not_pod: str,
) -> str:
    """Every place that was looked at, and what was there."""
    looked = [
        f"{path} {'has no context' if path in kubeconfig.files else 'does not exist'}"
        for path in kubeconfig_paths(overrides, environ, home)
    ]
    name = overrides.called("kubeconfig")
    if overrides.kubeconfig:
        looked = [f"{name} {place}" for place in looked]
    elif environ.get("KUBECONFIG"):
        looked = [f"{name} is not given", *(f"KUBECONFIG: {place}" for place in looked)]
    else:
        looked = [f"{name} is not given", "KUBECONFIG is not set", *looked]
    return f"no cluster is configured: {'; '.join(looked)}; not in a pod: {why_not_pod}"
