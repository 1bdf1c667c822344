"""A shell that sources a dotenv file gets every value exactly; other readers, nearly every one."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from reflet.cli.output.environment_output import written
from tests.unit.cli.output.test_environment_output import NASTY, environment

PIECES: Final = (
    *(
        "'",
        '"',
        "\\",
        "`",
        "$",
        "$(touch pwned)",
        "`touch pwned`",
        "${HOME}",
        "!",
        "!!",
        "\n",
        "\r",
    ),
    *("#", " ", "\t", ";", "&", "|", "<", ">", "*", "?", "~", "=", "(", ")", "{", "}", "\\n", "é"),
)
VALUES: Final = (
    *NASTY,
    *("".join(pair) for pair in product(PIECES, repeat=2)),
    *(f"it's {piece} end" for piece in PIECES),
    *(f"{piece}{piece}{piece}\\" for piece in PIECES),
    "not \udcff text",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "\x1b[31m\x9b",
)
SHELLS: Final = (("dash",), ("bash",), ("bash", "--posix"), ("busybox", "sh"))


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_a_shell_that_sources_it_gets_every_value_and_runs_nothing(
    shell: tuple[str, ...], tmp_path: Path
) -> None:
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not installed")
    names = {f"V{number}": value for number, value in enumerate(VALUES)}
    (tmp_path / "all.env").write_bytes(written(environment(names), "dotenv", reveal=False))
    (tmp_path / "show.sh").write_text(
        ". ./all.env\n" + "".join(f"printf '%s\\0' \"${name}\"\n" for name in names)
    )

    said = subprocess.run([*shell, "show.sh"], cwd=tmp_path, capture_output=True, check=True)

    read = said.stdout.decode(errors="surrogateescape").split("\0")[:-1]
    assert (read, said.stderr) == (list(VALUES), b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.env", "show.sh"]


def test_a_name_that_no_shell_has_does_not_end_the_file(tmp_path: Path) -> None:
    names = {"app.name": "x y", "$(touch${IFS}pwned)": "v", "AFTER": "here"}
    (tmp_path / "all.env").write_bytes(written(environment(names), "dotenv", reveal=False))

    said = subprocess.run(
        ["/bin/sh", "-c", '. ./all.env; printf %s "$AFTER"'],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )

    assert said.stdout == b"here"
    assert [path.name for path in tmp_path.iterdir()] == ["all.env"]


# What three libraries make of what stands behind the equals sign, by their rules


def python_dotenv(text: str) -> str:
    if text[:1] == "'":
        return re.sub(r"\\([\\'])", r"\1", text[1:-1])
    if text[:1] == '"':
        letters = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
        return re.sub(
            r"\\([\\'\"abfnrtv])", lambda found: letters.get(found[1], found[1]), text[1:-1]
        )
    return text


def node_dotenv(text: str) -> str:
    if text[:1] == '"':
        return text[1:-1].replace("\\n", "\n").replace("\\r", "\r")
    return text[1:-1] if text[:1] == "'" else text


def godotenv(text: str) -> str:
    if text[:1] == "'":
        return text[1:-1]
    if text[:1] != '"':
        return text
    if text[-2] == "\\":
        return "reads on into the next line"
    body = re.sub(
        r"\\.", lambda found: {"\\n": "\n", "\\r": "\r"}.get(found[0], found[0]), text[1:-1]
    )
    return re.sub(r"\\\$", "$", re.sub(r"\\([^$])", r"\1", body))


READERS: Final[dict[str, Callable[[str], str]]] = {
    "python": python_dotenv,
    "node": node_dotenv,
    "go": godotenv,
}


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        *((value, "python node go") for value in ("", "plain/1.2", "with space", "# none", "a#b")),
        *((value, "python node go") for value in ("$HOME", "`whoami`", '"double"', "a=b", "two\n")),
        *((value, "python node go") for value in ("it's", "it's\ntwo lines", "C:\\temp", "\\d+")),
        ("\\\\server\\share", "node go"),
        ("it's $5", "go"),
        ("it's `date`", "go"),
        ('it\'s "so" now', "python go"),
        ("it's C:\\x", "python go"),
        ("C:\\", "python"),
    ],
)
def test_libraries_read_nearly_every_value_exactly(value: str, exact: str) -> None:
    text = written(environment({"V": value}), "dotenv", reveal=False).decode()
    behind = text.removeprefix("V=").removesuffix("\n")

    read_exactly = [name for name, read in READERS.items() if read(behind) == value]

    assert " ".join(read_exactly) == exact
