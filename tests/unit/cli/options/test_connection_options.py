"""kubectl's flags, and the settings that they become."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from reflet.cli.options.connection_options import connection_options
from reflet.errors import ConfigurationError
from reflet.transport.auth.certificates import Pem
from reflet.transport.config.kubeconfig import Overrides
from reflet.transport.config.settings import ConnectionSettings, Impersonation


def settings(*arguments: str) -> ConnectionSettings:
    """What a command gets that is called with *arguments*."""
    got: list[ConnectionSettings] = []

    @click.command()
    @connection_options
    def probe(connection: Callable[[], ConnectionSettings]) -> None:
        got.append(connection())

    probe.main(args=list(arguments), prog_name="probe", standalone_mode=False)
    return got[0]


SERVER = ("--server", "https://127.0.0.1:6443")


def test_the_server_is_an_address() -> None:
    assert settings("-s", "https://[::1]:6443/prefix/").server == "https://[::1]:6443/prefix"


def test_the_token_is_said_and_not_shown() -> None:
    found = settings(*SERVER, "--token", "canary")

    assert asyncio.run(found.credentials.headers()) == {"authorization": "Bearer canary"}
    assert "canary" not in repr(found)


def test_somebody_else_can_be_acted_as() -> None:
    found = settings(
        *SERVER, "--as", "jane", "--as-uid", "7", "--as-group", "a", "--as-group", "b,c"
    )

    assert found.impersonation == Impersonation(user="jane", uid="7", groups=("a", "b,c"))


def test_the_server_is_trusted_as_the_flags_say(tmp_path: Path) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_text("-----BEGIN CERTIFICATE-----")

    named = settings(
        *SERVER, "--certificate-authority", str(authority), "--tls-server-name", "api.example"
    )
    blind = settings(*SERVER, "--insecure-skip-tls-verify")

    assert named.certificate_authority == Pem("--certificate-authority", path=authority)
    assert named.tls_server_name == "api.example"
    assert blind.insecure


@pytest.mark.parametrize(("text", "seconds"), [("10s", 10.0), ("1m30s", 90.0), ("0", None)])
def test_a_request_has_a_longest_time(text: str, seconds: float | None) -> None:
    assert settings(*SERVER, "--request-timeout", text).request_timeout == seconds


def test_the_namespace_is_the_flags_or_default() -> None:
    assert settings(*SERVER, "-n", "shop").namespace == "shop"
    assert settings(*SERVER).namespace == "default"


def test_parts_of_a_kubeconfig_can_be_chosen(tmp_path: Path) -> None:
    file = tmp_path / "config"
    document = {
        "clusters": [
            {"name": name, "cluster": {"server": f"https://{name}"}} for name in ("one", "two")
        ],
        "users": [{"name": name, "user": {"token": name}} for name in ("ann", "ben")],
        "contexts": [
            {"name": "a", "context": {"cluster": "one", "user": "ann"}},
            {"name": "b", "context": {"cluster": "one", "user": "ann", "namespace": "shop"}},
        ],
        "current-context": "a",
    }
    file.write_text(json.dumps(document))

    found = settings(
        *("--kubeconfig", str(file), "--context", "b", "--cluster", "two", "--user", "ben")
    )

    assert (found.server, found.namespace) == ("https://two", "shop")
    assert asyncio.run(found.credentials.headers()) == {"authorization": "Bearer ben"}


def test_every_override_has_a_flag_and_every_flag_is_explained() -> None:
    @click.command()
    @connection_options
    def probe() -> None:
        pass

    flags = {parameter.name: parameter for parameter in probe.params}

    assert {*flags, "typed"} == {field.name for field in dataclasses.fields(Overrides)}
    assert all(isinstance(flag, click.Option) and flag.help for flag in flags.values())


def test_nothing_is_read_before_the_settings_are_wanted() -> None:
    called: list[bool] = []

    @click.command()
    @connection_options
    def probe(connection: Callable[[], ConnectionSettings]) -> None:
        called.append(True)

    probe.main(args=["--kubeconfig", "nope"], standalone_mode=False)

    assert called == [True]
    with pytest.raises(ConfigurationError, match="--kubeconfig nope: no such file"):
        settings("--kubeconfig", "nope")


def test_a_command_keeps_its_own_flags_and_arguments() -> None:
    got: list[tuple[str, bool]] = []

    @click.command()
    @click.argument("name")
    @click.option("--loud", is_flag=True)
    @connection_options
    def probe(name: str, loud: bool, connection: Callable[[], ConnectionSettings]) -> None:
        got.append((name, loud))

    probe.main(args=["x", "--loud", "-n", "shop"], standalone_mode=False)

    assert got == [("x", True)]
