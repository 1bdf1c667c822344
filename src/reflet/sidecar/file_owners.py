"""Who owns which file: the table that answers conflicts, moves, changed labels and deletions.

Pure.  A path has the claims of every object that wants it, in the order of ``Owner``; the last one
has the file.  So what a folder holds depends on the objects that there are, and not on the order in
which they came: it is what a fresh start would write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from reflet.sidecar.selected_objects import SidecarKind
from reflet.sidecar.targets import Content


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """An object; *rank* is the place of its stream among those that are followed."""

    rank: int
    namespace: str
    name: str
    kind: SidecarKind = field(compare=False)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Claim:
    """What an owner wants a file to hold."""

    owner: Owner
    content: Content = field(repr=False)


class OwnerTable:
    """The claims on every path.

    Whatever changes it says which paths to look at: there ``wanted`` is another one than before.
    """

    def __init__(self) -> None:
        self._claims: dict[str, dict[Owner, Content]] = {}
        self._paths: dict[Owner, frozenset[str]] = {}

    def __iter__(self) -> Iterator[str]:
        """Every path that somebody wants."""
        return iter(tuple(self._claims))

    def __len__(self) -> int:
        return len(self._claims)

    def wanted(self, path: str) -> Claim | None:
        """What is to be at *path*; None for nothing of ours."""
        claims = self._claims.get(path)
        if not claims:
            return None
        owner = max(claims)
        return Claim(owner, claims[owner])

    def content(self, owner: Owner, path: str) -> Content | None:
        """What *owner* wants at *path*, whether or not it has it."""
        return self._claims.get(path, {}).get(owner)

    @property
    def contested(self) -> tuple[str, ...]:
        """The paths that more than one object wants."""
        return tuple(path for path, claims in self._claims.items() if len(claims) > 1)

    def replace(self, owner: Owner, contents: Mapping[str, Content]) -> set[str]:
        """*owner* wants *contents*, by path, and nothing else any more; the paths to look at."""
        touched = set(self._paths.get(owner, ())) | contents.keys()
        before = {path: self.wanted(path) for path in touched}
        for path in touched - contents.keys():
            self._drop(path, owner)
        for path, content in contents.items():
            self._claims.setdefault(path, {})[owner] = content
        if contents:
            self._paths[owner] = frozenset(contents)
        else:
            self._paths.pop(owner, None)
        return {path for path in touched if self.wanted(path) != before[path]}

    def remove(self, owner: Owner) -> set[str]:
        """*owner* is gone; the paths to look at."""
        return self.replace(owner, {})

    def _drop(self, path: str, owner: Owner) -> None:
        claims = self._claims[path]
        del claims[owner]
        if not claims:
            del self._claims[path]
