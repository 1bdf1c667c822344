"""Texts from files, folders and standard input; errors name the file.

Upstream: cli-runtime/pkg/resource/builder.go, FilenameParam
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from reflet.errors import ConfigurationError

SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
STANDARD_INPUT: Final = "-"


def read_texts(paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file; folders are searched all the way down.

    Raises ConfigurationError for what cannot be read.
    """
    for path in paths:
        if path == STANDARD_INPUT:
            yield "standard input", sys.stdin.buffer.read()
            continue
        for file in _files(Path(path)):
            try:
                content = file.read_bytes()
            except OSError as error:
                raise ConfigurationError(f"cannot read {file}: {error.strerror}") from error
            yield str(file), content


def _files(path: Path) -> list[Path]:
    try:
        if not path.is_dir():
            return [path]
        with_suffix = (
            each
            for each in path.rglob("*")
            # Ours are about the files, and not among them.
            if each.suffix in SUFFIXES and not each.name.startswith(".reflet")
        )
        files = sorted(each for each in with_suffix if each.is_file())
        if not files:
            # An unreadable folder looks like an empty one to a search.
            next(path.iterdir(), None)
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from error
    if not files:
        endings = ", ".join(sorted(SUFFIXES))
        raise ConfigurationError(f"{path} has no file that ends in {endings}")
    return files
