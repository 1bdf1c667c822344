"""What a user of a kubeconfig becomes: credentials, a client certificate, an impersonation.

Which of a user's fields count when several are set, and the errors about them.

Upstream: client-go/tools/clientcmd/client_config.go, getUserIdentificationPartialConfig;
    client-go/tools/clientcmd/validation.go, validateAuthInfo
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from reflet.errors import ConfigurationError
from reflet.transport.auth.certificates import ClientCertificate, Pem
from reflet.transport.auth.credentials import (
    BasicAuth,
    Credentials,
    NoCredentials,
    StaticToken,
    TokenFile,
    is_sendable,
)
from reflet.transport.config.kubeconfig_loader import (
    Entry,
    ExecConfig,
    KubeconfigCluster,
    KubeconfigUser,
)
from reflet.transport.config.settings import ConnectionSettings, Impersonation

if TYPE_CHECKING:
    from reflet.transport.auth.exec_plugin import ClusterInfo, ExecPlugin

# The name under which a cluster keeps data for exec plugins.
EXEC_EXTENSION: Final = "client.authentication.k8s.io/exec"


def client_certificate(user: Entry[KubeconfigUser]) -> ClientCertificate | None:
    """The user's certificate and key; a key without a certificate counts for nothing."""
    fields = user.value
    certificate = pem(
        user, "client-certificate", fields.client_certificate, fields.client_certificate_data
    )
    if certificate is None:
        return None
    key = pem(user, "client-key", fields.client_key, fields.client_key_data)
    if key is None:
        raise ConfigurationError(
            f"{certificate.setting} has no key: set client-key or client-key-data"
        )
    return ClientCertificate(certificate, key)


def pem(entry: Entry[object], field: str, reference: str, data: bytes) -> Pem | None:
    """The PEM text that *field* (a path) or its ``-data`` twin of *entry* sets."""
    if reference and data:
        raise ConfigurationError(f"{entry.setting(field)} and {field}-data are both set: keep one")
    if data:
        return Pem(entry.setting(f"{field}-data"), data=data)
    if reference:
        return Pem(entry.setting(field), path=entry.path(reference))
    return None


def credentials(
    user: Entry[KubeconfigUser],
    *,
    cluster: Entry[KubeconfigCluster],
    settings: ConnectionSettings,
    environ: Mapping[str, str],
    now: Callable[[], datetime],
) -> Credentials:
    """The headers of *user*: a token, else a password, else what its plugin says.

    *cluster* and *settings* are what a plugin may be told about.  As with kubectl, a user who
    can prove itself by a client certificate does not need its plugin.
    """
    fields = user.value
    if fields.auth_provider is not None:
        raise ConfigurationError(
            f'{user.setting("auth-provider")}: "{fields.auth_provider.name}" is not supported: '
            "auth-provider was removed from Kubernetes, use an exec plugin or a token"
        )
    token = fields.token.strip()
    if token and not is_sendable(token):
        raise ConfigurationError(f"{user.setting('token')} is not a token: it cannot be sent")
    if (token or fields.token_file) and (fields.username or fields.password):
        raise ConfigurationError(f"{user} has a token and a user name or password: keep one")
    if fields.token_file:
        return TokenFile(
            user.path(fields.token_file), setting=user.setting("tokenFile"), fallback=token
        )
    if token:
        return StaticToken(token)
    if fields.username or fields.password:
        return BasicAuth(fields.username, fields.password)
    if fields.exec is not None and settings.client_certificate is None:
        from reflet.transport.auth.exec_plugin import ExecCredentials  # noqa: PLC0415 - costs start-up time

        info = _cluster_info(cluster, settings) if fields.exec.provide_cluster_info else None
        return ExecCredentials(_plugin(user, fields.exec), environ=environ, cluster=info, now=now)
    return NoCredentials()


def impersonation(
    user: Entry[KubeconfigUser],
    *,
    as_user: str = "",
    as_uid: str = "",
    as_groups: tuple[str, ...] = (),
    called: Callable[[str], str] = str,
) -> Impersonation | None:
    """Whom to act as: what is given wins over the same field of *user*.

    *called* is what errors call the arguments.
    """
    fields = user.value
    name = as_user or fields.impersonate
    uid = as_uid or fields.impersonate_uid
    groups = as_groups or fields.impersonate_groups
    if not name and (uid or groups or fields.impersonate_extra):
        raise ConfigurationError(
            "impersonating a uid, group or extra needs a user as well: "
            + (f"give {called('as_user')}" if as_uid or as_groups else f"set as of {user}")
        )
    if not name:
        return None
    extra = MappingProxyType(dict(fields.impersonate_extra))
    return Impersonation(user=name, uid=uid, groups=groups, extra=extra)


def _plugin(user: Entry[KubeconfigUser], fields: ExecConfig) -> ExecPlugin:
    from reflet.transport.auth.exec_plugin import (  # noqa: PLC0415 - costs start-up time
        API_VERSIONS,
        ExecPlugin,
        InteractiveMode,
    )

    modes = [mode.value for mode in InteractiveMode]
    written = fields.interactive_mode
    if not written and fields.api_version == API_VERSIONS[1]:
        written = InteractiveMode.IF_AVAILABLE.value  # v1 made the field required
    plugin = ExecPlugin(
        setting=str(user),
        command=(str(user.path(fields.command)) if "/" in fields.command else fields.command),
        args=fields.args,
        env=tuple((variable.name, variable.value) for variable in fields.env),
        api_version=fields.api_version,
        install_hint=fields.install_hint,
    )
    if written not in modes:
        raise ConfigurationError(
            f"exec of {user}: interactiveMode is {written or 'missing'}, "
            f"not one of {', '.join(modes)}"
        )
    return dataclasses.replace(plugin, interactive_mode=InteractiveMode(written))


def _cluster_info(cluster: Entry[KubeconfigCluster], settings: ConnectionSettings) -> ClusterInfo:
    from reflet.transport.auth.exec_plugin import ClusterInfo  # noqa: PLC0415 - costs start-up time

    config = next(
        (item.extension for item in cluster.value.extensions if item.name == EXEC_EXTENSION), None
    )
    return ClusterInfo(
        server=settings.server,
        tls_server_name=settings.tls_server_name,
        insecure=settings.insecure,
        certificate_authority=settings.certificate_authority,
        proxy_url=settings.proxy_url,
        disable_compression=settings.disable_compression,
        config=msgspec.json.encode(config),
    )
