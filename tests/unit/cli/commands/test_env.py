"""``reflet env``: what a container gets, for people and for programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
import pytest

from reflet.cli.main import run
from tests.unit.cli.shop_files import SHOP, OnFiles, config_map, pod

MISSING_KEY = pod(
    "env: [{name: COLOUR, valueFrom: {configMapKeyRef: {name: settings, key: colour}}}]",
    config_map("{color: red}"),
)


def test_a_table_shows_names_values_and_sources(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "env", "deploy/web")

    assert shown.code == 0
    assert shown.output == (
        "NAME          VALUE             FROM\n"
        "LOG_LEVEL     debug             value\n"
        "SHOP          main              configmap/settings SHOP\n"
        "motd          welcome           configmap/settings motd\n"
        "DB_PASSWORD   ‹secret 6 B›      secret/database PASSWORD\n"
        "DB_USER       ‹secret 4 B›      secret/database USER\n"
        "DB_URL        ‹secret 30 B›     value, expanded\n"
        "POD_IP        ‹not known yet›   status.podIP\n"
    )
    assert shown.errors == (
        'Defaulted container "web" out of: web, sidecar, setup (init)\n'
        "warning: container web, variable POD_IP: status.podIP is not known: the pod has no "
        "address yet\n"
    )


LONG = pod(f"env: [{{name: LONG, value: {'x' * 200}}}]")


def test_a_long_value_is_cut_so_that_the_table_fits_the_terminal(
    on_files: OnFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")

    shown = on_files(LONG, "env")

    lines = click.unstyle(shown.output).splitlines()
    assert [len(line) for line in lines] == [80 - len("value") + 4, 80]
    assert lines[1].endswith("…   value")
    assert "x" * 200 in on_files(LONG, "env", "-o", "wide").output


def test_nothing_is_cut_in_a_pipe(on_files: OnFiles) -> None:
    assert on_files(LONG, "env", "--no-headers").output.split() == ["LONG", "x" * 200, "value"]


def test_values_of_secrets_are_revealed_when_asked_for(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "env", "--reveal")

    assert "postgres://shop:geheim@db/main" in shown.output


def test_json_tells_everything_and_masks_secrets(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "env", "-o", "json")

    document = json.loads(shown.output)
    variables = {each["name"]: each for each in document["variables"]}
    assert {name: document[name] for name in ("apiVersion", "kind", "namespace", "pod")} == {
        "apiVersion": "reflet.dev/v1alpha1",
        "kind": "Environment",
        "namespace": "shop",
        "pod": None,
    }
    assert (document["container"], document["error"], document["workload"]) == (
        "web",
        None,
        {"kind": "Deployment", "name": "web"},
    )
    assert variables["LOG_LEVEL"] == {
        "name": "LOG_LEVEL",
        "value": "debug",
        "source": {"kind": "Value", "template": "debug"},
        "shadows": [
            {
                "value": "info",
                "source": {
                    "kind": "ConfigMap",
                    "namespace": "shop",
                    "name": "settings",
                    "key": "LOG_LEVEL",
                    "whole": True,
                },
            }
        ],
    }
    assert variables["DB_PASSWORD"]["value"] == "‹secret 6 B›"
    assert variables["POD_IP"]["value"] is None
    assert variables["POD_IP"]["known"] is False
    assert "geheim" not in shown.output


def test_yaml_is_the_same_document(on_files: OnFiles) -> None:
    shown = on_files(pod("env: [{name: A, value: b}]"), "env", "-o", "yaml")

    assert "kind: Environment\n" in shown.output
    assert "- name: A\n" in shown.output


def test_bytes_that_are_no_text_are_given_as_base64(on_files: OnFiles) -> None:
    secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {k: Yf8=}\n"
    text = pod("env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]", secret)

    shown = on_files(text, "env", "-o", "json", "--reveal")

    (variable,) = json.loads(shown.output)["variables"]
    assert (variable["value"], variable["base64"]) == ("a\ufffd", "Yf8=")


def test_what_the_kubelet_would_not_start_ends_with_one(on_files: OnFiles) -> None:
    shown = on_files(MISSING_KEY, "env")

    assert shown.code == 1
    assert shown.errors == (
        "error: container web, variable COLOUR: ConfigMap default/settings has no key colour; "
        "it has color\n"
        "  kubelet: couldn't find key colour in ConfigMap default/settings\n"
        "  fix: did you mean color? Otherwise add key colour to ConfigMap settings\n"
        "error: container web would not start\n"
    )


def test_json_of_what_would_not_start_has_the_error_and_the_problems(on_files: OnFiles) -> None:
    shown = on_files(MISSING_KEY, "env", "-o", "json")

    document = json.loads(shown.output)
    assert (shown.code, document["error"]) == (
        1,
        "couldn't find key colour in ConfigMap default/settings",
    )
    assert document["problems"] == [
        {
            "type": "MissingKey",
            "message": "ConfigMap default/settings has no key colour; it has color",
            "place": {
                "path": "spec.containers[0].env[0].valueFrom.configMapKeyRef",
                "container": "web",
                "variable": "COLOUR",
            },
            "blocking": True,
            "kubelet": "couldn't find key colour in ConfigMap default/settings",
            "fix": "did you mean color? Otherwise add key colour to ConfigMap settings",
        }
    ]


@pytest.mark.parametrize("form", ["dotenv", "sh", "docker"])
def test_no_program_is_given_half_an_environment(on_files: OnFiles, form: str) -> None:
    shown = on_files(MISSING_KEY, "env", "-o", form)

    assert (shown.code, shown.output) == (1, "")


def test_programs_get_no_masks_for_values(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "env", "-o", "sh")

    assert shown.output == (
        "export LOG_LEVEL='debug'\n"
        "export SHOP='main'\n"
        "export motd='welcome'\n"
        "# DB_PASSWORD: left out, its value is secret: use --reveal\n"
        "# DB_USER: left out, its value is secret: use --reveal\n"
        "# DB_URL: left out, its value is secret: use --reveal\n"
        "# POD_IP: left out, its value is known only in a running pod\n"
    )


def test_a_container_may_be_chosen(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "env", "-c", "setup")

    assert (shown.code, shown.output, shown.errors) == (
        0,
        "",
        "container setup has no variables\n",
    )


def test_an_unknown_container_is_answered_with_the_names(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "env", "-c", "wbe")

    assert (shown.code, shown.output) == (2, "")
    assert shown.errors == (
        "error: deployment/web has no container 'wbe'; it has setup, web, sidecar\n"
    )


def test_what_the_server_would_refuse_is_reported_and_is_not_there(on_files: OnFiles) -> None:
    text = pod("envFrom: [{configMapRef: {name: settings, optional: true}}]")

    shown = on_files(f"{text}{config_map('{A: b}')}dta: {{}}\n", "env", "-o", "json")

    document = json.loads(shown.output)
    assert document["variables"] == []
    (refused,) = [each for each in document["problems"] if each["type"] == "RefusedObject"]
    assert refused["place"] == {"path": f"{on_files.path}:9"}
    assert 'strict decoding error: unknown field "dta"' in refused["message"]


def test_a_pod_that_the_server_would_refuse_ends_with_its_words(on_files: OnFiles) -> None:
    shown = on_files(pod("env: [{name: ''}]"), "env")

    assert (shown.code, shown.output) == (1, "")
    assert shown.errors == (
        f'error: {on_files.path}:1: the API server would refuse it: Pod "web" is invalid: '
        "spec.containers[0].env[0].name: Required value\n"
    )


def test_names_that_an_old_kubelet_skipped_may_be_skipped(on_files: OnFiles) -> None:
    text = pod("envFrom: [{configMapRef: {name: settings}}]", config_map("{1a: b, c: d}"))

    shown = on_files(text, "env", "--skip-invalid-names", "-o", "dotenv")

    assert shown.output == "c=d\n"
    assert "were skipped since they are considered invalid" in shown.errors


def test_services_of_the_files_are_announced(on_files: OnFiles) -> None:
    services = (
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: kubernetes}\n"
        "spec: {clusterIP: 10.96.0.1, ports: [{port: 443}]}\n"
    )

    shown = on_files(
        pod("", services).replace("Links: false", "Links: true"), "env", "-o", "dotenv"
    )

    assert "KUBERNETES_PORT_443_TCP=tcp://10.96.0.1:443\n" in shown.output


SERVICE = (
    "---\napiVersion: v1\nkind: Service\nmetadata: {name: db}\n"
    "spec: {clusterIP: 10.96.0.7, ports: [{port: 5432}]}\n"
)
LINKED = pod("env: [{name: A, value: b}]", SERVICE).replace("Links: false", "Links: true")


def test_variables_of_services_are_one_row_unless_they_are_asked_for(on_files: OnFiles) -> None:
    assert on_files(LINKED, "env").output == (
        "NAME          VALUE          FROM\n"
        "A             b              value\n"
        "7 variables   of 1 service   (see --services)\n"
    )
    listed = on_files(LINKED, "env", "--services").output
    assert len(listed.splitlines()) == 9
    assert "DB_SERVICE_HOST" in listed


@pytest.mark.parametrize("form", ["json", "yaml", "dotenv", "sh", "docker"])
def test_programs_get_the_variables_of_services_always(on_files: OnFiles, form: str) -> None:
    assert "DB_SERVICE_HOST" in on_files(LINKED, "env", "-o", form).output


def test_a_few_remarks_are_told_and_how_to_see_the_others(on_files: OnFiles) -> None:
    refs = ", ".join(
        f"{{name: V{number}, valueFrom: {{configMapKeyRef: {{name: settings, key: k{number}, "
        "optional: true}}}"
        for number in range(40)
    )
    text = pod(f"env: [{refs}]", config_map("{a: b}"))

    lines = on_files(text, "env").errors.splitlines()

    assert len(lines) <= 7
    assert lines[-1].endswith(" more remarks: -v shows them all")
    assert len(on_files(text, "env", "-v").errors.splitlines()) >= 40
    assert len(json.loads(on_files(text, "env", "-o", "json").output)["problems"]) == 40


@pytest.mark.parametrize("form", ["sh", "dotenv", "docker"])
def test_a_terminal_is_safe_from_values_and_a_pipe_gets_them_exactly(
    on_files: OnFiles, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = pod('env: [{name: A, value: "x\\x9b31m\\u202e"}]')
    assert "\x9b31m\u202e" in on_files(text, "env", "-o", form).output

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    shown = on_files(text, "env", "-o", form).output

    assert "x\\x9b31m\\u202e" in shown
    assert not set("\x9b\u202e") & set(shown)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "{path}:1: did not find expected node content"),
        (
            pod() + "---\n" + pod().replace("web}", "b}", 1),
            "the files hold several pods: pod/web, pod/b; say which one",
        ),
    ],
)
def test_bad_input_is_one_clear_line(on_files: OnFiles, text: str, message: str) -> None:
    shown = on_files(text, "env")

    assert (shown.code, shown.output) == (2, "")
    assert shown.errors == f"error: {message.format(path=on_files.path)}\n"


def test_a_pod_must_be_named_when_no_file_is(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["reflet", "env"])

    assert code == 2
    assert "name the pod, as in: pod/NAME, deploy/NAME, or -f FILE" in capsys.readouterr().err


def test_a_folder_is_read_and_files_may_be_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "pod.yaml").write_text(pod("envFrom: [{configMapRef: {name: settings}}]"))
    (tmp_path / "more.yaml").write_text(config_map("{A: b}"))

    code = run(
        ["reflet", "env", "-f", str(folder), "-f", str(tmp_path / "more.yaml"), "-o", "dotenv"]
    )

    assert (code, capsys.readouterr().out) == (0, "A=b\n")


def test_what_no_process_could_be_given_is_one_error(on_files: OnFiles) -> None:
    doubling = ", ".join(
        f"{{name: A{index + 1}, value: $(A{index})$(A{index})}}" for index in range(40)
    )

    shown = on_files(pod(f"env: [{{name: A0, value: {'x' * 64}}}, {doubling}]"), "env")

    assert shown.code == 1
    assert "variables and arguments have 838" in shown.errors
    assert shown.errors.splitlines()[-1] == "error: container web would not start"
