"""The files in deploy/: the image, and what is rendered from the chart and the kustomization."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import click
import pytest
import yaml

from reflet._version import __version__
from reflet.cli.main import reflet
from tests.chart import CHART, charted, needs_helm

DEPLOY: Final = Path(__file__).parents[2] / "deploy"
REQUIREMENTS: Final = DEPLOY.parent / "requirements"

needs_kubectl = pytest.mark.skipif(
    shutil.which("kubectl") is None and os.environ.get("CI") != "true",
    reason="kubectl is not installed",
)


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile, an instruction each: its name and its words."""
    text = (DEPLOY / "Dockerfile").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in joined.splitlines()]


def image(target: str) -> dict[str, str]:
    """The settings that an image of the Dockerfile ends with: those of its stages, in order."""
    settings: dict[str, str] = {}
    stage = ""
    for name, words in instructions():
        if name == "FROM":
            base, _, stage = words.partition(" AS ")
            if stage == target and "/" not in base and ":" not in base:
                settings = image(base)
        elif stage == target:
            # Variables add up; of everything else the last counts.
            settings[name] = f"{settings.get(name, '')} {words}" if name == "ENV" else words
    return settings


def kustomized(folder: Path) -> list[Any]:
    text = subprocess.run(
        ["kubectl", "kustomize", str(folder)], check=True, capture_output=True, text=True
    ).stdout
    return list(yaml.safe_load_all(text))


def of_kind(objects: list[Any], kind: str) -> dict[str, Any]:
    return {item["metadata"]["name"]: item for item in objects if item["kind"] == kind}


def agent_of(objects: list[Any]) -> tuple[Any, Any]:
    """The spec of the agent's pod, and its container."""
    [stateful_set] = of_kind(objects, "StatefulSet").values()
    spec = stateful_set["spec"]["template"]["spec"]
    [container] = spec["containers"]
    return spec, container


def unknown_flags(arguments: list[str]) -> list[str]:
    """The arguments that ``reflet`` would not take."""
    name, *flags = arguments
    command = reflet.get_command(click.Context(reflet, **reflet.context_settings), name)
    assert command is not None
    known = {word for option in command.params for word in option.opts}
    return [flag for flag in flags if flag.partition("=")[0] not in known]


def assert_restricted(spec: Any, container: Any) -> None:
    """Root in no way, and no way to become it; nothing of its own file system can be written."""
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 0
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not any("hostPath" in volume for volume in spec["volumes"])


# The image


def test_the_image_is_not_root_and_says_so_with_a_number() -> None:
    assert image("reflet")["USER"] == "65532:65532"


def test_without_a_target_the_image_is_the_command_line() -> None:
    targets = [words.partition(" AS ")[2] for name, words in instructions() if name == "FROM"]

    assert targets[-1] == "reflet"


def test_the_sidecars_image_needs_no_command_no_arguments_and_no_home() -> None:
    settings = image("reflet-sidecar")

    assert (settings["ENTRYPOINT"], settings["CMD"]) == ('["reflet", "sidecar"]', "[]")
    assert settings["USER"] == "65534:65534"
    assert "HOME=" not in settings["ENV"]


def test_scripts_of_a_sidecar_find_the_python_that_has_the_packages() -> None:
    settings = image("reflet-sidecar")

    assert settings["ENV"].split()[0] == "PATH=/opt/reflet/bin:$PATH"
    # slim has a shell, which distroless images have not.
    assert ("ARG", "BASE=python:3.13-slim") in instructions()
    assert ("FROM", "${BASE} AS installed") in instructions()


def test_the_image_installs_only_what_is_pinned_by_hash() -> None:
    lock = (REQUIREMENTS / "image.lock").read_text().replace("\\\n", " ")
    pins = [line for line in lock.splitlines() if re.match(r"[a-z0-9]", line)]
    installs = [
        command.strip()
        for name, words in instructions()
        if name == "RUN"
        for command in words.split("&&")
        if "pip install" in command
    ]

    assert [pin for pin in pins if "==" not in pin or "--hash=sha256:" not in pin] == []
    assert "://" not in lock
    assert all(
        "--no-deps --require-hashes" in each or "--no-deps --no-index" in each for each in installs
    )


def test_the_image_has_every_dependency_and_the_versions_that_are_tested() -> None:
    pin = re.compile(r"^[a-z0-9-]+==[^ ;]+", re.MULTILINE)
    tested = set(pin.findall((REQUIREMENTS / "dev.lock").read_text()))
    pins = pin.findall((REQUIREMENTS / "image.lock").read_text())

    assert set(pins) - tested == set()
    assert {"aiohttp", "click", "h2", "msgspec", "pyyaml"} <= {each.split("==")[0] for each in pins}


def test_what_the_image_copies_is_there() -> None:
    copied = [
        source
        for name, words in instructions()
        if name == "COPY" and not words.startswith("--from")
        for source in words.split()[:-1]
    ]

    assert [source for source in copied if not (DEPLOY.parent / source).exists()] == []


def test_the_image_calls_the_program_directly() -> None:
    assert image("reflet")["ENTRYPOINT"] == '["reflet"]'


# kustomize


@needs_kubectl
def test_the_base_renders_an_agent_that_is_as_good_as_powerless() -> None:
    spec, container = agent_of(kustomized(DEPLOY / "kustomize"))

    assert_restricted(spec, container)
    assert unknown_flags(container["args"]) == []
    assert "--run" not in container["args"]
    assert container["image"] == f"reflet:{__version__}"


