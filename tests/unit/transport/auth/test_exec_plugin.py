"""What a plugin is asked, what it answers, and how long that is good."""

import asyncio
import json
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from reflet.transport.auth.certificates import Pem
from reflet.transport.auth.exec_plugin import (
    ClusterInfo,
    InteractiveMode,
)
from tests.unit.transport.auth.exec_scenes import NOON, V1, Scene, answer, failure
from tests.unit.transport.pem_material import make_pair


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


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
