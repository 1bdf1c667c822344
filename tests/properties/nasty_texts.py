"""Texts that were made to break a parser, or did break one of ours.

Owns: the corpus.  Every parser is tried with all of it, in every run; what a longer run finds is
added here.  Must not know who parses.
"""

from __future__ import annotations

import json
from typing import Any, Final

DEEP: Final = 60_000  # more than any stack

GOOD: Final[dict[str, Any]] = {
    "kubeconfig": {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [
            {"name": "one", "cluster": {"server": "https://127.0.0.1:6443", "proxy-url": ""}}
        ],
        "users": [
            {
                "name": "me",
                "user": {
                    "token": "abc",
                    "client-certificate-data": "QUJD",
                    "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "x"},
                },
            }
        ],
        "contexts": [{"name": "here", "context": {"cluster": "one", "user": "me"}}],
    },
    "config map": {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "shop", "labels": {"a": "b"}},
        "data": {"key": "value"},
        "binaryData": {"blob": "QUJD"},
    },
    "pod": {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "creationTimestamp": "2026-01-02T03:04:05Z"},
        "spec": {
            "containers": [
                {
                    "name": "app",
                    "image": "app:1",
                    "env": [{"name": "A", "value": "$(B)"}],
                    "envFrom": [{"configMapRef": {"name": "settings"}}],
                    "resources": {"limits": {"cpu": "100m", "memory": "64Mi"}},
                    "volumeMounts": [{"name": "v", "mountPath": "/etc/x", "subPath": "../y"}],
                }
            ],
            "volumes": [{"name": "v", "configMap": {"name": "settings", "defaultMode": 420}}],
        },
    },
    "list": {"apiVersion": "v1", "kind": "List", "items": [{"kind": "List", "items": []}]},
    "event": {
        "type": "MODIFIED",
        "object": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "settings", "resourceVersion": "12"},
        },
    },
    "status": {
        "apiVersion": "v1",
        "kind": "Status",
        "status": "Failure",
        "message": "no",
        "reason": "Expired",
        "code": 410,
        "details": {"retryAfterSeconds": 1, "causes": [{"reason": "x", "message": "y"}]},
    },
    "exec credential": {
        "kind": "ExecCredential",
        "apiVersion": "client.authentication.k8s.io/v1",
        "status": {"token": "abc", "expirationTimestamp": "2026-01-02T03:04:05Z"},
    },
    "fault": {"action": "reset", "verb": "watch", "times": 2, "retryAfter": 1},
}

SMALL: Final = (
    b"a=b,c!=d,e in (f,g),!h",
    b"metadata.name=x,spec.nodeName!=y",
    b"1.5Gi",
    b"-12e-3",
    b"$(A)$$(B)$(",
    b"A='b'\nC='d\ne' # f\n",
    b"../../etc/passwd",
    b"a/../../b/./c//d",
    b"10s",
    b"1m30s",
    b"configmaps/settings",
    b"{.metadata.labels['a\\.b'][0][*][?(@.x==1)]}",
    b"k8s\x00\n\x0a\x02v1\x12\x03Pod",
)

NASTY: Final[tuple[bytes, ...]] = (
    # Nothing, and what looks like nothing
    b"",
    b" ",
    b"\n\n",
    b"\x00",
    b"\xef\xbb\xbf",
    b"\xff\xfe\x00\x00",
    b"---\n---\n...\n",
    b"null",
    b"~",
    # Not text
    bytes(range(256)),
    b"\xc3",
    b"\xed\xa0\x80",
    b'{"a": "\\ud800"}',
    b"\x85\xe2\x80\xa8",
    "{'kind': 'Pod'}".encode("utf-16"),
    # Controls where a name belongs
    b"/\n\x00",
    b'{"apiVersion": "\\u001e", "kind": "Config"}',
    b'{"apiVersion": "v1\\n", "kind": "Config\\u2028"}',
    # Null where bytes belong
    b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"binaryData":{"b":null}}',
    b'{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"b":null}}',
    # Deeper than any stack
    b"[" * DEEP,
    b"[" * DEEP + b"]" * DEEP,
    b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    b"- " * DEEP,
    b"(" * DEEP,
    b"$(" * DEEP,
    b"{" * DEEP,
    b"!" * DEEP,
    b"a/../" * DEEP,
    b'{"kind":"List","items":[' * 5_000 + b"]}" * 5_000,
    b'{"type":"ADDED","object":' * DEEP,
    b'{"kind":"Status","details":' + b"[" * DEEP + b"]" * DEEP + b"}",
    b'{"kind":"ExecCredential","spec":' + b"[" * DEEP + b"]" * DEEP + b"}",
    # Larger than any number
    b"1" * 5_000,
    b"-" + b"9" * 5_000,
    b"1e999999999",
    b"1e-999999999",
    b"0x" + b"f" * 5_000,
    b'{"code": ' + b"1" * 5_000 + b"}",
    b'{"kind":"Status","code":1e400}',
    b"9223372036854775808Ei",
    b"." * 5_000,
    b"nan",
    b".inf",
    b'{"a": NaN}',
    b"99999999999999999999h",
    # A bomb of aliases, an alias to itself, merges, tags
    b"a: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(
        b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 9)) for n in range(9)
    ),
    b"&a [*a]",
    b"a: &a {b: *a}",
    b"<<: *x",
    b"a: &x {<<: *x}",
    b"!!python/object/apply:os.system ['true']",
    b"!!binary ====",
    b"!!int x",
    b"!!timestamp x",
    b"!!bool x",
    b"!!float x",
    b"a: &a {x: 1}\nb: &b {<<: [*a,*a,*a,*a]}\nc: {<<: [*b,*b,*b,*b]}",
    b"? {a: b}\n: c",
    b"? [a]\n: b",
    b"2026-13-45",
    b"12:60:61",
    b"%YAML 9.9\n---\na: b",
    b"key: value\n  bad: indent",
    b"a: b: c",
    b"\tx: y",
    # Keys twice, keys that are no text, the wrong shapes in the right places
    b'{"kind":"Pod","kind":"Pod"}',
    b"1: 2\ntrue: 3\nnull: 4",
    b'{"apiVersion":"v1","kind":"ConfigMap","metadata":[]}',
    b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":{}}}',
    b'{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"data":{"a":"%%%"}}',
    b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"containers":{}}}',
    b'{"apiVersion":1,"kind":2,"metadata":3}',
    b'{"apiVersion":"/","kind":"Pod","metadata":{"name":"x"}}',
    b'{"apiVersion":"a/b/c","kind":"Pod","metadata":{"name":"x"}}',
    b'{"kind":"List","items":null}',
    b'{"kind":"List","items":[1,null,"x"]}',
    b"clusters: {}\nusers: 3\ncontexts: x",
    *(
        b'clusters: [{name: x, cluster: {server: "%s"}}]\n' % server
        + b"contexts: [{name: x, context: {cluster: x}}]\ncurrent-context: x"
        for server in (b"https://[::1", b"https://x:99999999", b"ftp://x", b"https://\xc3\xa4")
    ),
    # Quotes and lines without end
    b"A='",
    b"A='\n" * 2_000,
    b"=" * 5_000,
    b"a in (",
    b"a in (b",
    b"a notin ()",
    b",,,,",
    b"x" * 200_000,
    b"A='" + b"x" * 70_000 + b"'",
    b"\\" * 5_000,
    b"a\\=b\\",
    *SMALL,
    *(json.dumps(value).encode() for value in GOOD.values()),
)