@needs_kubectl
def test_a_served_namespace_gets_the_rights_and_nothing_else(tmp_path: Path) -> None:
    mine = {"namespace": "shop", "resources": ["served-namespace"]}
    shutil.copytree(DEPLOY / "kustomize/served-namespace", tmp_path / "served-namespace")
    (tmp_path / "kustomization.yaml").write_text(json.dumps(mine))

    [binding] = kustomized(tmp_path)

    assert (binding["kind"], binding["metadata"]["namespace"]) == ("RoleBinding", "shop")
    assert binding["roleRef"]["name"] == "reflet-node-pods"
    assert binding["subjects"][0]["namespace"] == "reflet-system"


@needs_kubectl
def test_with_the_component_the_agent_answers_over_tls(tmp_path: Path) -> None:
    spec, container = agent_of(with_tls(tmp_path))

    assert_restricted(spec, container)
    assert unknown_flags(container["args"]) == []
    assert files_missing(spec, container) == []
    assert {"name": "logs", "containerPort": 10250} in container["ports"]
    assert container["readinessProbe"]["httpGet"]["port"] == "health"


def with_tls(folder: Path) -> list[Any]:
    """The base with the component for TLS, in a kustomization of somebody's own."""
    shutil.copytree(DEPLOY / "kustomize", folder / "base")
    mine = {"resources": ["base"], "components": ["base/tls"]}
    (folder / "kustomization.yaml").write_text(json.dumps(mine))
    return kustomized(folder)


def files_missing(spec: Any, container: Any) -> list[str]:
    """The files of TLS that flags name and no volume brings."""
    [place] = [each["mountPath"] for each in container["volumeMounts"] if each["name"] == "tls"]
    [volume] = [each for each in spec["volumes"] if each["name"] == "tls"]
    assert volume["secret"]["secretName"] == "reflet-node-tls"
    known = {f"{place}/{key}" for key in ("tls.crt", "tls.key", "client-ca.crt")}
    flags = dict(flag.split("=", 1) for flag in container["args"] if "-file=" in flag)
    assert len(flags) == 3
    return [path for path in flags.values() if path not in known]


# Helm


def test_the_chart_is_of_this_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())

    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


def test_every_value_of_the_chart_is_in_its_schema_and_the_other_way_round() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    schema = json.loads((CHART / "values.schema.json").read_text())

    assert values.keys() == schema["properties"].keys() - {"global"}
    assert schema["additionalProperties"] is False


def test_every_value_that_a_template_uses_is_there() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    text = "".join(path.read_text() for path in (CHART / "templates").iterdir())

    assert set(re.findall(r"\.Values\.(\w+)", text)) == values.keys()


@needs_helm
@needs_kubectl
def test_the_chart_grants_the_same_rights_as_the_kustomization() -> None:
    base, chart = kustomized(DEPLOY / "kustomize"), charted()

    for kind in ("ClusterRole", "Role"):
        rules = [
            sorted(
                json.dumps(item["rules"], sort_keys=True) for item in of_kind(each, kind).values()
            )
            for each in (base, chart)
        ]
        assert rules[0] == rules[1]


@needs_helm
@needs_kubectl
def test_the_chart_renders_the_same_agent_as_the_kustomization() -> None:
    base_spec, base = agent_of(kustomized(DEPLOY / "kustomize"))
    spec, container = agent_of(charted())

    assert_restricted(spec, container)
    assert unknown_flags(container["args"]) == []
    assert [flag for flag in container["args"] if flag != "--strategy=watch"] == base["args"]
    assert (spec["volumes"], container["env"]) == (base_spec["volumes"], base["env"])


@needs_helm
@needs_kubectl
def test_with_a_secret_the_chart_renders_the_same_agent_with_tls(tmp_path: Path) -> None:
    base_spec, base = agent_of(with_tls(tmp_path))
    objects = charted("tlsSecret=reflet-node-tls")
    spec, container = agent_of(objects)

    assert_restricted(spec, container)
    assert files_missing(spec, container) == []
    assert [flag for flag in container["args"] if flag != "--strategy=watch"] == base["args"]
    for name in ("ports", "volumeMounts"):
        assert by_name(container[name]) == by_name(base[name])
    assert by_name(spec["volumes"]) == by_name(base_spec["volumes"])
    rights = json.dumps(of_kind(objects, "ClusterRole")["reflet-node"]["rules"])
    assert "tokenreviews" in rights
    assert "subjectaccessreviews" in rights


def by_name(items: list[Any]) -> dict[str, Any]:
    return {item["name"]: item for item in items}


@needs_helm
def test_the_charts_settings_become_flags_and_rights() -> None:
    objects = charted(
        "namespaces={shop,bakery}", "run=true", "selector=runtime=processes", "nodes=2",
        "state.size=1Gi", "reviewReaders=true", "image.tag=1.2.3",
    )  # fmt: skip
    _, container = agent_of(objects)

    assert container["image"] == "reflet:1.2.3"
    assert {
        "--run",
        "--no-isolation",
        "--namespace=shop",
        "--namespace=bakery",
        "--selector=runtime=processes",
    } < set(container["args"])
    bound = {
        item["metadata"]["namespace"]
        for item in objects
        if item["kind"] == "RoleBinding" and item["roleRef"]["name"] == "reflet-node-pods"
    }
    names = json.dumps(of_kind(objects, "ClusterRole")["reflet-node"]["rules"])
    assert bound == {"shop", "bakery"}
    assert "reflet-node-1" in names
    assert "tokenreviews" in names


@needs_helm
@pytest.mark.parametrize("mistake", ["namespace=shop", "nodes=0", "strategy=poll", "run=maybe"])
def test_a_mistake_in_the_charts_settings_is_refused(mistake: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        charted(mistake)

    assert mistake.partition("=")[0] in failed.value.stderr
