"""Scenes of JSON patches, merge patches, and whole writes.

Owns the script only; what a scene is says scenes.py.
"""

from __future__ import annotations

from typing import Any, Final

from tests.conformance.recorder.scenes import (
    JSON,
    MERGE,
    Request,
    Scene,
    config_map,
    container,
    create,
    deployment,
    json_patch,
    merge,
    pod,
    port,
    replace,
    service,
    widget,
)

SETTINGS: Final = create(
    config_map(
        metadata={"labels": {"app": "shop"}},
        data={"color": "red", "size": "9", "a.b": "dots"},
    )
)
ANNOTATED: Final = create(config_map(metadata={"annotations": {"x/y": "slash", "z": "plain"}}))
PORTS: Final = create(pod(container(ports=[port(1, name="a"), port(2, name="b")])))
TWO_FINALIZERS: Final = create(config_map(metadata={"finalizers": ["ex.test/a", "ex.test/b"]}))
FINALIZERS: Final = "/metadata/finalizers"


def operation(kind: str, path: str, *value: Any, source: str | None = None) -> dict[str, Any]:
    """One JSON patch operation."""
    whole: dict[str, Any] = {"op": kind, "path": path}
    if source is not None:
        whole["from"] = source
    if value:
        whole["value"] = value[0]
    return whole


def on_settings(name: str, *operations: Any) -> Scene:
    """A JSON patch of a ConfigMap with three keys."""
    return Scene(f"json: {name}", "ConfigMap", (SETTINGS,), json_patch(*operations))


def on_finalizers(name: str, *operations: Any) -> Scene:
    """A JSON patch of a list of two texts."""
    return Scene(f"json: {name}", "ConfigMap", (TWO_FINALIZERS,), json_patch(*operations))


