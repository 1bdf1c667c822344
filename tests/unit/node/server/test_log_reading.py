from __future__ import annotations

from pathlib import Path

from reflet.node.server.log_reading import (
    LAST_WORDS,
    LogChoice,
    LogReader,
    last_words,
    read_log,
)
from tests.unit.node.server.log_scenes import line, long_log, shown, written


async def test_a_log_is_shown_without_times_unless_they_are_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path)

    assert (await shown(path)).splitlines() == [f"line {number}" for number in range(5)]
    assert (await shown(path, timestamps=True)).startswith("2026-01-02T03:04:00.000000000Z line 0")


async def test_the_end_can_be_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path)

    assert await shown(path, tail_lines=2) == "line 3\nline 4\n"
    assert await shown(path, tail_lines=0) == ""
    assert await shown(path, since="2026-01-02T03:04:04") == "line 4\n"
    assert await shown(path, limit_bytes=9) == "line 0\nli"


async def test_times_of_another_zone_and_without_zeros_are_compared_as_moments(
    tmp_path: Path,
) -> None:
    path = written(
        tmp_path,
        "2026-01-02T05:04:03.9+02:00 stdout F before\n2026-01-02T03:04:04Z stdout F since\n"
        "2026-01-02T05:04:04.5+02:00 stdout F after\n",
    )

    assert await shown(path, since="2026-01-02T03:04:04.000000000Z") == "since\nafter\n"


async def test_parts_of_a_line_are_put_together(tmp_path: Path) -> None:
    time = "2026-01-02T03:04:05.000000000Z stdout"
    path = written(tmp_path, f"{time} P be\n{time} F gin\n")

    assert await shown(path) == "begin\n"


async def test_files_that_were_turned_over_come_first(tmp_path: Path) -> None:
    path = written(tmp_path, "2026-01-02T03:04:05.000000000Z stdout F new\n")
    (tmp_path / "0.log.1").write_text("2026-01-02T03:04:04.000000000Z stdout F old\n")

    assert await shown(path) == "old\nnew\n"


async def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert await shown(tmp_path / "0.log") == ""


async def test_all_lines_are_shown_to_whoever_asks_for_less_than_none(tmp_path: Path) -> None:
    assert await shown(written(tmp_path), tail_lines=-1) == await shown(written(tmp_path))


async def test_what_is_no_line_of_a_log_is_left_out(tmp_path: Path) -> None:
    assert await shown(written(tmp_path, "torn\n" + line("good"))) == "good\n"


async def test_a_raw_log_is_as_its_file_has_it(tmp_path: Path) -> None:
    text = line("one") + "torn\n"

    assert await shown(written(tmp_path, text), raw=True) == text


async def test_what_comes_once_a_log_is_open_is_not_missed(tmp_path: Path) -> None:
    path = written(tmp_path)

    async def has_ended() -> bool:
        return False

    async with LogReader(path, LogChoice(follow=True, tail_lines=0)) as reader:
        with path.open("a") as log:
            log.write(line("after"))
        pieces = [piece async for piece in reader.pieces(has_ended)]

    assert pieces == [b"after\n"]


async def test_a_text_keeps_its_spaces(tmp_path: Path) -> None:
    assert await shown(written(tmp_path, line("  a  b "))) == "  a  b \n"


async def test_whoever_does_not_follow_does_not_wait_for_a_container_that_runs(
    tmp_path: Path,
) -> None:
    async def is_running() -> bool:
        raise AssertionError("nobody wants to know")

    pieces = read_log(written(tmp_path), LogChoice(tail_lines=1), is_running=is_running)

    assert [piece async for piece in pieces] == [b"line 4\n"]


async def test_nothing_is_given_where_there_is_nothing_to_show(tmp_path: Path) -> None:
    path = written(tmp_path, "torn\n" + line("good"))

    assert [piece async for piece in read_log(path, LogChoice())] == [b"good\n"]


def test_the_last_words_are_short(tmp_path: Path) -> None:
    assert last_words(written(tmp_path), most_bytes=100, most_lines=1) == b"line 4\n"
    assert last_words(written(tmp_path), most_bytes=3, most_lines=9) == b" 4\n"


def bytes_read() -> int:
    """How much this process has read so far, by the system's own count."""
    counts = Path("/proc/self/io").read_text().splitlines()
    return int(counts[0].removeprefix("rchar: "))


def test_last_words_are_read_from_the_end_alone(tmp_path: Path) -> None:
    path = long_log(tmp_path, pieces=100)
    long_log(tmp_path, "0.log.1", pieces=100)
    before = bytes_read()

    words = last_words(path, most_bytes=2048, most_lines=80)

    assert bytes_read() - before < LAST_WORDS + 4096  # and the counts themselves
    whole = path.read_text().splitlines()
    expected = "".join(f"{text.split(' ', 3)[3]}\n" for text in whole[-80:])
    assert words.decode() == expected[-2048:]


def test_last_words_may_begin_in_the_file_before(tmp_path: Path) -> None:
    path = written(tmp_path, line("new"))
    (tmp_path / "0.log.1").write_text(line("older") + line("old"))

    assert last_words(path, most_bytes=100, most_lines=2) == b"old\nnew\n"


def test_last_words_of_one_long_line_are_its_end(tmp_path: Path) -> None:
    path = written(tmp_path, line("x" * (LAST_WORDS - 100)))

    assert last_words(path, most_bytes=5, most_lines=80) == b"xxxx\n"


def test_who_has_no_log_has_no_last_words(tmp_path: Path) -> None:
    assert last_words(tmp_path / "0.log", most_bytes=5, most_lines=80) == b""
