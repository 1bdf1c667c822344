"""Where the API server is, and which namespace is ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.sidecar.running_sidecar import connection_settings, own_namespace
from reflet.transport.config.settings import ConnectionSettings
from tests.unit.sidecar.scenes import settings

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: x, namespace: theirs}}]
clusters: [{name: x, cluster: {server: "https://there:6443", certificate-authority-data: eA==}}]
"""
IN_POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def pod(root: Path) -> Path:
    folder = root / "var/run/secrets/kubernetes.io/serviceaccount"
    folder.mkdir(parents=True)
    (folder / "token").write_text("t")
    (folder / "namespace").write_text("ours\n")
    return folder / "namespace"


def test_a_kubeconfig_that_is_there_counts(tmp_path: Path) -> None:
    pod(tmp_path)
    file = tmp_path / "config"
    file.write_text(KUBECONFIG)

    found = connection_settings(settings(KUBECONFIG=str(file)), IN_POD, root=tmp_path)

    assert (found.server, found.namespace) == ("https://there:6443", "theirs")


def test_without_one_it_is_the_pods_service_account(tmp_path: Path) -> None:
    pod(tmp_path)

    found = connection_settings(settings(KUBECONFIG="/no/such"), IN_POD, root=tmp_path)

    assert found.server == "https://10.0.0.1:443"
    assert not found.insecure


def test_certificates_are_not_looked_at_where_that_is_asked_for(tmp_path: Path) -> None:
    pod(tmp_path)
    (tmp_path / "config").write_text(KUBECONFIG)
    asked = settings(KUBECONFIG=str(tmp_path / "config"), SKIP_TLS_VERIFY="true")

    assert connection_settings(asked, {}, root=tmp_path).insecure


def test_without_any_it_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no cluster is configured: .*/no/such does not"):
        connection_settings(settings(KUBECONFIG="/no/such"), {}, root=tmp_path)


def test_our_namespace_is_the_service_accounts_and_not_the_kubeconfigs(tmp_path: Path) -> None:
    connection = ConnectionSettings(server="https://there", namespace="theirs")

    assert own_namespace(connection, pod(tmp_path)) == "ours"
    assert own_namespace(connection, tmp_path / "no-such") == "theirs"
