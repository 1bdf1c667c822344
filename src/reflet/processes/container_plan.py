"""What a container is: a command, whom it runs as, and the root file system that it sees.

Its ``repr`` shows neither arguments nor environment, which hold secrets, nor the parts of volumes
that a mount names, which may be made from one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

CAPABILITIES: Final[Mapping[str, int]] = {
    "CHOWN": 0,
    "DAC_OVERRIDE": 1,
    "FOWNER": 3,
    "FSETID": 4,
    "KILL": 5,
    "SETGID": 6,
    "SETUID": 7,
    "SETPCAP": 8,
    "NET_BIND_SERVICE": 10,
    "SYS_CHROOT": 18,
    "AUDIT_WRITE": 29,
    "SETFCAP": 31,
}
"""What root in a container keeps, as container runtimes give it, but for two.

``MKNOD``: no cgroup keeps a container from the devices that it could make.  ``NET_RAW``: the
network is the machine's, and root could listen to everybody on it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BindMount:
    """A volume, or the part *beneath* it, at a *path* of the container.

    No link is followed on the way from *folder* to what is *beneath*: whoever may write there
    must not lead us elsewhere.
    """

    folder: str
    beneath: str = field(default="", repr=False)
    path: str
    read_only: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerRoot:
    """The file system of a container that has namespaces of its own.

    *shared* are paths of the machine, and whether they can be written to; *scratch* is the folder
    that becomes ``/tmp``, and *staging* an empty folder on which the root is put together.  With
    *read_only* not even ``/tmp`` can be written to, unless a volume is there.
    """

    host_name: str
    staging: str
    scratch: str
    shared: tuple[tuple[str, bool], ...] = ()
    mounts: tuple[BindMount, ...] = ()
    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerPlan:
    """A process to start in a container.

    With a *root*, it gets namespaces of its own; with *joins*, those of that process.  With
    neither, it is a plain process.
    *capabilities* are what root keeps, all for None.  *streams* are the descriptors of its
    input, output and errors; with *has_terminal* they are a terminal that becomes its own.
    *limits* are those of the system that it has instead of its
    parent's: kind, soft and hard limit as ``resource`` has them.
    """

    arguments: tuple[str, ...] = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)
    streams: tuple[int, int, int]
    directory: str = ""
    user: int | None = None
    group: int | None = None
    groups: tuple[int, ...] | None = None
    capabilities: tuple[int, ...] | None = None
    root: ContainerRoot | None = None
    joins: int | None = None
    has_terminal: bool = False
    limits: tuple[tuple[int, int, int], ...] = ()
