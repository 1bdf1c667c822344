"""The settings of an agent, and what is wrong with them, found before anything is done.

Upstream: pkg/kubelet/apis/config/types.go, KubeletConfiguration (syncFrequency and the like).
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reflet.errors import ConfigurationError
from reflet.node.pods.admission import (
    GROUPS_FLAG,
    NOBODY_ELSE,
    ROOT,
    USERS_FLAG,
    Accounts,
    Allowance,
    IdGrants,
    RunAs,
)
from reflet.node.pods.container_mounts import shared_paths
from reflet.processes.isolation_check import why_not_isolated
from reflet.runtime.platforms import require_namespaces

USUAL_ROOT: Final = Path("/var/lib/reflet")
OWN_ROOT: Final = ".local/state/reflet"
RESYNC: Final = 60.0  # seconds; the kubelet's syncFrequency
RETRY: Final = 10.0  # seconds after a sync that failed
FROM_API: Final = "api"
NOTICING: Final = ("watch", "auto")  # strategies by which changes are noticed
ANYWHERE: Final = "0.0.0.0"  # noqa: S104 - as the kubelet: everybody may ask, and has to say who
SECURE_PORT: Final = 10250  # the kubelet's


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurePort:
    """Where everything is answered over TLS, and the PEM files for it.

    *client_ca* has the authorities of client certificates; None when none are asked for.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None
    place: tuple[str, int] = (ANYWHERE, SECURE_PORT)


@dataclass(frozen=True, slots=True, kw_only=True)
class CriOptions:
    """Which container runtime, and how pods find names of the cluster.

    *endpoint* and *image_endpoint* are sockets, as ``unix:///run/containerd/containerd.sock``; the
    second is the first when it is empty.
    """

    endpoint: str
    image_endpoint: str = ""
    cluster_dns: tuple[str, ...] = ()
    cluster_domain: str = "cluster.local"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOptions:
    """The settings of one agent.

    *pods_from* is ``api`` or a folder of manifests.  *selector* chooses unbound pods that are
    bound to this node.  *user* is whom containers run as that do not say, as ``UID``,
    ``UID:GID`` or None, and *grants* whom they may be besides.  With *isolation* containers have
    namespaces of their own, and see *share* of the machine, as ``shared_paths`` reads it.
    *runtime* is what runs containers: None for processes, else what is needed for real ones.
    *health* is where health, metrics and, without *secure*, logs are answered in plain words.
    *ui* is the loopback port of the agent's page of itself, 0 for a free one, None for no page.
    With *keep_running* containers outlive an agent that is told to stop.  *skip_invalid_names* is
    the rule of Kubernetes 1.19 for keys of whole objects.
    """

    name: str
    root: Path
    pods_from: str = FROM_API
    strategy: str = "watch"
    run: bool = False
    user: RunAs | None = None
    grants: IdGrants = NOBODY_ELSE
    host_paths: tuple[str, ...] = ()
    isolation: bool = True
    share: tuple[str, ...] = ()
    runtime: CriOptions | None = None
    namespaces: frozenset[str] = frozenset()
    selector: str = ""
    address: str = ""
    health: tuple[str, int] | None = None
    secure: SecurePort | None = None
    ui: int | None = None
    register: bool = True
    keep_running: bool = False
    skip_invalid_names: bool = False
    resync: float = RESYNC
    retry: float = RETRY
    relist: float = 1.0
    backoff_first: float = 10.0
    backoff_ceiling: float = 300.0

    @property
    def folder(self) -> Path | None:
        """The folder of manifests, None when pods come from the server."""
        return None if self.pods_from == FROM_API else Path(self.pods_from)

    def allowance(self) -> Allowance:
        """What pods are given; ConfigurationError when that was not said and must be."""
        me = os.geteuid()
        self._check(me)
        if self.runtime is not None:
            return Allowance(
                namespaces=self.namespaces, host_paths=self.host_paths, runs_images=True
            )
        return Allowance(
            namespaces=self.namespaces,
            host_paths=self.host_paths,
            own_user=me,
            own_group=os.getegid(),
            own_groups=frozenset(os.getgroups()),
            default=RunAs() if self.user is None or me != ROOT else self.user,
            grants=self.grants,
            isolates=self.run and self.isolation,
            shared=shared_paths(self.share, self.root),
        )

    def _check(self, me: int) -> None:
        """Whether this user can give what was said."""
        if self.ui is not None and self.strategy not in NOTICING:
            raise ConfigurationError(
                f"--ui: the strategy {self.strategy} does not notice changes: use "
                + " or ".join(NOTICING)
            )
        user = self.user
        if me == ROOT or self.runtime is not None:
            if self.run and user is None and self.runtime is None:
                raise ConfigurationError(
                    "the agent runs as root: name the user for containers with --user, "
                    "--user root for root"
                )
            return
        if user is not None and user.user not in {None, me}:
            raise ConfigurationError(
                f"--user: only root may become another user, and this is user {me}"
            )
        if user is not None and user.group not in {None, os.getegid()}:
            raise ConfigurationError(
                f"--user: only root may become another group, and this is group {os.getegid()}"
            )
        for flag, given in ((USERS_FLAG, self.grants.users), (GROUPS_FLAG, self.grants.groups)):
            if given.ranges or given.named:
                raise ConfigurationError(
                    f"{flag}: only root may become another, and this is user {me}"
                )


def check_isolation() -> None:
    """Raise ConfigurationError where containers cannot have namespaces of their own; blocks."""
    plainly = ": --no-isolation runs containers as plain processes"
    require_namespaces("--run with isolation", plainly)
    why_not = why_not_isolated()
    if why_not is not None:
        raise ConfigurationError(
            f"--run: containers cannot have namespaces of their own here ({why_not}): it takes "
            "Linux 5.12 and root, or user namespaces (kernel.unprivileged_userns_clone, "
            "kernel.apparmor_restrict_unprivileged_userns); --no-isolation runs them as plain "
            "processes that see this machine"
        )


def usual_root(user: int, environment: Mapping[str, str]) -> Path:
    """Where an agent keeps everything when nobody says where.

    Raises ConfigurationError for a user without a home: a place that others could have made
    before is not one for secrets.
    """
    if user == ROOT:
        return USUAL_ROOT
    state = environment.get("XDG_STATE_HOME", "")
    if state.startswith("/"):
        return Path(state, "reflet")
    home = environment.get("HOME", "")
    if not home.startswith("/"):
        raise ConfigurationError("HOME is not set: say with --root where everything is kept")
    return Path(home, OWN_ROOT)


def read_accounts(users: Iterable[str] = (), groups: Iterable[str] = ()) -> Accounts:
    """Read the accounts of this machine, and those of these names that a directory may have."""
    known_users = {entry.pw_name: (entry.pw_uid, entry.pw_gid) for entry in pwd.getpwall()}
    known_groups = {entry.gr_name: entry.gr_gid for entry in grp.getgrall()}
    for name in users:
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(name)
            known_users[name] = (found.pw_uid, found.pw_gid)
    for name in groups:
        with contextlib.suppress(KeyError):
            known_groups[name] = grp.getgrnam(name).gr_gid
    return Accounts(users=known_users, groups=known_groups)