JSON_SCENES: Final = (
    on_settings("add a key", operation("add", "/data/new", "1")),
    on_settings("add over a key", operation("add", "/data/color", "blue")),
    on_settings("add a map", operation("add", "/metadata/annotations", {"a": "b"})),
    on_settings("add below a path that is missing", operation("add", "/nowhere/new", "1")),
    on_settings("add below a text", operation("add", "/data/color/deep", "1")),
    on_settings("add at the root", operation("add", "", {})),
    on_settings("remove a key", operation("remove", "/data/color")),
    on_settings("remove a key that is missing", operation("remove", "/data/none")),
    on_settings("remove below a path that is missing", operation("remove", "/none/none")),
    on_settings("replace a key", operation("replace", "/data/color", "blue")),
    on_settings("replace a key that is missing", operation("replace", "/data/none", "new")),
    on_settings("replace below a path that is missing", operation("replace", "/a/b", "new")),
    on_settings("replace the whole by a text", operation("replace", "", "text")),
    on_settings("replace the whole by a list", operation("replace", "", [])),
    on_settings("move a key", operation("move", "/data/hue", source="/data/color")),
    on_settings("move what is missing", operation("move", "/data/hue", source="/data/none")),
    on_settings("move from a path that is missing", operation("move", "/data/h", source="/n/n")),
    on_settings("move to a path that is missing", operation("move", "/n/n", source="/data/size")),
    on_settings("move without from", operation("move", "/data/hue")),
    on_settings("copy a key", operation("copy", "/data/hue", source="/data/color")),
    on_settings("copy from a path that is missing", operation("copy", "/data/h", source="/n/n")),
    on_settings("copy to a path that is missing", operation("copy", "/n/n", source="/data/size")),
    on_settings("copy without from", operation("copy", "/data/hue")),
    on_settings(
        "test that holds",
        operation("test", "/data/color", "red"),
        operation("replace", "/data/color", "blue"),
    ),
    on_settings("test that fails", operation("test", "/data/color", "blue")),
    on_settings("test of a whole map", operation("test", "/metadata/labels", {"app": "shop"})),
    on_settings("test of what is missing against null", operation("test", "/data/none", None)),
    on_settings("test of what is missing", operation("test", "/data/none", "x")),
    on_settings("test below a path that is missing", operation("test", "/none/none", "x")),
    on_settings("test of a number against a text", operation("test", "/data/size", 9)),
    on_settings("test of the whole", operation("test", "", {})),
    on_settings(
        "a failing test undoes everything",
        operation("add", "/data/new", "1"),
        operation("test", "/data/new", "2"),
    ),
    on_settings("an unknown operation", operation("increment", "/data/size", 1)),
    on_settings("no operation", {"path": "/data/size", "value": "1"}),
    on_settings("no path", {"op": "add", "value": "1"}),
    on_settings("a path without a slash", operation("add", "metadata", "x")),
    on_settings("a key with dots", operation("replace", "/data/a.b", "1")),
    on_settings("nothing at all"),
    Scene(
        "json: a slash in a name",
        "ConfigMap",
        (ANNOTATED,),
        json_patch(operation("replace", "/metadata/annotations/x~1y", "1")),
    ),
    Scene(
        "json: a tilde in a name",
        "ConfigMap",
        (ANNOTATED,),
        json_patch(
            operation("add", "/metadata/annotations/p~0q", "1"),
            operation("test", "/metadata/annotations/p~q", "1"),
            operation("remove", "/metadata/annotations/p~0q"),
            operation("add", "/metadata/annotations/z~01", "tilde one"),
            operation("move", "/metadata/annotations/moved", source="/metadata/annotations/z~01"),
        ),
    ),
    on_finalizers("append with a dash", operation("add", f"{FINALIZERS}/-", "ex.test/c")),
    on_finalizers("insert at an index", operation("add", f"{FINALIZERS}/1", "ex.test/c")),
    on_finalizers("insert behind the last", operation("add", f"{FINALIZERS}/2", "ex.test/c")),
    on_finalizers("insert beyond the end", operation("add", f"{FINALIZERS}/3", "ex.test/c")),
    on_finalizers("insert counted from the end", operation("add", f"{FINALIZERS}/-1", "ex.test/c")),
    on_finalizers("insert before the beginning", operation("add", f"{FINALIZERS}/-4", "ex.test/c")),
    on_finalizers("insert at a word", operation("add", f"{FINALIZERS}/first", "ex.test/c")),
    on_finalizers("remove by index", operation("remove", f"{FINALIZERS}/0")),
    on_finalizers("remove counted from the end", operation("remove", f"{FINALIZERS}/-1")),
    on_finalizers("remove out of range", operation("remove", f"{FINALIZERS}/2")),
    on_finalizers("remove at a word", operation("remove", f"{FINALIZERS}/last")),
    on_finalizers("remove with a dash", operation("remove", f"{FINALIZERS}/-")),
    on_finalizers("replace by index", operation("replace", f"{FINALIZERS}/1", "ex.test/c")),
    on_finalizers("replace out of range", operation("replace", f"{FINALIZERS}/2", "ex.test/c")),
    on_finalizers("replace with a dash", operation("replace", f"{FINALIZERS}/-", "ex.test/c")),
    on_finalizers("test an item", operation("test", f"{FINALIZERS}/0", "ex.test/a")),
    on_finalizers("test out of range", operation("test", f"{FINALIZERS}/5", "ex.test/a")),
    on_finalizers("copy out of range", operation("copy", "/data", source=f"{FINALIZERS}/5")),
    on_finalizers("move out of range", operation("move", "/data", source=f"{FINALIZERS}/5")),
    on_finalizers("swap two items", operation("move", f"{FINALIZERS}/0", source=f"{FINALIZERS}/1")),
    on_finalizers(
        "an index too large for a number",
        operation("add", f"{FINALIZERS}/99999999999999999999", ""),
    ),
    Scene(
        "json: deep in a pod",
        "Pod",
        (PORTS,),
        json_patch(
            operation("test", "/spec/containers/0/ports/1/name", "b"),
            operation("replace", "/spec/containers/0/image", "web:2"),
            operation("add", "/metadata/labels", {"app": "shop"}),
            operation("copy", "/metadata/labels/tier", source="/metadata/labels/app"),
        ),
    ),
    on_settings(
        "a copy that is too large in the end",
        *(operation("copy", f"/data/copy{n}", source="/data") for n in range(30)),
    ),
    on_settings("too many operations", *({} for _ in range(10_001))),
    Scene("json: not JSON", "ConfigMap", (SETTINGS,), Request(JSON, "[{]")),
    Scene("json: half a body", "ConfigMap", (SETTINGS,), Request(JSON, '[{"op": "add",')),
    Scene("json: a map", "ConfigMap", (SETTINGS,), Request(JSON, '{"op": "add"}')),
    Scene("json: a text", "ConfigMap", (SETTINGS,), Request(JSON, '"add"')),
    Scene("json: null", "ConfigMap", (SETTINGS,), Request(JSON, "null")),
    Scene("json: operations that are texts", "ConfigMap", (SETTINGS,), Request(JSON, '["add"]')),
    Scene("json: a null operation", "ConfigMap", (SETTINGS,), Request(JSON, "[null]")),
    Scene(
        "json: a path that is a number",
        "ConfigMap",
        (SETTINGS,),
        Request(JSON, '[{"op":"add","path":1}]'),
    ),
    Scene(
        "json: an operation that is a number",
        "ConfigMap",
        (SETTINGS,),
        Request(JSON, '[{"op":1,"path":"/data"}]'),
    ),
)

