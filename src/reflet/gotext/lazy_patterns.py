"""Regular expressions that are compiled when they are first used.

For those of modules that every command line loads and few use: compiling takes longer than
importing the module that has it.
"""

import re
from typing import Any, cast


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what acts as the compiled pattern, in every method and attribute of it."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self._arguments = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._arguments)
        # What is asked for once is found without this method afterwards.
        for each in ("findall", "finditer", "fullmatch", "match", "search", "sub", "pattern"):
            self.__dict__[each] = getattr(compiled, each)
        return getattr(compiled, name)
