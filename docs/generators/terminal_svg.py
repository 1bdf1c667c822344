"""What a terminal shows, as SVG: a still picture of its lines, or a moving one of several sessions.

Owns: the few escapes that our commands print, colours in light and dark, and the drawing.  Must not
know any command.  A viewer that animates nothing, or may not, shows the end of the last session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from xml.sax.saxutils import escape

COLUMNS: Final = 80
ROWS: Final = 24

NAMESPACE: Final = "http://www.w3.org/2000/svg"
CHARACTER: Final = 8.43  # pixels of a column at 14 pixels
LINE: Final = 20
MARGIN: Final = 20
HEAD: Final = 34

STYLE: Final = """
text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #24292f }
.frame { fill: #f6f8fa; stroke: #d0d7de }
.button { fill: #d0d7de }
.b { font-weight: 600 }
.d { fill: #656d76 }
.r { fill: #b3202c }
.g { fill: #13692b }
.y { fill: #815600 }
.c { fill: #05628c }
.dark { display: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .frame { fill: #161b22; stroke: #3d444d }
  .button { fill: #3d444d }
  .d { fill: #9198a1 }
  .r { fill: #ff8182 }
  .g { fill: #5fd97a }
  .y { fill: #e3b341 }
  .c { fill: #6cc6f5 }
  .light { display: none }
  .dark { display: inline }
}
"""

_TOKEN: Final = re.compile(r"\x1b\[([\d;]*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)")
_CLASSES: Final = {1: "b", 2: "d", 31: "r", 32: "g", 33: "y", 36: "c"}

Runs = tuple[tuple[str, str], ...]
"""Pieces of a line, each with the classes of its style."""


class Screen:
    """Lines of a terminal, from its first one on, as text and escapes arrive."""

    def __init__(self) -> None:
        self.lines: list[list[tuple[str, str]]] = [[]]
        self._row = 0
        self._column = 0
        self._style: tuple[str, ...] = ()

    def feed(self, text: str) -> None:
        """Take what a program has written; raises ValueError for an escape that is not known."""
        for found in _TOKEN.finditer(text):
            numbers, escaped, back, down, written = found.groups()
            if escaped:
                self._obey([int(each) for each in numbers.split(";") if each], escaped)
            elif back:
                self._column = 0
            elif down:
                self._row += 1
                self._column = 0
                if self._row == len(self.lines):
                    self.lines.append([])
            else:
                self._write(written)

    def _obey(self, numbers: Sequence[int], escaped: str) -> None:
        if escaped == "m":
            for number in numbers or (0,):
                self._style = () if number == 0 else (*self._style, _CLASSES[number])
        elif escaped == "A":
            self._row = max(self._row - (numbers or (1,))[0], 0)
        elif escaped == "J":
            del self.lines[self._row][self._column :]
            del self.lines[self._row + 1 :]
        else:
            raise ValueError(f"an escape that is not known: {numbers} {escaped}")

    def _write(self, text: str) -> None:
        line = self.lines[self._row]
        line += [(" ", "")] * (self._column - len(line))
        style = " ".join(self._style)
        line[self._column : self._column + len(text)] = [(each, style) for each in text]
        self._column += len(text)

    def runs(self, row: int) -> Runs:
        """Return a line in pieces of one style each, without blanks at its end."""
        pieces: list[tuple[str, str]] = []
        for character, style in self.lines[row]:
            if pieces and pieces[-1][1] == style:
                pieces[-1] = (pieces[-1][0] + character, style)
            else:
                pieces.append((character, style))
        if pieces:
            pieces[-1] = (pieces[-1][0].rstrip(), pieces[-1][1])
        return tuple(piece for piece in pieces if piece[0].strip() or len(pieces) > 1)


@dataclass
class Session:
    """What one command shows over time; ``versions`` are contents of a line, with their beginning.

    ``heights`` are moments at which there were more or fewer lines.
    """

    title: str
    versions: dict[int, list[tuple[float, Runs]]] = field(default_factory=dict)
    heights: list[tuple[float, int]] = field(default_factory=list)
    end: float = 0.0


def session(title: str, chunks: Iterable[tuple[float, str]], *, hold: float) -> Session:
    """Follow a command by what it wrote when, and show its end for *hold* seconds."""
    screen, made = Screen(), Session(title)
    for moment, text in chunks:
        screen.feed(text)
        for row in range(max(len(screen.lines), *(each + 1 for each in made.versions or (0,)))):
            runs = screen.runs(row) if row < len(screen.lines) else ()
            known = made.versions.setdefault(row, [])
            if (known[-1][1] if known else ()) != runs:
                known.append((moment, runs))
        height = len(screen.lines) - (not screen.lines[-1])
        if not made.heights or made.heights[-1][1] != height:
            made.heights.append((moment, height))
        made.end = moment + hold
    return made


def still(title: str, text: str) -> str:
    """Draw everything that a terminal shows."""
    screen = Screen()
    screen.feed(text.rstrip("\n"))
    drawn = [_drawn(screen.runs(row), row) for row in range(len(screen.lines))]
    return _framed(title, "", drawn, rows=len(drawn))


@dataclass(frozen=True)
class Picture:
    """Pictures that are shown at the end, as ``data:`` addresses, for light and dark."""

    light: str
    dark: str
    seconds: float


def moving(
    title: str, sessions: Sequence[Session], last: Picture | None = None, *, start: float = 0.0
) -> str:
    """Draw sessions one after the other, and a picture at the end, again and again.

    The first time it begins at *start*, in seconds: what a reader sees before anything moves.
    """
    total = sum(each.end for each in sessions) + (last.seconds if last else 0.0)
    film = _Film(total, start)
    began = 0.0
    for each in sessions:
        film.show(each, began, is_last=each is sessions[-1])
        began += each.end
    if last:
        width, height = round(COLUMNS * CHARACTER), ROWS * LINE
        size = f'width="{width}" height="{height}" preserveAspectRatio="xMidYMin slice"'
        film.add(
            began,
            total,
            f'<image class="light" {size} href="{last.light}"/>'
            f'<image class="dark" {size} href="{last.dark}"/>',
        )
    return _framed(title, film.style(), film.drawn, rows=ROWS)


class _Film:
    """Elements that are there from one moment to another."""

    def __init__(self, total: float, start: float) -> None:
        self.drawn: list[str] = []
        self._total = total
        self._start = start
        self._frames: dict[str, str] = {}

    def _at(self, moment: float) -> str:
        return f"{100 * moment / self._total:.2f}".rstrip("0").rstrip(".")

    def _named(self, frames: str) -> str:
        return self._frames.setdefault(frames, f"k{len(self._frames)}")

    def add(self, begin: float, end: float, element: str, *, is_last: bool = False) -> None:
        """Show an element for a time; *is_last* ones are there where nothing moves, too."""
        frames = f"0%{{opacity:0}}{self._at(begin)}%{{opacity:1}}{self._at(end)}%{{opacity:0}}"
        if begin == 0:
            frames = f"0%{{opacity:1}}{self._at(end)}%{{opacity:0}}"
        if end >= self._total:
            frames = frames.removesuffix(f"{self._at(end)}%{{opacity:0}}")
        kind = "m last" if is_last else "m"
        style = f"animation-name:{self._named(frames)}"
        self.drawn.append(f'<g class="{kind}" style="{style}">{element}</g>')

    def show(self, shown: Session, began: float, *, is_last: bool) -> None:
        """Show a session, its last lines at the bottom of the terminal."""
        steps = [(moment, max(height - ROWS, 0)) for moment, height in shown.heights]
        frames = "".join(
            f"{self._at(began + moment)}%{{transform:translateY({-LINE * hidden}px)}}"
            for moment, hidden in _changes(steps)
        )
        rest = f"transform:translateY({-LINE * steps[-1][1]}px)"
        name = self._named(f"0%{{transform:none}}{frames}")
        self.drawn.append(f'<g class="s" style="animation-name:{name};{rest}">')
        for row, versions in ((row, each) for row, each in shown.versions.items() if each):
            ends = [*(moment for moment, _ in versions[1:]), shown.end]
            for (moment, runs), end in zip(versions, ends, strict=True):
                if runs and end > moment:
                    stays = is_last and end == shown.end
                    self.add(began + moment, began + end, _drawn(runs, row), is_last=stays)
        self.drawn.append("</g>")

    def style(self) -> str:
        """Return how all of it moves."""
        still_there = "@media (prefers-reduced-motion: reduce) { .m, .s { animation: none } }"
        return "\n".join(
            [
                f".m, .s {{ animation: {self._total:g}s step-end {0 - self._start:g}s infinite }}",
                ".m { opacity: 0 } .last { opacity: 1 }",
                still_there,
                *(f"@keyframes {name} {{{frames}}}" for frames, name in self._frames.items()),
            ]
        )


def _changes(steps: Iterable[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    before = 0
    for moment, hidden in steps:
        if hidden != before:
            yield moment, hidden
        before = hidden


def _drawn(runs: Runs, row: int) -> str:
    column = 0
    pieces = []
    for text, style in runs:
        kind = f' class="{style}"' if style else ""
        # A letter that the font does not have may be of another width.
        pieces.append(f'<tspan x="{column * CHARACTER:.0f}"{kind}>{escape(text)}</tspan>')
        column += len(text)
    return f'<text y="{LINE * (row + 1) - 6}" xml:space="preserve">{"".join(pieces)}</text>'


def _framed(title: str, style: str, drawn: Sequence[str], *, rows: int) -> str:
    width = round(2 * MARGIN + COLUMNS * CHARACTER)
    height = HEAD + MARGIN // 2 + LINE * rows
    size = f'width="{width - 1}" height="{height - 1}"'
    inner = f'x="{MARGIN}" y="{HEAD}" width="{width - 2 * MARGIN}" height="{LINE * rows}"'
    return "\n".join(
        [
            f'<svg xmlns="{NAMESPACE}" viewBox="0 0 {width} {height}" width="{width}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}{style}</style>",
            f'<rect class="frame" x="0.5" y="0.5" {size} rx="8"/>',
            *(
                f'<circle class="button" cx="{18 + 18 * each}" cy="17" r="5.5"/>'
                for each in range(3)
            ),
            f'<svg {inner} overflow="hidden">',
            *drawn,
            "</svg>",
            "</svg>",
            "",
        ]
    )