MERGE_SCENES: Final = (
    Scene(
        "merge: add and replace",
        "ConfigMap",
        (SETTINGS,),
        merge({"data": {"color": "blue", "new": "1"}}),
    ),
    Scene("merge: null deletes a key", "ConfigMap", (SETTINGS,), merge({"data": {"color": None}})),
    Scene("merge: null deletes a map", "ConfigMap", (SETTINGS,), merge({"data": None})),
    Scene(
        "merge: null of what is missing", "ConfigMap", (SETTINGS,), merge({"data": {"none": None}})
    ),
    Scene(
        "merge: nulls inside something new",
        "ConfigMap",
        (SETTINGS,),
        merge({"metadata": {"annotations": {"a": "1", "b": None}}}),
    ),
    Scene("merge: an empty patch", "ConfigMap", (SETTINGS,), merge({})),
    Scene(
        "merge: a list replaces a list",
        "ConfigMap",
        (TWO_FINALIZERS,),
        merge({"metadata": {"finalizers": ["ex.test/b"]}}),
    ),
    Scene(
        "merge: all containers replaced",
        "Deployment",
        (create(deployment(container("web"), container("log"))),),
        merge({"spec": {"template": {"spec": {"containers": [container("new")]}}}}),
    ),
    Scene("merge: a list", "ConfigMap", (SETTINGS,), Request(MERGE, "[]")),
    Scene("merge: null", "ConfigMap", (SETTINGS,), Request(MERGE, "null")),
    Scene("merge: a text", "ConfigMap", (SETTINGS,), Request(MERGE, '"text"')),
    Scene("merge: not JSON", "ConfigMap", (SETTINGS,), Request(MERGE, "{data}")),
    Scene("merge: two documents", "ConfigMap", (SETTINGS,), Request(MERGE, "{} {}")),
    Scene(
        "merge: a comma too many", "ConfigMap", (SETTINGS,), Request(MERGE, '{"data": {"a": "1",}}')
    ),
    Scene(
        "merge: a number cut short", "ConfigMap", (SETTINGS,), Request(MERGE, '{"data": {"a": 1.}}')
    ),
    Scene(
        "merge: a word misspelt", "ConfigMap", (SETTINGS,), Request(MERGE, '{"data": {"a": trve}}')
    ),
    Scene(
        "merge: a line break in a text",
        "ConfigMap",
        (SETTINGS,),
        Request(MERGE, '{"data": {"a": "1\n"}}'),
    ),
    Scene(
        "merge: an unknown escape",
        "ConfigMap",
        (SETTINGS,),
        Request(MERGE, '{"data": {"a": "\\x"}}'),
    ),
    Scene(
        "merge: the status",
        "Pod",
        (PORTS,),
        merge({"status": {"phase": "Running", "message": "on its way"}}, subresource="status"),
    ),
    Scene(
        "merge: the status by the way of the whole",
        "Pod",
        (PORTS,),
        merge({"status": {"phase": "Running"}}),
    ),
    Scene(
        "merge: a custom resource",
        "Widget",
        (create(widget(spec={"size": 1, "tags": ["a"], "loose": {"x": {"y": 1}}})),),
        merge({"spec": {"size": 2, "loose": {"x": {"z": [1]}}}}),
    ),
    Scene(
        "merge: a custom resource's status",
        "Widget",
        (create(widget(spec={"size": 1})),),
        merge({"status": {"phase": "up"}}, subresource="status"),
    ),
    Scene(
        "merge: managed fields forgotten",
        "ConfigMap",
        (SETTINGS,),
        merge({"metadata": {"managedFields": [{}]}}),
    ),
    Scene(
        "merge: managed fields emptied",
        "ConfigMap",
        (SETTINGS,),
        merge({"metadata": {"managedFields": []}}),
    ),
)

