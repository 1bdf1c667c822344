"""Trust anchors in volumes: from a server that has ClusterTrustBundles, and from files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import reflet
from reflet.cli.main import run
from reflet.podconfig.trust_bundle_watch import TrustBundles, served_trust_bundles
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import scene_on
from tests.integration.plain_client import Client
from tests.integration.running import running
from tests.node_scenes import PATIENCE, is_running, pod_document, until, until_async
from tests.patience import within
from tests.unit.resolution.scenes import pem

GROUP: Final = "certificates.k8s.io"
ONE, TWO = pem(b"one"), pem(b"two")


def definition(*versions: str) -> dict[str, Any]:
    """What a server is told that has no ClusterTrustBundles of its own.

    Names are then those of custom resources, without the colons of real ones.
    """
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"clustertrustbundles.{GROUP}",
            "annotations": {"api-approved.kubernetes.io": "https://example.com/approved"},
        },
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {"plural": "clustertrustbundles", "kind": "ClusterTrustBundle"},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": index == 0,
                    "schema": {"openAPIV3Schema": anything},
                }
                for index, version in enumerate(versions)
            ],
        },
    }


def bundle(name: str, text: str, signer: str = "", **labels: str) -> dict[str, Any]:
    spec = {"trustBundle": text, **({"signerName": signer} if signer else {})}
    return {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "ClusterTrustBundle",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
    }


CERTIFICATE: Final = {
    "signerName": "example.com/ca",
    "keyType": "ED25519",
    "credentialBundlePath": "x",
}
SHOWING: Final = pod_document(
    "web",
    container={"volumeMounts": [{"name": "ca", "mountPath": "/etc/ca"}]},
    volumes=[
        {
            "name": "ca",
            "projected": {
                "sources": [
                    {"clusterTrustBundle": {"name": "own", "path": "own.pem"}},
                    {
                        "clusterTrustBundle": {
                            "signerName": "example.com/ca",
                            "labelSelector": {"matchLabels": {"live": "yes"}},
                            "path": "ca.pem",
                        }
                    },
                ]
            },
        }
    ],
)


def with_bundles(server: RunningServer) -> Client:
    client = Client(server.url, server.token)
    client.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition("v1beta1"))
    for item in (
        bundle("own", ONE),
        bundle("example.com.ca.1", TWO + ONE, "example.com/ca", live="yes"),
        bundle("example.com.ca.2", pem(b"three"), "example.com/ca", live="no"),
    ):
        client.create(f"/apis/{GROUP}/v1beta1/clustertrustbundles", item)
    return client


async def test_anchors_reach_a_container_and_follow_their_bundles(
    server: RunningServer, tmp_path: Path
) -> None:
    with_bundles(server)
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(SHOWING)
        pod = await scene.pod("web", is_running)
        folder = scene.container_root(pod) / "etc/ca"
        before = [(folder / name).read_text() for name in ("own.pem", "ca.pem")]

        bundles = scene.cluster.resource(await scene.cluster.find("clustertrustbundles"))
        await bundles.patch("own", {"spec": {"trustBundle": TWO}})
        await until(lambda: (folder / "own.pem").read_text() == TWO)

    assert before == [ONE, ONE + TWO]


async def test_a_server_without_bundles_is_told_in_the_kubelets_words(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(SHOWING)
        events = await scene.events("web", "FailedMount")

    text = "ClusterTrustBundle projection is not supported in static kubelet mode"
    assert events[0].message == f'MountVolume.SetUp failed for volume "ca" : {text}'


async def test_nothing_is_asked_before_somebody_wants_bundles(server: RunningServer) -> None:
    with_bundles(server)
    told: list[str] = []
    before = len(server.requests)
    async with (
        reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster,
        within(PATIENCE),
        TrustBundles(cluster, on_change=lambda: told.append("changed")) as bundles,
    ):
        asked = len(server.requests)
        found = await bundles.read()

        assert asked == before
        assert isinstance(found, tuple)
        assert [each.name for each in found] == ["example.com.ca.1", "example.com.ca.2", "own"]
        await until(lambda: told)

        told.clear()
        resource = await cluster.find("clustertrustbundles")
        await cluster.resource(resource, raw=True).delete("own")
        await until(lambda: told)

        async def is_gone() -> bool:
            now = await bundles.read()
            return isinstance(now, tuple) and len(now) == 2

        await until_async(is_gone)


async def test_the_newest_version_is_chosen_that_the_server_has(server: RunningServer) -> None:
    client = Client(server.url, server.token)
    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        nothing = await served_trust_bundles(cluster)
        client.create(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            definition("v1alpha1", "v1beta1"),
        )
        found = await served_trust_bundles(cluster, refresh=True)

    assert nothing is None
    assert found is not None
    assert found.version == "v1beta1"


def test_files_are_listed_and_written_from_a_server(server: RunningServer, tmp_path: Path) -> None:
    with_bundles(server).create("/api/v1/namespaces/default/pods", SHOWING)
    arguments = ["--kubeconfig", str(server.kubeconfig), "--to", str(tmp_path / "to")]

    assert run(["reflet", "files", "pod/web", *arguments]) == 0

    written = [(tmp_path / "to/ca" / name).read_text() for name in ("own.pem", "ca.pem")]
    assert written == [ONE, ONE + TWO]


def test_a_process_of_run_finds_them(server: RunningServer, tmp_path: Path) -> None:
    with_bundles(server).create("/api/v1/namespaces/default/pods", SHOWING)
    script = 'cat "$REFLET_ROOT/etc/ca/own.pem" "$REFLET_ROOT/etc/ca/ca.pem"; echo end'
    arguments = ["pod/web", "--kubeconfig", str(server.kubeconfig), "--", "sh", "-c", script]

    with running(tmp_path, arguments) as started:
        started.until_output("end")

        assert ONE + ONE + TWO in started.output


def test_files_are_made_from_manifests(tmp_path: Path, capsys: Any) -> None:
    manifest = tmp_path / "all.json"
    items = [SHOWING, bundle("own", ONE), bundle("b", TWO, "example.com/ca", live="yes")]
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    assert run(["reflet", "files", "-f", str(manifest), "--to", str(tmp_path / "to")]) == 0

    assert (tmp_path / "to/ca/ca.pem").read_text() == TWO
    assert "trust bundles of example.com/ca" in capsys.readouterr().out


def test_a_bundle_that_the_manifests_lack_is_told(tmp_path: Path, capsys: Any) -> None:
    manifest = tmp_path / "all.json"
    items = [SHOWING, bundle("own", ONE)]
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    assert run(["reflet", "files", "-f", str(manifest)]) == 1

    said = capsys.readouterr().err
    assert "combination of signerName and labelSelector matched zero ClusterTrustBundles" in said


def test_manifests_without_bundles_leave_the_files_to_the_cluster(
    tmp_path: Path, capsys: Any
) -> None:
    manifest = tmp_path / "pod.json"
    manifest.write_text(json.dumps(SHOWING))

    assert run(["reflet", "files", "-f", str(manifest), "--to", str(tmp_path / "to")]) == 0

    assert "ca/own.pem is left out: only a running pod has it" in capsys.readouterr().err


def test_lint_calls_neither_bundles_nor_certificates_of_pods_an_error(
    tmp_path: Path, capsys: Any
) -> None:
    subject = json.loads(json.dumps(SHOWING))
    subject["spec"]["containers"][0]["image"] = "app:1"
    sources = subject["spec"]["volumes"][0]["projected"]["sources"]
    sources.append({"podCertificate": CERTIFICATE})
    (tmp_path / "pod.json").write_text(json.dumps(subject))

    code = run(["reflet", "lint", "-f", str(tmp_path / "pod.json")])

    assert (code, "clusterTrustBundle" in capsys.readouterr().out) == (0, False)


async def test_a_certificate_of_a_pod_is_refused_clearly(
    server: RunningServer, tmp_path: Path
) -> None:
    subject = pod_document(
        "web",
        volumes=[{"name": "id", "projected": {"sources": [{"podCertificate": CERTIFICATE}]}}],
    )
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(subject)
        events = await scene.events("web", "FailedMount")

    assert events[0].message == (
        'MountVolume.SetUp failed for volume "id" : podCertificate is not supported: Reflet cannot '
        "fill it; it asks for no certificates; mount one from a Secret"
    )
