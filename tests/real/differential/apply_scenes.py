"""Scenes about server-side apply.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import config_map, container, manifest, pod, service
from tests.real.differential.script import (
    APPLY,
    APPS,
    CONFIG_MAPS,
    CORE,
    PODS,
    Scene,
    get,
    patch,
    post,
    scene,
)

DEPLOYMENT: Final = f"{APPS}/deployments"


def _apply(name: str, **fields: Any) -> bytes:
    return json.dumps(config_map(name=name, **fields)).encode()


def apply_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield from _config_maps()
    yield from _parts()
    yield from _deployments()


def _config_maps() -> Iterator[Scene]:
    one = f"{CONFIG_MAPS}/a"

    def apply(body: Any, manager: str = "ann", more: str = "", **options: Any) -> Any:
        return patch(f"{one}?fieldManager={manager}{more}", body, APPLY, **options)

    yield scene(
        "server-side apply",
        apply(_apply("a", data={"x": "1", "y": "1"}, metadata={"labels": {"a": "b"}})),
        apply(_apply("a", data={"x": "1", "y": "1"}, metadata={"labels": {"a": "b"}})),
        apply(_apply("a", data={"x": "2"})),
        apply(_apply("a", data={"x": "3", "z": "1"}), "bob"),
        apply(_apply("a", data={"x": "3", "z": "1"}), "bob", "&force=true"),
        apply(_apply("a", data={"x": "2"})),
        apply(_apply("a", data={"x": "3"})),
        patch(one, {"data": {"x": "4"}}),
        apply(_apply("a", data={"x": "5"})),
        apply(_apply("a"), "bob"),
        apply(_apply("a", data={"x": "5"}), "ann", "&force=true&dryRun=All"),
        get(one),
    )
    yield scene(
        "server-side apply that cannot be",
        patch(one, _apply("a"), APPLY),
        apply(_apply("b")),
        apply(b"data: {a: b}"),
        apply(b"apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n"),
        apply(b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 5}\n"),
        apply(b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nodd: 5\n"),
        apply(b"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"),
        apply(b"apiVersion: v2\nkind: ConfigMap\nmetadata: {name: a}\n"),
        apply(b"nonsense: ["),
        apply(b"[]"),
        apply(b""),
        apply(_apply("a", metadata={"managedFields": [{"manager": "x"}]})),
        apply(_apply("a", metadata={"resourceVersion": "1"})),
        apply(_apply("a"), "ann", "&fieldValidation=Nonsense"),
        apply(_apply("a", odd=1), "ann", "&fieldValidation=Strict"),
    )


def _parts() -> Iterator[Scene]:
    yield scene(
        "server-side apply of parts",
        post(PODS, pod()),
        patch(
            f"{PODS}/x/status?fieldManager=ann",
            b"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nstatus: {phase: Running, message: m}",
            APPLY,
        ),
        patch(
            f"{PODS}/x/status?fieldManager=ann&force=true",
            b"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nstatus: {phase: Running, message: m}",
            APPLY,
        ),
        patch(
            f"{PODS}/x?fieldManager=ann",
            b"apiVersion: v1\nkind: Pod\nmetadata: {name: x, labels: {a: b}}",
            APPLY,
        ),
        patch(
            f"{PODS}/none/status?fieldManager=ann",
            b"apiVersion: v1\nkind: Pod\nmetadata: {name: none}\nstatus: {phase: Running}",
            APPLY,
        ),
        post(f"{CORE}/services", service(ports=[{"name": "a", "port": 80}])),
        patch(
            f"{CORE}/services/x?fieldManager=ann",
            b"apiVersion: v1\nkind: Service\nmetadata: {name: x}\n"
            b"spec: {ports: [{name: b, port: 443, protocol: TCP}]}",
            APPLY,
        ),
        patch(
            f"{CORE}/services/x?fieldManager=ann",
            b"apiVersion: v1\nkind: Service\nmetadata: {name: x}\n"
            b"spec: {ports: [{name: b, port: 443}, {name: c, port: 443}]}",
            APPLY,
        ),
        patch(
            f"{CORE}/secrets/s?fieldManager=ann",
            b"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: b}",
            APPLY,
        ),
        patch(
            f"{CORE}/secrets/s?fieldManager=ann",
            b"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {c: ZA==}",
            APPLY,
        ),
        get(f"{CORE}/secrets/s"),
    )


def _deployments() -> Iterator[Scene]:
    deployment = f"{DEPLOYMENT}/d?fieldManager="

    def applied(manager: str, spec: Any, more: str = "") -> Any:
        body = json.dumps(manifest("apps/v1", "Deployment", name="d", spec=spec)).encode()
        return patch(f"{deployment}{manager}{more}", body, APPLY)

    def with_containers(*items: Any) -> Any:
        inner = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": list(items)}}
        return {"selector": {"matchLabels": {"app": "web"}}, "template": inner}

    yield scene(
        "scale what somebody applied",
        applied("ann", with_containers(container()) | {"replicas": 1}),
        patch(f"{DEPLOYMENT}/d/scale?fieldManager=bob", {"spec": {"replicas": 3}}),
        get(f"{DEPLOYMENT}/d"),
        applied("ann", with_containers(container()) | {"replicas": 2}),
        applied("ann", with_containers(container()) | {"replicas": 2}, "&force=true"),
        patch(f"{DEPLOYMENT}/d/scale?fieldManager=bob", {"spec": {"replicas": 2}}),
        get(f"{DEPLOYMENT}/d"),
    )
    yield scene(
        "server-side apply of a deployment",
        applied("ann", with_containers(container(), container(name="side"))),
        applied("bob", {"replicas": 3}),
        applied("cat", {"replicas": 4}),
        applied("ann", with_containers(container(image="other"))),
        applied(
            "ann",
            with_containers(container(env=[{"name": "A", "value": "1"}]), container(name="c")),
        ),
        applied("bob", {}),
        patch(f"{DEPLOYMENT}/d/scale", {"spec": {"replicas": 2}}),
        patch(f"{DEPLOYMENT}/d/status", {"status": {"replicas": 2}}),
        get(f"{DEPLOYMENT}/d"),
    )
