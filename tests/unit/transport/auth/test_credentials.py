import base64
import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reflet.errors import CredentialsError
from reflet.transport.auth.credentials import (
    BasicAuth,
    Credentials,
    NoCredentials,
    StaticToken,
    TokenFile,
)


class HandClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def renew(path: Path, token: str) -> None:
    """Replace the file as the kubelet does: a new one under the old name."""
    fresh = path.with_name("fresh")
    fresh.write_text(token)
    fresh.rename(path)


@pytest.mark.parametrize(
    ("credentials", "headers"),
    [
        (NoCredentials(), {}),
        (StaticToken("top-secret"), {"authorization": "Bearer top-secret"}),
        (
            BasicAuth("alice", "päss:word"),
            {"authorization": "Basic " + base64.b64encode("alice:päss:word".encode()).decode()},
        ),
    ],
)
async def test_what_was_written_down_is_said_and_never_changes(
    credentials: Credentials, headers: dict[str, str]
) -> None:
    said = await credentials.headers()

    assert dict(said) == headers
    assert await credentials.client_certificate() is None
    assert not await credentials.refused(said)


@pytest.mark.parametrize(
    "make",
    [
        lambda path: StaticToken("top-secret"),
        lambda path: BasicAuth("alice", "top-secret"),
        lambda path: TokenFile(path, fallback="top-secret"),
    ],
)
async def test_no_repr_shows_a_secret(make: Callable[[Path], Credentials], tmp_path: Path) -> None:
    (tmp_path / "token").write_text("top-secret")
    credentials = make(tmp_path / "token")
    await credentials.headers()

    assert "top-secret" not in repr(credentials)
    assert base64.b64encode(b"alice:top-secret").decode() not in repr(credentials)


async def test_a_token_file_is_read_again_after_a_second_when_it_changed(tmp_path: Path) -> None:
    path, clock = tmp_path / "token", HandClock()
    path.write_text("  first\n")
    credentials = TokenFile(path, monotonic=clock)
    said = [dict(await credentials.headers())]

    renew(path, "again")
    clock.now = 0.5
    said.append(dict(await credentials.headers()))
    clock.now = 1.0
    said.append(dict(await credentials.headers()))

    assert [headers["authorization"] for headers in said] == [
        "Bearer first",
        "Bearer first",
        "Bearer again",
    ]


async def test_a_token_of_the_same_size_and_moment_in_a_new_file_is_noticed(
    tmp_path: Path,
) -> None:
    path, clock = tmp_path / "token", HandClock()
    path.write_text("aaaa")
    os.utime(path, (1, 1))
    credentials = TokenFile(path, monotonic=clock)
    await credentials.headers()

    fresh = tmp_path / "fresh"
    fresh.write_text("bbbb")
    os.utime(fresh, (1, 1))
    fresh.rename(path)
    clock.now = 2.0

    assert await credentials.headers() == {"authorization": "Bearer bbbb"}


async def test_a_refusal_reads_the_file_at_once_and_says_whether_it_helped(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("old")
    credentials = TokenFile(path, monotonic=HandClock())
    sent = await credentials.headers()

    unchanged = await credentials.refused(sent)
    renew(path, "new")
    changed = await credentials.refused(sent)

    assert (unchanged, changed) == (False, True)
    assert await credentials.headers() == {"authorization": "Bearer new"}


async def test_a_refusal_of_a_token_that_was_replaced_meanwhile_is_worth_another_try(
    tmp_path: Path,
) -> None:
    path, clock = tmp_path / "token", HandClock()
    path.write_text("old")
    credentials = TokenFile(path, monotonic=clock)
    sent = await credentials.headers()
    renew(path, "new")
    clock.now = 2.0
    await credentials.headers()

    assert await credentials.refused(sent)


@pytest.mark.parametrize("bad", [None, "", " \n", "two\nlines", "schlüssel"])
async def test_while_the_file_is_no_good_the_last_token_stays_with_one_warning(
    bad: str | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, clock = tmp_path / "token", HandClock()
    path.write_text("t-0-k-e-n")
    credentials = TokenFile(path, monotonic=clock)
    await credentials.headers()
    path.unlink()
    if bad is not None:
        path.write_text(bad)

    with caplog.at_level(logging.WARNING):
        for clock.now in (1.0, 2.0, 3.0):
            assert await credentials.headers() == {"authorization": "Bearer t-0-k-e-n"}
    renew(path, "better")
    clock.now = 4.0

    assert await credentials.headers() == {"authorization": "Bearer better"}
    assert len(caplog.records) == 1
    assert "t-0-k-e-n" not in caplog.text


async def test_the_fallback_speaks_until_the_file_does(tmp_path: Path) -> None:
    path, clock = tmp_path / "token", HandClock()
    credentials = TokenFile(path, fallback="written", monotonic=clock)
    before = await credentials.headers()
    path.write_text("filed")
    clock.now = 1.0

    assert before == {"authorization": "Bearer written"}
    assert await credentials.headers() == {"authorization": "Bearer filed"}


async def test_a_file_that_never_was_good_is_an_error_each_time_until_it_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "token"
    credentials = TokenFile(path, setting='tokenFile of user "x" in F', monotonic=HandClock())

    with pytest.raises(CredentialsError, match=f'^tokenFile of user "x" in F: {path}: no such'):
        await credentials.headers()
    path.write_text("")
    with pytest.raises(CredentialsError, match=r"/token: holds no token$"):
        await credentials.headers()
    path.write_text("two words")
    with pytest.raises(CredentialsError, match=r"/token: holds something else than a token$"):
        await credentials.headers()
    path.write_text("at-last")

    assert await credentials.headers() == {"authorization": "Bearer at-last"}
