from datetime import UTC, datetime, timedelta, timezone

import pytest

from reflet.api.meta import MicroTime


def test_a_whole_second_is_written_with_six_digits() -> None:
    assert MicroTime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).text() == "2026-01-02T03:04:05.000000Z"


def test_another_zone_is_written_in_utc() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=2)))

    assert MicroTime.at(moment).text() == "2026-01-02T01:04:05.000006Z"


def test_what_was_written_can_be_read() -> None:
    moment = MicroTime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)

    assert MicroTime.parse(moment.text()) == moment


@pytest.mark.parametrize("text", ["", "yesterday", "2026-01-02", "2026-01-02T03:04:05", 5, None])
def test_what_is_not_a_time_with_a_zone_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"datetime|time|Expected"):
        MicroTime.parse(text)


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a time zone"):
        MicroTime.at(datetime(2026, 1, 2))  # noqa: DTZ001 - the point of the test


def test_arithmetic_stays_exact_to_the_microsecond() -> None:
    moment = MicroTime(2026, 1, 2, tzinfo=UTC)

    assert isinstance(moment + timedelta(microseconds=1), MicroTime)
