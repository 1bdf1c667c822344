"""Environment files: ``NAME='value'`` lines in a volume, of which a variable takes one.

Values are literal, may span lines, and end at the next single quote.  Bytes that are not UTF-8
become surrogate escapes, so that a process can be given exactly the bytes of the file.

Upstream: pkg/kubelet/util/env/env_util.go, ParseEnv
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from reflet.gotext.quoting import quoted
from reflet.resolution.problems import Refused

LONGEST_LINE: Final = 65_535  # bytes before the line end
_BLANKS: Final = b" \t"


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedVolume:
    """A volume that is mounted: where, and its files by their path inside it.

    The mapping may read files when it is asked; links are its affair.
    """

    directory: str
    files: Mapping[str, bytes] = field(repr=False)


def find_variable(content: bytes, name: str, *, path: str = "") -> str | Refused:
    """Return the value of the first line that sets the name; empty when none does.

    Lines are read only up to there: what is wrong behind is never seen.  ``path`` is for the
    text of errors.
    """
    wanted = name.encode(errors="surrogateescape")
    lines = enumerate(_lines(content), start=1)
    for number, whole in lines:
        if whole is None:
            return _too_long(path)
        line = whole.lstrip(_BLANKS)
        if not line or line.startswith(b"#"):
            continue
        key, equals, rest = line.partition(b"=")
        problem = _problem_with(key, equals)
        if problem:
            return _malformed(number, problem)
        if rest.startswith((b" ", b"\t")):  # to a shell, too, this sets the variable to nothing
            value = b""
        elif not rest.startswith(b"'"):
            return _malformed(number, "value must be enclosed in single quotes")
        else:
            found = _quoted_value(rest[1:], number, lines)
            if isinstance(found, Refused):
                return found
            value = found
        if key == wanted:
            return value.decode(errors="surrogateescape")
    return ""


def _lines(content: bytes) -> Iterator[bytes | None]:
    """Yield the lines; ``None`` for one that is too long, at which the reader stops."""
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for line in lines:
        yield line.removesuffix(b"\r") if len(line) <= LONGEST_LINE else None


def _problem_with(key: bytes, equals: bytes) -> str:
    if not equals:
        return "missing '='"
    if not key.rstrip(_BLANKS):
        return "empty variable name"
    return "" if key == key.rstrip(_BLANKS) else "whitespace before '=' is not allowed"


def _quoted_value(
    rest: bytes, first: int, lines: Iterator[tuple[int, bytes | None]]
) -> bytes | Refused:
    parts: list[bytes] = []
    number = first
    while b"'" not in rest:
        parts.append(rest)
        number, following = next(lines, (number, None))
        if following is None:
            return Refused(
                text="invalid environment variable format starting at line "
                f"{first}: unclosed single quote"
            )
        rest = following
    part, _, after = rest.partition(b"'")
    after = after.lstrip(_BLANKS)
    if after and not after.startswith(b"#"):
        return _malformed(number, "unexpected content after closing quote")
    return b"\n".join((*parts, part))


def _malformed(number: int, problem: str) -> Refused:
    return Refused(text=f"invalid environment variable format at line {number}: {problem}")


def _too_long(path: str) -> Refused:
    return Refused(
        text=f"error reading environment variable file {quoted(path)}: "
        "bufio.Scanner: token too long"
    )
