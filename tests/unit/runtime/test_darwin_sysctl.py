"""Questions to the macOS kernel, put to one made of paper."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from reflet.runtime.darwin_sysctl import sysctl, sysctl_by_name, sysctl_number
from tests.darwin_kernel import DarwinKernel


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> DarwinKernel:
    made = DarwinKernel(Path("/proc"), {"hw.memsize": (2**34).to_bytes(8, "little"), "a": b"b\0"})
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: made)
    return made


def test_a_text_is_told_by_name() -> None:
    assert sysctl_by_name("a") == b"b\0"


def test_a_number_may_have_any_size() -> None:
    assert sysctl_number("hw.memsize") == 2**34


def test_a_question_that_the_kernel_does_not_know_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        sysctl_by_name("kern.nothing")


def test_a_process_that_is_not_there_is_an_answer_of_no_bytes() -> None:
    assert sysctl((1, 14, 1, 2**22 + 1)) == b""


def test_an_answer_that_grew_meanwhile_is_asked_for_again(
    kernel: DarwinKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([b"", b"x" * 9, b"x" * 9, b"x" * 9])
    monkeypatch.setattr(kernel, "kinfo", lambda _: next(answers))

    assert sysctl((1, 14, 1, 1)) == b"x" * 9
