"""Plugins that are missing, fail, hang or say nonsense."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.transport.auth.exec_plugin import (
    LARGEST_OUTPUT,
)
from tests.unit.transport.auth.exec_scenes import ENVIRON, V1, Scene, answer, failure


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def test_a_missing_command_is_told_with_the_install_hint(scene: Scene) -> None:
    credentials = scene.credentials(
        command="no-such-plugin", install_hint="brew install\n\tno-such-plugin \x1b[1m"
    )

    assert await failure(credentials) == ("is not in PATH: brew install no-such-plugin ?[1m")


async def test_a_missing_path_is_told_without_a_hint_too(scene: Scene) -> None:
    assert await failure(scene.credentials()) == "does not exist: install it"


async def test_a_file_that_may_not_be_run_is_told_so(scene: Scene) -> None:
    scene.command.write_text("#!/bin/sh\n")
    scene.command.chmod(0o644)

    assert (await failure(scene.credentials())).startswith("is not an executable file")


async def test_a_file_that_is_no_program_is_told_so(scene: Scene) -> None:
    scene.command.write_text("neither script nor binary")
    scene.command.chmod(0o755)

    assert await failure(scene.credentials()) == "cannot be run: exec format error"


async def test_a_command_is_found_in_path_but_never_in_the_current_folder(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.prints(answer(token="found"))
    monkeypatch.chdir(scene.folder)
    system = ENVIRON["PATH"]

    for here in (f".:{system}", f":{system}"):
        careless = scene.credentials(command="plugin", environ={"PATH": here})
        assert (await failure(careless)).startswith("is not in PATH")
    good = scene.credentials(command="plugin", environ={"PATH": f"{scene.folder}:{system}"})

    assert await good.headers() == {"authorization": "Bearer found"}


async def test_an_exit_code_is_told_and_the_plugins_own_words_pass_through(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.script("echo 'log in first: secret-123' >&2; exit 3")

    words = await failure(scene.credentials())

    assert words == "failed with exit code 3: its own message, if any, is above"
    assert capfd.readouterr().err == "log in first: secret-123\n"


async def test_a_signal_is_told(scene: Scene) -> None:
    scene.script("kill -9 $$")

    assert await failure(scene.credentials()) == "was ended by signal 9"


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("", "did not write an ExecCredential: "),
        ("secret-123", "did not write an ExecCredential: "),
        ("[]", "did not write an ExecCredential: "),
        ('{"status": {"token": ["secret-123"]}}', "did not write an ExecCredential: "),
        ("{}", f"wrote something of something, not ExecCredential of {V1}"),
        (
            answer(token="secret-123").replace("k8s.io/v1", "k8s.io/v1beta1"),
            f"wrote ExecCredential of {V1}beta1, not ExecCredential of {V1}",
        ),
        (
            answer(token="secret-123").replace("ExecCredential", "Secret"),
            f"wrote Secret of {V1}, not ExecCredential of {V1}",
        ),
        (
            answer(token="secret-123").replace("ExecCredential", "secret-123" * 9),
            f"wrote something of {V1}, not ExecCredential of {V1}",
        ),
        (answer(), "gave neither status.token nor a client certificate"),
        (answer(token=""), "gave neither status.token nor a client certificate"),
        (
            json.dumps({"kind": "ExecCredential", "apiVersion": V1}),
            "gave neither status.token nor a client certificate",
        ),
        (
            answer(clientCertificateData="secret-123"),
            "gave status.clientCertificateData without clientKeyData",
        ),
        (
            answer(clientKeyData="secret-123", token="t"),
            "gave status.clientKeyData without clientCertificateData",
        ),
        (answer(token="secret-123\nx-evil: 1"), "gave a token that cannot stand in a header"),
        (
            answer(token="secret-123", expirationTimestamp="tomorrow"),
            "did not write an ExecCredential: Invalid RFC3339 encoded datetime",
        ),
    ],
)
async def test_an_answer_of_no_use_is_told_without_repeating_it(
    printed: str, words: str, scene: Scene
) -> None:
    scene.prints(printed)

    told = await failure(scene.credentials())

    assert told.startswith(words)
    assert "secret-123" not in told


async def test_an_endless_answer_is_cut_off(scene: Scene) -> None:
    scene.script("yes")

    told = await failure(scene.credentials())

    assert told == f"wrote more than {LARGEST_OUTPUT} bytes and was stopped"


async def test_a_plugin_that_hangs_is_stopped_with_everything_it_started(scene: Scene) -> None:
    # Whoever runs in this scene holds the pipe's writing end: reading it ends when all are gone.
    alive, held = os.pipe()
    scene.script(f"exec 9>/proc/{os.getpid()}/fd/{held}\nsleep 1000 & sleep 1000")

    told = await failure(scene.credentials(time_limit=0.5))
    os.close(held)

    assert told == "did not answer within 0.5 s and was stopped"
    with os.fdopen(alive, "rb") as gone:
        assert await asyncio.to_thread(gone.read) == b""


async def test_a_cancelled_caller_takes_its_process_along_and_the_next_one_asks_again(
    scene: Scene,
) -> None:
    started = scene.folder / "started"
    os.mkfifo(started)
    scene.script(f"echo $$ >{started}\nexec sleep 1000")
    credentials = scene.credentials()
    caller = asyncio.create_task(credentials.headers())
    process = int(await asyncio.to_thread(started.read_text))
    scene.prints(answer(token="next"))
    follower = asyncio.create_task(credentials.headers())

    caller.cancel()
    said = await follower

    assert caller.cancelled()
    assert said == {"authorization": "Bearer next"}
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"command": ""}, "command is missing"),
        ({"api_version": ""}, "apiVersion is missing, not one of"),
        (
            {"api_version": "client.authentication.k8s.io/v1alpha1"},
            f"apiVersion is {V1}alpha1, not one of {V1}, {V1}beta1: update the plugin",
        ),
        ({"env": (("", "1"),)}, "env has a variable without a name"),
        ({"env": (("A=B", "1"),)}, "env has a variable without a name, or with = in it"),
        ({"args": ("a\0b",)}, "no text in it may hold a zero byte"),
    ],
)
def test_a_plugin_that_cannot_be_called_is_refused(
    changes: dict[str, object], words: str, scene: Scene
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        scene.credentials(**changes)  # type: ignore[arg-type]  # a field of the plugin each

    assert str(caught.value).startswith(f'exec of user "x" in FILE: {words}')


async def test_no_repr_shows_arguments_variables_or_tokens(scene: Scene) -> None:
    scene.prints(answer(token="secret-token"))
    credentials = scene.credentials(args=("secret-argument",), env=(("A", "secret-value"),))
    await credentials.headers()

    assert "secret" not in repr(credentials).replace(str(scene.folder), "")
