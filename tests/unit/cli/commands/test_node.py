from __future__ import annotations

import grp
from pathlib import Path

import pytest
from click.testing import CliRunner

from reflet.cli.commands.node import _options, node
from reflet.cli.main import run
from reflet.node.options import CriOptions, NodeOptions, SecurePort


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pods-from", "/no/such/folder"], "neither 'api' nor a folder"),
        (["--user", "nobody-of-this-name"], "there is no user"),
        (["--user", "0:nobody-of-this-name"], "there is no group"),
        (["--allow-users", "9-5"], "--allow-users 9-5: the range ends before it begins"),
        (["--allow-users", "0"], "--allow-users 0: root, which is 0, is given by --user alone"),
        (["--allow-groups", "no-such-group"], "--allow-groups: 'no-such-group' is neither a group"),
        (["--node-address", "here"], "is no IP address"),
        (["--name", "Edge_1"], "'Edge_1' is no name for a node"),
        (["--name", "a" * 64], "at most 63"),
        (["--health-address", "10248"], "is not HOST:PORT"),
        (["--health-address", "127.0.0.1:70000"], "is not HOST:PORT"),
        (["--strategy", "guess"], "'guess' is not one of"),
        (["--selector", "a=b=c"], "a=b=c"),
        (["--runtime", "docker"], "'docker' is not one of"),
        (["--runtime-endpoint", "unix:///a"], "--runtime-endpoint: only with --runtime cri"),
        (["--cluster-dns", "10.0.0.10"], "--cluster-dns: only with --runtime cri"),
        (["--runtime", "cri", "--user", "0"], "--user: only with --runtime process"),
        (["--runtime", "cri", "--no-isolation"], "--no-isolation: only with --runtime process"),
        (
            ["--runtime", "cri", "--runtime-endpoint", "tcp://a:1"],
            "--runtime-endpoint tcp://a:1: not a unix socket",
        ),
        (
            ["--runtime", "cri", "--runtime-endpoint", "/a", "--cluster-dns", "here"],
            "--cluster-dns: 'here' is no IP address",
        ),
        (["--tls-cert-file", "a"], "--tls-cert-file: --tls-private-key-file is missing"),
        (["--tls-private-key-file", "a"], "--tls-private-key-file: --tls-cert-file is missing"),
        (["--client-ca-file", "a"], "--client-ca-file: --tls-cert-file and --tls-private-key-file"),
        (["--secure-address", "a:1"], "--secure-address: --tls-cert-file and --tls-private-key-"),
        (
            ["--tls-cert-file", "/a", "--tls-private-key-file", "/b", "--secure-address", "10250"],
            "--secure-address: '10250' is not HOST:PORT",
        ),
        (
            ["--user", "0", "--tls-cert-file", "/no/such", "--tls-private-key-file", "/b"],
            "error: --tls-cert-file /no/such: no such file",
        ),
    ],
)
def test_a_mistake_is_named_before_anything_is_done(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root"

    code = run(["reflet", "node", "--root", str(root), *arguments])

    assert (code, root.exists()) == (2, False)
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_the_files_for_tls_are_given_by_the_kubelets_names() -> None:
    flags = ("--tls-cert-file=a", "--tls-private-key-file=b", "--client-ca-file=c")

    usual = options_of(*flags[:2])
    every = options_of(*flags, "--secure-address=[::1]:0")

    assert usual.secure == SecurePort(certificate=Path("a"), key=Path("b"))
    assert usual.secure.place == ("0.0.0.0", 10250)
    assert every.secure == SecurePort(
        certificate=Path("a"), key=Path("b"), client_ca=Path("c"), place=("::1", 0)
    )
    assert options_of().secure is None


def test_real_containers_are_run_without_further_words() -> None:
    options = options_of(
        *("--runtime=cri", "--runtime-endpoint=unix:///run/c.sock", "--cluster-dns=10.0.0.10"),
        "--cluster-domain=corp.example.",
    )

    assert options.run
    assert options.runtime == CriOptions(
        endpoint="unix:///run/c.sock",
        cluster_dns=("10.0.0.10",),
        cluster_domain="corp.example",
    )
    allowance = options.allowance()
    assert allowance.runs_images
    assert not allowance.isolates


def test_the_rule_of_kubernetes_1_19_is_asked_for() -> None:
    rules = (options_of().skip_invalid_names, options_of("--skip-invalid-names").skip_invalid_names)

    assert rules == (False, True)


def test_users_and_groups_are_allowed_by_range_number_and_name() -> None:
    group = next(each for each in grp.getgrall() if each.gr_gid != 0)
    grants = options_of(
        *("--allow-users=70000-70999", "--allow-users=80001"),
        *("--allow-groups=90000", f"--allow-groups={group.gr_name}"),
    ).grants

    assert all(number in grants.users for number in (70000, 70999, 80001))
    assert all(number in grants.groups for number in (70500, 90000, group.gr_gid))
    assert 71000 not in grants.users


def options_of(*flags: str) -> NodeOptions:
    return _options(node.make_context("node", ["--name=here", "--root=/nowhere", *flags]).params)


def test_help_says_what_it_is_and_what_it_is_not() -> None:
    answer = CliRunner().invoke(node, ["--help"])

    assert answer.exit_code == 0
    assert "but neither network nor limits of its own" in " ".join(answer.output.split())
