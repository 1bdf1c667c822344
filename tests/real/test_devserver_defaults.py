"""The development server stores what the real server stores, defaults and all."""

from __future__ import annotations

import json

import pytest

from tests.real.devserver_objects import Case
from tests.real.devserver_side import DevServerSide, comparable
from tests.real.good_cluster_objects import ONLY_TRIED
from tests.real.good_objects import good_objects
from tests.real.good_storage import deprecated_storage
from tests.real.kube_server import KubeServer


@pytest.mark.parametrize("case", [*good_objects(), *deprecated_storage()], ids=lambda case: case[0])
def test_a_new_object_is_stored_as_the_real_server_stores_it(
    kube: KubeServer, namespace: str, case: Case
) -> None:
    title, path, body = case
    # Definitions are completed by a controller later; only the answer to the create is compared.
    query = "?dryRun=All" if title.endswith(("definition", *ONLY_TRIED)) else ""
    body = json.loads(json.dumps(body).replace("{namespace}", namespace))
    path = path.replace("{namespace}", namespace)

    real = kube.request("POST", path + query, body)
    ours = DevServerSide().create(path, body)

    assert real.code == 201, real.body
    assert comparable(ours.body) == comparable(real.body)


def test_fields_are_written_in_the_real_servers_order(kube: KubeServer, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    body = {
        "spec": {
            "restartPolicy": "Never",
            "containers": [{"image": "i", "name": "c", "env": [{"value": "1", "name": "A"}]}],
        },
        "metadata": {"labels": {"b": "1", "a": "2"}, "name": "x"},
    }

    real = kube.request("POST", path, body)
    ours = DevServerSide().create(path, body)

    assert json.dumps(comparable(ours.body)) == json.dumps(comparable(real.body))
