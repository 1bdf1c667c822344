"""A command's event loop gives the result, and looks at it no further."""

from __future__ import annotations

import pytest

from reflet.cli import event_loop


class Unprintable:
    """A result whose repr would take long."""

    def __repr__(self) -> str:
        raise AssertionError("somebody has made the repr of the result")


async def given(result: Unprintable) -> Unprintable:
    return result


async def failing() -> None:
    raise ValueError("boom")


def test_the_result_is_handed_over_unseen() -> None:
    result = Unprintable()

    assert event_loop.run(given(result)) is result


def test_an_error_passes_through() -> None:
    with pytest.raises(ValueError, match="boom"):
        event_loop.run(failing())
