"""The moving picture of the README: ``reflet demo``, ``reflet why deploy/web``, and the page.

``python -m docs.generators.recording`` runs both commands in a terminal, as a user sees them, and
writes ``docs/images/reflet.svg`` from what they print and when; scenes stay long enough to be read.
The pictures of the page at its end are those that ``make pictures`` takes.
"""

from __future__ import annotations

import asyncio
import base64
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.sax.saxutils import unescape

from docs.generators import why_picture
from docs.generators.terminal_svg import COLUMNS, ROWS, Picture, moving, session

IMAGES: Final = Path(__file__).parents[1] / "images"
IMAGE: Final = IMAGES / "reflet.svg"
PAGES: Final = ("ui-small.jpg", "ui-small-dark.jpg")
TITLE: Final = "reflet demo, reflet why deploy/web, and the page of reflet ui"
SCENE: Final = "── "
READING: Final = 3.0  # seconds to read a scene
AT_LAST: Final = 5.0  # and the last thing of each command
SHORTEST: Final = 0.1  # seconds between two pictures

Chunk = tuple[float, str]


def recorded(*command: str) -> list[Chunk]:
    """Run a command in a terminal; return what it writes, and after how many seconds."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ
    }
    with subprocess.Popen(  # noqa: S603 - a command of ours
        command, stdin=its, stdout=its, stderr=its, env={**environment, "TERM": "xterm-256color"}
    ) as process:
        os.close(its)
        chunks = list(_read(ours))
        os.close(ours)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return chunks


def _read(descriptor: int) -> Iterator[Chunk]:
    began = time.monotonic()
    rest = b""
    while True:
        try:
            data = os.read(descriptor, 65536)
        except OSError:  # how a terminal says that nobody writes any more
            return
        if not data:
            return
        text, rest = _whole_letters(rest + data)
        yield time.monotonic() - began, text


def _whole_letters(data: bytes) -> tuple[str, bytes]:
    for cut in range(len(data), max(len(data) - 4, 0), -1):
        try:
            return data[:cut].decode(), data[cut:]
        except UnicodeDecodeError:
            continue
    return data.decode(errors="replace"), b""


def paced(typed: str, chunks: list[Chunk]) -> Iterator[Chunk]:
    """Begin with what is typed, leave time to read before each scene, and join what is close."""
    yield 0.0, f"\x1b[2m$ \x1b[0m\x1b[1m{typed}\x1b[0m\n"
    later = 0.0
    begun = False
    waiting = ""
    last = 0.0
    for moment, text in chunks:
        if SCENE in text and begun:
            later += READING
        begun = begun or SCENE in text
        waiting += text
        if moment + later - last >= SHORTEST:
            last = moment + later
            yield last, waiting
            waiting = ""
    if waiting:
        yield last + SHORTEST, waiting


def film(demo: list[Chunk], why: str) -> str:
    """Return the moving picture."""
    light, dark = (base64.b64encode((IMAGES / name).read_bytes()).decode() for name in PAGES)
    address = "data:image/jpeg;base64,"
    typed = f"reflet {' '.join(why_picture.COMMAND)}"
    answered = 1.0  # seconds after the command
    sessions = [
        session("reflet demo", paced("reflet demo", demo), hold=AT_LAST),
        session(typed, paced(typed, [(answered, why)]), hold=AT_LAST),
    ]
    # Not with an empty terminal: with the answer of `why`.
    start = sessions[0].end + answered
    return moving(TITLE, sessions, Picture(address + light, address + dark, AT_LAST), start=start)


def texts_of(picture: str) -> list[str]:
    """Return the lines that stand in a picture."""
    lines = re.findall(r"<text[^>]*>(.*?)</text>", picture)
    return [unescape(re.sub(r"<[^>]*>", "", line)) for line in lines]


if __name__ == "__main__":
    whys = asyncio.run(why_picture.recorded())
    IMAGE.write_text(film(recorded(sys.executable, "-m", "reflet", "demo"), whys))
    sys.stdout.write(f"wrote {IMAGE.relative_to(IMAGE.parents[2])}, {IMAGE.stat().st_size} bytes\n")
