"""Custom resources that make pods, asked of a server: found by discovery, read raw, followed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import reflet
from reflet.cli.options.missing_targets import missing_target
from reflet.errors import ConfigurationError
from reflet.insight.why.diagnosis import diagnose
from reflet.podconfig.gather_users import possible_users
from reflet.podconfig.gather_why import cluster_state
from reflet.podconfig.gather_why_targets import WhyTarget
from reflet.supervisor.configuration_sources import cluster_configuration
from reflet.testing.pytest_plugin import RunningServer

ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition(kind: str) -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": ANYTHING}}}
    return {
        "metadata": {"name": f"{plural}.argoproj.io"},
        "spec": {
            "group": "argoproj.io",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [{"name": "v1alpha1", "served": True, "storage": True, "schema": schema}],
        },
    }


def rollout(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": name}}
    return {**head, "spec": spec}


def template(value: str = "blue") -> dict[str, Any]:
    env = [
        {"name": "COLOUR", "value": value},
        {"name": "SHOP", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "shop"}}},
    ]
    volumes = [{"name": "files", "configMap": {"name": "settings"}}]
    return {
        "spec": {"containers": [{"name": "web", "image": "web", "env": env}], "volumes": volumes}
    }


@asynccontextmanager
async def argo(server: RunningServer, *rollouts: dict[str, Any]) -> AsyncIterator[reflet.Cluster]:
    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        await cluster.resource("crd").create(definition("Rollout"))
        await cluster.resource("cm").create(
            {"metadata": {"name": "settings"}, "data": {"shop": "main"}}
        )
        for item in rollouts:
            await cluster.resource(await cluster.find("rollouts")).create(item)
        yield cluster


@pytest.mark.parametrize("type_", ["rollout", "rollouts", "rollout.argoproj.io"])
async def test_a_rollout_gives_what_a_deployment_would(
    reflet_server: RunningServer, type_: str
) -> None:
    async with argo(reflet_server, rollout("roll", {"template": template()})) as cluster:
        inputs = await reflet.pod_inputs(cluster, f"{type_}/roll")

        assert (inputs.kind, inputs.target, inputs.from_template) == (
            "Rollout",
            "rollout/roll",
            True,
        )
        values = inputs.environment("web").values
        assert (values["COLOUR"], values["SHOP"]) == ("blue", "main")
        assert inputs.volume("files").files["shop"].mode == 0o644
        assert inputs.remarks[0] == (
            "what the controller of Rollout roll adds to its template is not known"
        )


async def test_of_several_templates_the_first_is_meant_and_the_others_are_named(
    reflet_server: RunningServer,
) -> None:
    spec = {"canary": {"template": template("yellow")}, "stable": {"template": template()}}
    async with argo(reflet_server, rollout("roll", spec)) as cluster:
        inputs = await reflet.pod_inputs(cluster, "rollout/roll")

        assert [placed.path for placed in inputs.other_templates] == ["spec.stable.template"]
        assert "others are at spec.stable.template" in inputs.remarks[1]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("rollout/bare", "rollout bare has no pod template"),
        (
            "rollout/other",
            "rollout other takes its pod template from deployment/web (spec.workloadRef): ask for",
        ),
        ("rollot/roll", "there is no resource 'rollot'; did you mean rollouts.argoproj.io"),
        ("svc/web", "services are no pods and make none"),
    ],
)
async def test_what_makes_no_pods_is_said_to(
    reflet_server: RunningServer, target: str, said: str
) -> None:
    elsewhere = {"workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}
    async with argo(reflet_server, rollout("bare", {}), rollout("other", elsewhere)) as cluster:
        with pytest.raises(ConfigurationError) as raised:
            await reflet.pod_inputs(cluster, target)

        assert str(raised.value).startswith(said)


@pytest.mark.parametrize("target", [WhyTarget("rollout", "roll"), WhyTarget("rollouts")])
async def test_why_looks_at_a_rollout_as_at_a_deployment(
    reflet_server: RunningServer, target: WhyTarget
) -> None:
    async with argo(reflet_server, rollout("roll", {"template": template()})) as cluster:
        await cluster.resource("cm").delete("settings")

        state = await cluster_state(cluster, [target], now=datetime.now(UTC))

        reasons = diagnose(state).reasons
        assert {each.reason.message for each in reasons} == {
            "ConfigMap default/settings does not exist"
        }
        assert {str(each.affected[0].root) for each in reasons} == {"rollout/roll"}
        assert state.remarks[0].startswith("what the controller of Rollout roll adds")


async def test_a_change_of_the_rollout_is_followed(reflet_server: RunningServer) -> None:
    async with argo(reflet_server, rollout("roll", {"template": template()})) as cluster:
        inputs = await reflet.pod_inputs(cluster, "rollout/roll")
        rollouts = cluster.resource(await cluster.find("rollouts"))
        said: list[str] = []
        opened = reflet.connect(kubeconfig=str(reflet_server.kubeconfig))

        async with cluster_configuration(opened, inputs, "web", say=said.append) as source:
            told: Any = source.configurations()
            async with aclosing(told) as configurations:
                first = await anext(configurations)
                broken = {
                    "spec": {"containers": [{"name": "web", "image": "web", "ports": "none"}]}
                }
                await rollouts.patch("roll", {"spec": {"template": broken}})
                await rollouts.patch("roll", {"spec": {"template": template("green")}})
                async for latest in configurations:
                    if latest.environment.values["COLOUR"] == "green":
                        break

        assert first.environment.values["COLOUR"] == "blue"
        assert said == []


async def test_a_rollout_uses_what_its_template_names(reflet_server: RunningServer) -> None:
    async with argo(reflet_server, rollout("roll", {"template": template()})) as cluster:
        found = await possible_users(cluster, "ConfigMap", "settings", everywhere=False)

        assert [each.kind for each in found.candidates.workloads] == ["Rollout"]
        assert found.keys_there == {("ConfigMap", "default", "settings"): ("shop",)}
        assert found.notes == ()


async def test_watched_files_follow_the_rollout_and_outlive_a_broken_one(
    reflet_server: RunningServer, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    async with argo(reflet_server, rollout("roll", {"template": template()})) as cluster:
        rollouts = cluster.resource(await cluster.find("rollouts"))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "reflet", "files", "rollout/roll", "--watch", "--to", str(out)),
            *("--kubeconfig", str(reflet_server.kubeconfig)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            first = await process.stdout.readline()
            broken = {"spec": {"containers": [{"name": "web", "image": "web", "ports": "none"}]}}
            await rollouts.patch("roll", {"spec": {"template": broken}})
            while b"cannot be read" not in (said := await process.stderr.readline()):
                assert said, "the command ended"
            changed = template()
            changed["spec"]["volumes"][0]["configMap"]["items"] = [{"key": "shop", "path": "new"}]
            await rollouts.patch("roll", {"spec": {"template": changed}})
            second = await process.stdout.readline()
        finally:
            process.kill()
            await process.communicate()

    assert (first, second) == (b"volume files: +shop\n", b"volume files: +new -shop\n")


async def test_a_custom_workload_that_is_not_there_is_told_with_those_that_are(
    server: RunningServer,
) -> None:
    async with argo(server, rollout("website", {"template": template()})) as cluster:
        error = await missing_target(cluster, "rollout/websites")

    assert str(error) == (
        "there is no rollout/websites in namespace default; did you mean rollout/website?"
    )