WRITE_SCENES: Final = (
    Scene(
        "create: a config map",
        "ConfigMap",
        (),
        create(config_map(metadata={"labels": {"a": "1"}}, data={"k": "v"})),
    ),
    Scene(
        "create: a pod",
        "Pod",
        (),
        create(
            pod(
                container(ports=[port(80)], env=[{"name": "A", "value": "1"}]),
                metadata={"labels": {"a": "1"}},
            )
        ),
    ),
    Scene("create: a deployment", "Deployment", (), create(deployment())),
    Scene(
        "create: a service",
        "Service",
        (),
        create(service({"name": "http", "port": 80, "protocol": "TCP", "targetPort": 80})),
    ),
    Scene(
        "create: a custom resource",
        "Widget",
        (),
        create(
            widget(
                metadata={"labels": {"a": "1"}},
                spec={
                    "size": 1,
                    "tags": ["a", "b"],
                    "steps": ["x"],
                    "parts": [{"id": 1}],
                    "whole": {"a": "1"},
                    "loose": {"a": {"b": [1]}, "c": 1},
                },
            )
        ),
    ),
    Scene(
        "update: one key by somebody else",
        "ConfigMap",
        (SETTINGS,),
        replace(
            config_map(
                metadata={"labels": {"app": "shop"}},
                data={"color": "blue", "size": "9", "a.b": "dots"},
            )
        ),
    ),
    Scene(
        "update: a key is gone",
        "ConfigMap",
        (SETTINGS,),
        replace(
            config_map(metadata={"labels": {"app": "shop"}}, data={"size": "9", "a.b": "dots"})
        ),
    ),
    Scene("update: everything is gone", "ConfigMap", (SETTINGS,), replace(config_map())),
    Scene(
        "update: the same again by somebody else",
        "ConfigMap",
        (SETTINGS,),
        replace(
            config_map(
                metadata={"labels": {"app": "shop"}},
                data={"color": "red", "size": "9", "a.b": "dots"},
            )
        ),
    ),
    Scene(
        "update: the creator again",
        "ConfigMap",
        (SETTINGS,),
        replace(
            config_map(
                metadata={"labels": {"app": "shop"}},
                data={"color": "red", "size": "10", "a.b": "dots"},
            ),
            "creator",
        ),
    ),
    Scene(
        "update: the eleventh updater",
        "ConfigMap",
        (SETTINGS, *(merge({"data": {f"k{n}": "1"}}, f"writer-{n}") for n in range(10))),
        merge({"data": {"k10": "1"}}, "writer-10"),
    ),
)
