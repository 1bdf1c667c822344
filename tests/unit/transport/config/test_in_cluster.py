import logging
from collections.abc import Mapping
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.transport.auth.certificates import Pem
from reflet.transport.config.in_cluster import (
    SERVICE_ACCOUNT_DIRECTORY,
    in_cluster_namespace,
    in_cluster_settings,
    why_not_in_cluster,
)

ENVIRON = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A file system with the files that the kubelet mounts."""
    directory = tmp_path / SERVICE_ACCOUNT_DIRECTORY
    directory.mkdir(parents=True)
    (directory / "token").write_text("pod-token")
    (directory / "ca.crt").write_text("authority")
    (directory / "namespace").write_text("shop\n")
    return tmp_path


async def test_a_pod_speaks_as_its_service_account(root: Path) -> None:
    settings = in_cluster_settings(ENVIRON, root=root)

    assert settings.server == "https://10.96.0.1:443"
    assert settings.namespace == "shop"
    assert settings.certificate_authority == Pem(
        "service account certificate authority",
        path=root / SERVICE_ACCOUNT_DIRECTORY / "ca.crt",
    )
    assert await settings.credentials.headers() == {"authorization": "Bearer pod-token"}


@pytest.mark.parametrize("host", ["fd00::1", "[fd00::1]"])
def test_an_ipv6_address_gets_brackets_once(host: str, root: Path) -> None:
    settings = in_cluster_settings({**ENVIRON, "KUBERNETES_SERVICE_HOST": host}, root=root)

    assert settings.server == "https://[fd00::1]:443"


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, "KUBERNETES_SERVICE_HOST is not set"),
        ({"KUBERNETES_SERVICE_HOST": "h"}, "KUBERNETES_SERVICE_PORT is not set"),
        ({**ENVIRON, "KUBERNETES_SERVICE_HOST": ""}, "KUBERNETES_SERVICE_HOST is not set"),
    ],
)
def test_what_is_missing_is_named(environ: Mapping[str, str], words: str, root: Path) -> None:
    assert why_not_in_cluster(environ, root=root) == words
    with pytest.raises(ConfigurationError, match=f"^not running in a pod: {words}$"):
        in_cluster_settings(environ, root=root)


def test_without_a_token_it_is_no_pod(root: Path) -> None:
    token = root / SERVICE_ACCOUNT_DIRECTORY / "token"
    token.unlink()

    assert why_not_in_cluster(ENVIRON, root=root) == f"{token} does not exist"


def test_a_bad_port_is_an_error_that_names_the_variables(root: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^KUBERNETES_SERVICE_HOST and .*: not a URL"):
        in_cluster_settings({**ENVIRON, "KUBERNETES_SERVICE_PORT": "tcp"}, root=root)


def test_without_an_authority_the_system_is_trusted_and_a_warning_says_so(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (root / SERVICE_ACCOUNT_DIRECTORY / "ca.crt").unlink()

    with caplog.at_level(logging.WARNING):
        settings = in_cluster_settings(ENVIRON, root=root)

    assert settings.certificate_authority is None
    assert "ca.crt does not exist" in caplog.text


@pytest.mark.parametrize(
    ("environ", "mounted", "expected"),
    [
        ({"POD_NAMESPACE": "given"}, "shop", "given"),
        ({}, "shop", "shop"),
        ({}, "  ", "default"),
        ({}, None, "default"),
    ],
)
def test_the_namespace_is_the_pods(
    environ: Mapping[str, str], mounted: str | None, expected: str, root: Path
) -> None:
    file = root / SERVICE_ACCOUNT_DIRECTORY / "namespace"
    file.unlink()
    if mounted is not None:
        file.write_text(mounted)

    assert in_cluster_namespace(environ, root=root) == expected
