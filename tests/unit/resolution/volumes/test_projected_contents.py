"""Projected volumes: several sources in one directory."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.volumes import ProjectedVolumeSource
from reflet.errors import RefletError
from reflet.resolution.objects import ObjectReader, ObjectsInHand
from reflet.resolution.origins import TokenOrigin, TrustBundleOrigin
from reflet.resolution.places import Place
from reflet.resolution.problems import TrustBundleUnavailable
from reflet.resolution.volumes.file_contents import Filling
from reflet.resolution.volumes.projected_contents import projected_files
from reflet.resolution.volumes.trust_bundles import UNKNOWN_BUNDLES, BundlesInHand, TrustBundle
from tests.unit.resolution.scenes import NODE, config_map, pem, pod_with, secret

TOKEN = {"serviceAccountToken": {"path": "token", "audience": "vault"}}


def filled(
    *sources: dict[str, Any],
    objects: tuple[ConfigMap | Secret, ...] = (),
    mode: int | None = 0o644,
    client: bool = True,
    token: Any = None,
    bundles: BundlesInHand = None,
    **spec: Any,
) -> Filling:
    projected = msgspec.convert({"sources": sources, "defaultMode": mode}, ProjectedVolumeSource)
    return projected_files(
        pod_with(serviceAccountName="robot", **spec),
        projected,
        ObjectReader(ObjectsInHand(objects), "shop") if client else None,
        node=NODE,
        token=token,
        bundles=bundles,
        place=Place(path="spec.volumes[0].projected", volume="all"),
    )


def test_later_sources_lie_on_top_of_earlier_ones() -> None:
    filling = filled(
        {"configMap": {"name": "settings"}},
        {"secret": {"name": "credentials"}},
        {"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        objects=(config_map(a="1", b="2"), secret(b=b"3")),
    )

    assert filling.errors == ()
    assert {path: file.data for path, file in filling.files.items()} == {
        "a": b"1",
        "b": b"3",
        "n": b"web-0",
    }
    assert [len(file.shadows) for file in filling.files.values()] == [0, 1, 0]


def test_the_errors_of_all_sources_are_one_error() -> None:
    filling = filled(
        {"configMap": {"name": "gone"}},
        {"secret": {"name": "credentials", "items": [{"key": "x", "path": "x"}]}},
        {"secret": {"name": "credentials", "items": [{"key": "x", "path": "y"}]}},
        {"configMap": {"name": "settings"}},
        objects=(config_map(a="1"), secret()),
    )

    assert filling.errors == (
        '[configmap "gone" not found, references non-existent secret key: x]',
    )
    assert (list(filling.files), len(filling.problems)) == (["a"], 3)


def test_a_source_that_fails_puts_nothing_into_the_volume() -> None:
    items = [{"key": "a", "path": "a"}, {"key": "x", "path": "x"}]

    filling = filled(
        {"configMap": {"name": "settings", "items": items}}, objects=(config_map(a="1"),)
    )

    assert (filling.files, filling.errors) == (
        {},
        ("configmap references non-existent config key: x",),
    )


def test_without_a_mode_or_an_api_server_the_kubelet_does_not_look_at_sources() -> None:
    sources = ({"configMap": {"name": "gone"}}, TOKEN)

    without_mode = filled(*sources, mode=None)
    without_client = filled(*sources, client=False)

    assert without_mode.errors == ("no defaultMode used, not even the default value for it",)
    assert without_client.errors == (
        "cannot setup projected volume all because kube client is not configured",
    )


def test_a_token_is_asked_for_with_audience_and_life() -> None:
    asked: list[tuple[str, int]] = []

    def token(audience: str, seconds: int) -> str:
        asked.append((audience, seconds))
        return "ey"

    default = {"serviceAccountToken": {"path": "short", "expirationSeconds": 600}}
    filling = filled(TOKEN, default, token=token)

    assert asked == [("vault", 3600), ("", 600)]
    assert filling.files["token"].origin == TokenOrigin(
        namespace="shop", service_account="robot", audience="vault", expiration_seconds=3600
    )
    assert filling.files["token"].sensitive


@pytest.mark.parametrize(
    ("context", "mode", "user"),
    [
        ({}, 0o640, None),
        ({"fsGroup": 2000}, 0o600, None),
        ({"runAsUser": 1000}, 0o600, 1000),
    ],
)
def test_a_token_is_private_where_files_have_an_owner(
    context: dict[str, int], mode: int, user: int | None
) -> None:
    filling = filled(TOKEN, mode=0o640, token=lambda *_: "ey", securityContext=context)

    assert [(file.mode, file.user) for file in filling.files.values()] == [(mode, user)]


def test_a_token_that_cannot_be_had_is_an_error() -> None:
    refused = filled(TOKEN, token=lambda *_: RefletError("failed to fetch token: no"))
    nobody = filled(TOKEN)

    assert (refused.errors, nobody.errors) == (
        ("failed to fetch token: no",),
        ("no token for service account robot can be had here",),
    )


def test_a_source_that_reflet_does_not_fill_is_told_with_what_to_do() -> None:
    filling = filled({"podCertificate": {}}, {})

    assert filling.errors == (
        (
            "podCertificate is not supported: Reflet cannot fill it; it asks for no certificates; "
            "mount one from a Secret"
        ),
    )
    assert filling.problems[0].place.path == "spec.volumes[0].projected.sources[0].podCertificate"


# Trust bundles


CA = {"clusterTrustBundle": {"name": "a", "path": "ca.pem"}}
BUNDLE = TrustBundle(name="a", certificates=pem(b"one"))


def test_trust_anchors_are_a_file() -> None:
    filling = filled(CA, bundles=(BUNDLE,))

    file = filling.files["ca.pem"]
    assert (file.data, file.mode, file.sensitive) == (pem(b"one").encode(), 0o644, False)
    assert file.origin == TrustBundleOrigin(name="a")


def test_trust_anchors_of_files_with_an_owner_are_private_as_the_kubelet_has_them() -> None:
    filling = filled(CA, bundles=(BUNDLE,), securityContext={"runAsUser": 1000})

    file = filling.files["ca.pem"]
    assert (file.mode, file.user) == (0o600, 1000)


@pytest.mark.parametrize(
    ("bundles", "text"),
    [
        (None, "ClusterTrustBundle projection is not supported in static kubelet mode"),
        (RefletError("away"), "away"),
        (
            (),
            (
                "while getting ClusterTrustBundle: "
                'clustertrustbundle.certificates.k8s.io "a" not found'
            ),
        ),
    ],
)
def test_trust_anchors_that_cannot_be_had_are_an_error(bundles: Any, text: str) -> None:
    filling = filled(CA, bundles=bundles)

    assert filling.errors == (text,)
    assert isinstance(filling.problems[0], TrustBundleUnavailable)
    assert filling.problems[0].place.path.endswith("sources[0].clusterTrustBundle")


def test_bundles_that_nobody_asked_for_are_a_file_that_is_not_known() -> None:
    filling = filled(CA, bundles=UNKNOWN_BUNDLES)

    assert (filling.problems, filling.files["ca.pem"].known) == ((), False)
