"""What is new in a configuration, and what to do about it.  Pure.

Compares what a process has with what its container would get now, and applies the rule of
``--on-change``.  Decides on results: an object that changed without changing what the container
gets changes nothing.  Tells names, never values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from reflet.errors import ConfigurationError
from reflet.processes.exit_status import signal_name, signal_number
from reflet.resolution.volumes.file_contents import FileContent, VolumeContents
from reflet.resolution.volumes.sub_paths import fixed_files
from reflet.supervisor.mount_tree import MountPlan

MOST_NAMED: Final = 6


@dataclass(frozen=True, slots=True)
class RestartOnChange:
    """Start the process again when what it got at its start is no longer right."""

    def __str__(self) -> str:
        return "restart"


@dataclass(frozen=True, slots=True)
class SignalOnChange:
    """Send a signal when anything is new."""

    number: int

    def __str__(self) -> str:
        return f"signal:{signal_name(self.number).removeprefix('SIG')}"


@dataclass(frozen=True, slots=True)
class FilesOnChange:
    """Refresh the files and do nothing else."""

    def __str__(self) -> str:
        return "none"


OnChange = RestartOnChange | SignalOnChange | FilesOnChange


def parse_on_change(text: str) -> OnChange:
    """Read ``restart``, ``none`` or ``signal:HUP``; raises ConfigurationError."""
    word, colon, name = text.partition(":")
    if word == "restart" and not colon:
        return RestartOnChange()
    if word == "none" and not colon:
        return FilesOnChange()
    if word == "signal" and name:
        try:
            return SignalOnChange(signal_number(name))
        except ValueError as error:
            raise ConfigurationError(f"--on-change: {error}") from error
    raise ConfigurationError(
        f"--on-change: {text!r} is not restart, none or signal:NAME, as signal:HUP is"
    )


@dataclass(frozen=True, slots=True)
class Outfit:
    """All that a process has from its start: it changes only by a restart."""

    command: Sequence[str] = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)
    plan: MountPlan
    fixed: Mapping[str, Mapping[str, FileContent]] = field(repr=False)


def fixed_parts(
    plan: MountPlan, volumes: Mapping[str, VolumeContents]
) -> dict[str, Mapping[str, FileContent]]:
    """What the mounts show that are looked up once, by their paths."""
    return {
        mount.path: fixed_files(volumes[mount.volume], mount.sub_path)
        for mount in plan.mounts
        if mount.is_fixed and mount.volume in volumes
    }


@dataclass(frozen=True, slots=True)
class OutfitChange:
    """What is new of what a process has from its start."""

    variables: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    command: bool = False
    mounts: bool = False

    def __bool__(self) -> bool:
        return bool(self.variables or self.files or self.command or self.mounts)

    def words(self) -> list[str]:
        """What is new, by name."""
        said = _several("variable", self.variables)
        said += _several("file", self.files)
        said += ["the command"] if self.command else []
        return said + (["the mounts"] if self.mounts else [])


def outfit_change(before: Outfit, now: Outfit) -> OutfitChange:
    """Compare what a process has with what one that is started now would have."""
    shared = before.fixed.keys() & now.fixed.keys()
    return OutfitChange(
        variables=tuple(sorted(_different(before.environment, now.environment))),
        files=tuple(
            sorted(path for path in shared if _different(before.fixed[path], now.fixed[path]))
        ),
        command=tuple(before.command) != tuple(now.command),
        mounts=before.plan.mounts != now.plan.mounts,
    )


def changed_files(
    plan: MountPlan, before: Mapping[str, VolumeContents], now: Mapping[str, VolumeContents]
) -> tuple[str, ...]:
    """The paths, in the container, of files that a running process sees change."""
    changed: set[str] = set()
    for mount in plan.mounts:
        if mount.scratch or mount.is_fixed or mount.volume not in now:
            continue
        old = before.get(mount.volume)
        different = _different({} if old is None else old.files, now[mount.volume].files)
        changed.update(f"{mount.path}/{path}" for path in different)
    return tuple(sorted(changed))


class Reaction(Enum):
    """What is done when something is new."""

    NOTHING = auto()
    RESTART = auto()
    SIGNAL = auto()
    TELL = auto()
    """Nothing but to say it: the process sees new files by itself, and the rest not at all."""


def reaction_to(on_change: OnChange, outfit: OutfitChange, files: Sequence[str]) -> Reaction:
    """Apply the rule; *files* are those that a running process sees change."""
    if not outfit and not files:
        return Reaction.NOTHING
    match on_change:
        case RestartOnChange():
            return Reaction.RESTART if outfit else Reaction.TELL
        case SignalOnChange():
            return Reaction.SIGNAL
        case FilesOnChange():
            return Reaction.TELL


def described(outfit: OutfitChange, files: Sequence[str]) -> str:
    """What is new, in one line: ``variable LOG_LEVEL, files /etc/app/a and /etc/app/b``."""
    return ", ".join([*outfit.words(), *_several("file", files)])


def _several(word: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    if len(names) == 1:
        return [f"{word} {names[0]}"]
    shown, more = names[:MOST_NAMED], len(names) - MOST_NAMED
    if more > 0:
        return [f"{word}s {', '.join(shown)} and {more} more"]
    return [f"{word}s {', '.join(shown[:-1])} and {shown[-1]}"]


def _different(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    names = dict.fromkeys((*before, *now))
    return [
        name
        for name in names
        if name not in before or name not in now or not _same(before[name], now[name])
    ]


def _same(before: object, now: object) -> bool:
    if isinstance(before, FileContent) and isinstance(now, FileContent):
        # Another version of the object with the same bytes is no news.
        return (before.data, before.mode, before.user) == (now.data, now.mode, now.user)
    return before == now
