import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError, CredentialsError
from reflet.transport.auth.certificates import Pem
from reflet.transport.auth.exec_plugin import (
    LARGEST_OUTPUT,
    ClusterInfo,
    ExecCredentials,
    ExecPlugin,
    InteractiveMode,
)
from tests.unit.transport.pem_material import make_pair

V1 = "client.authentication.k8s.io/v1"
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/home/alice"}


class HandClock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


def answer(**status: str) -> str:
    return json.dumps({"kind": "ExecCredential", "apiVersion": V1, "status": status})


class Scene:
    """A folder with a plugin in it that counts how often it ran."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command = folder / "plugin"
        self.clock = HandClock()

    @property
    def runs(self) -> int:
        file = self.folder / "runs"
        return len(file.read_text()) if file.exists() else 0

    def script(self, shell: str) -> None:
        # A new file each time: a shell that still runs reads on in the old one.
        fresh = self.folder / "fresh"
        fresh.write_text(f"#!/bin/sh\nprintf x >>{self.folder}/runs\n{shell}\n")
        fresh.chmod(0o755)
        fresh.rename(self.command)

    def prints(self, text: str) -> None:
        (self.folder / "answer").write_text(text)
        self.script(f"cat {self.folder}/answer")

    def credentials(
        self,
        *,
        cluster: ClusterInfo | None = None,
        environ: Mapping[str, str] = ENVIRON,
        terminal: bool = False,
        time_limit: float | None = 30.0,
        **changes: object,
    ) -> ExecCredentials:
        plugin = ExecPlugin(setting='user "x" in FILE', command=str(self.command))
        return ExecCredentials(
            replace(plugin, **changes),  # type: ignore[arg-type]  # the tests' own keywords
            environ=environ,
            cluster=cluster,
            now=self.clock,
            time_limit=time_limit,
            stdin_is_terminal=lambda: terminal,
        )


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def failure(credentials: ExecCredentials) -> str:
    with pytest.raises(CredentialsError) as caught:
        await credentials.headers()
    message = str(caught.value)
    assert "\n" not in message
    return message.partition('of user "x" in FILE: ')[2]


async def test_a_token_is_kept_until_it_expires(scene: Scene) -> None:
    scene.prints(answer(token="t1", expirationTimestamp="2026-01-02T13:00:00Z"))
    credentials = scene.credentials()
    said = [await credentials.headers() for _ in range(3)]
    scene.clock.now = NOON + timedelta(hours=1)
    said.append(await credentials.headers())
    assert scene.runs == 1

    scene.prints(answer(token="t2"))
    scene.clock.now += timedelta(seconds=1)

    assert said == [{"authorization": "Bearer t1"}] * 4
    assert await credentials.headers() == {"authorization": "Bearer t2"}
    assert await credentials.client_certificate() is None
    assert scene.runs == 2


async def test_many_who_ask_at_once_share_one_process(scene: Scene) -> None:
    scene.prints(answer(token="shared"))
    credentials = scene.credentials()

    said = await asyncio.gather(*(credentials.headers() for _ in range(20)))

    assert said == [{"authorization": "Bearer shared"}] * 20
    assert scene.runs == 1


async def test_many_refusals_of_one_token_renew_it_once(scene: Scene) -> None:
    scene.prints(answer(token="old"))
    credentials = scene.credentials()
    sent = await credentials.headers()
    scene.prints(answer(token="new"))

    for _ in range(5):
        assert await credentials.refused(sent)
        assert await credentials.headers() == {"authorization": "Bearer new"}

    assert scene.runs == 2


async def test_a_refusal_without_saying_of_what_forgets_whatever_there_is(scene: Scene) -> None:
    scene.prints(answer(token="t"))
    credentials = scene.credentials()
    await credentials.headers()

    assert await credentials.refused()
    await credentials.headers()

    assert scene.runs == 2


async def test_a_failure_is_not_kept(scene: Scene) -> None:
    credentials = scene.credentials()
    scene.script("exit 1")
    await failure(credentials)
    scene.prints(answer(token="at-last"))

    assert await credentials.headers() == {"authorization": "Bearer at-last"}


async def test_a_plugin_gets_arguments_variables_and_the_question(scene: Scene) -> None:
    scene.command.write_text(
        f"#!{sys.executable}\n"
        "import json, os, sys\n"
        f"json.dump([sys.argv[1:], dict(os.environ)], open({str(scene.folder / 'got')!r}, 'w'))\n"
        f"print({answer(token='t')!r})\n"
    )
    scene.command.chmod(0o755)
    cluster = ClusterInfo(
        server="https://api:6443",
        tls_server_name="api.example",
        certificate_authority=Pem("authority", data=b"PEM"),
        proxy_url="http://proxy",
        config=b'{"audience":null}',
    )

    await scene.credentials(
        args=("get", "$HOME; exit"), env=(("HOME", "/plugin"), ("EXTRA", "1")), cluster=cluster
    ).headers()

    arguments, variables = json.loads((scene.folder / "got").read_text())
    assert arguments == ["get", "$HOME; exit"]
    assert (variables["HOME"], variables["EXTRA"]) == ("/plugin", "1")
    assert json.loads(variables["KUBERNETES_EXEC_INFO"]) == {
        "kind": "ExecCredential",
        "apiVersion": V1,
        "spec": {
            "interactive": False,
            "cluster": {
                "server": "https://api:6443",
                "tls-server-name": "api.example",
                "certificate-authority-data": "UEVN",
                "proxy-url": "http://proxy",
                "config": {"audience": None},
            },
        },
    }


async def test_without_cluster_info_the_question_is_small_and_in_the_plugins_version(
    scene: Scene,
) -> None:
    beta = "client.authentication.k8s.io/v1beta1"
    scene.script(
        f'printf %s "$KUBERNETES_EXEC_INFO" >{scene.folder}/got\n'
        f"""printf '%s' '{answer(token="t").replace(V1, beta)}'"""
    )

    await scene.credentials(api_version=beta).headers()

    assert json.loads((scene.folder / "got").read_text()) == {
        "kind": "ExecCredential",
        "apiVersion": beta,
        "spec": {"interactive": False},
    }


@pytest.mark.parametrize(
    ("mode", "terminal", "interactive"),
    [
        (InteractiveMode.NEVER, True, False),
        (InteractiveMode.IF_AVAILABLE, False, False),
        (InteractiveMode.IF_AVAILABLE, True, True),
        (InteractiveMode.ALWAYS, True, True),
    ],
)
async def test_a_plugin_is_interactive_when_it_may_be_and_there_is_a_terminal(
    mode: InteractiveMode, terminal: bool, interactive: bool, scene: Scene
) -> None:
    scene.script(
        f'printf %s "$KUBERNETES_EXEC_INFO" >{scene.folder}/got\n'
        f"""printf '%s' '{answer(token="t")}'"""
    )

    await scene.credentials(interactive_mode=mode, terminal=terminal).headers()

    got = json.loads((scene.folder / "got").read_text())
    assert got["spec"]["interactive"] is interactive


async def test_a_plugin_that_must_have_a_terminal_is_not_run_without(scene: Scene) -> None:
    scene.prints(answer(token="t"))

    words = await failure(scene.credentials(interactive_mode=InteractiveMode.ALWAYS))

    assert words.startswith("needs a terminal (interactiveMode is Always)")
    assert scene.runs == 0


async def test_a_plugin_without_a_terminal_reads_nothing(scene: Scene) -> None:
    scene.script(f"""read line || printf '%s' '{answer(token="end-of-file")}'""")

    said = await scene.credentials().headers()

    assert said == {"authorization": "Bearer end-of-file"}


async def test_a_certificate_and_key_are_handed_on(scene: Scene) -> None:
    pair = make_pair()
    scene.prints(
        answer(clientCertificateData=pair.certificate.decode(), clientKeyData=pair.key.decode())
    )
    credentials = scene.credentials()

    certificate = await credentials.client_certificate()

    assert certificate is not None
    assert certificate.certificate.read() == pair.certificate
    assert certificate.key.read() == pair.key
    assert await credentials.headers() == {}
    assert "PRIVATE" not in repr(credentials) + repr(certificate)


async def test_a_certificate_with_another_key_is_the_plugins_fault(scene: Scene) -> None:
    pair, other = make_pair(), make_pair()
    scene.prints(
        answer(clientCertificateData=pair.certificate.decode(), clientKeyData=other.key.decode())
    )

    assert await failure(scene.credentials()) == (
        "gave a bad certificate: clientKeyData does not belong to clientCertificateData"
    )


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
