"""What every command prints with: tables, texts and messages for people, documents for programs.

Nothing that is printed has power over a terminal.  On a terminal no line of a text is longer than
the terminal or ``LONGEST_LINE``, on stdout as on stderr, and none is broken inside a word.  In a
pipe a report has lines of a usual terminal, and a message is one line.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TextIO

import click

from reflet.api.yaml.scalars import CONTROLS
from reflet.cli import lazy
from reflet.cli.output.palette import LEVELS, Meaning, decided, paint

HOME: Final = "https://reflet.dev"
"""Where the documentation is."""

API_VERSION: Final = "reflet.dev/v1alpha1"
"""Of the documents that commands print for programs."""

GAP: Final = "   "
USUAL_COLUMNS: Final = 80
LONGEST_LINE: Final = 100  # columns of a text, however wide the terminal is
READABLE: Final = 20  # columns that a column keeps while another can give way
NARROWEST: Final = 12  # columns that a column keeps, whatever the others take
NARROWEST_REPORT: Final = 40  # columns; below that, the terminal may wrap as it likes

# GitHub's runner takes ``##[`` for a command wherever it stands in a line, and ``::`` where a line
# begins (actions/runner, src/Runner.Common/ActionCommand.cs).
_POWERFUL: Final = re.compile(rf"[\x00-\x1f]|{CONTROLS.pattern}|#(?=#\[)")
_POWERFUL_IN_TEXT: Final = re.compile(rf"[\x00-\x08\x0b-\x1f]|{CONTROLS.pattern}")
_COMMAND: Final = re.compile(r"\s*:(?=:)")
_GLUE: Final = "\0"  # where a line is not broken; no visible text has one

_EXIT_CODE: Final = "reflet.cli.exit_code"

CellMeaning = Callable[[str, str], Meaning | None]
"""What a cell of a table means, by the heading of its column and its text."""


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    no_headers: bool,
    meaning: CellMeaning | None = None,
) -> None:
    """Print columns as wide as their widest cell, the last one open; nothing is cut."""
    lines = _cells(headings, rows, no_headers=no_headers)
    _print_lines(lines, headings, no_headers=no_headers, meaning=meaning)


def print_fitting_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    flexible: Sequence[int],
    no_headers: bool,
    wide: bool = False,
    meaning: CellMeaning | None = None,
) -> None:
    """Print a table that fits the terminal; in a pipe, and with *wide*, nothing is cut.

    *flexible* are the columns that give way, the most important one last: it keeps half of the
    terminal while the others can still give way.  A column that gives way stays readable.  A cell
    that is cut ends in an ellipsis.
    """
    lines = _cells(headings, rows, no_headers=no_headers)
    if not wide and sys.stdout.isatty():
        room = columns() - len(GAP) * (len(headings) - 1)
        widths = _fitting(_widths(lines), room, flexible)
        lines = [
            [clipped(cell, width) for cell, width in zip(line, widths, strict=True)]
            for line in lines
        ]
    _print_lines(lines, headings, no_headers=no_headers, meaning=meaning)


def _cells(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, no_headers: bool
) -> list[list[str]]:
    every = rows if no_headers else [headings, *rows]
    return [[visible(cell) for cell in line] for line in every]


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(width_of, column)) for column in zip(*lines, strict=True)]


def _fitting(widths: Sequence[int], room: int, flexible: Sequence[int]) -> list[int]:
    """Return the widths after the flexible columns gave way, one after the other."""
    result = list(widths)
    if not result:
        return result
    *others, dearest = flexible
    given = sum(max(result[column] - READABLE, 0) for column in others)
    is_cut_anyway = sum(result) - given > room  # then it need not cost the others everything
    steps = [
        *([(dearest, max(room // 2, READABLE))] if is_cut_anyway else []),
        *((column, READABLE) for column in others),
        (dearest, NARROWEST),
        *((column, NARROWEST) for column in others),
    ]
    for column, least in steps:
        excess = sum(result) - room
        if excess > 0 and result[column] > least:
            result[column] = max(least, result[column] - excess)
    return result


def _print_lines(
    lines: Sequence[Sequence[str]],
    headings: Sequence[str],
    *,
    no_headers: bool,
    meaning: CellMeaning | None,
) -> None:
    widths = _widths(lines)
    text = ""
    for number, line in enumerate(lines):
        is_heading = number == 0 and not no_headers
        cells = []
        for heading, cell, width in zip(headings, line, widths, strict=True):
            means = "title" if is_heading else meaning(heading, cell) if meaning else None
            cells.append(paint(cell, means) + " " * (width - width_of(cell)))
        text += f"{harmless(GAP.join(cells).rstrip())}\n"
    click.echo(text, nl=False)


def clipped(text: str, columns: int) -> str:
    """The text, or as much of it as fits, with an ellipsis."""
    if width_of(text) <= columns:
        return text
    shown, width = "", 1
    for character in text:
        width += width_of(character)
        if width > columns:
            break
        shown += character
    return f"{shown}…"


def columns(stream: TextIO | None = None) -> int:
    """How wide a line may be: as wide as the terminal of the stream, or as is usual."""
    stream = sys.stdout if stream is None else stream
    if not stream.isatty():
        return USUAL_COLUMNS
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told) > 0:
        return int(told)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_COLUMNS
    except (OSError, ValueError):  # a terminal that does not say
        return USUAL_COLUMNS


def text_columns(stream: TextIO | None = None) -> int:
    """How wide a line of a text may be."""
    return max(NARROWEST_REPORT, min(LONGEST_LINE, columns(stream)))


def say(text: str, *, prefix: str = "", level: str = "", meaning: Meaning | None = None) -> None:
    """Print a message on stderr, in the colour of its *meaning*.

    *prefix* stands before it, and its *level*: ``error``, ``warning`` or ``note``.  Without one it
    is the word with which the text begins.
    """
    text = " ".join(text.split())
    if not level:
        word, colon, rest = text.partition(": ")
        if colon and word in LEVELS:
            level, text = word, rest
    label = f"{level}: " if level else ""
    first = prefix + label
    if sys.stderr.isatty():
        width = text_columns(sys.stderr)
        lines = wrapped(text, width, first=first, indent=" " * len(first)) or [first]
    else:
        lines = [f"{first}{visible(text)}"]
    shown = [paint(line[len(first) :], meaning, err=True) for line in lines]
    begin = paint(prefix, "name", err=True) + paint(label, LEVELS.get(level), err=True)
    rest_of_it = "".join(f"\n{' ' * len(first)}{line}" for line in shown[1:])
    click.echo(f"{begin}{shown[0]}{rest_of_it}", err=True, color=decided())


def visible(text: str) -> str:
    """The text without power over a terminal, or a build's log: as escapes, such as ``\\x1b``."""
    return _POWERFUL.sub(_escape, text)


