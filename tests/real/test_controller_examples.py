"""The operator and the Reloader of examples/ on a real kube-apiserver, with play beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from examples import reloader, website_operator
from reflet.api import ConfigMap, Deployment
from reflet.cluster import connect
from reflet.controllers import condition, wait_for
from reflet.play import Play
from tests.real.kube_server import KubeServer
from tests.real.test_play import RealServer

pytestmark = pytest.mark.time_limit(120)


async def test_the_operator_and_the_reloader_work_on_the_real_server(tmp_path: Path) -> None:
    definitions = "customresourcedefinitions"
    definition: Any = website_operator.DEFINITION
    color = {"name": "COLOR", "valueFrom": reloader.COLOR}
    with KubeServer() as kube:
        server = RealServer(kube, tmp_path)
        async with (
            Play("pods", "deployments", "garbage", "serviceaccounts").beside(server),
            connect(kubeconfig=str(server.kubeconfig_path), qps=0) as cluster,
        ):
            await cluster.resource(definitions).create(definition)
            await wait_for(
                cluster.resource(definitions), website_operator.WEBSITES, condition("Established")
            )
            async with website_operator.running_operator(cluster):
                await website_operator.demonstrate(cluster)
            await cluster.resource(ConfigMap).create(reloader.SETTINGS)
            await cluster.resource(Deployment).create(reloader.deployment("web", color))

            await reloader.demonstrate(cluster)
