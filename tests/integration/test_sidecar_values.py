"""The values in deploy/helm/sidecar, on charts of the shape of those that they are for.

A chart composes the image of its sidecars from three values, and starts it without a command and
without arguments: everything it wants to say is in the environment.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from reflet._version import __version__
from reflet.api import codec
from reflet.api.core.workloads import Deployment
from reflet.insight.sidecars import SidecarSelection, sidecars_of
from reflet.sidecar.sidecar_settings import read_settings
from tests.chart import HELM, needs_helm

VALUES: Final = Path(__file__).parents[2] / "deploy/helm/sidecar"
OURS: Final = f"registry.example.com/reflet-sidecar:{__version__}"

# As in the charts of Grafana, kube-prometheus-stack, Loki and Jenkins: where the image is, what
# it is called without our values, and the variables of each sidecar.
GRAFANA: Final = {
    "dashboard": {
        "METHOD": "WATCH", "LABEL": "grafana_dashboard", "LABEL_VALUE": "1",
        "FOLDER": "/tmp/dashboards", "RESOURCE": "both", "NAMESPACE": "ALL",
        "REQ_URL": "http://localhost:3000/api/admin/provisioning/dashboards/reload",
        "REQ_METHOD": "POST",
    },
    "datasources": {
        "METHOD": "WATCH", "LABEL": "grafana_datasource", "LABEL_VALUE": "1",
        "FOLDER": "/etc/grafana/provisioning/datasources", "RESOURCE": "both",
    },
}  # fmt: skip
LOKI: Final = {
    "rules": {
        "METHOD": "WATCH", "LABEL": "loki_rule", "FOLDER": "/rules", "RESOURCE": "both",
        "WATCH_SERVER_TIMEOUT": "60", "WATCH_CLIENT_TIMEOUT": "60", "LOG_LEVEL": "INFO",
        "HEALTH_PORT": "8080",
    },
}  # fmt: skip
JENKINS: Final = {
    "config-reload": {
        "LABEL": "jenkins-jenkins-config", "FOLDER": "/var/jenkins_home/casc_configs",
        "NAMESPACE": "default", "HEALTH_PORT": "8060", "REQ_METHOD": "POST",
        "REQ_URL": "http://localhost:8080/reload-configuration-as-code/?casc-reload-token=x",
        "REQ_RETRY_CONNECT": "10",
    },
}  # fmt: skip
SHAPES: Final = {
    "grafana": ("sidecar.image", "quay.io", GRAFANA),
    "kube-prometheus-stack": ("sidecar.image", "quay.io", GRAFANA),
    "loki": ("sidecar.image", "docker.io", LOKI),
    "jenkins": ("controller.sidecars.configAutoReload.image", "docker.io", JENKINS),
}
TEMPLATE: Final = """\
{{- $image := .Values.PATH }}
{{- $registry := (.Values.global).imageRegistry | default $image.registry }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: {{ .Release.Namespace }}}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      containers:
      {{- range $name, $variables := .Values.variables }}
      - name: {{ $name }}
        image: "{{ $registry }}/{{ $image.repository }}:{{ $image.tag }}{{- if $image.sha -}}
          @sha256:{{ $image.sha }}{{- end }}"
        env:
        {{- range $key, $value := $variables }}
        - {name: {{ $key }}, value: {{ quote $value }}}
        {{- end }}
      {{- end }}
"""


def nested(path: str, value: Any) -> dict[str, Any]:
    first, _, rest = path.partition(".")
    return {first: nested(rest, value) if rest else value}


def write_chart(folder: Path, name: str) -> Path:
    """Write a chart of a shape; that of Prometheus has Grafana's as a part of its own."""
    path, registry, variables = SHAPES[name]
    image = {"registry": registry, "repository": "kiwigrid/k8s-sidecar", "tag": "2.10.1", "sha": ""}
    chart = folder
    if name == "kube-prometheus-stack":
        write_files(folder, name, {})
        chart, name = folder / "charts/grafana", "grafana"
    write_files(chart, name, {**nested(path, image), "variables": variables})
    (chart / "templates").mkdir()
    (chart / "templates/deployment.yaml").write_text(TEMPLATE.replace("PATH", path))
    return folder


def write_files(chart: Path, name: str, values: dict[str, Any]) -> None:
    chart.mkdir(parents=True)
    metadata = {"apiVersion": "v2", "name": name, "version": "1.0.0"}
    (chart / "Chart.yaml").write_text(yaml.safe_dump(metadata))
    (chart / "values.yaml").write_text(yaml.safe_dump(values))


def rendered(chart: Path, *flags: str) -> Deployment:
    text = subprocess.run(
        [HELM, "template", "app", str(chart), "--namespace", "monitoring", *flags],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    (document,) = [item for item in yaml.safe_load_all(text) if item]
    return codec.decode(codec.encode(document), Deployment)


def images(found: Deployment) -> set[str]:
    return {container.image for container in found.spec.template.spec.containers}


def selections(found: Deployment) -> list[SidecarSelection]:
    return [each.selection for each in sidecars_of(found.spec.template, "monitoring")]


@pytest.mark.parametrize("name", SHAPES)
def test_the_values_are_the_three_of_the_chart_and_no_others(name: str) -> None:
    path = SHAPES[name][0]
    prefix = "grafana." if name == "kube-prometheus-stack" else ""
    image = {"registry": "registry.example.com", "repository": "reflet-sidecar", "sha": ""}
    if name == "jenkins":
        del image["sha"]

    values = yaml.safe_load((VALUES / f"{name}.yaml").read_text())

    assert values == nested(f"{prefix}{path}", {**image, "tag": __version__})


def test_there_are_values_for_each_of_the_charts() -> None:
    assert {path.stem for path in VALUES.glob("*.yaml")} == SHAPES.keys()


@needs_helm
@pytest.mark.parametrize("name", SHAPES)
def test_with_the_values_every_sidecar_of_the_chart_is_ours(name: str, tmp_path: Path) -> None:
    chart = write_chart(tmp_path / name, name)

    before, after = rendered(chart), rendered(chart, "-f", str(VALUES / f"{name}.yaml"))

    assert images(before) == {f"{SHAPES[name][1]}/kiwigrid/k8s-sidecar:2.10.1"}
    assert images(after) == {OURS}


@needs_helm
@pytest.mark.parametrize("name", SHAPES)
def test_what_the_sidecars_select_stays_the_same(name: str, tmp_path: Path) -> None:
    chart = write_chart(tmp_path / name, name)

    before = selections(rendered(chart))
    after = selections(rendered(chart, "-f", str(VALUES / f"{name}.yaml")))

    assert len(before) == len(SHAPES[name][2])
    assert after == before


@pytest.mark.parametrize("name", SHAPES)
def test_the_variables_of_the_charts_are_taken_without_a_word(name: str) -> None:
    for variables in SHAPES[name][2].values():
        assert read_settings(variables).warnings == ()


@needs_helm
def test_a_registry_for_everything_wins(tmp_path: Path) -> None:
    chart = write_chart(tmp_path / "grafana", "grafana")
    flags = ("-f", str(VALUES / "grafana.yaml"), "--set", "global.imageRegistry=mirror.local")

    assert images(rendered(chart, *flags)) == {f"mirror.local/reflet-sidecar:{__version__}"}
