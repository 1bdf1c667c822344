from reflet.api.codec import decode, encode
from reflet.api.core.services import Service


def test_a_target_port_is_a_number_or_a_name() -> None:
    text = (
        b'{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"ports":['
        b'{"name":"http","protocol":"TCP","port":80,"targetPort":8080,"nodePort":30000},'
        b'{"port":81,"targetPort":"http"}],"selector":{"app":"web"},"clusterIP":"10.0.0.1",'
        b'"clusterIPs":["10.0.0.1"],"type":"NodePort","externalIPs":["1.2.3.4"]}}'
    )

    assert encode(decode(text, Service)) == text
