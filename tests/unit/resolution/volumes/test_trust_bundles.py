"""Trust anchors of ClusterTrustBundles, as a projection chooses them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reflet.api.core.volumes import ClusterTrustBundleProjection
from reflet.api.unstructured import AnyObject
from reflet.errors import RefletError
from reflet.resolution.volumes.trust_bundles import (
    NO_MATCH,
    TrustBundle,
    is_trust_bundle,
    trust_anchors,
    trust_bundle_of,
    wants_trust_bundles,
)
from tests.unit.resolution.scenes import pem, pod_with

ONE, TWO, LONG = b"one", b"two", b"x" * 100
BUNDLES = (
    TrustBundle(name="plain", certificates=pem(TWO, ONE)),
    TrustBundle(name="a:1", signer_name="a", labels={"age": "old"}, certificates=pem(ONE, TWO)),
    TrustBundle(name="a:2", signer_name="a", labels={"age": "new"}, certificates=pem(TWO, LONG)),
    TrustBundle(name="b:1", signer_name="b", certificates=pem(LONG)),
)


def anchors(bundles: tuple[TrustBundle, ...] = BUNDLES, **fields: Any) -> str:
    """The file, or what is said instead."""
    projection = msgspec.convert({"path": "ca", **fields}, ClusterTrustBundleProjection)
    answer = trust_anchors(projection, bundles)
    return str(answer) if isinstance(answer, RefletError) else answer.decode()


def test_a_bundle_is_chosen_by_its_name() -> None:
    assert anchors(name="plain") == pem(ONE, TWO)


def test_bundles_are_chosen_by_signer_and_labels_with_each_certificate_once() -> None:
    assert anchors(signerName="a", labelSelector={}) == pem(ONE, TWO, LONG)
    assert anchors(signerName="a", labelSelector={"matchLabels": {"age": "new"}}) == pem(TWO, LONG)
    old = {"matchExpressions": [{"key": "age", "operator": "NotIn", "values": ["new"]}]}
    assert anchors(signerName="a", labelSelector=old) == pem(ONE, TWO)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"name": "x"},
            (
                "while getting ClusterTrustBundle: "
                'clustertrustbundle.certificates.k8s.io "x" not found'
            ),
        ),
        ({"signerName": "a"}, NO_MATCH),
        ({"signerName": "c", "labelSelector": {}}, NO_MATCH),
        ({}, "ClusterTrustBundle projection requires either name or signerName to be set"),
        (
            {"signerName": "a", "labelSelector": {"matchLabels": {"x": "v" * 70}}},
            "while parsing label selector: ",
        ),
    ],
)
def test_what_is_not_there_is_told_in_the_kubelets_words(fields: dict[str, Any], said: str) -> None:
    assert anchors(**fields).startswith(said)


@pytest.mark.parametrize("fields", [{"name": "x"}, {"signerName": "c", "labelSelector": {}}])
def test_what_is_optional_is_an_empty_file(fields: dict[str, Any]) -> None:
    assert anchors(**fields, optional=True) == ""


def test_a_choice_is_not_optional() -> None:
    assert anchors(optional=True).endswith("to be set")


def test_the_name_counts_before_the_signer() -> None:
    assert anchors(name="plain", signerName="b", labelSelector={}) == pem(ONE, TWO)


def test_blocks_are_normalized_and_the_rest_is_dropped() -> None:
    wild = (
        "a comment\n"
        + pem(ONE).replace("\n", "  \r\n")
        + "-----BEGIN OTHER-----\nName: value\n\ndHdv\n-----END OTHER-----\n"  # two
        + "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n"
        + "-----BEGIN CERTIFICATE-----\nnever ended\n"
        + pem(ONE)
        + "-----BEGIN CERTIFICATE-----\ndHdv\n-----END SOMETHING-----\n"
    )

    assert anchors((TrustBundle(name="w", certificates=wild),), name="w") == pem(ONE, TWO)


def test_a_bundle_of_any_version_is_read() -> None:
    item = AnyObject.from_dict(
        {
            "apiVersion": "certificates.k8s.io/v1beta1",
            "kind": "ClusterTrustBundle",
            "metadata": {"name": "a:1", "labels": {"age": "old"}},
            "spec": {"signerName": "a", "trustBundle": pem(ONE, TWO)},
        }
    )

    assert trust_bundle_of(item) == BUNDLES[1]
    assert is_trust_bundle(item.api_version, item.kind)
    assert not is_trust_bundle("example.com/v1", item.kind)
    assert not is_trust_bundle(item.api_version, "Other")


@pytest.mark.parametrize("spec", [None, {}, {"signerName": 1, "trustBundle": []}])
def test_a_bundle_without_its_texts_is_empty(spec: Any) -> None:
    item = AnyObject.from_dict({"metadata": {"name": "a"}, "spec": spec})

    assert trust_bundle_of(item) == TrustBundle(name="a")


def test_only_pods_that_show_anchors_want_bundles() -> None:
    def pod(*sources: dict[str, Any]) -> bool:
        volumes = [{"name": "e", "emptyDir": {}}, {"name": "v", "projected": {"sources": sources}}]
        return wants_trust_bundles(pod_with(volumes=volumes))

    assert not pod({"secret": {"name": "x"}})
    assert pod({"secret": {"name": "x"}}, {"clusterTrustBundle": {"name": "x", "path": "y"}})
