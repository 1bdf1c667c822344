"""How large an environment has become while it is being built.

Owns: the counting, and when it is over.  A short pod can ask for gigabytes, so every value is
counted before it is made.  Must not know variables, nor where values come from.
"""

from typing import final

from reflet.resolution.expansion import LARGEST_EXPANSION

_AROUND = 2  # the equals sign and the end of ``NAME=value``


@final
class EnvironmentSize:
    """The size of all variables as they stand, in characters, and of those that were replaced.

    A value that is replaced does not count, since a process is given only the last one.
    """

    def __init__(self) -> None:
        self.is_exceeded = False
        self.size = 0
        self._replaced = 0

    def takes(self, name: str, length: int, *, before: str | None) -> bool:
        """Count a value of *length* in place of the one *before*; False if it is too much."""
        self.size += len(name) + length + _AROUND
        if before is not None:
            self.size -= len(name) + len(before) + _AROUND
        self.is_exceeded = self.is_exceeded or self.size > LARGEST_EXPANSION
        return not self.is_exceeded

    def keeps(self, replaced: str) -> bool:
        """Whether a value that was replaced can still be shown: together they are bounded, too."""
        self._replaced += len(replaced)
        return self._replaced <= LARGEST_EXPANSION
