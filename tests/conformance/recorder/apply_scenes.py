"""Scenes of server-side apply.

Owns the script only; what a scene is says scenes.py.
"""

from __future__ import annotations

from typing import Final

from tests.conformance.recorder.apply_builders import just_containers, labels, scene
from tests.conformance.recorder.apply_list_scenes import LISTS
from tests.conformance.recorder.scenes import (
    APPLY,
    NAME,
    Request,
    apply,
    config_map,
    create,
    merge,
    pod,
    replace,
    whole,
    widget,
)

RED: Final = config_map(data={"color": "red"})
TWO_KEYS: Final = config_map(data={"color": "red", "size": "9"})
BLUE: Final = config_map(data={"color": "blue"})
SIZE: Final = config_map(data={"size": "9"})


# What `kubectl apply` without `--server-side` writes.
LAST_APPLIED: Final = (
    '{"apiVersion":"v1","data":{"color":"red"},"kind":"ConfigMap",'
    '"metadata":{"annotations":{},"name":"@name@"}}\n'
)
BY_THE_CLIENT: Final = create(
    config_map(
        metadata={
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": LAST_APPLIED}
        },
        data={"color": "red"},
    ),
    "kubectl-client-side-apply",
)

CONFIG_MAPS: Final = (
    scene("creates", apply(TWO_KEYS)),
    scene("creates with labels", apply(config_map(metadata={"labels": {"a": "1"}}, data={}))),
    scene("the same again", apply(TWO_KEYS), apply(TWO_KEYS)),
    scene("a new value", apply(TWO_KEYS), apply(config_map(data={"color": "blue", "size": "9"}))),
    scene("a key given up is removed", apply(TWO_KEYS), apply(RED)),
    scene("everything given up is removed", apply(TWO_KEYS), apply(config_map())),
    scene(
        "a key given up that another applied stays",
        apply(TWO_KEYS),
        apply(SIZE, "other"),
        apply(RED),
    ),
    scene(
        "a key given up that another updated stays",
        apply(TWO_KEYS),
        merge({"data": {"size": "10"}}),
        apply(RED),
    ),
    scene("the same value is shared", apply(RED), apply(RED, "other")),
    scene("another value conflicts", apply(RED), apply(BLUE, "other")),
    scene("another value by force", apply(RED), apply(BLUE, "other", force=True)),
    scene("another value without force said", apply(RED), apply(BLUE, "other", force=False)),
    scene("an updater conflicts", create(RED), apply(BLUE)),
    scene("an updater is forced", create(RED), apply(BLUE, force=True)),
    scene("an updater's value is shared", create(RED), apply(RED)),
    scene(
        "two conflicts with one",
        apply(TWO_KEYS),
        apply(config_map(data={"color": "b", "size": "1"}), "other"),
    ),
    scene(
        "conflicts with two",
        apply(RED),
        apply(SIZE, "second"),
        apply(config_map(data={"color": "b", "size": "1"}), "third"),
    ),
    scene("a conflict with sharers", apply(RED), apply(RED, "second"), apply(BLUE, "third")),
    scene(
        "a conflict with an updater and an applier",
        create(RED),
        apply(RED, "second"),
        apply(BLUE, "third"),
    ),
    scene(
        "the last sharer gives up",
        apply(RED),
        apply(RED, "second"),
        apply(config_map(), "second"),
        apply(config_map()),
    ),
    scene(
        "the value of an updater stays when given up", create(RED), apply(RED), apply(config_map())
    ),
    scene("labels of two", apply(labels(a="1")), apply(labels(b="2"), "other")),
    scene(
        "labels of two, one gives up",
        apply(labels(a="1")),
        apply(labels(b="2"), "other"),
        apply(config_map()),
    ),
    scene(
        "an object with all its managed fields forgotten",
        create(RED),
        merge({"metadata": {"managedFields": [{}]}}),
        apply(config_map(data={"new": "1"})),
    ),
    scene(
        "a value of an object without managed fields",
        create(RED),
        merge({"metadata": {"managedFields": [{}]}}),
        apply(BLUE),
    ),
    scene(
        "finalizers are a set",
        apply(config_map(metadata={"finalizers": ["ex.test/a"]})),
        apply(config_map(metadata={"finalizers": ["ex.test/b"]}), "other"),
    ),
    scene(
        "a finalizer given up",
        apply(config_map(metadata={"finalizers": ["ex.test/a", "ex.test/b"]})),
        apply(config_map(metadata={"finalizers": ["ex.test/b"]})),
    ),
    scene(
        "owners by uid",
        apply(
            config_map(
                metadata={
                    "ownerReferences": [
                        {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u-1"}
                    ]
                }
            )
        ),
        apply(
            config_map(
                metadata={
                    "ownerReferences": [
                        {"apiVersion": "v1", "kind": "Pod", "name": "q", "uid": "u-2"}
                    ]
                }
            ),
            "other",
        ),
    ),
    scene(
        "kubectl takes over what it applied on the client's side",
        BY_THE_CLIENT,
        apply(BLUE, "kubectl"),
    ),
    scene(
        "kubectl does not take over what another changed",
        BY_THE_CLIENT,
        merge({"data": {"color": "green"}}),
        apply(BLUE, "kubectl"),
    ),
    scene("an update takes an applied value", apply(RED), merge({"data": {"color": "blue"}})),
    scene("an update with the applied value", apply(RED), merge({"data": {"color": "red"}})),
    scene("an update removes an applied value", apply(TWO_KEYS), merge({"data": {"color": None}})),
    scene("a whole update takes everything", apply(TWO_KEYS), replace(config_map(data={"a": "1"}))),
    scene("a null value", apply(TWO_KEYS), apply(config_map(data={"color": None, "size": "9"}))),
    scene("a null map", apply(TWO_KEYS), apply(config_map(data=None))),
    scene("an empty map of data", apply(TWO_KEYS), apply(config_map(data={}))),
    scene("immutable said", apply(config_map(data={"a": "1"}, immutable=False))),
)

SUBRESOURCES: Final = (
    scene(
        "the status",
        create(pod()),
        apply(
            whole("v1", "Pod", {"status": {"phase": "Running"}}), "kubelet", subresource="status"
        ),
        kind="Pod",
    ),
    scene(
        "the status of another",
        create(pod()),
        apply(whole("v1", "Pod", {"status": {"message": "a"}}), "kubelet", subresource="status"),
        apply(whole("v1", "Pod", {"status": {"message": "b"}}), "other", subresource="status"),
        kind="Pod",
    ),
    scene(
        "the status after an update of it",
        create(pod()),
        merge({"status": {"message": "a"}}, "kubelet", subresource="status"),
        apply(whole("v1", "Pod", {"status": {"message": "b"}}), "other", subresource="status"),
        kind="Pod",
    ),
    scene(
        "status by the way of the whole",
        create(pod()),
        apply(whole("v1", "Pod", {"status": {"message": "a"}})),
        kind="Pod",
    ),
    scene(
        "labels by the way of the status",
        create(pod()),
        apply(
            whole("v1", "Pod", {"metadata": {"labels": {"a": "1"}}, "status": {"message": "a"}}),
            subresource="status",
        ),
        kind="Pod",
    ),
    scene(
        "a condition by its type",
        create(pod()),
        apply(
            whole("v1", "Pod", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
            "one",
            subresource="status",
        ),
        apply(
            whole("v1", "Pod", {"status": {"conditions": [{"type": "Warm", "status": "True"}]}}),
            "two",
            subresource="status",
        ),
        kind="Pod",
    ),
)

FULL_WIDGET: Final = widget(
    spec={
        "size": 1,
        "tags": ["a", "b"],
        "steps": ["x"],
        "parts": [{"id": 1, "note": "n"}],
        "whole": {"a": "1"},
        "loose": {"a": {"b": [1]}, "c": 1},
    }
)
WIDGETS: Final = (
    scene("creates a custom resource", apply(FULL_WIDGET), kind="Widget"),
    scene(
        "a set of two",
        apply(FULL_WIDGET),
        apply(widget(spec={"tags": ["c"]}), "other"),
        kind="Widget",
    ),
    scene("a set given up", apply(FULL_WIDGET), apply(widget(spec={"size": 1})), kind="Widget"),
    scene("a set with a repeated item", apply(widget(spec={"tags": ["a", "a"]})), kind="Widget"),
    scene(
        "a plain list is atomic",
        apply(FULL_WIDGET),
        apply(widget(spec={"steps": ["y"]}), "other"),
        kind="Widget",
    ),
    scene(
        "an atomic map",
        apply(FULL_WIDGET),
        apply(widget(spec={"whole": {"b": "2"}}), "other"),
        kind="Widget",
    ),
    scene(
        "a loose map is granular",
        apply(FULL_WIDGET),
        apply(widget(spec={"loose": {"a": {"d": 1}}}), "other"),
        kind="Widget",
    ),
    scene(
        "a conflict in a loose map",
        apply(FULL_WIDGET),
        apply(widget(spec={"loose": {"a": {"b": [2]}}}), "other"),
        kind="Widget",
    ),
    scene(
        "a part by its number",
        apply(FULL_WIDGET),
        apply(widget(spec={"parts": [{"id": 2}]}), "other"),
        kind="Widget",
    ),
    scene(
        "a conflict in a part",
        apply(FULL_WIDGET),
        apply(widget(spec={"parts": [{"id": 1, "note": "m"}]}), "other"),
        kind="Widget",
    ),
    scene(
        "conflicts in a set and a part by an updater",
        apply(FULL_WIDGET),
        merge({"spec": {"tags": ["z"], "parts": [{"id": 1, "note": "q"}]}}),
        kind="Widget",
    ),
    scene(
        "an empty map where there was more",
        apply(FULL_WIDGET),
        apply(widget(spec={})),
        kind="Widget",
    ),
    scene(
        "an empty loose map where there was more",
        apply(FULL_WIDGET),
        apply(widget(spec={"size": 1, "loose": {}, "tags": [], "parts": []})),
        kind="Widget",
    ),
    scene(
        "an empty loose map where there was more of another",
        apply(FULL_WIDGET),
        apply(widget(spec={"loose": {"z": 1}, "tags": ["z"]}), "other"),
        apply(widget(spec={"size": 1, "loose": {"a": {}}, "tags": []})),
        kind="Widget",
    ),
    scene("an unknown field of a custom resource", apply(widget(spec={"none": 1})), kind="Widget"),
    scene(
        "a custom resource's status",
        apply(FULL_WIDGET),
        apply(
            whole("example.test/v1", "Widget", {"status": {"phase": "up"}}),
            "other",
            subresource="status",
        ),
        kind="Widget",
    ),
)

REFUSALS: Final = (
    scene(
        "without a kind", apply(TWO_KEYS), apply({"apiVersion": "v1", "metadata": {"name": NAME}})
    ),
    scene(
        "without a version",
        apply(TWO_KEYS),
        apply({"kind": "ConfigMap", "metadata": {"name": NAME}}),
    ),
    scene("without either", apply(TWO_KEYS), apply({"metadata": {"name": NAME}})),
    scene(
        "of another kind",
        apply(TWO_KEYS),
        apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": NAME}}),
    ),
    scene(
        "of another group",
        apply(TWO_KEYS),
        apply({"apiVersion": "apps/v1", "kind": "ConfigMap", "metadata": {"name": NAME}}),
    ),
    scene(
        "with a version in three parts",
        apply(TWO_KEYS),
        apply({"apiVersion": "a/b/c", "kind": "ConfigMap", "metadata": {"name": NAME}}),
    ),
    scene(
        "with managed fields",
        apply(TWO_KEYS),
        apply(config_map(metadata={"managedFields": [{"manager": "me"}]})),
    ),
    scene(
        "with managed fields emptied",
        apply(TWO_KEYS),
        apply(config_map(metadata={"managedFields": []})),
    ),
    scene(
        "with managed fields null",
        apply(TWO_KEYS),
        apply(config_map(metadata={"managedFields": None}, data={"a": "1"})),
    ),
    scene("an unknown field", apply(TWO_KEYS), apply(config_map(colour="red"))),
    scene("a number for a text", apply(TWO_KEYS), apply(config_map(data={"size": 9}))),
    scene("a text for a map", apply(TWO_KEYS), apply(config_map(data="size"))),
    scene(
        "several wrong types",
        apply(pod()),
        apply(
            just_containers(
                {
                    "name": "web",
                    "ports": [{"containerPort": "80"}],
                    "tty": "yes",
                    "image": ["a"],
                    "env": {"A": "1"},
                }
            )
        ),
        kind="Pod",
    ),
    scene(
        "a map for a text", apply(TWO_KEYS), apply(config_map(data={"size": {"a": "b", "n": 1}}))
    ),
    scene("a boolean for a text", apply(TWO_KEYS), apply(config_map(data={"size": True}))),
    scene("null in a list by key", apply(pod()), apply(just_containers(None)), kind="Pod"),
    scene("a text in a list by key", apply(pod()), apply(just_containers("web")), kind="Pod"),
    scene("null", apply(TWO_KEYS), Request(APPLY, "null", "applier")),
    scene("nothing", apply(TWO_KEYS), Request(APPLY, "", "applier")),
    scene("a list", apply(TWO_KEYS), Request(APPLY, "[]", "applier")),
    scene("a text", apply(TWO_KEYS), Request(APPLY, "hello", "applier")),
    scene("broken YAML", apply(TWO_KEYS), Request(APPLY, "data: {a: b", "applier")),
    scene("YAML with a tab", apply(TWO_KEYS), Request(APPLY, "data:\n\tcolor: red\n", "applier")),
    scene(
        "YAML with a key in the wrong place",
        apply(TWO_KEYS),
        Request(APPLY, "a: b: c\n", "applier"),
    ),
    scene("YAML that never closes a text", apply(TWO_KEYS), Request(APPLY, 'a: "b\n', "applier")),
    scene(
        "a resource version that is another",
        apply(TWO_KEYS),
        apply(config_map(metadata={"resourceVersion": "1"}, data={"color": "blue"})),
    ),
    scene(
        "YAML with comments and odd words",
        apply(
            f"apiVersion: v1\nkind: ConfigMap # a comment\nmetadata:\n  name: {NAME}\n"
            "data:\n  when: '2026-01-01'\n  yes: 'no'\n  1: one\n  text: |\n    a\n    b\n"
        ),
    ),
)

SCENES: Final = (*CONFIG_MAPS, *LISTS, *SUBRESOURCES, *WIDGETS, *REFUSALS)