def visible_lines(text: str) -> str:
    """The text of a script or file as a terminal may show it: lines and tabs stay."""
    return _POWERFUL_IN_TEXT.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    number = ord(found.group())
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def harmless(line: str) -> str:
    """The line, which a build's log does not take for a command even if it begins with ``::``."""
    begin = _COMMAND.match(line)
    return line if begin is None else f"{line[: begin.end() - 1]}\\x3a{line[begin.end() :]}"


def print_document(document: Any, form: str) -> None:
    """Print a document for programs; *form* is ``json`` or ``yaml``."""
    if form == "yaml":
        print_yaml(document)
    else:
        print_json(document)


def print_json(document: Any) -> None:
    """Print a document as JSON, indented as kubectl indents it."""
    click.echo(json_text(document, indent=4))


def json_text(document: Any, *, indent: int = 0) -> str:
    """Return a document as JSON, in one line without *indent*.

    What has power over a terminal is written as ``\\u009b``: the same value for a parser.
    """
    json = lazy.msgspec.json
    try:
        encoded = json.encode(document)
    except UnicodeEncodeError:  # half a letter, which only the slower writer takes
        text = lazy.json.dumps(document, ensure_ascii=False, **_json_form(indent))
    else:
        text = (json.format(encoded, indent=indent) if indent else encoded).decode()
    return CONTROLS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _json_form(indent: int) -> dict[str, Any]:
    return {"indent": indent} if indent else {"separators": (",", ":")}


def print_yaml(document: Any) -> None:
    """Print a document as YAML, keys in order of the alphabet as kubectl prints them."""
    click.echo(lazy.yaml_text.write_yaml(document), nl=False)


def page_address(page: str) -> str:
    """Return where a page of the documentation is, by its file below ``docs``."""
    return f"{HOME}/{page.removesuffix('.md')}.html"


def ends_with(code: int) -> int:
    """Note the exit code of the command that runs, and return it.

    A command says so before it prints: when nobody reads on, as in ``reflet lint | head``, the
    exit code is this one all the same.
    """
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_EXIT_CODE] = code
    return code


def noted_exit_code(context: click.Context) -> int:
    """Return the exit code that the command has noted, 0 if none."""
    return int(context.meta.get(_EXIT_CODE, 0))


def width_of(text: str) -> int:
    """Columns that the text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(character)
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def paragraph(text: str, *, first: str = "", indent: int = 0) -> list[str]:
    """Wrap a text; *first* stands before its first line, and all others are indented.

    No line begins with what a build's log takes for a command.
    """
    lines = wrapped(
        " ".join(text.split()),
        text_columns(),
        first=first,
        indent=" " * (indent or len(first)),
    )
    return [harmless(line) for line in lines]


def wrapped(text: str, width: int, *, first: str = "", indent: str = "") -> list[str]:
    """Wrap a text between words, never right before ``::``; names are to be copied."""
    lines = textwrap.wrap(
        visible(text).replace(" ::", f"{_GLUE}::"),
        width,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_GLUE, " ") for line in lines]


def labelled(
    rows: Sequence[tuple[str, str]],
    *,
    indent: int = 0,
    meanings: Mapping[str, Meaning] = MappingProxyType({}),
) -> Iterator[str]:
    """Yield the lines of several paragraphs, each with a label in a column of its own.

    *meanings* are those of the texts, by label.
    """
    width = max((len(label) for label, _ in rows), default=0)
    begin = indent + width + 2
    for label, text in rows:
        for line in paragraph(text, first=f"{' ' * indent}{label:<{width}}  "):
            yield paint(line[:begin], "dim") + paint(line[begin:], meanings.get(label))


def counted(number: int, noun: str) -> str:
    """``1 pod``, ``2 pods``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
