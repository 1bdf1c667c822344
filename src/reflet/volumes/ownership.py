"""Modes, users and the group of a volume's files, as the kubelet gives them.

The kubelet is root and may give anything to anybody.  Whoever is not asks for what the system
allows: a group of its own, for one.  Bits for a group are set only where the group was given,
since they would otherwise open the files to a group that nobody asked for.

Upstream: pkg/volume/volume_linux.go, changeFilePermission
"""

from __future__ import annotations

import errno
import stat
from typing import Final

from reflet.volumes import folders

FOLDER_MODE: Final = 0o755
GROUP_READS: Final = 0o440
GROUP_ENTERS: Final = stat.S_ISGID | 0o110

# Not ours to give; an id that this system does not know; a file system without owners.
_REFUSALS: Final = frozenset({errno.EPERM, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS})


def file_mode(mode: int, *, group: int | None) -> int:
    """The mode of a file whose volume belongs to *group*, if it belongs to one."""
    mode &= 0o777
    return mode if group is None else mode | GROUP_READS


def folder_mode(mode: int = FOLDER_MODE, *, group: int | None) -> int:
    """The mode of a folder whose volume belongs to *group*, if it belongs to one."""
    return mode if group is None else mode | GROUP_READS | GROUP_ENTERS


class Ownership:
    """Gives files to users and to the *group* of a volume, as far as the system allows.

    ``group`` is the one that can be given, None when there is none or it was refused.  ``notes``
    says what was refused, each refusal once.
    """

    def __init__(self, group: int | None) -> None:
        self.group = group
        self._notes: dict[str, None] = {}
        self._refused_users: set[int] = set()

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be given, in words."""
        return tuple(self._notes)

    def ask_for_group(self, folder: int, name: str) -> None:
        """Find out, with a folder of our own, whether the group can be given."""
        if self.group is None:
            return
        try:
            folders.set_owner(folder, name, group=self.group)
        except OSError as error:
            self._refused(f"group {self.group}", error)
            self.group = None

    def take_file(self, folder: int, name: str, mode: int, user: int | None) -> None:
        """Give a file of ours its mode and its owners."""
        # The mode first: what is no longer ours may not be changed any more.
        folders.set_mode(folder, name, file_mode(mode, group=self.group))
        if self.group is not None:
            folders.set_owner(folder, name, group=self.group)
        self._give_to(folder, name, user)

    def take_folder(self, folder: int, name: str, mode: int = FOLDER_MODE) -> None:
        """Give a folder of ours its mode and its group."""
        # The group first: the system drops the bit that passes it on for groups of others.
        if self.group is not None:
            folders.set_owner(folder, name, group=self.group)
        folders.set_mode(folder, name, folder_mode(mode, group=self.group))

    def take_link(self, folder: int, name: str, user: int | None) -> None:
        """Give a link of ours its owners; it has no mode."""
        if self.group is not None:
            folders.set_owner(folder, name, group=self.group)
        self._give_to(folder, name, user)

    def open_folder(self, folder: int) -> None:
        """Let the group into a folder that may not be ours, keeping what its mode allows."""
        if self.group is None:
            return
        found = folders.facts_of(folder)
        mode = stat.S_IMODE(found.st_mode)
        if (found.st_gid, mode) == (self.group, folder_mode(mode, group=self.group)):
            return
        try:
            self.take_folder(folder, ".", mode)
        except OSError as error:
            self._refused(f"the volume's own folder to group {self.group}", error)

    def _give_to(self, folder: int, name: str, user: int | None) -> None:
        if user is None or user in self._refused_users:
            return
        try:
            folders.set_owner(folder, name, user=user)
        except OSError as error:
            self._refused(f"user {user}", error)
            self._refused_users.add(user)

    def _refused(self, what: str, error: OSError) -> None:
        if error.errno not in _REFUSALS:
            raise error
        reason = (error.strerror or str(error)).lower()
        whom = what if " to " in what else f"files to {what}"
        self._notes[f"cannot give {whom}: {reason}"] = None
