"""``reflet get``: what a person sees, and what a script gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.unit.cli.scripted_api import ScriptedApi, reflet, refusal, table

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
SECRETS = "/api/v1/namespaces/default/secrets"
NODES = "/api/v1/nodes"
LIMITED = "?limit=500"

SETTINGS: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "default"},
    "data": {"color": "red"},
    "unheardOf": [1],
}
PASSWORD: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "password", "namespace": "default"},
    "data": {"k": "aHVzaA=="},
}


def listing(*items: Mapping[str, Any]) -> Mapping[str, Any]:
    """A list as servers send it: its items do not say what they are."""
    bare = [
        {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}
        for item in items
    ]
    kind = f"{items[0]['kind']}List"
    return {"apiVersion": "v1", "kind": kind, "metadata": {}, "items": bare}


class Shown:
    """What one command printed, and its exit code."""

    def __init__(self, code: int, output: str, errors: str) -> None:
        self.code = code
        self.output = output
        self.lines = output.splitlines()
        self.errors = errors

    @property
    def error(self) -> str:
        """The one line of a failure; anything more is a failure of ours."""
        assert self.output == ""
        (line,) = self.errors.splitlines()
        return line


@pytest.fixture
def get(capsys: pytest.CaptureFixture[str]) -> Any:
    def get(api: ScriptedApi, *arguments: str) -> Shown:
        with api.serving():
            code = reflet(api, "get", *arguments)
        return Shown(code, *capsys.readouterr())

    return get


# Tables


def test_objects_are_rows_of_the_servers_table(get: Any) -> None:
    api = ScriptedApi(tables={CONFIG_MAPS: table(("a", 1), ("settings", 12), wide=("Note",))})

    shown = get(api, "cm")

    assert shown.code == 0
    assert shown.lines == ["NAME       DATA", "a          1", "settings   12"]
    assert api.targets == [CONFIG_MAPS + LIMITED]


def test_wide_output_has_more_columns(get: Any) -> None:
    api = ScriptedApi(tables={CONFIG_MAPS: table(("a", 1, "old"), wide=("Note",))})

    assert get(api, "cm", "-o", "wide").lines == ["NAME   DATA   NOTE", "a      1      old"]


def test_headings_can_be_left_out(get: Any) -> None:
    api = ScriptedApi(tables={CONFIG_MAPS: table(("a", 1))})

    assert get(api, "cm", "--no-headers").lines == ["a   1"]


def test_cells_of_any_type_are_one_line(get: Any) -> None:
    rows = [("a", None), ("b", True), ("c", "two\nlines\tand\r\nmore"), ("d", ""), ("e", 1.5)]
    api = ScriptedApi(tables={CONFIG_MAPS: table(*rows)})

    assert get(api, "cm").lines == [
        "NAME   DATA",
        "a      <none>",
        "b      true",
        "c      two lines and more",
        "d",
        "e      1.5",
    ]


def test_a_row_that_is_too_short_is_still_shown(get: Any) -> None:
    api = ScriptedApi(tables={CONFIG_MAPS: table(("a", 1), ("b",))})

    assert get(api, "cm").lines == ["NAME   DATA", "a      1", "b"]


def test_all_namespaces_have_a_column(get: Any) -> None:
    api = ScriptedApi(tables={"/api/v1/configmaps": table(("a", 1))})

    assert get(api, "cm", "-A").lines == ["NAMESPACE   NAME   DATA", "shop        a      1"]


def test_what_has_no_namespace_has_no_such_column(get: Any) -> None:
    api = ScriptedApi(tables={NODES: table(("a", 1))})

    assert get(api, "nodes", "-A").lines == ["NAME   DATA", "a      1"]


def test_several_types_are_tables_one_after_the_other(get: Any) -> None:
    api = ScriptedApi(tables={CONFIG_MAPS: table(("a", 1)), SECRETS: table(("b", 2))})

    assert get(api, "cm,secrets").lines == [
        "NAME          DATA",
        "configmap/a   1",
        "",
        "NAME       DATA",
        "secret/b   2",
    ]


def test_a_type_without_objects_is_passed_over(get: Any) -> None:
    api = ScriptedApi(tables={CONFIG_MAPS: table(), SECRETS: table(("b", 2))})

    assert get(api, "cm,secrets").lines == ["NAME       DATA", "secret/b   2"]


@pytest.mark.parametrize("arguments", [("cm", "b", "a"), ("cm/b", "cm/a")])
def test_named_objects_are_rows_of_one_table(get: Any, arguments: tuple[str, ...]) -> None:
    api = ScriptedApi(
        tables={f"{CONFIG_MAPS}/a": table(("a", 1)), f"{CONFIG_MAPS}/b": table(("b", 2))}
    )

    assert get(api, *arguments).lines == ["NAME   DATA", "b      2", "a      1"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("cm",), "No resources found in default namespace."),
        (("cm", "-n", "shop"), "No resources found in shop namespace."),
        (("cm", "-A"), "No resources found."),
        (("nodes",), "No resources found."),
        (("nodes,cm",), "No resources found in default namespace."),
    ],
)
def test_nothing_found_is_said_on_stderr(get: Any, arguments: tuple[str, ...], said: str) -> None:
    shop = CONFIG_MAPS.replace("default", "shop")
    paths = (CONFIG_MAPS, shop, NODES, "/api/v1/configmaps")
    api = ScriptedApi(tables=dict.fromkeys(paths, table()))

    shown = get(api, *arguments)

    assert (shown.code, shown.output, shown.errors) == (0, "", f"{said}\n")


def test_a_server_that_makes_no_tables_is_not_taken_for_an_empty_one(get: Any) -> None:
    shown = get(ScriptedApi(tables={CONFIG_MAPS: listing(SETTINGS)}), "cm")

    assert shown.code == 1
    assert shown.error == (
        "error: the server makes no table of configmaps: use -o name, json or yaml"
    )


# Documents


@pytest.mark.parametrize("arguments", [("cm/settings",), ("cm", "settings")])
def test_one_named_object_is_shown_whole(get: Any, arguments: tuple[str, ...]) -> None:
    api = ScriptedApi({f"{CONFIG_MAPS}/settings": SETTINGS})

    assert json.loads(get(api, *arguments, "-o", "json").output) == SETTINGS


def test_everything_else_is_a_list_of_objects_that_say_what_they_are(get: Any) -> None:
    api = ScriptedApi({CONFIG_MAPS: listing(SETTINGS), SECRETS: listing(PASSWORD)})

    shown = json.loads(get(api, "cm,secrets", "-o", "json", "--reveal").output)

    assert (shown["kind"], shown["apiVersion"]) == ("List", "v1")
    assert shown["items"] == [SETTINGS, PASSWORD]


def test_a_list_of_none_is_a_list(get: Any) -> None:
    api = ScriptedApi({CONFIG_MAPS: {"kind": "ConfigMapList", "apiVersion": "v1", "items": None}})

    shown = get(api, "cm", "-o", "json")

    assert json.loads(shown.output)["items"] == []
    assert shown.errors == ""


def test_yaml_is_for_people_and_programs(get: Any) -> None:
    api = ScriptedApi({f"{CONFIG_MAPS}/settings": SETTINGS})

    assert get(api, "cm/settings", "-o", "yaml").lines[:4] == [
        "apiVersion: v1",
        "data:",
        "  color: red",
        "kind: ConfigMap",
    ]


def test_names_can_be_given_to_the_next_command(get: Any) -> None:
    deployments = {
        "apiVersion": "apps/v1",
        "kind": "DeploymentList",
        "items": [{"metadata": {"name": "web"}}],
    }
    api = ScriptedApi(
        {
            CONFIG_MAPS: listing(SETTINGS),
            "/apis/apps/v1/namespaces/default/deployments": deployments,
        }
    )

    assert get(api, "cm,deploy", "-o", "name").lines == [
        "configmap/settings",
        "deployment.apps/web",
    ]


def test_names_have_no_power_over_a_terminal(get: Any) -> None:
    named = {**SETTINGS, "metadata": {"name": "a\x1b[31m\u009b"}}

    shown = get(ScriptedApi({CONFIG_MAPS: listing(named)}), "cm", "-o", "name")

    assert shown.lines == ["configmap/a\\x1b[31m\\x9b"]


@pytest.mark.parametrize("flag", [(), ("--show-managed-fields",)])
@pytest.mark.parametrize("target", ["cm", "cm/settings"])
def test_who_manages_a_field_is_for_those_who_ask(
    get: Any, target: str, flag: tuple[str, ...]
) -> None:
    metadata = {"name": "settings", "managedFields": [{"manager": "kubectl"}]}
    managed = {**SETTINGS, "metadata": metadata}
    api = ScriptedApi({CONFIG_MAPS: listing(managed), f"{CONFIG_MAPS}/settings": managed})

    document = json.loads(get(api, target, "-o", "json", *flag).output)

    (item,) = document.get("items", [document])
    assert ("managedFields" in item["metadata"]) == bool(flag)


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize("arguments", [("secret/password",), ("secrets",)])
def test_a_secret_is_masked_unless_asked_for(
    get: Any, form: str, arguments: tuple[str, ...]
) -> None:
    documents = {f"{SECRETS}/password": PASSWORD, SECRETS: listing(PASSWORD)}

    masked = get(ScriptedApi(documents), *arguments, "-o", form)
    revealed = get(ScriptedApi(documents), *arguments, "-o", form, "--reveal")

    assert "‹secret 4 B›" in masked.output
    assert "aHVzaA==" not in masked.output
    assert "aHVzaA==" in revealed.output


# What is asked for


def test_selectors_go_to_the_server(get: Any) -> None:
    api = ScriptedApi(tables={SECRETS: table(("a", 1))})

    get(api, "secrets", "-l", "app in (a,b)", "--field-selector", "type=Opaque")

    (target,) = map(urlsplit, api.targets)
    assert dict(parse_qsl(target.query)) == {
        "labelSelector": "app in (a,b)",
        "fieldSelector": "type=Opaque",
        "limit": "500",
    }


def test_a_custom_resource_is_looked_up_on_the_server(get: Any) -> None:
    widget = {
        "resource": "widgets",
        "responseKind": {"kind": "Widget"},
        "scope": "Namespaced",
        "shortNames": ["wd"],
    }
    group = {
        "metadata": {"name": "example.com"},
        "versions": [{"version": "v1", "resources": [widget]}],
    }
    api = ScriptedApi(
        {
            "/api": {"kind": "APIGroupDiscoveryList", "items": []},
            "/apis": {"kind": "APIGroupDiscoveryList", "items": [group]},
        },
        tables={"/apis/example.com/v1/namespaces/default/widgets": table(("a", 1))},
    )

    assert get(api, "wd").lines == ["NAME   DATA", "a      1"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "name the type of the objects"),
        (("cm/a", "-A"), "a name is of one namespace"),
        (("cm", "a", "-l", "x=y"), "a name needs no selector"),
        (("cm", "a", "--field-selector", "x=y"), "a name needs no selector"),
        (("cm", ""), "an empty name"),
        (("cm", "-o", "xml"), "'xml' is not one of"),
        (("cm", "-l", "a in (b"), "a in (b"),
        (("cm", "--field-selector", "a"), "a"),
        (("cm/..",), "'..' may not be a name of configmaps"),
    ],
)
def test_mistakes_are_told_before_anybody_is_asked(
    get: Any, arguments: tuple[str, ...], why: str
) -> None:
    api = ScriptedApi()

    shown = get(api, *arguments)

    assert shown.code == 2
    assert why in shown.error
    assert api.targets == []


# Failures


@pytest.mark.parametrize(
    ("document", "code", "line"),
    [
        (None, 1, f"error: {CONFIG_MAPS} not found"),
        (refusal(403, "Forbidden", "you may not"), 4, "error: you may not"),
        (
            refusal(401, "Unauthorized", "Unauthorized"),
            3,
            "error: Unauthorized (HTTP 401): check your credentials",
        ),
        (refusal(500, "InternalError", "two\nlines"), 1, "error: two lines"),
    ],
)
def test_a_refusal_is_one_line_and_an_exit_code(
    get: Any, document: Mapping[str, Any] | None, code: int, line: str
) -> None:
    shown = get(ScriptedApi(tables={} if document is None else {CONFIG_MAPS: document}), "cm")

    assert shown.code == code
    assert shown.error.startswith(line)


@pytest.mark.parametrize("form", ["table", "json", "name"])
def test_one_missing_object_fails_the_command(get: Any, form: str) -> None:
    api = ScriptedApi(
        {f"{CONFIG_MAPS}/settings": SETTINGS}, tables={f"{CONFIG_MAPS}/settings": table(("a", 1))}
    )

    shown = get(api, "cm", "settings", "none", "-o", form)

    assert shown.code == 1
    assert shown.error == f"error: {CONFIG_MAPS}/none not found"
