import msgspec
import pytest

from reflet.api.core.volumes import ConfigMapVolumeSource, Volume
from reflet.api.json_reader import reader


@pytest.mark.parametrize(
    "source",
    [
        b'"configMap":{"name":"c","items":[{"key":"k","path":"p","mode":256}],"defaultMode":420}',
        b'"secret":{"secretName":"s","defaultMode":0,"optional":true}',
        b'"downwardAPI":{"items":[{"path":"p","fieldRef":{"fieldPath":"metadata.labels"}}]}',
        (
            b'"projected":{"sources":[{"secret":{"name":"s"}},{"downwardAPI":{"items":[{"path":"p"}]}},'
            b'{"configMap":{"name":"c"}},{"serviceAccountToken":{"expirationSeconds":600,"path":"t"}},'
            b'{"clusterTrustBundle":{"signerName":"x","labelSelector":{"matchLabels":{"a":"b"}},'
            b'"path":"ca"}},{"podCertificate":{"signerName":"x","keyType":"ED25519",'
            b'"credentialBundlePath":"b"}}],"defaultMode":420}'
        ),
        b'"azureFile":{"secretName":"s","shareName":"x"}',
        b'"cephfs":{"monitors":["m"],"secretRef":{"name":"s"}}',
        b'"cinder":{"volumeID":"v","secretRef":{"name":"s"}}',
        b'"flexVolume":{"driver":"d","secretRef":{"name":"s"},"options":{"a":"b"}}',
        b'"rbd":{"monitors":["m"],"image":"i","secretRef":{"name":"s"}}',
        b'"scaleIO":{"gateway":"g","secretRef":{"name":"s"}}',
        b'"iscsi":{"iqn":"q","secretRef":{"name":"s"}}',
        b'"storageos":{"volumeName":"v","secretRef":{"name":"s"}}',
        b'"csi":{"driver":"d","nodePublishSecretRef":{"name":"s"}}',
        b'"emptyDir":{}',
        b'"emptyDir":{"medium":"Memory","sizeLimit":"1Gi"}',
        b'"hostPath":{"path":"/x"}',
        b'"persistentVolumeClaim":{"claimName":"c"}',
        b'"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"]}}}',
        b'"image":{"reference":"r"}',
        b'"nfs":{"server":"s","path":"/p"}',
    ],
)
def test_every_kind_of_volume_survives_decoding_and_encoding(source: bytes) -> None:
    text = b'{"name":"v",' + source + b"}"

    assert msgspec.json.encode(reader(Volume).read(text)) == text


def test_an_absent_mode_is_not_zero() -> None:
    assert reader(ConfigMapVolumeSource).read(b"{}").default_mode is None
    assert reader(ConfigMapVolumeSource).read(b'{"defaultMode":0}').default_mode == 0


def test_a_size_limit_may_be_a_number() -> None:
    volume = reader(Volume).read(b'{"emptyDir":{"sizeLimit":1024}}')

    assert volume.empty_dir is not None
    assert volume.empty_dir.size_limit == "1024"
